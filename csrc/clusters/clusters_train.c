/* clusters_train.c - train centroids on a sample of rows, in two levels, reproducibly.
 *
 * Rows are points of int16 (2^-14), centroids int16 (2^-15). A point belongs to the centroid with
 * the largest product less half the centroid's square: integers, so nothing depends on the order of
 * sums, on threads or on the machine. First the sample is cut into about sqrt(C) groups, then each
 * group into its share of the C clusters; a round moves each centroid to the mean of its points. A
 * centroid that loses all its points does not move. Rounds begin from points that are evenly spaced
 * in the sample.
 *
 * Two levels cost sqrt(C) products per point where one level costs C, for clusters a few per cent
 * wider. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "clusters/centroids.h"

enum { GROUP_ROUNDS = 10, CLUSTER_ROUNDS = 8, GROUP_SAMPLE = 256 };

void rag_centroids_close(struct centroids *c) {
    free(c->panels);
    free(c->halves);
    *c = (struct centroids){0};
}

bool rag_centroids_open(struct centroids *c, size_t count, size_t stride) {
    const size_t panels = panels_of(count);
    *c = (struct centroids){.count = count, .stride = stride};
    c->panels = calloc(panels, 2 * PANEL_COLUMNS * stride);
    c->halves = calloc(panels * PANEL_COLUMNS, sizeof *c->halves);
    for (size_t i = count; c->halves && i < panels * PANEL_COLUMNS; i++) c->halves[i] = INT32_MAX;
    if (c->panels && c->halves) return true;
    rag_centroids_close(c);
    return false;
}

void rag_centroids_put(struct centroids *c, size_t place, const int16_t *centroid) {
    int64_t square = 0;
    for (size_t i = 0; i < c->stride; i++) square += (int32_t)centroid[i] * centroid[i];
    c->halves[place] = (int32_t)((square + 2) / 4); /* products have 2^-29, squares 2^-30 */
    put_centroid(c->panels, place, centroid, c->stride);
}

/* For up to four points: offer the products less half the squares, panel by panel, to `best`. */
void rag_centroids_nearest(const struct centroids *c, const int16_t *points, size_t count,
                           uint32_t first, struct nearest *best) {
    int32_t sums[4 * PANEL_COLUMNS];
    const size_t panel = 2 * PANEL_COLUMNS * c->stride, asked = count > 2 ? 4 : count;
    for (size_t at = 0; at < c->count; at += PANEL_COLUMNS) {
        rag_kernels()->turn(c->panels + at / PANEL_COLUMNS * panel, PANEL_COLUMNS, c->stride / 2,
                            points, c->stride, asked, sums);
        for (size_t p = 0; p < count; p++)
            for (size_t i = 0; i < PANEL_COLUMNS && at + i < c->count; i++) {
                const int32_t score = sums[p * PANEL_COLUMNS + i] - c->halves[at + i];
                if (score > best[p].score)
                    best[p] = (struct nearest){score, first + (uint32_t)(at + i)};
            }
    }
}

/* The centroid of points: their sum divided by their count, in twice the scale, rounded half up. */
void rag_centroid_of(const int64_t *sums, uint64_t count, size_t stride, int16_t *centroid) {
    for (size_t i = 0; i < stride; i++) {
        const int64_t twice = 4 * sums[i] + (int64_t)count, by = 2 * (int64_t)count;
        const int64_t whole = twice / by - (twice % by < 0);
        centroid[i] = (int16_t)(whole > INT16_MAX    ? INT16_MAX
                                : whole < -INT16_MAX ? -INT16_MAX
                                                     : whole);
    }
}

/* Some points of the sample, by number, with their assignments. */
struct flock {
    const int16_t *points;
    const uint32_t *which;
    size_t count, stride;
};

static void assign(const struct flock *flock, const struct centroids *c, uint32_t *to,
                   int16_t *four) {
    for (size_t first = 0; first < flock->count; first += 4) {
        const size_t count = flock->count - first < 4 ? flock->count - first : 4;
        struct nearest best[4];
        for (size_t p = 0; p < count; p++) {
            best[p] = NEAREST_NONE;
            memcpy(four + p * flock->stride,
                   flock->points + (size_t)flock->which[first + p] * flock->stride,
                   flock->stride * sizeof *four);
        }
        rag_centroids_nearest(c, four, count, 0, best);
        for (size_t p = 0; p < count; p++) to[first + p] = best[p].place;
    }
}

static void move(const struct flock *flock, struct centroids *c, const uint32_t *to, int64_t *sums,
                 uint32_t *counts, int16_t *centroid) {
    const size_t stride = flock->stride;
    memset(sums, 0, c->count * stride * sizeof *sums);
    memset(counts, 0, c->count * sizeof *counts);
    for (size_t i = 0; i < flock->count; i++) {
        const int16_t *point = flock->points + (size_t)flock->which[i] * stride;
        int64_t *sum = sums + to[i] * stride;
        counts[to[i]]++;
        for (size_t j = 0; j < stride; j++) sum[j] += point[j];
    }
    for (size_t k = 0; k < c->count; k++) {
        if (!counts[k]) continue;
        rag_centroid_of(sums + k * stride, counts[k], stride, centroid);
        rag_centroids_put(c, k, centroid);
    }
}

/* Train centroids of some points; `to` gets the final assignment of each. */
static bool train(const struct flock *flock, size_t count, int rounds, struct centroids *c,
                  uint32_t *to) {
    const size_t stride = flock->stride;
    int64_t *sums = malloc(count * stride * sizeof *sums);
    uint32_t *counts = malloc(count * sizeof *counts);
    int16_t *four = calloc(4 * stride, sizeof *four);
    bool good = rag_centroids_open(c, count, stride) && sums && counts && four;
    for (size_t k = 0; good && k < count; k++) {
        const uint32_t which = flock->which[k * flock->count / count];
        for (size_t j = 0; j < stride; j++) sums[j] = flock->points[(size_t)which * stride + j];
        rag_centroid_of(sums, 1, stride, four);
        rag_centroids_put(c, k, four);
    }
    for (int i = 0; good && i < rounds; i++) {
        assign(flock, c, to, four);
        move(flock, c, to, sums, counts, four);
    }
    if (good) assign(flock, c, to, four);
    free(four);
    free(counts);
    free(sums);
    return good;
}

/* ---------------------------------------------------------------------------------- two levels */

struct training {
    const struct flock *flock;
    const uint32_t *places; /* the sample's points, group by group */
    const size_t *starts;
    struct tree *tree;
    size_t wanted;
    bool failed;
};

static void train_group(void *context, size_t g) {
    struct training *on = context;
    const size_t count = on->starts[g + 1] - on->starts[g];
    const struct flock part = {on->flock->points, on->places + on->starts[g], count,
                               on->flock->stride};
    const size_t all = on->flock->count,
                 wanted = on->wanted * on->starts[g + 1] / all - on->wanted * on->starts[g] / all;
    uint32_t *to = malloc((count + 1) * sizeof *to);
    if (wanted && !(to && train(&part, wanted, CLUSTER_ROUNDS, &on->tree->parts[g], to)))
        __atomic_store_n(&on->failed, true, __ATOMIC_RELAXED);
    free(to);
}

/* Sort the sample's points by group: places, and the start of each group. */
static void sort_groups(const uint32_t *to, size_t count, size_t groups, uint32_t *places,
                        size_t *starts) {
    memset(starts, 0, (groups + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[to[i] + 1]++;
    for (size_t g = 0; g < groups; g++) starts[g + 1] += starts[g];
    for (size_t i = 0; i < count; i++) places[starts[to[i]]++] = (uint32_t)i;
    for (size_t g = groups; g > 0; g--) starts[g] = starts[g - 1];
    starts[0] = 0;
}

static size_t root_of(size_t value) {
    size_t root = 1;
    while ((root + 1) * (root + 1) <= value) root++;
    return root;
}

static bool train_tree(const struct flock *flock, size_t wanted, int threads, struct tree *tree,
                       uint32_t *to, uint32_t *places, size_t *starts) {
    const size_t groups = tree->count, few = groups * GROUP_SAMPLE;
    struct flock some = *flock;
    int16_t *four = calloc(4 * flock->stride, sizeof *four);
    if (!four) return false;
    some.count = flock->count < few ? flock->count : few;
    for (size_t i = 0; i < some.count; i++) places[i] = (uint32_t)(i * flock->count / some.count);
    some.which = places;
    bool good = train(&some, groups, GROUP_ROUNDS, &tree->groups, to);
    if (good) assign(flock, &tree->groups, to, four);
    free(four);
    if (!good) return false;
    sort_groups(to, flock->count, groups, places, starts);
    struct training on = {flock, places, starts, tree, wanted, false};
    rag_parallel(groups, threads, train_group, &on);
    return !on.failed;
}

void rag_tree_close(struct tree *tree) {
    for (size_t g = 0; tree->parts && g < tree->count; g++) rag_centroids_close(&tree->parts[g]);
    rag_centroids_close(&tree->groups);
    free(tree->parts);
    free(tree->firsts);
    *tree = (struct tree){0};
}

bool rag_tree_train(struct tree *tree, const int16_t *points, size_t count, size_t stride,
                    size_t wanted, int threads) {
    *tree = (struct tree){.count = root_of(wanted)};
    uint32_t *all = malloc(3 * (count + 1) * sizeof *all);
    size_t *starts = malloc((tree->count + 1) * sizeof *starts);
    tree->parts = calloc(tree->count, sizeof *tree->parts);
    tree->firsts = calloc(tree->count + 1, sizeof *tree->firsts);
    bool good = all && starts && tree->parts && tree->firsts;
    for (size_t i = 0; good && i < count; i++) all[i] = (uint32_t)i;
    const struct flock flock = {points, all, count, stride};
    if (good)
        good = train_tree(&flock, wanted, threads, tree, all + count, all + 2 * count, starts);
    for (size_t g = 0; good && g < tree->count; g++)
        tree->firsts[g + 1] = tree->firsts[g] + (uint32_t)tree->parts[g].count;
    free(starts);
    free(all);
    return good;
}
