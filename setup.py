"""Builds the one extension module, ragfile._core, from Cython over the plain C in csrc/."""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

# -ffp-contract=off: nothing may depend on whether a compiler fuses a multiply and an add;
# kernels that want FMA say so with intrinsics.
C_FLAGS = ["-std=gnu11", "-O3", "-g0", "-fvisibility=hidden", "-ffp-contract=off"]
LINK_FLAGS = [] if sys.platform == "darwin" else ["-Wl,-z,relro", "-Wl,-s"]
LIBRARIES = ["m", "pthread"]

if os.environ.get("RAGFILE_SANITIZE") == "1":
    SANITIZE = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=undefined",
        "-fno-omit-frame-pointer",
    ]
    C_FLAGS = [*C_FLAGS, "-O1", "-g", *SANITIZE]
    LINK_FLAGS = SANITIZE

core = Extension(
    "ragfile._core",
    sources=["ragfile/_core.pyx", *sorted(glob("csrc/*.c"))],
    depends=[*glob("csrc/*.h"), *glob("ragfile/pxi/*.pxi"), "ragfile/_rag.pxd"],
    include_dirs=["csrc"],
    extra_compile_args=C_FLAGS,
    extra_link_args=LINK_FLAGS,
    libraries=LIBRARIES,
    define_macros=[("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")],
    py_limited_api=True,
)

setup(
    ext_modules=cythonize(
        [core],
        compiler_directives={
            "language_level": 3,
            "binding": False,
            "embedsignature": True,
            "freethreading_compatible": True,
        },
    ),
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
