"""Install ragfile from an index on this machine, as users will: by pip, uvx, uv tool and pipx.

    python tools/rehearse_install.py dist/ragfile-…-manylinux….whl

A server on loopback is the index. It has the wheel, and the wheels of its dependencies, which are
downloaded once from the index that pip is configured for. The installers see this index alone, in
environments, caches and homes of their own. Each installed `ragfile` builds a file from spec/ and
searches it. Prints CPU seconds and sizes as a table of Markdown. A program that cannot be installed
is left out, with a reason.
"""

import argparse
import functools
import http.server
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "How does a writer append a commit?"


def quiet(handler):
    """Return a handler of requests that logs nothing."""
    return type("Quiet", (handler,), {"log_message": lambda *_: None})


def make_index(folder, wheel):
    """Lay out the wheel and its dependencies as a simple repository; return its URL."""
    found = folder / "wheels"
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "download", "-q", "-d", found, wheel], check=True)
    for path in found.iterdir():
        name = re.sub(r"[-_.]+", "-", path.name.split("-")[0]).lower()
        place = folder / "index/simple" / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.move(path, place / path.name)
    handler = functools.partial(
        quiet(http.server.SimpleHTTPRequestHandler), directory=str(folder / "index")
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/simple/"


def environment(folder, url):
    """Return the variables of somebody who has only this index, and nothing installed or cached."""
    mine = ("PIP_", "UV_", "PIPX_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    return kept | {
        "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"), "XDG_BIN_HOME": str(folder / "bin"),
        "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": url, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_DEFAULT_INDEX": url, "UV_NO_CONFIG": "1", "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never",
        "PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": sys.executable, "PYTHONNOUSERSITE": "1",
    }  # fmt: skip


def seconds(command, **options):
    """Run a command; return its CPU seconds and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stdout


def size(*folders):
    """Return the megabytes of the files below these folders, without compiled caches."""
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def first_commands(ragfile, folder, variables):
    """Build a file and search it; return the CPU seconds of each."""
    path = folder / "kb.ragfile"
    built, _ = seconds([*ragfile, "build", ROOT / "spec", "-o", path], env=variables, cwd=folder)
    asked, said = seconds(
        [*ragfile, "search", path, QUESTION, "-k", "2"], env=variables, cwd=folder
    )
    if "parts/container.md" not in said:
        sys.exit(f"another answer than README's:\n{said}")
    return built, asked


def by_pip(folder, variables):
    """Install into a new virtual environment."""
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    spent, _ = seconds([folder / "venv/bin/pip", "install", "-q", "ragfile"], env=variables)
    return spent, [folder / "venv/bin/ragfile"]


def by_uvx(folder, variables):
    """Install into uv's cache, by the first command itself."""
    command = [shutil.which("uvx"), "ragfile"]
    spent, _ = seconds([*command, "--version"], env=variables)
    return spent, command


def by_uv_tool(folder, variables):
    """Install as a tool of uv."""
    spent, _ = seconds([shutil.which("uv"), "tool", "install", "-q", "ragfile"], env=variables)
    return spent, [folder / "bin/ragfile"]


def by_pipx(folder, variables):
    """Install as an application of pipx."""
    spent, _ = seconds([shutil.which("pipx"), "install", "-q", "ragfile"], env=variables)
    return spent, [folder / "bin/ragfile"]


WAYS = {
    "pip install ragfile": ("pip", by_pip), "uvx ragfile": ("uvx", by_uvx),
    "uv tool install ragfile": ("uv", by_uv_tool), "pipx install ragfile": ("pipx", by_pipx),
}  # fmt: skip


def installed_sizes(folder):
    """Return the megabytes of ragfile, and of it with its dependencies without pip's own files."""
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    others = [p for p in packages.iterdir() if not p.name.startswith(("pip", "setuptools"))]
    return size(*(p for p in others if p.name.startswith("ragfile"))), size(*others)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("wheel", type=Path)
    wheel = options.parse_args().wheel.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        url = make_index(folder, wheel)
        print(f"the wheel: {wheel.stat().st_size / 1e6:.2f} MB, {wheel.name}\n")
        print(
            "| command | install, CPU s | first build, CPU s | search, CPU s |\n|---|---|---|---|"
        )
        for line, (program, install) in WAYS.items():
            if program != "pip" and shutil.which(program) is None:
                print(f"| `{line}` | left out: {program} is not installed | | |")
                continue
            home = folder / line.replace(" ", "-")
            home.mkdir()
            variables = environment(home, url)
            spent, ragfile = install(home, variables)
            built, asked = first_commands(ragfile, home, variables)
            print(f"| `{line}` | {spent:.1f} | {built:.2f} | {asked:.2f} |", flush=True)
        alone, whole = installed_sizes(folder / "pip-install-ragfile")
        print(f"\ninstalled: ragfile {alone:.1f} MB, with its dependencies {whole:.1f} MB")


if __name__ == "__main__":
    main()
