# Repair from parity: Held, Copy, Repair.


cdef class Held:
    """A file that is locked against writers until close()."""

    cdef rag_file *file
    cdef readonly str path

    def __cinit__(self, path, double wait=0):
        cdef rag_fault fault
        cdef rag_status status
        cdef _Patience patience = _Patience(wait)
        self.path = os.fspath(path)
        name = path_bytes(os.path.realpath(path))
        cdef const char *raw = name
        with nogil:
            status = rag_file_edit(raw, &patience.wait, &self.file, &fault)
        patience.check()
        check(status, &fault, self.path)

    def __dealloc__(self):
        self.close()

    def close(self):
        """Release the lock."""
        rag_file_discard(self.file)
        self.file = NULL


cdef class Copy:
    """A writable copy of a file in memory, with space after the end; a buffer."""

    cdef rag_map map
    cdef readonly str path

    def __cinit__(self, path, uint64_t room=0):
        cdef rag_fault fault
        cdef rag_status status
        self.path = os.fspath(path)
        name = path_bytes(path)
        cdef const char *raw = name
        with nogil:
            status = rag_map_copy(raw, room, &self.map, &fault)
        check(status, &fault, self.path)

    def __dealloc__(self):
        rag_map_close(&self.map)

    def __len__(self):
        return self.map.size

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("only a repair changes this copy")
        PyBuffer_FillInfo(buffer, self, <void *>self.map.bytes, self.map.size, 1, flags)


cdef class Repair:
    """A repair from the parity in a file's bytes. Raises CorruptError if there is none."""

    cdef rag_repair *repair
    cdef readonly str path

    def __cinit__(self, mapped):
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_map map = (<Copy>mapped).map if isinstance(mapped, Copy) else (<Map?>mapped).map
        self.path = mapped.path
        with nogil:
            status = rag_repair_open(map.bytes, map.size, &self.repair, &fault)
        check(status, &fault, self.path)

    def __dealloc__(self):
        rag_repair_close(self.repair)

    @property
    def size(self):
        """The size of the repaired file."""
        return rag_repair_size(self.repair)

    @property
    def sections(self):
        """The number of parity sections that were used."""
        return rag_repair_sections(self.repair)

    def run(self, Copy copy not None, bint check_all=False):
        """Repair a copy of the file; return (restored ranges, ranges still damaged), each (at,
        size). check_all also compares parity that looks intact."""
        cdef rag_fault fault
        cdef rag_status status
        if copy.map.size < self.size:
            raise ValueError(f"{self.path}: changed while it was repaired")
        found = ([], [])
        cdef void *context = <void *>found
        with nogil:
            status = rag_repair_run(self.repair, <uint8_t *>copy.map.bytes, check_all,
                                    collect_damage, context, &fault)
        check(status, &fault, self.path)
        return found


cdef void collect_damage(void *context, const rag_damage *damage) noexcept nogil:
    with gil:
        (<tuple>context)[damage.lost].append((damage.at, damage.size))
