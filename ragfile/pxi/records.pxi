# Records, streams and vector rows: the tables that describe the rows of a segment.

cdef const char *SURROGATES = "surrogatepass"
CHUNK_RECORD_SIZE = RAG_CHUNK_SIZE
DOCUMENT_RECORD_SIZE = RAG_DOCUMENT_SIZE
IDS_HEAD = RAG_STRINGS_HEAD
cdef Py_ssize_t PIECE = 1 << 16


def id_offsets(uint64_t document):
    """Return (offset, size) in rag.ids of the two numbers that locate a document's id."""
    return rag_strings_offset(document), rag_strings_offset(2) - rag_strings_offset(0)


cdef str text_of(const uint8_t *start, size_t size):
    """Decode UTF-8; lone surrogates of the source are restored."""
    try:
        return PyUnicode_DecodeUTF8(<const char *>start, size, SURROGATES)
    except UnicodeDecodeError:
        raise CorruptError("an id is not UTF-8", section="rag.ids") from None


cdef class ChunkRecord:
    """A row's record in rag.chunks. `start` and `size` are bytes of the document's text."""

    cdef rag_chunk chunk

    @property
    def document(self):
        """The number of its document in the segment."""
        return self.chunk.document

    @property
    def index(self):
        return self.chunk.index

    @property
    def start(self):
        return self.chunk.start

    @property
    def size(self):
        return self.chunk.size

    @property
    def char_start(self):
        """Its start in the document's text in code points, or None."""
        return None if self.chunk.char_start == RAG_NO_SPAN else self.chunk.char_start

    @property
    def char_size(self):
        return self.chunk.char_size

    @property
    def span(self):
        """(start, end) in the document's text in code points, (-1, -1) if unknown."""
        if self.chunk.char_start == RAG_NO_SPAN:
            return -1, -1
        return self.chunk.char_start, <uint64_t>self.chunk.char_start + self.chunk.char_size

    @property
    def meta_at(self):
        return self.chunk.meta_at

    @property
    def meta_size(self):
        return self.chunk.meta_size


cdef class DocumentRecord:
    """A document's record in rag.documents and rag.ids. `text_size` and `blob_size` are bytes."""

    cdef rag_document document
    cdef readonly str id

    @property
    def blob_at(self):
        """The offset of its texts in the text stream."""
        return self.document.blob_at

    @property
    def text_size(self):
        return self.document.text_size

    @property
    def blob_size(self):
        """The size of its own text plus that of chunks outside it."""
        return self.document.blob_size

    @property
    def text_chars(self):
        return self.document.text_chars

    @property
    def has_text(self):
        """Whether the document was stored with its own text."""
        return bool(self.document.has_text)

    @property
    def meta_at(self):
        return self.document.meta_at

    @property
    def meta_size(self):
        return self.document.meta_size

    @property
    def rows(self):
        """Its rows in the segment, as a range."""
        return range(self.document.first_row, self.document.first_row + self.document.rows)


cdef class DocumentPlace:
    """The locations of a document's parts: its id in rag.ids, its texts and metadata in their
    streams."""

    cdef readonly uint64_t id_at, id_size, blob_at, meta_at, meta_size


cdef class Records:
    """The records of a segment: documents, chunks, ids."""

    cdef rag_records records
    cdef object owners

    def __cinit__(self, Section chunks not None, Section documents not None, Section ids not None):
        cdef rag_fault fault
        self.owners = (chunks, documents, ids)
        self.records.chunks = chunks.guard
        self.records.documents = documents.guard
        self.records.ids = ids.guard
        check(rag_records_open(&self.records, &fault), &fault)

    def __len__(self):
        return self.records.rows

    @property
    def documents(self):
        """The number of documents."""
        return self.records.count

    def chunk(self, uint64_t row):
        """Return the ChunkRecord of a row."""
        cdef rag_fault fault
        cdef ChunkRecord found = ChunkRecord.__new__(ChunkRecord)
        check(rag_records_chunk(&self.records, row, &found.chunk, &fault), &fault)
        return found

    def document(self, uint64_t i):
        """Return the DocumentRecord of a document."""
        cdef rag_fault fault
        cdef DocumentRecord found = DocumentRecord.__new__(DocumentRecord)
        check(rag_records_document(&self.records, i, &found.document, &fault), &fault)
        found.id = text_of(found.document.id, found.document.id_size)
        return found

    def live_documents(self, const uint64_t[::1] live=None, Section gone=None):
        """Count the live documents: those with their first row in the row set `live` (None: all
        rows), and those without rows that are missing from the bitmap `gone`."""
        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        cdef rag_document d
        cdef const uint64_t *bits = NULL
        cdef const uint8_t *named = NULL
        cdef uint64_t i, id_at = 0, named_size = 0, count = 0
        if live is not None:
            if <uint64_t>live.shape[0] < (self.records.rows + 63) // 64:
                raise ValueError("live has fewer bits than there are rows")
            bits = &live[0] if live.shape[0] else NULL
        if gone is not None:
            gone.check()
            named, named_size = gone.guard.bytes, gone.guard.size
        with nogil:
            for i in range(self.records.count):
                status = rag_records_place(&self.records, i, &d, &id_at, &fault)
                if status != RAG_OK:
                    break
                if d.rows == 0:
                    count += 1 if i // 8 >= named_size else 1 - rag_bitmap_has(named, i)
                elif bits == NULL:
                    count += 1
                else:
                    count += bits[d.first_row // 64] >> d.first_row % 64 & 1
        check(status, &fault)
        return count

    def documents_of_rows(self):
        """Return the document of each row."""
        import numpy

        found = numpy.empty(self.records.rows, numpy.uint32)
        self.read_all(found, None, None, True)
        return found

    def id_hashes(self):
        """Return the xxh3 of each document's id."""
        import numpy

        cdef rag_fault fault
        cdef rag_document d
        cdef uint64_t i
        found = numpy.empty(self.records.count, numpy.uint64)
        cdef uint64_t[::1] hashes = found
        for i in range(self.records.count):
            check(rag_records_document(&self.records, i, &d, &fault), &fault)
            hashes[i] = rag_hash(d.id, d.id_size)
        return found

    def numbers_of(self, Records others not None):
        """Return for each document of another segment the number of the one here with its id, or -1."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        cdef rag_document d
        cdef uint64_t i, number = 0
        found = numpy.full(others.records.count, -1, numpy.int64)
        cdef int64_t[::1] numbers = found
        with nogil:
            for i in range(others.records.count):
                status = rag_records_document(&others.records, i, &d, &fault)
                if status == RAG_OK:
                    status = rag_records_find(&self.records, d.id, d.id_size, &number, &fault)
                if status != RAG_OK:
                    break
                if number < self.records.count:
                    numbers[i] = <int64_t>number
        check(status, &fault)
        return found

    def stretches(self, bint of_rows):
        """Return (at, size) of the metadata of each row, or of each document."""
        import numpy

        count = self.records.rows if of_rows else self.records.count
        at, size = numpy.empty(count, numpy.uint64), numpy.empty(count, numpy.uint32)
        self.read_all(None, at, size, of_rows)
        return at, size

    cdef int read_all(self, documents, at, size, bint of_rows) except -1:
        cdef uint32_t *document = NULL if documents is None else <uint32_t *>address_of(documents)
        cdef uint64_t *places = <uint64_t *>address_of(at) if at is not None else NULL
        cdef uint32_t *sizes = <uint32_t *>address_of(size) if size is not None else NULL
        cdef rag_fault fault
        cdef rag_status status = RAG_OK
        cdef rag_chunk c
        cdef rag_document d
        cdef uint64_t i
        with nogil:
            for i in range(self.records.rows if of_rows else self.records.count):
                if of_rows:
                    status = rag_records_chunk(&self.records, i, &c, &fault)
                else:
                    status = rag_records_document(&self.records, i, &d, &fault)
                if status != RAG_OK:
                    break
                if document != NULL:
                    document[i] = c.document
                else:
                    places[i] = c.meta_at if of_rows else d.meta_at
                    sizes[i] = c.meta_size if of_rows else d.meta_size
        return check(status, &fault)

    def place(self, uint64_t i):
        """Return the DocumentPlace of a document without reading its id."""
        cdef rag_fault fault
        cdef rag_document d
        cdef uint64_t id_at = 0
        cdef DocumentPlace found = DocumentPlace.__new__(DocumentPlace)
        check(rag_records_place(&self.records, i, &d, &id_at, &fault), &fault)
        found.id_at, found.id_size, found.blob_at = id_at, d.id_size, d.blob_at
        found.meta_at, found.meta_size = d.meta_at, d.meta_size
        return found

    def key(self, uint64_t row):
        """Return (doc_id as UTF-8 bytes, chunk_index), the key that orders ties."""
        cdef rag_fault fault
        cdef rag_chunk c
        cdef rag_document d
        check(rag_records_chunk(&self.records, row, &c, &fault), &fault)
        check(rag_records_document(&self.records, c.document, &d, &fault), &fault)
        return (<const char *>d.id)[:d.id_size], c.index

    def standings(self, const int64_t[::1] rows not None, int64_t base):
        """Return [((doc_id as UTF-8 bytes, chunk_index), first row, end)] of some rows: the key that
        orders ties, and the rows of the document, counted from `base`."""
        cdef rag_fault fault
        cdef rag_chunk c
        cdef rag_document d
        cdef Py_ssize_t i
        found = []
        for i in range(rows.shape[0]):
            check(rag_records_chunk(&self.records, rows[i], &c, &fault), &fault)
            check(rag_records_document(&self.records, c.document, &d, &fault), &fault)
            key = (<const char *>d.id)[:d.id_size], c.index
            found.append((key, base + <int64_t>d.first_row, base + <int64_t>(d.first_row + d.rows)))
        return found

    def find(self, str doc_id not None):
        """Return the document's number, or None."""
        cdef rag_fault fault
        cdef uint64_t i = 0
        raw = doc_id.encode("utf-8", "surrogatepass")
        cdef const uint8_t *start = raw
        check(rag_records_find(&self.records, start, len(raw), &i, &fault), &fault)
        return i if i < self.records.count else None

    def row(self, uint64_t document, uint32_t index):
        """Return the row of a document's chunk, or None."""
        cdef rag_fault fault
        cdef uint64_t row = 0
        check(rag_records_row(&self.records, document, index, &row, &fault), &fault)
        return row if row < self.records.rows else None

    def sample(self, size_t k, const uint64_t[::1] live=None):
        """Return [(hash, row)] of the k rows with the smallest hashes of (doc_id, chunk_index), in
        order."""
        cdef rag_fault fault
        cdef rag_status status
        cdef size_t found = 0
        cdef const uint64_t *bits = NULL
        if live is not None:
            if <uint64_t>live.shape[0] < (self.records.rows + 63) // 64:
                raise ValueError("live has fewer bits than there are rows")
            bits = &live[0] if live.shape[0] else NULL
        hashes, rows = array("Q", bytes(8 * max(k, 1))), array("Q", bytes(8 * max(k, 1)))
        cdef uint64_t[::1] hash_view = hashes
        cdef uint64_t[::1] row_view = rows
        with nogil:
            status = rag_records_sample(&self.records, bits, &hash_view[0], &row_view[0], k, &found,
                                        &fault)
        check(status, &fault)
        return sorted(zip(hashes[:found], rows[:found]))


cdef class RecordsBuilder:
    """Build the records of one segment: documents in order of id, each followed by its chunks in
    order of index. The two callables receive the bytes of rag.chunks and rag.documents, piece by
    piece."""

    cdef bytearray chunks, documents
    cdef object write_chunks, write_documents
    cdef uint64_t rows
    cdef uint32_t count

    def __cinit__(self, write_chunks, write_documents):
        self.chunks, self.documents = bytearray(), bytearray()
        self.write_chunks, self.write_documents = write_chunks, write_documents

    def __len__(self):
        """The number of documents so far."""
        return self.count

    def document(self, uint64_t blob_at, uint32_t text_size, uint32_t blob_size,
                 uint32_t text_chars, bint has_text, uint64_t meta_at, uint32_t meta_size,
                 uint32_t rows):
        cdef rag_document d
        cdef uint8_t raw[64]
        d.blob_at, d.blob_size = blob_at, blob_size
        d.text_size, d.text_chars = text_size, text_chars
        d.has_text, d.meta_at, d.meta_size = has_text, meta_at, meta_size
        d.first_row, d.rows = self.rows, rows
        rag_document_store(raw, &d)
        self.documents += (<const char *>raw)[:64]
        self.count += 1
        if len(self.documents) >= PIECE:
            self.write_documents(bytes(self.documents))
            self.documents.clear()

    def chunk(self, uint32_t index, uint32_t start, uint32_t size, char_start, uint32_t char_size,
              uint64_t meta_at, uint32_t meta_size):
        """Add a chunk to the last document."""
        cdef rag_chunk c
        cdef uint8_t raw[32]
        if meta_size >> 24 or meta_at >> 40:
            raise ValueError("a chunk's metadata is limited to 16 MiB of JSON, "
                             "that of all chunks to 1 TiB")
        c.document, c.index, c.start, c.size = self.count - 1, index, start, size
        c.char_start = RAG_NO_SPAN if char_start is None else <uint32_t>char_start
        c.char_size, c.meta_at, c.meta_size = char_size, meta_at, meta_size
        rag_chunk_store(raw, &c)
        self.chunks += (<const char *>raw)[:32]
        self.rows += 1
        if len(self.chunks) >= PIECE:
            self.write_chunks(bytes(self.chunks))
            self.chunks.clear()

    def finish(self):
        """Write the buffered remainder."""
        self.write_chunks(bytes(self.chunks))
        self.write_documents(bytes(self.documents))


cdef class Stream:
    """Random access to a long byte string in compressed blocks; caches up to `keep` unpacked
    bytes."""

    cdef rag_stream stream
    cdef object owner, lock
    cdef dict cache
    cdef uint64_t kept, keep
    cdef readonly uint64_t size

    def __cinit__(self, Section section not None, uint64_t keep=1 << 22):
        cdef rag_fault fault
        self.owner = section
        self.cache, self.lock, self.keep = {}, ForkSafeLock(), keep
        self.stream.guard = section.guard
        check(rag_stream_open(&self.stream, &fault), &fault)
        self.size = self.stream.raw_size

    cdef bytes block(self, uint64_t i):
        cdef rag_fault fault
        cdef rag_block b
        found = self.cache.get(i)
        if found is not None:
            return found
        check(rag_stream_block(&self.stream, i, &b, &fault), &fault)
        raw = self.unpacked(&b) if b.compressed else (<const char *>b.bytes)[:b.size]
        self.lock.acquire()
        try:
            self.remember(i, raw)
        finally:
            self.lock.release()
        return raw

    cdef bytes unpacked(self, const rag_block *b):
        cdef rag_fault fault
        cdef rag_status status
        cdef bytes raw = PyBytes_FromStringAndSize(NULL, b.raw_size)
        cdef uint8_t *out = <uint8_t *><char *>raw
        with nogil:
            status = rag_stream_unpack(&self.stream, b, out, &fault)
        check(status, &fault)
        return raw

    cdef remember(self, i, raw):
        if i not in self.cache:
            self.cache[i] = raw
            self.kept += len(raw)
        while self.kept > self.keep and len(self.cache) > 1:
            self.kept -= len(self.cache.pop(next(iter(self.cache))))

    @property
    def table(self):
        """(offset, size) of the table of block ends in the section."""
        return self.stream.table_at, 8 * self.stream.blocks

    def places(self, uint64_t at, uint64_t size):
        """Return [(offset, size)] in the section of the blocks that contain [at, at + size),
        without reading them; empty for a range outside the stream."""
        cdef rag_fault fault
        cdef rag_block b
        cdef uint64_t i
        found = []
        if size == 0 or at > self.size or size > self.size - at:
            return found
        for i in range(at // self.stream.block_size, (at + size - 1) // self.stream.block_size + 1):
            check(rag_stream_place(&self.stream, i, &b, &fault), &fault)
            found.append((b.at, b.size))
        return found

    def text(self, uint64_t at, uint64_t size):
        """Read a range and decode it as UTF-8 with lone surrogates."""
        cdef uint64_t first = at // self.stream.block_size
        cdef bytes block
        if size == 0 or at > self.size or size > self.size - at or (
                (at + size - 1) // self.stream.block_size != first):
            return self.read(at, size).decode("utf-8", "surrogatepass")
        block = self.block(first)
        at -= first * self.stream.block_size
        if len(block) < <Py_ssize_t>(at + size):
            return block[at:at + size].decode("utf-8", "surrogatepass")
        return PyUnicode_DecodeUTF8(<const char *>block + at, size, SURROGATES)

    def read(self, uint64_t at, uint64_t size):
        """Read the bytes [at, at + size) of the stream."""
        cdef uint64_t first, last, i
        if at > self.size or size > self.size - at:
            raise CorruptError(f"bytes {at}+{size} are after the end of their stream of "
                               f"{self.size}", at=at, section=self.owner.name)
        if size == 0:
            return b""
        first, last = at // self.stream.block_size, (at + size - 1) // self.stream.block_size
        at -= first * self.stream.block_size
        if first == last:
            return self.block(first)[at:at + size]
        return b"".join([self.block(i) for i in range(first, last + 1)])[at:at + size]


cdef class Reading:
    """Sequential reads of a stream without copies: the last unpacked block is held, so further
    reads of it are free."""

    cdef Stream stream
    cdef bytes held
    cdef uint64_t first, end  # of the held block
    cdef const uint8_t *at    # where it lies

    def __cinit__(self, Stream stream not None):
        self.stream, self.first, self.end = stream, 0, 0

    cdef const uint8_t *see(self, uint64_t at, uint64_t size) except? NULL:
        """Return the bytes [at, at + size), valid until the next call."""
        cdef uint64_t block_size = self.stream.stream.block_size
        if self.first <= at and at <= self.end and size <= self.end - at:
            return self.at + (at - self.first)
        if size == 0 and at <= self.stream.size:
            return self.at
        if at > self.stream.size or size > self.stream.size - at or (
                at // block_size != (at + size - 1) // block_size):
            self.held = self.stream.read(at, size)
            self.first, self.end = at, at + size
        else:
            self.held = self.stream.block(at // block_size)
            self.first = at // block_size * block_size
            self.end = self.first + <uint64_t>len(self.held)
        self.at = <const uint8_t *><const char *>self.held
        if at + size > self.end:  # a block shorter than declared
            raise CorruptError(f"bytes {at}+{size} are after the end of their block", at=at,
                               section=self.stream.owner.name)
        return self.at + (at - self.first)


def passage(Records records not None, Stream texts not None, uint64_t row):
    """Return the text of a row, decoded from its document's texts without a copy."""
    cdef rag_fault fault
    cdef rag_chunk chunk
    cdef rag_document document
    check(rag_records_chunk(&records.records, row, &chunk, &fault), &fault)
    check(rag_records_document(&records.records, chunk.document, &document, &fault), &fault)
    if <uint64_t>chunk.start + chunk.size > document.blob_size:
        doc_id = text_of(document.id, document.id_size)
        raise CorruptError(f"a text of document {doc_id!r} lies outside of it",
                           section="rag.chunks")
    try:
        return texts.text(document.blob_at + chunk.start, chunk.size)
    except UnicodeDecodeError:
        doc_id = text_of(document.id, document.id_size)
        raise CorruptError(f"the text of document {doc_id!r} is not UTF-8",
                           section="rag.text") from None


def unread_hits(kind, source, rows, scores, str score_type, list parts, bint skips_nan=False):
    """Return a list of `kind` (records.Hit) with lazily read texts, one for each row >= 0. source
    is (reader, names of the lazy attributes). rows int64, scores float64 and each of parts, (name,
    float32), have equal length. skips_nan drops rows with a NaN score."""
    cdef const int64_t[::1] rows_view = rows
    cdef const double[::1] scores_view = scores
    cdef const float *of[4]
    cdef const float[::1] view
    cdef size_t i, j, count = rows_view.shape[0], part_count = len(parts)
    cdef list found = [], names = [name for name, _ in parts], kept = []
    reader, waiting = source
    new = kind.__new__
    if part_count > 4 or <size_t>scores_view.shape[0] != count:
        raise ValueError("rows need one score each, and at most four parts")
    for j in range(part_count):
        view = parts[j][1]
        if <size_t>view.shape[0] != count:
            raise ValueError("rows and scores must have equal length")
        kept.append(view)
        of[j] = &view[0] if count else NULL
    for i in range(count):
        if rows_view[i] < 0:
            continue
        of_parts = {}
        for j in range(part_count):
            if not (skips_nan and of[j][i] != of[j][i]):
                of_parts[names[j]] = of[j][i]
        hit = new(kind)
        hit.found_in, hit.score = (reader, rows_view[i], waiting), scores_view[i]
        hit.asked = None
        hit.score_type, hit.scores = score_type, of_parts
        found.append(hit)
    return found


cdef class StreamBuilder:
    """Cut written data into blocks, compress each, and pass them to `write`."""

    cdef object write_out
    cdef bytearray pending, table, frame
    cdef rag_compressor *compressor
    cdef readonly uint64_t size
    cdef uint64_t stored, block_size

    def __cinit__(self, write, uint64_t block_size, int level=RAG_LEVEL_FAST):
        cdef rag_fault fault
        check(rag_compressor_open(level, &self.compressor, &fault), &fault)
        self.write_out, self.block_size = write, block_size
        self.pending, self.table, self.frame = bytearray(), bytearray(), bytearray()

    def __dealloc__(self):
        rag_compressor_close(self.compressor)

    cdef put(self, bytes raw):
        cdef uint8_t end[8]
        cdef size_t packed = self.pack(raw)
        cdef bint smaller = packed < <size_t>len(raw)
        data = bytes(self.frame[:packed]) if smaller else raw
        self.write_out(data)
        self.stored += len(data)
        rag_stream_end(end, self.stored, smaller)
        self.table += (<const char *>end)[:8]

    cdef size_t pack(self, bytes raw) except 0:
        """Compress a block to the start of `frame`; return the size of the frame."""
        cdef rag_fault fault
        cdef rag_status status
        cdef size_t packed, size = len(raw), room = rag_frame_bound(size)
        cdef const uint8_t *data = <const uint8_t *><const char *>raw
        if <size_t>len(self.frame) < room:
            self.frame = bytearray(room)
        cdef uint8_t *frame = <uint8_t *><char *>self.frame
        with nogil:
            status = rag_frame_compress(self.compressor, data, size, frame, room, &packed, &fault)
        check(status, &fault)
        return packed

    def write(self, data):
        """Append data; return its offset in the stream."""
        cdef uint64_t at = self.size
        cdef Py_ssize_t done = 0, block = self.block_size, size = len(data)
        view = memoryview(data)
        if len(self.pending) + size >= block:
            if self.pending:
                done = block - len(self.pending)
                self.put(bytes(self.pending) + view[:done])
                self.pending.clear()
            while size - done >= block:
                self.put(bytes(view[done:done + block]))
                done += block
        self.pending += view[done:]
        self.size += size
        return at

    def finish(self):
        cdef uint8_t trailer[64]
        if self.pending:
            self.put(bytes(self.pending))
        gap = rag_stream_gap(self.stored)
        self.write_out(bytes(gap))
        rag_stream_trailer(trailer, self.size, self.block_size, len(self.table) // 8,
                           self.stored + gap)
        self.write_out(bytes(self.table) + (<const char *>trailer)[:RAG_STREAM_TRAILER])


def strings_head(const uint64_t[::1] sizes not None):
    """Return the numbers at the start of a list of strings with these sizes."""
    cdef uint64_t count = sizes.shape[0], end = 0, i
    raw = bytearray(RAG_STRINGS_HEAD + 8 * count)
    cdef uint64_t[::1] words = memoryview(raw).cast("Q")
    words[0] = count
    for i in range(count):
        end += sizes[i]
        words[2 + i] = end
    return bytes(raw)


cdef class Originals:
    """The section rag.original of a segment with so many documents: the bytes of their files."""

    cdef Stream stream
    cdef uint64_t count
    cdef str name

    def __cinit__(self, Section section not None, uint64_t documents):
        self.stream, self.count, self.name = Stream(section), documents, section.name
        head = RAG_STRINGS_HEAD + 8 * documents
        if self.stream.size < head or self.words(0, 1)[0] != documents:
            raise FormatError(f"{self.name} is not about each document", section=self.name)
        if self.words(8, 1)[0] or head + self.words(head - 8, 1)[0] != self.stream.size:
            raise FormatError(f"the offsets of {self.name} do not fit its bytes", section=self.name)

    cdef words(self, uint64_t at, uint64_t count):
        return memoryview(self.stream.read(at, 8 * count)).cast("Q")

    def read(self, uint64_t document):
        """Return the bytes of a document's file, empty without any."""
        if document >= self.count:
            raise IndexError(f"no document {document}")
        start, end = self.words(rag_strings_offset(document), 2)
        if start > end:
            raise FormatError(f"the offsets of {self.name} descend", section=self.name)
        return self.stream.read(RAG_STRINGS_HEAD + 8 * self.count + start, end - start)
