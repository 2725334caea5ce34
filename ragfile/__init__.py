"""ragfile: one file that holds everything retrieval needs, opened by memory map, searched exactly."""

from importlib import import_module

__version__ = "0.1.0"

# Public name -> the module that has it, imported when the name is first asked for: `import ragfile` takes milliseconds.
_HOMES = {
    "BuildReport": "building",
    "ChangedError": "errors",
    "Chunk": "records",
    "CorruptError": "errors",
    "Document": "records",
    "FormatError": "errors",
    "Hit": "records",
    "Hits": "records",
    "LockedError": "errors",
    "ModelError": "errors",
    "PairFile": "pairs",
    "Plan": "records",
    "ProviderError": "errors",
    "RagfileError": "errors",
    "RemoteError": "errors",
    "SyncReport": "syncing",
    "VersionError": "errors",
    "add": "syncing",
    "build": "building",
    "chunk": "blocks",
    "compact": "compacting",
    "compress": "blocks",
    "convert": "converting",
    "create": "writing",
    "edit": "editing",
    "fuse": "blocks",
    "index": "blocks",
    "log": "upkeep",
    "open": "opening",
    "register": "strategies",
    "reindex": "upkeep",
    "rerank": "blocks",
    "retrieve": "blocks",
    "stale": "upkeep",
    "sync": "syncing",
    "verify": "opening",
    "write_pairs": "pairs",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'ragfile' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"ragfile.{_HOMES[name]}"), name)
    return value


def __dir__():
    return [*__all__, "__version__"]
