# The container: Map, Replacement, Reader, FileWriter.


cdef bytes path_bytes(path):
    """Encode a path for C; a NUL is refused, because it would truncate the path."""
    raw = os.fsencode(path)
    if 0 in raw:
        raise ValueError(f"a path holds a null character: {path!r:.80}")
    return raw


_TAKEN = object()  # the path of a map that a writer hands over

cdef class Replacement
cdef class FileWriter


cdef class _Patience:
    """How long a writer waits for others. Ctrl-C ends the wait, like any call of Python."""

    cdef rag_wait wait
    cdef object error

    def __cinit__(self, double seconds):
        self.wait.seconds = seconds
        self.wait.goes_on = goes_on
        self.wait.context = <void *>self

    cdef int check(self) except -1:
        """Raise what ended the wait, if a signal did."""
        if self.error is not None:
            raise self.error
        return 0


cdef cbool goes_on(void *context) noexcept with gil:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        (<_Patience>context).error = error
        return False
    return True


cdef class Map:
    """A file mapped for reading; a buffer. Views keep it alive. With `opens`, the newest commit is
    opened as well, for the first Reader."""

    cdef rag_map map
    cdef rag_reader *opened
    cdef readonly str path

    def __cinit__(self, path, Replacement made=None, *, bint opens=False):
        cdef rag_fault fault
        self.path = "" if path is _TAKEN else os.fspath(path)
        name = path_bytes(self.path)
        cdef const char *raw = name
        cdef rag_status status
        if made is not None:  # the unnamed bytes written so far
            check(rag_file_map(made.alive(), &self.map, &fault), &fault, self.path)
            return
        if path is _TAKEN:  # take_reader fills it
            return
        with nogil:
            if opens:
                status = rag_reader_open_file(raw, &self.map, &self.opened, &fault)
            else:
                status = rag_map_open(raw, &self.map, &fault)
        check(status, &fault, self.path)

    def __dealloc__(self):
        rag_reader_close(self.opened)
        rag_map_close(&self.map)

    cdef rag_reader *take_opened(self) noexcept:
        """Return the reader of the newest commit, NULL if there is none or it was taken."""
        with critical_section(self):  # for free-threaded Python
            found, self.opened = self.opened, NULL
        return found

    def __len__(self):
        return self.map.size

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("a mapped RAGFile is read-only")
        PyBuffer_FillInfo(buffer, self, <void *>self.map.bytes, self.map.size, 1, flags)

    @property
    def identity(self):
        """(device, inode, size): changes when the path names another file or the file grew."""
        return self.map.device, self.map.inode, self.map.size

    @property
    def is_encrypted(self):
        """Whether the file begins as an encrypted one does, damaged or not."""
        return rag_is_encrypted(self.map.bytes, self.map.size)

    def read(self, uint64_t at, uint64_t size):
        """Return a copy of a range, shorter at the end of the file."""
        size = min(size, self.map.size - min(at, self.map.size))
        return (<const char *>self.map.bytes)[at:at + size] if size else b""

    def header(self):
        """(major, minor, patch, big_endian) of the first eleven bytes, or FormatError."""
        cdef rag_fault fault
        cdef rag_header header
        check(rag_header_read(self.map.bytes, self.map.size, &header, &fault), &fault, self.path)
        return header.major, header.minor, header.patch, header.big_endian


cdef class Replacement:
    """A file that is written next to `path` and renamed to it when complete: see rag_file_create."""

    cdef rag_file *file
    cdef readonly str path
    cdef readonly uint64_t size

    def __cinit__(self, path):
        cdef rag_fault fault
        cdef rag_status status
        self.path = os.fspath(path)
        # a link stays a link to the file that is replaced
        name = path_bytes(os.path.realpath(path))
        cdef const char *raw = name
        with nogil:
            status = rag_file_create(raw, &self.file, &fault)
        check(status, &fault, self.path)

    def __dealloc__(self):
        self.close()

    cdef rag_file *alive(self) except NULL:
        if self.file == NULL:
            raise ValueError(f"{self.path}: this writer was closed")
        return self.file

    cdef int put(self, uint64_t at, const uint8_t[::1] data) except -1:
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_file *file = self.alive()
        cdef size_t size = data.shape[0]
        if size == 0:
            return 0
        cdef const uint8_t *start = &data[0]
        with nogil:
            status = rag_file_write(file, at, start, size, &fault)
        return check(status, &fault, self.path)

    def write(self, const uint8_t[::1] data not None):
        """Append bytes."""
        self.put(self.size, data)
        self.size += data.shape[0]

    def write_at(self, uint64_t at, const uint8_t[::1] data not None):
        """Write bytes into reserved space."""
        self.put(at, data)

    def skip_to(self, uint64_t at):
        """Reserve space up to `at`, to be written later."""
        self.size = at

    def truncate(self, uint64_t size):
        """Truncate the file to `size`, or extend it with zeros."""
        cdef rag_fault fault
        check(rag_file_truncate(self.alive(), size, &fault), &fault, self.path)
        self.size = size

    def mapped(self):
        """Return the bytes that were written so far, as a buffer."""
        return Map(self.path, self)

    def publish(self, bint is_held=False):
        """Make the file durable under its final name, and close. is_held: the caller holds the lock
        of the replaced file."""
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_file *file = self.alive()
        with nogil:
            status = rag_file_publish(file, is_held, &fault)
        check(status, &fault, self.path)
        self.close()

    def close(self):
        """Release the lock; remove the file unless it was published."""
        rag_file_discard(self.file)
        self.file = NULL


def file_identity(path):
    """Return (device, inode, size) of the file at path."""
    cdef rag_fault fault
    cdef rag_map found
    name = path_bytes(path)
    check(rag_map_stat(name, &found, &fault), &fault, os.fspath(path))
    return found.device, found.inode, found.size


def seal_leaf(const uint8_t[::1] block not None):
    """Return the leaf of one block (spec/parts/signatures.md)."""
    cdef bytes out = bytes(RAG_LEAF)
    rag_seal_leaf(&block[0] if block.shape[0] else NULL, block.shape[0], <uint8_t *><char *>out)
    return out


def writer_pid(path):
    """Return the pid of the process that is writing to path, or 0."""
    return rag_writer_pid(path_bytes(path))


SegmentRecord = namedtuple("SegmentRecord", "number rows live generation", module=__name__)


cdef entry_as_dict(const rag_entry *e):
    return {
        "name": e.name.decode(), "segment": e.segment, "flags": e.flags, "generation": e.generation,
        "at": e.at, "size": e.size, "items": e.items, "extent": e.extent,
    }


cdef class Reader:
    """One generation of a 1.0 file over a buffer (a Map, or bytes), a Remote or a Decrypted."""

    cdef rag_reader *reader
    cdef const uint8_t[::1] bytes
    cdef readonly object owner
    cdef readonly str path
    cdef dict sections
    cdef list leaves

    def __cinit__(
        self, owner not None, uint64_t generation=0, FileWriter edited=None, Reader later=None
    ):
        cdef rag_fault fault
        cdef rag_status status
        cdef const uint8_t *start
        cdef size_t size
        cdef Fetched source
        self.owner = owner
        self.sections = {}
        self.leaves = []
        self.path = getattr(owner, "path", None)
        if later is not None:  # previous() opens it
            if not isinstance(owner, Fetched):
                self.bytes = later.bytes
            return
        if edited is not None:
            if not isinstance(owner, Fetched):
                self.bytes = owner
            self.reader = rag_writer_take_reader(edited.alive())
            if self.reader == NULL:
                raise ValueError(f"{self.path}: the writer's reader was taken before")
            return
        if isinstance(owner, Fetched):
            source = owner
            with nogil:
                status = rag_reader_open_source(source.source, source.size, generation,
                                                &self.reader, &fault)
        else:
            self.bytes = owner
            if generation == 0 and isinstance(owner, Map):
                self.reader = (<Map>owner).take_opened()
                if self.reader != NULL:
                    return
            start = &self.bytes[0] if self.bytes.shape[0] else NULL
            size = self.bytes.shape[0]
            with nogil:
                status = rag_reader_open(start, size, generation, &self.reader, &fault)
        check(status, &fault, self.path)

    def __dealloc__(self):
        rag_reader_close(self.reader)

    def previous(self):
        """Return a Reader of the commit before this one, over the same bytes."""
        cdef rag_fault fault
        cdef rag_status status
        cdef Reader found = Reader.__new__(Reader, self.owner, 0, None, self)
        with nogil:
            status = rag_reader_open_previous(self.reader, &found.reader, &fault)
        check(status, &fault, self.path)
        return found

    @property
    def is_elsewhere(self):
        """Whether the bytes are fetched on demand."""
        return isinstance(self.owner, Fetched) and self.owner.is_elsewhere

    @property
    def commit(self):
        """The record of the newest or chosen commit, as a dict."""
        cdef rag_commit c
        rag_reader_commit(self.reader, &c)
        return {
            "generation": c.generation, "created": c.created, "identity": c.identity,
                "start": c.start, "end": c.end,
            "previous": c.previous, "tail": c.tail, "lost_generation": c.lost_generation,
            "next_segment": c.next_segment, "read_only": c.read_only,
            "message": c.message[:c.message_size].decode("utf-8", "replace"),
        }

    @property
    def entries(self):
        cdef rag_commit c
        cdef rag_entry e
        cdef uint32_t i
        rag_reader_commit(self.reader, &c)
        found = []
        for i in range(c.entries):
            rag_reader_entry(self.reader, i, &e)
            found.append(entry_as_dict(&e))
        return found

    @property
    def segments(self):
        """The SegmentRecords, in order of number."""
        cdef rag_commit c
        cdef rag_segment_record s
        cdef uint32_t i
        rag_reader_commit(self.reader, &c)
        found = []
        for i in range(c.segments):
            rag_reader_segment(self.reader, i, &s)
            # as SegmentRecord(...), whose __new__ is Python
            found.append(tuple.__new__(SegmentRecord, (s.number, s.rows, s.live, s.generation)))
        return found

    def name_sets(self):
        """Return the sets of names that segments have, and the file: each once for neighbours of the
        same names."""
        cdef rag_commit c
        cdef rag_entry e
        cdef uint32_t group, start = 0, end = 0, at
        cdef list found = []
        rag_reader_commit(self.reader, &c)
        for group in range(c.segments + 1):
            if not rag_reader_group(self.reader, group, &start, &end):
                names = []
                for at in range(start, end):
                    rag_reader_entry(self.reader, rag_reader_in_order(self.reader, at), &e)
                    names.append(e.name.decode())
                found.append(frozenset(names))
        return found

    def kept_segments(self, Reader older not None):
        """Return the numbers of the segments that an older generation of this file has, unchanged."""
        cdef rag_commit c
        cdef rag_segment_record s
        cdef uint32_t i
        rag_reader_commit(self.reader, &c)
        cdef uint8_t[::1] kept = bytearray(c.segments + 1)
        rag_reader_kept(self.reader, older.reader, <cbool *>&kept[0])
        found = set()
        for i in range(c.segments):
            if kept[i]:
                rag_reader_segment(self.reader, i, &s)
                found.add(s.number)
        return found

    def entry(self, str name, uint32_t segment=0):
        """The entry as a dict, or None."""
        cdef rag_entry e
        cdef int64_t i = -1
        raw = name.encode()
        if 0 not in raw:
            i = rag_reader_find(self.reader, raw, segment)
        if i < 0:
            return None
        rag_reader_entry(self.reader, <uint32_t>i, &e)
        return entry_as_dict(&e)

    def items(self, str name, uint32_t segment=0):
        """Return the number of things in a section, 0 if it does not exist."""
        cdef rag_entry e
        raw = name.encode()
        cdef int64_t i = -1 if 0 in raw else rag_reader_find(self.reader, raw, segment)
        if i < 0:
            return 0
        rag_reader_entry(self.reader, <uint32_t>i, &e)
        return e.items

    def has(self, str name, uint32_t segment=0):
        """Whether a section exists, without reading it."""
        if (name, segment) in self.sections:
            return True
        raw = name.encode()
        return 0 not in raw and rag_reader_find(self.reader, raw, segment) >= 0

    def section(self, str name, uint32_t segment=0):
        """Return the Section, with lazy checksums, or None if it does not exist."""
        cdef rag_fault fault
        cdef Section section = self.sections.get((name, segment))
        cdef int64_t i
        if section is not None:
            return section
        raw = name.encode()
        i = -1 if 0 in raw else rag_reader_find(self.reader, raw, segment)
        if i < 0:
            return None
        section = Section.__new__(Section)
        check(rag_reader_guard(self.reader, <uint32_t>i, &section.guard, &fault), &fault, self.path)
        section.name = name
        section.owner = self
        return self.sections.setdefault((name, segment), section)

    def seal(self, str name, uint32_t segment, const uint8_t[::1] leaves not None):
        """Require each block of the section to match its leaf from now on, except in Sections
        returned earlier."""
        cdef rag_fault fault
        entry = self.entry(name, segment)
        if entry is None or leaves.shape[0] != RAG_LEAF * ((entry["size"] + 65535) // 65536):
            raise ValueError(f"{name} of segment {segment} has another number of blocks")
        if leaves.shape[0] == 0:
            return
        self.leaves.append(leaves)
        self.sections.pop((name, segment), None)
        cdef int64_t i = rag_reader_find(self.reader, name.encode(), segment)
        check(rag_reader_seal(self.reader, <uint32_t>i, &leaves[0], &fault), &fault, self.path)

    def recheck(self):
        """Verify the blocks again that were read so far; CorruptError if one was changed since."""
        cdef rag_fault fault
        cdef rag_status status
        with nogil:
            status = rag_reader_recheck(self.reader, &fault)
        check(status, &fault, self.path)

    def verify(self, bint full=True):
        """Check every byte against the format; return (faults, counts). A fault is (status, at,
        what, section)."""
        cdef rag_verdict verdict
        cdef FaultList faults = FaultList()
        if isinstance(self.owner, Fetched):
            self.owner.fetch_all()
        with nogil:
            rag_reader_verify(self.reader, full, collect_fault, <void *>faults, &verdict)
        if faults.is_short:  # unrelated to the file
            raise MemoryError
        if isinstance(self.owner, Decrypted):  # its commits begin in blocks of their own
            verdict.abandoned -= verdict.padding
        counts = {
            "sections": verdict.sections, "blocks": verdict.blocks, "commits": verdict.commits,
            "abandoned": verdict.abandoned, "faults": verdict.faults,
        }
        return faults.found, counts


cdef class FaultList:
    """The faults that a verification reported, and whether memory ran out."""

    cdef list found
    cdef bint is_short

    def __cinit__(self):
        self.found = []

    cdef int add(self, const rag_fault *fault) except -1:
        if len(self.found) < 1000:
            kind, section = STATUS[fault.status][0].__name__, <const char *>fault.section
            self.found.append((kind, fault.at, fault.what.decode(), section.decode()))
        return 0


cdef void collect_fault(void *context, const rag_fault *fault) noexcept nogil:
    with gil:
        if fault.status == RAG_MEMORY:
            (<FaultList>context).is_short = True
            return
        try:
            (<FaultList>context).add(fault)
        except MemoryError:
            (<FaultList>context).is_short = True


cdef section_name(str name):
    """Encode a name for C; a NUL is refused, because it would truncate the name."""
    raw = name.encode()
    if 0 in raw:
        raise ValueError("a section's name holds a null character")
    return raw


cdef class FileWriter:
    """A writer of one commit: create(path) starts a new file, edit(path) the next commit of an
    existing one. One thread."""

    cdef rag_writer *writer
    cdef readonly str path
    cdef Cipher cipher

    @staticmethod
    def create(path, new_keys=None):
        """Start a file. new_keys, (a header with key slots, a BlockCipher), encrypts it."""
        return open_writer(path, False, 0, new_keys)

    @staticmethod
    def edit(path, double wait=0, unlock=None):
        """Wait up to `wait` seconds for other writers. unlock(header) returns the BlockCipher of an
        encrypted file."""
        return open_writer(path, True, wait, unlock)

    def take_reader(self):
        """Return a Reader of the commit that is being edited, once."""
        cdef Map map = Map(_TAKEN)
        cdef rag_plain *plain = NULL
        map.map = rag_writer_take_map(self.alive(), &plain)
        map.path = self.path
        if plain == NULL:
            return Reader(map, 0, self)
        return Reader(decrypted_over(map, self.cipher, plain), 0, self)

    @property
    def keys(self):
        """What create() needs to encrypt another file alike; None for a plain file."""
        if self.cipher is None or self.cipher.box is None:
            return None
        return self.cipher.header, self.cipher.box

    def replacement(self):
        """Return a FileWriter of a new file, which replaces the one that is being edited."""
        cdef rag_fault fault
        cdef FileWriter other = FileWriter.__new__(FileWriter)
        other.path, other.cipher = self.path, self.cipher
        check(rag_writer_replace(self.alive(), &other.writer, &fault), &fault, self.path)
        return other

    def __dealloc__(self):
        rag_writer_discard(self.writer)

    cdef rag_writer *alive(self) except NULL:
        if self.writer == NULL:
            raise ValueError(f"{self.path}: this writer was closed")
        return self.writer

    def segment(self):
        """Allocate a segment number."""
        cdef rag_fault fault
        cdef uint32_t number
        check(rag_writer_segment(self.alive(), &number, &fault), &fault, self.path)
        return number

    def rows(self, uint32_t segment, uint64_t rows, live=None):
        """Set the number of rows of a segment and of its live rows."""
        cdef rag_fault fault
        cdef uint64_t alive = rows if live is None else live
        check(rag_writer_rows(self.alive(), segment, rows, alive, &fault), &fault, self.path)

    def forget(self, uint32_t segment):
        """Remove a segment with its sections."""
        rag_writer_forget(self.alive(), segment)

    @property
    def size(self):
        """The offset at which the next section begins."""
        return rag_writer_size(self.alive())

    def begin(self, str name, uint32_t segment=0, uint32_t flags=0):
        """Begin a section; return its offset in the file."""
        cdef rag_fault fault
        cdef uint64_t at = 0
        raw = section_name(name)
        check(rag_section_begin(self.alive(), raw, segment, flags, &at, &fault), &fault, self.path)
        return at

    def write(self, const uint8_t[::1] data not None):
        cdef rag_fault fault
        cdef rag_status status
        cdef const uint8_t *start
        cdef size_t size = data.shape[0]
        cdef rag_writer *writer = self.alive()
        if size == 0:
            return
        start = &data[0]
        with nogil:
            status = rag_section_write(writer, start, size, &fault)
        check(status, &fault, self.path)

    def end(self, uint64_t items=0):
        cdef rag_fault fault
        check(rag_section_end(self.alive(), items, &fault), &fault, self.path)

    def grain(self, uint32_t size):
        """Set the size of small blocks whose checksums are computed for the next sections; 0: none."""
        rag_writer_grain(self.alive(), size)

    def fine(self, uint32_t segment):
        """Write these checksums as a segment's rag.fine."""
        cdef rag_fault fault
        check(rag_writer_small_blocks(self.alive(), segment, &fault), &fault, self.path)

    def list_sections(self, uint32_t segment):
        """List the segment's sections, which were written last, in a rag.sections of its own."""
        cdef rag_fault fault
        check(rag_writer_list(self.alive(), segment, &fault), &fault, self.path)

    def parity(self, unsigned percent, bint anew=False):
        """Protect the commit's bytes by `percent` per cent of parity; with anew, all bytes of the
        file."""
        if percent > 100:
            raise ValueError(f"parity is 1 to 100 per cent, not {percent}")
        rag_writer_parity(self.alive(), percent, anew)

    def add(self, str name, data, uint32_t segment=0, uint32_t flags=0, uint64_t items=0):
        """Write a section from one buffer."""
        self.begin(name, segment, flags)
        self.write(data)
        self.end(items)

    def drop(self, str name, uint32_t segment=0):
        """Drop a section from the next commit."""
        cdef rag_fault fault
        raw = section_name(name)
        check(rag_section_drop(self.alive(), raw, segment, &fault), &fault, self.path)

    def commit(self, uint64_t created=0, str message=""):
        """Make the commit durable and visible, and close."""
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_writer *writer = self.alive()
        raw = message.encode("utf-8")
        cdef const char *text = raw
        cdef size_t size = len(raw)
        with nogil:
            status = rag_writer_commit(writer, created, text, size, &fault)
        check(status, &fault, self.path)
        self.close()

    def close(self):
        """Release the lock and discard everything that was not committed."""
        rag_writer_discard(self.writer)
        self.writer = NULL


cdef FileWriter open_writer(path, bint edit, double seconds, keys):
    cdef rag_fault fault
    cdef rag_status status
    cdef _Patience patience = _Patience(seconds)
    cdef rag_wait *wait = &patience.wait
    cdef FileWriter self = FileWriter.__new__(FileWriter)
    cdef rag_writer **out = &self.writer
    cdef const rag_cipher *cipher = NULL
    cdef rag_crypt_header header
    self.path = os.fspath(path)
    if keys is not None:
        self.cipher = Cipher(keys if edit else None)
        cipher = &self.cipher.cipher
    if keys is not None and not edit:
        self.cipher.header, self.cipher.box = keys
        fill_header(&header, self.cipher.header)
    # a link stays a link: the target is replaced
    name = path_bytes(os.path.realpath(path))
    cdef const char *raw = name
    with nogil:
        if edit:
            status = rag_writer_edit(raw, wait, cipher, out, &fault)
        elif cipher != NULL:
            status = rag_writer_create_encrypted(raw, cipher, &header, out, &fault)
        else:
            status = rag_writer_create(raw, out, &fault)
    patience.check()
    check(status, &fault, self.path)
    return self


def fine_sums(Section section not None):
    """Return (size of a small block, [(offset in the file, size, checksums)]) of rag.fine."""
    cdef rag_fault fault
    cdef rag_small_blocks fine
    cdef uint64_t at = 0, size = 0, sums_at = 0
    fine.guard = section.guard
    check(rag_small_blocks_open(&fine, &fault), &fault)
    found, raw = [], bytes(section)
    for i in range(fine.count):
        rag_small_blocks_entry(&fine, i, &at, &size, &sums_at)
        sums = array("Q", raw[sums_at:sums_at + 8 * ((size + fine.grain - 1) // fine.grain)])
        found.append((at, size, sums.tolist()))
    return fine.grain, found
