/* graph.h - the bytes of `graph` and `hypergraph`, shared by their writer and their reader.
 *
 * Little-endian:
 *      0   8  magic "RAGLINK1"
 *      8   8  R, size of the body            16   8  P, its size as stored: R, or that of a frame
 *     24   8  E, edges
 *     32   4  S, strings                     36   4  K, kinds
 *     40   4  M, documents with edges        44   4  N, names
 *     48   4  F, matrices                    52  12  zero
 *     64   P  the body; with matrices, zeros to a multiple of 64
 *          F  matrices, each with zeros to a multiple of 64
 *
 * The body is a sequence of varints, but for the bytes of strings:
 *   S strings   size (1 to 4096), bytes; ascending
 *   K kinds     string; ascending
 *   N names     string - string before, document; ascending
 *   M sources   document - document before - 1; then M times its number of edges, at least 1
 *   E heads     flags + 8 kind: 1 with a place, 2 with a fragment, 4 with a text
 *   E targets   string
 *     places    start - start of the placed edge before in the document; then all sizes
 *     fragments string; then texts, string
 *   F features  scope, width, bits (16 or 32); scopes ascend */
#ifndef RAG_GRAPH_H
#define RAG_GRAPH_H

#include "ragfile/graph.h"

#define GRAPH_MAGIC "RAGLINK1"
enum {
    GRAPH_HEADER = 64,
    GRAPH_AT_RAW = 8,
    GRAPH_AT_PACKED = 16,
    GRAPH_AT_EDGES = 24,
    GRAPH_AT_STRINGS = 32,
    GRAPH_AT_KINDS = 36,
    GRAPH_AT_SOURCES = 40,
    GRAPH_AT_NAMES = 44,
    GRAPH_AT_FEATURES = 48,
    GRAPH_AT_ZERO = 52,
    GRAPH_STRING_MAX = 4096,
    GRAPH_KINDS_MAX = 65536,
    GRAPH_RATIO = 64, /* a body is at most so many times its frame */
    GRAPH_WIDTH_MAX = 65535,
    GRAPH_HAS_PLACE = 1,
    GRAPH_HAS_FRAGMENT = 2,
    GRAPH_HAS_TEXT = 4,
    GRAPH_KIND_SHIFT = 3,
};

/* How many rows the matrix of a scope has, given the edges. RAG_ARGUMENT for a scope that no kind
 * has. */
enum rag_status rag_graph_feature_rows(const struct rag_graph *graph, uint64_t documents,
                                       uint32_t scope, uint64_t *rows, struct rag_fault *fault);

#endif
