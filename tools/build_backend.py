"""setuptools' build backend. It requires Cython only outside of a source distribution.

A source distribution already contains the C that Cython writes.
"""

import os

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def cython():
    return (
        [] if os.path.exists("PKG-INFO") and os.path.exists("ragfile/_core.c") else ["cython>=3.1"]
    )


def get_requires_for_build_sdist(config_settings=None):
    return [*build_meta.get_requires_for_build_sdist(config_settings), *cython()]


def get_requires_for_build_wheel(config_settings=None):
    return [*build_meta.get_requires_for_build_wheel(config_settings), *cython()]


def get_requires_for_build_editable(config_settings=None):
    return [*build_meta.get_requires_for_build_editable(config_settings), *cython()]
