"""Embedders that run a transformer on this machine: sentence-transformers, or an ONNX folder
without torch.
"""

from __future__ import annotations

import itertools
import json
import mmap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from ragfile.embedding.protocol import Model, prefixes_of, unit_rows
from ragfile.errors import ModelError
from ragfile.ground.extras import optional

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Role

MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
LENGTH_LIMIT = 8192  # tokenizers write absurd lengths for "no limit"
LENGTH_DEFAULT = 512


def choose_prefixes(name, prompts, query_prefix, document_prefix):
    """(query, document) prefixes: the caller's, else the model's own, else what its name is known
    for.
    """
    known_query, known_document = prefixes_of(name)
    own_query = prompts.get("query", known_query)
    own_document = prompts.get("document", prompts.get("passage", known_document))
    return (
        own_query if query_prefix is None else query_prefix,
        own_document if document_prefix is None else document_prefix,
    )


def library(package, embedder):
    """A package that an embedder needs; ModelError where it is not installed."""
    try:
        return optional(package, f"the embedder {embedder}")
    except ImportError as error:
        raise ModelError(str(error)) from error


# ------------------------------------------------------------------------------------------- sentence-transformers ---


class SentenceTransformerEmbedder:
    """A sentence-transformers model. Its prompts are put before the texts here, so that the
    identity tells them.
    """

    def __init__(self, transformer, model: Model, *, batch: int):
        self.transformer = transformer
        self.model = model
        self.batch = batch

    def embed(self, texts, role: Role = "document"):
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

    def __repr__(self):
        return f"SentenceTransformerEmbedder({self.model.name}, {self.model.dims} dims)"


def sentence_transformer(
    name,
    *,
    device=None,
    batch=32,
    query_prefix=None,
    document_prefix=None,
    offline=False,
    **options,
):
    """A model by its name (fetched once into the library's own cache) or by the path of its
    folder.
    """
    transformers = library("sentence_transformers", f"st:{name}")
    transformer = transformers.SentenceTransformer(
        name, device=device, local_files_only=offline, **options
    )
    prompts = {key: prompt for key, prompt in (transformer.prompts or {}).items() if prompt}
    query, document = choose_prefixes(name, prompts, query_prefix, document_prefix)
    dimension = (
        getattr(transformer, "get_embedding_dimension", None)
        or transformer.get_sentence_embedding_dimension
    )
    cut = getattr(transformer, "max_seq_length", None)
    cut = int(cut) if cut and cut <= LENGTH_LIMIT else None
    model = Model(f"st:{model_name(name)}", dimension(), query, document, cut=cut)
    return SentenceTransformerEmbedder(transformer, model, batch=batch)


def model_name(name):
    """A model's own name: the same for a hub name and a local folder, and for
    sentence-transformers/NAME and NAME.
    """
    return Path(name).name if Path(name).exists() else name.removeprefix("sentence-transformers/")


# ----------------------------------------------------------------------------------------------------- ONNX folder ---


class OnnxEmbedder:
    """A session and its tokenizer.

    A text's vector does not depend on the texts beside it. So only texts of one length run together,
    because padding is not nothing to every model, and a model that quantises as it runs takes them
    one by one: its scale is that of all that runs together. The order of the answer is the caller's.
    """

    def __init__(self, session, tokenizer, model: Model, *, output, pooling, batch):
        self.session = session
        self.tokenizer = tokenizer
        self.model = model
        self.output = output
        self.pooling = pooling
        self.batch = batch
        self.inputs = [entry.name for entry in session.get_inputs()]

    def embed(self, texts, role: Role = "document"):
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

    def run(self, encodings):
        """The pooled, not yet normalised vectors of one batch, all of one length."""
        fields = {
            "input_ids": "ids",
            "attention_mask": "attention_mask",
            "token_type_ids": "type_ids",
        }
        feeds = {name: rows(encodings, fields[name]) for name in self.inputs if name in fields}
        mask = rows(encodings, "attention_mask")
        (hidden,) = self.session.run([self.output], feeds)
        return hidden if hidden.ndim == 2 else pool(hidden, mask, self.pooling)

    def __repr__(self):
        return f"OnnxEmbedder({self.model.name}, {self.model.dims} dims)"


def _alike(lengths, most):
    """Numbers of texts, the shortest first, in batches of at most `most` of one length."""
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for _, some in itertools.groupby(by_length, lengths.__getitem__):
        together = list(some)
        for start in range(0, len(together), most):
            yield together[start : start + most]


def rows(encodings, field):
    """One field of encodings of one length as int64 rows."""
    return np.array([getattr(encoding, field) for encoding in encodings], np.int64)


def pool(hidden, mask, pooling):
    """One vector a text from one a token: of the first token, of the last, or their mean."""
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        return hidden[np.arange(len(hidden)), mask.sum(axis=1) - 1]
    weights = mask[:, :, None].astype(np.float64)
    return (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)


def onnx_folder(
    folder, *, threads=0, batch=32, pooling=None, query_prefix=None, document_prefix=None, offline=False
):  # fmt: skip
    """A folder with model.onnx (or onnx/model.onnx) and tokenizer.json; sentence-transformers' own
    files say the rest.

    offline changes nothing: this embedder never reaches for the network.
    """
    onnxruntime = library("onnxruntime", f"onnx:{folder}")
    tokenizers = library("tokenizers", f"onnx:{folder}")
    folder = Path(folder)
    path = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if path is None or not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} has no {'model.onnx' if path is None else 'tokenizer.json'}")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
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
        output=output.name,
        pooling=pooling,
        batch=1 if quantises(path) else batch,
    )
    dims = embedder.run(tokenizer.encode_batch(["length"])).shape[1]
    weights = hash_of(path, path.with_name(f"{path.name}_data"), folder / "tokenizer.json")
    embedder.model = Model(f"onnx:{name}", dims, query, document, weights=weights, cut=cut)
    return embedder


QUANTISING = (b"DynamicQuantize", b"MatMulInteger", b"ConvInteger")  # names of operators


def quantises(path):
    """Whether a model scales what it is given as it runs."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as model:
        return any(model.find(name) >= 0 for name in QUANTISING)


def hash_of(*paths):
    """32 digits over the bytes of the files that are there."""
    made = xxhash.xxh3_128()
    for path in paths:
        if path.is_file():
            with open(path, "rb") as file:
                while piece := file.read(1 << 20):
                    made.update(piece)
    return made.hexdigest()


def open_session(onnxruntime, path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors; a library does not write to its user's terminal
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def choose_output(session, path):
    """The output that is a vector a text, if there is one; else the one a token."""
    outputs = session.get_outputs()
    for rank in (2, 3):
        for output in outputs:
            if len(output.shape or []) == rank and output.name != "pooler_output":
                return output
    raise ModelError(
        f"{path} has no output of one vector a text or a token: {[output.name for output in outputs]}"
    )


def read_json(path):
    """A JSON object, empty if the file does not exist."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def pooling_of(folder):
    """How the model was trained to pool: cls, last or mean."""
    config = read_json(folder / "1_Pooling" / "config.json")
    if config.get("pooling_mode_cls_token") or config.get("pooling_mode") == "cls":
        return "cls"
    if config.get("pooling_mode_lasttoken") or config.get("pooling_mode") == "lasttoken":
        return "last"
    return "mean"


# Models whose first position is that of the padding token and the next one: two fewer are left.
PADDED = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "data2vec-text"}


def length_of(folder, truncation=None):
    """The most tokens that a text can have: what sentence-transformers' configuration says, else
    the tokenizer's own truncation, else its limit; never more than the model has positions for.
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
