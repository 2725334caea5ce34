/* graph.c - the links of a segment's documents, which JavaScript copies after each call. */
#include <string.h>

#include "doors/wasm/wasm.h"
#include "ragfile/graph.h"

/* The links of the last call; its strings may be bytes of the file, lent until the next call. */
static struct rag_graph graph;

/* Read the section `graph` of a segment. out: edges and their number, strings and their number, the
 * bytes of strings, kinds and their number, names and their number; all 0 without the section. */
EXPORT(graph_open) int graph_open(uint32_t i, uint32_t *out) {
    struct segment *segment = &file.segments[i];
    struct rag_guard guard;
    bool found;
    rag_graph_close(&graph);
    memset(&graph, 0, sizeof graph);
    enum rag_status status = section_guard("graph", segment->record.number, &guard, &found);
    if (status == RAG_OK && found) status = segment_records(segment);
    if (status == RAG_OK && found)
        status = rag_graph_open(&guard, segment->records.count, &graph, &fault);
    out[0] = (uint32_t)(uintptr_t)graph.edges, out[1] = (uint32_t)graph.edge_count;
    out[2] = (uint32_t)(uintptr_t)graph.strings, out[3] = graph.string_count;
    out[4] = (uint32_t)(uintptr_t)graph.bytes;
    out[5] = (uint32_t)(uintptr_t)graph.kinds, out[6] = graph.kind_count;
    out[7] = (uint32_t)(uintptr_t)graph.names, out[8] = graph.name_count;
    return (int)status;
}
