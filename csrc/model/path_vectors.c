/* path_vectors.c - a chunk's vector in its context: the direction of text + weight * path.
 *
 * The headings above a chunk are as relevant as its text: "Drain the node" on a page on container
 * runtimes differs from the page "Safely drain a node". So the vector of the chunk's header path is
 * added to that of its text, and the sum is scaled to length 1.
 *
 *     s = text + weight * path        binary64, one rounding for the product, one for the sum
 *     L = the sum of the squares of s, in the sixteen lanes of the canonical score
 *     v = binary32(s / sqrt(L))
 *
 * Every step is rounded by IEEE 754 and none is fused, so every machine gives the same bits. A
 * chunk keeps the vector of its text, bit for bit, if it has no path, if its path has no known word
 * (zeros), or if the sum is zero. */
#include <math.h>

#include "ragfile/model.h"

static bool is_zero(const float *row, size_t dims) {
    for (size_t j = 0; j < dims; j++)
        if (row[j] != 0) return false;
    return true;
}

static double squares(const double *sum, size_t dims) {
    double lanes[16] = {0};
    for (size_t j = 0; j < dims; j++) lanes[j % 16] += sum[j] * sum[j];
    for (size_t apart = 8; apart > 0; apart /= 2)
        for (size_t j = 0; j < apart; j++) lanes[j] += lanes[j + apart];
    return lanes[0];
}

static void add_path(float *text, const float *path, double *sum, size_t dims, double weight) {
    for (size_t j = 0; j < dims; j++) sum[j] = (double)text[j] + weight * (double)path[j];
    const double length = sqrt(squares(sum, dims));
    for (size_t j = 0; length > 0 && j < dims; j++) text[j] = (float)(sum[j] / length);
}

void rag_path_vectors_add(float *texts, const float *paths, const int64_t *path_of, size_t rows,
                          size_t dims, double weight, double *room) {
    for (size_t i = 0; i < rows; i++) {
        if (path_of[i] < 0) continue;
        const float *path = paths + (size_t)path_of[i] * dims;
        if (!is_zero(path, dims)) add_path(texts + i * dims, path, room, dims, weight);
    }
}
