/* graph.c - libFuzzer target: any bytes as a section of links, and as a Markdown text.
 *
 * The buffers have exactly the sizes of their contents, so that a sanitizer sees an access by one
 * byte too many. A section that is accepted is written again and must read the same; links in a
 * text are in order and inside of it. */
#include "growing_buffer.h"
#include "ragfile/graph.h"

enum { DOCUMENTS = 5, LARGEST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum rag_status read_section(const uint8_t *bytes, size_t size, struct rag_graph *graph) {
    struct rag_fault fault;
    const struct rag_guard section = {.bytes = bytes, .size = size};
    const enum rag_status status = rag_graph_open(&section, DOCUMENTS, graph, &fault);
    MUST(status == RAG_OK || (fault.status == status && fault.what));
    return status;
}

static void check_numbers(const struct rag_graph *graph) {
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        const struct rag_edge *edge = &graph->edges[i];
        MUST(edge->document < DOCUMENTS && edge->kind < graph->kind_count);
        MUST(edge->target < graph->string_count);
        MUST(i == 0 || edge[-1].document <= edge->document);
    }
    for (uint32_t i = 0; i < graph->string_count; i++) {
        volatile uint8_t last = graph->bytes[graph->strings[i].at + graph->strings[i].size - 1];
        (void)last;
    }
}

static void read_and_write(const uint8_t *data, size_t size) {
    struct rag_graph graph, again;
    struct rag_fault fault;
    struct buffer made = {NULL, 0};
    if (read_section(data, size, &graph)) return;
    check_numbers(&graph);
    for (uint32_t i = 0; i < graph.feature_count; i++)
        graph.features[i].data = data + graph.features[i].at;
    MUST(rag_graph_write(&graph, DOCUMENTS, append, &made, &fault) == RAG_OK);
    MUST(read_section(made.bytes, made.size, &again) == RAG_OK);
    MUST(again.edge_count == graph.edge_count && again.name_count == graph.name_count);
    if (graph.edge_count)
        MUST(memcmp(again.edges, graph.edges, (size_t)graph.edge_count * sizeof *graph.edges) == 0);
    rag_graph_close(&again);
    rag_graph_close(&graph);
    free(made.bytes);
}

struct place {
    size_t size, end;
};

static void check_link(void *context, const struct rag_link *link) {
    struct place *place = context;
    MUST(link->size && place->end <= link->at && link->size <= place->size - link->at);
    MUST(link->target <= place->size && link->target_size <= place->size - link->target);
    MUST(link->text <= place->size && link->text_size <= place->size - link->text);
    place->end = link->at + link->size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct place place = {size, 0};
    uint8_t *copy = malloc(size ? size : 1);
    MUST(copy);
    if (size) memcpy(copy, data, size);
    if (size <= LARGEST) read_and_write(copy, size);
    MUST(rag_links_scan(copy, size, check_link, &place, NULL) == RAG_OK);
    free(copy);
    return 0;
}
