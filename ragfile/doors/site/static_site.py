"""Write a static site: a file, and a page that searches it in the browser.

    index.html, app.js …    the web page (ragfile/doors/server/page), without its server features
    ragfile/                the core as WebAssembly, its modules, the stemmers of the file's languages;
                            modules are bundled to keep the requests of a first visit few
    NAME.ragfile            the file, byte for byte
    site.json               the settings of backend.js: the file's URL and title

The host runs no code, and the page's content security policy forbids requests to other hosts.
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
from typing import Any

from ragfile.doors.server.facets import facets_of
from ragfile.doors.site.bundle_js import joined
from ragfile.errors import FormatError
from ragfile.ground.atomic_replace import replacing
from ragfile.ingest.languages import languages
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import open as open_file
from ragfile.types import Metadata, StrPath

DATA = Path(__file__).parents[2] / "data"
PAGE = Path(__file__).parents[1] / "server" / "page"
BROWSER = Path(__file__).parents[1] / "browser"
# Modules that a page, a worker or a program loads by name; index.js alone defines the error classes.
LICENCES = ("zstd.LICENSE", "unicode.LICENSE")  # of code and data in the core
ENTRIES = ("index.js", "element.js", "static.js", "worker.js", "ragfile.js")
ELSEWHERE = {"ragfile.js": {"errors.js": "index.js"}}
MODEL = "potion-base-8M.ragmodel"
KEPT_OFFLINE = 16 << 20  # bytes; larger files are cached offline on request only
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)


def site(
    path: StrPath, out: StrPath, *, title: str | None = None, meaning: bool = True,
    offline: bool | None = None,
) -> list[str]:  # fmt: skip
    """Write a static site that searches a file, and return the names of its files.

    A site that is already in the folder is replaced. The file is copied as it is: an encrypted one stays encrypted, and
    the page needs its key. The site then has no filters, which would show metadata; it shows the languages.

    Args:
        path: The file, of format 1.0.
        out: The folder of the site: new, empty, or an older site.
        title: The title of the page. Default: the name of the file.
        meaning: Include the model, for search by meaning; without it, search by words alone.
        offline: Whether browsers cache the whole file. Default: files of up to 16 MiB.

    Raises:
        FileExistsError: The folder has other files.
        FileNotFoundError: The core for browsers is not built.
        FormatError: The file is not of format 1.0.
        EncryptionError: The file is encrypted, and no key was given, or none that opens it.
    """
    source, folder = Path(path), Path(out)
    _require_built()
    with open_file(source) as opened:
        if not isinstance(opened, KnowledgeBase):
            raise FormatError(f"{source}: a site is made of a 1.0 file: convert it first")
        about = _about(opened, source, title or source.stem, meaning, offline)
        stemmers = _stemmers(opened)
    _prepare(folder)
    made = _page(folder, about["name"]) + _modules(folder, stemmers)
    if about["model"]:
        made.append(_copied(DATA / MODEL, folder / "ragfile" / MODEL))
    made.append(_copied(source, folder / about["file"]))
    data = {about["file"], about["model"], "sw.js"}
    about["shell"] = sorted({str(name.relative_to(folder)) for name in made} - data)
    made.append(_written(folder / "site.json", json.dumps(about, indent=1, ensure_ascii=False)))
    return sorted(str(Path(name).relative_to(folder)) for name in made)


def _require_built() -> None:
    """Raise FileNotFoundError if the core for browsers is not built."""
    module, tool = BROWSER / "ragfile.wasm.gz", DATA.parents[1] / "tools/build_web.py"
    if not module.is_file():
        remedy = f"run `{shlex.join(['python', str(tool)])}`" if tool.is_file() else (
            "install a release of ragfile, or build it from a source distribution"
        )  # fmt: skip
        message = f"the core for browsers is not built: {remedy}"
        raise FileNotFoundError(errno.ENOENT, message, str(module))


def _about(
    opened: KnowledgeBase, source: Path, name: str, meaning: bool, offline: bool | None
) -> dict[str, Any]:
    """Return the content of site.json."""
    recorded: Metadata = opened.file.config.get("model") or {}
    has_model = meaning and opened.rows.has_vectors and recorded.get("spec") == "default"
    size = os.stat(source).st_size
    return {
        "file": re.sub(r"[^\w.-]", "-", source.name, flags=re.ASCII),
        "name": name,
        "model": f"ragfile/{MODEL}" if has_model else None,
        "offline": size <= KEPT_OFFLINE if offline is None else offline,
        "generation": opened.generation,
        "encrypted": opened.rows.is_encrypted,
        "facets": _no_facets(opened) if opened.rows.is_encrypted else facets_of(opened),
    }


def _no_facets(opened: KnowledgeBase) -> dict[str, Any]:
    return {"tags": [], "fields": [], "generation": opened.generation}


def _stemmers(opened: KnowledgeBase) -> list[str]:
    """Return the stemmers of a file: its own, and those of the languages of its documents."""
    lexicons = [segment.lexicon for segment in opened.rows.segments if segment.has("rag.terms")]
    own = {lexicon.analysis.stemmer for lexicon in lexicons}
    numbers = {number for lexicon in lexicons for number in lexicon.languages()}
    return sorted((own | {languages()[number].stemmer for number in numbers}) - {"none"})


def _prepare(folder: Path) -> None:
    """Create the folder; refuse one with files other than an older site."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / "site.json").is_file():
        raise FileExistsError(errno.EEXIST, "not empty, and not a site of ragfile", str(folder))


def _page(folder: Path, name: str) -> list[Path]:
    """Write the page. Its modules are bundled as app.js, which imports the backend from ragfile/."""
    backend = 'export { open } from "./ragfile/static.js";\n'

    def read(module: str) -> str:
        return backend if module == "backend.js" else _text(PAGE, module)

    made = [_written(folder / "app.js", joined("app.js", read))]
    for source in sorted(PAGE.rglob("*")):
        target = folder / source.relative_to(PAGE)
        if source.name == "index.html":
            made.append(_written(target, _index(source.read_text(encoding="utf-8"), name)))
        elif source.is_file() and (source.suffix != ".js" or source.name == "theme.js"):
            made.append(_copied(source, target))
    return made


def _text(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def _index(text: str, name: str) -> str:
    """Add the policy, the title, and a preload of the backend to the HTML of the page."""
    text = re.sub(r'<link rel="modulepreload" href="[^"]+">\n', "", text)
    preload = '<link rel="modulepreload" href="ragfile/static.js">\n'
    text = text.replace('<script type="module"', f'{preload}<script type="module"', 1)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head, meta, rest = text.partition('<meta charset="utf-8">')
    named = rest.replace("<title>ragfile</title>", f"<title>{html.escape(name)}</title>", 1)
    return f"{head}{meta}\n{policy}{named}"


def _modules(folder: Path, stemmers: list[str]) -> list[Path]:
    """Write the npm package with its stemmers; sw.js is at the root, the scope of a service worker."""
    made = [_copied(BROWSER / "sw.js", folder / "sw.js")]
    made.append(_copied(BROWSER / "ragfile.wasm.gz", folder / "ragfile/ragfile.wasm.gz"))
    named = {f"stemmers-{stemmer}.js": f"{stemmer}.js" for stemmer in stemmers}
    imports = (
        f'import {{ default as {stemmer} }} from "./stemmers-{stemmer}.js";\n'
        for stemmer in stemmers
    )
    carried = "".join(imports) + f"export const BUNDLED = {{ {', '.join(stemmers)} }};\n"

    def read(module: str) -> str:
        if stemmers and module == "bundled_stemmers.js":
            return carried
        if module in named:
            return _text(BROWSER / "stemmers", named[module]).replace('"../', '"./')
        return _text(BROWSER, module)

    for name in ENTRIES:
        text = joined(name, read, ELSEWHERE.get(name))
        made.append(_written(folder / "ragfile" / name, text))
    for name in LICENCES:
        made.append(_copied(DATA / name, folder / "ragfile" / name))
    licence = folder / "ragfile/stemmers/LICENSE"
    return [*made, _copied(BROWSER / "stemmers/LICENSE", licence)]


def _copied(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(source, "rb") as original, replacing(target) as copy:
        shutil.copyfileobj(original, copy, 1 << 20)
    return target


def _written(target: Path, text: str) -> Path:
    with replacing(target) as file:
        file.write(text.encode())
    return target
