"""Slow sparse retrieval: weights rounded by the definition, scores as sums of exact products."""

import functools
import math
import struct
from fractions import Fraction


@functools.lru_cache(100_000)
def rounded(weight):
    """A weight as rag.sparse stores it: spec 14.1."""
    if weight < 2**-17:
        return 0.0
    if weight < 2**-16:
        return 2.0**-16
    exponent = math.frexp(weight)[1] - 12  # twelve significant bits
    low = math.floor(Fraction(weight) / Fraction(2) ** exponent)
    above = Fraction(weight) / Fraction(2) ** exponent - low
    up = above > Fraction(1, 2) or (above == Fraction(1, 2) and low % 2)
    return float((low + up) * Fraction(2) ** exponent)


def single(value):
    """A number as binary32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def asked(question):
    """The (term, weight) of a question in the order of the sum, as binary32."""
    kept = (term for term in sorted(question, key=str.encode) if question[term] >= 2**-17)
    return [(term, single(question[term])) for term in kept]


def score(row, question, terms=None):
    """The score of a row {term: weight}, None if it has none of the terms: spec 14.3."""
    total, found = 0.0, False
    for term, weight in asked(question) if terms is None else terms:
        if term in row and (held := rounded(row[term])):
            total, found = total + weight * held, True
    return single(total) if found else None


def best(rows, question, k, passes=lambda row: True):
    """The k best rows with their scores."""
    terms = asked(question)
    scored = [
        (score(weights, question, terms), row)
        for row, weights in enumerate(rows)
        if weights and passes(row)
    ]
    found = sorted((-one, row) for one, row in scored if one is not None)
    return [(row, -one) for one, row in found[:k]]
