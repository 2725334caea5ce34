"""The settings of a server, fixed at its start: files, address, models and limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragfile.ingest.loaders import Limits

PORT = 7433
_LOOPBACK = re.compile(r"127\.\d{1,3}\.\d{1,3}\.\d{1,3}")


@dataclass(frozen=True, slots=True)
class Settings:
    """Plain values only, so that they can be passed to worker processes."""

    files: tuple[str, ...]
    over: tuple[str, ...] = ()  # layers below each file, the lowest first
    host: str = "127.0.0.1"
    port: int = PORT
    model: str | None = None  # for ask; a name, or any chat model in a program's own server
    embedder: str | None = None
    embedding_cache: str | None = None
    can_write: bool = False
    uploads: str | None = None  # the folder for uploads; by default `uploads` beside the first file
    keep_originals: bool = True  # of uploads
    sources: tuple[tuple[str, str], ...] = ()  # (collection, folder) for sync
    list_sources: bool = False  # in the text of chat completions, for clients that drop annotations
    url: str | None = None  # the public URL, if it differs from the Host header of requests
    workers: int = 1
    hosts: tuple[str, ...] = ()  # accepted Host headers, besides those of the loopback
    origins: tuple[str, ...] = ()  # accepted Origins of pages from other servers
    keys: str | None = None  # a file of keys, as `ragfile keys` writes it
    max_k: int = 1000  # results of a search, and candidates of a retriever
    max_questions: int = 256  # of one batch
    max_chunks: int = 100_000  # of one uploaded file
    max_upload: int = 256 << 20  # bytes of one uploaded file
    parse_memory: int | None = None  # bytes for parsing a file; by default as in Limits
    parse_seconds: float | None = None  # seconds for that, likewise
    max_files: int = 100  # in one request
    max_body: int = 4 << 20  # bytes of a JSON body
    body_seconds: float = 30.0  # the time limit for receiving a body
    answer_seconds: float = 120.0  # the time limit for a response that needs no chat model
    connections_per_address: int = 256  # in one process, but from the loopback and proxies
    proxies: tuple[str, ...] = ()  # addresses or networks with any number of connections
    at_once: int = 256  # concurrent requests, a quarter for each key; further ones get 503
    asks_at_once: int = 32  # concurrent answers by the chat model
    read_memory: int = 512 << 20  # bytes that responses with whole documents hold at a time
    heartbeat: float = 15.0  # seconds of silence in a stream before a comment is sent

    @property
    def limits(self) -> Limits:
        """The limits of files that are read; uploads have a further one, `max_upload`."""
        from ragfile.ingest.loaders import Limits

        return Limits.given(parse_memory=self.parse_memory, parse_seconds=self.parse_seconds)

    @property
    def is_local(self) -> bool:
        """Return whether only this machine can reach the server."""
        return self.host in ("localhost", "::1", "[::1]") or bool(_LOOPBACK.fullmatch(self.host))
