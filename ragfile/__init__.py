"""ragfile: one file that holds everything retrieval needs, opened by memory map, searched exactly."""

from importlib import import_module

__version__ = "0.1.0"

# Public name -> the module that has it, imported when the name is first asked for: `import ragfile` takes milliseconds.
_HOMES = {
    "Analysis": "ingest.analysis",
    "Answer": "query.answers",
    "BuildReport": "commit.building",
    "Candidate": "records",
    "ChangedError": "errors",
    "ChatModel": "chat.protocol",
    "Chunk": "records",
    "Citation": "query.citing",
    "ConflictError": "errors",
    "CorruptError": "errors",
    "Document": "records",
    "Editor": "commit.editing",
    "Embedder": "embedding.protocol",
    "FormatError": "errors",
    "Hit": "records",
    "Hits": "records",
    "KnowledgeBase": "query.searching",
    "Limits": "ingest.loading",
    "LockedError": "errors",
    "Model": "embedding.protocol",
    "ModelError": "errors",
    "PairFile": "store.pairs",
    "Plan": "records",
    "Policy": "ingest.chunking",
    "ProviderError": "errors",
    "RagfileError": "errors",
    "Ready": "answering",
    "RemoteError": "errors",
    "RepairReport": "commit.repairing",
    "Signature": "store.signatures",
    "SignatureError": "errors",
    "Span": "records",
    "SyncReport": "commit.syncing",
    "VersionError": "errors",
    "Writer": "commit.writing",
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
    "new_key": "ground.signing_keys",
    "open": "opening",
    "register": "store.custom_sections",
    "reindex": "commit.reindexing",
    "repair": "commit.repairing",
    "rerank": "canonical",
    "retrieve": "canonical",
    "sign": "opening",
    "sign_bundle": "exchange.bundles",
    "site": "server.static_site",
    "stale": "commit.history",
    "sync": "commit.syncing",
    "verify": "opening",
    "verify_bundle": "exchange.bundles",
    "write_pairs": "store.pairs_writing",
}
__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]  # the table is its one source

# The same for type checkers and editors, which must not see __getattr__: any name would pass. A test compares the two.
TYPE_CHECKING = False  # as in typing, which takes milliseconds to import
if TYPE_CHECKING:
    import ragfile.dataset as dataset  # noqa: F401
    from ragfile.answering import Ready as Ready
    from ragfile.canonical import chunk as chunk
    from ragfile.canonical import compress as compress
    from ragfile.canonical import fuse as fuse
    from ragfile.canonical import index as index
    from ragfile.canonical import rerank as rerank
    from ragfile.canonical import retrieve as retrieve
    from ragfile.chat.protocol import ChatModel as ChatModel
    from ragfile.commit.building import BuildReport as BuildReport
    from ragfile.commit.building import build as build
    from ragfile.commit.compacting import compact as compact
    from ragfile.commit.editing import Editor as Editor
    from ragfile.commit.editing import edit as edit
    from ragfile.commit.history import log as log
    from ragfile.commit.history import stale as stale
    from ragfile.commit.reindexing import reindex as reindex
    from ragfile.commit.repairing import RepairReport as RepairReport
    from ragfile.commit.repairing import repair as repair
    from ragfile.commit.syncing import SyncReport as SyncReport
    from ragfile.commit.syncing import add as add
    from ragfile.commit.syncing import sync as sync
    from ragfile.commit.writing import Writer as Writer
    from ragfile.commit.writing import create as create
    from ragfile.embedding.protocol import Embedder as Embedder
    from ragfile.embedding.protocol import Model as Model
    from ragfile.errors import ChangedError as ChangedError
    from ragfile.errors import ConflictError as ConflictError
    from ragfile.errors import CorruptError as CorruptError
    from ragfile.errors import FormatError as FormatError
    from ragfile.errors import LockedError as LockedError
    from ragfile.errors import ModelError as ModelError
    from ragfile.errors import ProviderError as ProviderError
    from ragfile.errors import RagfileError as RagfileError
    from ragfile.errors import RemoteError as RemoteError
    from ragfile.errors import SignatureError as SignatureError
    from ragfile.errors import VersionError as VersionError
    from ragfile.exchange.bundles import sign_bundle as sign_bundle
    from ragfile.exchange.bundles import verify_bundle as verify_bundle
    from ragfile.exchange.converting import convert as convert
    from ragfile.ground.signing_keys import new_key as new_key
    from ragfile.ingest.analysis import Analysis as Analysis
    from ragfile.ingest.chunking import Policy as Policy
    from ragfile.ingest.loading import Limits as Limits
    from ragfile.opening import open as open
    from ragfile.opening import sign as sign
    from ragfile.opening import verify as verify
    from ragfile.query.answers import Answer as Answer
    from ragfile.query.citing import Citation as Citation
    from ragfile.query.searching import KnowledgeBase as KnowledgeBase
    from ragfile.records import Candidate as Candidate
    from ragfile.records import Chunk as Chunk
    from ragfile.records import Document as Document
    from ragfile.records import Hit as Hit
    from ragfile.records import Hits as Hits
    from ragfile.records import Plan as Plan
    from ragfile.records import Span as Span
    from ragfile.server.static_site import site as site
    from ragfile.store.custom_sections import register as register
    from ragfile.store.pairs import PairFile as PairFile
    from ragfile.store.pairs_writing import write_pairs as write_pairs
    from ragfile.store.signatures import Signature as Signature
else:

    def _compiled_core():
        """The extension module, or one sentence on what to do in a source folder without it."""
        try:
            return import_module("ragfile._core")
        except ModuleNotFoundError as error:
            if error.name != "ragfile._core":
                raise
            raise ImportError(
                f"{__path__[0]} holds ragfile's source without its compiled core: run "
                "'pip install -e .' in the folder above it, or start Python in another folder to "
                "use the ragfile that is installed",
                name="ragfile._core",
            ) from None

    def __getattr__(name):
        if name == "_core":
            return _compiled_core()
        if name == "dataset":
            return import_module("ragfile.dataset")
        if name not in _HOMES:
            raise AttributeError(f"module 'ragfile' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"ragfile.{_HOMES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
