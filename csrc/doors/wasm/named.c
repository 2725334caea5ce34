/* named.c - pages that the best passages name: seeds, names in texts, masses. */
#include <stdlib.h>
#include <string.h>

#include "doors/wasm/wasm.h"
#include "ragfile/fusion.h"
#include "ragfile/titles.h"
#include "shared/fail.h"

/* Write the first row of the document of each row. */
static enum rag_status first_rows(const int64_t *rows, size_t count, int64_t *first) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count; i++) {
        struct segment *segment = segment_of((uint64_t)rows[i]);
        struct rag_chunk chunk = {0};
        struct rag_document document = {0};
        uint64_t id_at;
        if (!segment) return rag_fail(&fault, RAG_ARGUMENT, i, "no such row");
        enum rag_status one = segment_records(segment);
        if (one == RAG_OK)
            one = rag_records_chunk(&segment->records, (uint64_t)rows[i] - segment->base, &chunk,
                                    &fault);
        if (one == RAG_OK)
            one = rag_records_place(&segment->records, chunk.document, &document, &id_at, &fault);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
        first[i] = (int64_t)(segment->base + document.first_row);
    }
    return status;
}

/* Find the seeds of a ranking of at most RAG_NAMED_ROWS rows: the first row of the document of
 * each row, and the places and shares of the seeds, of which *found gets the number. */
EXPORT(named_seeds)
int named_seeds(const int64_t *rows, const double *scores, size_t count, int64_t *first,
                uint32_t *at, double *shares, uint32_t *found) {
    struct rag_named_seed seeds[RAG_NAMED_SEEDS];
    size_t places[RAG_NAMED_SEEDS];
    const enum rag_status status = first_rows(rows, count, first);
    *found = status ? 0 : (uint32_t)rag_named_seeds(scores, first, count, seeds, places);
    for (size_t i = 0; i < *found; i++) at[i] = (uint32_t)places[i], shares[i] = seeds[i].share;
    return (int)status;
}

static enum rag_status open_titles(struct rag_titles *titles, struct rag_title_part *parts,
                                   size_t *count) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < file.count; i++) {
        struct segment *segment = &file.segments[i];
        struct rag_titles *one = &titles[*count];
        bool found;
        if (segment->record.live == 0) continue;
        enum rag_status each =
            section_guard("rag.titles", segment->record.number, &one->guard, &found);
        if (each == RAG_OK && !found) continue;
        if (each == RAG_OK) each = segment_records(segment);
        if (each == RAG_OK) each = rag_titles_open(one, &fault);
        if (each != RAG_OK && each != RAG_SOURCE) return each;
        if (each != RAG_OK) status = each;
        parts[(*count)++] =
            (struct rag_title_part){one, &segment->records, segment->alive, segment->base};
    }
    return status;
}

/* The names of the text of the last call. */
static struct rag_title_match *matches;

/* Find the names in a text: *found matches at *all, those of one name side by side. */
EXPORT(named_titles)
int named_titles(const uint8_t *text, size_t size, unsigned rules,
                 const struct rag_title_match **all, size_t *found) {
    struct rag_titles *titles = calloc(file.count + 1, sizeof *titles);
    struct rag_title_part *parts = calloc(file.count + 1, sizeof *parts);
    size_t count = 0;
    enum rag_status status = titles && parts ? open_titles(titles, parts, &count)
                                             : rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    free(matches);
    matches = NULL;
    *found = 0;
    if (status == RAG_OK)
        status = rag_titles_match(parts, count, NULL, text, size, rules, &matches, found, &fault);
    *found = rag_titles_choose(matches, *found);
    *all = matches;
    free(titles);
    free(parts);
    return (int)status;
}

EXPORT(named_weight) double named_weight(double rows, double df, size_t documents) {
    return rag_named_weight((uint64_t)rows, (uint64_t)df, documents);
}

/* Spread what seeds hold over the documents that they name. Write *found documents and masses,
 * which have room for seeds and edges. */
EXPORT(named_spread)
int named_spread(const double *shares, const int64_t *of_seeds, size_t seed_count,
                 const uint32_t *from, const int64_t *to, const double *weights, size_t count,
                 int64_t *documents, double *masses, size_t *found) {
    struct rag_named_seed seeds[RAG_NAMED_SEEDS];
    struct rag_named_edge *edges = calloc(count + 1, sizeof *edges);
    struct rag_named_mass *out = calloc(count + seed_count + 1, sizeof *out);
    const bool is_ready = edges && out && seed_count <= RAG_NAMED_SEEDS;
    for (size_t i = 0; is_ready && i < seed_count; i++)
        seeds[i] = (struct rag_named_seed){shares[i], of_seeds[i]};
    for (size_t i = 0; is_ready && i < count; i++)
        edges[i] = (struct rag_named_edge){from[i], to[i], weights[i]};
    *found = is_ready ? rag_named_spread(seeds, seed_count, edges, count, out) : 0;
    for (size_t i = 0; i < *found; i++) documents[i] = out[i].document, masses[i] = out[i].mass;
    free(edges);
    free(out);
    return is_ready ? RAG_OK : (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory to rank");
}

EXPORT(named_raised) double named_raised(double score, double top, double share, double mass) {
    return rag_named_raised(score, top, share, mass);
}
