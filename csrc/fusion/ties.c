/* ties.c - order ranked rows of several segments by score, then by chunk key (document id, chunk
 * index).
 *
 * Rows of one segment are in key order, so their row numbers decide and no key is read. Only a run
 * of equal scores that spans segments needs keys: a merge of one sorted list per segment, stopped
 * after the wanted rows. So a long run of ties reads one key per result, plus one per segment. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/bm25.h"
#include "ragfile/machine.h"
#include "ragfile/records.h"
#include "fusion/rankings.h"
#include "shared/fail.h"

/* ----------------------------------------------------------------------------------------- keys */

struct key {
    const uint8_t *id;
    uint32_t size, index;
};

static int compare_keys(const struct key *a, const struct key *b) {
    const int order = memcmp(a->id, b->id, a->size < b->size ? a->size : b->size);
    if (order) return order;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

size_t rag_part_of(const struct rag_part *parts, size_t count, int64_t row) {
    size_t low = 0, high = count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if ((int64_t)parts[middle].base <= row) low = middle;
        else high = middle;
    }
    return low;
}

static enum rag_status read_key(const struct rag_part *part, int64_t row, struct key *key,
                                struct rag_fault *fault) {
    struct rag_chunk chunk;
    struct rag_document document;
    enum rag_status status =
        rag_records_chunk(part->records, (uint64_t)row - part->base, &chunk, fault);
    if (!status) status = rag_records_document(part->records, chunk.document, &document, fault);
    if (!status) *key = (struct key){document.id, document.id_size, chunk.index};
    return status;
}

/* ----------------------------------------------------------------------------------------- runs */

/* The part of a run within one segment. */
struct list {
    const struct rag_part *part;
    size_t next, end;
    struct key key; /* of the row at next */
};

static enum rag_status take_next(struct list *list, const struct rag_ranked *run, size_t next,
                                 struct rag_fault *fault) {
    list->next = next;
    return next < list->end ? read_key(list->part, run[next].row, &list->key, fault) : RAG_OK;
}

/* Cut a run of ascending rows into one list per segment. Return the number of lists. */
static size_t cut_run(const struct rag_part *parts, size_t part_count, const struct rag_ranked *run,
                      size_t count, struct list *lists) {
    size_t found = 0;
    for (size_t i = 0; i < count; found++) {
        const struct rag_part *part = &parts[rag_part_of(parts, part_count, run[i].row)];
        const size_t first = i;
        while (i < count && run[i].row < (int64_t)(part->base + part->rows)) i++;
        if (i == first) i++; /* a row of no part: it forms its own list */
        lists[found] = (struct list){.part = part, .next = first, .end = i};
    }
    return found;
}

/* Merge the first `wanted` rows of the lists into out. */
static enum rag_status merge_lists(struct list *lists, size_t count, const struct rag_ranked *run,
                                   size_t wanted, struct rag_ranked *out, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = take_next(&lists[i], run, lists[i].next, fault);
    for (size_t to = 0; to < wanted && !status; to++) {
        struct list *best = NULL;
        for (size_t i = 0; i < count; i++)
            if (lists[i].next < lists[i].end &&
                (!best || compare_keys(&lists[i].key, &best->key) < 0))
                best = &lists[i];
        out[to] = run[best->next];
        status = take_next(best, run, best->next + 1, fault);
    }
    return status;
}

static enum rag_status settle_run(const struct rag_part *parts, size_t part_count,
                                  struct rag_ranked *run, size_t count, size_t wanted,
                                  struct rag_fault *fault) {
    struct list *lists = malloc(count * sizeof *lists);
    struct rag_ranked *out = malloc(wanted * sizeof *out);
    enum rag_status status =
        lists && out ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory to settle ties");
    const size_t found = status ? 0 : cut_run(parts, part_count, run, count, lists);
    if (found > 1) {
        status = merge_lists(lists, found, run, wanted, out, fault);
        if (!status) memcpy(run, out, wanted * sizeof *out);
    }
    free(out);
    free(lists);
    return status;
}

enum rag_status rag_ties_settle(const struct rag_part *parts, size_t part_count,
                                struct rag_ranked *all, size_t count, size_t wanted,
                                struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    if (part_count < 2) return RAG_OK;
    for (size_t first = 0, last; first < wanted && !status; first = last) {
        for (last = first + 1; last < count && all[last].score == all[first].score;) last++;
        if (last - first == 1) continue;
        const size_t end = last < wanted ? last : wanted;
        status = settle_run(parts, part_count, all + first, last - first, end - first, fault);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- merge */

static enum rag_status merge_one(const struct rag_part *parts, size_t part_count, int64_t *rows,
                                 float *scores, size_t count, size_t k, int64_t *to, float *best,
                                 struct rag_fault *fault) {
    size_t kept = 0;
    enum rag_status status = rag_rank(rows, scores, count, k, &kept, fault);
    struct rag_ranked *all = malloc((kept + 1) * sizeof *all);
    if (!status && !all) status = rag_fail(fault, RAG_MEMORY, 0, "no memory to merge");
    for (size_t i = 0; !status && i < kept; i++)
        all[i] = (struct rag_ranked){scores[i], rows[i], (uint32_t)i};
    if (!status) status = rag_ties_settle(parts, part_count, all, kept, kept < k ? kept : k, fault);
    for (size_t i = 0; !status && i < k; i++) {
        to[i] = i < kept ? all[i].row : -1;
        best[i] = i < kept ? (float)all[i].score : -INFINITY;
    }
    free(all);
    return status;
}

struct merging {
    const struct rag_part *parts;
    size_t part_count, k;
    int64_t *rows, *to;
    float *scores, *best;
    struct rag_failure failure;
};

static void merge_task(void *context, size_t i) {
    struct merging *all = context;
    struct rag_fault fault;
    const size_t width = all->part_count * all->k;
    const enum rag_status status =
        merge_one(all->parts, all->part_count, all->rows + i * width, all->scores + i * width,
                  width, all->k, all->to + i * all->k, all->best + i * all->k, &fault);
    if (status) rag_failure_note(&all->failure, i, status, &fault);
}

enum rag_status rag_merge(const struct rag_part *parts, size_t part_count, int64_t *rows,
                          float *scores, size_t count, size_t k, int threads, int64_t *to,
                          float *best, struct rag_fault *fault) {
    struct merging all = {parts, part_count, k, rows, to, scores, best, RAG_NO_FAILURE};
    rag_parallel(count, rag_worth(count, threads), merge_task, &all);
    return rag_failure_of(&all.failure, fault);
}
