"""Words of texts, and BM25 over the lexical sections of segments."""

from ragfile.errors import FormatError, VersionError
from ragfile.ground.fork_safe_lock import ForkSafeLock

from cython cimport critical_section
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from rag.shared cimport *
from rag.text cimport *
from ragfile._core_files cimport Filters, Outlet, Section, address_of, check, write_out


# For modules without these structs, which need no recompile when their headers change.
cdef const void *queries_at(queries, const void **stats) except NULL:
    """Return the rag_queries of a Queries; set *stats to its rag_lexical_stats if it is weighed."""
    cdef Queries asked = queries
    stats[0] = &asked.numbers if asked.numbers.weights != NULL else NULL
    return asked.queries


cdef class _Legs:
    """The segments of a Lexicon or of Lexicons for fusion. `base` is the first row of a Lexicon's
    segment."""

    cdef rag_lexical_leg alone
    cdef rag_lexical_stats stats
    cdef rag_lexical_leg *legs
    cdef size_t count
    cdef object owner

    def __cinit__(self, owner, uint64_t base):
        cdef Lexicon lexicon
        cdef Lexicons several
        self.owner = owner
        if isinstance(owner, Lexicon):
            lexicon = owner
            self.alone.lexicon, self.alone.base = lexicon.lexicon, base
            self.stats.rows, self.stats.total_length = lexicon.info.rows, lexicon.info.total_length
            self.stats.k1, self.stats.b = lexicon.info.k1, lexicon.info.b
            self.legs, self.count = &self.alone, 1
        else:
            several = owner
            self.legs, self.count, self.stats = several.legs, several.leg_count, several.stats


cdef object legs_of(lexicon, uint64_t base, const void **legs, size_t *count, const void **stats):
    """Return the owner of the legs of a Lexicon or of Lexicons, which keeps them alive."""
    cdef _Legs made = _Legs(lexicon, base)
    legs[0], count[0], stats[0] = made.legs, made.count, &made.stats
    return made


include "pxi/bm25.pxi"
include "pxi/sparse.pxi"
