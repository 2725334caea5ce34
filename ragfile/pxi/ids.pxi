# Ids of a segment under construction, in a few bytes each.

cdef class IdTable:
    """Distinct ids, numbered from 0 in order of arrival."""

    cdef rag_ids *ids

    def __cinit__(self):
        self.ids = rag_ids_new()
        if self.ids == NULL:
            raise MemoryError("no memory for ids")

    def __dealloc__(self):
        rag_ids_free(self.ids)

    def __len__(self):
        return rag_ids_count(self.ids)

    def number(self, str doc_id not None):
        """Return the number of an id; a new id gets the next number."""
        cdef rag_fault fault
        cdef uint32_t number = 0
        cdef bytes raw = doc_id.encode("utf-8", "surrogatepass")
        cdef const uint8_t *start = <const uint8_t *><const char *>raw
        check(rag_ids_number(self.ids, start, len(raw), &number, &fault), &fault)
        return number

    def find(self, str doc_id not None):
        """Return the number of an id, or None."""
        cdef uint32_t number = 0
        cdef bytes raw = doc_id.encode("utf-8", "surrogatepass")
        cdef const uint8_t *start = <const uint8_t *><const char *>raw
        return number if rag_ids_find(self.ids, start, len(raw), &number) else None

    def id(self, uint32_t number):
        """Return the id with a number."""
        cdef size_t size = 0
        if number >= rag_ids_count(self.ids):
            raise IndexError(f"no id {number}")
        cdef const uint8_t *start = rag_ids_at(self.ids, number, &size)
        return text_of(start, size)

    def order(self):
        """Return all numbers in the order of their ids' UTF-8, uint32."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        found = numpy.empty(len(self), numpy.uint32)
        cdef uint32_t *at = <uint32_t *>address_of(found)
        with nogil:
            status = rag_ids_order(self.ids, at, &fault)
        check(status, &fault)
        return found

    def write(self, const uint32_t[::1] order not None, write):
        """Write rag.ids piece by piece through write(bytes), with the ids in the given order of all
        numbers."""
        cdef Outlet outlet = Outlet.__new__(Outlet)
        cdef rag_fault fault
        cdef rag_status status
        cdef uint32_t count = rag_ids_count(self.ids)
        cdef size_t i
        if <size_t>order.shape[0] != count:
            raise ValueError("an order has as many numbers as there are ids")
        for i in range(count):
            if order[i] >= count:
                raise IndexError(f"no id {order[i]}")
        outlet.write = write
        cdef const uint32_t *at = &order[0] if count else NULL
        with nogil:
            status = rag_ids_write(self.ids, at, write_out, <void *>outlet, &fault)
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)
