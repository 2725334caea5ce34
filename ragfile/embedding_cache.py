"""Vectors that were paid for once: an embedder's answers on disk, for the next build and the next question.

One SQLite file holds them, so that processes can share it and a crash leaves no half entry. An entry's key is the hash
of what determines the vector: model, dims, prefix, and the text; its value carries a hash of its own, and one that
does not hold is as if it were not there. The file may be deleted at any time.
"""

import contextlib
import logging
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xxhash

from ragfile.embedding import Embedder, Model, Role
from ragfile.errors import ModelError

log = logging.getLogger("ragfile.embedding_cache")

LAYOUT = 1  # part of every key: a change to the key or the value makes old entries unreachable, not wrong
FILE_NAME = "embeddings.sqlite3"
LOOKUP = 500  # keys in one query; SQLite takes 999 parameters at least
PATIENCE = 30.0  # seconds to wait for another process that writes
TABLES = (
    "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, hash BLOB, vector BLOB) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS models (head TEXT PRIMARY KEY, dims INTEGER) WITHOUT ROWID",
)


def default_folder() -> Path:
    """Where entries are kept unless said otherwise: RAGFILE_CACHE, else ragfile in the user's cache folder."""
    if own := os.environ.get("RAGFILE_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ragfile"


class CachedEmbedder:
    """An embedder that is asked only for what it was not asked before. `hits` and `misses` count texts.

    A store that cannot be read or written costs time and a warning, never the answer.
    """

    def __init__(self, embedder: Embedder, folder: str | os.PathLike | None = None):
        self.embedder = embedder
        self.path = Path(folder if folder is not None else default_folder()) / FILE_NAME
        self.hits = 0
        self.misses = 0
        self._known_dims = None

    @property
    def model(self) -> Model:
        model = self.embedder.model
        return model if model.dims is not None else replace(model, dims=self._known_dims)

    def embed(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        self._recall_dims(role)
        keys = self._keys(texts, role)
        found = self._use(lambda store: self._read(store, keys)) or {}
        asked = list({key: text for key, text in zip(keys, texts, strict=True) if key not in found}.values())
        self.hits += sum(key in found for key in keys)
        self.misses += sum(key not in found for key in keys)
        if asked:
            fresh = self.embedder.embed(asked, role)
            self._learn_dims(fresh.shape[1])
            fresh_keys = self._keys(asked, role)  # the first answer of all tells the dims, which are part of a key
            self._use(lambda store: self._write(store, role, fresh_keys, fresh))
            found |= dict(zip(fresh_keys, fresh, strict=True))
            keys = self._keys(texts, role)
        if not keys:
            return np.zeros((0, self.model.dims or 0), np.float32)
        return np.stack([found[key] for key in keys])

    # -------------------------------------------------------------------------------------------- keys and values ---

    def _head(self, role):
        """What determines a vector besides its text and dims."""
        model = self.embedder.model
        return "\0".join((str(LAYOUT), model.name, str(model.normalised), model.prefix(role)))

    def _keys(self, texts, role):
        """What determines each vector, as one hash."""
        start = xxhash.xxh3_128(f"{self._head(role)}\0{self.model.dims}\0".encode("utf-8", "surrogatepass"))
        keys = []
        for text in texts:
            hashed = start.copy()
            hashed.update(text.encode("utf-8", "surrogatepass"))
            keys.append(hashed.digest())
        return keys

    def _recall_dims(self, role):
        """How many dims a server's model has that was not asked in this process yet."""
        if self.model.dims is None:
            query = "SELECT dims FROM models WHERE head = ?"
            row = self._use(lambda store: store.execute(query, (self._head(role),)).fetchone())
            self._known_dims = row[0] if row else None

    def _learn_dims(self, dims):
        if self._known_dims is not None and self._known_dims != dims:
            name = self.embedder.model.name
            raise ModelError(f"{name} answers with {dims} dims, and did with {self._known_dims}: not the same model")
        self._known_dims = dims

    def _row(self, check, value):
        """An entry's vector, or None if it is not what was written."""
        if not isinstance(value, bytes) or xxhash.xxh3_64_digest(value) != check or len(value) != 4 * self.model.dims:
            return None
        return np.frombuffer(value, "<f4").astype(np.float32)

    # -------------------------------------------------------------------------------------------------- the store ---

    def _read(self, store, keys):
        """The rows of those keys that are there and whole."""
        if self.model.dims is None:
            return {}
        found, unique = {}, list(dict.fromkeys(keys))
        for start in range(0, len(unique), LOOKUP):
            some = unique[start : start + LOOKUP]
            query = f"SELECT key, hash, vector FROM entries WHERE key IN ({','.join('?' * len(some))})"
            entries = store.execute(query, some).fetchall()
            rows = {key: self._row(check, value) for key, check, value in entries}
            found |= {key: row for key, row in rows.items() if row is not None}
        return found

    def _write(self, store, role, keys, rows):
        values = [row.astype("<f4").tobytes() for row in rows]
        entries = [(key, xxhash.xxh3_64_digest(value), value) for key, value in zip(keys, values, strict=True)]
        with store:  # one transaction
            store.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", entries)
            store.execute("INSERT OR REPLACE INTO models VALUES (?, ?)", (self._head(role), self.model.dims))

    def _use(self, work):
        """What work makes of an open store; None if there is no using it. Each use opens it anew: nothing is shared
        with other threads or carried over a fork."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(self.path, timeout=PATIENCE)) as store:
                store.text_factory = bytes  # an entry that is not what was written may be no text either
                store.execute("PRAGMA synchronous = NORMAL")
                for table in TABLES:
                    store.execute(table)
                return work(store)
        except (sqlite3.OperationalError, OSError) as error:  # locked for long, full, not ours to write
            log.warning("%s cannot be used: %s", self.path, error)
        except sqlite3.DatabaseError as error:
            log.warning("%s is damaged (%s): put aside", self.path, error)
            with contextlib.suppress(OSError):
                os.replace(self.path, self.path.with_suffix(".damaged"))
        return None
