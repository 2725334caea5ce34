/* reader.c - opens and validates one generation of a 1.0 file.
 *
 * Opening walks back from the end of the file in steps of 64 bytes to the newest footer whose hash
 * and table of contents are intact. It then validates the table's structure once: exact sizes,
 * known flags, valid names, ordered extents inside the file that do not overlap, consistent
 * segments. Afterwards the accessors cannot fail. Section contents are verified lazily, block by
 * block, through guards.
 *
 * The work of opening is bounded: each candidate footer costs at most the hash of its table, and
 * all together at most the file's size plus 64 MiB. Every byte is requested through `need`
 * before it is read, so that a file can also be fetched on demand. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "container/format.h"
#include "container/block_hashes.h"
#include "container/front_page.h"
#include "container/reader.h"
#include "container/sections.h"
#include "parity/shard.h"
#include "shared/bytes.h"
#include "shared/fail.h"

static const uint8_t magic[7] = {'R', 'A', 'G', 'F', 'I', 'L', 'E'};

enum rag_status rag_header_read(const uint8_t *bytes, size_t size, struct rag_header *header,
                                struct rag_fault *fault) {
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return rag_fail(fault, RAG_NOT_RAGFILE, 0, "the first seven bytes are not RAGFILE");
    if (size < HEADER_SIZE)
        return rag_fail(fault, RAG_CORRUPT, size, "the file ends inside its header");
    *header = (struct rag_header){bytes[7], bytes[8], bytes[9], bytes[10] == 1};
    if (bytes[7] > 1) return rag_fail(fault, RAG_VERSION, 7, "written by a newer major version");
    if (bytes[10] > 1)
        return rag_fail(fault, RAG_FORMAT, 10, "byte order is neither 0 (little) nor 1 (big)");
    return RAG_OK;
}

uint64_t rag_extent(uint64_t size) {
    if (size > FILE_SIZE_MAX) return 0;
    uint64_t blocks = (size + RAG_BLOCK - 1) / RAG_BLOCK;
    return align_up(align_up(size, 8) + 8 * blocks + 1, SECTION_ALIGN);
}

bool rag_name_valid(const char *name, size_t size) {
    if (size == 0 || size > NAME_MAX_SIZE) return false;
    while (size > 0 && is_name_byte((uint8_t)*name)) size--, name++;
    return size == 0;
}

enum rag_status rag_reader_need(const struct rag_reader *r, uint64_t at, uint64_t size,
                                const uint8_t **bytes, struct rag_fault *fault) {
    const struct rag_piece piece = {.at = at, .size = size, .lenient = true};
    const struct rag_source *source = r->source;
    if (source && !source->bytes) return source->whole(source->context, at, size, bytes, fault);
    *bytes = r->bytes + at;
    return source ? source->fetch(source->context, &piece, 1, false, fault) : RAG_OK;
}

/* ----------------------------------------------------------------------------------- front page */

struct front {
    uint64_t toc_at, toc_size, identity, footer_at;
    bool read_only;
};

/* A file that is shorter than its first commit, as a copy that was interrupted is. */
static enum rag_status fail_cut(struct rag_fault *fault, uint64_t at, uint64_t has,
                                uint64_t wants) {
    rag_fail(fault, RAG_CORRUPT, at, "the file was cut off");
    if (fault) fault->has = has;
    if (fault) fault->wants = wants;
    return RAG_CORRUPT;
}

static enum rag_status read_front(const uint8_t *bytes, uint64_t size, struct front *front,
                                  struct rag_fault *fault) {
    struct rag_header header;
    enum rag_status status =
        rag_header_read(bytes, size < FRONT_SIZE ? (size_t)size : FRONT_SIZE, &header, fault);
    if (status != RAG_OK) return status;
    if (header.major != 1) return rag_fail(fault, RAG_VERSION, 7, "not a 1.x file");
    if (header.big_endian) return rag_fail(fault, RAG_FORMAT, 10, "a 1.x file is little-endian");
    if (size < FRONT_SIZE + FOOTER_SIZE)
        return fail_cut(fault, size, size, FRONT_SIZE + FOOTER_SIZE);
    const uint8_t *super = bytes + SUPER_AT;
    if (memcmp(super, SUPER_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_CORRUPT, SUPER_AT, "no superblock");
    if (load_u64(super + SUPER_HASH) != rag_hash(bytes, SUPER_AT + SUPER_HASH))
        return rag_fail(fault, RAG_CORRUPT, SUPER_AT + SUPER_HASH,
                        "front page checksum does not match");
    if (load_u64(super + SUPER_READ_FEATURES) != 0)
        return rag_fail(fault, RAG_VERSION, SUPER_AT + SUPER_READ_FEATURES,
                        "needs a feature that this version does not have");
    for (size_t at = SUPER_CREATED + 8; at < SUPER_SIZE; at += 8)
        if (at != SUPER_HASH && load_u64(super + at) != 0)
            return rag_fail(fault, RAG_FORMAT, SUPER_AT + at, "reserved bytes are not zero");
    *front = (struct front){load_u64(super + SUPER_TOC_AT), load_u64(super + SUPER_TOC_SIZE),
                            load_u64(super + SUPER_TOC_HASH), load_u64(super + SUPER_FOOTER_AT),
                            load_u64(super + SUPER_WRITE_FEATURES) != 0};
    if (front->footer_at % FOOTER_SIZE != 0 || front->footer_at < FRONT_SIZE ||
        front->footer_at > UINT64_MAX - FOOTER_SIZE)
        return rag_fail(fault, RAG_CORRUPT, SUPER_AT + SUPER_FOOTER_AT,
                        "the first commit lies outside the file");
    if (front->footer_at > size - FOOTER_SIZE)
        return fail_cut(fault, SUPER_AT + SUPER_FOOTER_AT, size, front->footer_at + FOOTER_SIZE);
    return RAG_OK;
}

/* -------------------------------------------------------------------------------------- footers */

bool rag_footer_read(const uint8_t *f, uint64_t at, uint64_t identity, struct footer *footer) {
    if (memcmp(f, FOOTER_MAGIC, 8) != 0 || load_u64(f + FOOTER_HASH) != rag_hash(f, FOOTER_HASH))
        return false;
    *footer = (struct footer){at,
                              load_u64(f + FOOTER_GENERATION),
                              load_u64(f + FOOTER_TOC_AT),
                              load_u64(f + FOOTER_TOC_SIZE),
                              load_u64(f + FOOTER_TOC_HASH),
                              load_u64(f + FOOTER_PREVIOUS)};
    if (load_u64(f + FOOTER_IDENTITY) != identity || footer->generation == 0) return false;
    if (footer->toc_size < TOC_HEAD_SIZE || footer->toc_size > TOC_SIZE_MAX ||
        footer->toc_at < FRONT_SIZE)
        return false;
    if (footer->toc_at % SECTION_ALIGN != 0 || footer->toc_at > at) return false;
    if (align_up(footer->toc_size + 1, SECTION_ALIGN) != at - footer->toc_at) return false;
    if ((footer->generation == 1) != (footer->previous == 0)) return false;
    if (footer->generation == 1 && footer->toc_hash != identity) return false;
    return footer->previous % FOOTER_SIZE == 0 && footer->previous < footer->toc_at;
}

void rag_footer_write(uint8_t *f, const struct rag_footing *footing) {
    memcpy(f, FOOTER_MAGIC, 8);
    store_u64(f + FOOTER_GENERATION, footing->generation);
    store_u64(f + FOOTER_TOC_AT, footing->toc_at);
    store_u64(f + FOOTER_TOC_SIZE, footing->toc_size);
    store_u64(f + FOOTER_TOC_HASH, footing->toc_hash);
    store_u64(f + FOOTER_PREVIOUS, footing->previous);
    store_u64(f + FOOTER_IDENTITY,
              footing->generation == 1 ? footing->toc_hash : footing->identity);
    store_u64(f + FOOTER_HASH, rag_hash(f, FOOTER_HASH));
}

/* Whether the table of contents matches the footer. */
static enum rag_status check_toc(const struct rag_reader *r, const struct footer *footer,
                                 bool *holds, struct rag_fault *fault) {
    const uint8_t *toc;
    const enum rag_status status =
        rag_reader_need(r, footer->toc_at, footer->toc_size, &toc, fault);
    *holds = status == RAG_OK && rag_hash(toc, (size_t)footer->toc_size) == footer->toc_hash;
    return status;
}

/* Whether 64 bytes are a damaged footer: magic or identity is intact, the rest is not. A torn
 * commit leaves none, because a footer is written last, alone, after its table is durable, and
 * never crosses a disk sector. A damaged disk does. */
static bool footer_remains(const uint8_t *f, uint64_t identity) {
    return memcmp(f, FOOTER_MAGIC, 8) == 0 || load_u64(f + FOOTER_IDENTITY) == identity;
}

/* The end of a file, from `from` on, which is searched for footers. */
struct window {
    uint64_t from;
    const uint8_t *bytes;
};

/* Whether `at` holds the head of a parity shard of a later commit, in a file that extends to the
 * end of that commit: then its footer was written and is lost. */
static bool shard_remains(const struct rag_reader *r, const uint8_t *bytes, uint64_t at,
                          const struct footer *found) {
    struct shard shard;
    const struct parity *p = &shard.parity;
    return at + SHARD_HEAD_SIZE <= r->size && memcmp(bytes, SHARD_MAGIC, 8) == 0 &&
           rag_shard_read(bytes, at, &shard) && p->generation > found->generation &&
           p->previous >= found->at && p->end <= r->size;
}

/* Whether the bytes after the found footer contain remains of a later one. */
static bool is_followed(const struct rag_reader *r, const struct window *window,
                        const struct front *front, const struct footer *found) {
    for (uint64_t at = found->at + FOOTER_SIZE; at <= r->size - FOOTER_SIZE; at += FOOTER_SIZE) {
        const uint8_t *f = window->bytes + (at - window->from);
        if (footer_remains(f, front->identity) &&
            (load_u64(f + FOOTER_PREVIOUS) == found->at ||
             load_u64(f + FOOTER_GENERATION) == found->generation + 1))
            return true;
        if (shard_remains(r, f, at, found)) return true;
    }
    return false;
}

/* The first request at the end of the file, and before an older footer. Tables are small. */
enum { WINDOW = 1 << 18, WINDOW_LENT = 1 << 14, WINDOW_MAX = 1 << 24, TABLE_GUESS = 1 << 16 };

/* Extends the window at the file's end, by doubling it, to at or below `down`. */
static enum rag_status widen(const struct rag_reader *r, uint64_t at, struct window *window,
                             struct rag_fault *fault) {
    const uint64_t end = window->from, size = r->size - end;
    const uint64_t least = r->bytes ? WINDOW : WINDOW_LENT;
    if (r->source && !r->source->is_near && size >= WINDOW_MAX)
        return rag_fail(
            fault, RAG_LIMIT, end,
            "no commit in the last 16 MiB of a file behind a URL: download it, or compact "
            "it where it is kept");
    window->from = size == 0    ? r->size - (r->size < least ? r->size : least)
                   : size < end ? end - size
                                : 0;
    if (window->from > at) window->from = at;
    return rag_reader_need(r, window->from, r->size - window->from, &window->bytes, fault);
}

/* Finds the newest commit: the first footer from the end with an intact table. A later commit
 * that was completed but is damaged is lost_generation. */
static enum rag_status find_newest(struct rag_reader *r, const struct front *front,
                                   struct footer *found, struct rag_fault *fault) {
    uint64_t budget = r->size + TOC_SIZE_MAX;
    struct window window = {r->size, NULL};
    enum rag_status status = RAG_OK;
    bool holds;
    for (uint64_t at = (r->size & ~(uint64_t)(FOOTER_SIZE - 1)) - FOOTER_SIZE;
         at >= front->footer_at; at -= FOOTER_SIZE) {
        if (at < window.from && (status = widen(r, at, &window, fault)) != RAG_OK) return status;
        if (!rag_footer_read(window.bytes + (at - window.from), at, front->identity, found))
            continue;
        if ((found->generation == 1) != (at == front->footer_at))
            continue; /* the front page has the end of the base */
        if (found->toc_size > budget)
            return rag_fail(fault, RAG_LIMIT, at, "too many damaged commits");
        budget -= found->toc_size;
        if ((status = check_toc(r, found, &holds, fault)) != RAG_OK) return status;
        if (!holds) continue;
        if (is_followed(r, &window, front, found))
            r->commit.lost_generation = found->generation + 1;
        r->commit.tail = r->size - (at + FOOTER_SIZE);
        return RAG_OK;
    }
    return rag_fail(fault, RAG_CORRUPT, front->footer_at, "no commit is whole");
}

/* Reads the footer of the commit `later`, whose previous footer is at `at`. */
static enum rag_status read_previous(const struct rag_reader *r, uint64_t later, uint64_t at,
                                     struct footer *footer, struct rag_fault *fault) {
    const uint64_t guess = at < TABLE_GUESS ? at : TABLE_GUESS;
    const uint8_t *bytes;
    const enum rag_status status =
        rag_reader_need(r, at - guess, guess + FOOTER_SIZE, &bytes, fault);
    if (status != RAG_OK) return status;
    if (rag_footer_read(bytes + guess, at, r->commit.identity, footer) &&
        footer->generation == later - 1)
        return RAG_OK;
    return rag_fail(fault, RAG_CORRUPT, at, "the chain of commits is broken");
}

static enum rag_status check_whole(const struct rag_reader *r, const struct footer *footer,
                                   struct rag_fault *fault) {
    bool holds;
    const enum rag_status status = check_toc(r, footer, &holds, fault);
    if (status != RAG_OK) return status;
    if (!holds)
        return rag_fail(fault, RAG_CORRUPT, footer->toc_at,
                        "table of contents checksum does not match");
    return RAG_OK;
}

static enum rag_status find_generation(const struct rag_reader *r, uint64_t generation,
                                       struct footer *footer, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    if (generation > footer->generation)
        return rag_fail(fault, RAG_ARGUMENT, generation, "no such generation");
    while (status == RAG_OK && footer->generation > generation) {
        const struct footer later = *footer;
        status = read_previous(r, later.generation, later.previous, footer, fault);
    }
    return status == RAG_OK ? check_whole(r, footer, fault) : status;
}

/* ---------------------------------------------------------------------------- table of contents */

/* The file offset of a byte of the table. */
static uint64_t place_of(const struct rag_reader *r, const uint8_t *byte) {
    return r->toc_at + (uint64_t)(byte - r->toc);
}

static const uint8_t *entry_at(const struct rag_reader *r, uint32_t i) {
    return r->entries + (size_t)i * ENTRY_SIZE;
}

uint64_t rag_entry_place(const struct rag_reader *r, uint32_t i) {
    return r->own_places ? r->own_places[i] : place_of(r, entry_at(r, i));
}

bool rag_entry_is_listed(const struct rag_reader *r, uint32_t i) {
    return r->own_places && r->own_places[i] < r->toc_at;
}

static const char *entry_name(const struct rag_reader *r, uint32_t i) {
    return (const char *)r->names + load_u32(entry_at(r, i) + ENTRY_NAME);
}

static enum rag_status read_head(struct rag_reader *r, const struct footer *footer,
                                 struct rag_fault *fault) {
    const uint8_t *toc = r->toc;
    struct rag_commit *c = &r->commit;
    if (memcmp(toc, TOC_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_FORMAT, footer->toc_at, "no table of contents");
    c->generation = load_u64(toc + TOC_GENERATION);
    c->created = load_u64(toc + TOC_CREATED);
    c->start = load_u64(toc + TOC_START);
    c->end = footer->at + FOOTER_SIZE;
    c->previous = footer->previous;
    c->entries = load_u32(toc + TOC_ENTRIES);
    c->segments = load_u32(toc + TOC_SEGMENTS);
    const uint64_t next_segment = load_u64(toc + TOC_NEXT_SEGMENT);
    const uint32_t names = load_u32(toc + TOC_NAMES), message = load_u32(toc + TOC_MESSAGE);
    const uint64_t need = TOC_HEAD_SIZE + (uint64_t)c->entries * ENTRY_SIZE +
                          (uint64_t)c->segments * SEGMENT_SIZE + names + message;
    if (c->entries > ENTRIES_MAX || c->segments > SEGMENTS_MAX || message > MESSAGE_MAX_SIZE)
        return rag_fail(fault, RAG_LIMIT, footer->toc_at + TOC_ENTRIES,
                        "table of contents over its limits");
    if (need != footer->toc_size)
        return rag_fail(fault, RAG_FORMAT, footer->toc_at, "table of contents does not add up");
    if (c->generation != footer->generation)
        return rag_fail(fault, RAG_FORMAT, footer->toc_at + TOC_GENERATION,
                        "table of contents contradicts its footer");
    if (next_segment == 0 || next_segment > UINT32_MAX)
        return rag_fail(fault, RAG_FORMAT, footer->toc_at + TOC_NEXT_SEGMENT,
                        "the next segment's number is out of range");
    const uint64_t earliest = footer->generation == 1 ? FRONT_SIZE : footer->previous + FOOTER_SIZE;
    if (c->start % SECTION_ALIGN != 0 || c->start < earliest || c->start > footer->toc_at ||
        (footer->generation == 1 && c->start != FRONT_SIZE))
        return rag_fail(fault, RAG_FORMAT, footer->toc_at + TOC_START,
                        "the commit starts outside its own bytes");
    c->next_segment = (uint32_t)next_segment;
    r->entries = toc + TOC_HEAD_SIZE;
    r->segments = r->entries + (size_t)c->entries * ENTRY_SIZE;
    r->names = r->segments + (size_t)c->segments * SEGMENT_SIZE;
    r->names_size = names;
    c->message = (const char *)r->names + names;
    c->message_size = message;
    return RAG_OK;
}

static enum rag_status read_segments(struct rag_reader *r, struct rag_fault *fault) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < r->commit.segments; i++) {
        struct rag_segment_record s;
        rag_reader_segment(r, i, &s);
        const uint8_t *record = r->segments + (size_t)i * SEGMENT_SIZE;
        const uint64_t at = place_of(r, record);
        if (s.number <= before || s.number >= r->commit.next_segment ||
            load_u32(record + SEGMENT_ZERO) != 0)
            return rag_fail(fault, RAG_FORMAT, at, "segment numbers are not in order");
        if (s.rows > ROWS_MAX || s.live > s.rows)
            return rag_fail(fault, RAG_FORMAT, at + SEGMENT_ROWS, "a segment's rows do not add up");
        if (s.generation == 0 || s.generation > r->commit.generation)
            return rag_fail(fault, RAG_FORMAT, at + SEGMENT_GENERATION,
                            "a segment from a later commit");
        before = s.number;
    }
    return RAG_OK;
}

static enum rag_status read_names(struct rag_reader *r, struct rag_fault *fault) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->commit.entries; i++) {
        const uint64_t place = rag_entry_place(r, i) + ENTRY_NAME;
        if (load_u32(entry_at(r, i) + ENTRY_NAME) != at || at >= r->names_size)
            return rag_fail(fault, RAG_FORMAT, place, "section names are not in order");
        const uint8_t *end = memchr(r->names + at, 0, r->names_size - at);
        if (!end || !rag_name_valid((const char *)r->names + at, (size_t)(end - (r->names + at))))
            return rag_fail(fault, RAG_FORMAT, place,
                            "a section's name is not [A-Za-z0-9_.+@/]{1,64}");
        at = (uint32_t)(end + 1 - r->names);
    }
    if (at != r->names_size)
        return rag_fail(fault, RAG_FORMAT, r->toc_at + TOC_NAMES,
                        "bytes after the last section name");
    return RAG_OK;
}

static enum rag_status fail_entry(const struct rag_reader *r, uint32_t i, enum rag_status status,
                                  const char *what, struct rag_fault *fault) {
    rag_fail(fault, status, rag_entry_place(r, i), what);
    if (fault)
        strcpy(fault->section, entry_name(r, i)); /* a valid name: 64 bytes at most, and its NUL */
    return status;
}

/* Sections that this build knows. Others are skipped unless their flags forbid it. */
static bool name_known(const char *name) {
    for (size_t i = 0; i < sizeof section_names / sizeof section_names[0]; i++)
        if (strcmp(name, section_names[i]) == 0) return true;
    for (size_t i = 0; i < sizeof numbered_section_names / sizeof numbered_section_names[0]; i++) {
        const size_t size = strlen(numbered_section_names[i]);
        if (strncmp(name, numbered_section_names[i], size) == 0)
            return name[size] && strspn(name + size, "0123456789") == strlen(name + size);
    }
    return false;
}

static enum rag_status read_entry(struct rag_reader *r, uint32_t i, uint64_t *end,
                                  struct rag_fault *fault) {
    struct rag_entry e;
    rag_reader_entry(r, i, &e);
    const uint8_t *raw = entry_at(r, i);
    if (e.flags & ~(ENTRY_MUST_READ | ENTRY_MUST_WRITE))
        return fail_entry(r, i, RAG_VERSION, "a section flag of a newer version", fault);
    if (load_u32(raw + ENTRY_ZERO) != 0 || load_u64(raw + ENTRY_ZERO_2) != 0)
        return fail_entry(r, i, RAG_FORMAT, "reserved bytes are not zero", fault);
    if (e.at % SECTION_ALIGN != 0 || e.at < *end || e.extent == 0 || e.extent > r->toc_at ||
        e.at > r->toc_at - e.extent)
        return fail_entry(r, i, RAG_CORRUPT, "the section lies outside the file or over another",
                          fault);
    const bool own = e.generation == r->commit.generation;
    if (!own && e.at + e.extent > r->commit.previous)
        return fail_entry(r, i, RAG_CORRUPT, "an older section reaches into this commit", fault);
    if (e.generation == 0 || e.generation > r->commit.generation ||
        own != (e.at >= r->commit.start))
        return fail_entry(r, i, RAG_FORMAT, "the section's generation contradicts its place",
                          fault);
    if (e.items > ROWS_MAX)
        return fail_entry(r, i, RAG_LIMIT, "more items than a section may hold", fault);
    if (e.segment != 0 && rag_segment_index(r, e.segment) < 0)
        return fail_entry(r, i, RAG_FORMAT, "the section's segment is not listed", fault);
    const bool is_new = e.flags != 0 && !name_known(e.name); /* without flags, any may be skipped */
    if (is_new && (e.flags & ENTRY_MUST_READ))
        return fail_entry(r, i, RAG_VERSION, "a section that must be understood and is not", fault);
    if (is_new && (e.flags & ENTRY_MUST_WRITE)) r->commit.read_only = true;
    *end = e.at + e.extent;
    r->seen_bits += (e.size + RAG_BLOCK - 1) / RAG_BLOCK;
    return RAG_OK;
}

static enum rag_status read_entries(struct rag_reader *r, struct rag_fault *fault) {
    uint64_t end = FRONT_SIZE;
    r->seen_bits = 0;
    for (uint32_t i = 0; i < r->commit.entries; i++) {
        enum rag_status status = read_entry(r, i, &end, fault);
        if (status != RAG_OK) return status;
    }
    return RAG_OK;
}

/* ------------------------------------------------------------------------------- order of names */

/* Heap sort: no recursion, no allocation, and no quadratic case for a hostile table. */
#define HEAP_ITEM uint32_t
#define HEAP_CONTEXT const struct rag_reader *
#define HEAP_ABOVE(r, a, b) (strcmp(entry_name(r, a), entry_name(r, b)) > 0)
#include "shared/heap.h"

/* The group of an entry: 0 for the file's own sections, then one for each segment. Neighbours are
 * mostly of one group: `last` has that of the entry before. */
struct group {
    uint32_t number, at;
};

static uint32_t group_of(const struct rag_reader *r, uint32_t i, struct group *last) {
    const uint32_t number = load_u32(entry_at(r, i) + ENTRY_SEGMENT);
    if (number != last->number)
        *last = (struct group){number, number ? (uint32_t)rag_segment_index(r, number) + 1 : 0};
    return last->at;
}

/* Puts the entries of each group side by side, in file order. */
static void group_entries(struct rag_reader *r) {
    uint32_t *ends = r->group_ends; /* until the end: where the next entry of each comes */
    struct group last = {0, 0};
    for (uint32_t i = 0; i < r->commit.entries; i++) ends[group_of(r, i, &last) + 1]++;
    for (uint32_t g = 0; g < r->commit.segments; g++) ends[g + 1] += ends[g];
    for (uint32_t i = 0; i < r->commit.entries; i++) r->order[ends[group_of(r, i, &last)]++] = i;
}

static uint32_t group_start(const struct rag_reader *r, uint32_t g) {
    return g ? r->group_ends[g - 1] : 0;
}

/* The first entry of the group in the file, if no other entry is among its own; else -1. */
static int64_t first_entry(const struct rag_reader *r, uint32_t g) {
    uint32_t low = UINT32_MAX, high = 0;
    const uint32_t start = group_start(r, g), end = r->group_ends[g];
    for (uint32_t at = start; at < end; at++) {
        if (r->order[at] < low) low = r->order[at];
        if (r->order[at] > high) high = r->order[at];
    }
    return start < end && high - low == end - start - 1 ? (int64_t)low : -1;
}

/* Takes the order of the group before, if both have the same names in file order, as most do that
 * the same writer wrote. */
static bool take_order(struct rag_reader *r, uint32_t g) {
    const uint32_t start = group_start(r, g), size = r->group_ends[g] - start;
    const uint32_t before = g ? group_start(r, g - 1) : 0;
    if (g == 0 || start - before != size) return false;
    const int64_t mine = first_entry(r, g), its = first_entry(r, g - 1);
    if (mine < 0 || its < 0) return false;
    for (uint32_t i = 0; i < size; i++)
        if (strcmp(entry_name(r, (uint32_t)mine + i), entry_name(r, (uint32_t)its + i)) != 0)
            return false;
    for (uint32_t i = 0; i < size; i++)
        r->order[start + i] = r->order[before + i] - (uint32_t)its + (uint32_t)mine;
    return true;
}

static enum rag_status sort_group(struct rag_reader *r, uint32_t g, struct rag_fault *fault) {
    const uint32_t start = group_start(r, g), end = r->group_ends[g];
    if ((r->is_alike[g] = take_order(r, g))) return RAG_OK;
    heap_make(r, r->order + start, end - start);
    heap_sort(r, r->order + start, end - start);
    for (uint32_t at = start + 1; at < end; at++) {
        const uint32_t a = r->order[at - 1], b = r->order[at];
        if (strcmp(entry_name(r, a), entry_name(r, b)) == 0)
            return fail_entry(r, a > b ? a : b, RAG_FORMAT,
                              "two sections of the same name and segment", fault);
    }
    return RAG_OK;
}

static void free_order(struct rag_reader *r) {
    free(r->order);
    free(r->group_ends);
    free(r->is_alike);
}

static enum rag_status sort_entries(struct rag_reader *r, struct rag_fault *fault) {
    const size_t groups = (size_t)r->commit.segments + 1;
    free_order(r);
    r->order = malloc(r->commit.entries * sizeof *r->order + 1);
    r->group_ends = calloc(groups + 1, sizeof *r->group_ends);
    r->is_alike = calloc(groups, sizeof *r->is_alike);
    if (!r->order || !r->group_ends || !r->is_alike)
        return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    group_entries(r);
    enum rag_status status = RAG_OK;
    for (uint32_t g = 0; status == RAG_OK && g < groups; g++) status = sort_group(r, g, fault);
    return status;
}

/* Every section's bits start on a byte of their own. */
static enum rag_status place_seen(struct rag_reader *r, struct rag_fault *fault) {
    const uint32_t count = r->commit.entries;
    uint64_t at = 0;
    r->seen_at = malloc(count * sizeof *r->seen_at + 1);
    r->seen = calloc(r->seen_bits / 8 + count + 1, 1);
    if (!r->seen_at || !r->seen) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        r->seen_at[i] = at;
        at += (load_u64(entry_at(r, i) + ENTRY_BYTES) + RAG_BLOCK - 1) / RAG_BLOCK / 8 + 1;
    }
    return RAG_OK;
}

/* A segment has only live rows, or its deleted rows in a bitmap, in a list, or in both. */
static enum rag_status check_tombs(struct rag_reader *r, struct rag_fault *fault) {
    for (uint32_t i = 0; i < r->commit.segments; i++) {
        struct rag_segment_record s;
        struct rag_entry e = {0}, more = {0};
        rag_reader_segment(r, i, &s);
        const int64_t tombs = rag_reader_find(r, TOMBS_NAME, s.number),
                      list = rag_reader_find(r, DELETED_NAME, s.number);
        if (tombs >= 0) rag_reader_entry(r, (uint32_t)tombs, &e);
        if (list >= 0) rag_reader_entry(r, (uint32_t)list, &more);
        if (list >= 0 && !(more.flags & ENTRY_MUST_READ))
            return fail_entry(r, (uint32_t)list, RAG_FORMAT,
                              "a list of deleted rows that readers may skip", fault);
        if (e.items + more.items != s.rows - s.live || more.size != 4 * more.items ||
            (tombs >= 0 && e.size != (s.rows + 63) / 64 * 8))
            return rag_fail(fault, RAG_FORMAT, place_of(r, r->segments + (size_t)i * SEGMENT_SIZE),
                            "a segment's deletions do not add up");
    }
    return RAG_OK;
}

/* ---------------------------------------------------------------------------------- open, close */

/* The table must stay valid as long as the reader. */
static enum rag_status take_toc(struct rag_reader *r, const struct footer *footer,
                                struct rag_fault *fault) {
    const enum rag_status status =
        rag_reader_need(r, footer->toc_at, footer->toc_size, &r->toc, fault);
    r->toc_at = footer->toc_at;
    if (status != RAG_OK || r->bytes) return status;
    if (!(r->own_toc = malloc((size_t)footer->toc_size)))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    r->toc = memcpy(r->own_toc, r->toc, (size_t)footer->toc_size);
    return RAG_OK;
}

enum rag_status rag_toc_read(struct rag_reader *r, const struct footer *footer,
                             struct rag_fault *fault) {
    enum rag_status status = take_toc(r, footer, fault);
    if (status == RAG_OK) status = read_head(r, footer, fault);
    if (status == RAG_OK) status = read_names(r, fault);
    if (status == RAG_OK) status = read_segments(r, fault);
    if (status == RAG_OK) status = read_entries(r, fault);
    if (status == RAG_OK) status = sort_entries(r, fault);
    if (status == RAG_OK) status = rag_lists_read(r, fault);
    if (status == RAG_OK && r->own_entries) status = read_entries(r, fault);
    if (status == RAG_OK && r->own_entries) status = sort_entries(r, fault);
    if (status == RAG_OK) status = place_seen(r, fault);
    return status == RAG_OK ? check_tombs(r, fault) : status;
}

/* Nothing takes the place of a front page, so a source that cannot bring it says why. */
static enum rag_status need_front(const struct rag_reader *r, uint64_t size, const uint8_t **bytes,
                                  struct rag_fault *fault) {
    const struct rag_piece piece = {.at = 0, .size = size};
    if (!r->source || !r->source->bytes) return rag_reader_need(r, 0, size, bytes, fault);
    *bytes = r->bytes;
    return r->source->fetch(r->source->context, &piece, 1, false, fault);
}

static enum rag_status open_newest(struct rag_reader *r, uint64_t generation,
                                   struct rag_fault *fault) {
    struct front front;
    struct footer footer;
    const uint8_t *bytes;
    enum rag_status status =
        need_front(r, r->size < FRONT_SIZE ? r->size : FRONT_SIZE, &bytes, fault);
    if (status == RAG_OK) status = read_front(bytes, r->size, &front, fault);
    if (status != RAG_OK) return status;
    r->commit.identity = front.identity;
    r->commit.read_only = front.read_only;
    status = find_newest(r, &front, &footer, fault);
    if (status == RAG_OK && generation != 0)
        status = find_generation(r, generation, &footer, fault);
    return status == RAG_OK ? rag_toc_read(r, &footer, fault) : status;
}

static enum rag_status open_bytes(const struct rag_reader *given, uint64_t generation,
                                  struct rag_reader **out, struct rag_fault *fault) {
    struct rag_reader *r = malloc(sizeof *r);
    if (!r) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    *r = *given;
    const enum rag_status status = open_newest(r, generation, fault);
    r->reads = NULL;
    if (status == RAG_OK) *out = r;
    else rag_reader_close(r);
    return status;
}

enum rag_status rag_reader_open(const uint8_t *bytes, size_t size, uint64_t generation,
                                struct rag_reader **out, struct rag_fault *fault) {
    const struct rag_reader given = {.bytes = bytes, .size = size};
    return open_bytes(&given, generation, out, fault);
}

enum rag_status rag_reader_open_read(const uint8_t *bytes, size_t size,
                                     const struct rag_reads *reads, struct rag_reader **out,
                                     struct rag_fault *fault) {
    const struct rag_reader given = {.bytes = bytes, .size = size, .reads = reads};
    return open_bytes(&given, 0, out, fault);
}

enum rag_status rag_reader_open_source(const struct rag_source *source, uint64_t size,
                                       uint64_t generation, struct rag_reader **out,
                                       struct rag_fault *fault) {
    const struct rag_reader given = {.bytes = source->bytes, .size = size, .source = source};
    return open_bytes(&given, generation, out, fault);
}

enum rag_status rag_reader_open_previous(const struct rag_reader *later, struct rag_reader **out,
                                         struct rag_fault *fault) {
    struct footer footer;
    struct rag_reader *r = NULL;
    const uint64_t generation = later->commit.generation;
    if (generation == 1) return rag_fail(fault, RAG_ARGUMENT, 0, "no such generation");
    if (!(r = calloc(1, sizeof *r))) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    r->bytes = later->bytes;
    r->size = later->size;
    r->source = later->source;
    r->commit.identity = later->commit.identity;
    r->commit.read_only = later->commit.read_only;
    enum rag_status status = read_previous(r, generation, later->commit.previous, &footer, fault);
    if (status == RAG_OK) status = check_whole(r, &footer, fault);
    if (status == RAG_OK) status = rag_toc_read(r, &footer, fault);
    if (status == RAG_OK) *out = r;
    else rag_reader_close(r);
    return status;
}

void rag_reader_clear(struct rag_reader *r) {
    free(r->own_toc);
    free(r->own_entries);
    free(r->own_places);
    free_order(r);
    free(r->seen_at);
    free(r->leaves);
    free(r->seen);
}

void rag_reader_close(struct rag_reader *r) {
    if (!r) return;
    rag_reader_clear(r);
    free(r);
}

/* ------------------------------------------------------------------------------------ accessors */

void rag_reader_commit(const struct rag_reader *r, struct rag_commit *commit) {
    *commit = r->commit;
}

void rag_reader_entry(const struct rag_reader *r, uint32_t i, struct rag_entry *entry) {
    const uint8_t *e = entry_at(r, i);
    const uint64_t size = load_u64(e + ENTRY_BYTES);
    *entry = (struct rag_entry){entry_name(r, i),          load_u32(e + ENTRY_SEGMENT),
                                load_u32(e + ENTRY_FLAGS), load_u64(e + ENTRY_GENERATION),
                                load_u64(e + ENTRY_AT),    size,
                                load_u64(e + ENTRY_ITEMS), rag_extent(size)};
}

void rag_reader_segment(const struct rag_reader *r, uint32_t i,
                        struct rag_segment_record *segment) {
    const uint8_t *s = r->segments + (size_t)i * SEGMENT_SIZE;
    *segment =
        (struct rag_segment_record){load_u32(s + SEGMENT_NUMBER), load_u64(s + SEGMENT_ROWS),
                                    load_u64(s + SEGMENT_LIVE), load_u64(s + SEGMENT_GENERATION)};
}

int64_t rag_segment_index(const struct rag_reader *r, uint32_t number) {
    uint32_t low = 0, high = r->commit.segments;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2,
                       found = load_u32(r->segments + (size_t)middle * SEGMENT_SIZE);
        if (found == number) return middle;
        if (found < number) low = middle + 1;
        else high = middle;
    }
    return -1;
}

int64_t rag_reader_find(const struct rag_reader *r, const char *name, uint32_t segment) {
    const int64_t s = segment ? rag_segment_index(r, segment) : 0;
    if (s < 0) return -1;
    const uint32_t g = segment ? (uint32_t)s + 1 : 0;
    uint32_t low = group_start(r, g), high = r->group_ends[g];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, i = r->order[middle];
        const int order = strcmp(entry_name(r, i), name);
        if (order == 0) return i;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

uint32_t rag_reader_in_order(const struct rag_reader *r, uint32_t at) { return r->order[at]; }

bool rag_reader_group(const struct rag_reader *r, uint32_t g, uint32_t *start, uint32_t *end) {
    *start = group_start(r, g);
    *end = r->group_ends[g];
    return r->is_alike[g];
}

/* Whether `other` has entry i of r: the same section at the same place. */
static bool has_entry(const struct rag_reader *other, const struct rag_reader *r, uint32_t i) {
    const uint8_t *mine = entry_at(r, i);
    const int64_t found = rag_reader_find(other, entry_name(r, i), load_u32(mine + ENTRY_SEGMENT));
    if (found < 0) return false;
    const uint8_t *its = entry_at(other, (uint32_t)found);
    return memcmp(mine, its, ENTRY_NAME) == 0 &&
           memcmp(mine + ENTRY_GENERATION, its + ENTRY_GENERATION, ENTRY_SIZE - ENTRY_GENERATION) ==
               0;
}

/* Clears the mark of each segment of r with a section that only one of the two has. */
static void clear_changed(const struct rag_reader *r, const struct rag_reader *one,
                          const struct rag_reader *other, bool *kept) {
    for (uint32_t i = 0; i < one->commit.entries; i++) {
        const uint32_t number = load_u32(entry_at(one, i) + ENTRY_SEGMENT);
        const int64_t s = number ? rag_segment_index(r, number) : -1;
        if (s >= 0 && kept[s] && !has_entry(other, one, i)) kept[s] = false;
    }
}

void rag_reader_kept(const struct rag_reader *r, const struct rag_reader *older, bool *kept) {
    const bool same = r->commit.identity == older->commit.identity;
    for (uint32_t i = 0; i < r->commit.segments; i++) {
        const uint8_t *mine = r->segments + (size_t)i * SEGMENT_SIZE;
        const int64_t s = rag_segment_index(older, load_u32(mine + SEGMENT_NUMBER));
        kept[i] = same && s >= 0 &&
                  memcmp(mine, older->segments + (size_t)s * SEGMENT_SIZE, SEGMENT_SIZE) == 0;
    }
    clear_changed(r, r, older, kept);
    clear_changed(r, older, r, kept);
}

enum rag_status rag_reader_guard(struct rag_reader *r, uint32_t i, struct rag_guard *guard,
                                 struct rag_fault *fault) {
    struct rag_entry e;
    rag_reader_entry(r, i, &e);
    const uint64_t hash = load_u64(entry_at(r, i) + ENTRY_HASH);
    *guard = (struct rag_guard){.size = e.size,
                                .source = r->source,
                                .sums_hash = hash,
                                .at = e.at,
                                .name = "",
                                .leaves = r->leaves ? r->leaves[i] : NULL};
    memcpy(guard->name, e.name, strnlen(e.name, sizeof guard->name - 1));
    const size_t blocks = (size_t)((e.size + RAG_BLOCK - 1) / RAG_BLOCK);
    if (r->bytes) {
        guard->bytes = r->bytes + e.at;
        guard->sums = (const uint64_t *)(const void *)(guard->bytes + align_up(e.size, 8));
        guard->seen = r->seen + r->seen_at[i];
    }
    if ((!r->source || blocks == 0) && rag_hash(guard->sums, 8 * blocks) != hash)
        return fail_entry(r, i, RAG_CORRUPT, "the section's block hashes do not match", fault);
    return RAG_OK;
}

enum rag_status rag_reader_seal(struct rag_reader *r, uint32_t i, const uint8_t *leaves,
                                struct rag_fault *fault) {
    const uint64_t blocks = (load_u64(entry_at(r, i) + ENTRY_BYTES) + RAG_BLOCK - 1) / RAG_BLOCK;
    if (!r->leaves) r->leaves = calloc((size_t)r->commit.entries + 1, sizeof *r->leaves);
    if (!r->leaves) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    r->leaves[i] = leaves;
    if (r->seen) memset(r->seen + r->seen_at[i], 0, blocks / 8 + 1);
    return RAG_OK;
}

enum rag_status rag_reader_recheck(struct rag_reader *r, struct rag_fault *fault) {
    for (uint32_t i = 0; r->bytes && i < r->commit.entries; i++) {
        struct rag_guard guard;
        enum rag_status status = rag_reader_guard(r, i, &guard, fault);
        if (status == RAG_OK) status = rag_guard_recheck(&guard, fault);
        if (status != RAG_OK) return status;
    }
    return RAG_OK;
}
