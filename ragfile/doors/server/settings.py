"""What a server is told once, at its start: files, address, models and limits."""

from __future__ import annotations

import re
from dataclasses import dataclass

PORT = 7433
_LOOPBACK = re.compile(r"127\.\d{1,3}\.\d{1,3}\.\d{1,3}")


@dataclass(frozen=True, slots=True)
class Settings:
    """Plain values, so that workers can be given them."""

    files: tuple[str, ...]
    host: str = "127.0.0.1"
    port: int = PORT
    model: str | None = None  # for ask; a name, or any chat model in a program's own server
    embedder: str | None = None
    embedding_cache: str | None = None
    can_write: bool = False
    uploads: str | None = None  # the folder for files that are sent; else beside the first file
    keep_originals: bool = True  # of files that are sent
    sources: tuple[tuple[str, str], ...] = ()  # (collection, folder) for sync
    list_sources: bool = False  # in the text of chat completions, for clients that drop annotations
    url: str | None = None  # by which clients reach the server, where it is not the Host they say
    workers: int = 1
    hosts: tuple[str, ...] = ()  # names that it answers to, besides those of the loopback
    origins: tuple[str, ...] = ()  # pages of other servers that may ask it
    keys: str | None = None  # a file of keys, as `ragfile keys` writes it
    max_k: int = 1000  # passages of one answer, and rows of one pool
    max_questions: int = 256  # of one batch
    max_chunks: int = 100_000  # of one file that is sent
    max_upload: int = 256 << 20  # bytes of such a file
    max_files: int = 100  # in one request
    max_body: int = 4 << 20  # bytes of a JSON body
    body_seconds: float = 30.0  # in which a body must have come
    answer_seconds: float = 120.0  # in which an answer must be there, but for a model's
    at_once: int = 256  # requests under way; more are asked to come again
    asks_at_once: int = 32  # the same of answers by a model
    heartbeat: float = 15.0  # seconds of silence in a stream before a comment

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in ("localhost", "::1", "[::1]") or bool(_LOOPBACK.fullmatch(self.host))
