/* writer.c - writes sections and commits.
 *
 * A section streams through a buffer of sixteen blocks. Each full block is hashed, and the buffer
 * is written to its place, so memory use does not grow with the file. A commit writes extents and
 * table of contents, syncs, writes the footer, and syncs again. It changes nothing that was written
 * before; the remains of a dead writer stay where they are and are skipped.
 *
 * Two syncs guarantee that a footer never precedes sections or a table that are not durable. So
 * opening need not read the sections, and an intact footer over a broken table is damage, never
 * a commit that was interrupted. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "ragfile/writer.h"
#include "container/format.h"
#include "container/block_hashes.h"
#include "container/front_page.h"
#include "container/reader.h"
#include "encryption/encrypted_file.h"
#include "parity/parity.h"
#include "parity/trailer.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "system/files.h"

enum { BUFFER_SIZE = 16 * 65536 };

struct planned { /* an entry of the next table of contents */
    char name[NAME_MAX_SIZE + 1];
    uint32_t segment, flags;
    uint64_t generation, at, size, items, hash;
    bool listed; /* by its segment's rag.sections, not by the table */
};

struct rag_writer {
    struct rag_file *file;
    struct rag_map map;        /* of an edited file */
    struct rag_plain *plain;   /* what that map holds, if the file is encrypted */
    uint64_t stored;           /* the size of that map, 0 for a new file */
    struct rag_reader *reader; /* over that map */
    bool replaces; /* publishes over a file whose lock another writer object of ours holds */
    uint64_t identity, generation, previous, start, end;
    uint64_t abandoned; /* hash of the bytes between previous and start */
    bool loses;         /* they hold a commit that was made and is damaged */
    uint32_t next_segment;
    struct planned *entries;
    size_t count, room;
    struct rag_segment_record *segments;
    size_t segment_count;
    bool spoilt; /* a write, a sync or an allocation failed: nothing must be committed any more */
    bool sealed; /* a whole footer was written: readers can see the commit */
    bool open;   /* between begin and end */
    uint8_t *buffer; /* of the open section */
    size_t buffered;
    uint64_t written; /* bytes of the open section already on disk */
    uint64_t *sums;
    size_t sum_count, sum_room;
    uint32_t grain;       /* bytes of a small block (grain), or 0 for none */
    uint32_t small_grain; /* of those that were */
    uint64_t *small;      /* sums, section after section */
    size_t small_count, small_room;
    struct small_part { /* the sections that they are of */
        uint64_t at, size, first;
    } *parts;
    size_t part_count, part_room;
    unsigned percent;   /* of parity, or 0 */
    bool anew;          /* the parity covers everything, not only blocks without parity */
    uint8_t version[3]; /* of the front page, with the features that writers need */
    uint64_t write_features;
};

/* ----------------------------------------------------------------------------------- begin, end */

static enum rag_status writer_new(struct rag_writer **out, struct rag_fault *fault) {
    struct rag_writer *w = calloc(1, sizeof *w);
    if (w) w->buffer = malloc(BUFFER_SIZE);
    if (!w || !w->buffer) {
        free(w);
        return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    }
    w->generation = 1;
    w->next_segment = 1;
    w->version[0] = 1;
    w->start = w->end = FRONT_SIZE;
    *out = w;
    return RAG_OK;
}

enum rag_status rag_writer_create(const char *path, struct rag_writer **out,
                                  struct rag_fault *fault) {
    struct rag_writer *w = NULL;
    enum rag_status status = writer_new(&w, fault);
    if (status == RAG_OK) status = rag_file_create(path, &w->file, fault);
    if (status == RAG_OK) *out = w;
    else rag_writer_discard(w);
    return status;
}

enum rag_status rag_writer_create_encrypted(const char *path, const struct rag_cipher *cipher,
                                            const struct rag_crypt_header *slots,
                                            struct rag_writer **out, struct rag_fault *fault) {
    enum rag_status status = rag_writer_create(path, out, fault);
    if (status != RAG_OK) return status;
    status = rag_file_encrypt((*out)->file, cipher, slots, fault);
    if (status == RAG_OK) return RAG_OK;
    rag_writer_discard(*out);
    *out = NULL;
    return status;
}

enum rag_status rag_writer_replace(struct rag_writer *editor, struct rag_writer **out,
                                   struct rag_fault *fault) {
    const struct rag_encryption *old = rag_file_encryption(editor->file);
    const char *path = rag_file_path(editor->file);
    enum rag_status status =
        old ? rag_writer_create_encrypted(path, rag_encryption_cipher(old),
                                          rag_encryption_header(old), out, fault)
            : rag_writer_create(path, out, fault);
    if (status == RAG_OK) (*out)->replaces = true;
    return status;
}

static enum rag_status make_room(void *array, size_t count, size_t *room, size_t width,
                                 struct rag_fault *fault) {
    const bool there = rag_grow(array, room, count + 1, width);
    return there ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory");
}

/* Do not retry a failed sync: the second attempt can succeed although the data was lost. */
static enum rag_status spoil(struct rag_writer *w, enum rag_status status) {
    if (status != RAG_OK) w->spoilt = true;
    return status;
}

static enum rag_status usable(const struct rag_writer *w, struct rag_fault *fault) {
    return w->spoilt ? rag_fail(fault, RAG_ARGUMENT, w->generation,
                                "the writer failed before and can only be closed")
                     : RAG_OK;
}

/* Clear a footer that a full disk truncated: extended later, it would look like a damaged
 * commit. */
static bool ends_in_half_a_footer(const struct rag_reader *r, uint64_t boundary) {
    return r->size - boundary >= 8 && memcmp(r->bytes + boundary, FOOTER_MAGIC, 8) == 0;
}

/* A writer that died before its footer leaves shards of parity. Once the file has grown past the
 * end of that commit, readers would take them for a lost commit, so their magic is cleared. */
static enum rag_status disown_shards(struct rag_file *file, const uint8_t *bytes, uint64_t from,
                                     uint64_t end, struct rag_fault *fault) {
    const uint8_t zero[8] = {0};
    enum rag_status status = RAG_OK;
    for (uint64_t at = from; status == RAG_OK && at + 8 <= end; at += SECTION_ALIGN)
        if (memcmp(bytes + at, SHARD_MAGIC, 8) == 0)
            status = rag_file_write(file, at, zero, sizeof zero, fault);
    return status;
}

static enum rag_status hash_abandoned(struct rag_writer *w, uint64_t from,
                                      struct rag_fault *fault) {
    struct rag_map filled;
    enum rag_status status = rag_file_map_part(w->file, from, w->start, &filled, fault);
    if (status != RAG_OK) return status;
    status = rag_hash_blocks(filled.bytes + from, w->start - from, &w->abandoned, fault);
    rag_map_close(&filled);
    return status;
}

/* Handles the remains of a dead writer: they stay, are padded to the next section boundary, and
 * are skipped; half a footer is zeroed. The remains of a completed commit are kept until there
 * is another commit, in case this one is given up and that one repaired. */
static enum rag_status keep_abandoned(struct rag_writer *w, uint64_t from,
                                      struct rag_fault *fault) {
    const uint8_t zero[SECTION_ALIGN] = {0};
    const uint64_t boundary = w->reader->size & ~(uint64_t)(SECTION_ALIGN - 1);
    const uint64_t at = ends_in_half_a_footer(w->reader, boundary) ? boundary : w->reader->size;
    enum rag_status status = RAG_OK;
    /* what an encrypted file does not have reads as zeros, and its last block may be committed */
    if (!w->plain) status = rag_file_write(w->file, at, zero, w->start - at, fault);
    w->loses = w->reader->commit.lost_generation != 0;
    if (status == RAG_OK && !w->loses)
        status = disown_shards(w->file, w->reader->bytes, from, w->reader->size, fault);
    return status == RAG_OK ? hash_abandoned(w, from, fault) : status;
}

/* The bytes of the commit that is being given up. */
static enum rag_status give_up_lost(struct rag_writer *w, struct rag_fault *fault) {
    const uint64_t from = w->previous + FOOTER_SIZE;
    struct rag_map map;
    enum rag_status status = rag_file_map_part(w->file, from, w->start, &map, fault);
    if (status != RAG_OK) return status;
    status = disown_shards(w->file, map.bytes, from, w->start, fault);
    rag_map_close(&map);
    return status == RAG_OK ? hash_abandoned(w, from, fault) : status;
}

/* Where the next commit begins: in an encrypted file, with a block of its own. */
static uint64_t first_free(const struct rag_writer *w) {
    const uint64_t size = w->reader->size;
    if (!w->plain) return align_up(size, SECTION_ALIGN);
    const uint64_t payload = rag_encryption_payload(rag_file_encryption(w->file));
    return (size + payload - 1) / payload * payload;
}

static enum rag_status take_over(struct rag_writer *w, struct rag_fault *fault) {
    const struct rag_commit *c = &w->reader->commit;
    w->room = c->entries + 16;
    w->entries = calloc(w->room, sizeof *w->entries);
    w->segments = calloc(c->segments + 1, sizeof *w->segments);
    if (!w->entries || !w->segments) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    for (; w->count < c->entries; w->count++) {
        struct rag_entry e;
        struct planned *p = &w->entries[w->count];
        rag_reader_entry(w->reader, (uint32_t)w->count, &e);
        *p = (struct planned){.segment = e.segment,
                              .flags = e.flags,
                              .generation = e.generation,
                              .at = e.at,
                              .size = e.size,
                              .items = e.items};
        strcpy(p->name, e.name);
        p->hash = load_u64(w->reader->entries + w->count * ENTRY_SIZE + ENTRY_HASH);
        p->listed = rag_entry_is_listed(w->reader, (uint32_t)w->count);
    }
    for (; w->segment_count < c->segments; w->segment_count++)
        rag_reader_segment(w->reader, (uint32_t)w->segment_count, &w->segments[w->segment_count]);
    w->identity = c->identity;
    w->generation = c->generation + 1;
    w->previous = c->end - FOOTER_SIZE;
    w->next_segment = c->next_segment;
    memcpy(w->version, w->reader->bytes + VERSION_AT, sizeof w->version);
    w->write_features = load_u64(w->reader->bytes + SUPER_AT + SUPER_WRITE_FEATURES);
    w->start = w->end = first_free(w);
    return w->start > c->end ? keep_abandoned(w, c->end, fault) : RAG_OK;
}

static bool read_file(const void *file, uint64_t at, void *bytes, size_t size) {
    return rag_file_read(file, at, bytes, size);
}

/* Opens the newest commit of the file, whatever it is. */
static enum rag_status open_newest(struct rag_writer *w, const struct rag_cipher *cipher,
                                   struct rag_fault *fault) {
    bool encrypted = false;
    enum rag_status status = rag_file_decrypt(w->file, cipher, &encrypted, fault);
    if (status != RAG_OK) return status;
    if (encrypted) {
        status = rag_encryption_plain(rag_file_encryption(w->file), &w->map, &w->plain, fault);
        w->stored = w->map.size;
        return status != RAG_OK
                   ? status
                   : rag_reader_open_source(rag_plain_source(w->plain), rag_plain_size(w->plain), 0,
                                            &w->reader, fault);
    }
    status = rag_file_map(w->file, &w->map, fault);
    if (status != RAG_OK) return status;
    const struct rag_reads reads = {read_file, w->file};
    return rag_reader_open_read(w->map.bytes, w->map.size, &reads, &w->reader, fault);
}

enum rag_status rag_writer_edit(const char *path, const struct rag_wait *wait,
                                const struct rag_cipher *cipher, struct rag_writer **out,
                                struct rag_fault *fault) {
    struct rag_writer *w = NULL;
    enum rag_status status = writer_new(&w, fault);
    if (status == RAG_OK) status = rag_file_edit(path, wait, &w->file, fault);
    if (status == RAG_OK) status = open_newest(w, cipher, fault);
    if (status == RAG_OK && w->reader->commit.read_only)
        status =
            rag_fail(fault, RAG_VERSION, 0, "holds a part that only a newer ragfile may write");
    if (status == RAG_OK) status = take_over(w, fault);
    if (status == RAG_OK) rag_file_settled(w->file, w->start);
    if (status == RAG_OK) *out = w;
    else rag_writer_discard(w);
    return status;
}

struct rag_reader *rag_writer_take_reader(struct rag_writer *w) {
    struct rag_reader *taken = w->reader;
    w->reader = NULL;
    return taken;
}

struct rag_map rag_writer_take_map(struct rag_writer *w, struct rag_plain **plain) {
    const struct rag_map taken = w->map;
    w->map = (struct rag_map){0};
    *plain = w->plain;
    w->plain = NULL;
    return taken;
}

/* A failed commit releases its disk space: without a footer, no reader uses its bytes. */
static void release_failed(struct rag_writer *w) {
    if (w->file && w->previous != 0 && !w->sealed) rag_file_release(w->file, w->start);
}

void rag_writer_discard(struct rag_writer *w) {
    if (!w) return;
    release_failed(w);
    rag_file_discard(w->file);
    rag_reader_close(w->reader);
    rag_plain_close(w->plain);
    rag_map_close(&w->map);
    free(w->entries);
    free(w->segments);
    free(w->buffer);
    free(w->sums);
    free(w->small);
    free(w->parts);
    free(w);
}

/* ------------------------------------------------------------------------------------- segments */

enum rag_status rag_writer_segment(struct rag_writer *w, uint32_t *number,
                                   struct rag_fault *fault) {
    /* unreached: takes 2^32 segments in the life of a file */
    if (w->segment_count >= SEGMENTS_MAX || w->next_segment == UINT32_MAX)
        return rag_fail(fault, RAG_LIMIT, w->segment_count, "too many segments: compact the file");
    *number = w->next_segment++;
    return RAG_OK;
}

enum rag_status rag_writer_rows(struct rag_writer *w, uint32_t segment, uint64_t rows,
                                uint64_t live, struct rag_fault *fault) {
    size_t i = 0;
    while (i < w->segment_count && w->segments[i].number < segment) i++;
    bool known = i < w->segment_count && w->segments[i].number == segment;
    if (segment == 0 || segment >= w->next_segment)
        return rag_fail(fault, RAG_ARGUMENT, segment, "no such segment");
    if (rows > ROWS_MAX || live > rows)
        return rag_fail(fault, RAG_ARGUMENT, rows, "a segment's rows do not add up");
    if (!known) {
        struct rag_segment_record *grown =
            realloc(w->segments, (w->segment_count + 1) * sizeof *grown);
        if (!grown) return spoil(w, rag_fail(fault, RAG_MEMORY, 0, "no memory"));
        w->segments = grown;
        memmove(&grown[i + 1], &grown[i], (w->segment_count++ - i) * sizeof *grown);
        grown[i] = (struct rag_segment_record){segment, 0, 0, w->generation};
    }
    w->segments[i].rows = rows;
    w->segments[i].live = live;
    return RAG_OK;
}

/* Sections of this commit stay: check_plan refuses them without their segment. */
static void drop_sections(struct rag_writer *w, uint32_t segment) {
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->entries[i].segment != segment || w->entries[i].generation == w->generation)
            w->entries[kept++] = w->entries[i];
    w->count = kept;
}

void rag_writer_forget(struct rag_writer *w, uint32_t segment) {
    drop_sections(w, segment);
    for (size_t i = 0; i < w->segment_count; i++)
        if (w->segments[i].number == segment)
            memmove(&w->segments[i], &w->segments[i + 1],
                    (--w->segment_count - i) * sizeof *w->segments);
}

/* ------------------------------------------------------------------------------------- sections */

/* Hashes the small blocks in the buffer. It holds whole grains, except at the end of a section. */
static enum rag_status take_grains(struct rag_writer *w, struct rag_fault *fault) {
    for (size_t at = 0; w->grain && at < w->buffered; at += w->grain) {
        const enum rag_status status =
            make_room(&w->small, w->small_count, &w->small_room, sizeof *w->small, fault);
        if (status != RAG_OK) return status;
        const size_t size = w->buffered - at < w->grain ? w->buffered - at : w->grain;
        w->small[w->small_count++] = rag_hash(w->buffer + at, size);
    }
    return RAG_OK;
}

static enum rag_status flush(struct rag_writer *w, struct rag_fault *fault) {
    for (size_t at = 0; at < w->buffered; at += RAG_BLOCK) {
        enum rag_status status =
            make_room(&w->sums, w->sum_count, &w->sum_room, sizeof *w->sums, fault);
        if (status != RAG_OK) return status;
        const size_t size = w->buffered - at < RAG_BLOCK ? w->buffered - at : RAG_BLOCK;
        w->sums[w->sum_count++] = rag_hash(w->buffer + at, size);
    }
    enum rag_status status = take_grains(w, fault);
    if (status != RAG_OK) return status;
    status = rag_file_write(w->file, w->end + w->written, w->buffer, w->buffered, fault);
    w->written += w->buffered;
    w->buffered = 0;
    return status;
}

uint64_t rag_writer_size(const struct rag_writer *w) { return w->end; }

static void remove_entry(struct rag_writer *w, size_t i) {
    memmove(&w->entries[i], &w->entries[i + 1], (--w->count - i) * sizeof *w->entries);
}

static int64_t find_entry(const struct rag_writer *w, const char *name, uint32_t segment) {
    for (size_t i = 0; i < w->count; i++)
        if (w->entries[i].segment == segment && strcmp(w->entries[i].name, name) == 0)
            return (int64_t)i;
    return -1;
}

/* The table lists the segment's sections again, and its list is left out. */
static void unlist(struct rag_writer *w, uint32_t segment) {
    const int64_t list = find_entry(w, LIST_NAME, segment);
    if (list < 0 || w->entries[list].generation == w->generation) return;
    remove_entry(w, (size_t)list);
    for (size_t i = 0; i < w->count; i++)
        if (w->entries[i].segment == segment) w->entries[i].listed = false;
}

/* Removes the entry of an older section. One of this commit would leave a hole, and nothing is ever
 * written twice. */
static enum rag_status remove_older(struct rag_writer *w, const char *name, uint32_t segment,
                                    struct rag_fault *fault) {
    const int64_t i = find_entry(w, name, segment);
    if (i < 0) return rag_fail(fault, RAG_ARGUMENT, segment, "no such section");
    if (w->entries[i].generation == w->generation)
        return rag_fail(fault, RAG_ARGUMENT, segment, "this commit wrote the section");
    remove_entry(w, (size_t)i);
    return RAG_OK;
}

enum rag_status rag_section_drop(struct rag_writer *w, const char *name, uint32_t segment,
                                 struct rag_fault *fault) {
    if (segment != 0 && find_entry(w, name, segment) >= 0) {
        unlist(w, segment);                                  /* the list would bring it back */
        if (find_entry(w, name, segment) < 0) return RAG_OK; /* it was the list */
    }
    return remove_older(w, name, segment, fault);
}

enum rag_status rag_section_begin(struct rag_writer *w, const char *name, uint32_t segment,
                                  uint32_t flags, uint64_t *at, struct rag_fault *fault) {
    if (usable(w, fault) != RAG_OK) return RAG_ARGUMENT;
    if (w->open) return rag_fail(fault, RAG_ARGUMENT, 0, "the section before was not ended");
    if (!rag_name_valid(name, strlen(name)) || strcmp(name, HEAD_NAME) == 0 ||
        strcmp(name, TOC_NAME) == 0)
        return rag_fail(fault, RAG_ARGUMENT, 0,
                        "a section's name is [A-Za-z0-9_.+@/]{1,64}, and not rag.head or rag.toc");
    if (flags & ~(ENTRY_MUST_READ | ENTRY_MUST_WRITE))
        return rag_fail(fault, RAG_ARGUMENT, flags, "no such section flag");
    if (w->count >= ENTRIES_MAX)
        return rag_fail(fault, RAG_LIMIT, w->count, "too many sections: compact the file");
    if (find_entry(w, name, segment) >= 0) {
        const enum rag_status removed = remove_older(w, name, segment, fault);
        if (removed != RAG_OK) return removed;
    }
    enum rag_status status = make_room(&w->entries, w->count, &w->room, sizeof *w->entries, fault);
    if (status != RAG_OK) return spoil(w, status);
    struct planned *p = &w->entries[w->count];
    *p = (struct planned){
        .segment = segment, .flags = flags, .generation = w->generation, .at = w->end};
    strcpy(p->name, name);
    w->open = true;
    w->written = w->buffered = w->sum_count = 0;
    *at = w->end;
    return RAG_OK;
}

enum rag_status rag_section_write(struct rag_writer *w, const void *bytes, size_t size,
                                  struct rag_fault *fault) {
    if (usable(w, fault) != RAG_OK) return RAG_ARGUMENT;
    if (!w->open) return rag_fail(fault, RAG_ARGUMENT, 0, "no section was begun");
    for (const uint8_t *from = bytes; size > 0;) {
        const size_t room = BUFFER_SIZE - w->buffered, take = size < room ? size : room;
        memcpy(w->buffer + w->buffered, from, take);
        w->buffered += take, from += take, size -= take;
        if (w->buffered < BUFFER_SIZE) break;
        enum rag_status status = flush(w, fault);
        if (status != RAG_OK) return spoil(w, status);
    }
    return RAG_OK;
}

/* A section whose finer sums were taken: they are the last. */
static enum rag_status note_part(struct rag_writer *w, const struct planned *p,
                                 struct rag_fault *fault) {
    const uint64_t grains = (p->size + w->grain - 1) / w->grain;
    const enum rag_status status =
        make_room(&w->parts, w->part_count, &w->part_room, sizeof *w->parts, fault);
    if (status == RAG_OK)
        w->parts[w->part_count++] = (struct small_part){p->at, p->size, w->small_count - grains};
    return status;
}

enum rag_status rag_section_end(struct rag_writer *w, uint64_t items, struct rag_fault *fault) {
    if (usable(w, fault) != RAG_OK) return RAG_ARGUMENT;
    if (!w->open) return rag_fail(fault, RAG_ARGUMENT, 0, "no section was begun");
    if (items > ROWS_MAX)
        return rag_fail(fault, RAG_ARGUMENT, items, "more items than a section may hold");
    enum rag_status status = flush(w, fault);
    if (status != RAG_OK) return spoil(w, status);
    struct planned *p = &w->entries[w->count];
    const uint64_t sums_at = align_up(w->written, 8), sums_end = sums_at + 8 * w->sum_count,
                   extent = rag_extent(w->written);
    const uint8_t zero[SECTION_ALIGN] = {0};
    /* unreached: takes a file of 2^60 bytes */
    if (extent == 0 || p->at + extent > FILE_SIZE_MAX)
        return spoil(w, rag_fail(fault, RAG_LIMIT, p->at, "the file would be too large"));
    status = rag_file_write(w->file, p->at + w->written, zero, sums_at - w->written, fault);
    if (status == RAG_OK)
        status = rag_file_write(w->file, p->at + sums_at, w->sums, 8 * w->sum_count, fault);
    if (status == RAG_OK)
        status = rag_file_write(w->file, p->at + sums_end, zero, extent - sums_end, fault);
    if (status != RAG_OK) return spoil(w, status);
    p->size = w->written;
    p->items = items;
    p->hash = rag_hash(w->sums, 8 * w->sum_count);
    if (w->grain && (status = note_part(w, p, fault)) != RAG_OK) return spoil(w, status);
    w->count++;
    w->end += extent;
    w->open = false;
    return RAG_OK;
}

/* --------------------------------------------------------------------------------- finer sums */

void rag_writer_grain(struct rag_writer *w, uint32_t grain) {
    w->grain = grain;
    if (grain) w->small_grain = grain;
}

static enum rag_status write_parts(struct rag_writer *w, struct rag_fault *fault) {
    uint8_t head[FINE_HEAD_SIZE] = {0};
    memcpy(head, FINE_MAGIC, 8);
    store_u32(head + FINE_GRAIN, w->small_grain);
    store_u32(head + FINE_COUNT, (uint32_t)w->part_count);
    enum rag_status status = rag_section_write(w, head, sizeof head, fault);
    for (size_t i = 0; status == RAG_OK && i < w->part_count; i++) {
        uint8_t entry[FINE_ENTRY] = {0};
        store_u64(entry, w->parts[i].at);
        store_u64(entry + 8, w->parts[i].size);
        store_u64(entry + 16, w->parts[i].first);
        status = rag_section_write(w, entry, sizeof entry, fault);
    }
    return status;
}

enum rag_status rag_writer_small_blocks(struct rag_writer *w, uint32_t segment,
                                        struct rag_fault *fault) {
    uint64_t at;
    w->grain = 0;
    enum rag_status status = rag_section_begin(w, FINE_NAME, segment, 0, &at, fault);
    if (status == RAG_OK) status = write_parts(w, fault);
    if (status == RAG_OK) status = rag_section_write(w, w->small, 8 * w->small_count, fault);
    if (status == RAG_OK) status = rag_section_end(w, w->part_count, fault);
    w->small_count = w->part_count = 0;
    return status;
}

/* --------------------------------------------------------------------------- lists of sections */

static enum rag_status write_listed(struct rag_writer *w, size_t first, struct rag_fault *fault) {
    uint8_t head[LIST_HEAD_SIZE] = LIST_MAGIC;
    size_t names = 0;
    const size_t end = w->count;
    for (size_t i = first; i < end; i++) names += strlen(w->entries[i].name) + 1;
    store_u32(head + LIST_COUNT, (uint32_t)(end - first));
    store_u32(head + LIST_NAMES, (uint32_t)names);
    enum rag_status status = rag_section_write(w, head, sizeof head, fault);
    for (size_t i = first; status == RAG_OK && i < end; i++) {
        const struct planned *p = &w->entries[i];
        uint8_t entry[LISTED_SIZE] = {0};
        store_u64(entry + LISTED_BYTES, p->size);
        store_u64(entry + LISTED_ITEMS, p->items);
        store_u64(entry + LISTED_HASH, p->hash);
        store_u32(entry + LISTED_FLAGS, p->flags);
        status = rag_section_write(w, entry, sizeof entry, fault);
    }
    for (size_t i = first; status == RAG_OK && i < end; i++)
        status = rag_section_write(w, w->entries[i].name, strlen(w->entries[i].name) + 1, fault);
    return status;
}

/* The number of the segment's sections that were written last, one after the other. */
static size_t count_last(const struct rag_writer *w, uint32_t segment) {
    size_t first = w->count;
    while (first > 0 && w->entries[first - 1].segment == segment &&
           w->entries[first - 1].generation == w->generation &&
           strcmp(w->entries[first - 1].name, LIST_NAME) != 0)
        first--;
    return w->count - first;
}

enum rag_status rag_writer_list(struct rag_writer *w, uint32_t segment, struct rag_fault *fault) {
    const size_t count = count_last(w, segment), first = w->count - count;
    uint64_t at;
    if (count == 0 || segment == 0 ||
        LIST_HEAD_SIZE + count * (LISTED_SIZE + NAME_MAX_SIZE + 1) > LIST_MAX_SIZE)
        return rag_fail(fault, RAG_ARGUMENT, segment, "no sections to list");
    enum rag_status status = rag_section_begin(w, LIST_NAME, segment, ENTRY_MUST_READ, &at, fault);
    if (status == RAG_OK) status = write_listed(w, first, fault);
    if (status == RAG_OK) status = rag_section_end(w, count, fault);
    for (size_t i = first; status == RAG_OK && i < first + count; i++) w->entries[i].listed = true;
    return status;
}

/* -------------------------------------------------------------------------------------- commits */

static uint8_t *put_names(const struct rag_writer *w, uint8_t *at) {
    for (size_t i = 0; i < w->count; i++) {
        if (w->entries[i].listed) continue;
        const size_t size = strlen(w->entries[i].name) + 1;
        memcpy(at, w->entries[i].name, size);
        at += size;
    }
    return at;
}

static void put_entries(const struct rag_writer *w, uint8_t *at) {
    uint32_t name = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct planned *p = &w->entries[i];
        if (p->listed) continue;
        store_u32(at + ENTRY_FLAGS, p->flags);
        store_u32(at + ENTRY_SEGMENT, p->segment);
        store_u32(at + ENTRY_NAME, name);
        store_u64(at + ENTRY_GENERATION, p->generation);
        store_u64(at + ENTRY_AT, p->at);
        store_u64(at + ENTRY_BYTES, p->size);
        store_u64(at + ENTRY_ITEMS, p->items);
        store_u64(at + ENTRY_HASH, p->hash);
        name += (uint32_t)strlen(p->name) + 1;
        at += ENTRY_SIZE;
    }
}

static void put_segments(const struct rag_writer *w, uint8_t *at) {
    for (size_t i = 0; i < w->segment_count; i++, at += SEGMENT_SIZE) {
        store_u32(at + SEGMENT_NUMBER, w->segments[i].number);
        store_u64(at + SEGMENT_ROWS, w->segments[i].rows);
        store_u64(at + SEGMENT_LIVE, w->segments[i].live);
        store_u64(at + SEGMENT_GENERATION, w->segments[i].generation);
    }
}

/* The table of contents and its padding; from calloc, so the rest is zero. */
static uint8_t *make_toc(const struct rag_writer *w, uint64_t created, const char *message,
                         size_t message_size, uint64_t *toc_size) {
    size_t names = 0, count = 0;
    for (size_t i = 0; i < w->count; i++) {
        names += w->entries[i].listed ? 0 : strlen(w->entries[i].name) + 1;
        count += !w->entries[i].listed;
    }
    const uint64_t entries = (uint64_t)count * ENTRY_SIZE,
                   segments = (uint64_t)w->segment_count * SEGMENT_SIZE;
    *toc_size = TOC_HEAD_SIZE + entries + segments + names + message_size;
    uint8_t *toc = calloc(align_up(*toc_size + 1, SECTION_ALIGN), 1);
    if (!toc) return NULL;
    memcpy(toc, TOC_MAGIC, 8);
    store_u64(toc + TOC_GENERATION, w->generation);
    store_u64(toc + TOC_CREATED, created);
    store_u32(toc + TOC_ENTRIES, (uint32_t)count);
    store_u32(toc + TOC_SEGMENTS, (uint32_t)w->segment_count);
    store_u32(toc + TOC_NAMES, (uint32_t)names);
    store_u32(toc + TOC_MESSAGE, (uint32_t)message_size);
    store_u64(toc + TOC_START, w->start);
    store_u64(toc + TOC_NEXT_SEGMENT, w->next_segment);
    store_u64(toc + TOC_ABANDONED, w->abandoned);
    put_entries(w, toc + TOC_HEAD_SIZE);
    put_segments(w, toc + TOC_HEAD_SIZE + entries);
    uint8_t *end = put_names(w, toc + TOC_HEAD_SIZE + entries + segments);
    if (message_size) memcpy(end, message, message_size);
    return toc;
}

static void put_footer(const struct rag_writer *w, uint8_t *footer, uint64_t toc_size,
                       uint64_t toc_hash) {
    const struct rag_footing footing = {w->generation, w->end,      toc_size,
                                        toc_hash,      w->previous, w->identity};
    rag_footer_write(footer, &footing);
}

static enum rag_status write_front(struct rag_writer *w, uint64_t created, uint64_t toc_size,
                                   uint64_t toc_hash, uint64_t footer_at, struct rag_fault *fault) {
    uint8_t front[FRONT_SIZE];
    struct rag_entry *entries = calloc(w->count + 1, sizeof *entries);
    if (!entries) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    for (size_t i = 0; i < w->count; i++) {
        const struct planned *p = &w->entries[i];
        entries[i] = (struct rag_entry){
            .name = p->name, .at = p->at, .size = p->size, .extent = rag_extent(p->size)};
    }
    const struct front_page page = {w->version, w->write_features, w->end,  toc_size, toc_hash,
                                    footer_at,  created,           entries, w->count};
    rag_front_page(front, &page);
    free(entries);
    return rag_file_write(w->file, 0, front, sizeof front, fault);
}

/* The deleted rows of a segment, by its sections. */
struct deletions {
    uint64_t count;
    bool fit; /* the sections have the sizes that their items need */
};

/* An inconsistent table is not written. */
static enum rag_status check_deletions(const struct rag_writer *w, const struct deletions *found,
                                       struct rag_fault *fault) {
    for (size_t s = 0; s < w->segment_count; s++) {
        const struct rag_segment_record *segment = &w->segments[s];
        if (found[s].count != segment->rows - segment->live || !found[s].fit)
            return rag_fail(fault, RAG_ARGUMENT, segment->number,
                            "a segment's deletions do not add up");
    }
    return RAG_OK;
}

/* The position of a segment, or of the next higher number: segments ascend. */
static size_t find_segment(const struct rag_writer *w, uint32_t number) {
    size_t low = 0, high = w->segment_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->segments[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Counts each segment's deleted rows, and refuses sections of segments that do not exist. */
static enum rag_status find_deletions(const struct rag_writer *w, struct deletions *found,
                                      struct rag_fault *fault) {
    for (size_t s = 0; s < w->segment_count; s++) found[s].fit = true;
    for (size_t i = 0; i < w->count; i++) {
        const struct planned *entry = &w->entries[i];
        if (entry->segment == 0) continue;
        const size_t s = find_segment(w, entry->segment);
        if (s == w->segment_count || w->segments[s].number != entry->segment)
            return rag_fail(fault, RAG_ARGUMENT, entry->segment,
                            "a section of a segment that has no rows");
        const bool bitmap = strcmp(entry->name, TOMBS_NAME) == 0,
                   list = strcmp(entry->name, DELETED_NAME) == 0;
        if (!bitmap && !list) continue;
        found[s].count += entry->items;
        if (entry->size != (bitmap ? (w->segments[s].rows + 63) / 64 * 8 : 4 * entry->items) ||
            (list && !(entry->flags & ENTRY_MUST_READ)))
            found[s].fit = false;
    }
    return RAG_OK;
}

static enum rag_status check_plan(const struct rag_writer *w, struct rag_fault *fault) {
    struct deletions *found = calloc(w->segment_count + 1, sizeof *found);
    if (!found) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    enum rag_status status = find_deletions(w, found, fault);
    if (status == RAG_OK) status = check_deletions(w, found, fault);
    free(found);
    return status;
}

/* --------------------------------------------------------------------------------------- parity */

void rag_writer_parity(struct rag_writer *w, unsigned percent, bool anew) {
    w->percent = percent;
    w->anew = anew;
}

static uint64_t entry_end(const struct planned *entry) {
    return entry->at + rag_extent(entry->size);
}

/* Chooses the range: it begins at the end of that of the section before, if there is one. Returns
 * whether a step protects it. Otherwise steps since the last other section are in the range. Older
 * versions know no steps, and would count one as signed content. */
static bool plan_range(struct rag_writer *w, struct parity *p) {
    const int64_t whole = find_entry(w, PARITY_NAME, 0), step = find_entry(w, PARITY_STEP_NAME, 0);
    p->from = FRONT_SIZE;
    if (w->anew || whole < 0) return false;
    const struct planned *before = &w->entries[whole];
    p->from = entry_end(before);
    if (step > whole) before = &w->entries[step];
    const bool is_step = find_entry(w, "rag.signatures", 0) < 0 &&
                         rag_parity_takes_step(w->end, p->from, entry_end(before));
    if (is_step) p->from = entry_end(before);
    else before = &w->entries[whole];
    p->before = before->at;
    return is_step;
}

/* Reserves the section's place in the table, after everything else. */
static enum rag_status plan_parity(struct rag_writer *w, struct parity *p, bool *is_step,
                                   struct rag_fault *fault) {
    uint64_t at;
    *is_step = plan_range(w, p);
    const int64_t step = find_entry(w, PARITY_STEP_NAME, 0);
    if (!*is_step && step >= 0) remove_entry(w, (size_t)step);
    const char *name = *is_step ? PARITY_STEP_NAME : PARITY_NAME;
    const enum rag_status status = rag_section_begin(w, name, 0, 0, &at, fault);
    w->open = false; /* its bytes go to their places by themselves */
    p->generation = w->generation;
    p->at = w->end;
    p->previous = w->previous;
    p->identity = w->identity;
    p->write_features = w->write_features;
    memcpy(p->version, w->version, sizeof p->version);
    return status;
}

/* Writes block hashes and padding of a section whose bytes were written. */
static enum rag_status end_parity(struct rag_writer *w, const struct parity *p,
                                  struct rag_fault *fault) {
    const uint64_t size = rag_parity_size(p), extent = rag_extent(size);
    const size_t blocks = (size_t)((size + RAG_BLOCK - 1) / RAG_BLOCK),
                 rest = (size_t)(extent - size);
    struct rag_map map;
    uint8_t *sums = calloc(rest, 1);
    if (!sums) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    enum rag_status status = rag_file_map(w->file, &map, fault);
    if (status == RAG_OK) {
        rag_sum_blocks(map.bytes + p->at, size, sums);
        rag_map_close(&map);
        w->entries[w->count - 1].hash = rag_hash(sums, 8 * blocks);
        status = rag_file_write(w->file, p->at + size, sums, rest, fault);
    }
    free(sums);
    w->end += extent;
    return status;
}

/* Parity covers everything else in the commit, so it comes last. */
static enum rag_status write_parity(struct rag_writer *w, uint64_t created, const char *message,
                                    size_t message_size, struct rag_fault *fault) {
    struct parity p = {0};
    uint64_t toc_size;
    bool is_step;
    enum rag_status status = plan_parity(w, &p, &is_step, fault);
    if (status != RAG_OK) return status;
    w->count++;
    uint8_t *toc = make_toc(w, created, message, message_size, &toc_size);
    /* unreached: the most sections and segments that there can be make a table of 11 MiB */
    p.toc_size = toc_size > TOC_SIZE_MAX ? 0 : (uint32_t)toc_size;
    if (!toc || !rag_parity_plan(&p, w->percent, is_step)) {
        free(toc);
        return toc ? rag_fail(fault, RAG_LIMIT, w->end, "the file is too large for parity")
                   : rag_fail(fault, RAG_MEMORY, 0, "no memory");
    }
    free(toc);
    w->entries[w->count - 1].size = rag_parity_size(&p);
    w->entries[w->count - 1].items = (uint64_t)p.groups * p.rows;
    toc = make_toc(w, created, message, message_size, &toc_size);
    status = toc ? rag_parity_write(w->file, &p, toc, fault)
                 : rag_fail(fault, RAG_MEMORY, 0, "no memory");
    free(toc);
    return status == RAG_OK ? end_parity(w, &p, fault) : status;
}

/* The parity of an encrypted file follows the commit. */
static enum rag_status write_trailer(struct rag_writer *w, struct rag_fault *fault) {
    const struct rag_encryption *encryption = rag_file_encryption(w->file);
    if (!encryption || !w->percent) return RAG_OK;
    return rag_trailer_write(w->file, rag_encryption_header(encryption), w->anew ? 0 : w->stored,
                             w->percent, fault);
}

/* Writes the footer after everything that it refers to is durable. A new file is synced
 * completely, then renamed. */
static enum rag_status seal(struct rag_writer *w, uint64_t created, const uint8_t *footer,
                            uint64_t footer_at, struct rag_fault *fault) {
    const uint64_t toc_size = load_u64(footer + FOOTER_TOC_SIZE),
                   toc_hash = load_u64(footer + FOOTER_TOC_HASH);
    const bool first = w->generation == 1;
    enum rag_status status = first ? RAG_OK : rag_file_sync(w->file, fault);
    if (status == RAG_OK && !first) status = rag_file_named(w->file, fault);
    if (status == RAG_OK && !first)
        rag_file_settled(w->file, 0); /* from now on there is something to find */
    if (status == RAG_OK) status = rag_file_write(w->file, footer_at, footer, FOOTER_SIZE, fault);
    if (status == RAG_OK) status = rag_file_flush(w->file, fault);
    if (status != RAG_OK) return status;
    w->sealed = true;
    status = first ? write_front(w, created, toc_size, toc_hash, footer_at, fault)
                   : rag_file_sync(w->file, fault);
    if (status == RAG_OK) status = write_trailer(w, fault);
    return status == RAG_OK && first ? rag_file_publish(w->file, w->replaces, fault) : status;
}

enum rag_status rag_writer_commit(struct rag_writer *w, uint64_t created, const char *message,
                                  size_t message_size, struct rag_fault *fault) {
    uint64_t toc_size;
    uint8_t footer[FOOTER_SIZE];
    if (usable(w, fault) != RAG_OK) return RAG_ARGUMENT;
    if (w->open) return rag_fail(fault, RAG_ARGUMENT, 0, "the last section was not ended");
    if (message_size > MESSAGE_MAX_SIZE)
        return rag_fail(fault, RAG_ARGUMENT, message_size, "a commit message holds 4096 bytes");
    enum rag_status status = check_plan(w, fault);
    if (status != RAG_OK) return status;
    if (w->loses) status = give_up_lost(w, fault);
    if (status == RAG_OK && w->percent && !rag_file_encryption(w->file))
        status = write_parity(w, created, message, message_size, fault);
    w->spoilt = true; /* from here on there is one try */
    if (status != RAG_OK) return status;
    uint8_t *toc = make_toc(w, created, message, message_size, &toc_size);
    if (!toc) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    const uint64_t padded = align_up(toc_size + 1, SECTION_ALIGN);
    put_footer(w, footer, toc_size, rag_hash(toc, toc_size));
    /* unreached: the most sections and segments that there can be make a table of 11 MiB */
    if (toc_size > TOC_SIZE_MAX)
        status = rag_fail(fault, RAG_LIMIT, toc_size, "the table of contents would be too large");
    if (status == RAG_OK) status = rag_file_write(w->file, w->end, toc, padded, fault);
    free(toc);
    return status == RAG_OK ? seal(w, created, footer, w->end + padded, fault) : status;
}
