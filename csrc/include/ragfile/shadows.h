/* shadows.h - quantised copies of a matrix, with error bounds (sections rag.shadow and
 * rag.planes). */
#ifndef RAGFILE_SHADOWS_H
#define RAGFILE_SHADOWS_H

#include "ragfile/section.h"

struct rag_matrix;

/* A shadow holds small integer copies of a matrix's rows, with error bounds, so that an exact
 * search can skip most rows. rag_rotation_choose looks for axes along which the rows are
 * shorter; it returns NULL if none are worth using. With a rotation the section is rag.planes,
 * without it rag.shadow. build writes the section in one pass. open accepts either kind, and
 * checks its head against the matrix. */
struct rag_rotation;

struct rag_shadow {
    struct rag_guard guard;
    uint64_t count, group_rows, groups_at;
    uint32_t dim, kept; /* kept: number of axes that are swept; 0 for rag.shadow */
};

enum rag_status rag_rotation_choose(const struct rag_matrix *matrix, struct rag_rotation **rotation,
                                    struct rag_fault *fault);
void rag_rotation_free(struct rag_rotation *rotation);
uint64_t rag_shadow_size(const struct rag_matrix *matrix, const struct rag_rotation *rotation);
enum rag_status rag_shadow_build(const struct rag_matrix *matrix,
                                 const struct rag_rotation *rotation, rag_write *write,
                                 void *context, struct rag_fault *fault);
enum rag_status rag_shadow_open(struct rag_shadow *shadow, const struct rag_guard *section,
                                const struct rag_matrix *matrix, struct rag_fault *fault);

/* Checks the bounds of an open shadow for every row. On RAG_CORRUPT, the fault has the first
 * wrong offset in the section. Searches rely on the bounds without this check. */
enum rag_status rag_shadow_check(const struct rag_shadow *shadow, const struct rag_matrix *matrix,
                                 struct rag_fault *fault);

#endif
