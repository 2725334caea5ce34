"""ragfile: one file that holds everything retrieval needs, opened by memory map, searched exactly."""

import os
from importlib import import_module

__version__ = "0.1.0"

# Public name -> its module, imported on first use, so that `import ragfile` takes milliseconds.
_HOMES = {
    "Analysis": "ingest.analysis",
    "Answer": "answer.answers",
    "BuildReport": "write.builder",
    "Candidate": "records",
    "ChangedError": "errors",
    "ChatModel": "chat.protocol",
    "Chunk": "records",
    "Citation": "answer.citations",
    "ConflictError": "errors",
    "CorruptError": "errors",
    "Document": "records",
    "DocumentGraph": "graph.document_graph",
    "Editor": "write.editor",
    "Embedder": "embedding.protocol",
    "EncryptionError": "errors",
    "Folder": "folder",
    "FormatError": "errors",
    "Hit": "records",
    "Hits": "records",
    "Hyperedge": "graph.document_graph",
    "KnowledgeBase": "knowledge_base",
    "Layers": "layers.open_layers",
    "Limits": "ingest.loaders.contract",
    "Link": "records",
    "LockedError": "errors",
    "Model": "embedding.protocol",
    "Neighbour": "graph.document_graph",
    "Neighbours": "graph.document_graph",
    "ModelError": "errors",
    "OpenWriter": "write.open_writer",
    "PairFile": "file.pairs",
    "Plan": "records",
    "Policy": "ingest.chunker",
    "ProviderError": "errors",
    "PullReport": "exchange.pull",
    "RagfileError": "errors",
    "Ready": "qa",
    "RemoteError": "errors",
    "RepairReport": "write.repair",
    "Signature": "file.signatures",
    "SignatureError": "errors",
    "Span": "records",
    "SyncReport": "write.source_sync",
    "UnpackReport": "exchange.unpack",
    "VersionError": "errors",
    "Writer": "write.writer",
    "add": "write.source_sync",
    "build": "write.builder",
    "chunk": "canonical",
    "compact": "write.compaction",
    "compress": "canonical",
    "convert": "exchange.conversion",
    "create": "write.writer",
    "edit": "opener",
    "fuse": "canonical",
    "index": "canonical",
    "judge": "evaluation.benchmark",
    "log": "write.history",
    "new_key": "ground.signing_keys",
    "open": "opener",
    "pull": "exchange.pull",
    "register": "file.custom_sections",
    "reindex": "write.reindex",
    "rekey": "write.rekey",
    "repair": "write.repair",
    "rerank": "canonical",
    "retrieve": "canonical",
    "sign": "opener",
    "sign_bundle": "exchange.signature_bundles",
    "site": "doors.site.static_site",
    "stale": "write.history",
    "sync": "write.source_sync",
    "unpack": "opener",
    "using_key": "ground.encryption_keys",
    "verify": "opener",
    "verify_bundle": "exchange.signature_bundles",
    "write_pairs": "file.pairs_writer",
    "writer": "opener",
}
__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]  # the table is its one source

# The same for type checkers and editors, which would accept any name with __getattr__. A test compares both.
# Importing typing takes milliseconds, and editors would skip code below a plain False.
TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from ragfile import dataset as dataset
    from ragfile.answer.answers import Answer as Answer
    from ragfile.answer.citations import Citation as Citation
    from ragfile.canonical import chunk as chunk
    from ragfile.canonical import compress as compress
    from ragfile.canonical import fuse as fuse
    from ragfile.canonical import index as index
    from ragfile.canonical import rerank as rerank
    from ragfile.canonical import retrieve as retrieve
    from ragfile.chat.protocol import ChatModel as ChatModel
    from ragfile.doors.site.static_site import site as site
    from ragfile.embedding.protocol import Embedder as Embedder
    from ragfile.embedding.protocol import Model as Model
    from ragfile.errors import ChangedError as ChangedError
    from ragfile.errors import ConflictError as ConflictError
    from ragfile.errors import CorruptError as CorruptError
    from ragfile.errors import EncryptionError as EncryptionError
    from ragfile.errors import FormatError as FormatError
    from ragfile.errors import LockedError as LockedError
    from ragfile.errors import ModelError as ModelError
    from ragfile.errors import ProviderError as ProviderError
    from ragfile.errors import RagfileError as RagfileError
    from ragfile.errors import RemoteError as RemoteError
    from ragfile.errors import SignatureError as SignatureError
    from ragfile.errors import VersionError as VersionError
    from ragfile.evaluation.benchmark import judge as judge
    from ragfile.exchange.conversion import convert as convert
    from ragfile.exchange.pull import PullReport as PullReport
    from ragfile.exchange.pull import pull as pull
    from ragfile.exchange.signature_bundles import sign_bundle as sign_bundle
    from ragfile.exchange.signature_bundles import verify_bundle as verify_bundle
    from ragfile.exchange.unpack import UnpackReport as UnpackReport
    from ragfile.file.custom_sections import register as register
    from ragfile.file.pairs import PairFile as PairFile
    from ragfile.file.pairs_writer import write_pairs as write_pairs
    from ragfile.file.signatures import Signature as Signature
    from ragfile.folder import Folder as Folder
    from ragfile.graph.document_graph import DocumentGraph as DocumentGraph
    from ragfile.graph.document_graph import Hyperedge as Hyperedge
    from ragfile.graph.document_graph import Neighbour as Neighbour
    from ragfile.graph.document_graph import Neighbours as Neighbours
    from ragfile.ground.encryption_keys import using_key as using_key
    from ragfile.ground.signing_keys import new_key as new_key
    from ragfile.ingest.analysis import Analysis as Analysis
    from ragfile.ingest.chunker import Policy as Policy
    from ragfile.ingest.loaders.contract import Limits as Limits
    from ragfile.knowledge_base import KnowledgeBase as KnowledgeBase
    from ragfile.layers.open_layers import Layers as Layers
    from ragfile.opener import edit as edit
    from ragfile.opener import open as open
    from ragfile.opener import sign as sign
    from ragfile.opener import unpack as unpack
    from ragfile.opener import verify as verify
    from ragfile.opener import writer as writer
    from ragfile.qa import Ready as Ready
    from ragfile.records import Candidate as Candidate
    from ragfile.records import Chunk as Chunk
    from ragfile.records import Document as Document
    from ragfile.records import Hit as Hit
    from ragfile.records import Hits as Hits
    from ragfile.records import Link as Link
    from ragfile.records import Plan as Plan
    from ragfile.records import Span as Span
    from ragfile.write.builder import BuildReport as BuildReport
    from ragfile.write.builder import build as build
    from ragfile.write.compaction import compact as compact
    from ragfile.write.editor import Editor as Editor
    from ragfile.write.history import log as log
    from ragfile.write.history import stale as stale
    from ragfile.write.open_writer import OpenWriter as OpenWriter
    from ragfile.write.reindex import reindex as reindex
    from ragfile.write.rekey import rekey as rekey
    from ragfile.write.repair import RepairReport as RepairReport
    from ragfile.write.repair import repair as repair
    from ragfile.write.source_sync import SyncReport as SyncReport
    from ragfile.write.source_sync import add as add
    from ragfile.write.source_sync import sync as sync
    from ragfile.write.writer import Writer as Writer
    from ragfile.write.writer import create as create
else:

    def _compiled_core() -> object:
        """Return the extension module, or raise an ImportError that explains how to build it."""
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

    def __getattr__(name: str) -> object:
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


def _wait_for_imports() -> None:
    """Let other threads finish the imports that a forked child would wait for."""
    from ragfile.ground import pending_imports

    pending_imports.wait()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports)
