# Metadata columns: a builder, a section, a column; and the byte encoding of values.

from libc.string cimport memcmp

# Limits of stored columns (rag_columns_limits). Texts above a kilobyte are useless as filters.
COLUMN_LIMITS = {
    "value": 1000, "values": 96 << 20, "held": 256 << 20, "free_bytes": 64 << 10, "bytes_a_row": 96,
}
# Limits for verifying the columns of other writers, which may store more.
WIDE_LIMITS = {
    "value": 1 << 16, "values": 256 << 20, "held": 512 << 20, "free_bytes": 1 << 62, "bytes_a_row": 0,
}


cdef double decimal_of(void *context, const char *digits, size_t size) noexcept with gil:
    """Parse a decimal number as json does."""
    return float(digits[:size])


cdef bint is_utf8(bytes raw):
    if raw.isascii():
        return True
    try:
        raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


cdef class ColumnsBuilder:
    """Build the columns of a segment from the JSON of its documents and rows, in order."""

    cdef rag_columns_builder *builder

    def __cinit__(self, limits=COLUMN_LIMITS):
        cdef rag_fault fault
        cdef rag_columns_limits kept
        kept.value, kept.bytes_a_row = limits["value"], limits["bytes_a_row"]
        kept.values, kept.held = limits["values"], limits["held"]
        kept.free_bytes = limits["free_bytes"]
        check(rag_columns_new(&kept, decimal_of, NULL, &self.builder, &fault), &fault)

    def __dealloc__(self):
        rag_columns_free(self.builder)

    def document(self, bytes raw not None):
        """Set the JSON of the document that the next rows belong to."""
        cdef rag_fault fault
        cdef const uint8_t *json = <const uint8_t *><const char *>raw
        cdef size_t size = len(raw)
        if not is_utf8(raw):
            rag_columns_spoil(self.builder)
        check(rag_columns_document(self.builder, json, size, &fault), &fault)

    def rows(self, bytes raw not None, uint64_t count=1):
        """Add `count` rows with this additional JSON; b"" for none."""
        cdef rag_fault fault
        cdef const uint8_t *json = <const uint8_t *><const char *>raw
        cdef size_t size = len(raw)
        if not is_utf8(raw):
            rag_columns_spoil(self.builder)
        check(rag_columns_rows(self.builder, json, size, count, &fault), &fault)

    def segment(self, Records records not None, Stream meta not None):
        """Add all documents and rows of a stored segment. Consecutive rows of a document with equal
        JSON are added at once."""
        cdef rag_fault fault
        cdef rag_document d
        cdef rag_chunk c
        cdef uint64_t i, row, count
        cdef Reading reading = Reading(meta)
        cdef const uint8_t *json
        cdef bytes said
        for i in range(records.records.count):
            check(rag_records_document(&records.records, i, &d, &fault), &fault)
            json = reading.see(d.meta_at, d.meta_size)
            self.spoil_unless_utf8(json, d.meta_size)
            check(rag_columns_document(self.builder, json, d.meta_size, &fault), &fault)
            said, count = b"", 0
            for row in range(d.first_row, d.first_row + d.rows):
                check(rag_records_chunk(&records.records, row, &c, &fault), &fault)
                json = reading.see(c.meta_at, c.meta_size)
                if <uint64_t>len(said) != c.meta_size or (
                        c.meta_size and memcmp(<const char *>said, json, c.meta_size) != 0):
                    self.rows(said, count)
                    said, count = json[:c.meta_size], 0
                count += 1
            self.rows(said, count)

    cdef spoil_unless_utf8(self, const uint8_t *text, size_t size):
        cdef uint8_t all = 0
        cdef size_t i
        for i in range(size):
            all |= text[i]
        if all >= 128 and not is_utf8(text[:size]):
            rag_columns_spoil(self.builder)

    @property
    def is_spoilt(self):
        """Whether no section can be written, because some input was not the JSON of a document or
        row."""
        return bool(rag_columns_are_spoilt(self.builder))

    def finish(self, write):
        """Write the section through a callable that takes bytes. Ends the builder."""
        cdef Outlet outlet = Outlet.__new__(Outlet)
        cdef rag_fault fault
        cdef rag_status status
        outlet.write = write
        with nogil:
            status = rag_columns_finish(self.builder, write_out, <void *>outlet, &fault)
        rag_columns_free(self.builder)
        self.builder = NULL
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)


def doubtful_documents(Records records not None, Stream meta not None, live):
    """Return the numbers of documents that need a full check: partly deleted ones, and those with
    invalid JSON or fields beyond metadata, tags and a source. From the first unreadable record on,
    all documents are listed."""
    cdef rag_fault fault
    cdef rag_document d
    cdef ColumnsBuilder dry = ColumnsBuilder()
    cdef uint64_t i
    cdef bytes raw
    cdef const uint64_t[::1] words
    cdef const uint64_t *bits = NULL
    if live is not None:
        words = live
        bits = &words[0] if words.shape[0] else NULL
    found = []
    for i in range(records.records.count):
        if rag_records_document(&records.records, i, &d, &fault) != RAG_OK:
            return found + list(range(i, records.records.count))
        if d.meta_at > meta.size or d.meta_size > meta.size - d.meta_at:
            found.append(i)
            continue
        if bits != NULL and is_partly_live(bits, d.first_row, d.rows):
            found.append(i)
            continue
        raw = meta.read(d.meta_at, d.meta_size)
        if not (is_utf8(raw) and rag_columns_are_plain(
                dry.builder, <const uint8_t *><const char *>raw, len(raw))):
            found.append(i)
    return found


cdef bint is_partly_live(const uint64_t *live, uint64_t first, uint32_t rows):
    cdef uint64_t row, count = 0
    for row in range(first, first + rows):
        count += live[row // 64] >> row % 64 & 1
    return count != 0 and count != rows


cdef class StoredColumns:
    """The section rag.columns of a segment, checked except for the data of its columns."""

    cdef rag_columns columns
    cdef Section owner

    def __cinit__(self, Section section not None, uint64_t rows):
        cdef rag_fault fault
        self.owner = section
        self.columns.guard = section.guard
        check(rag_columns_open(&self.columns, rows, &fault), &fault)

    def __len__(self):
        return self.columns.count

    @property
    def is_partial(self):
        """Whether rows may have unlisted paths."""
        return bool(self.columns.is_partial)

    def names(self):
        """Return the paths in order; None for the tags."""
        cdef const uint8_t *name = NULL
        cdef size_t size = 0
        cdef cbool is_tags = False
        cdef uint32_t i
        found = []
        for i in range(self.columns.count):
            rag_columns_name(&self.columns, i, &name, &size, &is_tags)
            found.append(None if is_tags else self.path_of((<const char *>name)[:size]))
        return found

    cdef str path_of(self, bytes raw):
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            name = self.owner.name
            raise FormatError(f"the name of a column must be UTF-8 ({name})",
                              section=name) from None

    def find(self, path):
        """Return the number of a path's column (None: the tags), or None if it is not listed."""
        cdef bytes raw = b"" if path is None else path.encode("utf-8", "surrogatepass")
        cdef int64_t found = rag_columns_find(
            &self.columns, <const uint8_t *><const char *>raw, len(raw), path is None
        )
        return None if found < 0 else found

    def may_enter_lists(self, str path not None):
        """Return whether a part of a path before a dot can be a list, which no stored column enters."""
        cdef bytes raw = path.encode("utf-8", "surrogatepass")
        return bool(rag_columns_may_enter_lists(
            &self.columns, <const uint8_t *><const char *>raw, len(raw)))

    def has_values(self, uint32_t i):
        """Return whether a column is stored; otherwise its values are in the metadata alone."""
        self.verify(i)
        return bool(rag_columns_has_values(&self.columns, i))

    def place(self, uint32_t i):
        """Return (offset, size) of a column's data in the section."""
        cdef uint64_t at = 0, size = 0
        self.verify(i)
        rag_columns_place(&self.columns, i, &at, &size)
        return at, size

    def data(self, uint32_t i):
        """Return the value description of a column's entry, and the column's data."""
        at, size = self.place(i)
        cdef size_t from_ = at, count = size
        entry = (<const char *>self.columns.guard.bytes)[64 + 64 * i:128 + 64 * i]
        return entry[8:16] + entry[24:], (<const char *>self.columns.guard.bytes)[
            from_:from_ + count]

    def column(self, uint32_t i):
        """Return the StoredColumn with a number."""
        cdef rag_fault fault
        cdef StoredColumn found = StoredColumn.__new__(StoredColumn)
        if not self.has_values(i):
            raise ValueError(f"column {i} is not stored")
        found.owner = self.owner
        check(rag_column_open(&self.columns, i, &found.column, &fault), &fault)
        return found

    cdef int verify(self, uint32_t i) except -1:
        if i >= self.columns.count:
            raise IndexError(f"no column {i}")
        return 0


cdef class StoredColumn:
    """A column of a segment. Code 0 is no value; the values' codes are in their order, from 1."""

    cdef rag_column column
    cdef Section owner

    def __len__(self):
        """Return the number of distinct values."""
        return self.column.values

    def find(self, bytes value not None):
        """Return the codes [low, high) of a value: none or one."""
        cdef rag_fault fault
        cdef uint32_t low = 0, high = 0
        cdef const uint8_t *raw = <const uint8_t *><const char *>value
        if not 1 <= value[0] <= 7:
            raise ValueError("not the bytes of a value")
        check(rag_column_find(&self.column, raw, len(value), &low, &high, &fault), &fault)
        return low, high

    def kind(self, int kind):
        """Return the codes [low, high) of the values of a kind."""
        cdef uint32_t low = 0, high = 0
        if not 0 <= kind <= 5:
            raise ValueError(f"no kind {kind}")
        rag_column_kind(&self.column, kind, &low, &high)
        return low, high

    def value(self, uint32_t code):
        """Return the bytes of a code's value."""
        if not 1 <= code <= self.column.values:
            raise IndexError(f"no code {code}")
        room = bytearray(rag_column_value(&self.column, code, NULL) + 1)
        cdef uint8_t[::1] view = room
        cdef size_t size = rag_column_value(&self.column, code, &view[0])
        return bytes(memoryview(room)[:size])

    def is_whole(self):
        """Return whether all numbers are 64-bit integers."""
        cdef const double *floors = <const double *>self.column.floors
        cdef uint32_t i
        for i in range(self.column.numbers):
            if not (-9.2e18 < floors[i] < 9.2e18) or floors[i] != <double><int64_t>floors[i]:
                return False
        return True

    def values(self):
        """Return all values in code order, as JSON values; a whole number is an int."""
        return [value_of(self.value(code)) for code in range(1, self.column.values + 1)]

    def codes(self):
        """Return the code of each row."""
        import numpy

        kind = numpy.dtype({1: "u1", 2: "<u2", 4: "<u4"}[self.column.width])
        at = self.column.codes - self.owner.guard.bytes
        return numpy.ndarray(self.column.rows, kind, memoryview(Bare(self.owner)), at)

    cdef words(self):
        import numpy

        return numpy.zeros((self.column.rows + 63) // 64, numpy.uint64)

    def rows(self, uint32_t low, uint32_t high):
        """Return the row set of the rows with a code in [low, high)."""
        found = self.words()
        cdef uint64_t *at = <uint64_t *>address_of(found)
        with nogil:
            rag_column_rows(&self.column, low, high, at)
        return found

    def rows_of(self, chosen):
        """Return the row set of the rows with a chosen code; `chosen` has one byte per code."""
        import numpy

        wanted, found = numpy.ascontiguousarray(chosen, dtype=numpy.uint8), self.words()
        cdef uint64_t *at = <uint64_t *>address_of(found)
        cdef const uint8_t *bytes_ = <const uint8_t *>address_of(wanted)
        cdef uint32_t count = len(wanted)
        with nogil:
            rag_column_rows_of(&self.column, bytes_, count, at)
        return found

    def holding(self, bytes value not None):
        """Return one byte per code: 1 for lists that contain a value."""
        import numpy

        chosen = numpy.zeros(self.column.values + 1, numpy.uint8)
        cdef uint8_t *at = <uint8_t *>address_of(chosen)
        cdef const uint8_t *raw = <const uint8_t *><const char *>value
        cdef size_t size = len(value)
        with nogil:
            rag_column_holding(&self.column, raw, size, at)
        return chosen

    def containing(self, part):
        """Return one byte per code: 1 for texts that contain `part`."""
        import numpy

        chosen = numpy.zeros(self.column.values + 1, numpy.uint8)
        cdef uint8_t *at = <uint8_t *>address_of(chosen)
        cdef bytes text = part.encode("utf-8", "surrogatepass")
        cdef const uint8_t *raw = <const uint8_t *><const char *>text
        cdef size_t size = len(text)
        with nogil:
            rag_column_containing(&self.column, raw, size, at)
        return chosen


cdef rag_status column_of_path(void *context, const uint8_t *path, size_t size, cbool is_tags,
                               const rag_column **own, const rag_column **other,
                               rag_fault *fault) noexcept with gil:
    """Look a column up in a dict by path; b"" with is_tags is None there."""
    cdef dict columns = <dict>context
    cdef StoredColumn found
    own[0] = other[0] = NULL
    found = columns.get(None if is_tags else (<const char *>path)[:size])
    if found is not None:
        own[0] = &found.column
    return RAG_OK


def filter_rows(bytes where, bytes tags_any, bytes tags_all, dict columns not None, uint64_t rows):
    """Return the row set of the rows that pass a filter, have one of some tags and all of others.

    These are values by value_bytes, or None. `columns` maps each path, as UTF-8, and None for the
    tags, to its StoredColumn; a path that no row has may be missing."""
    import numpy

    cdef rag_fault fault
    cdef rag_filter_columns asked
    cdef bint wants_all
    asked.column, asked.context, asked.rows = column_of_path, <void *>columns, rows
    cdef size_t count = (rows + 63) // 64
    found = numpy.empty(count, numpy.uint64)
    cdef uint64_t *words = <uint64_t *>address_of(found)
    if where is None:
        found[:] = 2**64 - 1
    else:
        check(rag_filter_rows(&asked, <const uint8_t *><const char *>where, len(where), words,
                              &fault), &fault)
    if rows % 64:
        words[count - 1] &= (<uint64_t>1 << rows % 64) - 1
    for tags, wants_all in ((tags_any, False), (tags_all, True)):
        if tags is not None:
            more = numpy.empty(count, numpy.uint64)
            check(rag_filter_tags(&asked, <const uint8_t *><const char *>tags, len(tags), wants_all,
                                  <uint64_t *>address_of(more), &fault), &fault)
            found &= more
    return found


def plain_bytes(value):
    """Return value_bytes(filters.sort_key(value)), or None for a value that this needs the key of.

    Values with the same bytes are equal: integers beyond 64 bits have none."""
    made = bytearray()
    return bytes(made) if put_json(made, value, 0) else None


cdef int put_json(bytearray out, value, int depth) except -1:
    """Append a JSON value; return 0 for one of another type, an object with other keys, or NaN."""
    if isinstance(value, str):
        put_text(out, value)
        return 1
    if value is None or isinstance(value, bool):
        out.append(1 if value is None else 3 if value else 2)
        return 1
    if isinstance(value, float):
        return 0 if value != value else put_number(out, value) == 0
    if isinstance(value, int):
        return put_number(out, value) == 0 if -(1 << 63) <= value < 1 << 63 else 0
    if depth == 256:
        return 0
    if isinstance(value, dict):
        return put_object(out, value, depth + 1)
    if not isinstance(value, (list, tuple)):
        return 0
    out.append(6)
    for element in value:
        if not put_json(out, element, depth + 1):
            return 0
    out.append(0)
    return 1


cdef int put_object(bytearray out, dict value, int depth) except -1:
    for name in value:
        if not isinstance(name, str):
            return 0
    out.append(7)
    for name in sorted(value):
        put_text(out, name)
        if not put_json(out, value[name], depth):
            return 0
    out.append(0)
    return 1


def value_bytes(key):
    """Return the bytes of a value in the form of filters.sort_key."""
    made = bytearray()
    put_value(made, key)
    return bytes(made)


cdef int put_value(bytearray out, tuple key) except -1:
    kind = key[0]
    if kind == 0:
        out.append(1)
    elif kind == 1:
        out.append(3 if key[1] else 2)
    elif kind == 2:
        put_number(out, key[1])
    elif kind == 3:
        put_text(out, key[1])
    elif kind == 4:
        out.append(6)
        for element in key[1]:
            put_value(out, element)
        out.append(0)
    else:
        out.append(7)
        for name, member in key[1]:
            put_text(out, name)
            put_value(out, member)
        out.append(0)
    return 0


cdef int put_text(bytearray out, text) except -1:
    cdef bytes raw = text.encode("utf-8", "surrogatepass")
    cdef size_t size = len(out), room = 2 * <size_t>len(raw) + 2
    PyByteArray_Resize(out, size + room)
    cdef uint8_t *at = <uint8_t *>PyByteArray_AsString(out) + size
    room = rag_value_text(at, <const uint8_t *><const char *>raw, len(raw))
    PyByteArray_Resize(out, size + room)
    return 0


cdef int put_number(bytearray out, number) except -1:
    """Encode a number. An integer beyond binary64 sorts beyond the largest; a remainder above 16
    bits equals that of no stored number."""
    cdef uint8_t raw[11]
    if isinstance(number, float):
        rag_value_number(raw, number, 0)
    elif -(1 << 63) <= number < 1 << 63:
        rag_value_integer(raw, number)
    else:
        floor = floor_of(number)
        rag_value_number(raw, floor, min(number - int(floor), 65535) if floor > -LARGEST * 2 else 1)
    out += (<const char *>raw)[:11]
    return 0


cdef double LARGEST = 1.7976931348623157e308


cdef floor_of(number):
    """Return the largest binary64 that is not above an integer."""
    import math

    try:
        near = float(number)
    except OverflowError:
        return LARGEST if number > 0 else -math.inf
    return math.nextafter(near, -math.inf) if near > number else near


cdef object read_value(const uint8_t *raw, size_t size, size_t *at, int depth):
    """Decode the value at *at and advance past it. Invalid bytes decode as None: they are as
    untrusted as the metadata."""
    cdef uint8_t kind
    if at[0] >= size or depth > 256:
        at[0] = size
        return None
    kind = raw[at[0]]
    at[0] += 1
    if kind == 2 or kind == 3:
        return kind == 3
    if kind == 4:
        return read_number(raw, size, at)
    if kind == 5:
        return read_text(raw, size, at)
    if kind == 6:
        found = []
        while at[0] < size and raw[at[0]] != 0:
            found.append(read_value(raw, size, at, depth + 1))
        at[0] += 1
        return found
    if kind == 7:
        members = {}
        while at[0] + 1 < size and raw[at[0]] == 5:
            at[0] += 1
            name = read_text(raw, size, at)
            members[name] = read_value(raw, size, at, depth + 1)
        at[0] += 1
        return members
    return None


cdef object read_text(const uint8_t *raw, size_t size, size_t *at):
    cdef size_t end = at[0]
    while end < size and raw[end] != 0:
        end += 1
    cdef bytes found = (<const char *>raw)[at[0]:end]
    at[0] = end + 1
    if b"\1" in found:
        found = found.replace(b"\1\1", b"\0").replace(b"\1\2", b"\1")
    try:
        return found.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return found.decode("utf-8", "replace")


cdef object read_number(const uint8_t *raw, size_t size, size_t *at):
    cdef uint64_t bits = 0
    cdef int rest, i
    if at[0] + 10 > size:
        at[0] = size
        return None
    for i in range(8):
        bits = bits << 8 | raw[at[0] + i]
    rest = raw[at[0] + 8] << 8 | raw[at[0] + 9]
    at[0] += 10
    bits = bits ^ (<uint64_t>1 << 63) if bits >> 63 else ~bits
    number = (<double *>&bits)[0]
    return int(number) + rest if abs(number) < 1e300 and number.is_integer() else number


def value_of(bytes raw not None):
    """Return the JSON value of encoded bytes; a whole number is an int."""
    cdef size_t at = 0
    return read_value(<const uint8_t *><const char *>raw, len(raw), &at, 0)
