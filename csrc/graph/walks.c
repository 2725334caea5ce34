/* walks.c - backward lists, and steps of a walk over links in fixed point.
 *
 * Masses are whole numbers, so every machine and every order of the same edges gives the same
 * sums. */
#include <string.h>

#include "ragfile/graph.h"

void rag_graph_reverse(const uint32_t *heads, uint64_t edges, uint32_t count, uint64_t *starts,
                       uint32_t *order) {
    memset(starts, 0, ((size_t)count + 1) * sizeof *starts);
    for (uint64_t i = 0; i < edges; i++)
        if (heads[i] < count) starts[heads[i] + 1]++;
    for (uint32_t t = 0; t < count; t++) starts[t + 1] += starts[t];
    for (uint64_t i = 0; i < edges; i++)
        if (heads[i] < count) order[starts[heads[i]]++] = (uint32_t)i;
    for (uint32_t t = count; t > 0; t--) starts[t] = starts[t - 1];
    starts[0] = 0;
}

void rag_graph_step(const uint64_t *starts, const uint32_t *heads, uint32_t count, uint32_t damping,
                    const uint64_t *mass, uint64_t *next) {
    for (uint32_t d = 0; d < count; d++) {
        const uint64_t edges = starts[d + 1] - starts[d];
        if (!mass[d] || !edges) continue;
        const uint64_t share = (mass[d] * damping >> 16) / edges;
        for (uint64_t i = starts[d]; i < starts[d + 1]; i++)
            if (heads[i] < count) next[heads[i]] += share;
    }
}
