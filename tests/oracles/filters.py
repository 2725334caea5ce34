"""Which metadata pass a filter, written from the definition alone: one dict at a time, no columns, no sorting, no keys."""


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def find(metadata, path):
    if path in metadata:
        return [metadata[path]]
    head, dot, rest = path.partition(".")
    if dot and isinstance(metadata.get(head), dict):
        return find(metadata[head], rest)
    if dot and isinstance(metadata.get(head), list):
        every = [
            value for one in metadata[head] if isinstance(one, dict) for value in find(one, rest)
        ]
        joined = [
            part for value in every for part in (value if isinstance(value, list) else [value])
        ]
        return [joined] if every else []
    return []


def ordered(a, b):
    if isinstance(a, str) and isinstance(b, str):
        return True
    numbers = (int, float)
    return (
        isinstance(a, numbers)
        and isinstance(b, numbers)
        and not isinstance(a, bool)
        and not isinstance(b, bool)
    )


def holds(name, found, operand):
    value = found[0] if found else None
    items = value if isinstance(value, list) else []
    return {
        "$eq": lambda: bool(found) and same(value, operand),
        "$ne": lambda: not (found and same(value, operand)),
        "$gt": lambda: bool(found) and ordered(value, operand) and value > operand,
        "$gte": lambda: bool(found) and ordered(value, operand) and value >= operand,
        "$lt": lambda: bool(found) and ordered(value, operand) and value < operand,
        "$lte": lambda: bool(found) and ordered(value, operand) and value <= operand,
        "$in": lambda: bool(found) and any(same(value, o) for o in operand),
        "$nin": lambda: not (found and any(same(value, o) for o in operand)),
        "$exists": lambda: bool(found) == operand,
        "$contains": lambda: (
            any(same(i, operand) for i in items)
            or (isinstance(value, str) and isinstance(operand, str) and operand in value)
        ),
        "$any": lambda: any(same(i, o) for i in items for o in operand),
        "$all": lambda: (
            isinstance(value, list) and all(any(same(i, o) for i in items) for o in operand)
        ),
        "$not": lambda: not all(holds(n, found, o) for n, o in operand.items()),
    }[name]()


def passes(where, metadata):
    for key, value in where.items():
        if key == "$and":
            good = all(passes(w, metadata) for w in value)
        elif key == "$or":
            good = any(passes(w, metadata) for w in value)
        elif key == "$not":
            good = not passes(value, metadata)
        elif isinstance(value, dict) and any(k.startswith("$") for k in value):
            good = all(holds(name, find(metadata, key), operand) for name, operand in value.items())
        else:
            good = holds("$eq", find(metadata, key), value)
        if not good:
            return False
    return True
