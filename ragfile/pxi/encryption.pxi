# Encrypted files: the cipher of Python's side, and the plain bytes of a file that is decrypted as it is read.
from libc.string cimport memcpy, memset


cdef class Cipher:
    """Calls a BlockCipher, which `unlock(header)` returns when an encrypted file is opened."""

    cdef rag_cipher cipher
    cdef object unlock
    cdef object box
    cdef dict header

    def __cinit__(self, unlock):
        self.unlock = unlock
        self.cipher.unlock, self.cipher.random = unlock_file, fill_randomly
        self.cipher.encrypt, self.cipher.decrypt = encrypt_blocks, decrypt_blocks
        self.cipher.context = <void *>self


cdef rag_status note_error(object error, rag_fault *fault):
    if fault != NULL:
        fault.status, fault.os_error, fault.section[0] = RAG_SOURCE, 0, 0
        fault.what = "the cipher failed"
        fault.at = note_reason(error)
    return RAG_SOURCE


cdef rag_status unlock_file(void *context, const rag_crypt_header *header,
                            rag_fault *fault) noexcept with gil:
    cdef Cipher cipher = <Cipher>context
    try:
        cipher.header = header_as_dict(header)
        cipher.box = cipher.unlock(cipher.header)
    except BaseException as error:
        return note_error(error, fault)
    return RAG_OK


cdef rag_status fill_randomly(void *context, void *out, size_t size,
                              rag_fault *fault) noexcept with gil:
    try:
        made = os.urandom(size)
        memcpy(out, <const char *>made, size)
    except BaseException as error:
        return note_error(error, fault)
    return RAG_OK


cdef bytes copied(const uint8_t *start, size_t size):
    return (<const char *>start)[:size]


cdef rag_status encrypt_blocks(void *context, rag_crypt_block *blocks, size_t count,
                               rag_fault *fault) noexcept with gil:
    cdef rag_crypt_block *one
    cdef size_t i
    cdef bytes made
    try:
        encrypt = (<Cipher>context).box.encrypt
        for i in range(count):
            one = &blocks[i]
            made = encrypt(
                copied(one.salt, RAG_CRYPT_SALT), copied(one.nonce, RAG_CRYPT_NONCE),
                copied(one.in_, one.size), copied(one.aad, one.aad_size))
            if len(made) != one.size + RAG_CRYPT_TAG:
                raise ValueError("a cipher made a text of another length")
            memcpy(one.out, <const char *>made, len(made))
    except BaseException as error:
        return note_error(error, fault)
    return RAG_OK


cdef rag_status decrypt_blocks(void *context, rag_crypt_block *blocks, size_t count,
                               rag_fault *fault) noexcept with gil:
    cdef rag_crypt_block *one
    cdef size_t i
    try:
        decrypt = (<Cipher>context).box.decrypt
        for i in range(count):
            one = &blocks[i]
            made = decrypt(
                copied(one.salt, RAG_CRYPT_SALT), copied(one.nonce, RAG_CRYPT_NONCE),
                copied(one.in_, one.size + RAG_CRYPT_TAG), copied(one.aad, one.aad_size))
            one.is_good = made is not None and len(made) == one.size
            if one.is_good:
                memcpy(one.out, <const char *><bytes>made, one.size)
    except BaseException as error:
        return note_error(error, fault)
    return RAG_OK


cdef header_as_dict(const rag_crypt_header *header):
    cdef uint32_t i
    return {
        "stride": header.stride, "sequence": header.sequence,
        "id": copied(header.id, RAG_CRYPT_ID),
        "slots": [(copied(header.slots[i].salt, RAG_CRYPT_SALT),
                   copied(header.slots[i].nonce, RAG_CRYPT_NONCE),
                   copied(header.slots[i].wrapped, RAG_CRYPT_WRAPPED))
                  for i in range(header.count)],
    }


cdef int fill_header(rag_crypt_header *header, dict given) except -1:
    """Fill a header from a dict of header_as_dict; a new file's id and sequence do not matter."""
    memset(header, 0, sizeof(rag_crypt_header))
    slots = given["slots"]
    if not 1 <= len(slots) <= RAG_CRYPT_SLOTS:
        raise ValueError(f"a file has 1 to {RAG_CRYPT_SLOTS} keys, not {len(slots)}")
    header.stride, header.sequence = given["stride"], given.get("sequence", 0)
    header.count = len(slots)
    identity = given.get("id", bytes(RAG_CRYPT_ID))
    memcpy(header.id, <const char *><bytes>identity, RAG_CRYPT_ID)
    for i, (salt, nonce, wrapped) in enumerate(slots):
        if (len(salt), len(nonce), len(wrapped)) != (
                RAG_CRYPT_SALT, RAG_CRYPT_NONCE, RAG_CRYPT_WRAPPED):
            raise ValueError("a key slot has parts of other lengths")
        memcpy(header.slots[i].salt, <const char *><bytes>salt, RAG_CRYPT_SALT)
        memcpy(header.slots[i].nonce, <const char *><bytes>nonce, RAG_CRYPT_NONCE)
        memcpy(header.slots[i].wrapped, <const char *><bytes>wrapped, RAG_CRYPT_WRAPPED)
    return 0


def is_encrypted(const uint8_t[::1] data not None):
    """Whether bytes begin as an encrypted file does, damaged or not."""
    return rag_is_encrypted(&data[0] if data.shape[0] else NULL, data.shape[0])


def encryption_header(const uint8_t[::1] data not None, path=None):
    """Return the header of an encrypted file as a dict: stride, sequence, id, slots; no key is needed."""
    cdef rag_fault fault
    cdef rag_crypt_header header
    check(rag_crypt_header_read(&data[0] if data.shape[0] else NULL, data.shape[0], &header,
                                &fault), &fault, path)
    return header_as_dict(&header)


def write_key_slots(path, dict given, double wait=0):
    """Replace the key slots of a file by those of a header that was read from it."""
    cdef rag_fault fault
    cdef rag_status status
    cdef rag_crypt_header header
    cdef _Patience patience = _Patience(wait)
    cdef rag_wait *waiting = &patience.wait
    name = path_bytes(os.path.realpath(path))
    cdef const char *raw = name
    fill_header(&header, given)
    with nogil:
        status = rag_crypt_slots_write(raw, waiting, &header, &fault)
    patience.check()
    check(status, &fault, os.fspath(path))


cdef class Decrypted(Fetched):
    """The plain bytes of an encrypted Map, Remote or Copy, decrypted on first access; a buffer of them all."""

    cdef rag_plain *plain
    cdef Cipher cipher
    cdef readonly object owner
    cdef readonly str path

    def __cinit__(self, owner, unlock):
        cdef rag_fault fault
        cdef rag_status status
        cdef const uint8_t *start
        cdef uint64_t size
        cdef const rag_source *beneath = NULL
        self.owner = owner
        if owner is None:  # decrypted_over fills it
            return
        self.path, self.cipher = owner.path, Cipher(unlock)
        if isinstance(owner, Remote):
            start, size, beneath = (<Remote>owner).map.bytes, (<Remote>owner).size, (<Remote>owner).source
        elif isinstance(owner, Copy):
            start, size = (<Copy>owner).map.bytes, (<Copy>owner).map.size
        else:
            start, size = (<Map>owner).map.bytes, (<Map>owner).map.size
        with nogil:
            status = rag_plain_open(start, size, beneath, &self.cipher.cipher, &self.plain, &fault)
        check(status, &fault, self.path)
        self.source, self.size = rag_plain_source(self.plain), rag_plain_size(self.plain)

    def __dealloc__(self):
        rag_plain_close(self.plain)

    @property
    def is_elsewhere(self):
        """Whether the encrypted file is behind a URL."""
        return isinstance(self.owner, Remote)

    @property
    def fetcher(self):
        """The fetcher of an encrypted file behind a URL, else None."""
        return getattr(self.owner, "fetcher", None)

    @property
    def identity(self):
        """That of the encrypted file: (device, inode, size)."""
        return self.owner.identity

    def header(self):
        """(major, minor, patch, big_endian) of the first eleven bytes, or FormatError."""
        cdef rag_fault fault
        cdef rag_header header
        self.bring(0, min(RAG_HEADER_SIZE, self.size), False)
        check(rag_header_read(self.source.bytes, self.size, &header, &fault), &fault, self.path)
        return header.major, header.minor, header.patch, header.big_endian

    def fetch(self, uint64_t at, uint64_t size):
        """Decrypt [at, at + size); blocks that are not right stay zero."""
        self.bring(at, size, True)

    cdef bring(self, uint64_t at, uint64_t size, bint is_lenient):
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_piece piece
        memset(&piece, 0, sizeof(piece))
        piece.at, piece.size, piece.lenient = at, size, is_lenient
        with nogil:
            status = self.source.fetch(self.source.context, &piece, 1, False, &fault)
        check(status, &fault, self.path)

    def fetch_all(self):
        """Decrypt all bytes."""
        self.fetch(0, self.size)

    @property
    def has_parity(self):
        """Whether a trailer with parity ends the encrypted file."""
        return rag_plain_has_parity(self.plain)

    def outer_ends(self, uint64_t end):
        """Return where the blocks of a commit end in the encrypted file, and the trailer after them, if any."""
        cdef uint64_t blocks = rag_plain_outer_size(self.plain, end)
        return blocks, max(blocks, rag_plain_trailer_end(self.plain, blocks))

    def bad_blocks(self):
        """Return (blocks that are not right, the offset of the first one in the encrypted file)."""
        cdef rag_fault fault
        cdef rag_status status
        cdef uint64_t bad = 0, first = 0
        with nogil:
            status = rag_plain_check(self.plain, &bad, &first, &fault)
        check(status, &fault, self.path)
        return bad, first

    def read(self, uint64_t at, uint64_t size):
        """Return a copy of a range, shorter at the end of the file."""
        size = min(size, self.size - min(at, self.size))
        self.fetch(at, size)
        return (<const char *>self.source.bytes)[at:at + size] if size else b""

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("a mapped RAGFile is read-only")
        self.fetch_all()
        PyBuffer_FillInfo(buffer, self, <void *>self.source.bytes, self.size, 1, flags)


cdef Decrypted decrypted_over(Map map, Cipher cipher, rag_plain *plain):
    """Take over the bytes that a writer has decrypted."""
    cdef Decrypted found = Decrypted(None, None)
    found.owner, found.path, found.cipher, found.plain = map, map.path, cipher, plain
    found.source, found.size = rag_plain_source(plain), rag_plain_size(plain)
    return found
