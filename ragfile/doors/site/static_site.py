"""A folder that any host of files serves: a file as it is, and the page that searches it in the
browser.

    index.html, app.js …    the web page (ragfile/doors/server/page), but for what needs a server
    ragfile/                the core as WebAssembly, its modules, the stemmer of the file's language;
                            modules are joined, so that a first visit asks for few files
    NAME.ragfile            the file, byte for byte
    site.json               what backend.js must know: where the file is, what it is called

Nothing is built at the host, nothing is asked of another one, and the page's policy says so.
"""

from __future__ import annotations

import errno
import html
import json
import os
import re
import shlex
import shutil
from pathlib import Path

from ragfile.doors.server.facets import facets_of
from ragfile.doors.site.bundle_js import joined
from ragfile.errors import FormatError
from ragfile.ground.atomic_replace import replacing
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import open as open_file
from ragfile.types import StrPath

DATA = Path(__file__).parents[2] / "data"
PAGE = Path(__file__).parents[1] / "server" / "page"
BROWSER = Path(__file__).parents[1] / "browser"
# What a page, a worker or a program loads by name. A program has one class for each error.
ENTRIES = ("index.js", "element.js", "static.js", "worker.js", "ragfile.js")
ELSEWHERE = {"ragfile.js": {"errors.js": "index.js"}}
MODEL = "potion-base-8M.ragmodel"
KEPT_OFFLINE = 16 << 20  # a larger file is not kept in every visitor's browser unasked
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)


def site(
    path: StrPath, out: StrPath, *, title: str | None = None, meaning: bool = True,
    offline: bool | None = None,
) -> list[str]:  # fmt: skip
    """Writes a static site for a file into the folder `out`; the names of what is in it.

    title is what the page calls the collection, the file's name otherwise. meaning=False leaves out
    the model, so that questions are answered by words alone. offline says whether browsers keep the
    whole file for use without a network; they do where it has at most 16 MiB. A site that was
    written before is replaced; a folder with anything else in it is refused.
    """
    source, folder = Path(path), Path(out)
    _require_built()
    with open_file(source) as opened:
        if not isinstance(opened, KnowledgeBase):
            raise FormatError(f"{source}: a site is made of a 1.0 file: convert it first")
        about = _about(opened, source, title or source.stem, meaning, offline)
        stemmer = _stemmer(opened)
    _prepare(folder)
    made = _page(folder, about["name"]) + _modules(folder, stemmer)
    if about["model"]:
        made.append(_copied(DATA / MODEL, folder / "ragfile" / MODEL))
    made.append(_copied(source, folder / about["file"]))
    data = {about["file"], about["model"], "sw.js"}
    about["shell"] = sorted({str(name.relative_to(folder)) for name in made} - data)
    made.append(_written(folder / "site.json", json.dumps(about, indent=1, ensure_ascii=False)))
    return sorted(str(Path(name).relative_to(folder)) for name in made)


def _require_built():
    """Raise FileNotFoundError where the generated files of the browser's core are missing."""
    module, tool = BROWSER / "ragfile.wasm.gz", DATA.parents[1] / "tools/build_web.py"
    if not module.is_file():
        remedy = f"run `{shlex.join(['python', str(tool)])}`" if tool.is_file() else (
            "install a release of ragfile, or build it from a source distribution"
        )  # fmt: skip
        what = f"the core for browsers is not built: {remedy}"
        raise FileNotFoundError(errno.ENOENT, what, str(module))


def _about(opened, source, name, meaning, offline):
    """site.json."""
    recorded = opened.file.config.get("model") or {}
    has_model = meaning and opened.rows.has_vectors and recorded.get("spec") == "default"
    size = os.stat(source).st_size
    return {
        "file": re.sub(r"[^\w.-]", "-", source.name, flags=re.ASCII),
        "name": name,
        "model": f"ragfile/{MODEL}" if has_model else None,
        "offline": size <= KEPT_OFFLINE if offline is None else offline,
        "generation": opened.generation,
        "facets": facets_of(opened),
    }


def _stemmer(opened):
    """The stemmer that a file's words are made with, None for none."""
    lexicons = [segment.lexicon for segment in opened.rows.segments if segment.has("rag.terms")]
    name = lexicons[0].analysis.stemmer if lexicons else "none"
    return None if name == "none" else name


def _prepare(folder):
    """The folder, empty or with an older site in it."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / "site.json").is_file():
        raise FileExistsError(errno.EEXIST, "not empty, and not a site of ragfile", str(folder))


def _page(folder, name):
    """The page: its modules are one, app.js, which takes the backend from the folder of the core."""
    backend = 'export { open } from "./ragfile/static.js";\n'

    def read(module):
        return backend if module == "backend.js" else _text(PAGE, module)

    made = [_written(folder / "app.js", joined("app.js", read))]
    for source in sorted(PAGE.rglob("*")):
        target = folder / source.relative_to(PAGE)
        if source.name == "index.html":
            made.append(_written(target, _index(source.read_text(encoding="utf-8"), name)))
        elif source.is_file() and (source.suffix != ".js" or source.name == "theme.js"):
            made.append(_copied(source, target))
    return made


def _text(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def _index(text, name):
    """The page's HTML with its policy, its name, and a preload of what app.js takes from elsewhere."""
    text = re.sub(r'<link rel="modulepreload" href="[^"]+">\n', "", text)
    preload = '<link rel="modulepreload" href="ragfile/static.js">\n'
    text = text.replace('<script type="module"', f'{preload}<script type="module"', 1)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head, meta, rest = text.partition('<meta charset="utf-8">')
    named = rest.replace("<title>ragfile</title>", f"<title>{html.escape(name)}</title>", 1)
    return f"{head}{meta}\n{policy}{named}"


def _modules(folder, stemmer):
    """The npm package with the stemmer in it; sw.js at the root, for a worker sees only what lies below it."""
    made = [_copied(BROWSER / "sw.js", folder / "sw.js")]
    made.append(_copied(BROWSER / "ragfile.wasm.gz", folder / "ragfile/ragfile.wasm.gz"))
    carried = (
        f'import {{ default as Stemmer }} from "./stemmers-{stemmer}.js";\n'
        f"export const CARRIED = {{ {stemmer}: Stemmer }};\n"
    )

    def read(module):
        if stemmer and module == "carried.js":
            return carried
        if module == f"stemmers-{stemmer}.js":
            return _text(BROWSER / "stemmers", f"{stemmer}.js").replace('"../', '"./')
        return _text(BROWSER, module)

    for name in ENTRIES:
        text = joined(name, read, ELSEWHERE.get(name))
        made.append(_written(folder / "ragfile" / name, text))
    licence = folder / "ragfile/stemmers/LICENSE"
    return [*made, _copied(BROWSER / "stemmers/LICENSE", licence)]


def _copied(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(source, "rb") as original, replacing(target) as copy:
        shutil.copyfileobj(original, copy, 1 << 20)
    return target


def _written(target, text):
    with replacing(target) as file:
        file.write(text.encode())
    return target
