# The parts of a .ragmd file: base64 lines, dividing lines, the head of a FAISS index.

FAISS_FLAT_HEAD = RAG_FAISS_FLAT_HEAD


def base64_wrap(const uint8_t[::1] data not None, write, size_t head=0, size_t row=0):
    """Encode `data` as base64 lines through write(), 256 KiB at a time: small enough to stay in
    cache."""
    cdef size_t at = 0, size = data.shape[0], count, room = 1 << 18
    cdef rag_base64_rows rows
    cdef const uint8_t *start = &data[0] if size else NULL
    rows.head, rows.row = head, row
    room_bytes = bytearray(room)
    cdef uint8_t[::1] out = room_bytes
    view = memoryview(room_bytes)
    while at < size:
        with nogil:
            count = rag_base64_wrap(&rows, start, size, &at, <char *>&out[0], room)
        write(view[:count])


def base64_unwrap(const uint8_t[::1] text not None, uint8_t[::1] out not None):
    """Decode into `out`, which needs room for len(text) // 4 * 3 + 3 bytes; return the bytes
    written."""
    cdef rag_fault fault
    cdef rag_status status
    cdef size_t written = 0, size = text.shape[0]
    if size == 0:
        return 0
    if <size_t>out.shape[0] < size // 4 * 3 + 3:
        raise ValueError("the buffer is too small for this base64")
    with nogil:
        status = rag_base64_unwrap(&text[0], size, &out[0], &written, &fault)
    check(status, &fault)
    return written


def markdown_marks(const uint8_t[::1] text not None, size_t start=0, size_t most=65536):
    """Return (kind, at, end, next) of every dividing line from `start` on, or None if there are
    more than `most`. kind is '#', '(' or ')'."""
    cdef rag_marks marks
    cdef size_t size = text.shape[0]
    marks.next, marks.length = start, 0
    found = []
    while size and rag_marks_next(&text[0], size, &marks):
        if len(found) == most:
            return None
        if marks.kind == RAG_MARK_HEADING:
            kind = "#"
        else:
            kind = "(" if marks.kind == RAG_MARK_OPEN else ")"
        found.append((kind, marks.at, marks.end, marks.next))
    return found


def json_too_deep(const uint8_t[::1] text not None, size_t limit):
    """Return the offset of the first bracket that nests deeper than `limit`, or None."""
    cdef size_t at = 0, size = text.shape[0]
    return at if size and rag_json_depth(&text[0], size, limit, &at) > limit else None


def faiss_read(const uint8_t[::1] data not None):
    """Return (four letters, dim, count, metric, offset of the floats or 0) of a FAISS index."""
    cdef rag_fault fault
    cdef rag_faiss index
    check(rag_faiss_read(&data[0] if data.shape[0] else NULL, data.shape[0], &index, &fault),
          &fault)
    kind = (<bytes>index.kind[:4]).decode("latin-1")
    return kind, index.dim, index.count, index.metric, index.rows_at


def faiss_flat_head(uint32_t dim, uint64_t count, bint inner_product):
    """Return the 45 bytes before the floats of a flat index."""
    cdef uint8_t head[RAG_FAISS_FLAT_HEAD]
    rag_faiss_flat_head(dim, count, inner_product, head)
    return (<char *>head)[:RAG_FAISS_FLAT_HEAD]
