# pairs.pxi: the directory of a file and the padded pairs of its keyword and vector sections.
#
# Offsets inside a Pairs object count from its first pair; `start` and the offsets in errors count
# from the file's start.

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcpy, memset

PREAMBLES = {"keyword": RAG_KEYWORD_PREAMBLE, "vector": RAG_VECTOR_PREAMBLE + RAG_EXTENSION_SIZE}


class Directory:
    """version, big_endian, size in bytes, and entries: (name, start, end) with end the last
    byte."""

    def __init__(self, version, big_endian, size, entries):
        self.version = version
        self.big_endian = big_endian
        self.size = size
        self.entries = entries


cdef object directory_of(rag_directory *found):
    entries = [(found.entries[i].name.decode("ascii"), found.entries[i].start, found.entries[i].end)
               for i in range(found.count)]
    return Directory((found.major, found.minor, found.patch), bool(found.big_endian), found.size,
                     entries)


def read_directory(const uint8_t[::1] data not None, bint reference=False):
    """Return the Directory of a file, by the strict rules or those of the reference script."""
    cdef rag_directory found
    cdef rag_fault fault
    cdef const uint8_t *bytes = &data[0] if data.shape[0] else NULL
    if reference:
        check(rag_directory_read_reference(bytes, data.shape[0], &found, &fault), &fault)
    else:
        check(rag_directory_read(bytes, data.shape[0], &found, &fault), &fault)
    try:
        return directory_of(&found)
    finally:
        rag_directory_free(&found)


def write_directory(version, bint big_endian, entries, int digits=0):
    """Return header, directory and closing NUL. The first entry has start None and is placed right
    after them."""
    cdef rag_directory made
    cdef rag_fault fault
    cdef size_t size = 0, capacity = RAG_HEADER_SIZE + RAG_DIRECTORY_MAX + 1
    memset(&made, 0, sizeof(made))
    made.major, made.minor, made.patch = version
    made.big_endian = big_endian
    made.count = len(entries)
    made.entries = <rag_strategy *>calloc(len(entries) + 1, sizeof(rag_strategy))
    out = bytearray(capacity)
    cdef uint8_t[::1] view = out
    if made.entries == NULL:
        raise MemoryError
    try:
        for i, (name, start, end) in enumerate(entries):
            text = name.encode("ascii")
            if not 1 <= len(text) <= 64:
                raise ValueError(f"a strategy name has 1 to 64 characters: {name!r}")
            memcpy(made.entries[i].name, <const char *>text, len(text))
            made.entries[i].start = start or 0
            made.entries[i].end = end
        if made.count and entries[0][1] is None:
            rag_directory_place(&made, digits)
        check(rag_directory_write(&made, digits, &view[0], capacity, &size, &fault), &fault)
        return bytes(out[:size])
    finally:
        free(made.entries)


cdef int check_pairs(str name, rag_status status, rag_fault *fault) except -1:
    """check() with the name of the section in the message."""
    if status != RAG_OK and fault.section[0] == 0:
        text = name.encode()[:64]
        memcpy(fault.section, <const char *>text, len(text))
        fault.section[len(text)] = 0
    return check(status, fault)


cdef str decoded_text(Pairs pairs, uint64_t at, uint64_t size):
    try:
        return (<const char *>pairs.pairs.bytes + at)[:size].decode("utf-8")
    except UnicodeDecodeError as error:
        where = pairs.pairs.at + at + error.start
        raise FormatError(f"text must be UTF-8 (byte {where} of section {pairs.section.name})",
                          at=where,
                          section=pairs.section.name) from None


cdef class Pairs:
    """The pairs of one keyword or vector section, walked in place."""

    cdef rag_pairs pairs
    cdef readonly Section section
    cdef uint64_t offset  # of the first pair in the section
    cdef bint checked  # all lazy checksums of the section held

    @staticmethod
    def keyword(Section section not None, uint64_t at, bint big_endian=False):
        """Return the Pairs of a keyword section that starts at file offset `at`."""
        cdef Pairs made = Pairs.__new__(Pairs)
        cdef rag_fault fault
        made.section = section
        made.check_preamble(RAG_KEYWORD_PREAMBLE)
        check_pairs(section.name, rag_keyword_pairs_open(section.guard.bytes, section.guard.size,
                                                         at, big_endian, &made.pairs,
                                                &fault), &fault)
        made.offset = made.pairs.at - at
        return made

    @staticmethod
    def vector(Section section not None, uint64_t at, bint big_endian=False):
        """Return the Pairs of a vector section that starts at file offset `at`; set dim if it has
        no extension block."""
        cdef Pairs made = Pairs.__new__(Pairs)
        cdef rag_fault fault
        made.section = section
        made.check_preamble(RAG_VECTOR_PREAMBLE + RAG_EXTENSION_SIZE)
        check_pairs(section.name, rag_vector_pairs_open(section.guard.bytes, section.guard.size, at,
                                                        big_endian, &made.pairs,
                                               &fault), &fault)
        made.offset = made.pairs.at - at
        return made

    @staticmethod
    def bare(Section section not None, *, uint8_t padding, uint8_t precision=0, uint32_t dim=0,
             bint big_endian=False,
             uint64_t at=0):
        """Return Pairs of a section without a preamble."""
        cdef Pairs made = Pairs.__new__(Pairs)
        cdef rag_fault fault
        if padding not in (4, 8, 16):
            raise ValueError(f"padding must be 4, 8 or 16, not {padding}")
        made.section = section
        made.pairs.bytes = section.guard.bytes
        made.pairs.size = section.guard.size
        made.pairs.at = at
        made.pairs.padding = padding
        made.pairs.precision = precision
        made.pairs.big_endian = big_endian
        if precision:
            check(rag_pairs_set_dim(&made.pairs, dim, &fault), &fault)
        return made

    cdef check_preamble(self, size_t size):
        self.section.check(0, min(size, self.section.guard.size))

    cdef check_bytes(self, uint64_t at, uint64_t size):
        """Verify the lazy checksums of a range; a full range is verified only once."""
        if self.section.guard.sums != NULL and not self.checked:
            self.section.check(self.offset + at, size)
            self.checked = size == self.pairs.size

    @property
    def start(self):
        return self.pairs.at

    @property
    def size(self):
        return self.pairs.size

    @property
    def padding(self):
        return self.pairs.padding

    @property
    def precision(self):
        return self.pairs.precision

    @property
    def big_endian(self):
        return bool(self.pairs.big_endian)

    @property
    def extended(self):
        return bool(self.pairs.extended)

    @property
    def dim(self):
        return self.pairs.dim or None

    @dim.setter
    def dim(self, uint64_t value):
        cdef rag_fault fault
        check(rag_pairs_set_dim(&self.pairs, value, &fault), &fault)

    @property
    def count(self):
        """The number of pairs in the extension block; None without one."""
        return self.pairs.count if self.pairs.extended else None

    @property
    def hash(self):
        """The XXH3-64 of all pairs in the extension block; None if it has none."""
        hashed = self.pairs.extended and self.pairs.flags & RAG_EXTENSION_HASHED
        return self.pairs.hash if hashed else None

    @property
    def stride(self):
        """The stride of pairs in bytes, from the extension block; 0 if variable or absent."""
        return self.pairs.stride

    @property
    def bytes(self):
        """A read-only view of the pairs' bytes, without preamble."""
        return memoryview(self.section)[self.offset : self.offset + self.pairs.size]

    def infer_dims(self, size_t at_most=16):
        """Return every dimension that fits, up to at_most of them."""
        cdef rag_fault fault
        cdef size_t count = 0
        cdef uint32_t *dims = <uint32_t *>malloc((at_most + 1) * sizeof(uint32_t))
        cdef rag_status status
        if dims == NULL:
            raise MemoryError
        try:
            self.check_bytes(0, self.pairs.size)
            with nogil:
                status = rag_pairs_infer(&self.pairs, dims, at_most, &count, &fault)
            check_pairs(self.section.name, status, &fault)
            return [dims[i] for i in range(count)]
        finally:
            free(dims)

    def walk(self, uint64_t[::1] offsets=None):
        """Check all pairs and return (count, stride or 0); store the first offsets in `offsets`."""
        cdef rag_fault fault
        cdef uint64_t count = 0, stride = 0, capacity = 0
        cdef uint64_t *out = NULL
        cdef rag_status status
        self.check_walkable()
        self.check_bytes(0, self.pairs.size)
        if offsets is not None and offsets.shape[0]:
            out = &offsets[0]
            capacity = offsets.shape[0]
        with nogil:
            status = rag_pairs_walk(&self.pairs, out, capacity, &count, &stride, &fault)
        check_pairs(self.section.name, status, &fault)
        return count, stride

    def verify(self):
        """Walk all pairs, and compare their hash with the extension block's if it has one."""
        cdef rag_fault fault
        self.walk()
        if self.pairs.extended and self.pairs.flags & RAG_EXTENSION_HASHED:
            fault.at, fault.section[0] = self.pairs.at - self.offset + RAG_VECTOR_PREAMBLE + 24, 0
            fault.what = "the pairs differ from their hash"
            if rag_hash(self.pairs.bytes, self.pairs.size) != self.pairs.hash:
                check_pairs(self.section.name, RAG_CORRUPT, &fault)

    def gather(self, uint8_t[::1] out not None, uint64_t count, const uint64_t[::1] offsets=None,
               uint64_t stride=0):
        """Copy `count` vectors to out in native byte order."""
        cdef rag_fault fault
        cdef const uint64_t *where = NULL
        cdef rag_status status
        if <uint64_t>out.shape[0] < count * self.pairs.head:
            raise ValueError("out is too short")
        if offsets is not None and <uint64_t>offsets.shape[0] < count:
            raise ValueError("offsets is too short")
        if count == 0:
            return
        if offsets is not None:
            where = &offsets[0]
        self.check_bytes(0, self.pairs.size)
        with nogil:
            status = rag_pairs_gather(&self.pairs, where, stride, count, &out[0], &fault)
        check_pairs(self.section.name, status, &fault)

    cdef check_walkable(self):
        if self.pairs.precision and not self.pairs.dim:
            raise ValueError("set dim before walking a vector section without an extension block")

    def __iter__(self):
        """Iterate over (keyword, content) or (offset of the embedding, content)."""
        return self.since(0)

    def since(self, uint64_t cursor):
        """Iterate likewise from a pair's offset on."""
        self.check_walkable()
        cdef PairWalk walk = PairWalk.__new__(PairWalk)
        walk.pairs = self
        walk.cursor = cursor
        return walk

    def lookup(self, str keyword not None, Keys keys=None):
        """Return the contents of every pair with this keyword, in file order; uses the sorted
        companion if given."""
        # a lone surrogate matches nothing
        cdef bytes key = keyword.encode("utf-8", "surrogatepass")
        cdef const uint8_t *wanted = <const uint8_t *>PyBytes_AsString(key)
        cdef size_t size = len(key)
        cdef rag_spans spans
        cdef rag_fault fault
        cdef rag_status status
        if self.pairs.precision:
            raise ValueError("a vector section has no keywords")
        memset(&spans, 0, sizeof(spans))
        try:
            self.check_bytes(0, self.pairs.size)
            if keys is not None:
                keys.section.check()
                status = rag_keys_lookup(&keys.keys, &self.pairs, wanted, size, &spans, &fault)
            else:
                with nogil:
                    status = rag_pairs_lookup(&self.pairs, wanted, size, &spans, &fault)
            check_pairs(self.section.name, status, &fault)
            return [decoded_text(self, spans.items[i].at, spans.items[i].size)
                    for i in range(spans.count)]
        finally:
            rag_spans_free(&spans)

    def build_keys(self, uint64_t count):
        """Return the bytes of a rag.keys section for these `count` pairs."""
        cdef rag_fault fault
        cdef rag_status status
        out = bytearray(RAG_KEYS_HEADER + 16 * count)
        cdef uint8_t[::1] view = out
        with nogil:
            status = rag_keys_build(&self.pairs, count, &view[0], &fault)
        check_pairs(self.section.name, status, &fault)
        return out


cdef class PairWalk:
    """One walk over Pairs."""

    cdef Pairs pairs
    cdef uint64_t cursor

    def __iter__(self):
        return self

    def __next__(self):
        cdef rag_fault fault
        cdef rag_pair pair
        if self.cursor >= self.pairs.pairs.size:
            raise StopIteration
        cdef uint64_t before = self.cursor
        cdef rag_status status = rag_pairs_next(&self.pairs.pairs, &self.cursor, &pair, &fault)
        check_pairs(self.pairs.section.name, status, &fault)
        self.pairs.check_bytes(before, self.cursor - before)
        content = decoded_text(self.pairs, pair.content_at, pair.content_size)
        if self.pairs.pairs.precision:
            return pair.at, content
        return decoded_text(self.pairs, pair.at, pair.head_size), content


cdef class PairFeed:
    """Parse the pairs of `pairs` from bytes pushed piece by piece; buffers incomplete pairs."""

    cdef Pairs shape
    cdef Pairs view  # of pending
    cdef bytearray pending
    cdef uint64_t cursor   # of the next pair in pending
    cdef uint64_t scanned  # pending has no end of that pair's content before this
    cdef bint last

    def __init__(self, Pairs pairs not None):
        pairs.check_walkable()
        self.shape = pairs
        self.pending = bytearray()
        self.rebuild(pairs.pairs.at)

    cdef rebuild(self, uint64_t at):
        self.view = Pairs.__new__(Pairs)
        self.view.section = Section.over(self.pending, self.shape.section.name)
        self.view.pairs = self.shape.pairs
        self.view.pairs.bytes = self.view.section.guard.bytes
        self.view.pairs.size = self.view.section.guard.size
        self.view.pairs.at = at
        self.scanned -= self.cursor
        self.cursor = 0

    def push(self, data, bint last=False):
        """Push the next bytes; set `last` with the final ones."""
        cdef uint64_t at = self.view.pairs.at + self.cursor
        self.scanned = max(self.scanned, self.cursor)
        self.view = None  # release pending, so that it can be resized
        del self.pending[: self.cursor]
        self.pending += data
        self.last = last
        self.rebuild(at)

    cdef bint ready(self):
        """Return whether the next pair, its gap and one more byte are buffered."""
        cdef rag_pairs *pairs = &self.view.pairs
        cdef uint64_t from_ = max(self.scanned, self.cursor + pairs.head)
        if from_ >= pairs.size:
            return False
        cdef const void *nul = memchr(pairs.bytes + from_, 0, pairs.size - from_)
        self.scanned = pairs.size if nul == NULL else <const uint8_t *>nul - pairs.bytes
        return nul != NULL and self.scanned + pairs.padding < pairs.size

    def pop(self):
        """Return the next pair, (keyword or embedding's bytes, content), or None if more bytes are
        needed."""
        cdef rag_fault fault
        cdef rag_pair pair
        if self.cursor >= self.view.pairs.size or not (self.last or self.ready()):
            return None
        check_pairs(self.shape.section.name, rag_pairs_next(&self.view.pairs, &self.cursor, &pair,
                                                            &fault), &fault)
        content = decoded_text(self.view, pair.content_at, pair.content_size)
        if not self.view.pairs.precision:
            return decoded_text(self.view, pair.at, pair.head_size), content
        return PyBytes_FromStringAndSize(<const char *>self.view.pairs.bytes + pair.at,
                                         pair.head_size), content


cdef class Keys:
    """The sorted companion (rag.keys) of a keyword section."""

    cdef rag_keys keys
    cdef readonly Section section
    cdef Pairs pairs

    @staticmethod
    def over(Section section not None, uint64_t at, Pairs pairs not None, bint big_endian=False):
        cdef Keys made = Keys.__new__(Keys)
        cdef rag_fault fault
        made.section = section
        made.pairs = pairs
        section.check(0, min(RAG_KEYS_HEADER, section.guard.size))
        check_pairs(section.name, rag_keys_open(section.guard.bytes, section.guard.size, at,
                                                big_endian, &pairs.pairs,
                                             &made.keys, &fault), &fault)
        return made

    def __len__(self):
        return self.keys.count

    def verify(self):
        """Raise unless every pair is listed once, in order."""
        cdef rag_fault fault
        cdef rag_status status
        with nogil:
            status = rag_keys_verify(&self.keys, &self.pairs.pairs, &fault)
        check_pairs(self.section.name, status, &fault)


SURVIVAL = {RAG_RECORD_CERTAIN: "certain", RAG_RECORD_AMBIGUOUS: "ambiguous",
            RAG_RECORD_DAMAGED: "damaged"}


cdef class ReferencePairs:
    """The surviving records of a section written by the reference script. Padding, precision and
    dim may have to be set."""

    cdef Pairs pairs
    cdef readonly uint64_t damaged

    @staticmethod
    def open(const uint8_t[::1] data not None, uint32_t index, str name not None):
        """Open the section of entry `index` of read_directory(data, reference=True)."""
        cdef rag_directory found
        cdef rag_fault fault
        cdef rag_status status
        cdef ReferencePairs made = ReferencePairs.__new__(ReferencePairs)
        made.pairs = Pairs.__new__(Pairs)
        check(rag_directory_read_reference(&data[0], data.shape[0], &found, &fault), &fault)
        if index >= found.count:
            status = RAG_ARGUMENT
        else:
            status = rag_reference_open(&data[0], data.shape[0], &found, index, &made.pairs.pairs,
                                        &made.damaged, &fault)
        rag_directory_free(&found)
        if index >= found.count and status == RAG_ARGUMENT:
            raise IndexError(index)
        check_pairs(name, status, &fault)
        made.pairs.section = Section.over(data, name)
        made.pairs.offset = made.pairs.pairs.at
        return made

    @property
    def start(self):
        return self.pairs.pairs.at

    @property
    def size(self):
        return self.pairs.pairs.size

    @property
    def padding(self):
        return self.pairs.pairs.padding or None

    @property
    def precision(self):
        return self.pairs.pairs.precision or None

    def shaped(self, uint8_t padding, uint8_t precision=0, uint32_t dim=0):
        """Return the same section with these values."""
        cdef ReferencePairs made = ReferencePairs.__new__(ReferencePairs)
        cdef rag_fault fault
        made.pairs = Pairs.__new__(Pairs)
        made.pairs.pairs = self.pairs.pairs
        made.pairs.section = self.pairs.section
        made.pairs.offset = self.pairs.offset
        made.damaged = self.damaged
        made.pairs.pairs.padding = padding
        made.pairs.pairs.precision = precision
        if precision:
            check(rag_pairs_set_dim(&made.pairs.pairs, dim, &fault), &fault)
        return made

    def walk(self):
        """Return (clean, [(kind, offset, size, head, content)]), with file offsets; head is the
        keyword, or None."""
        cdef rag_remnants remnants
        cdef rag_remnant *one
        cdef rag_fault fault
        cdef rag_status status
        with nogil:
            status = rag_reference_walk(&self.pairs.pairs, self.damaged, &remnants, &fault)
        check_pairs(self.pairs.section.name, status, &fault)
        found = []
        try:
            for i in range(remnants.count):
                one = &remnants.items[i]
                head = content = None
                if one.kind == RAG_RECORD_CERTAIN:
                    content = decoded_text(self.pairs, one.pair.content_at, one.pair.content_size)
                    if not self.pairs.pairs.precision:
                        head = decoded_text(self.pairs, one.pair.at, one.pair.head_size)
                found.append((SURVIVAL[one.kind], self.pairs.pairs.at + one.at, one.size, head,
                              content))
            return bool(remnants.clean), found
        finally:
            rag_remnants_free(&remnants)


cdef class PairWriter:
    """Encode pairs and pass them to write(bytes) in large pieces, in bounded memory."""

    cdef object write
    cdef bytearray buffer
    cdef uint8_t padding
    cdef readonly uint8_t precision
    cdef bint big_endian, allow_nonfinite
    cdef readonly uint64_t size    # bytes of the pairs so far
    cdef readonly uint64_t count
    cdef readonly uint64_t stride  # of all pairs so far, 0 if they differ
    cdef readonly uint32_t dim

    def __init__(self, write, *, uint8_t padding, uint8_t precision=0, uint32_t dim=0,
                 bint big_endian=False,
                 bint allow_nonfinite=False):
        self.write = write
        self.buffer = bytearray()
        self.padding = padding
        self.precision = precision
        self.dim = dim
        self.big_endian = big_endian
        self.allow_nonfinite = allow_nonfinite

    cdef check_text(self, rag_status status, rag_fault *fault, str what, str text):
        """Raise with the pair, the text and the character of a fault; `at` in the fault counts
        bytes."""
        if status == RAG_OK:
            return
        at = len(text.encode("utf-8")[: fault.at].decode("utf-8"))
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise ValueError(f"{what} of pair {self.count} has {fault.what.decode()} "
                         f"at character {at}: {shown!r}")

    cdef bytes encoded(self, str what, str text):
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"{what} of pair {self.count} has a lone surrogate at character "
                             f"{error.start}: {text[:40]!r}") from None

    cdef bytes checked_content(self, str content):
        cdef rag_fault fault
        text = self.encoded("content", content)
        self.check_text(rag_content_check(<const uint8_t *>PyBytes_AsString(text), len(text),
                                          &fault), &fault,
                        "content", content)
        return text

    cdef append(self, head, bytes content):
        cdef uint64_t size = len(head) + 1 + len(content)
        if self.count:
            self.buffer += bytes(self.padding)
        self.buffer += head
        self.buffer += b"-"
        self.buffer += content
        stride = size + self.padding
        self.stride = stride if self.count == 0 or self.stride == stride else 0
        self.size += size + (self.padding if self.count else 0)
        self.count += 1
        if len(self.buffer) >= 1 << 20:
            self.flush()

    def add_keyword(self, str keyword not None, str content not None):
        """Append keyword-content. Raise ValueError with the pair's number if either cannot be
        stored."""
        cdef rag_fault fault
        head = self.encoded("keyword", keyword)
        self.check_text(rag_keyword_check(<const uint8_t *>PyBytes_AsString(head), len(head),
                                          &fault), &fault,
                        "keyword", keyword)
        self.append(head, self.checked_content(content))

    def add_vector(self, const uint8_t[::1] row not None, str content not None):
        """Append embedding-content; row has dim components in native byte order."""
        cdef rag_fault fault
        cdef uint64_t width = <uint64_t>self.dim * (self.precision // 8)
        if <uint64_t>row.shape[0] != width or not width:
            raise ValueError(f"row {self.count} has {row.shape[0]} bytes instead of {width}")
        cdef bytes head = PyBytes_FromStringAndSize(NULL, width)
        if rag_row_write(&row[0], self.dim, self.precision, self.big_endian, self.allow_nonfinite,
                         <uint8_t *>PyBytes_AsString(head), &fault) != RAG_OK:
            raise ValueError(f"row {self.count}: component {fault.at} is NaN or infinite")
        self.append(head, self.checked_content(content))

    def flush(self):
        if self.buffer:
            self.write(self.buffer)
            self.buffer = bytearray()

    def preamble(self, uint64_t start, hash=None):
        """Return the section's preamble (and extension block) for pairs that start at file offset
        `start`."""
        cdef rag_pairs pairs
        cdef uint8_t out[50]
        memset(&pairs, 0, sizeof(pairs))
        memset(out, 0, sizeof(out))
        pairs.at = start
        pairs.size = self.size
        pairs.padding = self.padding
        pairs.big_endian = self.big_endian
        if not self.precision:
            rag_keyword_preamble_write(&pairs, out)
            return out[:RAG_KEYWORD_PREAMBLE]
        pairs.precision = self.precision
        pairs.extended = True
        pairs.dim = self.dim
        pairs.count = self.count
        pairs.stride = self.stride if self.stride < 1 << 32 else 0
        if hash is not None:
            pairs.flags = RAG_EXTENSION_HASHED
            pairs.hash = hash
        rag_vector_preamble_write(&pairs, out)
        return out[:RAG_VECTOR_PREAMBLE + RAG_EXTENSION_SIZE]
