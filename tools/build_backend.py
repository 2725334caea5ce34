"""setuptools' build backend. It requires more outside of a source distribution: Cython, and pip.

A source distribution already contains the C that Cython writes, and libzstd's sources. Elsewhere
pip downloads these; most builds can use the pip of their Python.
"""

import os

import pinned
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def missing():
    """Return the packages that a build requires beside setuptools."""
    if os.path.exists("PKG-INFO") and os.path.exists("ragfile/_core.c"):
        return []
    return ["cython>=3.1", *([] if pinned.has_zstd() or pinned.has_pip() else ["pip"])]


def get_requires_for_build_sdist(config_settings=None):
    return [*build_meta.get_requires_for_build_sdist(config_settings), *missing()]


def get_requires_for_build_wheel(config_settings=None):
    return [*build_meta.get_requires_for_build_wheel(config_settings), *missing()]


def get_requires_for_build_editable(config_settings=None):
    return [*build_meta.get_requires_for_build_editable(config_settings), *missing()]
