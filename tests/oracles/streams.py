"""A stream section made by hand, from blocks that are compressed already, or not."""

import struct


def stream_of(blocks, raw_size, block_size):
    """The section of [(bytes, whether they are a frame)]."""
    held, table = b"", []
    for data, is_frame in blocks:
        held += data
        table.append(len(held) | is_frame << 63)
    held += bytes(-len(held) % 8)
    trailer = (b"RAGBLK01", raw_size, block_size, len(table), len(held))
    return held + struct.pack(f"<{len(table)}Q", *table) + struct.pack("<8s4Q24x", *trailer)


def blocks_of(section):
    """[(bytes, whether they are a frame)] of a section, and the raw size of its blocks."""
    block_size, count, table = struct.unpack("<3Q", section[-48:-24])
    found, start = [], 0
    for end in struct.unpack_from(f"<{count}Q", section, table):
        stop = end & (1 << 63) - 1
        found.append((section[start:stop], bool(end >> 63)))
        start = stop
    return found, block_size
