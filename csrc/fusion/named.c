/* named.c - pages that the best passages of a ranking name rise (spec 6.3.2).
 *
 *   held(d)  = exp(8 (score / top - 1)) / sum over the passages, for the passage of d
 *              + weight(d) / sum of weights, for the documents that the question names
 *   mass(d)  = held(d) + sum over the passages of held * weight(d) / sum of weights
 *   raised   = score + share * top * mass / largest mass
 *
 * The seeds are passages of the three best documents, and the question if it asks for answers of
 * several pages. What they name comes as edges, so titles (text/titles.c) and links can give them.
 * binary64, summed in the order of the seeds and edges. tests/oracles/named.py has the same. */
#include "ragfile/fusion.h"
#include "fusion/rankings.h"
#include "ragfile/records.h"
#include "shared/fail.h"
#include "shared/log_exp.h"

static const double STEEPNESS = 8.0;
enum { FEW_ROWS = 20, ROWS_PER_TERM = 100 };

double rag_named_weight(uint64_t rows, uint64_t df, size_t documents) {
    const uint64_t most = rows / ROWS_PER_TERM > FEW_ROWS ? rows / ROWS_PER_TERM : FEW_ROWS;
    if (!df || df > most || !documents) return 0;
    return rag_natural_log(1.0 + (double)rows / (double)df) / (double)documents;
}

size_t rag_named_seeds(const double *scores, const int64_t *documents, size_t count,
                       struct rag_named_seed seeds[RAG_NAMED_SEEDS], size_t at[RAG_NAMED_SEEDS]) {
    size_t found = 0;
    if (!count || !(scores[0] > 0)) return 0;
    for (size_t i = 0; i < count && i < RAG_NAMED_ROWS && found < RAG_NAMED_SEEDS; i++) {
        bool is_new = true;
        for (size_t j = 0; j < found; j++) is_new &= seeds[j].document != documents[i];
        if (!is_new) continue;
        seeds[found] = (struct rag_named_seed){scores[i] / scores[0], documents[i]};
        at[found++] = i;
    }
    return found;
}

/* Return the place of a document among the masses, which are few; adds it with mass 0. */
static size_t place_of(struct rag_named_mass *out, size_t *count, int64_t document) {
    size_t i = 0;
    while (i < *count && out[i].document != document) i++;
    if (i == *count) out[(*count)++] = (struct rag_named_mass){document, 0, 0, RAG_NAMED_BY_NONE};
    return i;
}

static double weight_of(double share) {
    const double by = STEEPNESS * (share - 1.0);
    return rag_falling_exp(by < 0 ? by : 0);
}

/* Return whether an edge is the one that counts for its document: the first of the heaviest. */
static bool counts(const struct rag_named_edge *edges, size_t count, size_t i, int64_t own) {
    if (edges[i].document == own || !(edges[i].weight > 0)) return false;
    for (size_t j = 0; j < count; j++)
        if (edges[j].document == edges[i].document &&
            (edges[j].weight > edges[i].weight || (edges[j].weight == edges[i].weight && j < i)))
            return false;
    return true;
}

/* Add what one seed names; return whether it names anything. */
static bool spread_seed(const struct rag_named_edge *edges, size_t count, uint32_t seed, double u,
                        int64_t own, struct rag_named_mass *out, size_t *found) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (counts(edges, count, i, own)) sum += edges[i].weight;
    for (size_t i = 0; sum > 0 && i < count; i++) {
        if (!counts(edges, count, i, own)) continue;
        struct rag_named_mass *one = &out[place_of(out, found, edges[i].document)];
        const double part = u * (edges[i].weight / sum);
        one->mass += part;
        if (one->by != RAG_NAMED_BY_NONE && part <= one->part) continue;
        one->by = seed;
        one->part = part;
    }
    return sum > 0;
}

/* Return the place after the edges of a seed, which begin at `first`. */
static size_t end_of(const struct rag_named_edge *edges, size_t count, size_t first, size_t seed) {
    while (first < count && edges[first].seed == seed) first++;
    return first;
}

/* Give each seed's document its share of the passages' weights, in the order of the seeds. */
static void share_out(const struct rag_named_seed *seeds, size_t count, struct rag_named_mass *out,
                      size_t *found) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += weight_of(seeds[i].share);
    for (size_t i = 0; i < count; i++)
        out[place_of(out, found, seeds[i].document)].mass = weight_of(seeds[i].share) / sum;
}

size_t rag_named_spread(const struct rag_named_seed *seeds, size_t seed_count,
                        const struct rag_named_edge *edges, size_t edge_count,
                        struct rag_named_mass *out) {
    double held[RAG_NAMED_SEEDS] = {0}, largest = 0;
    const size_t passages = seed_count < RAG_NAMED_SEEDS ? seed_count : RAG_NAMED_SEEDS;
    size_t found = 0, last = 0;
    while (last < edge_count && edges[last].seed < passages) last++;
    share_out(seeds, passages, out, &found);
    bool names =
        spread_seed(edges + last, edge_count - last, (uint32_t)passages, 1.0, -1, out, &found);
    for (size_t i = 0; i < passages; i++)
        held[i] = out[place_of(out, &found, seeds[i].document)].mass;
    for (size_t i = 0, first = 0, end; i < passages; i++, first = end) {
        end = end_of(edges, last, first, i);
        names |= spread_seed(edges + first, end - first, (uint32_t)i, held[i], seeds[i].document,
                             out, &found);
    }
    for (size_t i = 0; i < found; i++)
        if (out[i].mass > largest) largest = out[i].mass;
    for (size_t i = 0; i < found; i++) out[i].mass /= largest;
    return names ? found : 0;
}

double rag_named_raised(double score, double top, double share, double mass) {
    return score + share * top * mass;
}

enum rag_status rag_parts_first_rows(const struct rag_part *parts, size_t part_count,
                                     const int64_t *rows, size_t count, int64_t *first,
                                     struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const struct rag_part *part = &parts[rag_part_of(parts, part_count, rows[i])];
        const uint64_t row = (uint64_t)rows[i] - part->base;
        struct rag_chunk chunk;
        struct rag_document document;
        uint64_t id_at;
        if (!part->records || rows[i] < (int64_t)part->base || row >= part->rows)
            return rag_fail(fault, RAG_ARGUMENT, (uint64_t)rows[i], "a row of no segment");
        status = rag_records_chunk(part->records, row, &chunk, fault);
        if (!status)
            status = rag_records_place(part->records, chunk.document, &document, &id_at, fault);
        if (!status) first[i] = (int64_t)(part->base + document.first_row);
    }
    return status;
}
