/* pages.c - a cache of fetched and checked stretches of sections, for files of any size in bounded
 * memory.
 *
 * A page is a run of consecutive whole blocks of one section. A stretch is held if one page has all
 * of its blocks. If its blocks are spread over several pages, a new page combines them. The old
 * pages stay valid until the caller releases the lent bytes (rag_pages_forget), which frees them.
 *
 * A block is checked once, when it enters a page: its bytes are a private copy. A block fetched
 * again is checked again. The sums of a section's 64 KiB blocks are a page of their own, checked
 * against the table of contents. A section that rag.fine covers has smaller blocks, with their sums
 * in a stretch of rag.fine.
 *
 * Bytes outside sections (front page, footers, table) are pages of a space without sums; their
 * readers check them. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "doors/wasm/wasm.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum { SLACK = 128, RAW_ALIGN = 64 };

struct page {
    uint64_t at, size; /* in the section */
    uint8_t *bytes;
    uint64_t used; /* the last round that used it */
    bool is_spare; /* a larger page has all of it */
};

/* One section, or (at 0, is_raw) the file itself. */
struct space {
    uint64_t at, size, sums_hash, grain, longest;
    struct page *pages; /* in order of at */
    size_t count, room, last;
    bool overlaps;          /* some pages share blocks: the page found last can be the shorter */
    uint64_t *sums;         /* of 64 KiB blocks, once fetched */
    struct rag_guard finer; /* rag.fine, where grain is not RAG_BLOCK */
    uint64_t finer_at;
    bool is_raw;
};

static struct space **spaces; /* in order of at; the raw one is apart */
static size_t space_count, space_room;
static struct space raw = {.grain = RAW_ALIGN, .size = UINT64_MAX / 2, .is_raw = true};
static uint64_t now = 1, kept;

/* --------------------------------------------------------------------------------------- spaces */

static size_t space_index(uint64_t at) {
    size_t low = 0, high = space_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spaces[middle]->at < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

static struct space *space_new(uint64_t at, uint64_t size) {
    const size_t i = space_index(at);
    if (i < space_count && spaces[i]->at == at && spaces[i]->size == size) return spaces[i];
    struct space *space = calloc(1, sizeof *space);
    if (!space || !rag_grow(&spaces, &space_room, space_count + 1, sizeof *spaces)) {
        free(space);
        return NULL;
    }
    memmove(spaces + i + 1, spaces + i, (space_count - i) * sizeof *spaces);
    *space = (struct space){.at = at, .size = size, .grain = RAG_BLOCK};
    spaces[i] = space;
    space_count++;
    return space;
}

static struct space *space_of(const struct rag_guard *guard) {
    static struct space *last;
    if (last && last->at == guard->at && last->size == guard->size) return last;
    struct space *space = space_new(guard->at, guard->size);
    if (space) space->sums_hash = guard->sums_hash, last = space;
    return space;
}

void rag_pages_fine(uint64_t section_at, uint64_t size, uint32_t grain,
                    const struct rag_guard *sums, uint64_t at) {
    struct space *space = space_new(section_at, size);
    if (!space || space->count) return;
    space->grain = grain;
    space->finer = *sums;
    space->finer_at = at;
}

/* ---------------------------------------------------------------------------------------- pages */

/* Return the first page that begins after `at`. */
static size_t page_after(const struct space *space, uint64_t at) {
    size_t low = 0, high = space->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (space->pages[middle].at <= at) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Return the page that contains `at` and the most bytes after it, or NULL. */
static struct page *page_at(struct space *space, uint64_t at) {
    struct page *best = NULL;
    if (!space->overlaps && space->last < space->count) {
        struct page *page = &space->pages[space->last];
        if (!page->is_spare && page->at <= at && at - page->at < page->size) best = page;
    }
    for (size_t i = best ? 0 : page_after(space, at); i-- > 0;) {
        struct page *page = &space->pages[i];
        if (at - page->at >= space->longest) break;
        if (at - page->at >= page->size) continue;
        if (!best || page->at + page->size > best->at + best->size) best = page;
    }
    if (best) space->last = (size_t)(best - space->pages);
    return best;
}

static struct page *page_holding(struct space *space, uint64_t from, uint64_t to) {
    struct page *page = page_at(space, from);
    return page && page->at + page->size >= to ? page : NULL;
}

/* Compare a new page with its neighbours: note overlaps and mark redundant pages. */
static void compare(struct space *space, size_t i) {
    const struct page *page = &space->pages[i];
    const uint64_t end = page->at + page->size;
    for (size_t j = page_after(space, end - 1); j-- > 0;) {
        struct page *other = &space->pages[j];
        if (page->at >= other->at && page->at - other->at >= space->longest) break;
        if (j == i || other->is_spare || other->at + other->size <= page->at) continue;
        if (other->at >= page->at && other->at + other->size <= end) other->is_spare = true;
        else space->overlaps = true;
    }
}

static bool page_insert(struct space *space, const struct page *page) {
    if (!rag_grow(&space->pages, &space->room, space->count + 1, sizeof *space->pages))
        return false;
    const size_t i = page_after(space, page->at);
    memmove(space->pages + i + 1, space->pages + i, (space->count - i) * sizeof *space->pages);
    space->pages[i] = *page;
    space->count++;
    space->last = i;
    kept += page->size;
    if (page->size > space->longest) space->longest = page->size;
    compare(space, i);
    return true;
}

/* ------------------------------------------------------------------------------------- checking */

static enum rag_status corrupt(const struct rag_guard *guard, uint64_t at, const char *what,
                               struct rag_fault *why) {
    rag_fail(why, RAG_CORRUPT, at, what);
    if (why && guard) memcpy(why->section, guard->name, sizeof why->section);
    return RAG_CORRUPT;
}

static size_t blocks_of(const struct space *space) {
    return (size_t)((space->size + RAG_BLOCK - 1) / RAG_BLOCK);
}

/* Fetch the sums of 64 KiB blocks. */
static enum rag_status hold_sums(struct space *space, const struct rag_guard *guard,
                                 struct rag_fault *why) {
    const size_t size = 8 * blocks_of(space);
    const uint64_t at = align_up(space->at + space->size, 8);
    if (space->sums) return RAG_OK;
    if (!host_read((double)at, (double)size, NULL)) return RAG_SOURCE;
    uint64_t *sums = malloc(size + 8);
    if (!sums) return rag_fail(why, RAG_MEMORY, 0, "no memory");
    if (!host_read((double)at, (double)size, sums) || rag_hash(sums, size) != space->sums_hash) {
        free(sums);
        return corrupt(guard, at, "the section's block hashes do not match", why);
    }
    space->sums = sums;
    return RAG_OK;
}

static enum rag_status hold_finer(const struct space *space, uint64_t from, uint64_t to,
                                  struct rag_fault *why) {
    const uint64_t first = from / space->grain, last = (to - 1) / space->grain;
    return rag_guard_check(&space->finer, space->finer_at + 8 * first, 8 * (last - first + 1), why);
}

static uint64_t sum_of(const struct space *space, uint64_t at) {
    if (space->grain == RAG_BLOCK) return load_u64(space->sums + at / RAG_BLOCK);
    return load_u64(rag_guard_at(&space->finer, space->finer_at + 8 * (at / space->grain)));
}

/* ---------------------------------------------------------------------------------------- holds */

/* Widen a stretch to whole blocks. */
static void widen(const struct space *space, uint64_t at, uint64_t size, uint64_t *from,
                  uint64_t *to) {
    *from = at / space->grain * space->grain;
    *to = align_up(at + size, space->grain);
    if (*to > space->size) *to = space->size;
}

/* Return the end of the run of blocks from `at` that are in no page. */
static uint64_t gap_end(struct space *space, uint64_t at, uint64_t to) {
    while (at < to && !page_at(space, at)) at += space->grain;
    return at < to ? at : to;
}

/* Request missing bytes from the host; return RAG_SOURCE if there are any. */
static enum rag_status want(struct space *space, const struct rag_guard *guard, uint64_t from,
                            uint64_t to, struct rag_fault *why) {
    enum rag_status status = RAG_OK, sums = RAG_OK;
    if (!space->is_raw)
        sums = space->grain == RAG_BLOCK ? hold_sums(space, guard, why)
                                         : hold_finer(space, from, to, why);
    if (sums != RAG_OK && sums != RAG_SOURCE) return sums;
    for (uint64_t at = from; at < to;) {
        const struct page *page = page_at(space, at);
        const uint64_t end = page ? page->at + page->size : gap_end(space, at, to);
        if (!page && !host_read((double)(space->at + at), (double)(end - at), NULL))
            status = RAG_SOURCE;
        at = end;
    }
    return status == RAG_OK ? sums : status;
}

static enum rag_status check_blocks(const struct space *space, const struct rag_guard *guard,
                                    const struct page *page, uint64_t from, uint64_t to,
                                    struct rag_fault *why) {
    for (uint64_t at = from; at < to && !space->is_raw; at += space->grain) {
        const uint64_t left = space->size - at, size = left < space->grain ? left : space->grain;
        if (rag_hash(page->bytes + (at - page->at), (size_t)size) != sum_of(space, at))
            return corrupt(guard, at, "block checksum does not match", why);
    }
    return RAG_OK;
}

/* Fill a new page from existing pages and from the host. */
static enum rag_status fill(struct space *space, const struct rag_guard *guard, struct page *page,
                            struct rag_fault *why) {
    const uint64_t to = page->at + page->size;
    for (uint64_t at = page->at; at < to;) {
        const struct page *other = page_at(space, at);
        uint64_t end = other ? other->at + other->size : gap_end(space, at, to);
        uint8_t *into = page->bytes + (at - page->at);
        if (end > to) end = to;
        if (other) memcpy(into, other->bytes + (at - other->at), (size_t)(end - at));
        else if (!host_read((double)(space->at + at), (double)(end - at), into))
            return rag_fail(why, RAG_SOURCE, at, "bytes that were here are gone");
        const enum rag_status status =
            other ? RAG_OK : check_blocks(space, guard, page, at, end, why);
        if (status != RAG_OK) return status;
        at = end;
    }
    return RAG_OK;
}

static enum rag_status page_make(struct space *space, const struct rag_guard *guard, uint64_t from,
                                 uint64_t to, struct rag_fault *why) {
    const uint64_t size = to - from;
    uint8_t *bytes =
        size < SIZE_MAX - 2 * SLACK ? aligned_alloc(64, align_up((size_t)size + SLACK, 64)) : NULL;
    if (!bytes) return rag_fail(why, RAG_MEMORY, from, "no memory for a section");
    memset(bytes + size, 0, SLACK);
    struct page page = {from, size, bytes, now, false};
    enum rag_status status = fill(space, guard, &page, why);
    if (status == RAG_OK && !page_insert(space, &page))
        status = rag_fail(why, RAG_MEMORY, from, "no memory");
    if (status != RAG_OK) free(bytes);
    return status;
}

static enum rag_status outside(const struct rag_guard *guard, uint64_t at, struct rag_fault *why) {
    return corrupt(guard, at, "a stretch lies outside its section", why);
}

/* Wants that extend past a section's end are truncated, as in rag_ready. */
static enum rag_status hold(void *context, const struct rag_want *wants, size_t count,
                            struct rag_fault *why) {
    enum rag_status status = RAG_OK;
    uint64_t from, to;
    (void)context;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            const struct rag_guard *guard = wants[i].guard;
            if (wants[i].size == 0 || wants[i].at >= guard->size) continue;
            const uint64_t room = guard->size - wants[i].at;
            struct space *space = space_of(guard);
            if (!space) return rag_fail(why, RAG_MEMORY, 0, "no memory");
            widen(space, wants[i].at, wants[i].size < room ? wants[i].size : room, &from, &to);
            struct page *page = page_holding(space, from, to);
            if (page) page->used = now;
            if (page) continue;
            const enum rag_status done = pass == 0 ? want(space, guard, from, to, why)
                                                   : page_make(space, guard, from, to, why);
            if (done != RAG_OK && done != RAG_SOURCE) return done;
            if (done != RAG_OK) status = done;
        }
        if (status != RAG_OK)
            return rag_fail(why, status, 0, "bytes that are elsewhere are not here yet");
    }
    /* a single check must not skip a stretch that is absent */
    if (count == 1 && wants->size > 0 &&
        (wants->at > wants->guard->size || wants->size > wants->guard->size - wants->at))
        return outside(wants->guard, wants->at, why);
    return RAG_OK;
}

static const uint8_t *lend(void *context, const struct rag_guard *guard, uint64_t at) {
    static const uint8_t nothing[SLACK];
    (void)context;
    struct space *space = space_of(guard);
    struct page *page = space ? page_at(space, at) : NULL;
    if (!page) return nothing;
    page->used = now;
    return page->bytes + (at - page->at);
}

static enum rag_status whole(void *context, uint64_t at, uint64_t size, const uint8_t **bytes,
                             struct rag_fault *why) {
    uint64_t from, to;
    (void)context;
    widen(&raw, at, size, &from, &to);
    if (to > at + size) to = at + size; /* the file may end before it */
    struct page *page = page_holding(&raw, from, to);
    enum rag_status status = page ? RAG_OK : want(&raw, NULL, from, to, why);
    if (!page && status == RAG_OK) status = page_make(&raw, NULL, from, to, why);
    if (status != RAG_OK) return rag_fail(why, status, at, why && why->what ? why->what : "");
    page = page_holding(&raw, from, to);
    page->used = now;
    *bytes = page->bytes + (at - page->at);
    return RAG_OK;
}

const struct rag_source rag_pages = {.hold = hold, .lend = lend, .whole = whole};

/* ----------------------------------------------------------------------------------- forgetting */

static void drop_pages(struct space *space, uint64_t before) {
    size_t left = 0;
    uint64_t end = 0;
    space->longest = 0;
    space->overlaps = false;
    for (size_t i = 0; i < space->count; i++) {
        struct page *page = &space->pages[i];
        if (page->is_spare || page->used < before) {
            kept -= page->size;
            free(page->bytes);
            continue;
        }
        if (page->size > space->longest) space->longest = page->size;
        if (page->at < end) space->overlaps = true;
        if (page->at + page->size > end) end = page->at + page->size;
        space->pages[left++] = *page;
    }
    space->count = left;
    space->last = SIZE_MAX;
}

static void drop_all(uint64_t before) {
    for (size_t i = 0; i < space_count; i++) drop_pages(spaces[i], before);
    drop_pages(&raw, before);
}

/* Free the oldest pages until the rest fits `most` bytes, by last round used. Bisecting rounds is
 * enough: a page's exact age does not matter. */
void rag_pages_forget(uint64_t most) {
    drop_all(0);
    for (uint64_t age = now; kept > most && age > 0; age /= 2) drop_all(now - age + 1);
    if (kept > most) drop_all(UINT64_MAX);
    now++;
}

uint64_t rag_pages_size(void) { return kept; }
