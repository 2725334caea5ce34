/* check.c - every byte of a file, all of which is in memory for it: the container's own
 * verification. */
#include <stdlib.h>
#include <string.h>

#include "wasm.h"

static struct rag_fault *faults;
static size_t fault_count, fault_room;

static void keep(void *context, const struct rag_fault *found) {
    enum { MOST = 1000 };
    (void)context;
    if (fault_count == fault_room && fault_room < MOST) {
        struct rag_fault *more = realloc(faults, (fault_room + 50) * sizeof *more);
        if (more) faults = more, fault_room += 50;
    }
    if (fault_count < fault_room) faults[fault_count++] = *found;
}

/* Checks the newest commit of a file's bytes, with full every older one, too. *count gets how many
 * faults there are: check_fault tells each. */
EXPORT(check) int check(const uint8_t *bytes, size_t size, int full, uint32_t *count) {
    struct rag_reader *reader;
    struct rag_verdict verdict;
    fault_count = 0;
    const enum rag_status status = rag_reader_open(bytes, size, 0, &reader, &fault);
    if (status != RAG_OK) return (int)status;
    rag_reader_verify(reader, full != 0, keep, NULL, &verdict);
    rag_reader_close(reader);
    *count = (uint32_t)fault_count;
    return RAG_OK;
}

/* Makes a fault the one that fault_what and its like tell; its status. */
EXPORT(check_fault) int check_fault(uint32_t i) {
    fault = faults[i];
    return (int)fault.status;
}

/* Checks that a segment's rag.sample is whole, if it has one. */
EXPORT(check_sample) int check_sample(uint32_t i) {
    struct segment *segment = &file.segments[i];
    bool found;
    if (!segment->has_matrix) return RAG_OK;
    enum rag_status status =
        section_guard("rag.sample", segment->record.number, &segment->sample.guard, &found);
    if (status != RAG_OK || !found) return (int)status;
    return (int)rag_stored_sample_open(&segment->sample, segment->record.rows, segment->matrix.dim,
                                       segment->matrix.scalar == RAG_F16 ? 16 : 32, &fault);
}

/* Checks that a segment's shadow, once vectors_open has found it, is true of every row. */
EXPORT(check_shadow) int check_shadow(uint32_t i) {
    const struct segment *segment = &file.segments[i];
    if (!segment->has_shadow) return RAG_OK;
    return (int)rag_shadow_check(&segment->shadow, &segment->matrix, &fault);
}
