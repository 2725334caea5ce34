"""Stores of other kinds, one a module. A module is imported when it is asked for, and so is the
library it needs.

Each has `read(path, **options) -> Collection`, and `write(collection, path, **options)` where
writing makes sense.
"""
