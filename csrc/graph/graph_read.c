/* graph_read.c - the sections `graph` and `hypergraph`, to arrays (graph.h).
 *
 * Opening unpacks the body and decodes all of it, because a question about a document needs the
 * edges that lead to it, from anywhere. Every number is checked there, so later reads check
 * nothing. A body is at most GRAPH_RATIO times its frame, and each string, name and edge takes at
 * least a byte of it, which bounds the arrays. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "ragfile/compression.h"
#include "shared/bytes.h"
#include "shared/fail.h"

struct body {
    const uint8_t *first, *at, *end;
    bool is_bad;
};

/* A varint of at most 32 bits; 0 and is_bad if there is none. */
static uint32_t get(struct body *body) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35 && body->at < body->end; shift += 7) {
        const uint8_t byte = *body->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128 && value <= UINT32_MAX) return (uint32_t)value;
        if (byte < 128) break;
    }
    body->is_bad = true;
    return 0;
}

static enum rag_status broken(struct rag_fault *fault, const char *what) {
    return rag_fail(fault, RAG_FORMAT, 0, what);
}

/* ---------------------------------------------------------------------------------------- parts */

static enum rag_status read_strings(struct rag_graph *graph, struct body *body,
                                    struct rag_fault *fault) {
    const uint8_t *before = NULL;
    uint32_t before_size = 0;
    for (uint32_t i = 0; i < graph->string_count; i++) {
        const uint32_t size = get(body);
        if (body->is_bad || size == 0 || size > GRAPH_STRING_MAX ||
            size > (size_t)(body->end - body->at))
            return broken(fault, "a string has no bytes, or more than there are");
        const uint8_t *bytes = body->at;
        const int order =
            before ? memcmp(before, bytes, before_size < size ? before_size : size) : -1;
        if (order > 0 || (order == 0 && before_size >= size))
            return broken(fault, "strings do not ascend");
        graph->strings[i] = (struct rag_graph_string){(uint32_t)(bytes - body->first), size};
        body->at += size;
        before = bytes;
        before_size = size;
    }
    return RAG_OK;
}

static enum rag_status read_kinds(struct rag_graph *graph, struct body *body,
                                  struct rag_fault *fault) {
    for (uint32_t i = 0; i < graph->kind_count; i++) {
        graph->kinds[i] = get(body);
        if (body->is_bad || graph->kinds[i] >= graph->string_count ||
            (i && graph->kinds[i] <= graph->kinds[i - 1]))
            return broken(fault, "kinds do not ascend, or are not among the strings");
    }
    return RAG_OK;
}

static enum rag_status read_names(struct rag_graph *graph, uint64_t documents, struct body *body,
                                  struct rag_fault *fault) {
    struct rag_graph_name before = {0, 0};
    for (uint32_t i = 0; i < graph->name_count; i++) {
        const uint64_t string = (uint64_t)before.string + get(body);
        const uint32_t document = get(body);
        const bool is_same = i && string == before.string;
        if (body->is_bad || string >= graph->string_count || document >= documents ||
            (is_same && document <= before.document))
            return broken(fault, "names do not ascend, or name no string or document");
        before = (struct rag_graph_name){(uint32_t)string, document};
        graph->names[i] = before;
    }
    return RAG_OK;
}

static enum rag_status read_sources(struct rag_graph *graph, uint32_t sources, uint64_t documents,
                                    struct body *body, uint32_t *numbers, struct rag_fault *fault) {
    uint64_t next = 0, edges = 0;
    for (uint32_t i = 0; i < sources; i++) {
        next += get(body);
        if (body->is_bad || next >= documents)
            return broken(fault, "edges of a document that is not in the segment");
        numbers[i] = (uint32_t)next++;
    }
    for (uint32_t i = 0; i < sources; i++) {
        const uint32_t count = get(body);
        if (body->is_bad || !count || count > graph->edge_count - edges)
            return broken(fault, "edges of documents do not add up to all");
        for (uint32_t j = 0; j < count; j++) graph->edges[edges++].document = numbers[i];
    }
    return edges == graph->edge_count ? RAG_OK
                                      : broken(fault, "edges of documents do not add up to all");
}

/* The flags of each edge stay in `start` until its place is read. */
static enum rag_status read_heads(struct rag_graph *graph, struct body *body,
                                  struct rag_fault *fault) {
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        const uint32_t head = get(body);
        graph->edges[i].start = head & ((1u << GRAPH_KIND_SHIFT) - 1);
        graph->edges[i].kind = head >> GRAPH_KIND_SHIFT;
        if (body->is_bad || graph->edges[i].kind >= graph->kind_count)
            return broken(fault, "an edge of a kind that is not listed");
    }
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        graph->edges[i].target = get(body);
        if (body->is_bad || graph->edges[i].target >= graph->string_count)
            return broken(fault, "a target that is not among the strings");
    }
    return RAG_OK;
}

static enum rag_status read_sizes(struct rag_graph *graph, struct body *body, const uint8_t *flags,
                                  struct rag_fault *fault) {
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        struct rag_edge *edge = &graph->edges[i];
        edge->size = flags[i] & GRAPH_HAS_PLACE ? get(body) : 0;
        if (edge->start != RAG_NO_PLACE && edge->size >= RAG_NO_PLACE - edge->start)
            return broken(fault, "a place ends after the longest text");
    }
    return body->is_bad ? broken(fault, "an edge without the size of its place") : RAG_OK;
}

static enum rag_status read_places(struct rag_graph *graph, struct body *body, uint8_t *flags,
                                   struct rag_fault *fault) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        struct rag_edge *edge = &graph->edges[i];
        if (i == 0 || edge->document != edge[-1].document) at = 0;
        flags[i] = (uint8_t)edge->start;
        edge->start = RAG_NO_PLACE;
        if (!(flags[i] & GRAPH_HAS_PLACE)) continue;
        at += get(body);
        if (body->is_bad || at >= RAG_NO_PLACE)
            return broken(fault, "a place starts after the longest text");
        edge->start = (uint32_t)at;
    }
    return read_sizes(graph, body, flags, fault);
}

static uint32_t string_if(const struct rag_graph *graph, struct body *body, bool has) {
    if (!has) return RAG_NO_STRING;
    const uint32_t number = get(body);
    if (number >= graph->string_count) body->is_bad = true;
    return number;
}

static enum rag_status read_labels(struct rag_graph *graph, struct body *body, const uint8_t *flags,
                                   struct rag_fault *fault) {
    for (uint64_t i = 0; i < graph->edge_count; i++)
        graph->edges[i].fragment = string_if(graph, body, flags[i] & GRAPH_HAS_FRAGMENT);
    for (uint64_t i = 0; i < graph->edge_count; i++)
        graph->edges[i].text = string_if(graph, body, flags[i] & GRAPH_HAS_TEXT);
    return body->is_bad ? broken(fault, "a fragment or text that is not among the strings")
                        : RAG_OK;
}

static enum rag_status read_edges(struct rag_graph *graph, struct body *body,
                                  struct rag_fault *fault) {
    enum rag_status status = read_heads(graph, body, fault);
    if (status) return status;
    uint8_t *flags = malloc((size_t)graph->edge_count + 1);
    if (!flags) return rag_fail(fault, RAG_MEMORY, 0, "no memory for edges");
    status = read_places(graph, body, flags, fault);
    if (!status) status = read_labels(graph, body, flags, fault);
    free(flags);
    return status;
}

/* ------------------------------------------------------------------------------------- features */

static uint64_t count_edges(const struct rag_graph *graph, uint32_t kind) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < graph->edge_count; i++) count += graph->edges[i].kind == kind;
    return count;
}

static enum rag_status count_targets(const struct rag_graph *graph, uint32_t kind, uint64_t *count,
                                     struct rag_fault *fault) {
    uint8_t *seen = calloc((size_t)graph->string_count / 8 + 1, 1);
    if (!seen) return rag_fail(fault, RAG_MEMORY, 0, "no memory for targets");
    *count = 0;
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        const uint32_t target = graph->edges[i].target;
        const uint8_t bit = (uint8_t)(1u << target % 8);
        if (graph->edges[i].kind != kind || seen[target / 8] & bit) continue;
        seen[target / 8] |= bit;
        ++*count;
    }
    free(seen);
    return RAG_OK;
}

enum rag_status rag_graph_feature_rows(const struct rag_graph *graph, uint64_t documents,
                                       uint32_t scope, uint64_t *rows, struct rag_fault *fault) {
    if (scope == 0) {
        *rows = documents;
        return RAG_OK;
    }
    const uint32_t kind = (scope - 1) / 2;
    if (kind >= graph->kind_count)
        return rag_fail(fault, RAG_ARGUMENT, scope, "features of a kind that is not listed");
    if (scope % 2 == 0) return count_targets(graph, kind, rows, fault);
    *rows = count_edges(graph, kind);
    return RAG_OK;
}

static enum rag_status read_features(struct rag_graph *graph, const struct rag_guard *section,
                                     uint64_t documents, struct body *body, uint64_t at,
                                     struct rag_fault *fault) {
    for (uint32_t i = 0; i < graph->feature_count; i++) {
        struct rag_graph_feature *feature = &graph->features[i];
        *feature = (struct rag_graph_feature){.scope = get(body)};
        feature->width = get(body);
        feature->bits = get(body);
        if (body->is_bad || (i && feature->scope <= feature[-1].scope) || !feature->width ||
            feature->width > GRAPH_WIDTH_MAX || (feature->bits != 16 && feature->bits != 32))
            return broken(fault, "a matrix out of order, or of no known form");
        enum rag_status status =
            rag_graph_feature_rows(graph, documents, feature->scope, &feature->rows, fault);
        if (status)
            return status == RAG_ARGUMENT ? broken(fault, fault ? fault->what : "") : status;
        uint64_t size;
        feature->at = at = align_up(at, 64);
        if (mul_overflows(feature->rows, (uint64_t)feature->width * (feature->bits / 8), &size) ||
            at > section->size || size > section->size - at)
            return broken(fault, "a matrix ends after the section");
        at = align_up(at + size, 64);
    }
    return at == section->size ? RAG_OK : broken(fault, "the section has another size");
}

/* ------------------------------------------------------------------------------------ the whole */

static enum rag_status unpack(const struct rag_guard *section, const uint8_t *head, uint8_t *raw,
                              struct rag_fault *fault) {
    const uint64_t size = load_u64(head + GRAPH_AT_RAW), packed = load_u64(head + GRAPH_AT_PACKED);
    enum rag_status status = rag_guard_check(section, 0, GRAPH_HEADER + packed, fault);
    if (status) return status;
    const uint8_t *bytes = rag_guard_at(section, 0) + GRAPH_HEADER;
    if (packed < size) return rag_frame_decompress(bytes, (size_t)packed, raw, (size_t)size, fault);
    if (size) memcpy(raw, bytes, (size_t)size);
    return RAG_OK;
}

static bool are_zero(const uint8_t *bytes, size_t size) {
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++) all |= bytes[i];
    return all == 0;
}

/* Check the header, and that arrays of its counts are bounded by the section's size. */
static enum rag_status check_head(const struct rag_guard *section, const uint8_t *head,
                                  struct rag_fault *fault) {
    const uint64_t raw = load_u64(head + GRAPH_AT_RAW), packed = load_u64(head + GRAPH_AT_PACKED);
    if (memcmp(head, GRAPH_MAGIC, 8)) return broken(fault, "no RAGLINK1");
    if (!are_zero(head + GRAPH_AT_ZERO, GRAPH_HEADER - GRAPH_AT_ZERO))
        return broken(fault, "a byte of the header that must be zero is not");
    if (packed > section->size - GRAPH_HEADER || packed > raw || raw >= UINT32_MAX ||
        raw / GRAPH_RATIO > packed)
        return broken(fault, "a body of an impossible size");
    const uint64_t least =
        2 * load_u64(head + GRAPH_AT_EDGES) + 2 * (uint64_t)load_u32(head + GRAPH_AT_STRINGS) +
        load_u32(head + GRAPH_AT_KINDS) + 2 * (uint64_t)load_u32(head + GRAPH_AT_SOURCES) +
        2 * (uint64_t)load_u32(head + GRAPH_AT_NAMES) +
        3 * (uint64_t)load_u32(head + GRAPH_AT_FEATURES);
    if (load_u64(head + GRAPH_AT_EDGES) > raw || least > raw)
        return broken(fault, "more strings, names and edges than the body has room for");
    if (load_u32(head + GRAPH_AT_KINDS) > GRAPH_KINDS_MAX)
        return broken(fault, "more than 65,536 kinds");
    return RAG_OK;
}

/* One allocation holds all arrays, the largest alignment first. */
static enum rag_status allocate(struct rag_graph *graph, uint64_t raw, uint32_t sources,
                                uint8_t **body, uint32_t **numbers, struct rag_fault *fault) {
    const size_t features = graph->feature_count * sizeof *graph->features,
                 edges = (size_t)graph->edge_count * sizeof *graph->edges,
                 strings = graph->string_count * sizeof *graph->strings,
                 names = graph->name_count * sizeof *graph->names,
                 kinds = graph->kind_count * sizeof *graph->kinds,
                 firsts = sources * sizeof **numbers;
    uint8_t *at = malloc(features + edges + strings + names + kinds + firsts + (size_t)raw + 1);
    if (!at) return rag_fail(fault, RAG_MEMORY, 0, "no memory for links");
    graph->held = at;
    graph->features = (void *)at;
    graph->edges = (void *)(at += features);
    graph->strings = (void *)(at += edges);
    graph->names = (void *)(at += strings);
    graph->kinds = (void *)(at += names);
    *numbers = (void *)(at += kinds);
    graph->bytes = *body = at + firsts;
    return RAG_OK;
}

static enum rag_status read_body(struct rag_graph *graph, const struct rag_guard *section,
                                 uint64_t documents, struct body *body, uint32_t sources,
                                 uint32_t *numbers, uint64_t end, struct rag_fault *fault) {
    enum rag_status status = read_strings(graph, body, fault);
    if (!status) status = read_kinds(graph, body, fault);
    if (!status) status = read_names(graph, documents, body, fault);
    if (!status) status = read_sources(graph, sources, documents, body, numbers, fault);
    if (!status) status = read_edges(graph, body, fault);
    if (!status) status = read_features(graph, section, documents, body, end, fault);
    if (!status && body->at != body->end) status = broken(fault, "bytes after the last number");
    return status;
}

static enum rag_status open_section(const struct rag_guard *section, uint64_t documents,
                                    struct rag_graph *graph, struct rag_fault *fault) {
    if (section->size < GRAPH_HEADER) return broken(fault, "shorter than its header");
    enum rag_status status = rag_guard_check(section, 0, GRAPH_HEADER, fault);
    if (status) return status;
    uint8_t head[GRAPH_HEADER], *raw = NULL;
    memcpy(head, rag_guard_at(section, 0), sizeof head);
    if ((status = check_head(section, head, fault))) return status;
    graph->edge_count = load_u64(head + GRAPH_AT_EDGES);
    graph->string_count = load_u32(head + GRAPH_AT_STRINGS);
    graph->kind_count = load_u32(head + GRAPH_AT_KINDS);
    graph->name_count = load_u32(head + GRAPH_AT_NAMES);
    graph->feature_count = load_u32(head + GRAPH_AT_FEATURES);
    const uint64_t size = load_u64(head + GRAPH_AT_RAW), packed = load_u64(head + GRAPH_AT_PACKED);
    const uint32_t sources = load_u32(head + GRAPH_AT_SOURCES);
    uint32_t *numbers = NULL;
    status = allocate(graph, size, sources, &raw, &numbers, fault);
    if (!status) status = unpack(section, head, raw, fault);
    if (!status) {
        struct body body = {raw, raw, raw + size, false};
        const uint64_t end = GRAPH_HEADER + packed;
        status = read_body(graph, section, documents, &body, sources, numbers,
                           graph->feature_count ? align_up(end, 64) : end, fault);
    }
    if (status) rag_graph_close(graph);
    return status;
}

enum rag_status rag_graph_open(const struct rag_guard *section, uint64_t documents,
                               struct rag_graph *graph, struct rag_fault *fault) {
    memset(graph, 0, sizeof *graph);
    const enum rag_status status = open_section(section, documents, graph, fault);
    if (status == RAG_FORMAT && fault && !fault->section[0]) {
        fault->at = section->at;
        memcpy(fault->section, section->name, sizeof fault->section);
    }
    return status;
}

void rag_graph_close(struct rag_graph *graph) {
    free(graph->held);
    memset(graph, 0, sizeof *graph);
}
