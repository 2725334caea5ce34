/* candidate_order.c - order candidates by document among equal scores, or as source code. */
#include <stdlib.h>
#include <string.h>

#include "doors/wasm/wasm.h"
#include "ragfile/fusion.h"
#include "shared/fail.h"

/* ----------------------------------------------------------------------------------------- ties */

struct keyed {
    const uint8_t *id;
    uint32_t id_size, index;
    int64_t row;
};

static enum rag_status key_of(int64_t row, struct keyed *key) {
    struct segment *segment = segment_of((uint64_t)row);
    struct rag_chunk c;
    struct rag_document d = {0};
    enum rag_status status = segment_records(segment);
    if (status == RAG_OK)
        status = rag_records_chunk(&segment->records, (uint64_t)row - segment->base, &c, &fault);
    if (status == RAG_OK) status = rag_records_document(&segment->records, c.document, &d, &fault);
    if (status == RAG_OK) *key = (struct keyed){d.id, d.id_size, c.index, row};
    return status;
}

static int by_key(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    const uint32_t both = x->id_size < y->id_size ? x->id_size : y->id_size;
    const int order = both ? memcmp(x->id, y->id, both) : 0;
    if (order) return order;
    if (x->id_size != y->id_size) return x->id_size < y->id_size ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static enum rag_status sort_by_key(int64_t *rows, size_t count) {
    struct keyed *keys = malloc(count * sizeof *keys);
    enum rag_status status = RAG_OK;
    if (!keys) return rag_fail(&fault, RAG_MEMORY, 0, "no memory to rank");
    for (size_t i = 0; i < count; i++) {
        const enum rag_status one = key_of(rows[i], &keys[i]);
        if (one != RAG_OK) status = status == RAG_OK || status == RAG_SOURCE ? one : status;
    }
    if (status == RAG_OK) qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; status == RAG_OK && i < count; i++) rows[i] = keys[i].row;
    free(keys);
    return status;
}

enum rag_status order_ties(int64_t *rows, const float *scores, size_t count) {
    enum rag_status status = RAG_OK;
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count && scores[last] == scores[first];) last++;
        if (last - first < 2) continue;
        if (segment_of((uint64_t)rows[first]) == segment_of((uint64_t)rows[last - 1])) continue;
        const enum rag_status one = sort_by_key(rows + first, last - first);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
    }
    return status;
}

/* Return the positions of rows in the order of (document id, chunk index). */
EXPORT(ties_of) int ties_of(const int64_t *rows, size_t count, int64_t *ties) {
    int64_t *sorted = malloc(8 * count + 8);
    if (!sorted) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory to rank");
    memcpy(sorted, rows, 8 * count);
    const enum rag_status status = count ? sort_by_key(sorted, count) : RAG_OK;
    for (size_t i = 0; status == RAG_OK && i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (sorted[j] == rows[i]) ties[i] = (int64_t)j;
    free(sorted);
    return (int)status;
}

/* ---------------------------------------------------------------------------------- source code */

static enum rag_status candidates_of(const int64_t *rows, const double *scores, size_t count,
                                     struct rag_code_candidate *all) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count; i++) {
        struct keyed key = {0};
        const enum rag_status one = key_of(rows[i], &key);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
        all[i] = (struct rag_code_candidate){key.id, key.id_size, scores[i]};
    }
    return status;
}

/* Rank rows again as source code: write their new order, as places among the rows, and scores. */
EXPORT(code_rank)
int code_rank(const uint8_t *text, size_t size, const int64_t *rows, const double *scores,
              size_t count, int64_t *order, double *to) {
    struct rag_code_candidate *all = malloc((count + 1) * sizeof *all);
    struct rag_code_score *out = malloc((count + 1) * sizeof *out);
    enum rag_status status = all && out ? candidates_of(rows, scores, count, all)
                                        : rag_fail(&fault, RAG_MEMORY, 0, "no memory to rank");
    if (status == RAG_OK) status = rag_code_rank(text, size, all, count, out, &fault);
    for (size_t i = 0; status == RAG_OK && i < count; i++)
        order[i] = (int64_t)out[i].at, to[i] = out[i].score;
    free(all);
    free(out);
    return (int)status;
}
