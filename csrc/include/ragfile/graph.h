/* graph.h - links between documents: the sections graph and hypergraph, and links in Markdown. */
#ifndef RAGFILE_GRAPH_H
#define RAGFILE_GRAPH_H

#include "ragfile/section.h"

#define RAG_NO_STRING 0xFFFFFFFFu
#define RAG_NO_PLACE 0xFFFFFFFFu

/* An edge from a document of the segment. `kind` is a number of a kind; the other strings are
 * numbers of strings. `start` and `size` are code points of the document's text. */
struct rag_edge {
    uint32_t document, kind, target;
    uint32_t start, size;    /* RAG_NO_PLACE and 0 without a place */
    uint32_t fragment, text; /* RAG_NO_STRING without one */
};

/* A string as a range of a graph's `bytes`. */
struct rag_graph_string {
    uint32_t at, size;
};

/* Another name of a document. */
struct rag_graph_name {
    uint32_t string, document;
};

/* A matrix of f16 or f32 components. Its scope: 0, a row for each document; 1 + 2k, one for each
 * edge of kind k; 2 + 2k, one for each target of these edges, in the order of its strings. */
struct rag_graph_feature {
    uint32_t scope, width, bits;
    uint64_t rows, at; /* `at` is the matrix's offset in the section */
    const void *data;  /* for rag_graph_write */
};

/* The content of a section. Strings ascend and differ; edges are in order of documents. */
struct rag_graph {
    uint64_t edge_count;
    uint32_t string_count, kind_count, name_count, feature_count;
    const uint8_t *bytes;
    struct rag_graph_string *strings;
    uint32_t *kinds; /* strings, ascending */
    struct rag_graph_name *names;
    struct rag_edge *edges;
    struct rag_graph_feature *features;
    void *held; /* what rag_graph_close frees */
};

/* Reads the whole section of a segment with so many documents, except for its matrices, and checks
 * it. The memory that it takes is bounded by a multiple of the section's size. */
enum rag_status rag_graph_open(const struct rag_guard *section, uint64_t documents,
                               struct rag_graph *graph, struct rag_fault *fault);
void rag_graph_close(struct rag_graph *graph);

/* Writes a section of a segment with so many documents. RAG_ARGUMENT if the parts are not those of
 * a section: numbers out of range, strings, kinds or edges out of order. */
enum rag_status rag_graph_write(const struct rag_graph *graph, uint64_t documents, rag_write *write,
                                void *context, struct rag_fault *fault);

/* Backward lists: order[starts[t], starts[t + 1]) are the numbers of the edges whose head is t, in
 * ascending order. `heads` below `count`; others are left out. `starts` has count + 1 numbers. */
void rag_graph_reverse(const uint32_t *heads, uint64_t edges, uint32_t count, uint64_t *starts,
                       uint32_t *order);

/* One step of a walk with restart, in fixed point: next[h] += mass[d] * damping / 2^16 / (edges of
 * d), for the edges of each d to h. The lists are those of each node in order; heads beyond `count`
 * lose their share. All sums wrap nowhere if the masses add up to at most 2^40. */
void rag_graph_step(const uint64_t *starts, const uint32_t *heads, uint32_t count, uint32_t damping,
                    const uint64_t *mass, uint64_t *next);

/* A link in a text, as ranges of its bytes. `kind`: 0 an inline link or anchor, 1 a wikilink, 2 an
 * embedded one, 3 a link whose target is defined elsewhere in the text. */
struct rag_link {
    uint32_t kind;
    size_t at, size; /* of the whole link */
    size_t target, target_size;
    size_t text, text_size; /* size 0 without one */
};

/* Calls sink for each link of a Markdown text in order. Code is left out, images too. Linear time.
 * RAG_MEMORY if there is none for the definitions of links. */
typedef void rag_link_sink(void *context, const struct rag_link *link);
enum rag_status rag_links_scan(const uint8_t *text, size_t size, rag_link_sink *sink, void *context,
                               struct rag_fault *fault);

#endif
