"""Copies of sections in huge pages, for sweeps that read megabytes in order.

A page of a mapped file has 4 KiB, and a sweep over a large shadow spends a part of its time on finding them. Anonymous memory
can have pages of 2 MiB where the system allows it; elsewhere a copy is as fast as the map, and no slower.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragfile import _core

HUGE = 2 << 20


def copied(section: _core.Section) -> memoryview:
    """The bytes of a section, all of them checked, in memory of their own. A child that is forked shares them."""
    section.check()
    size = len(section)
    room = mmap.mmap(-1, max(HUGE, -(-size // HUGE) * HUGE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANON)
    with suppress(OSError):  # the system has none to give
        if hasattr(mmap, "MADV_HUGEPAGE"):
            room.madvise(mmap.MADV_HUGEPAGE)
    room[:size] = memoryview(section)
    return memoryview(room)[:size].toreadonly()
