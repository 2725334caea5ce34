"""Files in repositories of Hugging Face: hf://datasets/OWNER/NAME/PATH, hf://OWNER/NAME/PATH.

A revision may follow the name: hf://datasets/OWNER/NAME@v1/PATH. HF_TOKEN gives access to private
repositories, HF_ENDPOINT names another server. The hub redirects large files to a host for storage,
which never gets the token.
"""

from __future__ import annotations

import os
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ragfile.net.http import HttpObject

ENDPOINT = "https://huggingface.co"
KINDS = ("datasets", "spaces", "models")


class HubFile(NamedTuple):
    """A file of a repository at a revision; `kind` is "datasets", "spaces" or "models"."""

    kind: str
    repository: str
    revision: str
    path: str

    @classmethod
    def of(cls, url: str) -> HubFile:
        """Parse an hf:// URL."""
        parts = urlsplit(url, allow_fragments=False)
        kind, names = "models", [parts.netloc, *parts.path.strip("/").split("/")]
        if names[0] in KINDS:
            kind, names = names[0], names[1:]
        if len(names) < 3 or not all(names):
            raise ValueError(f"{url!r} is not hf://[datasets/]OWNER/NAME[@REVISION]/PATH")
        name, _, revision = names[1].partition("@")
        return cls(kind, f"{names[0]}/{name}", unquote(revision) or "main", "/".join(names[2:]))

    def address(self, endpoint: str) -> str:
        """Return the URL from which a server of the hub's interface serves the file."""
        kind = "" if self.kind == "models" else f"{self.kind}/"
        revision = quote(self.revision, safe="")
        path = quote(unquote(self.path))
        return f"{endpoint.rstrip('/')}/{kind}{self.repository}/resolve/{revision}/{path}"


def hub_file(url: str) -> HttpObject:
    """Return the client for an hf:// URL."""
    address = HubFile.of(url).address(os.environ.get("HF_ENDPOINT") or ENDPOINT)
    return HttpObject(address, redirects=True, token=os.environ.get("HF_TOKEN") or None, name=url)
