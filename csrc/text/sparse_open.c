/* sparse_open.c - rag.sparse in place: header, directory of terms, walks through lists.
 *
 * Opening checks the header and where names and lists end, so a lookup cannot leave the section. A
 * list is checked when it is used: its containers fill it, and windows ascend. Rows inside are
 * clamped or left out at use, and any code is a weight. So hostile bytes can give wrong rows or
 * scores, but no read outside the section. rag_sparse_check also compares what no search relies on:
 * the order of names and rows, and the largest codes. */
#include <stdlib.h>

#include "container/wants.h"
#include "shared/fail.h"
#include "shared/utf8.h"
#include "text/sparse.h"

/* -------------------------------------------------------------------------------------- weights */

enum { MANTISSA = 11, LEAST_EXPONENT = 1023 - 16, DROPPED_BITS = 52 - MANTISSA };

uint32_t rag_sparse_code(double weight) {
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    if (!(weight >= 0x1p-17)) return RAG_SPARSE_NONE;
    if (weight < 0x1p-16) return 0;
    const uint64_t kept = bits >> DROPPED_BITS, half = (uint64_t)1 << (DROPPED_BITS - 1),
                   rest = bits & (2 * half - 1);
    const uint64_t code =
        kept + (rest > half || (rest == half && kept & 1)) - ((uint64_t)LEAST_EXPONENT << MANTISSA);
    return code > UINT16_MAX ? UINT16_MAX : (uint32_t)code;
}

float rag_sparse_weight(uint32_t code) {
    const uint32_t bits = (code << RAG_BM25_WEIGHT_SHIFT) + RAG_BM25_WEIGHT_BASE;
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

/* -------------------------------------------------------------------------------------- opening */

static enum rag_status broken(const struct rag_sparse *sparse, uint64_t at, const char *what,
                              struct rag_fault *fault) {
    rag_fail(fault, RAG_FORMAT, at, what);
    if (fault) memcpy(fault->section, sparse->guard.name, sizeof fault->section);
    return RAG_FORMAT;
}

static enum rag_status read_header(struct rag_sparse *sparse, struct rag_fault *fault) {
    const uint8_t *at = rag_guard_at(&sparse->guard, 0);
    struct rag_sparse_info *info = &sparse->info;
    if (memcmp(at, SPARSE_MAGIC, 6) != 0) return broken(sparse, 0, "no weights of terms", fault);
    if (memcmp(at, SPARSE_MAGIC, 8) != 0) {
        broken(sparse, 6, "weights of terms of a newer version", fault);
        if (fault) fault->status = RAG_VERSION;
        return RAG_VERSION;
    }
    info->rows = load_u64(at + SPARSE_AT_ROWS);
    info->terms = load_u64(at + SPARSE_AT_TERMS);
    info->weights = load_u64(at + SPARSE_AT_WEIGHTS);
    const uint64_t names = load_u64(at + SPARSE_AT_NAMES), lists = load_u64(at + SPARSE_AT_LISTS);
    if (info->rows >= LEX_ROWS_MAX - 1)
        return broken(sparse, SPARSE_AT_ROWS, "too many rows", fault);
    if (info->terms > sparse->guard.size / 8)
        return broken(sparse, SPARSE_AT_TERMS, "too many terms", fault);
    if (names > UINT32_MAX) return broken(sparse, SPARSE_AT_NAMES, "too many names", fault);
    if (lists > UINT32_MAX) return broken(sparse, SPARSE_AT_LISTS, "too long lists", fault);
    if (load_u64(at + SPARSE_AT_ZERO) || load_u64(at + SPARSE_AT_ZERO + 8))
        return broken(sparse, SPARSE_AT_ZERO, "a reserved byte", fault);
    /* none of these sums can wrap: every operand is below 2^40 or a part of the section's size */
    sparse->ends_at = SPARSE_HEADER;
    sparse->lists_end_at = sparse->ends_at + 4 * info->terms;
    sparse->names_at = sparse->lists_end_at + 4 * info->terms;
    sparse->lists_at = sparse->names_at + align_up(names, SPARSE_WORD);
    if (sparse->lists_at + SPARSE_WORD * lists + SPARSE_SLACK != sparse->guard.size)
        return broken(sparse, 0, "the parts do not fill the section", fault);
    return RAG_OK;
}

enum rag_status rag_sparse_directory(const struct rag_sparse *sparse, struct rag_fault *fault) {
    return rag_guard_check(&sparse->guard, 0, sparse->lists_at, fault);
}

static uint32_t end_of(const uint8_t *ends, uint64_t i) { return load_u32(ends + 4 * i); }
static uint32_t start_of(const uint8_t *ends, uint64_t i) { return i ? end_of(ends, i - 1) : 0; }

/* Check that names and lists follow one another and fill their parts. */
static enum rag_status check_ends(const struct rag_sparse *sparse, struct rag_fault *fault) {
    const uint8_t *at = rag_guard_at(&sparse->guard, 0), *names = at + sparse->ends_at,
                  *lists = at + sparse->lists_end_at;
    const uint64_t terms = sparse->info.terms;
    for (uint64_t i = 0; i < terms; i++) {
        const uint32_t name = end_of(names, i) - start_of(names, i);
        if (end_of(names, i) < start_of(names, i) || name < 1 || name > RAG_SPARSE_TERM)
            return broken(sparse, sparse->ends_at + 4 * i, "a term has 1 to 255 bytes", fault);
        if (end_of(lists, i) <= start_of(lists, i))
            return broken(sparse, sparse->lists_end_at + 4 * i, "a list has no weights", fault);
    }
    if (start_of(names, terms) != load_u64(at + SPARSE_AT_NAMES))
        return broken(sparse, sparse->ends_at, "names do not fill their part", fault);
    if (start_of(lists, terms) != load_u64(at + SPARSE_AT_LISTS))
        return broken(sparse, sparse->lists_end_at, "lists do not fill their part", fault);
    return RAG_OK;
}

enum rag_status rag_sparse_open(const struct rag_guard *section, struct rag_sparse **out,
                                struct rag_fault *fault) {
    const struct rag_sparse bare = {.guard = *section};
    *out = NULL;
    if (section->size < SPARSE_HEADER + SPARSE_SLACK)
        return broken(&bare, 0, "weights of terms have at least a header", fault);
    enum rag_status status = rag_guard_check(section, 0, SPARSE_HEADER, fault);
    if (status) return status;
    struct rag_sparse *sparse = calloc(1, sizeof *sparse);
    if (!sparse) return rag_fail(fault, RAG_MEMORY, 0, "no memory for weights of terms");
    sparse->guard = *section;
    status = read_header(sparse, fault);
    if (!status) status = rag_sparse_directory(sparse, fault);
    if (!status) status = check_ends(sparse, fault);
    if (status) free(sparse);
    else *out = sparse;
    return status;
}

void rag_sparse_close(struct rag_sparse *sparse) {
    if (!sparse) return;
    rag_bm25_scratch_free_all(&sparse->scratches);
    free(sparse);
}

void rag_sparse_info(const struct rag_sparse *sparse, struct rag_sparse_info *info) {
    *info = sparse->info;
}

/* --------------------------------------------------------------------------------------- lookup */

static int compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

struct rag_sparse_list rag_sparse_find(const struct rag_sparse *sparse, const uint8_t *term,
                                       size_t size) {
    const uint8_t *at = rag_guard_at(&sparse->guard, 0), *ends = at + sparse->ends_at,
                  *lists = at + sparse->lists_end_at, *names = at + sparse->names_at;
    uint64_t low = 0, high = sparse->info.terms;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint32_t from = start_of(ends, middle);
        const int order = compare(names + from, end_of(ends, middle) - from, term, size);
        if (order == 0) {
            const uint32_t first = start_of(lists, middle);
            return (struct rag_sparse_list){first, end_of(lists, middle) - first};
        }
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return (struct rag_sparse_list){0, 0};
}

enum rag_status rag_sparse_term(const struct rag_sparse *sparse, uint64_t term,
                                const uint8_t **bytes, size_t *size, struct rag_fault *fault) {
    const enum rag_status status = rag_sparse_directory(sparse, fault);
    if (status) return status;
    if (term >= sparse->info.terms) return rag_fail(fault, RAG_ARGUMENT, term, "no such term");
    const uint8_t *at = rag_guard_at(&sparse->guard, 0), *ends = at + sparse->ends_at;
    *bytes = at + sparse->names_at + start_of(ends, term);
    *size = end_of(ends, term) - start_of(ends, term);
    return RAG_OK;
}

/* ---------------------------------------------------------------------------------------- lists */

bool rag_sparse_walk_start(struct rag_sparse_walk *walk, const uint8_t *list, uint64_t words) {
    *walk = (struct rag_sparse_walk){list, list + SPARSE_WORD * words, 0, 0};
    if (words < 1) return false;
    walk->left = load_u16(list + 2) + 1u;
    walk->at += SPARSE_WORD;
    return true;
}

bool rag_sparse_walk_next(struct rag_sparse_walk *walk, struct rag_sparse_container *container,
                          bool *is_broken) {
    const size_t room = (size_t)(walk->end - walk->at);
    *is_broken = false;
    if (!walk->left) {
        *is_broken = room != 0;
        return false;
    }
    *is_broken = true;
    if (room < SPARSE_WORD) return false;
    const uint32_t window = load_u16(walk->at), count = load_u16(walk->at + 2) + 1u;
    if (window < walk->window || room - SPARSE_WORD < (size_t)count * SPARSE_WORD) return false;
    *container = (struct rag_sparse_container){window, count, walk->at + SPARSE_WORD,
                                               walk->at + SPARSE_WORD + 2 * (size_t)count};
    walk->at += SPARSE_WORD + (size_t)count * SPARSE_WORD;
    walk->window = window + 1;
    walk->left--;
    *is_broken = false;
    return true;
}

/* --------------------------------------------------------------------------------------- checks */

/* Check the rows of a container; note its largest code. */
static const char *container_fault(const struct rag_sparse *sparse,
                                   const struct rag_sparse_container *container,
                                   uint32_t *largest) {
    int64_t before = -1;
    for (size_t i = 0; i < container->count; i++) {
        const uint32_t row = load_u16(container->rows + 2 * i),
                       code = load_u16(container->codes + 2 * i);
        if ((int64_t)row <= before) return "rows do not ascend";
        if ((uint64_t)container->window * LEX_WINDOW + row >= sparse->info.rows)
            return "a weight of a row that is not there";
        if (code > *largest) *largest = code;
        before = row;
    }
    return NULL;
}

static const char *list_fault(const struct rag_sparse *sparse, const uint8_t *list, uint64_t words,
                              uint64_t *weights) {
    struct rag_sparse_walk walk;
    struct rag_sparse_container container;
    uint32_t largest = 0;
    bool is_broken = true;
    if (!rag_sparse_walk_start(&walk, list, words)) return "an empty list";
    while (rag_sparse_walk_next(&walk, &container, &is_broken)) {
        const char *what = container_fault(sparse, &container, &largest);
        if (what) return what;
        *weights += container.count;
    }
    if (is_broken) return "containers do not fill their list";
    return largest == load_u16(list) ? NULL : "another code is the largest of a list";
}

/* Whether bytes are UTF-8 without a NUL. */
static bool is_text(const uint8_t *bytes, size_t size) {
    const uint8_t *end = bytes + size;
    while (bytes < end) {
        const uint32_t c = utf8_next(&bytes, end);
        if (c == 0 || c == UTF8_BROKEN) return false;
    }
    return true;
}

/* Check the order of the names and that they are texts. */
static enum rag_status check_names(const struct rag_sparse *sparse, struct rag_fault *fault) {
    const uint8_t *before = NULL, *name = NULL;
    size_t before_size = 0, size = 0;
    for (uint64_t i = 0; i < sparse->info.terms; i++) {
        const enum rag_status status = rag_sparse_term(sparse, i, &name, &size, fault);
        if (status) return status;
        const uint64_t at = sparse->ends_at + 4 * i;
        if (i && compare(before, before_size, name, size) >= 0)
            return broken(sparse, at, "terms do not ascend", fault);
        if (!is_text(name, size)) return broken(sparse, at, "a term is not UTF-8", fault);
        before = name;
        before_size = size;
    }
    return RAG_OK;
}

enum rag_status rag_sparse_check(const struct rag_sparse *sparse, struct rag_fault *fault) {
    enum rag_status status = rag_guard_check(&sparse->guard, 0, sparse->guard.size, fault);
    if (!status) status = check_names(sparse, fault);
    uint64_t weights = 0;
    for (uint64_t i = 0; i < sparse->info.terms && !status; i++) {
        const uint8_t *base = rag_guard_at(&sparse->guard, 0), *ends = base + sparse->lists_end_at;
        const uint64_t at = sparse->lists_at + SPARSE_WORD * (uint64_t)start_of(ends, i);
        const char *what =
            list_fault(sparse, base + at, end_of(ends, i) - start_of(ends, i), &weights);
        if (what) status = broken(sparse, at, what, fault);
    }
    if (!status && weights != sparse->info.weights)
        status = broken(sparse, SPARSE_AT_WEIGHTS, "another number of weights", fault);
    return status;
}

/* --------------------------------------------------------------------------------------- by row */

/* Visit every weight whose row exists: count it, or place it at next[row]. */
static bool visit_list(const struct rag_sparse *sparse, const uint8_t *list, uint64_t words,
                       uint32_t term, uint64_t *next, uint32_t *terms, uint16_t *codes) {
    struct rag_sparse_walk walk;
    struct rag_sparse_container container;
    bool is_broken = true;
    if (!rag_sparse_walk_start(&walk, list, words)) return false;
    while (rag_sparse_walk_next(&walk, &container, &is_broken))
        for (size_t i = 0; i < container.count; i++) {
            const uint64_t row =
                (uint64_t)container.window * LEX_WINDOW + load_u16(container.rows + 2 * i);
            if (row >= sparse->info.rows) return false;
            const uint64_t at = next[row]++;
            if (!terms) continue;
            if (at >= sparse->info.weights) return false;
            terms[at] = term;
            codes[at] = load_u16(container.codes + 2 * i);
        }
    return !is_broken;
}

static enum rag_status visit_all(const struct rag_sparse *sparse, uint64_t *next, uint32_t *terms,
                                 uint16_t *codes, struct rag_fault *fault) {
    const uint8_t *base = rag_guard_at(&sparse->guard, 0), *ends = base + sparse->lists_end_at;
    for (uint64_t i = 0; i < sparse->info.terms; i++) {
        const uint64_t at = sparse->lists_at + SPARSE_WORD * (uint64_t)start_of(ends, i);
        if (!visit_list(sparse, base + at, end_of(ends, i) - start_of(ends, i), (uint32_t)i, next,
                        terms, codes))
            return broken(sparse, at, "a broken list", fault);
    }
    return RAG_OK;
}

enum rag_status rag_sparse_by_row(const struct rag_sparse *sparse, uint64_t *starts,
                                  uint32_t *terms, uint16_t *codes, struct rag_fault *fault) {
    const uint64_t rows = sparse->info.rows;
    enum rag_status status = rag_guard_check(&sparse->guard, 0, sparse->guard.size, fault);
    memset(starts, 0, (rows + 1) * sizeof *starts);
    if (!status) status = visit_all(sparse, starts, NULL, NULL, fault);
    if (status) return status;
    uint64_t total = 0;
    for (uint64_t row = 0; row <= rows; row++) {
        const uint64_t count = starts[row];
        starts[row] = total;
        total += count;
    }
    if (total != sparse->info.weights)
        return broken(sparse, SPARSE_AT_WEIGHTS, "another number of weights", fault);
    status = visit_all(sparse, starts, terms, codes, fault);
    /* each start moved to the end of its row, which is the start of the next */
    if (rows) memmove(starts + 1, starts, rows * sizeof *starts);
    starts[0] = 0;
    return status;
}
