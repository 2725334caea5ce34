"""Vectors that were paid for once: an embedder's answers on disk, for the next build and the next
question.

There is none unless somebody asks: embedding_cache=FOLDER (True is the user's own cache folder),
--embedding-cache FOLDER, or RAGFILE_CACHE=FOLDER in the environment, which speaks for every
embedder that is named. The embedded model is faster than any cache and never uses one.

One SQLite file holds the vectors, so that processes can share it and a crash leaves no half entry.
An entry is found by two hashes: of the text, and of all else that determines its vector (model,
dims, prefix). Texts are not in it, and what a deletion removes from a file goes from here by the
hash of its text, whichever models have seen it. A vector carries a hash of its own, and one that
does not hold is as if it were not there. You can delete the file at any time.
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

from ragfile.embedding.protocol import Embedder, Model, Role, embedded
from ragfile.errors import ModelError

log = logging.getLogger("ragfile.embedding.cache")

LAYOUT = 2  # part of every key: a change to the key or the value makes old entries unreachable, not wrong
FILE_NAME = "embeddings.sqlite3"
LOOKUP = 500  # keys in one query; SQLite takes 999 parameters at least
KEPT = 512  # texts that are embedded before their vectors are written: what a killed process loses
PATIENCE = 30.0  # seconds to wait for another process that writes
TABLES = (
    "CREATE TABLE IF NOT EXISTS vectors (text BLOB, model BLOB, hash BLOB, vector BLOB, PRIMARY KEY (text, model)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS models (head TEXT PRIMARY KEY, dims INTEGER) WITHOUT ROWID",
)


def cached(embedder: Embedder, cache: "str | os.PathLike | bool | None") -> Embedder:
    """The embedder with the cache that an option stands for, if it stands for one; in the place of
    one that it has.
    """
    if isinstance(embedder, CachedEmbedder):
        if cache is None:
            return embedder
        embedder = embedder.embedder
    folder = chosen_folder(cache)
    return embedder if folder is None else CachedEmbedder(embedder, folder)


def chosen_folder(cache: "str | os.PathLike | bool | None") -> "Path | None":
    """The folder that an option stands for: its own, True for the user's, False for none; left out,
    what RAGFILE_CACHE says.
    """
    if cache is None:
        cache = bool(os.environ.get("RAGFILE_CACHE"))
    if isinstance(cache, bool):
        return default_folder() if cache else None
    return Path(cache)


def default_folder() -> Path:
    """Where entries are kept unless said otherwise: RAGFILE_CACHE, else ragfile in the user's cache
    folder.
    """
    own = os.environ.get("RAGFILE_CACHE")
    folder = Path(own) if own else user_folder()
    if folder is None:
        raise ValueError(
            "no place for the cache: set RAGFILE_CACHE or XDG_CACHE_HOME, for this user has no home folder"
        )
    return folder


def user_folder() -> "Path | None":
    """ragfile in the user's cache folder, as XDG_CACHE_HOME names it; None for a user without a
    home.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragfile"
    except RuntimeError:
        return None


class CachedEmbedder:
    """An embedder that is asked only for what it was not asked before. `hits` and `misses` count
    texts.

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
        keys = [text_key(text) for text in texts]
        found = self._use(lambda store: self._read(store, role, keys)) or {}
        asked = list(
            {key: text for key, text in zip(keys, texts, strict=True) if key not in found}.items()
        )
        self.hits += sum(key in found for key in keys)
        self.misses += sum(key not in found for key in keys)
        for start in range(0, len(asked), KEPT):
            some = dict(asked[start : start + KEPT])
            fresh = embedded(self.embedder, list(some.values()), role)
            self._learn_dims(fresh.shape[1])
            self._use(lambda store, some=some, fresh=fresh: self._write(store, role, some, fresh))
            found |= dict(zip(some, fresh, strict=True))
        if not keys:
            return np.zeros((0, self.model.dims or 0), np.float32)
        return np.stack([found[key] for key in keys])

    # -------------------------------------------------------------------------------------------- keys and values ---

    def _head(self, role):
        """What determines a vector besides its text and dims."""
        return f"{LAYOUT}\0{self.embedder.model.identity(role)}"

    def _model_key(self, role):
        return xxhash.xxh3_128_digest(
            f"{self._head(role)}\0{self.model.dims}".encode("utf-8", "surrogatepass")
        )

    def _recall_dims(self, role):
        """How many dims a server's model has that was not asked in this process yet."""
        if self.model.dims is None:
            query = "SELECT dims FROM models WHERE head = ?"
            row = self._use(lambda store: store.execute(query, (self._head(role),)).fetchone())
            self._known_dims = row[0] if row and isinstance(row[0], int) and row[0] > 0 else None

    def _learn_dims(self, dims):
        if self._known_dims is not None and self._known_dims != dims:
            name = self.embedder.model.name
            raise ModelError(
                f"{name} answers with {dims} dims, and did with {self._known_dims}: not the same model"
            )
        self._known_dims = dims

    def _row(self, check, value):
        """An entry's vector, or None if it is not what was written."""
        if (
            not isinstance(value, bytes)
            or xxhash.xxh3_64_digest(value) != check
            or len(value) != 4 * (self.model.dims or 0)
        ):
            return None
        row = np.frombuffer(value, "<f4").astype(np.float32)
        return row if np.isfinite(row).all() else None

    # -------------------------------------------------------------------------------------------------- the store ---

    def _read(self, store, role, keys):
        """The rows of those texts that are there and whole."""
        if self.model.dims is None:
            return {}
        found, unique, model = {}, list(dict.fromkeys(keys)), self._model_key(role)
        for start in range(0, len(unique), LOOKUP):
            some = unique[start : start + LOOKUP]
            query = f"SELECT text, hash, vector FROM vectors WHERE model = ? AND text IN ({','.join('?' * len(some))})"
            entries = store.execute(query, [model, *some]).fetchall()
            rows = {key: self._row(check, value) for key, check, value in entries}
            found |= {key: row for key, row in rows.items() if row is not None}
        return found

    def _write(self, store, role, keys, rows):
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

    def _use(self, work):
        return use(self.path, work)

    def __getattr__(self, name):
        """What else the embedder has, such as close()."""
        if name.startswith("__") or name == "embedder":
            raise AttributeError(name)
        return getattr(self.embedder, name)

    def __repr__(self):
        return f"CachedEmbedder({self.embedder!r}, {str(self.path.parent)!r})"


def text_key(text: str) -> bytes:
    """What an entry is found by, beside its model."""
    return xxhash.xxh3_128_digest(text.encode("utf-8", "surrogatepass"))


def use(path: Path, work):
    """The result of `work` on an open store; None if the store cannot be used. Each use opens it
    again: nothing is shared with other threads or carried over a fork.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE)) as store:
            store.text_factory = bytes  # a damaged entry might not be text
            store.execute("PRAGMA synchronous = NORMAL")
            store.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten
            for table in TABLES:
                store.execute(table)
            return work(store)
    except (sqlite3.OperationalError, OSError) as error:  # locked for long, full, not ours to write
        log.warning("the embedding cache the embedding cache %s cannot be used: %s", path, error)
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ) as error:  # SQLite quotes what it cannot read
        log.warning("%s is damaged (%s): it is deleted and starts empty", path, error)
        with contextlib.suppress(OSError):
            os.unlink(path)
    return None


class Forgetting:
    """Texts that leave a file, and the caches that forget them when they have left: the one that is
    named, that of RAGFILE_CACHE and the user's own, where there are such. A text that another
    document has too is embedded again when it is next needed.
    """

    def __init__(self, cache: "str | os.PathLike | bool | None" = None):
        folders = (
            set()
            if cache is False
            else {chosen_folder(cache), chosen_folder(None), user_folder()} - {None}
        )
        # A folder that this user cannot read, such as the home of whoever called sudo, holds
        # nothing of theirs.
        self.paths = sorted(
            path for folder in folders if folder and os.path.exists(path := folder / FILE_NAME)
        )
        self.keys = set()

    def note(self, texts):
        """Texts that are about to leave; read only where there is a cache to forget them."""
        if self.paths:
            self.keys.update(text_key(text) for text in texts())

    def carry_out(self):
        """Forgets what was noted."""
        for path in self.paths if self.keys else ():
            use(path, self._delete)

    def _delete(self, store):
        with store:
            store.executemany(
                "DELETE FROM vectors WHERE text = ?", [(key,) for key in sorted(self.keys)]
            )
