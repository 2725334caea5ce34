/* section_lists.c - the sections that lists in a file (rag.sections) name.
 *
 *   0     8   "RAGSECT1"
 *   8     4   u32 sections n
 *   12    4   u32 bytes of names N
 *   16  32n   u64 size, u64 items, u64 hash of the block hashes, u32 flags, u32 zero
 *   ...   N   names, each with a NUL
 *
 * A table of contents lists every section of its generation. With many small segments, most of a
 * small commit would be its table. So such a segment's entries are written once, into a section of
 * the segment, and tables have one entry for it. When a file is opened, the lists are read, and the
 * reader's entries become those of the table with the listed ones, in file order. All other code
 * sees the result alone. */
#include <stdlib.h>
#include <string.h>

#include "container/format.h"
#include "container/block_hashes.h"
#include "container/front_page.h"
#include "container/reader.h"
#include "ragfile/machine.h"
#include "shared/bytes.h"
#include "shared/fail.h"

struct list {
    struct rag_entry entry; /* of the list itself */
    const uint8_t *entries;
    const char *names;
    uint32_t count, names_size;
};

/* The table's entries with the listed ones, while they are put together. */
struct merged {
    const struct rag_reader *reader;
    uint8_t *copy;    /* of one list: its bytes must not change between their check and their use */
    uint8_t *entries; /* room for all of them, and the names after them */
    uint64_t *places;
    char *names;
    uint64_t room, names_room;
    uint32_t count, names_size;
};

enum { COPY_SIZE = LIST_MAX_SIZE + 2 * SECTION_ALIGN };

static const char TOO_MANY[] = "a generation has at most 65536 sections";

static bool is_list(const struct rag_entry *e) { return strcmp(e->name, LIST_NAME) == 0; }

static enum rag_status fail_list(const struct rag_entry *e, enum rag_status status,
                                 const char *what, struct rag_fault *fault) {
    rag_fail(fault, status, e->at, what);
    if (fault) strcpy(fault->section, LIST_NAME);
    return status;
}

/* Fetches all lists at once, if the bytes are elsewhere. */
static enum rag_status fetch_lists(const struct rag_reader *r, uint32_t lists,
                                   struct rag_fault *fault) {
    if (!r->source || !r->source->bytes) return RAG_OK;
    struct rag_piece *pieces = malloc(lists * sizeof *pieces);
    if (!pieces) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->commit.entries; i++) {
        struct rag_entry e;
        rag_reader_entry(r, i, &e);
        if (is_list(&e) && e.size <= LIST_MAX_SIZE)
            pieces[count++] = (struct rag_piece){.at = e.at, .size = e.extent};
    }
    const enum rag_status status =
        r->source->fetch(r->source->context, pieces, count, false, fault);
    free(pieces);
    return status;
}

/* Whether the bytes of an extent of one block match the hash of their entry. */
static bool is_intact(const struct rag_reader *r, uint32_t i, const uint8_t *bytes, uint64_t size) {
    const uint8_t *sum = bytes + align_up(size, 8);
    const uint8_t *entry = r->entries + (size_t)i * ENTRY_SIZE;
    return rag_hash(sum, 8) == load_u64(entry + ENTRY_HASH) &&
           rag_hash(bytes, (size_t)size) == load_u64(sum);
}

static enum rag_status copy_list(const struct merged *m, const struct rag_entry *e,
                                 struct rag_fault *fault) {
    const struct rag_reader *r = m->reader;
    const uint8_t *bytes;
    if (r->reads && r->reads->read(r->reads->context, e->at, m->copy, (size_t)e->extent))
        return RAG_OK;
    const enum rag_status status = rag_reader_need(r, e->at, e->extent, &bytes, fault);
    if (status == RAG_OK) memcpy(m->copy, bytes, (size_t)e->extent);
    return status;
}

/* Copies list i of the table and checks its size. */
static enum rag_status read_list(const struct merged *m, uint32_t i, struct list *list,
                                 struct rag_fault *fault) {
    const struct rag_reader *r = m->reader;
    const struct rag_entry *e = &list->entry;
    const uint8_t *bytes;
    rag_reader_entry(r, i, &list->entry);
    if (e->segment == 0 || !(e->flags & ENTRY_MUST_READ) || e->size < LIST_HEAD_SIZE ||
        e->size > LIST_MAX_SIZE)
        return fail_list(e, RAG_FORMAT, "not a list of a segment's sections", fault);
    const enum rag_status status = copy_list(m, e, fault);
    if (status != RAG_OK) return status;
    bytes = m->copy;
    if (!is_intact(r, i, bytes, e->size))
        return fail_list(e, RAG_CORRUPT, "block checksum does not match", fault);
    list->count = load_u32(bytes + LIST_COUNT);
    list->names_size = load_u32(bytes + LIST_NAMES);
    list->entries = bytes + LIST_HEAD_SIZE;
    if (memcmp(bytes, LIST_MAGIC, 8) != 0 || list->count == 0 || e->items != list->count ||
        LIST_HEAD_SIZE + (uint64_t)list->count * LISTED_SIZE + list->names_size != e->size)
        return fail_list(e, RAG_FORMAT, "the list of sections does not add up", fault);
    list->names = (const char *)list->entries + (size_t)list->count * LISTED_SIZE;
    return RAG_OK;
}

/* The names of a list must be valid and fill their bytes. */
static enum rag_status check_names(const struct list *list, struct rag_fault *fault) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *name = list->names + at, *end = memchr(name, 0, list->names_size - at);
        if (!end || !rag_name_valid(name, (size_t)(end - name)) || strcmp(name, LIST_NAME) == 0)
            return fail_list(&list->entry, RAG_FORMAT, "not the name of a listed section", fault);
        at = (uint32_t)(end + 1 - list->names);
    }
    return at == list->names_size
               ? RAG_OK
               : fail_list(&list->entry, RAG_FORMAT, "bytes after the last name of a list", fault);
}

/* The offset of the first section of a list: they end where the list begins. */
static enum rag_status find_first(const struct list *list, uint64_t *first,
                                  struct rag_fault *fault) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const uint8_t *raw = list->entries + (size_t)i * LISTED_SIZE;
        const uint64_t extent = rag_extent(load_u64(raw + LISTED_BYTES));
        if (load_u32(raw + LISTED_ZERO) != 0)
            return fail_list(&list->entry, RAG_FORMAT, "reserved bytes are not zero", fault);
        sum += extent; /* no overflow: both are below 2^62 */
        if (extent == 0 || sum > list->entry.at)
            return fail_list(&list->entry, RAG_CORRUPT, "a listed section lies outside the file",
                             fault);
    }
    *first = list->entry.at - sum;
    return RAG_OK;
}

/* The room is enough unless the file changes while it is read. */
static void put(struct merged *m, const uint8_t *entry, const char *name, uint64_t place) {
    const size_t size = strlen(name) + 1;
    if (m->count >= m->room || m->names_size + size > m->names_room) return;
    uint8_t *out = m->entries + (size_t)m->count * ENTRY_SIZE;
    memcpy(out, entry, ENTRY_SIZE);
    memcpy(m->names + m->names_size, name, size);
    store_u32(out + ENTRY_NAME, m->names_size);
    m->places[m->count++] = place;
    m->names_size += (uint32_t)size;
}

/* Whether the table has a later entry for a listed section. */
static enum rag_status is_replaced(const struct rag_reader *r, const struct list *list,
                                   const char *name, bool *replaced, struct rag_fault *fault) {
    struct rag_entry other;
    const int64_t i = rag_reader_find(r, name, list->entry.segment);
    *replaced = i >= 0;
    if (i < 0) return RAG_OK;
    rag_reader_entry(r, (uint32_t)i, &other);
    if (other.generation > list->entry.generation) return RAG_OK;
    return fail_list(&list->entry, RAG_FORMAT, "the table has a listed section, too", fault);
}

static enum rag_status put_listed(struct merged *m, const struct list *list,
                                  struct rag_fault *fault) {
    uint64_t at = 0;
    const char *name = list->names;
    enum rag_status status = find_first(list, &at, fault);
    for (uint32_t i = 0; status == RAG_OK && i < list->count; i++, name += strlen(name) + 1) {
        const uint8_t *raw = list->entries + (size_t)i * LISTED_SIZE;
        uint8_t entry[ENTRY_SIZE] = {0};
        bool replaced;
        store_u32(entry + ENTRY_FLAGS, load_u32(raw + LISTED_FLAGS));
        store_u32(entry + ENTRY_SEGMENT, list->entry.segment);
        store_u64(entry + ENTRY_GENERATION, list->entry.generation);
        store_u64(entry + ENTRY_AT, at);
        store_u64(entry + ENTRY_BYTES, load_u64(raw + LISTED_BYTES));
        store_u64(entry + ENTRY_ITEMS, load_u64(raw + LISTED_ITEMS));
        store_u64(entry + ENTRY_HASH, load_u64(raw + LISTED_HASH));
        at += rag_extent(load_u64(raw + LISTED_BYTES));
        status = is_replaced(m->reader, list, name, &replaced, fault);
        if (status == RAG_OK && !replaced) put(m, entry, name, list->entry.at);
    }
    return status;
}

/* Fills the room with the table's entries, each list after the sections that it has. */
static enum rag_status put_all(struct merged *m, struct rag_fault *fault) {
    const struct rag_reader *r = m->reader;
    enum rag_status status = RAG_OK;
    for (uint32_t i = 0; status == RAG_OK && i < r->commit.entries; i++) {
        struct rag_entry e;
        struct list list;
        rag_reader_entry(r, i, &e);
        if (is_list(&e)) status = read_list(m, i, &list, fault);
        if (status == RAG_OK && is_list(&e)) status = check_names(&list, fault);
        if (status == RAG_OK && is_list(&e)) status = put_listed(m, &list, fault);
        if (status == RAG_OK)
            put(m, r->entries + (size_t)i * ENTRY_SIZE, e.name, rag_entry_place(r, i));
    }
    return status;
}

/* Counts the entries and the bytes of names of the table and of its lists, which bounds the room:
 * the table replaces at most as many listed sections as it has entries. */
static enum rag_status count_all(struct merged *m, struct rag_fault *fault) {
    const struct rag_reader *r = m->reader;
    m->room = r->commit.entries;
    m->names_room = r->names_size;
    for (uint32_t i = 0; i < r->commit.entries; i++) {
        struct rag_entry e;
        struct list list;
        rag_reader_entry(r, i, &e);
        if (!is_list(&e)) continue;
        const enum rag_status status = read_list(m, i, &list, fault);
        if (status != RAG_OK) return status;
        m->room += list.count;
        m->names_room += list.names_size;
        if (m->room > ENTRIES_MAX + r->commit.entries)
            return fail_list(&e, RAG_LIMIT, TOO_MANY, fault);
    }
    return RAG_OK;
}

static enum rag_status make_room(struct merged *m, struct rag_fault *fault) {
    m->entries = malloc((size_t)(m->room * ENTRY_SIZE + m->names_room));
    m->places = malloc((size_t)m->room * sizeof *m->places);
    if (!m->entries || !m->places) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    m->names = (char *)m->entries + m->room * ENTRY_SIZE;
    return RAG_OK;
}

static void take_entries(struct rag_reader *r, const struct merged *m) {
    r->own_entries = m->entries;
    r->own_places = m->places;
    r->entries = m->entries;
    r->names = (const uint8_t *)m->names;
    r->names_size = m->names_size;
    r->commit.entries = m->count;
}

static enum rag_status merge(struct rag_reader *r, struct rag_fault *fault) {
    struct merged m = {.reader = r, .copy = malloc(COPY_SIZE)};
    enum rag_status status = m.copy ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory");
    if (status == RAG_OK) status = count_all(&m, fault);
    if (status == RAG_OK) status = make_room(&m, fault);
    if (status == RAG_OK) status = put_all(&m, fault);
    if (status == RAG_OK && m.count > ENTRIES_MAX)
        status = rag_fail(fault, RAG_LIMIT, rag_entry_place(r, 0), TOO_MANY);
    free(m.copy);
    if (status == RAG_OK) {
        take_entries(r, &m);
    } else {
        free(m.entries);
        free(m.places);
    }
    return status;
}

enum rag_status rag_lists_read(struct rag_reader *r, struct rag_fault *fault) {
    uint32_t lists = 0;
    for (uint32_t i = 0; i < r->commit.entries; i++) {
        struct rag_entry e;
        rag_reader_entry(r, i, &e);
        lists += is_list(&e);
    }
    if (lists == 0) return RAG_OK;
    const enum rag_status status = fetch_lists(r, lists, fault);
    return status == RAG_OK ? merge(r, fault) : status;
}
