"""Named pages the slow way: the rule of spec/parts/pipeline.md (6.3.2), from the ranking of all rows."""

import math
import re

from oracles.evidence import falling_exp, natural_log

from ragfile import _core

LEAD, SEEDS, WORDS, PAGES, NAMES, TEXT, LINKS = 12, 3, 10, 4, 64, 16384, 64


def words(text):
    """[(word, from, to)] of the parts of a text, in code points."""
    return [(word, a, b) for word, whole, a, b in _core.word_places(text) if not whole]


def titles(text):
    """The titles that a title stands for, as tuples of words."""
    short = re.fullmatch(r"(.+) \(.*\)[ \t\n]*", text, re.DOTALL)
    for one in [text, short[1]] if short else [text]:
        found = tuple(word for word, _, _ in words(one))
        if 1 <= len(found) <= WORDS:
            yield found


class Pages:
    """The live chunks of a file with one segment, and the titles of its documents."""

    def __init__(self, rf, linked=0.25):
        self.linked, self.links = linked, {}
        self.rf, self.lexicon = rf, rf.rows.lexicon
        self.first, self.chunks, self.known, self.named = {}, {}, [], {}
        for row in rf.live_rows().tolist():
            chunk = rf.chunk(row)
            self.chunks[chunk.doc_id, chunk.chunk_index] = chunk
            fields = [chunk.content, str(chunk.metadata.get("headers", ""))]
            self.known.append({term for text in fields for term, _ in self.lexicon.terms(text)})
            if chunk.doc_id not in self.first:
                self.first[chunk.doc_id] = chunk.chunk_index
                title = chunk.metadata.get("title")
                for one in set(titles(title)) if isinstance(title, str) else ():
                    self.named.setdefault(one, []).append(chunk.doc_id)

    def weight(self, name, count):
        rows = len(self.known)
        terms = [term for term, _ in self.lexicon.terms(name)]
        df = min((sum(term in row for row in self.known) for term in terms), default=0)
        if not 0 < df <= max(20, rows // 100):
            return 0.0
        return natural_log(1.0 + rows / df) / count

    def names(self, text):
        """{document: weight} that a text names, in its order."""
        text = text.encode()[:TEXT].decode(errors="ignore")
        all_, found, at, count = words(text), {}, 0, 0
        while at < len(all_) and count < NAMES:
            word, first, _ = all_[at]
            begins = text[first] in "0123456789" or text[first] != word[0]
            step = 1
            for n in range(min(WORDS, len(all_) - at), 0, -1) if begins else ():
                documents = self.named.get(tuple(word for word, _, _ in all_[at : at + n]), [])
                if 1 <= len(documents) <= PAGES:
                    weight = self.weight(text[first : all_[at + n - 1][2]], len(documents))
                    for document in documents if weight else ():
                        found[document] = max(found.get(document, 0.0), weight)
                    step, count = n, count + 1
                    break
            at += step
        return found

    def named_in(self, key):
        """{document: weight} that a passage names, by titles and links."""
        chunk = self.chunks[key]
        found = self.names(chunk.content)
        if chunk.doc_id not in self.links:
            self.links[chunk.doc_id] = self.rf.links(chunk.doc_id)
        inside = [
            one
            for one in self.links[chunk.doc_id]
            if chunk.start <= one.start and one.end <= chunk.end
        ]
        for link in inside[:LINKS] if self.linked else ():
            if link.document in self.first:
                found[link.document] = max(found.get(link.document, 0.0), self.linked)
        return found

    def masses(self, ranked, question, hops):
        """{document: mass}; ranked is [((document, index), score)]."""
        top, best = ranked[0][1] if ranked else 0.0, {}
        for key, score in ranked[:LEAD] if top > 0 else ():
            if key[0] not in best and len(best) < SEEDS:
                best[key[0]] = key, score
        shares = {name: falling_exp(8.0 * (score / top - 1.0)) for name, (_, score) in best.items()}
        held = {name: share / sum(shares.values()) for name, share in shares.items()}
        asked = self.names(question) if best and hops == 2 else {}
        for name, weight in asked.items():
            held[name] = held.get(name, 0.0) + weight / sum(asked.values())
        found, names_any = dict(held), bool(asked)
        for name, (key, _) in best.items():
            others = {k: w for k, w in self.named_in(key).items() if k != name}
            names_any |= bool(others)
            for other, weight in others.items():
                found[other] = found.get(other, 0.0) + held[name] * (weight / sum(others.values()))
        return found if names_any else {}

    def answer(self, question, hops, share, **options):
        """[(chunk id, score)], the whole ranking after the rule."""
        hits = self.rf.search(question, k=len(self.known), hops=0, cache=False, **options)
        ranked = [((hit.doc_id, hit.chunk_index), hit.score) for hit in hits]
        masses, scores = self.masses(ranked, question, hops), dict(ranked)
        for name, mass in masses.items():
            lead = [key for key, _ in ranked[:LEAD] if key[0] == name]
            key = lead[0] if lead else (name, self.first[name])
            added = (1.0 if hops == 2 else share) * ranked[0][1] * (mass / max(masses.values()))
            scores[key] = scores.get(key, 0.0) + added
        if not ranked:
            return []
        first = ranked[0][0]
        rest = sorted((key for key in scores if key != first), key=lambda k: (-scores[k], _key(k)))
        if (largest := max(scores.values())) > scores[first]:
            scores[first] = math.nextafter(largest, math.inf)
        return [(f"{name}#{index}", scores[name, index]) for name, index in [first, *rest]]


def _key(key):
    return key[0].encode(), key[1]
