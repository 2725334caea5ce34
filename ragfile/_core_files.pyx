"""Files: opening, reading, writing and repairing them; what the modules of the extension share.

The shared parts convert status codes to exceptions and buffers to pointers; _core_files.pxd
declares them.
"""

import os
from array import array
from collections import namedtuple

from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.errors import (
    CorruptError, EncryptionError, FormatError, LockedError, RemoteError, VersionError
)

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_FillInfo
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython cimport critical_section

from rag.files cimport *
from rag.shared cimport *

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
    RAG_KEY: (EncryptionError, "{what}"),
}
STATUS_COUNT = RAG_STATUS_COUNT


cdef str parts(uint64_t has, uint64_t wants):
    """Return how much of a file is there."""
    if wants < 10_000_000:
        return f"{has:,} of at least {wants:,} bytes"
    return f"{has // 1_000_000:,} of at least {wants // 1_000_000:,} MB"


cdef int check(rag_status status, rag_fault *fault, path=None) except -1:
    """Raise the exception of a failed status; RAG_OK costs one comparison."""
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
    if status == RAG_CORRUPT and fault.wants:
        message = f"{what}: {parts(fault.has, fault.wants)} are there; fetch it again"
    if path is not None:
        message = f"{path}: {message}"
    if issubclass(kind, FormatError):
        raise kind(message, at=fault.at, section=section)
    raise kind(message)


def hash64(const uint8_t[::1] data not None):
    """Return the XXH3-64 of a buffer."""
    return rag_hash(&data[0] if data.shape[0] else NULL, data.shape[0])


def target():
    """Return the name of the kernels in use, e.g. 'avx512vnni'."""
    return rag_target().decode()


def cpu_count():
    """Return the default number of threads."""
    return rag_cpu_count()


cdef class Section:
    """Read-only bytes of one section, with their lazy checksums; a buffer. `owner` keeps the memory
    mapped."""

    @staticmethod
    def over(const uint8_t[::1] data not None, str name="memory"):
        """Return a section over any buffer, without checksums."""
        cdef Section section = Section.__new__(Section)
        section.name = name
        section.owner = data
        section.guard.bytes = &data[0] if data.shape[0] else NULL
        section.guard.size = data.shape[0]
        return section

    def __len__(self):
        return self.guard.size

    def check(self, size_t at=0, size=None):
        """Verify the checksums of a range; each block is hashed once."""
        cdef rag_fault fault
        cdef rag_status status
        cdef size_t count = self.guard.size - at if size is None else size
        if at > self.guard.size or count > self.guard.size - at:
            raise ValueError(f"{at}+{count} is outside section {self.name} "
                             f"of {self.guard.size} bytes")
        with nogil:
            status = rag_guard_check(&self.guard, at, count, &fault)
        check(status, &fault)

    @property
    def is_elsewhere(self):
        """Whether the bytes are fetched on demand."""
        return self.guard.source != NULL

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError(f"section {self.name} is read-only")
        if self.guard.source != NULL:
            self.check()  # users of a buffer read it without further checks
        PyBuffer_FillInfo(buffer, self, <void *>self.guard.bytes, self.guard.size, 1, flags)


cdef class Bare:
    """The bytes of a section without a check, for views whose owner verifies each range before it
    reads it."""

    def __cinit__(self, Section section not None):
        self.section = section

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError(f"section {self.section.name} is read-only")
        PyBuffer_FillInfo(buffer, self, <void *>self.section.guard.bytes, self.section.guard.size,
                          1, flags)


include "pxi/rows.pxi"
include "pxi/remote.pxi"
include "pxi/file.pxi"
include "pxi/encryption.pxi"
include "pxi/repair.pxi"
include "pxi/pairs.pxi"

if rag_init(NULL) != RAG_OK:
    raise ImportError(f"RAGFILE_TARGET={os.environ.get('RAGFILE_TARGET')!r}: "
                      "this machine or this build does not have it")
