"""The built-in re-ranking measure the slow way: every word of every text is stemmed, in plain Python."""

import itertools
import math

import Stemmer

from ragfile.text import words


def builtin(query, texts, before, evidence=0.25):
    """The scores of some texts, whose order before was by other scores."""
    asked, *held = features([query, *texts])
    asked = sorted(asked, key=str)
    rarity = {f: math.log((len(texts) + 1) / (sum(f in h for h in held) + 0.5)) for f in asked}
    whole = math.fsum(rarity.values())
    low, high = min(before), max(before)
    scores = []
    for has, score in zip(held, before, strict=True):
        prior = (score - low) / (high - low) if high > low else 1.0
        share = math.fsum(rarity[f] for f in asked if f in has) / whole if whole else 0.0
        scores.append((1 - evidence) * prior + evidence * share)
    return scores


def features(texts):
    """The stems and pairs of stems of the first text, and those of them that each other one has."""
    held = []
    for text in texts:
        stems = [stem_of(word) for word in words(text)]
        found = {*stems, *itertools.pairwise(stems)}
        held.append(found & held[0] if held else found)
    return held


def stem_of(word):
    """The stem of a word; half a surrogate pair has none."""
    is_half = any("\ud800" <= c <= "\udfff" for c in word)
    return word if is_half else Stemmer.Stemmer("english").stemWord(word)
