"""JSON values as bytes: json.dumps(value, separators=(",", ":")) in one pass, with null for numbers
that JSON lacks."""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.string cimport memcpy

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    char *PyOS_double_to_string(double value, char format, int precision, int flags, int *kind) except NULL
    const int Py_DTSF_ADD_DOT_0

cdef enum:
    DEEPEST = 200  # levels; json.dumps refuses much deeper ones
    ESCAPED = 12   # bytes at most of one character: two \uXXXX

cdef const char *HEX_DIGITS = b"0123456789abcdef"


cdef class _JsonText:
    """A buffer that grows. `others` turns a value of another kind into bytes."""

    cdef char *bytes
    cdef size_t size, room
    cdef object others

    def __dealloc__(self):
        PyMem_Free(self.bytes)

    cdef int need(self, size_t size) except -1:
        cdef size_t room = 2 * (self.size + size)
        if self.size + size <= self.room:
            return 0
        cdef char *grown = <char *>PyMem_Realloc(self.bytes, room)
        if grown == NULL:
            raise MemoryError
        self.bytes, self.room = grown, room
        return 0

    cdef int put(self, const char *bytes, size_t size) except -1:
        self.need(size)
        memcpy(self.bytes + self.size, bytes, size)
        self.size += size
        return 0

    cdef int put_bytes(self, bytes text) except -1:
        return self.put(<const char *>text, len(text))

    cdef int value(self, object value, int depth) except -1:
        if value is None:
            return self.put(b"null", 4)
        if value is True:
            return self.put(b"true", 4)
        if value is False:
            return self.put(b"false", 5)
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is float:
            return self.number(value)
        if kind is int:
            return self.put_bytes(str(value).encode("ascii"))
        if kind is dict and depth < DEEPEST:
            return self.members(value, depth + 1)
        if (kind is list or kind is tuple) and depth < DEEPEST:
            return self.elements(value, depth + 1)
        return self.put_bytes(self.others(value))

    cdef int number(self, double value) except -1:
        cdef char *digits
        if value - value != 0:
            return self.put(b"null", 4)
        digits = PyOS_double_to_string(value, c"r", 0, Py_DTSF_ADD_DOT_0, NULL)
        try:
            return self.put(digits, len(digits))
        finally:
            PyMem_Free(digits)

    cdef int elements(self, value, int depth) except -1:
        cdef bint is_first = True
        self.put(b"[", 1)
        for each in value:
            if not is_first:
                self.put(b",", 1)
            is_first = False
            self.value(each, depth)
        return self.put(b"]", 1)

    cdef int members(self, dict value, int depth) except -1:
        cdef bint is_first = True
        for name in value:
            if type(name) is not str:
                return self.put_bytes(self.others(value))
        self.put(b"{", 1)
        for name, each in value.items():
            if not is_first:
                self.put(b",", 1)
            is_first = False
            self.text(name)
            self.put(b":", 1)
            self.value(each, depth)
        return self.put(b"}", 1)

    cdef int text(self, str value) except -1:
        cdef Py_ssize_t size = 0
        cdef const unsigned char *at
        cdef const unsigned char *end
        cdef const unsigned char *plain
        try:
            at = <const unsigned char *>PyUnicode_AsUTF8AndSize(value, &size)
        except UnicodeEncodeError:  # a lone surrogate
            return self.put_bytes(self.others(value))
        end = at + size
        self.put(b'"', 1)
        while at < end:
            plain = at
            while at < end and 0x20 <= at[0] <= 0x7E and at[0] != c'"' and at[0] != c"\\":
                at += 1
            self.put(<const char *>plain, at - plain)
            if at < end:
                at += self.escape(at)
        return self.put(b'"', 1)

    cdef int escape(self, const unsigned char *at) except -1:
        """Write an escape for a character. Return its bytes in UTF-8, which is valid."""
        cdef uint32_t code = at[0]
        if code < 0x80:
            self.need(ESCAPED)
            self.short_escape(code)
            return 1
        if code < 0xE0:
            self.unit((code & 0x1F) << 6 | (at[1] & 0x3F))
            return 2
        if code < 0xF0:
            self.unit((code & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F))
            return 3
        code = ((code & 7) << 18 | (at[1] & 0x3F) << 12 | (at[2] & 0x3F) << 6 | (at[3] & 0x3F))
        code -= 0x10000
        self.unit(0xD800 | code >> 10)
        self.unit(0xDC00 | (code & 0x3FF))
        return 4

    cdef int short_escape(self, uint32_t code) except -1:
        cdef char letter = 0
        if code == c'"' or code == c"\\":
            letter = <char>code
        elif code == c"\n":
            letter = c"n"
        elif code == c"\r":
            letter = c"r"
        elif code == c"\t":
            letter = c"t"
        elif code == c"\b":
            letter = c"b"
        elif code == c"\f":
            letter = c"f"
        if letter == 0:
            return self.unit(code)
        self.bytes[self.size] = c"\\"
        self.bytes[self.size + 1] = letter
        self.size += 2
        return 0

    cdef int unit(self, uint32_t code) except -1:
        cdef char *to
        self.need(6)
        to = self.bytes + self.size
        to[0], to[1] = c"\\", c"u"
        to[2], to[3] = HEX_DIGITS[code >> 12], HEX_DIGITS[code >> 8 & 15]
        to[4], to[5] = HEX_DIGITS[code >> 4 & 15], HEX_DIGITS[code & 15]
        self.size += 6
        return 0


def json_bytes(value, others):
    """Return a JSON value as ASCII JSON. NaN and infinities become null. others(value) returns the
    bytes of values of other types than those of JSON, and of deeply nested ones."""
    cdef _JsonText made = _JsonText.__new__(_JsonText)
    made.others = others
    made.need(1 << 14)
    made.value(value, 0)
    return made.bytes[:made.size]
