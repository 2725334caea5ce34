# Row sets: bits for rows, bitmaps of a file, and the filters of a search.

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free


cdef void *address_of(array) except? NULL:
    """The address of an array's bytes; the caller keeps the array alive."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_ANY_CONTIGUOUS)
    cdef void *at = view.buf
    PyBuffer_Release(&view)
    return at


def row_set(rows, Py_ssize_t count):
    """Return a row set as 64-bit words, from one bool per row or from words, which are checked."""
    import numpy

    array = numpy.ascontiguousarray(rows)
    if array.ndim == 1 and array.dtype == numpy.uint64 and array.size == (count + 63) // 64:
        return array
    if array.dtype != numpy.bool_ or array.shape != (count,):
        raise ValueError(
            f"a row set is {count} bools or {(count + 63) // 64} uint64 words, "
            f"not {array.dtype}{list(array.shape)}"
        )
    words = numpy.empty((count + 63) // 64, dtype=numpy.uint64)
    if count:
        rag_bits_pack(<const uint8_t *>address_of(array), count, <uint64_t *>address_of(words))
    return words


def bitmap(flags, bint in_words=False):
    """Pack flags into a bitmap of whole bytes (rag.gone) or whole words (rag.tombs)."""
    cdef const uint8_t[::1] view = memoryview(flags).cast("B")
    cdef uint64_t count = view.shape[0]
    out = bytearray((count + 63) // 64 * 8 if in_words else (count + 7) // 8)
    cdef uint8_t[::1] room = out
    if count:
        rag_bitmap_store(&room[0], &view[0], count)
    return out


def bitmap_has(Section section not None, uint64_t i):
    """Whether a bitmap of the file contains an item."""
    section.check()
    return i // 8 < section.guard.size and rag_bitmap_has(section.guard.bytes, i)


def rows_outside(Section section, uint64_t rows, Section listed=None):
    """Return the row set of the rows that neither a bitmap of whole words nor a list of rows contains."""
    import numpy

    found = numpy.zeros((rows + 63) // 64, numpy.uint64)
    cdef uint64_t *words = <uint64_t *>address_of(found)
    cdef const uint8_t *bitmap = <const uint8_t *>words  # no bit is set: rest may read what it writes
    if section is not None:
        section.check()
        if section.guard.size < 8 * <uint64_t>len(found):
            what = f"a bitmap of {section.guard.size} bytes is too small for {rows} rows"
            raise CorruptError(what, section=section.name)
        bitmap = section.guard.bytes
    rag_bitmap_rest(bitmap, rows, words)
    if listed is not None:
        listed.check()
        if not rag_bits_clear_listed(listed.guard.bytes, listed.guard.size // 4, rows, words):
            what = f"a deleted row is listed twice, or is not among {rows} rows"
            raise CorruptError(what, section=listed.name)
    return found


def row_list(const uint64_t[::1] words not None, uint64_t count):
    """Pack the rows of a row set into a list of a file (rag.deleted)."""
    if <uint64_t>words.shape[0] < (count + 63) // 64:
        raise ValueError("the row set has fewer bits than there are rows")
    cdef uint64_t rows = rag_bits_count(&words[0], count) if count else 0
    out = bytearray(4 * rows)
    cdef uint8_t[::1] room = out
    if rows:
        rag_bits_list(&words[0], count, &room[0])
    return out


def flags_of(const uint64_t[::1] words not None, uint64_t count):
    """Unpack a row set into one bool per row."""
    import numpy

    found = numpy.empty(count, numpy.uint8)
    if <uint64_t>words.shape[0] < (count + 63) // 64:
        raise ValueError("the row set has fewer bits than there are rows")
    if count:
        rag_bits_unpack(&words[0], count, <uint8_t *>address_of(found))
    return found.view(bool)


cdef class Filters:
    """Filters of the queries of one search: query i uses sets[numbers[i]], which has a row set
    (uint64 words, None for all rows) for each segment."""

    def __init__(self, numbers, sets):
        import numpy

        self.numbers = numpy.ascontiguousarray(numbers, numpy.uint32).reshape(-1)
        self.sets = [list(one) for one in sets]
        self.widths = [len(one) for one in self.sets]
        if len(set(self.widths)) > 1 or not all(self.widths):
            raise ValueError("each filter has a row set for each segment")
        if len(self.numbers) and int(self.numbers.max()) >= len(self.sets):
            raise ValueError(f"there are {len(self.sets)} filters, not {self.numbers.max() + 1}")
        self.point()

    cdef int point(self) except -1:
        cdef size_t i = 0
        self.pointers = <const uint64_t **>calloc(sum(self.widths) + 1, sizeof(uint64_t *))
        if self.pointers == NULL:
            raise MemoryError
        for one in self.sets:
            for words in one:
                if words is not None:
                    self.pointers[i] = words_of(words)
                i += 1
        self.filters.sets = self.pointers
        self.filters.of = <const uint32_t *>address_of(self.numbers)
        self.filters.count = len(self.sets)
        return 0

    def __dealloc__(self):
        free(self.pointers)

    def __len__(self):
        return len(self.numbers)

    def part(self, first, end):
        """Return the filters of a range of the queries."""
        return Filters(self.numbers[first:end], self.sets)

    cdef const rag_filters *fitting(self, segments, size_t count) except NULL:
        """Check the number of queries and the sizes of the segments, then return the C struct."""
        if len(self.numbers) != count:
            raise ValueError(f"filters for {len(self.numbers)} queries, but {count} queries")
        for one in self.sets:
            if len(one) != len(segments):
                raise ValueError(f"filters of {len(one)} segments, but {len(segments)} segments")
            for words, segment in zip(one, segments):
                if words is not None and 64 * len(words) < len(segment):
                    raise ValueError(f"a filter of {len(words)} words is too short for "
                                     f"{len(segment)} rows")
        return &self.filters


cdef const uint64_t *words_of(words) except NULL:
    """The address of a row set's words; the caller keeps them alive."""
    cdef const uint64_t[::1] view = words
    return &view[0] if view.shape[0] else &no_words


cdef const uint64_t no_words = 0


cdef class Outlet:
    """A Python callable that receives bytes from C, and the exception that it raised."""


cdef rag_status write_out(void *context, const void *bytes, size_t size) noexcept with gil:
    cdef Outlet outlet = <Outlet>context
    try:
        outlet.write(PyBytes_FromStringAndSize(<const char *>bytes, size))
    except BaseException as error:
        outlet.error = error
        return RAG_OS
    return RAG_OK
