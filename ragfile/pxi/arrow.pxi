# Arrow's C data interface: exports batches of Python bytes as an ArrowArrayStream, which any Arrow
# consumer reads without a further library. The structs are Arrow's ABI, field for field.
#
# Tuples describe the exported data:
#     field   (format, name, [fields])                 such as (b"u", b"text", []); a true fourth
#                                                      element makes its values nullable
#     array   (length, [bytes or None], [arrays])   the buffers of that format, None for "no nulls"
#
# An exported struct owns a reference to its bytes and its children; its release drops both. A
# consumer may move a child away (and null its release), and the child then outlives its parent: no
# struct refers to its parent.

from cpython.bytes cimport PyBytes_AsString
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef extern from *:
    """
    struct rag_arrow_schema {
        const char *format, *name, *metadata;
        int64_t flags, n_children;
        struct rag_arrow_schema **children, *dictionary;
        void (*release)(struct rag_arrow_schema *);
        void *private_data;
    };
    struct rag_arrow_array {
        int64_t length, null_count, offset, n_buffers, n_children;
        const void **buffers;
        struct rag_arrow_array **children, *dictionary;
        void (*release)(struct rag_arrow_array *);
        void *private_data;
    };
    struct rag_arrow_stream {
        int (*get_schema)(struct rag_arrow_stream *, struct rag_arrow_schema *);
        int (*get_next)(struct rag_arrow_stream *, struct rag_arrow_array *);
        const char *(*get_last_error)(struct rag_arrow_stream *);
        void (*release)(struct rag_arrow_stream *);
        void *private_data;
    };
    """
    ctypedef struct arrow_schema "struct rag_arrow_schema":
        const char *format
        const char *name
        int64_t flags, n_children
        arrow_schema **children
        void (*release)(arrow_schema *) noexcept
        void *private_data
    ctypedef struct arrow_array "struct rag_arrow_array":
        int64_t length, null_count, n_buffers, n_children
        const void **buffers
        arrow_array **children
        void (*release)(arrow_array *) noexcept
        void *private_data
    ctypedef struct arrow_stream_ "struct rag_arrow_stream":
        int (*get_schema)(arrow_stream_ *, arrow_schema *) noexcept
        int (*get_next)(arrow_stream_ *, arrow_array *) noexcept
        const char *(*get_last_error)(arrow_stream_ *) noexcept
        void (*release)(arrow_stream_ *) noexcept
        void *private_data

cdef enum:
    ARROW_FAILED = 5  # EIO; get_last_error returns the message
    ARROW_NULLABLE = 2
    ARROW_UNCOUNTED = -1  # nulls


cdef void release_schema(arrow_schema *schema) noexcept with gil:
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
        free(schema.children[i])
    free(schema.children)
    Py_XDECREF(<PyObject *>schema.private_data)
    schema.release = NULL


cdef void release_array(arrow_array *out) noexcept with gil:
    for i in range(out.n_children):
        if out.children[i].release != NULL:
            out.children[i].release(out.children[i])
        free(out.children[i])
    free(out.children)
    free(out.buffers)
    Py_XDECREF(<PyObject *>out.private_data)
    out.release = NULL


cdef int fill_schema(arrow_schema *out, field) except -1:
    """Export a field; on failure, release the partly filled struct."""
    memset(out, 0, sizeof(arrow_schema))
    Py_INCREF(field)
    out.private_data, out.release = <void *>field, release_schema
    try:
        out.format = PyBytes_AsString(field[0])
        out.name = PyBytes_AsString(field[1])
        out.flags = ARROW_NULLABLE if len(field) > 3 and field[3] else 0
        out.children = <arrow_schema **>calloc(len(field[2]) + 1, sizeof(void *))
        if out.children == NULL:
            raise MemoryError
        for child in field[2]:
            out.children[out.n_children] = <arrow_schema *>calloc(1, sizeof(arrow_schema))
            if out.children[out.n_children] == NULL:
                raise MemoryError
            out.n_children += 1
            fill_schema(out.children[out.n_children - 1], child)
    except:
        out.release(out)
        raise
    return 0


cdef int fill_array(arrow_array *out, batch) except -1:
    """Export an array; on failure, release the partly filled struct."""
    memset(out, 0, sizeof(arrow_array))
    out.length = batch[0]
    out.null_count = ARROW_UNCOUNTED if batch[1] and batch[1][0] is not None else 0
    Py_INCREF(batch)
    out.private_data, out.release = <void *>batch, release_array
    try:
        out.buffers = <const void **>calloc(len(batch[1]) + 1, sizeof(void *))
        out.children = <arrow_array **>calloc(len(batch[2]) + 1, sizeof(void *))
        if out.buffers == NULL or out.children == NULL:
            raise MemoryError
        for data in batch[1]:
            if data is not None:  # calloc has made the others NULL
                out.buffers[out.n_buffers] = PyBytes_AsString(data)
            out.n_buffers += 1
        for child in batch[2]:
            out.children[out.n_children] = <arrow_array *>calloc(1, sizeof(arrow_array))
            if out.children[out.n_children] == NULL:
                raise MemoryError
            out.n_children += 1
            fill_array(out.children[out.n_children - 1], child)
    except:
        out.release(out)
        raise
    return 0


cdef class ArrowBatches:
    """The source of an exported stream: a field, an iterator of arrays, and the last error."""

    cdef object field, batches
    cdef bytes error

    cdef int schema(self, arrow_schema *out) noexcept:
        try:
            return fill_schema(out, self.field)
        except BaseException as error:
            return self.fail(error)

    cdef int next(self, arrow_array *out) noexcept:
        memset(out, 0, sizeof(arrow_array))  # without a release: the end
        try:
            batch = next(self.batches, None)
            return 0 if batch is None else fill_array(out, batch)
        except BaseException as error:
            return self.fail(error)

    cdef int fail(self, error) noexcept:
        self.error = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        return ARROW_FAILED


cdef int stream_schema(arrow_stream_ *stream, arrow_schema *out) noexcept with gil:
    return (<ArrowBatches>stream.private_data).schema(out)


cdef int stream_next(arrow_stream_ *stream, arrow_array *out) noexcept with gil:
    return (<ArrowBatches>stream.private_data).next(out)


cdef const char *stream_error(arrow_stream_ *stream) noexcept with gil:
    error = (<ArrowBatches>stream.private_data).error
    if error is None:
        return NULL
    return PyBytes_AsString(error)


cdef void stream_release(arrow_stream_ *stream) noexcept with gil:
    Py_XDECREF(<PyObject *>stream.private_data)
    stream.release = NULL


cdef void stream_forget(capsule) noexcept:
    """Free the stream, and release it unless a consumer has moved it out, which sets release to
    NULL."""
    cdef void *pointer = PyCapsule_GetPointer(capsule, "arrow_array_stream")
    cdef arrow_stream_ *stream = <arrow_stream_ *>pointer
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


def arrow_stream(field, batches):
    """Return a PyCapsule of an Arrow stream: `field` describes the rows, `batches` yields arrays of
    it."""
    cdef ArrowBatches held = ArrowBatches()
    cdef arrow_stream_ *stream = <arrow_stream_ *>calloc(1, sizeof(arrow_stream_))
    if stream == NULL:
        raise MemoryError
    held.field, held.batches = field, iter(batches)
    Py_INCREF(held)
    stream.private_data = <void *>held
    stream.get_schema, stream.get_next = stream_schema, stream_next
    stream.get_last_error, stream.release = stream_error, stream_release
    return PyCapsule_New(stream, "arrow_array_stream", stream_forget)
