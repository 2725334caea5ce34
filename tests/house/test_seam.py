"""One seam to the operating system, and no other place: csrc/system and ragfile/ground/system.py.

Each has two implementations, for POSIX and for Windows. Every other file may only use what has the same
meaning on every system.
"""

import ast
import os
import re
import subprocess
import sys
import textwrap
import tomllib

from places import ROOT

PACKAGE = ROOT / "ragfile"
SEAM = (PACKAGE / "ground/system.py", PACKAGE / "ground/windows.py")

# Modules of Python that call the system, and their names that mean the same everywhere.
PURE = {
    "os": {
        "path", "fspath", "fsencode", "fsdecode", "environ", "PathLike", "sep", "pardir", "curdir", "devnull", "strerror", "urandom",
        "getpid", "stat", "lstat", "fstat", "stat_result", "listdir", "scandir", "walk", "makedirs",
    },
    "shutil": {"copyfileobj", "copyfile", "get_terminal_size"},
    "stat": {"S_ISREG", "S_ISDIR"},
    "multiprocessing": {"get_context"},  # with "spawn": a new process, not a fork
    "fcntl": set(), "mmap": set(), "msvcrt": set(), "posix": set(), "pty": set(), "pwd": set(), "resource": set(),
    "select": set(), "selectors": set(), "signal": set(), "tempfile": set(), "termios": set(), "tty": set(),
}  # fmt: skip
# Methods of paths and maps that call the system, too.
METHODS = {
    "chmod", "fork", "hardlink_to", "lchmod", "link_to", "readlink", "rename", "rmdir", "symlink_to", "unlink",
}  # fmt: skip
# Exceptions: the same names of other objects, and what these are; or why the seam is not used.
OTHERS = {
    ("adapters/sqlrooms.py", "rename"): "a data frame",
    ("__init__.py", "os.register_at_fork"): "without an import of the seam, where it exists",
}


def python_calls(source):
    """Yield (line, name) of each call of the system in a module."""
    tree = ast.parse(source)
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = ((a.asname or a.name.partition(".")[0], a.name) for a in node.names)
            modules |= {short: name for short, name in named if name in PURE}
        elif isinstance(node, ast.ImportFrom) and node.module in PURE:
            for alias in node.names:
                if alias.name not in PURE[node.module]:
                    yield node.lineno, f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
            is_system = isinstance(node.value, ast.Name) and node.value.id == "system"
            if module and node.attr not in PURE[module]:
                yield node.lineno, f"{module}.{node.attr}"
            elif not module and not is_system and node.attr in METHODS:
                yield node.lineno, node.attr


def cython_calls(source):
    """Yield (line, name) of each call of the system in a part of the extension."""
    for number, line in enumerate(source.splitlines(), 1):
        for module, name in re.findall(rf"\b({'|'.join(PURE)})\.(\w+)", line):
            if name not in PURE[module] and not re.match(r"\s*(#|\"\"\")", line):
                yield number, f"{module}.{name}"
        if found := re.match(rf"\s*(?:from ({'|'.join(PURE)}) |cimport posix|from posix)", line):
            yield number, found[0].strip()


def test_only_the_seam_of_python_calls_the_system():
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        calls = python_calls(path.read_text()) if path not in SEAM else ()
        found |= {(place, line, name) for line, name in calls if (place, name) not in OTHERS}
    for path in [*PACKAGE.glob("*.pyx"), *(PACKAGE / "pxi").glob("*.pxi")]:
        found |= {(path.name, *call) for call in cython_calls(path.read_text())}
    assert found == set()


EXAMPLE = """
import os, tempfile
import mmap as m
from signal import SIGINT
os.path.join(os.environ["x"], os.sep)
os.replace("a", "b")
def f():
    import fcntl
    fcntl.flock
m.mmap
system.remove("a")
pathlib.Path("a").unlink()
"""


def test_a_call_of_the_system_would_be_seen():
    found = sorted(python_calls(EXAMPLE))
    assert found == [
        (4, "signal.SIGINT"), (6, "os.replace"), (9, "fcntl.flock"), (10, "mmap.mmap"), (12, "unlink")
    ]  # fmt: skip
    assert list(cython_calls("x = os.getpid()\ny = os.pread(1, 2, 3)\nfrom posix cimport unistd")) == [
        (2, "os.pread"), (3, "from posix")
    ]  # fmt: skip


# What the C standard has, and instructions of processors; and where more may stand, with its promises.
HEADERS = {
    "fenv.h", "float.h", "limits.h", "math.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h",
    "arm_neon.h", "cpuid.h", "immintrin.h", "wasm_simd128.h", "xmmintrin.h",
}  # fmt: skip
BESIDES = {
    "files.c": {"stdio.h"},  # snprintf
    "frames.c": {"zstd.h", "zstd_errors.h"},
    "libzstd.h": {"zstd.h", "zstd_errors.h"},
    "system.h": {"pthread.h"},  # the types of locks
}
CALLS = re.compile(
    r"(?<![\w.>])(?:aligned_alloc|posix_memalign|memalign|m?unmap|mmap|madvise|mlock|sysconf|getauxval|open(?:at)?|close|creat|p?read|"
    r"p?write|l?seek|fopen|fdopen|fread|fwrite|fclose|[fl]?stat|fs?ync|fdatasync|f?truncate|fallocate|rename|remove|unlink|"
    r"link|symlink|mkdir|rmdir|opendir|flock|fcntl|ioctl|fork|v?fork|exec\w+|waitpid|getpid|kill|signal|sigaction|raise|"
    r"pthread_\w+|sched_\w+|clock_gettime|gettimeofday|time|nanosleep|usleep|sleep|strn?dup|v?asprintf)\s*\("
)
SEAM_OF_C = ("posix.c", "windows.c")


def without_comments(source):
    """Return C without comments and strings, line by line."""
    kept = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), source, flags=re.DOTALL)
    return re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", '""', kept)


def calls(line):
    """Return the functions of the system that a line calls."""
    return [call.rstrip("( ") for call in CALLS.findall(line)]


def c_calls(name, source):
    """Yield (line, name) of each header and function of the system in a C file."""
    allowed = HEADERS | BESIDES.get(name, set())
    own = set(re.findall(r"^static [\w *]*?(\w+)\(", source, re.MULTILINE))
    own |= set(re.findall(r"\brag_write \*(\w+)", source))  # given to the function
    for number, line in enumerate(without_comments(source).splitlines(), 1):
        yield from (
            (number, h) for h in re.findall(r"#\s*include <(.*?)>", line) if h not in allowed
        )
        yield from ((number, call) for call in calls(line) if call not in own)


def test_only_the_seam_of_c_calls_the_system():
    sources = [*(ROOT / "csrc").glob("*/*.[ch]"), *(ROOT / "csrc/include/ragfile").glob("*.h")]
    found = {
        (path.name, *call)
        for path in sources
        if path.name not in SEAM_OF_C
        for call in c_calls(path.name, path.read_text())
    }
    assert len(sources) > 100
    assert found == set()


def test_a_call_of_the_system_in_c_would_be_seen():
    source = "#include <fcntl.h>\n#include <math.h>\n/* open(x)\n */ f = open(path, 0);\nrag_map_open(a);"
    assert list(c_calls("x.c", source)) == [(1, "fcntl.h"), (4, "open")]


def test_no_header_uses_a_word_that_windows_defines():
    words = re.compile(r"\b(near|far|small|interface|min|max|ERROR|IN|OUT)\b\s*[,;)=\[]")
    found = {
        (path.name, line.strip())
        for path in [*(ROOT / "csrc/include").rglob("*.h"), *(ROOT / "csrc/system").glob("*.h")]
        for line in without_comments(path.read_text()).splitlines()
        if words.search(line)
    }
    assert found == set()


def in_python(script, **environment):
    """Run a script; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def functions(path):
    """Return {name: signature} of a module's functions."""
    nodes = ast.parse(path.read_text()).body
    return {n.name: ast.unparse(n.args) for n in nodes if isinstance(n, ast.FunctionDef)}


def test_windows_has_the_functions_of_the_seam():
    """Each function for Windows replaces one for POSIX, with the same parameters."""
    ours, theirs = map(functions, SEAM)
    (taken,) = (
        {alias.name for alias in node.names}
        for node in ast.walk(ast.parse(SEAM[0].read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "ragfile.ground.windows"
    )
    assert taken == set(theirs)
    spelled = {
        name: re.sub(r"\bData\b", "bytes | bytearray | memoryview", ours[name]) for name in theirs
    }
    assert theirs == spelled


def test_every_module_imports_on_a_system_with_little():
    """Without fork, resource limits and the like, as in a browser's Python: what needs them names it."""
    script = """
        import os, pkgutil, sys, importlib
        import multiprocessing, subprocess, tempfile, concurrent.futures.process
        for name in ("fork", "register_at_fork", "pread", "pwrite", "sched_getaffinity", "symlink"):
            delattr(os, name)
        for name in ("resource", "fcntl", "pty", "termios"):
            sys.modules[name] = None
        import ragfile
        BASE = {"ragfile", "resource", "fcntl", "pty", "termios", "numpy"}  # others are extras
        for room in ("ground", "net", "file", "search", "write", "shards", "ingest", "doors.server"):
            package = importlib.import_module("ragfile." + room)
            for found in pkgutil.iter_modules(package.__path__):
                try:
                    importlib.import_module(f"ragfile.{room}.{found.name}")
                except ModuleNotFoundError as error:
                    if (error.name or "").partition(".")[0] in BASE:
                        raise
        from ragfile.ground import system
        print(system.cpu_count() == os.cpu_count())
        try:
            system.fork()
        except OSError as error:
            print(error)
    """
    assert in_python(script) == "True\nthis system cannot fork processes: use one worker\n"


def test_what_windows_leaves_out_is_there():
    """A test that was renamed would come back there, and a module that has gone hides nothing."""
    listed = tomllib.loads((ROOT / "tests/not_on_windows.toml").read_text("utf-8"))
    for place, reason in listed.items():
        module, _, name = place.partition("::")
        source = (ROOT / "tests" / module).read_text("utf-8")
        assert f"\ndef {name}(" in source or not name, place
        assert reason
