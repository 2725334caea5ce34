/* further_passages.c - raise the best passage of each document by its further ones. */
#include <stdlib.h>

#include "ragfile/fusion.h"
#include "doors/wasm/wasm.h"
#include "shared/fail.h"

/* Set *found if a document has several chunks, or may have: some documents have none. */
static enum rag_status find_further(bool *found) {
    enum rag_status status = RAG_OK;
    *found = false;
    for (size_t i = 0; i < file.count; i++) {
        struct segment *segment = &file.segments[i];
        if (segment->record.live == 0) continue;
        const enum rag_status one = segment_records(segment);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
        else if (segment->records.rows != segment->records.count) *found = true;
    }
    return status;
}

/* Number the documents of rows: segment and document make one number. */
static enum rag_status find_documents(const int64_t *rows, size_t count, int64_t *documents) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; i < count; i++) {
        const struct segment *segment = segment_of((uint64_t)rows[i]);
        struct rag_chunk chunk = {0};
        if (!segment) return rag_fail(&fault, RAG_ARGUMENT, i, "no such row");
        const enum rag_status one =
            rag_records_chunk(&segment->records, (uint64_t)rows[i] - segment->base, &chunk, &fault);
        if (one != RAG_OK && one != RAG_SOURCE) return one;
        if (one != RAG_OK) status = one;
        documents[i] = (int64_t)((uint64_t)(segment - file.segments) << 32 | chunk.document);
    }
    return status;
}

/* Raise the scores of a ranking, best first, and put them into their new order; order[i] is the
 * old place of the row at rank i. */
EXPORT(fusion_evidence)
int fusion_evidence(const int64_t *rows, const int64_t *ties, size_t count, double share,
                    double *scores, int64_t *order) {
    int64_t documents[RAG_EVIDENCE_ROWS];
    const size_t counted = rag_evidence_count(scores, count);
    bool has_further;
    for (size_t i = 0; i < count; i++) order[i] = (int64_t)i;
    enum rag_status status = find_further(&has_further);
    if (status != RAG_OK || !has_further || counted < 2) return (int)status;
    status = find_documents(rows, counted, documents);
    if (status == RAG_OK)
        status = rag_evidence_rank(scores, documents, ties, counted, share, order, &fault);
    return (int)status;
}

/* Return how many rows of a ranking count as evidence. */
EXPORT(fusion_evidence_count) size_t fusion_evidence_count(const double *scores, size_t count) {
    return rag_evidence_count(scores, count);
}
