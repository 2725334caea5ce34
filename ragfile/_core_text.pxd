from libc.stdint cimport uint64_t

cdef const void *queries_at(queries, const void **stats) except NULL
cdef object legs_of(lexicon, uint64_t base, const void **legs, size_t *count, const void **stats)
