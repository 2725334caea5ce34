# Remote files: a sparse map of the file's size, which is filled as it is read.
from collections import OrderedDict
from itertools import count as counted

from libc.stdlib cimport calloc as calloc_wants, free as free_wants

# Exceptions of failed fetches by number; C passes the number from the callback to the caller, maybe
# in another thread. Above 64 pending exceptions the oldest is dropped.
_reasons = OrderedDict()
_reason_numbers = counted(1)
_reasons_lock = ForkSafeLock()


def note_reason(error):
    """Register an exception under a number that C passes to check()."""
    _reasons_lock.acquire()
    try:
        number = next(_reason_numbers)
        _reasons[number] = error
        if len(_reasons) > 64:
            _reasons.popitem(last=False)
        return number
    finally:
        _reasons_lock.release()


cdef reason_of(uint64_t number):
    _reasons_lock.acquire()
    try:
        reason = _reasons.pop(number, None)
    finally:
        _reasons_lock.release()
    return reason or RemoteError("remote bytes could not be fetched")


cdef class Fetched:
    """A file whose bytes come from a source, into memory of its size."""

    cdef const rag_source *source
    cdef uint64_t size

    @property
    def is_elsewhere(self):
        """Whether bytes come from another machine, so that calls should list what they will read."""
        return True

    def __len__(self):
        return self.size


cdef class Remote(Fetched):
    """A file that is fetched on demand; a buffer of all its bytes. Views keep it alive.

    fetcher has path, size, kept, descriptor (of a local file of that size) and fetch(pieces, near),
    which stores the pieces (at, size, hash or None) in that file. When the descriptor changes, the
    new file is mapped over the old one.
    """

    cdef rag_map map
    cdef rag_source own_source
    cdef int mapped
    cdef readonly object fetcher
    cdef readonly str path

    def __cinit__(self, fetcher):
        cdef rag_fault fault
        self.fetcher, self.path, self.mapped = fetcher, fetcher.path, fetcher.descriptor
        check(rag_map_descriptor(self.mapped, &self.map, &fault), &fault, self.path)
        self.own_source.bytes = self.map.bytes
        self.own_source.fetch = fetch_pieces
        self.own_source.context = <void *>self
        self.own_source.kept = fetcher.kept
        self.source, self.size = &self.own_source, self.map.size

    def __dealloc__(self):
        rag_map_close(&self.map)

    cdef take(self, list pieces, bint near):
        cdef rag_fault fault
        self.fetcher.fetch(pieces, near)
        if self.mapped != self.fetcher.descriptor:
            check(rag_map_exchange(self.fetcher.descriptor, &self.map, &fault), &fault, self.path)
            self.mapped = self.fetcher.descriptor

    def header(self):
        """(major, minor, patch, big_endian) of the first eleven bytes, or FormatError."""
        cdef rag_fault fault
        cdef rag_header header
        self.fetch(0, min(RAG_HEADER_SIZE, self.map.size))
        check(rag_header_read(self.map.bytes, self.map.size, &header, &fault), &fault, self.path)
        return header.major, header.minor, header.patch, header.big_endian

    def fetch(self, uint64_t at, uint64_t size):
        """Fetch [at, at + size)."""
        self.take([(at, size, None)], False)

    def fetch_all(self):
        """Fetch all bytes."""
        self.fetch(0, self.map.size)

    def read(self, uint64_t at, uint64_t size):
        """Return a copy of a range, shorter at the end of the file."""
        size = min(size, self.map.size - min(at, self.map.size))
        self.fetch(at, size)
        return (<const char *>self.map.bytes)[at:at + size] if size else b""

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("a mapped RAGFile is read-only")
        self.fetch_all()
        PyBuffer_FillInfo(buffer, self, <void *>self.map.bytes, self.map.size, 1, flags)


cdef rag_status fetch_pieces(void *context, const rag_piece *pieces, size_t count, cbool near,
                             rag_fault *fault) noexcept with gil:
    cdef size_t i
    try:
        wanted = [(pieces[i].at, pieces[i].size, pieces[i].hash if pieces[i].hashed else None)
                  for i in range(count)]
        (<Remote>context).take(wanted, near)
    except BaseException as error:
        if fault != NULL:
            fault.status = RAG_SOURCE
            fault.what = "remote bytes could not be fetched"
            fault.section[0] = 0
            fault.os_error = 0
            fault.at = note_reason(error)
        return RAG_SOURCE
    return RAG_OK


def ready(wants):
    """Fetch [(section, at, size)] in as few requests as possible.

    Local sections and None are skipped. Size 0 fetches the block hashes of a section.
    """
    cdef Section section
    cdef dict by_source = {}
    for want in wants:
        section = want[0]
        if section is not None and section.guard.source != NULL:
            by_source.setdefault(<size_t>section.guard.source, []).append(want)
    for of_one in by_source.values():
        bring(of_one)


cdef bring(list wants):
    """Fetch the wanted ranges of sections of one file."""
    cdef rag_fault fault
    cdef rag_status status
    cdef Section section
    cdef size_t count = 0
    cdef rag_want *items = <rag_want *>calloc_wants(len(wants) + 1, sizeof(rag_want))
    if items == NULL:
        raise MemoryError
    try:
        for section, at, size in wants:
            items[count].guard = &section.guard
            items[count].at, items[count].size = at, size
            count += 1
        with nogil:
            status = rag_ready(items, count, &fault)
    finally:
        free_wants(items)
    check(status, &fault)
