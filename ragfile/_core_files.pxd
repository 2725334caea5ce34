# The part of ragfile._core_files that the other modules of the extension use.

from rag.shared cimport *

# Raises the exception of a status other than RAG_OK.
cdef int check(rag_status status, rag_fault *fault, path=*) except -1

cdef void *address_of(array) except? NULL


cdef class Section:
    cdef rag_guard guard
    cdef readonly str name
    cdef object owner


cdef class Bare:
    cdef Section section


cdef class Filters:
    cdef rag_filters filters
    cdef const uint64_t **pointers
    cdef readonly object numbers, sets
    cdef object widths

    cdef int point(self) except -1
    cdef const rag_filters *fitting(self, segments, size_t count) except NULL


# Passes the bytes that C writes to a Python callable; `error` holds the exception that it raised.
cdef class Outlet:
    cdef object write
    cdef object error


cdef rag_status write_out(void *context, const void *bytes, size_t size) noexcept with gil
