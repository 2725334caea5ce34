"""Other stores, one per module. Each module, and the library it needs, is imported on first use.

Each has `read(path, **options) -> Collection`, and `write(collection, path, **options)` unless the
format is read-only.
"""
