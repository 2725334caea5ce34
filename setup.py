"""Builds the extension, ragfile._core, from Cython over the plain C in csrc/.

It is one shared object with the modules that ragfile/_core.pyx loads, and libzstd. The C
files are compiled in parallel, and an object is kept while its command and the code that it is made
from stay the same. A source distribution carries the C that Cython writes and libzstd's sources, so
that it needs neither Cython nor network.
"""

import hashlib
import os
import re
import runpy
import shlex
import shutil
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import cache
from glob import glob
from threading import Lock

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import PlatformError

sys.path.insert(0, "tools")
import header_uses
import pinned

SHARED = "_core_shared"  # Cython's code for buffers, once instead of in each module
MODULES = ("_core", "_core_files", "_core_records", "_core_text", "_core_vectors", SHARED)
GENERATED = [f"ragfile/{name}.c" for name in MODULES]
BROWSER_CORE = "ragfile/doors/browser/ragfile.wasm.gz"
FROM_SDIST = os.path.exists("PKG-INFO") and all(map(os.path.exists, GENERATED))
DECLARATIONS = "build/declarations"  # of csrc/include, in Cython's words
ZSTD_FOLDER = os.path.relpath(pinned.ZSTD)
ZSTD = f"{ZSTD_FOLDER}/zstd.c"
MAC = sys.platform == "darwin"
# A free-threaded Python has no limited API, and gets a wheel for its version alone.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

# -ffp-contract=off: nothing may depend on whether a compiler fuses a multiply and an add;
# kernels that want FMA say so with intrinsics.
C_FLAGS = ["-std=gnu11", "-O2", "-g0", "-fvisibility=hidden", "-ffp-contract=off"]
# -O3 is for loops over numbers: at -O2, a filter reads its rows five times slower. -O1 is for code
# that calls them, checks or asks the system.
KERNELS = ("gf16.c", "hash.c", "sha256.c")  # in rooms of callers
CALLERS = re.compile(
    r"csrc/(compression|container|encryption|formats|parity|records|system)/|_(check|open|write)\.c$"
)
# C libraries that do not know level 3 take it for 2.
HARDENING = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"]
UNUSED_OUT = "-Wl,-dead_strip" if MAC else "-Wl,--gc-sections"  # most of libzstd is not called
LINK_FLAGS = [UNUSED_OUT] if MAC else [UNUSED_OUT, "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-s"]
LIBRARIES = ["m", "pthread"]
# What RAGFILE_SANITIZE asks for: 1 is addresses and undefined behaviour, thread is data races.
SANITIZERS = {
    "1": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "thread": ["-fsanitize=thread", "-DRAGFILE_PLANTS_RACES"],
}
SANITIZED = os.environ.get("RAGFILE_SANITIZE", "")

COUNTED = os.environ.get("RAGFILE_COVERAGE") == "1"

if COUNTED:
    # A branch is counted in the function that it stands in; counters are those of many threads.
    HARDENING = ["-O1", "-fno-inline", "--coverage", "-fprofile-update=atomic"]
    LINK_FLAGS = ["--coverage"]
elif SANITIZED:
    HARDENING = []  # the checked functions would go round the sanitizers' own
    LINK_FLAGS = [*SANITIZERS[SANITIZED], "-fno-omit-frame-pointer"]
    C_FLAGS = [*C_FLAGS, "-O1", "-g", *LINK_FLAGS]


# What Cython writes is large and calls what is fast. -O1 takes half as long again, and answers a
# question 2 % sooner; -O0 takes two thirds, and answers it 10 % later. Looking for warnings in it
# would take another quarter; `make strict-module` does.
GENERATED_FLAGS = ["-Og", "-w"]
# -O2 takes twice as long as -O1, which compresses 20 % slower and reads a block 4 % slower.
# Compressors above level 9 and below 3 are left out, and threads: libzstd has them everywhere but
# under Emscripten.
LEFT_OUT = ("GREEDY", "LAZY", "BTOPT", "BTULTRA")
ZSTD_FLAGS = [
    *("-O2", "-w", "-ffunction-sections", "-fdata-sections", "-D__EMSCRIPTEN__"),
    *("-fwhole-program", "-include", "csrc/compression/libzstd.h"),
    *(f"-DZSTD{name}LIB_VISIBLE=" for name in ("", "ERROR")), "-DZDICTLIB_VISIBLE=",
    *(f"-DZSTD_EXCLUDE_{name}_BLOCK_COMPRESSOR" for name in LEFT_OUT),
]  # fmt: skip


def flags_of(source):
    hardening = [] if COUNTED else HARDENING  # csrc/ alone is counted
    if source == ZSTD:
        return [*C_FLAGS, *hardening, *ZSTD_FLAGS, "-MMD"]
    if source not in GENERATED:
        return [*C_FLAGS, level(source), *HARDENING, "-MMD"]
    # Cython's one global function would clash between the modules.
    name = os.path.basename(source).removesuffix(".c")
    own = f"-D__Pyx_ApplySequenceOrMappingFlag=flag_of{name}"
    return [*C_FLAGS, *hardening, *GENERATED_FLAGS, own, "-MMD"]


def level(source):
    """Return how much a file of csrc/ is optimised; the sanitizers and counters have one for all."""
    if SANITIZED or COUNTED:
        return "-O1"
    is_caller = CALLERS.search(source) and os.path.basename(source) not in KERNELS
    return "-O1" if is_caller else "-O3"


def recipe(target, command):
    """Return a digest of a compiler's command and of the code that counts for an object.

    That is every file which the compiler read, but of public headers only the declarations that are
    used. Comments in csrc/ count only where line numbers do.
    """
    with open(os.path.splitext(target)[0] + ".d", encoding="utf-8") as file:
        _, *needed = shlex.split(file.read().replace("\\\n", " "))
    if COUNTED or SANITIZED:
        code = map(digest, needed)
    else:
        public = [name for name in needed if name.startswith(header_uses.PUBLIC)]
        others = [name for name in needed if name not in public]
        code = [*map(digest, others), header_uses.used_declarations(others, public)]
    return hashlib.sha256(repr([command, *code]).encode()).hexdigest()


@cache
def digest(path):
    """Return the digest of a file; of csrc/ without comments, unless line numbers count."""
    if not COUNTED and not SANITIZED:
        return hashlib.sha256(header_uses.code_of(path)).hexdigest()
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def declare():
    """Writes what Cython is to know of the headers in csrc/include."""
    runpy.run_path("tools/write_pxd.py")["write"](DECLARATIONS)


def generate(source):
    """Writes a module's C where it is older than its sources."""
    from Cython.Build import cythonize

    directives = {
        "language_level": 3,
        "binding": False,
        "embedsignature": True,
        "freethreading_compatible": True,
        "auto_pickle": False,
    }
    name = os.path.basename(source).removesuffix(".c")
    with ONE_AT_A_TIME:  # Cython is not thread-safe
        cythonize(
            [Extension(f"ragfile.{name}", [f"ragfile/{name}.{'c' if name == SHARED else 'pyx'}"])],
            include_path=[DECLARATIONS],
            compiler_directives=directives,
            # _core loads the shared module, so it cannot use it.
            shared_utility_qualified_name=None if name == "_core" else f"ragfile.{SHARED}",
            quiet=True,
        )


ONE_AT_A_TIME = Lock()


class Build(build_ext):
    """Compile in parallel, and name a missing tool in one sentence."""

    def finalize_options(self):
        if self.build_temp is None:  # setuptools' own is a new folder in each editable install
            kind = f"-sanitized-{SANITIZED}" if SANITIZED else "-counted" if COUNTED else ""
            python = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}{sys.abiflags}"
            self.build_temp = f"build/objects/{python}{kind}"
        super().finalize_options()

    def build_extension(self, ext):
        self.refuse_missing_tools()
        if FREE_THREADED:
            print(
                "ragfile: a free-threaded Python has no stable interface: this build is for",
                end=" ",
            )
            print(f"version {sysconfig.get_python_version()} of it alone", flush=True)
        if not FROM_SDIST:
            declare()
        pinned.zstd()
        first, *others = GENERATED
        # While one thread waits for Cython, the other compiles the longest file.
        sources = [
            first,
            ZSTD,
            *others,
            *sorted(glob("csrc/*/*.c"), key=os.path.getsize, reverse=True),
        ]
        objects = self.objects(sources, ext)
        ext.sources, ext.depends, ext.extra_objects = [], objects, objects
        super().build_extension(ext)  # which only links

    def refuse_missing_tools(self):
        if sys.platform == "win32":
            raise PlatformError(
                "ragfile is not compiled on Windows: install its wheel, which "
                "`python tools/windows/build.py` makes on Linux and macOS"
            )
        program = self.compiler.compiler[0]
        if not shutil.which(program):
            raise PlatformError(
                f"ragfile is compiled from C, and there is no compiler '{program}' here: install "
                "one (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; Alpine: apk add "
                "build-base; macOS: xcode-select --install) or name yours in the variable CC"
            )
        folder = sysconfig.get_path("include")
        if not os.path.exists(os.path.join(folder, "Python.h")):
            raise PlatformError(
                f"ragfile is compiled from C, and Python's headers are not in {folder}: install "
                "them (Debian, Ubuntu: apt install python3-dev; Fedora: dnf install "
                "python3-devel; Alpine: apk add python3-dev)"
            )

    def objects(self, sources, ext):
        """Compile what is not fresh; return all objects."""
        targets = self.compiler.object_filenames(sources, output_dir=self.build_temp)
        with ThreadPoolExecutor(threads := self.parallel or cores()) as pool:
            jobs = [
                pool.submit(self.compile, *pair, ext) for pair in zip(sources, targets, strict=True)
            ]
            for count, job in enumerate(as_completed(jobs), 1):
                line = f"ragfile: compiled {count} of {len(jobs)} C files, {threads} at a time"
                tell(line, last=count == len(jobs))
                try:
                    job.result()
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        return targets

    def compile(self, source, target, ext):
        if source in GENERATED and not FROM_SDIST:
            generate(source)
        into, macros, folders = self.build_temp, ext.define_macros, ext.include_dirs
        command = [self.compiler.compiler_so, macros, folders, flags := flags_of(source)]
        made_by = f"{target}.recipe"
        with suppress(OSError), open(made_by, encoding="utf-8") as file:
            if not self.force and os.path.exists(target) and file.read() == recipe(target, command):
                return
        self.compiler.compile([source], into, macros, folders, extra_postargs=flags)
        with open(made_by, "w", encoding="utf-8") as file:
            file.write(recipe(target, command))


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def tell(line, last):
    """Print progress: rewrite one line on a terminal, elsewhere print only the last."""
    if sys.stdout.isatty():
        print(f"\r{line}", end="\n" if last else "", flush=True)
    elif last:
        print(line, flush=True)


class Distribution(sdist):
    """Add the C that Cython makes and libzstd's; refuse to leave out the files for browsers."""

    def run(self):
        if not os.path.exists(BROWSER_CORE):
            raise PlatformError(f"{BROWSER_CORE} is missing: `python tools/build_web.py` builds it")
        if not FROM_SDIST:
            declare()
            for source in GENERATED:
                generate(source)
        pinned.zstd()
        super().run()

    def make_release_tree(self, base_dir, files):
        """Add libzstd's sources, which the list of files cannot have: it leaves out build/."""
        libzstd = [f"{ZSTD_FOLDER}/{name}" for name in pinned.ZSTD_FILES]
        super().make_release_tree(base_dir, [*files, *libzstd])


LIMITED = [("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")]

core = Extension(
    "ragfile._core",
    sources=[*GENERATED, *sorted(glob("csrc/*/*.c"))],
    depends=[
        *glob("csrc/**/*.h", recursive=True),
        *glob("ragfile/pxi/*.pxi"),
        *glob("ragfile/*.pxd"),
    ],
    include_dirs=["csrc/include", "csrc", ZSTD_FOLDER],
    extra_link_args=LINK_FLAGS,
    libraries=LIBRARIES,
    define_macros=[] if FREE_THREADED else LIMITED,
    py_limited_api=not FREE_THREADED,
)

setup(
    ext_modules=[core],
    cmdclass={"build_ext": Build, "sdist": Distribution},
    options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
