"""Documents, chunks, ids, compressed streams, metadata columns and links of a segment; Arrow, .ragmd, JSON.

Opens no file: it reads Sections of _core_files, which also has files and pairs.
"""

from array import array

from ragfile.errors import CorruptError, FormatError
from ragfile.ground.fork_safe_lock import ForkSafeLock

from libc.string cimport memcpy, memset

from cpython.bytearray cimport PyByteArray_AsString, PyByteArray_Resize
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8

from rag.records cimport *
from rag.shared cimport *
from ragfile._core_files cimport Bare, Outlet, Section, address_of, check, write_out


# For modules that do not know these structs: they recompile when other headers change.
cdef const void *records_at(records) except NULL:
    """The rag_records of a Records."""
    return &(<Records?>records).records


include "pxi/records.pxi"
include "pxi/ids.pxi"
include "pxi/columns.pxi"
include "pxi/graph.pxi"
include "pxi/arrow.pxi"
include "pxi/ragmd.pxi"
include "pxi/json_text.pxi"
