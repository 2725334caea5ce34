/* graph_write.c - links, to the bytes of `graph` and `hypergraph` (graph.h).
 *
 * The body is columns of numbers, each of one kind: its frame is a third smaller than one of edges
 * in a row. A frame that is not smaller than the body, or that readers would refuse as too dense,
 * is replaced by the body itself. */
#include <stdlib.h>

#include "graph/graph.h"
#include "ragfile/compression.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"

struct out {
    uint8_t *bytes;
    size_t size, room;
    bool failed;
};

static void put_bytes(struct out *out, const void *bytes, size_t size) {
    if (out->failed || !rag_grow(&out->bytes, &out->room, out->size + size, 1)) {
        out->failed = true;
        return;
    }
    if (size) memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static void put(struct out *out, uint32_t value) {
    uint8_t bytes[5];
    size_t size = 0;
    for (; value >= 128; value >>= 7) bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    put_bytes(out, bytes, size);
}

/* ------------------------------------------------------------------------------------- checking */

static bool is_string(const struct rag_graph *graph, uint32_t number) {
    return number == RAG_NO_STRING || number < graph->string_count;
}

static bool are_kinds_fit(const struct rag_graph *graph) {
    if (graph->kind_count > GRAPH_KINDS_MAX) return false;
    for (uint32_t i = 0; i < graph->kind_count; i++)
        if (graph->kinds[i] >= graph->string_count || (i && graph->kinds[i] <= graph->kinds[i - 1]))
            return false;
    return true;
}

static bool are_names_fit(const struct rag_graph *graph, uint64_t documents) {
    for (uint32_t i = 0; i < graph->name_count; i++) {
        const struct rag_graph_name *name = &graph->names[i];
        if (name->string >= graph->string_count || name->document >= documents ||
            (i && (name->string < name[-1].string ||
                   (name->string == name[-1].string && name->document <= name[-1].document))))
            return false;
    }
    return true;
}

static bool is_edge_fit(const struct rag_graph *graph, const struct rag_edge *edge,
                        uint64_t documents) {
    return edge->document < documents && edge->kind < graph->kind_count &&
           edge->target < graph->string_count && is_string(graph, edge->fragment) &&
           is_string(graph, edge->text) &&
           (edge->start == RAG_NO_PLACE || edge->size < RAG_NO_PLACE - edge->start);
}

/* Within a document, places ascend. */
static bool are_edges_fit(const struct rag_graph *graph, uint64_t documents) {
    uint32_t start = 0;
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        const struct rag_edge *edge = &graph->edges[i];
        if (i && edge->document < edge[-1].document) return false;
        if (i == 0 || edge->document != edge[-1].document) start = 0;
        if (!is_edge_fit(graph, edge, documents)) return false;
        if (edge->start == RAG_NO_PLACE) continue;
        if (edge->start < start) return false;
        start = edge->start;
    }
    return true;
}

static bool are_strings_fit(const struct rag_graph *graph) {
    for (uint32_t i = 0; i < graph->string_count; i++) {
        const struct rag_graph_string one = graph->strings[i];
        if (one.size == 0 || one.size > GRAPH_STRING_MAX) return false;
        if (!i) continue;
        const struct rag_graph_string before = graph->strings[i - 1];
        const int order = memcmp(graph->bytes + before.at, graph->bytes + one.at,
                                 before.size < one.size ? before.size : one.size);
        if (order > 0 || (order == 0 && before.size >= one.size)) return false;
    }
    return true;
}

static enum rag_status check_features(const struct rag_graph *graph, uint64_t documents,
                                      struct rag_fault *fault) {
    for (uint32_t i = 0; i < graph->feature_count; i++) {
        const struct rag_graph_feature *feature = &graph->features[i];
        uint64_t rows;
        const enum rag_status status =
            rag_graph_feature_rows(graph, documents, feature->scope, &rows, fault);
        if (status) return status;
        if (rows != feature->rows || (i && feature->scope <= feature[-1].scope) ||
            !feature->width || feature->width > GRAPH_WIDTH_MAX ||
            (feature->bits != 16 && feature->bits != 32))
            return rag_fail(fault, RAG_ARGUMENT, i, "a matrix of another number of rows");
    }
    return RAG_OK;
}

static enum rag_status check(const struct rag_graph *graph, uint64_t documents,
                             struct rag_fault *fault) {
    if (!are_strings_fit(graph) || !are_kinds_fit(graph))
        return rag_fail(fault, RAG_ARGUMENT, 0, "strings or kinds that do not ascend");
    if (!are_names_fit(graph, documents))
        return rag_fail(fault, RAG_ARGUMENT, 0, "names that do not ascend, or of no document");
    if (!are_edges_fit(graph, documents))
        return rag_fail(fault, RAG_ARGUMENT, 0, "an edge out of order, or with a number too large");
    return check_features(graph, documents, fault);
}

/* -------------------------------------------------------------------------------------- writing */

static void put_strings(struct out *out, const struct rag_graph *graph) {
    for (uint32_t i = 0; i < graph->string_count; i++) {
        put(out, graph->strings[i].size);
        put_bytes(out, graph->bytes + graph->strings[i].at, graph->strings[i].size);
    }
    for (uint32_t i = 0; i < graph->kind_count; i++) put(out, graph->kinds[i]);
    for (uint32_t i = 0; i < graph->name_count; i++) {
        put(out, graph->names[i].string - (i ? graph->names[i - 1].string : 0));
        put(out, graph->names[i].document);
    }
}

static bool is_first(const struct rag_graph *graph, uint64_t i) {
    return i == 0 || graph->edges[i].document != graph->edges[i - 1].document;
}

/* Write the documents with edges, then the number of each; returns how many there are. */
static uint32_t put_sources(struct out *out, const struct rag_graph *graph) {
    uint32_t sources = 0, next = 0, count = 0;
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        if (!is_first(graph, i)) continue;
        put(out, graph->edges[i].document - next);
        next = graph->edges[i].document + 1;
        sources++;
    }
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        if (count && is_first(graph, i)) {
            put(out, count);
            count = 0;
        }
        count++;
    }
    if (count) put(out, count);
    return sources;
}

static uint32_t head_of(const struct rag_edge *edge) {
    return edge->kind << GRAPH_KIND_SHIFT |
           (edge->start == RAG_NO_PLACE ? 0 : (uint32_t)GRAPH_HAS_PLACE) |
           (edge->fragment == RAG_NO_STRING ? 0 : (uint32_t)GRAPH_HAS_FRAGMENT) |
           (edge->text == RAG_NO_STRING ? 0 : (uint32_t)GRAPH_HAS_TEXT);
}

static void put_places(struct out *out, const struct rag_graph *graph) {
    uint32_t start = 0;
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        if (is_first(graph, i)) start = 0;
        if (graph->edges[i].start == RAG_NO_PLACE) continue;
        put(out, graph->edges[i].start - start);
        start = graph->edges[i].start;
    }
    for (uint64_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].start != RAG_NO_PLACE) put(out, graph->edges[i].size);
}

static void put_edges(struct out *out, const struct rag_graph *graph) {
    for (uint64_t i = 0; i < graph->edge_count; i++) put(out, head_of(&graph->edges[i]));
    for (uint64_t i = 0; i < graph->edge_count; i++) put(out, graph->edges[i].target);
    put_places(out, graph);
    for (uint64_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].fragment != RAG_NO_STRING) put(out, graph->edges[i].fragment);
    for (uint64_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].text != RAG_NO_STRING) put(out, graph->edges[i].text);
}

/* Replace a body by its frame, if that is smaller and not too dense. */
static enum rag_status pack(struct out *body, struct rag_fault *fault) {
    struct rag_compressor *compressor = NULL;
    const size_t room = rag_frame_bound(body->size);
    size_t size = 0;
    uint8_t *frame = malloc(room);
    enum rag_status status = frame ? rag_compressor_open(RAG_LEVEL_DENSE, &compressor, fault)
                                   : rag_fail(fault, RAG_MEMORY, 0, "no memory for links");
    if (!status)
        status = rag_frame_compress(compressor, body->bytes, body->size, frame, room, &size, fault);
    rag_compressor_close(compressor);
    if (!status && size < body->size && body->size / GRAPH_RATIO <= size) {
        memcpy(body->bytes, frame, size);
        body->size = size;
    }
    free(frame);
    return status;
}

static enum rag_status write_matrices(const struct rag_graph *graph, uint64_t at, rag_write *write,
                                      void *context) {
    static const uint8_t zeros[64];
    enum rag_status status = RAG_OK;
    if (graph->feature_count) status = write(context, zeros, (size_t)(align_up(at, 64) - at));
    for (uint32_t i = 0; !status && i < graph->feature_count; i++) {
        const struct rag_graph_feature *feature = &graph->features[i];
        const uint64_t size = feature->rows * feature->width * (feature->bits / 8);
        if (size) status = write(context, feature->data, (size_t)size);
        if (!status) status = write(context, zeros, (size_t)(align_up(size, 64) - size));
    }
    return status;
}

static enum rag_status write_all(const struct rag_graph *graph, struct out *body, uint32_t sources,
                                 rag_write *write, void *context, struct rag_fault *fault) {
    uint8_t head[GRAPH_HEADER] = GRAPH_MAGIC;
    store_u64(head + GRAPH_AT_RAW, body->size);
    enum rag_status status = body->size ? pack(body, fault) : RAG_OK;
    store_u64(head + GRAPH_AT_PACKED, body->size);
    store_u64(head + GRAPH_AT_EDGES, graph->edge_count);
    store_u32(head + GRAPH_AT_STRINGS, graph->string_count);
    store_u32(head + GRAPH_AT_KINDS, graph->kind_count);
    store_u32(head + GRAPH_AT_SOURCES, sources);
    store_u32(head + GRAPH_AT_NAMES, graph->name_count);
    store_u32(head + GRAPH_AT_FEATURES, graph->feature_count);
    if (!status) status = write(context, head, sizeof head);
    if (!status) status = write(context, body->bytes, body->size);
    return status ? status : write_matrices(graph, GRAPH_HEADER + body->size, write, context);
}

enum rag_status rag_graph_write(const struct rag_graph *graph, uint64_t documents, rag_write *write,
                                void *context, struct rag_fault *fault) {
    enum rag_status status = check(graph, documents, fault);
    if (status) return status;
    struct out body = {0};
    put_strings(&body, graph);
    const uint32_t sources = put_sources(&body, graph);
    put_edges(&body, graph);
    for (uint32_t i = 0; i < graph->feature_count; i++) {
        put(&body, graph->features[i].scope);
        put(&body, graph->features[i].width);
        put(&body, graph->features[i].bits);
    }
    if (body.failed) status = rag_fail(fault, RAG_MEMORY, 0, "no memory for links");
    else if (body.size >= UINT32_MAX)
        status = rag_fail(fault, RAG_LIMIT, body.size, "links of 4 GiB or more");
    else status = write_all(graph, &body, sources, write, context, fault);
    free(body.bytes);
    return status;
}
