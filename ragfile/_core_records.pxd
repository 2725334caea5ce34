cdef const void *records_at(records) except NULL
