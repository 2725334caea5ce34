"""The meeting place of Python and the C core: status becomes exception, buffers become pointers,
nothing else.

The parts are in files of their own, one for each part of rag.h, and make one module.
"""

import os
from array import array
from collections import namedtuple

from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.errors import CorruptError, FormatError, LockedError, RemoteError, VersionError

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_FillInfo
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython cimport critical_section

from ragfile._rag cimport *

# status -> (exception, sentence). The sentence is formatted with the fault's fields.
STATUS = {
    RAG_NOT_RAGFILE: (FormatError, "not a RAGFile: {what}"),
    RAG_FORMAT: (FormatError, "{what} (byte {at}{where})"),
    RAG_VERSION: (VersionError, "{what} (byte {at}{where})"),
    RAG_CORRUPT: (CorruptError, "{what} (byte {at}{where})"),
    RAG_LIMIT: (FormatError, "{what} (byte {at}{where})"),
    RAG_ARGUMENT: (ValueError, "{what} ({at})"),
    RAG_LOCKED: (LockedError, "{what}"),
    RAG_MEMORY: (MemoryError, "out of memory"),
    RAG_OS: (OSError, "{what}"),
    RAG_SOURCE: (RemoteError, "{what}"),
}
STATUS_COUNT = RAG_STATUS_COUNT


cdef int check(rag_status status, rag_fault *fault, path=None) except -1:
    """Raises what a failed status means; a good one costs a compare."""
    if status == RAG_OK:
        return 0
    if status == RAG_SOURCE:
        raise reason_of(fault.at)
    what = fault.what.decode() if fault.what != NULL else "no reason given"
    if status == RAG_LOCKED and fault.at:
        what = f"{what} (process {fault.at}{', this one' if fault.at == os.getpid() else ''})"
    section = fault.section.decode()
    kind, sentence = STATUS[status]
    if kind is OSError:
        place = path if path is not None else what
        raise OSError(fault.os_error, os.strerror(fault.os_error), place)
    where = f" of section {section}" if section else ""
    message = sentence.format(what=what, at=fault.at, where=where)
    if path is not None:
        message = f"{path}: {message}"
    if issubclass(kind, FormatError):
        raise kind(message, at=fault.at, section=section)
    raise kind(message)


def hash64(const uint8_t[::1] data not None):
    """XXH3-64 of a buffer."""
    return rag_hash(&data[0] if data.shape[0] else NULL, data.shape[0])


def target():
    """The kernels in use, e.g. 'avx512vnni'."""
    return rag_target().decode()


def cpu_count():
    """How many threads threads=None means."""
    return rag_cpu_count()


cdef class Section:
    """Read-only bytes of one section, with their lazy checksums; a buffer. `owner` keeps the memory
    mapped."""

    cdef rag_guard guard
    cdef readonly str name
    cdef object owner

    @staticmethod
    def over(const uint8_t[::1] data not None, str name="memory"):
        """A section over any buffer, without checksums."""
        cdef Section section = Section.__new__(Section)
        section.name = name
        section.owner = data
        section.guard.bytes = &data[0] if data.shape[0] else NULL
        section.guard.size = data.shape[0]
        return section

    def __len__(self):
        return self.guard.size

    def check(self, size_t at=0, size=None):
        """Makes sure that the bytes are those that were written; each block is hashed once."""
        cdef rag_fault fault
        cdef rag_status status
        cdef size_t count = self.guard.size - at if size is None else size
        if at > self.guard.size or count > self.guard.size - at:
            raise ValueError(f"{at}+{count} lies outside section {self.name} "
                             f"of {self.guard.size} bytes")
        with nogil:
            status = rag_guard_check(&self.guard, at, count, &fault)
        check(status, &fault)

    @property
    def is_elsewhere(self):
        """Whether the bytes come from elsewhere when they are first read."""
        return self.guard.source != NULL

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError(f"section {self.name} is read-only")
        if self.guard.source != NULL:
            self.check()  # whoever has a buffer reads it without asking
        PyBuffer_FillInfo(buffer, self, <void *>self.guard.bytes, self.guard.size, 1, flags)


cdef class Bare:
    """The bytes of a section as they lie, for a view whose owner checks each part before it is
    read."""

    cdef Section section

    def __cinit__(self, Section section not None):
        self.section = section

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError(f"section {self.section.name} is read-only")
        PyBuffer_FillInfo(buffer, self, <void *>self.section.guard.bytes, self.section.guard.size,
                          1, flags)


include "pxi/remote.pxi"
include "pxi/file.pxi"
include "pxi/repair.pxi"
include "pxi/records.pxi"

# (pairs)
include "pxi/pairs.pxi"

include "pxi/ragmd.pxi"

# (vectors)
include "pxi/vectors.pxi"
include "pxi/ids.pxi"
include "pxi/fusion.pxi"
include "pxi/columns.pxi"

# (bm25)
include "pxi/bm25.pxi"
include "pxi/fusing.pxi"

# (wordpiece)
include "pxi/model.pxi"

include "pxi/arrow.pxi"

if rag_init(NULL) != RAG_OK:
    raise ImportError(f"RAGFILE_TARGET={os.environ.get('RAGFILE_TARGET')!r}: "
                      "this machine or this build does not have it")
