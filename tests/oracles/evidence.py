"""Evidence of documents the slow way: the formulas of spec/parts/pipeline.md (6.3), row by row."""

import math

ROWS, NEAR = 50, 0.65


def natural_log(x):
    """ln in basic operations, in the order that 6.3 gives."""
    m, exponent = math.frexp(x)
    if m < 0.70710678118654752:
        m, exponent = m * 2.0, exponent - 1
    z = (m - 1.0) / (m + 1.0)
    total = 0.0
    for n in range(23, 0, -2):
        total = total * (z * z) + 1.0 / n
    return 2.0 * z * total + exponent * 0.69314718055994530942


def falling_exp(x):
    """exp of a number that is at most 0."""
    if x < -700:
        return 0.0
    n = float(math.floor(x * 1.4426950408889634074 + 0.5))
    low = float.fromhex("0x1.a39ef35793c76p-33")
    r = (x - n * float.fromhex("0x1.62e42feep-1")) - n * low
    total = 0.0
    for i in range(13, -1, -1):
        total = total * r + 1.0 / math.factorial(i)
    return math.ldexp(total, int(n))


def counted(ranked):
    """The rows of a ranking [(row, score)] that count."""
    if not ranked or not ranked[0][1] > 0:
        return []
    least = NEAR * ranked[0][1]
    return [one for one in ranked[:ROWS] if one[1] >= least]


def weights(ranked, document):
    """{document: (its best row, ln of the sum)} of those with several rows that count."""
    by_document = {}
    for row, score in counted(ranked):
        by_document.setdefault(document(row), []).append((row, score))
    found = {}
    for name, rows in by_document.items():
        total = 0.0
        for _, score in rows:
            total += falling_exp(4.0 * (score - rows[0][1]))
        if len(rows) > 1:
            found[name] = rows[0][0], natural_log(total)
    return found


def raised(ranked, document, key, share):
    """The ranking with the best row of each document raised, best first, ties by key."""
    best = dict(weights(ranked, document).values())
    top = ranked[0][1] if ranked else 0.0
    new = [
        (row, score + share * top * best[row] if row in best else score) for row, score in ranked
    ]
    return sorted(new, key=lambda one: (-one[1], key(one[0])))


def of_documents(ranked, document, chunks, share):
    """{document: score} that documents are ranked by; chunks(document) is their number."""
    if not ranked:
        return {}
    top, best = ranked[0][1], {}
    for row, score in ranked:
        best.setdefault(document(row), score)
    if not top > 0:
        return best
    known = {name: weight for name, (_, weight) in weights(ranked, document).items()}
    return {
        name: score
        + 2.0 * share * top * (known.get(name, 0.0) - natural_log(float(chunks(name))) / 2.0)
        for name, score in best.items()
    }
