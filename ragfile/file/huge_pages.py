"""Copies of sections in huge pages, for sweeps that read megabytes in order.

A mapped file has pages of 4 KiB, and a sweep over a large shadow spends part of its time on page-table
lookups. Anonymous memory can have pages of 2 MiB if the system allows it; otherwise a copy is as fast
as the map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.ground import system

if TYPE_CHECKING:
    from ragfile import _core

HUGE = 2 << 20


def copied(section: _core.Section) -> memoryview:
    """Return a checked copy of a section's bytes in anonymous memory, which forked children share."""
    section.check()
    size = len(section)
    room = system.large_memory(max(HUGE, -(-size // HUGE) * HUGE))
    room[:size] = memoryview(section)
    return memoryview(room)[:size].toreadonly()
