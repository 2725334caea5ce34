/* directory.c - the start of every RAGFile: magic, version, byte order and the text directory.
 *
 *   0     7  "RAGFILE"
 *   7     3  u8 major, minor, patch
 *   10    1  0 little-endian, 1 big-endian
 *   11    D  entry ( 00 entry )*       entry = name "-(" start "," end ")"
 *   11+D  1  00
 *
 * The length of the directory is not stored: it ends where its first section starts. Sections
 * follow one another in the order of the directory, separated by one NUL. So each entry determines
 * where the next must start, and a file has only one valid reading.
 *
 * The reference dialect is that of the format's first script: every entry is followed by a NUL,
 * ends are exclusive, starts point at the first pair, and the directory overwrites the bytes
 * from offset 11. */
#include <stdlib.h>

#include "ragfile/pairs.h"
#include "container/front_page.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static const uint8_t magic[7] = {'R', 'A', 'G', 'F', 'I', 'L', 'E'};

struct cursor {
    const uint8_t *bytes;
    uint64_t at, end;
};

static bool take(struct cursor *cursor, uint8_t c) {
    if (cursor->at >= cursor->end || cursor->bytes[cursor->at] != c) return false;
    cursor->at++;
    return true;
}

static bool take_number(struct cursor *cursor, uint64_t *number) {
    uint64_t from = cursor->at, value = 0;
    for (; cursor->at < cursor->end && cursor->at - from < 20; cursor->at++) {
        unsigned digit = cursor->bytes[cursor->at] - (unsigned)'0';
        if (digit > 9) break;
        if (mul_overflows(value, 10, &value) || add_overflows(value, digit, &value)) {
            cursor->at = from;
            return false;
        }
    }
    *number = value;
    return cursor->at > from;
}

static enum rag_status read_entry(struct cursor *cursor, struct rag_strategy *entry,
                                  struct rag_fault *fault) {
    size_t size = 0;
    while (cursor->at < cursor->end && size < RAG_NAME_MAX &&
           is_name_byte(cursor->bytes[cursor->at]))
        entry->name[size++] = (char)cursor->bytes[cursor->at++];
    entry->name[size] = 0;
    if (size == 0)
        return rag_fail(fault, RAG_FORMAT, cursor->at,
                        "a directory entry must start with a strategy name");
    if (!take(cursor, '-') || !take(cursor, '(') || !take_number(cursor, &entry->start) ||
        !take(cursor, ',') || !take_number(cursor, &entry->end) || !take(cursor, ')'))
        return rag_fail(fault, RAG_FORMAT, cursor->at,
                        "a directory entry must read name-(start,end)");
    return RAG_OK;
}

static enum rag_status read_header(const uint8_t *bytes, uint64_t size,
                                   struct rag_directory *directory, struct rag_fault *fault) {
    struct rag_header header;
    enum rag_status status = rag_header_read(bytes, size, &header, fault);
    if (status) return status;
    directory->major = header.major;
    directory->minor = header.minor;
    directory->patch = header.patch;
    directory->big_endian = header.big_endian;
    return RAG_OK;
}

static enum rag_status append(struct rag_directory *directory, const struct rag_strategy *entry,
                              uint64_t at, struct rag_fault *fault) {
    if (directory->count == RAG_ENTRIES_MAX)
        return rag_fail(fault, RAG_LIMIT, at, "a directory has at most 1024 entries");
    for (uint32_t i = 0; i < directory->count; i++)
        if (strcmp(directory->entries[i].name, entry->name) == 0)
            return rag_fail(fault, RAG_FORMAT, at, "two directory entries have the same name");
    if ((directory->count & (directory->count - 1)) == 0) { /* 0, 1, 2, 4, ...: time to double */
        size_t room = directory->count;
        if (!rag_grow(&directory->entries, &room, 2 * room + 1, sizeof *directory->entries))
            return rag_fail(fault, RAG_MEMORY, at, "no memory for the directory");
    }
    directory->entries[directory->count++] = *entry;
    return RAG_OK;
}

/* The start of every section but the first is known before its entry is read. All sections must
 * end inside the file. */
static enum rag_status check_entry(const struct rag_directory *directory,
                                   const struct rag_strategy *entry, const struct cursor *cursor,
                                   uint64_t size, uint64_t at, struct rag_fault *fault) {
    const struct rag_strategy *before =
        directory->count ? &directory->entries[directory->count - 1] : NULL;
    uint64_t first = before ? directory->entries[0].start : entry->start;
    if (first > RAG_HEADER_SIZE + (uint64_t)RAG_DIRECTORY_MAX + 1)
        return rag_fail(fault, RAG_LIMIT, at, "a directory has at most 65536 bytes");
    if (cursor->at + 1 > first)
        return rag_fail(fault, RAG_FORMAT, at, "the directory runs into the first section");
    if (before &&
        entry->start !=
            before->end + 2) /* no overflow: before->end < size, and size < 2^63 in memory */
        return rag_fail(fault, RAG_FORMAT, at,
                        "a section must start two bytes after the end of the one before");
    if (entry->end >= size)
        return rag_fail(fault, RAG_CORRUPT, at, "a section reaches beyond the end of the file");
    if (entry->end + 1 < entry->start)
        return rag_fail(fault, RAG_FORMAT, at, "a section ends before it starts");
    return RAG_OK;
}

static enum rag_status read_entries(struct cursor *cursor, uint64_t size,
                                    struct rag_directory *directory, struct rag_fault *fault) {
    for (;;) {
        struct rag_strategy entry;
        uint64_t at = cursor->at;
        enum rag_status status = read_entry(cursor, &entry, fault);
        if (!status) status = check_entry(directory, &entry, cursor, size, at, fault);
        if (!status) status = append(directory, &entry, at, fault);
        if (status) return status;
        directory->size = (uint32_t)(cursor->at - RAG_HEADER_SIZE);
        if (!take(cursor, 0))
            return rag_fail(fault, RAG_FORMAT, cursor->at,
                            "a directory entry must be followed by one NUL");
        if (cursor->at == directory->entries[0].start) return RAG_OK;
    }
}

/* One NUL separates two sections: at end + 1, which is inside the file for all but the last. */
static enum rag_status check_gaps(const uint8_t *bytes, const struct rag_directory *directory,
                                  struct rag_fault *fault) {
    for (uint32_t i = 0; i + 1 < directory->count; i++) {
        uint64_t gap = directory->entries[i].end + 1;
        if (bytes[gap] != 0)
            return rag_fail(fault, RAG_FORMAT, gap, "one NUL must lie between two sections");
    }
    return RAG_OK;
}

static struct cursor directory_cursor(const uint8_t *bytes, uint64_t size) {
    uint64_t limit = RAG_HEADER_SIZE + (uint64_t)RAG_DIRECTORY_MAX + 1;
    return (struct cursor){bytes, RAG_HEADER_SIZE, size < limit ? size : limit};
}

enum rag_status rag_directory_read(const uint8_t *bytes, uint64_t size,
                                   struct rag_directory *directory, struct rag_fault *fault) {
    *directory = (struct rag_directory){0};
    enum rag_status status = read_header(bytes, size, directory, fault);
    if (status) return status;
    struct cursor cursor = directory_cursor(bytes, size);
    if (cursor.at == cursor.end || bytes[cursor.at] == 0) return RAG_OK; /* no strategies */
    status = read_entries(&cursor, size, directory, fault);
    if (!status) status = check_gaps(bytes, directory, fault);
    if (status) rag_directory_free(directory);
    return status;
}

/* Reads one entry of the reference dialect; false after the last one, where older bytes begin. Its
 * section can reach beyond the end of a file that was cut off. */
static bool read_reference_entry(struct cursor *cursor, const struct rag_directory *directory,
                                 struct rag_strategy *entry) {
    struct cursor ahead = *cursor;
    uint64_t earliest =
        directory->count ? directory->entries[directory->count - 1].end + 1 : RAG_HEADER_SIZE;
    if (read_entry(&ahead, entry, NULL) != RAG_OK || !take(&ahead, 0)) return false;
    if (entry->start < earliest || entry->end < entry->start) return false;
    entry->end--; /* exclusive on disk; an empty section gets start - 1 as in the strict reading */
    *cursor = ahead;
    return true;
}

enum rag_status rag_directory_read_reference(const uint8_t *bytes, uint64_t size,
                                             struct rag_directory *directory,
                                             struct rag_fault *fault) {
    *directory = (struct rag_directory){0};
    enum rag_status status = read_header(bytes, size, directory, fault);
    if (status) return status;
    struct cursor cursor = directory_cursor(bytes, size);
    struct rag_strategy entry;
    for (uint64_t at = cursor.at; !status && read_reference_entry(&cursor, directory, &entry);
         at = cursor.at)
        status = entry.end + 1 > size ? rag_fail(fault, RAG_CORRUPT, at,
                                                 "a section reaches beyond the end of the file")
                                      : append(directory, &entry, at, fault);
    if (!status && directory->count == 0 && size > RAG_HEADER_SIZE)
        status = rag_fail(fault, RAG_FORMAT, RAG_HEADER_SIZE,
                          "no directory entry of the reference dialect");
    if (status) rag_directory_free(directory);
    else directory->size = (uint32_t)(cursor.at - RAG_HEADER_SIZE);
    return status;
}

void rag_directory_free(struct rag_directory *directory) {
    free(directory->entries);
    directory->entries = NULL;
    directory->count = 0;
}

/* Writes the decimal digits of value, at least `least`, to the end of out[20]; returns the
 * first. */
static const uint8_t *decimal(uint64_t value, int least, uint8_t out[20]) {
    int at = 20;
    do out[--at] = (uint8_t)('0' + value % 10), value /= 10;
    while (value || 20 - at < least);
    return out + at;
}

static size_t decimal_size(uint64_t value, int least) {
    uint8_t digits[20];
    return (size_t)(digits + 20 - decimal(value, least, digits));
}

static uint64_t directory_size(const struct rag_directory *directory, int digits) {
    uint64_t size = directory->count ? directory->count - 1 : 0;
    for (uint32_t i = 0; i < directory->count; i++) {
        const struct rag_strategy *entry = &directory->entries[i];
        size += strlen(entry->name) + 4 + decimal_size(entry->start, digits) +
                decimal_size(entry->end, digits);
    }
    return size;
}

uint64_t rag_directory_place(struct rag_directory *directory, int digits) {
    if (directory->count == 0) return RAG_HEADER_SIZE + 1;
    /* The size grows with the number of digits of a number that grows with the size: from below,
     * this settles at the least solution after at most as many rounds as there are digits. */
    struct rag_strategy *first = &directory->entries[0];
    for (first->start = 0;;) {
        uint64_t start = RAG_HEADER_SIZE + directory_size(directory, digits) + 1;
        if (start == first->start) return start;
        first->start = start;
    }
}

static uint8_t *put(uint8_t *out, const void *bytes, size_t size) {
    memcpy(out, bytes, size);
    return out + size;
}

static uint8_t *put_number(uint8_t *out, uint64_t value, int digits) {
    uint8_t text[20];
    const uint8_t *from = decimal(value, digits, text);
    return put(out, from, (size_t)(text + 20 - from));
}

enum rag_status rag_directory_write(const struct rag_directory *directory, int digits, uint8_t *out,
                                    size_t capacity, size_t *size, struct rag_fault *fault) {
    uint64_t text = directory_size(directory, digits);
    if (directory->count > RAG_ENTRIES_MAX || text > RAG_DIRECTORY_MAX ||
        capacity < RAG_HEADER_SIZE + text + 1)
        return rag_fail(fault, RAG_LIMIT, text, "the directory does not fit");
    const uint8_t tail[4] = {directory->major, directory->minor, directory->patch,
                             directory->big_endian};
    uint8_t *at = put(put(out, magic, sizeof magic), tail, sizeof tail);
    for (uint32_t i = 0; i < directory->count; i++) {
        const struct rag_strategy *entry = &directory->entries[i];
        if (i) *at++ = 0;
        at = put(put(at, entry->name, strlen(entry->name)), "-(", 2);
        at = put(put_number(at, entry->start, digits), ",", 1);
        at = put(put_number(at, entry->end, digits), ")", 1);
    }
    *at++ = 0;
    *size = (size_t)(at - out);
    return RAG_OK;
}
