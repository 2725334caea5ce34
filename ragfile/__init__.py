"""ragfile: one file that holds everything retrieval needs, opened by memory map, searched exactly."""

from importlib import import_module

__version__ = "0.1.0"

# Public name -> the module that has it, imported when the name is first asked for: `import ragfile` takes milliseconds.
_HOMES = {
    "BuildReport": "commit.building",
    "ChangedError": "errors",
    "Chunk": "records",
    "CorruptError": "errors",
    "Document": "records",
    "FormatError": "errors",
    "Hit": "records",
    "Hits": "records",
    "LockedError": "errors",
    "ModelError": "errors",
    "PairFile": "store.pairs",
    "Plan": "records",
    "ProviderError": "errors",
    "RagfileError": "errors",
    "RemoteError": "errors",
    "SyncReport": "commit.syncing",
    "VersionError": "errors",
    "add": "commit.syncing",
    "build": "commit.building",
    "chunk": "canonical",
    "compact": "commit.compacting",
    "compress": "canonical",
    "convert": "exchange.converting",
    "create": "commit.writing",
    "edit": "commit.editing",
    "fuse": "canonical",
    "index": "canonical",
    "log": "commit.history",
    "open": "opening",
    "register": "store.custom_sections",
    "reindex": "commit.reindexing",
    "rerank": "canonical",
    "retrieve": "canonical",
    "stale": "commit.history",
    "sync": "commit.syncing",
    "verify": "opening",
    "write_pairs": "store.pairs",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'ragfile' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"ragfile.{_HOMES[name]}"), name)
    return value


def __dir__():
    return [*__all__, "__version__"]
