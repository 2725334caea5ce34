"""A folder or an archive saved by txtai: read, without txtai.

config.json    the model, the backend of the vectors, the columns of the text
embeddings     the vectors by number: a flat FAISS index with an id map, or a numpy array
documents      SQLite, with content enabled: sections (number, id, text, tags), documents (data as JSON)
ids            MessagePack, without content: the id of each number

Other backends are refused by name; their texts are embedded again if an embedder is given. A pickle,
which old versions wrote, is never opened.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import tokenize
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.embedding.protocol import embedded, open_embedder
from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.foreign_tables import grouped
from ragfile.exchange.stores.tables import parsed
from ragfile.exchange.stores.txtai_archive import unpacked
from ragfile.ground.call_site import stack_level
from ragfile.ground.extras import optional
from ragfile.ground.json_values import is_list, is_object
from ragfile.ingest.column_roles import NAMES, ForeignRow

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ragfile.exchange.collection import JsonObject
    from ragfile.types import Float32s, StrPath

MAX_CONFIG = 1 << 24  # bytes
MAX_VALUE = 1 << 28  # bytes of a text in SQLite
BATCH = 1000
SCHEMES = {"sentence-transformers": "st", "transformers": "st", "pooling": "st"}
FOLDER = re.compile(r"$|[/.~\\]|[A-Za-z]:[/\\]")
PREFIXES = {"ollama/": "ollama:", "openai/": "openai:"}  # of models that LiteLLM serves
PICKLE = (
    "{} is a pickle, which can run any program and is not opened; load the index in txtai with "
    'ALLOW_PICKLE=True, set embeddings.config["format"] = "json", and save it again'
)
QUERY = """
SELECT s.indexid, s.id, s.text, s.tags, s.entry, d.data
FROM sections s LEFT JOIN documents d ON s.id = d.id ORDER BY s.indexid
"""


class Numbered(NamedTuple):
    """A row with the number of its vector."""

    number: int
    row: ForeignRow


class StoredSection(NamedTuple):
    """A row of QUERY, whose columns can hold values of any type."""

    number: object
    id: object
    text: object
    tags: object
    entry: object
    data: object


class VectorsByNumber(NamedTuple):
    """Vectors, and the row of each by its number."""

    vectors: Float32s
    rows: dict[int, int]


def read(path: StrPath, *, embedder: str | None = None) -> Collection:
    """Read an index.

    Args:
        path: The folder, or its .tar.gz or .zip.
        embedder: Embeds the texts again if the backend of the vectors cannot be read.
    """
    with unpacked(path) as folder, _named(path, folder):
        config = _config(folder)
        found = list(_numbered(folder, config))
        if not found:
            raise FormatError(f"{folder} has no documents")
        try:
            held = _held(folder, config)
        except FormatError as error:
            has_texts = any(row.text for _, row in found)
            if embedder is None or not has_texts:
                raise _advised(error, has_texts=has_texts) from None
            what = f"{error}; the texts were embedded again with {embedder}"
            warnings.warn(what, UserWarning, stacklevel=stack_level())
            return _embedded_again([row for _, row in found], embedder)
        return _collection(found, held, _model_of(config))


@contextlib.contextmanager
def _named(path: StrPath, folder: Path) -> Generator[None]:
    """Name the archive, not the folder that it was unpacked into, in errors."""
    try:
        yield
    except FormatError as error:
        raise FormatError(str(error).replace(str(folder), os.fspath(path))) from None


def _advised(error: FormatError, *, has_texts: bool) -> FormatError:
    advice = (
        "pass --embedder MODEL to embed the texts again"
        if has_texts
        else "and it holds no texts to embed again"
    )
    return FormatError(f"{error}; {advice}")


# ---------------------------------------------------------------------------------------------------------------- config --


def _config(folder: Path) -> JsonObject:
    path = folder / "config.json"
    if not path.exists():
        raise FormatError(PICKLE.format(folder / "config"))
    if path.stat().st_size > MAX_CONFIG:
        raise FormatError(f"{path} is longer than {MAX_CONFIG} bytes")
    return _data(path.read_bytes(), str(path))


def _model_of(config: JsonObject) -> str | None:
    """Return the model's name, with a scheme where it is known; None for a folder or a function."""
    name, method = config.get("path"), config.get("method")
    if not isinstance(name, str) or method == "external" or FOLDER.match(name):
        return None
    for prefix, scheme in PREFIXES.items():
        if name.startswith(prefix):
            return scheme + name.removeprefix(prefix)
    known = SCHEMES.get("transformers" if method is None else str(method))
    return f"{known}:{name}" if known else name


# ------------------------------------------------------------------------------------------------------------- documents --


def _numbered(folder: Path, config: JsonObject) -> Iterator[Numbered]:
    """Yield the documents in the order of their numbers."""
    if (folder / "documents").exists():
        return _sections(folder / "documents", _text_key(config))
    if (folder / "ids").exists():
        return _ids(folder / "ids")
    raise FormatError(f"{folder} has neither documents nor ids: its content is not in the folder")


def _text_key(config: JsonObject) -> str:
    columns = config.get("columns")
    return str(columns.get("text", "text")) if is_object(columns) else "text"


def _sections(path: Path, text_key: str) -> Iterator[Numbered]:
    with contextlib.closing(_database(path)) as database:
        try:
            _check_tables(database, path)
            for row in database.execute(QUERY):
                yield _section(StoredSection(*row), text_key, path)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise FormatError(f"{path}: {error}") from None


def _database(path: Path) -> sqlite3.Connection:
    with path.open("rb") as file:
        head = file.read(16)
    if head[8:12] == b"DUCK":
        raise FormatError(f"{path} is a DuckDB database; content is read from SQLite")
    if head != b"SQLite format 3\x00":
        raise FormatError(f"{path} is not an SQLite database")
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    return database


def _check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Refuse views and virtual tables, which can have any number of rows."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    names = {name for (name,) in database.execute(query)}
    if missing := {"sections", "documents"} - names:
        raise FormatError(f"{path} has no table {min(missing)}")


def _section(stored: StoredSection, text_key: str, path: Path) -> Numbered:
    number, name, text = stored.number, stored.id, stored.text
    if not isinstance(number, int) or not isinstance(name, str):
        raise FormatError(f"{path}: a section's indexid is a number and its id text")
    if not isinstance(text, str | None):
        raise FormatError(f"{path}: the text of {name!r} is not text")
    data = _data(stored.data, f"{path}: the data of {name!r}")
    tagged = [*_tags(stored.tags), *_tags(data.pop("tags", None))]
    for key, value in ((text_key, text), ("id", name)):
        if key in data and str(data[key]) == value:
            del data[key]
    metadata = {"entry": stored.entry} if isinstance(stored.entry, str) else {}
    tags = list(dict.fromkeys(tagged))
    name = name or f"row-{number}"
    return Numbered(number, ForeignRow(name, text or "", _source(data), metadata | data, tags))


def _data(raw: object, what: str) -> JsonObject:
    if raw is None:
        return {}
    if not isinstance(raw, str | bytes):
        raise FormatError(f"{what} is not JSON")
    data = parsed(raw, what)
    try:
        json.dumps(data, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}") from None
    return data


def _tags(value: object) -> list[str]:
    """Return a list of tags; a text is one tag, or a list as JSON."""
    if isinstance(value, str) and value.startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if is_list(value):
        return [str(tag) for tag in value if tag not in (None, "")]
    return [] if value in (None, "") else [str(value)]


def _source(data: JsonObject) -> str:
    found = (data.get(name) for name in NAMES["source"])
    return next((value for value in found if isinstance(value, str)), "")


def _ids(path: Path) -> Iterator[Numbered]:
    """Yield the ids of an index without content; deleted numbers have none."""
    raw = path.read_bytes()
    if raw[:1] == b"\x80" and len(raw) > 1:
        raise FormatError(PICKLE.format(path))
    msgpack = optional("msgpack", "reading the ids of a txtai index")
    try:
        ids: object = msgpack.unpackb(raw)
    except ValueError as error:
        raise FormatError(f"{path} is not MessagePack: {error or type(error).__name__}") from None
    if not is_list(ids) or not all(isinstance(name, str | int | None) for name in ids):
        raise FormatError(f"{path} is not a list of ids")
    for number, name in enumerate(ids):
        if name is not None:
            yield Numbered(number, ForeignRow(str(name), "", "", {}, []))


# --------------------------------------------------------------------------------------------------------------- vectors --


def _held(folder: Path, config: JsonObject) -> VectorsByNumber:
    """Return the vectors; FormatError for a backend that is not read, and for damage."""
    backend, path = str(config.get("backend", "faiss")), folder / "embeddings"
    if not path.is_file():
        raise FormatError(f"{folder} has no file of vectors")
    if backend not in ("faiss", "numpy", "torch"):
        raise FormatError(f"{path}: vectors of the backend {backend!r} are not read")
    try:
        held = _of_faiss(path) if backend == "faiss" else _of_numpy(path)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    if not np.isfinite(held.vectors).all():
        raise FormatError(f"{path}: a vector is not finite")
    return held


HEAD = _core.FAISS_FLAT_HEAD - 8  # of an index that is not flat
ID_MAP = "IxMp"


def _of_faiss(path: Path) -> VectorsByNumber:
    """Read a flat index, or one under an id map: a head, the flat index, a count, an id a row."""
    index = Index.read(path)
    if index.kind != ID_MAP:
        return VectorsByNumber(_rows(index), {n: n for n in range(index.count)})
    size = 8 * (index.count + 1)
    if size > len(index.data) - HEAD:
        raise FormatError("a FAISS index ends inside its id map")
    inner = Index(np.array(index.data[HEAD:-size]))
    numbers = np.frombuffer(index.data[-size:].tobytes(), "<i8")
    vectors = _rows(inner)
    if inner.count != index.count or numbers[0] != index.count:
        raise FormatError("the id map of a FAISS index has another number of vectors")
    return VectorsByNumber(vectors, {int(number): n for n, number in enumerate(numbers[1:])})


def _rows(index: Index) -> Float32s:
    if not index.is_flat:
        raise FormatError(
            f"the vectors of an {index.class_name} are not read, only of flat indexes"
        )
    return index.vectors


NOT_AN_ARRAY = (
    ValueError, OverflowError, TypeError, SyntaxError, EOFError, MemoryError, tokenize.TokenError,
)  # fmt: skip


def _of_numpy(path: Path) -> VectorsByNumber:
    """Read a .npy file; mapping it checks its size before anything is allocated."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise FormatError("the vectors are not a .npy array")
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except NOT_AN_ARRAY as error:
        raise FormatError(f"not a .npy array: {error}") from None
    if array.dtype.kind != "f" or array.ndim != 2 or not array.shape[1]:
        shape = " x ".join(map(str, array.shape))
        raise FormatError(f"an array of {shape} {array.dtype} is not a matrix of float vectors")
    return VectorsByNumber(np.array(array, np.float32), {n: n for n in range(len(array))})


# ------------------------------------------------------------------------------------------------------------ collection --


def _collection(found: list[Numbered], held: VectorsByNumber, model: str | None) -> Collection:
    at = [held.rows.get(number) for number, _ in found]
    vectors = [None if row is None else held.vectors[row] for row in at]
    refs, documents = grouped([row for _, row in found], vectors)
    matrix = held.vectors[[row for row in at if row is not None]]
    return Collection(Index.of(matrix), refs, documents, model, is_cosine=True)


def _embedded_again(rows: list[ForeignRow], spec: str) -> Collection:
    opened = open_embedder(spec)
    if opened is None:
        raise ValueError(f"the embedder {spec!r} makes no vectors")
    texts = [row.text for row in rows if row.text]
    batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
    matrix = np.concatenate([embedded(opened, batch, "document") for batch in batches])
    made = iter(matrix)
    refs, documents = grouped(rows, [next(made) if row.text else None for row in rows])
    return Collection(Index.of(matrix), refs, documents, opened.model.name, is_cosine=True)
