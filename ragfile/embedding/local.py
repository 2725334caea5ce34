"""Embedders that run a transformer locally: sentence-transformers, or an ONNX folder without torch."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import xxhash

from ragfile.embedding.protocol import Model, prefixes_of, unit_rows
from ragfile.errors import ModelError
from ragfile.ground import system
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from ragfile.embedding.protocol import Role
    from ragfile.types import Float32s, Floats, Int64s, StrPath

MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
LENGTH_LIMIT = 8192  # tokenizers write huge lengths for "no limit"
LENGTH_DEFAULT = 512


def choose_prefixes(
    name: str,
    prompts: Mapping[str, str],
    query_prefix: str | None,
    document_prefix: str | None,
) -> tuple[str, str]:
    """Return (query, document) prefixes: the caller's, else the model's own, else those known."""
    known_query, known_document = prefixes_of(name)
    own_query = prompts.get("query", known_query)
    own_document = prompts.get("document", prompts.get("passage", known_document))
    return (
        own_query if query_prefix is None else query_prefix,
        own_document if document_prefix is None else document_prefix,
    )


def library(package: str, embedder: str) -> ModuleType:
    """Import a package that an embedder needs; raise ModelError if it is not installed."""
    try:
        return optional(package, f"the embedder {embedder}")
    except ImportError as error:
        raise ModelError(str(error)) from error


class Transformer(Protocol):
    """The part of a sentence_transformers.SentenceTransformer that this module uses."""

    def encode(
        self,
        sentences: list[str],
        *,
        prompt: str,
        batch_size: int,
        show_progress_bar: bool,
        convert_to_numpy: bool,
    ) -> Floats: ...


class Port(Protocol):
    """An input or output of a session: the part of an onnxruntime.NodeArg that this module uses."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Sequence[object] | None: ...


class Session(Protocol):
    """The part of an onnxruntime.InferenceSession that this module uses."""

    def get_inputs(self) -> Sequence[Port]: ...
    def get_outputs(self) -> Sequence[Port]: ...
    def run(self, output_names: list[str], input_feed: Mapping[str, Any]) -> Sequence[Any]: ...


class SentenceTransformerEmbedder:
    """A sentence-transformers model.

    The prompts are put before the texts here, not by the library, so that they are part of the
    model's identity.
    """

    def __init__(
        self,
        transformer: Transformer,
        model: Model,
        *,
        batch: int,
    ) -> None:
        self.transformer = transformer
        self.model = model
        self.batch = batch

    def embed(self, texts: Sequence[str], role: Role = "document") -> Float32s:
        """Return an array with a row of length 1 per text, zeros for texts without content."""
        prefix = self.model.prefix(role)
        kept = [i for i, text in enumerate(texts) if text.strip()]
        out = np.zeros((len(texts), self.model.dims or 0), np.float32)
        if kept:
            vectors = self.transformer.encode(
                [prefix + texts[i] for i in kept],
                prompt="",  # not the model's default prompt on top of ours
                batch_size=self.batch,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
            out[kept] = unit_rows(vectors, dims=self.model.dims, source=self.model.name)
        return out

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({self.model.name}, {self.model.dims} dims)"


def sentence_transformer(
    name: str,
    *,
    device: str | None = None,
    batch: int = 32,
    query_prefix: str | None = None,
    document_prefix: str | None = None,
    offline: bool = False,
    **options: object,
) -> SentenceTransformerEmbedder:
    """Open a sentence-transformers model.

    Args:
        name: The model's name, downloaded once into the library's own cache, or its folder.
        device: "cpu", "cuda" or another device of torch; chosen by the library if None.
        batch: Texts that run together.
        query_prefix: Text before queries; the model's own or that of known models if None.
        document_prefix: Text before documents; the model's own or that of known models if None.
        offline: Load only a model that is on disk.
        **options: Further options of SentenceTransformer.
    """
    transformers = library("sentence_transformers", f"st:{name}")
    transformer = transformers.SentenceTransformer(
        name, device=device, local_files_only=offline, **options
    )
    own: dict[str, str] = transformer.prompts or {}
    prompts = {key: prompt for key, prompt in own.items() if prompt}
    query, document = choose_prefixes(name, prompts, query_prefix, document_prefix)
    dimension = (
        getattr(transformer, "get_embedding_dimension", None)
        or transformer.get_sentence_embedding_dimension
    )
    cut = getattr(transformer, "max_seq_length", None)
    cut = int(cut) if cut and cut <= LENGTH_LIMIT else None
    weights = hash_of(*files) if (files := weight_files(Path(name))) else ""
    model = Model(f"st:{model_name(name)}", dimension(), query, document, weights=weights, cut=cut)
    return SentenceTransformerEmbedder(transformer, model, batch=batch)


def weight_files(folder: Path) -> list[Path]:
    """Return the files of a model's folder that determine its vectors; [] for a hub's name."""
    kinds = ("*.safetensors", "*.bin", "tokenizer.json", "vocab.txt")
    return sorted(path for kind in kinds for path in folder.rglob(kind))


def model_name(name: str) -> str:
    """Return a model's own name.

    It is the same for a hub name and a local folder, and for sentence-transformers/NAME and NAME.
    """
    return Path(name).name if Path(name).exists() else name.removeprefix("sentence-transformers/")


class OnnxEmbedder:
    """An ONNX session and its tokenizer.

    A text's vector does not depend on the other texts of its batch. So only texts of one length run
    together, because padding changes the results of some models, and a model that quantises
    dynamically runs them one by one, because its scale depends on the whole batch.
    """

    def __init__(
        self,
        session: Session,
        tokenizer: Tokenizer,
        model: Model,
        *,
        output: str,
        pooling: str,
        batch: int,
    ) -> None:
        self.session = session
        self.tokenizer = tokenizer
        self.model = model
        self.output = output
        self.pooling = pooling
        self.batch = batch
        self.inputs: list[str] = [entry.name for entry in session.get_inputs()]

    def embed(self, texts: Sequence[str], role: Role = "document") -> Float32s:
        """Return an array with a row of length 1 per text, zeros for texts without content."""
        prefix = self.model.prefix(role)
        kept = [i for i, text in enumerate(texts) if text.strip()]
        encodings = self.tokenizer.encode_batch([prefix + texts[i] for i in kept])
        out = np.zeros((len(texts), self.model.dims or 0), np.float32)
        for some in _alike([len(encoding.ids) for encoding in encodings], self.batch):
            vectors = self.run([encodings[i] for i in some])
            out[[kept[i] for i in some]] = unit_rows(
                vectors, dims=self.model.dims, source=self.model.name
            )
        return out

    def run(self, encodings: Sequence[Encoding]) -> Floats:
        """Return the pooled vectors of a batch of one length, before normalisation."""
        fields = {
            "input_ids": "ids",
            "attention_mask": "attention_mask",
            "token_type_ids": "type_ids",
        }
        feeds = {name: rows(encodings, fields[name]) for name in self.inputs if name in fields}
        mask = rows(encodings, "attention_mask")
        hidden: NDArray[np.float32] = self.session.run([self.output], feeds)[0]
        return hidden if hidden.ndim == 2 else pool(hidden, mask, self.pooling)

    def __repr__(self) -> str:
        return f"OnnxEmbedder({self.model.name}, {self.model.dims} dims)"


def _alike(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield batches of at most `most` indexes of one length, the shortest first."""
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for _, some in itertools.groupby(by_length, lengths.__getitem__):
        together = list(some)
        for start in range(0, len(together), most):
            yield together[start : start + most]


def rows(encodings: Sequence[Encoding], field: str) -> Int64s:
    """Return one field of encodings of one length as rows."""
    return np.array([getattr(encoding, field) for encoding in encodings], np.int64)


def pool(hidden: Floats, mask: Int64s, pooling: str) -> Floats:
    """Reduce one vector per token to one per text: the first token's, the last one's, or the mean."""
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        last: Floats = hidden[np.arange(len(hidden)), mask.sum(axis=1) - 1]
        return last
    weights = mask[:, :, None].astype(np.float64)
    mean: Floats = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return mean


def onnx_folder(
    folder: StrPath, *, threads: int = 0, batch: int = 32, pooling: str | None = None,
    query_prefix: str | None = None, document_prefix: str | None = None, offline: bool = False,
) -> OnnxEmbedder:  # fmt: skip
    """Open a folder with model.onnx or onnx/model.onnx, and tokenizer.json.

    The configuration files of sentence-transformers in the folder are the defaults.

    Args:
        folder: The folder.
        threads: Threads of one run; chosen by onnxruntime if 0.
        batch: Texts that run together; always 1 for a model that quantises dynamically.
        pooling: "cls", "last" or "mean"; the model's own if None.
        query_prefix: Text before queries; the model's own or that of known models if None.
        document_prefix: Text before documents; the model's own or that of known models if None.
        offline: Without effect, because this embedder never uses the network.
    """
    onnxruntime = library("onnxruntime", f"onnx:{folder}")
    tokenizers = library("tokenizers", f"onnx:{folder}")
    folder = Path(folder)
    path = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if path is None or not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} has no {'model.onnx' if path is None else 'tokenizer.json'}")
    stored = str(folder / "tokenizer.json")
    tokenizer: Tokenizer = tokenizers.Tokenizer.from_file(stored)
    cut = length_of(folder, tokenizer.truncation)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=cut)
    session = open_session(onnxruntime, path, threads)
    output = choose_output(session, path)
    name = folder.resolve().name
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts", {})
    query, document = choose_prefixes(name, prompts, query_prefix, document_prefix)
    pooling = pooling or pooling_of(folder)
    embedder = OnnxEmbedder(
        session,
        tokenizer,
        Model(f"onnx:{name}", None),
        output=output,
        pooling=pooling,
        batch=1 if quantises(path) else batch,
    )
    dims = embedder.run(tokenizer.encode_batch(["length"])).shape[1]
    weights = hash_of(path, path.with_name(f"{path.name}_data"), folder / "tokenizer.json")
    embedder.model = Model(f"onnx:{name}", dims, query, document, weights=weights, cut=cut)
    return embedder


QUANTISING = (b"DynamicQuantize", b"MatMulInteger", b"ConvInteger")  # names of operators


def quantises(path: Path) -> bool:
    """Return whether a model quantises its inputs dynamically."""
    with system.mapped(path) as model:
        return any(model.find(name) >= 0 for name in QUANTISING)


def hash_of(*paths: Path) -> str:
    """Return a hash of the bytes of those files that exist, in 32 hexadecimal digits."""
    made = xxhash.xxh3_128()
    for path in paths:
        if path.is_file():
            with open(path, "rb") as file:
                while piece := file.read(1 << 20):
                    made.update(piece)
    return made.hexdigest()


def open_session(onnxruntime: ModuleType, path: Path, threads: int) -> Session:
    """Open a model on the CPU."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors; a library does not write to its user's terminal
    session: Session = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    return session


def choose_output(session: Session, path: Path) -> str:
    """Return the name of the output with one vector per text, else of the one per token."""
    outputs = session.get_outputs()
    for rank in (2, 3):
        for output in outputs:
            if len(output.shape or []) == rank and output.name != "pooler_output":
                return str(output.name)
    raise ModelError(
        f"{path} has no output of one vector a text or a token: {[output.name for output in outputs]}"
    )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; {} if the file does not exist."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def pooling_of(folder: Path) -> str:
    """Return the pooling that a model was trained with: "cls", "last" or "mean"."""
    config = read_json(folder / "1_Pooling" / "config.json")
    if config.get("pooling_mode_cls_token") or config.get("pooling_mode") == "cls":
        return "cls"
    if config.get("pooling_mode_lasttoken") or config.get("pooling_mode") == "lasttoken":
        return "last"
    return "mean"


# Models that count positions from the padding token's on, which leaves two fewer for tokens.
PADDED = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "data2vec-text"}


def length_of(folder: Path, truncation: Mapping[str, Any] | None = None) -> int:
    """Return the most tokens of a text, at most the number of the model's positions.

    The first one set counts: the configuration of sentence-transformers, the tokenizer's own
    truncation, its limit.
    """
    config = read_json(folder / "config.json")
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in PADDED:
        positions -= 2
    stated = (
        read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
        (truncation or {}).get("max_length"),
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
        positions,
    )
    length = next((each for each in stated if each and each <= LENGTH_LIMIT), LENGTH_DEFAULT)
    return int(min(length, positions or length))
