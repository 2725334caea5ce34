"""An on-disk cache of an embedder's vectors, shared by builds and questions.

It is off by default. Turn it on with embedding_cache=FOLDER (True is the user's cache folder),
--embedding-cache FOLDER, or RAGFILE_CACHE=FOLDER in the environment, which covers every embedder
opened by name. The static model is faster than any cache and never uses one.

The vectors are in one SQLite file, so that processes can share it and a crash leaves no partial
entry. The key of an entry is two hashes: of the text, and of everything else that determines its
vector (model, dims, prefix). Texts themselves are not stored. A deletion from a file also deletes
the texts' vectors here, of all models. Each vector has a checksum, and an entry that fails it
counts as missing. The file can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import xxhash

from ragfile.embedding.protocol import CacheChoice, Embedder, Model, Role, embedded
from ragfile.errors import ModelError
from ragfile.ground import cache_folder, system

if TYPE_CHECKING:
    from ragfile.types import Float32s, StrPath

log = logging.getLogger("ragfile.embedding.cache")
R = TypeVar("R")

LAYOUT = 2  # part of every key: a change to the key or the value makes old entries unreachable, not wrong
FILE_NAME = "embeddings.sqlite3"
LOOKUP = 500  # keys in one query; every SQLite accepts 999 parameters
KEPT = 512  # texts that are embedded between writes; a killed process loses at most these vectors
PATIENCE = 30.0  # seconds to wait for another process that writes
TABLES = (
    "CREATE TABLE IF NOT EXISTS vectors (text BLOB, model BLOB, hash BLOB, vector BLOB, PRIMARY KEY (text, model)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS models (head TEXT PRIMARY KEY, dims INTEGER) WITHOUT ROWID",
)


def cached(embedder: Embedder, cache: CacheChoice) -> Embedder:
    """Return an embedder with the chosen cache, which replaces the one it has."""
    if isinstance(embedder, CachedEmbedder):
        if cache is None:
            return embedder
        embedder = embedder.embedder
    folder = chosen_folder(cache)
    return embedder if folder is None else CachedEmbedder(embedder, folder)


def chosen_folder(cache: CacheChoice) -> Path | None:
    """Return the folder of a choice, or None for no cache."""
    if cache is None:
        cache = bool(os.environ.get("RAGFILE_CACHE"))
    if isinstance(cache, bool):
        return cache_folder.default_folder() if cache else None
    return Path(cache)


class CachedEmbedder:
    """An embedder with a cache; `hits` and `misses` count texts.

    If the cache cannot be read or written, a warning is logged and the embedder does all the work.
    """

    def __init__(self, embedder: Embedder, folder: StrPath | None = None) -> None:
        self.embedder = embedder
        self.path = (
            Path(folder if folder is not None else cache_folder.default_folder()) / FILE_NAME
        )
        self.hits = 0
        self.misses = 0
        self._known_dims: int | None = None

    @property
    def model(self) -> Model:
        """The embedder's model, with the dims that the cache knows."""
        model = self.embedder.model
        return model if model.dims is not None else replace(model, dims=self._known_dims)

    def embed(self, texts: Sequence[str], role: Role = "document") -> Float32s:
        """Return a row per text, embedding only those that the cache lacks."""
        self._recall_dims(role)
        keys = [text_key(text) for text in texts]
        found = use(self.path, lambda store: self._read(store, role, keys)) or {}
        asked = list(
            {key: text for key, text in zip(keys, texts, strict=True) if key not in found}.items()
        )
        self.hits += sum(key in found for key in keys)
        self.misses += sum(key not in found for key in keys)
        for start in range(0, len(asked), KEPT):
            some = dict(asked[start : start + KEPT])
            fresh = embedded(self.embedder, list(some.values()), role)
            self._learn_dims(fresh.shape[1])
            use(self.path, partial(self._write, role=role, keys=some, rows=fresh))
            found |= dict(zip(some, fresh, strict=True))
        if not keys:
            return np.zeros((0, self.model.dims or 0), np.float32)
        return np.stack([found[key] for key in keys])

    def _head(self, role: Role) -> str:
        """Return a string of everything that determines a vector besides its text and dims."""
        return f"{LAYOUT}\0{self.embedder.model.identity(role)}"

    def _model_key(self, role: Role) -> bytes:
        return xxhash.xxh3_128_digest(
            f"{self._head(role)}\0{self.model.dims}".encode("utf-8", "surrogatepass")
        )

    def _recall_dims(self, role: Role) -> None:
        """Look up the dims of a server's model that has not answered in this process yet."""
        if self.model.dims is None:
            query = "SELECT dims FROM models WHERE head = ?"
            row = use(self.path, lambda store: store.execute(query, (self._head(role),)).fetchone())
            self._known_dims = row[0] if row and isinstance(row[0], int) and row[0] > 0 else None

    def _learn_dims(self, dims: int) -> None:
        if self._known_dims is not None and self._known_dims != dims:
            name = self.embedder.model.name
            raise ModelError(
                f"{name} answers with {dims} dims, and did with {self._known_dims}: not the same model"
            )
        self._known_dims = dims

    def _row(self, check: object, value: object) -> Float32s | None:
        """Return an entry's vector, or None if the entry is damaged."""
        if (
            not isinstance(value, bytes)
            or xxhash.xxh3_64_digest(value) != check
            or len(value) != 4 * (self.model.dims or 0)
        ):
            return None
        row = np.frombuffer(value, "<f4").astype(np.float32)
        return row if np.isfinite(row).all() else None

    def _read(
        self, store: sqlite3.Connection, role: Role, keys: Iterable[bytes]
    ) -> dict[bytes, Float32s]:
        """Return the vectors of the texts that have intact entries."""
        if self.model.dims is None:
            return {}
        found: dict[bytes, Float32s] = {}
        unique, model = list(dict.fromkeys(keys)), self._model_key(role)
        for start in range(0, len(unique), LOOKUP):
            some = unique[start : start + LOOKUP]
            query = f"SELECT text, hash, vector FROM vectors WHERE model = ? AND text IN ({','.join('?' * len(some))})"
            entries = store.execute(query, [model, *some]).fetchall()
            rows = {key: self._row(check, value) for key, check, value in entries}
            found |= {key: row for key, row in rows.items() if row is not None}
        return found

    def _write(
        self, store: sqlite3.Connection, *, role: Role, keys: Iterable[bytes], rows: Float32s
    ) -> None:
        model, values = self._model_key(role), [row.astype("<f4").tobytes() for row in rows]
        entries = [
            (key, model, xxhash.xxh3_64_digest(value), value)
            for key, value in zip(keys, values, strict=True)
        ]
        with store:  # one transaction
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", entries)
            store.execute(
                "INSERT OR REPLACE INTO models VALUES (?, ?)", (self._head(role), self.model.dims)
            )

    def __getattr__(self, name: str) -> Any:  # Any: any attribute of the embedder
        """Return another attribute of the embedder, such as close()."""
        if name.startswith("__") or name == "embedder":
            raise AttributeError(name)
        return getattr(self.embedder, name)

    def __repr__(self) -> str:
        return f"CachedEmbedder({self.embedder!r}, {str(self.path.parent)!r})"


def text_key(text: str) -> bytes:
    """Return the key of a text's entries, which with the model's key identifies one."""
    return xxhash.xxh3_128_digest(text.encode("utf-8", "surrogatepass"))


def use(path: Path, work: Callable[[sqlite3.Connection], R]) -> R | None:
    """Open the store and return the result of `work` on it; None if the store cannot be used.

    Each use opens it again, so that nothing is shared between threads or across a fork.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE)) as store:
            store.text_factory = bytes  # a damaged entry might not be text
            store.execute("PRAGMA synchronous = NORMAL")
            store.execute("PRAGMA secure_delete = ON")  # overwrite deleted entries
            for table in TABLES:
                store.execute(table)
            return work(store)
    except (
        sqlite3.OperationalError,
        OSError,
    ) as error:  # locked for long, disk full, no permission
        log.warning("the embedding cache %s cannot be used: %s", path, error)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # SQLite quotes unreadable bytes in its messages, which may fail to decode.
        log.warning("%s is damaged (%s): it is deleted and starts empty", path, error)
        with contextlib.suppress(OSError):
            system.remove(path)
    return None


class Forgetting:
    """Texts deleted from a file, and the caches to delete them from.

    These are the chosen cache, that of RAGFILE_CACHE and the user's own, as far as they exist. A
    text that another document has too is embedded again when it is next needed.
    """

    _paths: list[Path] | None

    def __init__(self, cache: CacheChoice = None) -> None:
        self._cache, self._paths = cache, None
        self.keys: set[bytes] = set()

    @property
    def paths(self) -> list[Path]:
        """The caches that exist, as of the first deletion of a text."""
        if self._paths is None:
            self._paths = self._existing()
        return self._paths

    def _existing(self) -> list[Path]:
        folders: set[Path | None] = set()
        if self._cache is not False:
            folders = {chosen_folder(self._cache), chosen_folder(None), cache_folder.user_folder()}
        # os.path.exists is false for a folder that this user cannot read, such as the home of the
        # user who called sudo; it has none of this user's texts.
        return sorted(
            path for folder in folders if folder and os.path.exists(path := folder / FILE_NAME)
        )

    def note(self, texts: Callable[[], Iterable[Any]]) -> None:
        """Remember texts that will be deleted; `texts` is called only if there is a cache."""
        if self.paths:
            self.keys.update(text_key(text) for text in texts())

    def carry_out(self) -> None:
        """Delete the remembered texts from the caches."""
        for path in self.paths if self.keys else ():
            use(path, self._delete)

    def _delete(self, store: sqlite3.Connection) -> None:
        with store:
            store.executemany(
                "DELETE FROM vectors WHERE text = ?", [(key,) for key in sorted(self.keys)]
            )
