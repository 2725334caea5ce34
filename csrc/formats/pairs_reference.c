/* pairs_reference.c - recover the intact records from files of the format's first script.
 *
 * That script aligns records (keyword or embedding, '-', content) to a grid: it pads each with NULs
 * to a multiple of the padding p, counted from the first. A record with a length already a multiple
 * of p gets no NUL and runs into the next. The directory is then written over the bytes from offset
 * 11 on, preamble and first records included.
 *
 * So a reading is a way to cut the section into records at grid points, and a record is certain
 * when every reading has it. Content holds no NUL.
 *
 *   Keywords: a NUL always ends a record, so each stretch between NULs is independent. Some reading
 *   splits it if and only if it can be cut in two, at a grid point after its first '-' and not
 *   after its last, without splitting a UTF-8 character.
 *
 *   Embeddings: a grid point g can start a record when a '-' follows head bytes later. From g, the
 *   next record can start at any such point from g + lag up to reach(g), where the content's first
 *   NUL ends the record at the latest. These edges make an acyclic graph from 0 to the end. A point
 *   is in every reading when it is on a path (useful) and no edge between useful points jumps over
 *   it; two such neighbours without a useful point between them enclose a certain record.
 *   Overwritten bytes could have been anything, so there every grid point and every '-' is
 *   possible. */
#include <stdlib.h>

#include "formats/pairs.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

enum { OK = 1, REACHED = 2, USEFUL = OK | REACHED };

static bool survives(const struct rag_directory *directory, uint64_t at) {
    return at >= RAG_HEADER_SIZE + (uint64_t)directory->size;
}

enum rag_status rag_reference_open(const uint8_t *bytes, uint64_t size,
                                   const struct rag_directory *directory, uint32_t index,
                                   struct rag_pairs *pairs, uint64_t *damaged,
                                   struct rag_fault *fault) {
    const struct rag_strategy *entry = &directory->entries[index];
    bool vector = strcmp(entry->name, "vector") == 0;
    uint64_t preamble = vector ? RAG_VECTOR_PREAMBLE : RAG_KEYWORD_PREAMBLE, start = entry->start;
    *pairs = (struct rag_pairs){.big_endian = directory->big_endian, .at = start};
    if (start < RAG_HEADER_SIZE + preamble || entry->end >= size)
        return rag_fail(fault, RAG_FORMAT, start,
                        "a section of the reference dialect must lie after its preamble");
    pairs->bytes = bytes + start;
    pairs->size = entry->end + 1 - start;
    if (survives(directory, start - 1)) pairs->padding = bytes[start - 1];
    if (vector && survives(directory, start - preamble)) pairs->precision = bytes[start - preamble];
    uint64_t over = RAG_HEADER_SIZE + (uint64_t)directory->size;
    *damaged = over <= start ? 0 : over - start < pairs->size ? over - start : pairs->size;
    if (pairs->padding && pairs->padding != 4 && pairs->padding != 8 && pairs->padding != 16)
        return rag_fail(fault, RAG_FORMAT, start - 1, "the padding must be 4, 8 or 16");
    if (pairs->precision && pairs->precision != 16 && pairs->precision != 32)
        return rag_fail(fault, RAG_FORMAT, start - preamble,
                        "the precision must be 16 or 32 in the reference dialect");
    return RAG_OK;
}

void rag_remnants_free(struct rag_remnants *remnants) {
    free(remnants->items);
    *remnants = (struct rag_remnants){0};
}

static enum rag_status add(struct rag_remnants *remnants, struct rag_remnant remnant,
                           struct rag_fault *fault) {
    if (remnant.size == 0) return RAG_OK;
    if (!rag_grow(&remnants->items, &remnants->capacity, remnants->count + 1,
                  sizeof *remnants->items))
        return rag_fail(fault, RAG_MEMORY, remnant.at, "no memory for the records");
    remnants->items[remnants->count++] = remnant;
    return RAG_OK;
}

static uint64_t nul_from(const struct rag_pairs *pairs, uint64_t at) {
    const uint8_t *nul = at < pairs->size ? memchr(pairs->bytes + at, 0, pairs->size - at) : NULL;
    return nul ? (uint64_t)(nul - pairs->bytes) : pairs->size;
}

static uint64_t after_nuls(const struct rag_pairs *pairs, uint64_t at) {
    while (at < pairs->size && pairs->bytes[at] == 0) at++;
    return at;
}

/* ------------------------------------------------------------------------------------- keywords */

static bool can_be_cut(const struct rag_pairs *pairs, uint64_t first, uint64_t last) {
    for (uint64_t s = align_up(first + 1, pairs->padding); s <= last; s += pairs->padding)
        if ((pairs->bytes[s] & 0xc0) != 0x80) return true;
    return false;
}

/* Judge the stretch [at, nul), which has no NUL and starts where a record does. */
static struct rag_remnant judge_stretch(const struct rag_pairs *pairs, uint64_t at, uint64_t nul) {
    struct rag_remnant remnant = {.kind = RAG_RECORD_DAMAGED, .at = at, .size = nul - at};
    const uint8_t *text = pairs->bytes + at, *dash = memchr(text, '-', nul - at);
    if (!dash || !rag_is_utf8(text, nul - at)) return remnant;
    uint64_t first = (uint64_t)(dash - pairs->bytes), last = nul - 1;
    while (pairs->bytes[last] != '-') last--;
    remnant.kind = can_be_cut(pairs, first, last) ? RAG_RECORD_AMBIGUOUS : RAG_RECORD_CERTAIN;
    remnant.pair = (struct rag_pair){at, first - at, first + 1, nul - first - 1};
    return remnant;
}

static enum rag_status walk_keywords(const struct rag_pairs *pairs, uint64_t damaged,
                                     struct rag_remnants *remnants, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (uint64_t at = 0, next; !status && at < pairs->size; at = next) {
        uint64_t nul = nul_from(pairs, at > damaged ? at : damaged),
                 grid = align_up(nul, pairs->padding);
        struct rag_remnant remnant = {.kind = RAG_RECORD_DAMAGED, .at = at, .size = nul - at};
        next = after_nuls(pairs, nul);
        /* NULs pad a record up to the grid and no further, and records start on the grid. */
        bool regular = next == grid && at % pairs->padding == 0 && grid <= pairs->size;
        if (regular && at >= damaged) remnant = judge_stretch(pairs, at, nul);
        if (!regular || (at >= damaged && remnant.kind == RAG_RECORD_DAMAGED))
            remnants->clean = false;
        status = add(remnants, remnant, fault);
    }
    return status;
}

/* ----------------------------------------------------------------------------------- embeddings */

struct graph {
    const struct rag_pairs *pairs;
    uint64_t damaged, count,
        lag; /* grid points 0 .. count, the last being the end; shortest edge */
    uint8_t *flags;
    uint64_t from, nul; /* cache of content_end: the first NUL at or after `from` is at `nul` */
};

/* Return the first NUL at or after `at`; each byte is read once while `at` moves in one
 * direction. */
static uint64_t content_end(struct graph *graph, uint64_t at) {
    if (at < graph->from) {
        const uint8_t *nul = memchr(graph->pairs->bytes + at, 0, graph->from - at);
        if (nul) graph->nul = (uint64_t)(nul - graph->pairs->bytes);
    } else if (at > graph->nul) {
        graph->nul = nul_from(graph->pairs, at);
    } else {
        return graph->nul;
    }
    graph->from = at;
    return graph->nul;
}

static bool can_start(const struct graph *graph, uint64_t point) {
    uint64_t dash = point * graph->pairs->padding + graph->pairs->head;
    return dash < graph->damaged || (dash < graph->pairs->size && graph->pairs->bytes[dash] == '-');
}

static uint64_t known_content(const struct graph *graph, uint64_t point) {
    uint64_t content = point * graph->pairs->padding + graph->pairs->head + 1;
    return content > graph->damaged ? content : graph->damaged;
}

/* Return the last grid point at which the record that starts at point can end. */
static uint64_t reach(struct graph *graph, uint64_t point) {
    uint64_t p = graph->pairs->padding, nul = content_end(graph, known_content(graph, point)),
             last = (nul + p - 1) / p;
    for (uint64_t at = nul; at < last * p; at++)
        if (graph->pairs->bytes[at] != 0) return nul / p;
    return last;
}

static void mark_ok(struct graph *graph) {
    uint64_t next = UINT64_MAX; /* the first OK point at or after point + lag */
    graph->flags[graph->count] = OK;
    for (uint64_t point = graph->count; point-- > 0;) {
        if (point + graph->lag <= graph->count && graph->flags[point + graph->lag] & OK)
            next = point + graph->lag;
        if (can_start(graph, point) && next <= reach(graph, point)) graph->flags[point] = OK;
    }
}

static void mark_reached(struct graph *graph) {
    uint64_t furthest = 0; /* the furthest reach of a reached point at least lag bytes back */
    if (graph->flags[0] & OK) graph->flags[0] |= REACHED;
    for (uint64_t point = graph->lag; point <= graph->count; point++) {
        if (graph->flags[point - graph->lag] == USEFUL) {
            uint64_t its = reach(graph, point - graph->lag);
            furthest = its > furthest ? its : furthest;
        }
        if (graph->flags[point] & OK && furthest >= point) graph->flags[point] |= REACHED;
    }
}

static struct rag_remnant judge_points(struct graph *graph, uint64_t a, uint64_t b, bool alone) {
    const struct rag_pairs *pairs = graph->pairs;
    uint64_t at = a * pairs->padding, content = at + pairs->head + 1, end = b * pairs->padding;
    struct rag_remnant remnant = {.kind = RAG_RECORD_AMBIGUOUS, .at = at, .size = end - at};
    if (at < graph->damaged) remnant.kind = RAG_RECORD_DAMAGED;
    if (!alone) return remnant;
    uint64_t nul = content_end(graph, known_content(graph, a));
    end = nul < end ? nul : end;
    remnant.size = end - at;
    if (at < graph->damaged) return remnant;
    remnant.kind = rag_is_utf8(pairs->bytes + content, end - content) ? RAG_RECORD_CERTAIN
                                                                      : RAG_RECORD_DAMAGED;
    remnant.pair = (struct rag_pair){at, pairs->head, content, end - content};
    return remnant;
}

/* Return the last OK point that an edge from point reaches. */
static uint64_t longest_edge(struct graph *graph, uint64_t point) {
    uint64_t target = reach(graph, point);
    while (!(graph->flags[target] & OK)) target--;
    return target;
}

static enum rag_status tell_records(struct graph *graph, struct rag_remnants *remnants,
                                    struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    uint64_t cut = 0,
             furthest = 0; /* the last point of every reading; the last end of an edge so far */
    uint64_t asked = UINT64_MAX, answer = 0;
    bool alone = true; /* no useful point since cut */
    for (uint64_t point = 0; !status && point <= graph->count; point++) {
        if (graph->flags[point] != USEFUL) continue;
        if (point > 0) {
            if (furthest <= point) {
                status = add(remnants, judge_points(graph, cut, point, alone), fault);
                cut = point;
            }
            alone = furthest <= point;
        }
        if (point == graph->count) break;
        uint64_t its = reach(graph, point);
        if (its != asked) answer = longest_edge(graph, point), asked = its;
        furthest = answer > furthest ? answer : furthest;
    }
    return status;
}

static enum rag_status walk_embeddings(const struct rag_pairs *pairs, uint64_t damaged,
                                       struct rag_remnants *remnants, struct rag_fault *fault) {
    uint64_t p = pairs->padding;
    struct graph graph = {pairs, damaged,     pairs->size / p, (pairs->head + p) / p,
                          NULL,  pairs->size, pairs->size};
    graph.flags = calloc(graph.count + 1, 1);
    if (!graph.flags) return rag_fail(fault, RAG_MEMORY, pairs->at, "no memory for the records");
    if (pairs->size % p == 0) mark_ok(&graph), mark_reached(&graph);
    enum rag_status status;
    if (graph.flags[0] == USEFUL) status = tell_records(&graph, remnants, fault);
    else
        status = add(remnants,
                     (struct rag_remnant){.kind = RAG_RECORD_DAMAGED, .size = pairs->size}, fault);
    remnants->clean = graph.flags[0] == USEFUL || pairs->size == 0;
    free(graph.flags);
    return status;
}

enum rag_status rag_reference_walk(const struct rag_pairs *pairs, uint64_t damaged,
                                   struct rag_remnants *remnants, struct rag_fault *fault) {
    *remnants = (struct rag_remnants){.clean = true};
    if (pairs->padding != 4 && pairs->padding != 8 && pairs->padding != 16)
        return rag_fail(fault, RAG_ARGUMENT, pairs->padding, "the padding must be 4, 8 or 16");
    enum rag_status status = pairs->precision ? walk_embeddings(pairs, damaged, remnants, fault)
                                              : walk_keywords(pairs, damaged, remnants, fault);
    if (status) rag_remnants_free(remnants);
    return status;
}
