"""The web page with what it needs around it, without the product's own server: for states that are
hard to have from that one, such as an answer that breaks off or a server that has gone.
"""

import json
import mimetypes
import re
import threading
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from urllib.parse import parse_qs, unquote, urlsplit

from servers.loopback import Loopback

import ragfile
from ragfile.doors.server.answer_endpoints import source_excerpts
from ragfile.doors.server.native_endpoints import excerpts_of, standings_of
from ragfile.records import Document
from ragfile.search.shown_passages import facts_of
from ragfile.write.builder import build_from

PAGE = files("ragfile") / "doors" / "server" / "page"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A backend with nothing but what each must have, as a static site's could be.
BARE = b"""
import { open as rest } from "./rest.js";
export async function open() {
  const whole = await rest();
  const needed = ["collections", "info", "search", "document"];
  return Object.fromEntries(needed.map((name) => [name, (...all) => whole[name](...all)]));
}
"""


def file_of(documents, path):
    """A file of documents that are made here; its path."""
    build_from(map(Document.of, documents), path)
    return path


class Model:
    """Says pieces; waits where a piece is an Event, raises where it is an error."""

    name = "fake"

    def __init__(self, *pieces):
        self.pieces, self.asked = pieces, []

    def chat(self, messages, **parameters):
        self.asked.append(messages)
        for piece in self.pieces:
            if isinstance(piece, threading.Event):
                assert piece.wait(20)
            elif isinstance(piece, Exception):
                raise piece
            else:
                yield piece


class PageServer(Loopback):
    """Collections by name; `failing` is (status, message) of every call, or None."""

    def __init__(self, paths, *, facets=None, is_bare=False, model=None, can_write=False):
        super().__init__(_Handler)
        self.url += "/"
        self.files = {name: ragfile.open(path) for name, path in paths.items()}
        self.facets, self.is_bare = facets or {"tags": [], "fields": []}, is_bare
        self.failing, self.model = None, model
        self.can_write, self.uploads = can_write, {}  # id -> what it says when it is looked at
        self.cut_after = -1  # events of an answer, after which the line is dead
        self.asked = []  # (path, body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path.startswith("/v1/"):
            return self.api(url.path, None)
        name = url.path[1:] or "index.html"
        known = {file.name for file in PAGE.iterdir()}
        if name not in known:
            return self.reply(404, b"", "text/plain")
        body = (PAGE / name).read_bytes()
        if self.server.is_bare and name == "backend.js":
            body = BARE
        self.reply(200, body, mimetypes.guess_type(name)[0])

    def do_DELETE(self):
        _, _, name, _, id = self.path[1:].split("/")
        self.query = {}
        with ragfile.edit(self.server.files[name].path) as w:
            w.delete([unquote(id)])
        self.server.files[name].refresh()
        self.json({"deleted": unquote(id)})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        self.query = {}
        if self.path.endswith("/files"):
            return self.file(raw)
        body = json.loads(raw)
        self.api(self.path, body)

    def api(self, path, body):
        self.server.asked.append((path, body and dict(body)))
        if self.server.failing:
            status, message = self.server.failing
            return self.json({"error": {"message": message}}, status)
        parts = [unquote(part) for part in path.split("/")[3:]]
        if not parts:
            return self.json({"collections": [self.brief(name) for name in self.server.files]})
        name, *rest = parts
        answer = {0: self.info, 1: self.of_collection, 2: self.document}[len(rest)]
        answer(self.server.files[name], name, rest, body)

    def brief(self, name):
        rf = self.server.files[name]
        kept = {key: rf.info[key] for key in ("documents", "chunks", "generation")}
        return {"name": name} | kept

    def documents(self, rf):
        prefix, after = self.query.get("prefix", ""), self.query.get("after", "")
        ids = [id for id in rf.document_ids() if id.startswith(prefix)]
        limit = int(self.query["limit"])
        rest = [id for id in ids if id > after]
        found = [{"id": id, "source": id, "chunks": 1, "metadata": {}} for id in rest[:limit]]
        more = rest[limit - 1] if len(rest) > limit else None
        self.json({"documents": found, "total": len(ids), "next": more})

    def info(self, rf, name, rest, body):
        said = {
            "strategies": rf.file.strategies,
            "chat_model": self.server.model and "fake",
            "write": self.server.can_write,
        }
        self.json(self.brief(name) | said)

    def of_collection(self, rf, name, rest, body):
        if rest == ["facets"]:
            return self.json(self.server.facets)
        if rest == ["documents"]:
            return self.documents(rf)
        if rest == ["ask"]:
            return self.ask(rf, body)
        query, _, _ = body.pop("query"), body.pop("excerpts"), body.pop("support")
        hits = rf.search(query, **body)
        found = {"degraded": hits.degraded, "generation": rf.generation}
        found |= facts_of(hits, hits) | {"excerpts": excerpts_of(rf, hits, query)}
        shown = [asdict(hit) for hit in hits]
        self.json({"hits": shown, "standing": standings_of(shown)} | found)

    def file(self, raw):
        """A file that is looked at: queued first, then indexed, or refused by its content."""
        name = re.search(rb'filename="(.*?)"', raw)[1].decode()
        is_bad = b"not a text" in raw
        last = {"state": "error", "error": "no text in it"} if is_bad else {"state": "indexed"}
        self.server.uploads[name] = [{"state": "queued"}, {"state": "queued"}, last]
        self.json({"id": name, "state": "queued"}, 202)

    def ask(self, rf, body):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        del body["stream"], body["excerpts"]
        question = body.pop("question")
        with rf.ask(question, model=self.server.model, stream=True, **body) as events:
            for number, event in enumerate(events):
                if number == self.server.cut_after:
                    break
                fields = event.to_dict()
                if event.kind == "sources":
                    fields["excerpts"] = source_excerpts(rf, question, event.data)
                said = json.dumps(fields)
                self.wfile.write(f": alive\n\nevent: {event.kind}\ndata: {said}\n\n".encode())
        self.close_connection = True

    def document(self, rf, name, rest, body):
        if rest[0] == "files":
            states = self.server.uploads[rest[1]]
            return self.json({"id": rest[1]} | (states.pop(0) if states[1:] else states[0]))
        if rest[0] == "links":
            found = {"links": rf.links(rest[1]), "backlinks": rf.backlinks(rest[1])}
            return self.json(
                {key: [asdict(link) for link in value] for key, value in found.items()}
            )
        document = rf.document(rest[1])
        if document is None:
            return self.json({"error": {"message": "there is no such document"}}, 404)
        text, context = document.text, int(self.query.get("context", 0))
        start, end = map(int, self.query["span"].split("-"))
        if not start <= end <= len(text):
            return self.json({"error": {"message": "the span is not in the document"}}, 422)
        self.json({
            "id": document.id, "source": document.source, "metadata": document.metadata,
            "tags": document.tags, "size": len(text), "start": start, "end": end,
            "text": text[start:end], "before": text[max(0, start - context) : start],
            "after": text[end : end + context], "checksum": document.metadata.get("checksum"),
        })  # fmt: skip

    def json(self, value, status=200):
        self.reply(status, json.dumps(value).encode(), "application/json")

    def reply(self, status, body, kind):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-security-policy", CSP)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
