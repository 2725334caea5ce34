"""Ways in and out, one outside world each. A module is imported when it is asked for, and so is the library it needs.

Each has `read(path, **options) -> Collection`, and `write(collection, path, **options)` where writing makes sense.
"""
