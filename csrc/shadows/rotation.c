/* rotation.c - choose the axes of a shadow from a sample of its rows, or decide against rotation.
 *
 * Embeddings fill their space unevenly: measured from their mean along suitable axes, half of the
 * dimensions carry nine tenths of the variance. A plane that codes only those is half as long and
 * prunes as well. Vectors without such directions (independent noise) gain nothing and keep the
 * plain shadow.
 *
 * The axes are the principal ones of SAMPLE_ROWS rows, evenly spaced. The file must be the same on
 * every machine. So the sample has integer components and exact sums of products, and eigen.c fixes
 * the order of its binary64 operations. The axes become int16, so all that readers and writers
 * derive from them starts from exact integers.
 *
 * The number of kept axes is the smallest (in steps of KEPT_STEP) at which the dropped axes move
 * the scores of a query that resembles a row by at most TAIL_SHARE of their deviation. Above
 * KEPT_SHARE of all dimensions a rotation saves too little. */
#include <math.h>
#include <stdlib.h>

#include "shadows/rotation.h"
#include "shared/fail.h"

enum {
    SAMPLE_ROWS = 4096,
    SAMPLE_BITS = 9,
    ROTATED_DIM_MIN = 86, /* so that 64 can be kept */
    KEPT_STEP = QUERY_PAD,
};
#define TAIL_SHARE 0.3
#define KEPT_SHARE 0.75

void rag_rotation_free(struct rag_rotation *rotation) {
    if (!rotation) return;
    free(rotation->axes);
    free(rotation);
}

static struct rag_rotation *rotation_new(uint32_t dim, uint32_t kept) {
    struct rag_rotation *rotation = calloc(1, sizeof *rotation);
    const size_t stride = align_up(dim, AXIS_PAD);
    if (!rotation) return NULL;
    *rotation = (struct rag_rotation){.dim = dim, .kept = kept, .stride = stride};
    rotation->axes = calloc(kept * stride * sizeof(int16_t) + 2 * stride * sizeof(float), 1);
    rotation->mean = (float *)(rotation->axes + kept * stride);
    rotation->steps = rotation->mean + stride;
    if (rotation->axes) return rotation;
    free(rotation);
    return NULL;
}

/* ---------------------------------------------------------------------------------- the sample */

static inline double nearest_whole(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

/* The index of component i of the sample's row r; rows are stored in pairs. */
static inline size_t place_of(size_t stride, size_t r, size_t i) {
    return 2 * (r / 2 * stride + i) + r % 2;
}

/* Sample evenly spaced unit rows as integers; rows with no usable direction become zeros. */
static enum rag_status take_sample(const struct rag_matrix *matrix, int16_t *sample,
                                   struct rag_fault *fault) {
    const uint32_t dim = matrix->dim;
    const size_t stride = align_up(dim, AXIS_PAD);
    double *zeros = calloc(align_up(dim, 64), sizeof *zeros), dot, square;
    float *scratch = malloc(dim * sizeof *scratch);
    enum rag_status status = zeros && scratch ? RAG_OK : RAG_MEMORY;
    for (uint64_t i = 0; i < SAMPLE_ROWS && status == RAG_OK; i++) {
        const uint64_t row = i * matrix->count / SAMPLE_ROWS;
        status = rag_matrix_touch(matrix, row, 1, fault);
        if (status != RAG_OK) break;
        const uint8_t *floats = rag_matrix_floats(matrix, row, scratch);
        rag_kernels()->canonical(floats, zeros, dim, &dot, &square);
        const bool plain = square >= 0x1p-200 && square <= 0x1p200;
        const double factor = plain ? (1 << SAMPLE_BITS) / sqrt(square) : 0;
        for (uint32_t j = 0; j < dim && plain; j++)
            sample[place_of(stride, i, j)] =
                (int16_t)nearest_whole((double)load_f32(floats + 4 * j) * factor);
    }
    free(scratch);
    free(zeros);
    return status;
}

/* Sums of products stay below SAMPLE_ROWS 2^(2 SAMPLE_BITS) = 2^30. Four components at a time. */
static void moments_of(const int16_t *sample, uint32_t dim, double *means, double *matrix,
                       int16_t *points, int32_t *sums) {
    const size_t stride = align_up(dim, AXIS_PAD);
    const double one = (double)SAMPLE_ROWS * (1 << SAMPLE_BITS);
    for (uint32_t first = 0; first < dim; first += 4) {
        for (size_t c = 0; c < 4; c++)
            for (size_t r = 0; r < SAMPLE_ROWS; r++)
                points[c * SAMPLE_ROWS + r] = sample[place_of(stride, r, first + c)];
        rag_kernels()->turn((const uint8_t *)sample, stride, SAMPLE_ROWS / 2, points, SAMPLE_ROWS,
                            4, sums);
        for (size_t c = 0; c < 4 && first + c < dim; c++) {
            int32_t sum = 0;
            for (size_t r = 0; r < SAMPLE_ROWS; r++) sum += points[c * SAMPLE_ROWS + r];
            means[first + c] = sum / one;
            for (uint32_t j = 0; j < dim; j++)
                matrix[(first + c) * dim + j] = sums[c * stride + j] / (one * (1 << SAMPLE_BITS));
        }
    }
}

/* Subtract the products of the means, which leaves the covariance. */
static void centre(double *matrix, const double *means, uint32_t dim) {
    for (uint32_t i = 0; i < dim; i++)
        for (uint32_t j = 0; j < dim; j++) matrix[i * dim + j] -= means[i] * means[j];
}

/* ------------------------------------------------------------------------------------- choosing */

static double at_least_zero(double value) { return value > 0 ? value : 0; }

/* The score variance of a query that resembles a row: the trace of C (C + m m^T). */
static double score_variance(const double *values, const double *axes, const double *means,
                             uint32_t dim) {
    double sum = 0;
    for (uint32_t i = 0; i < dim; i++) {
        double along = 0;
        for (uint32_t j = 0; j < dim; j++) along += axes[i * dim + j] * means[j];
        sum += at_least_zero(values[i]) * (at_least_zero(values[i]) + along * along);
    }
    return sum;
}

/* Return the number of axes to keep; 0 for no rotation. */
static uint32_t kept_of(const double *values, double variance, uint32_t dim) {
    double rest = 0;
    const double most = TAIL_SHARE * sqrt(variance);
    for (uint32_t i = 0; i < dim; i++) rest += at_least_zero(values[i]);
    for (uint32_t kept = 0; kept <= KEPT_MAX && kept <= KEPT_SHARE * dim; kept += KEPT_STEP) {
        if (kept > 0 && rest <= most) return kept;
        for (uint32_t i = kept; i < kept + KEPT_STEP && i < dim; i++)
            rest -= at_least_zero(values[i]);
    }
    return 0;
}

static void put_axes(struct rag_rotation *rotation, const double *axes) {
    for (uint32_t i = 0; i < rotation->kept; i++)
        for (uint32_t j = 0; j < rotation->dim; j++) {
            const double value = nearest_whole(axes[i * rotation->dim + j] * (1 << AXIS_BITS));
            rotation->axes[place_of(rotation->kept, j, i)] = value > INT16_MAX    ? INT16_MAX
                                                             : value < -INT16_MAX ? -INT16_MAX
                                                                                  : (int16_t)value;
        }
}

/* The step of a kept axis: the 3/4th power of its deviation. Steps equal to the deviation would
 * minimise the rows' error but increase that of the queries' codes. */
static void put_steps(struct rag_rotation *rotation, const double *values) {
    for (uint32_t i = 0; i < rotation->kept; i++) {
        const double least = values[0] * 0x1p-20, value = values[i] > least ? values[i] : least;
        const double fourth = sqrt(sqrt(value));
        rotation->steps[i] = (float)(fourth * sqrt(fourth));
    }
}

double rag_axes_skew(const uint8_t *axes, size_t stride, size_t kept) {
    double sum = 0;
    int32_t products[KEPT_MAX];
    int16_t axis[ROTATED_DIM_MAX];
    for (size_t i = 0; i < kept; i++) {
        int64_t square = 0;
        for (size_t p = 0; p < stride / 2; p++) memcpy(axis + 2 * p, axes + 4 * (p * kept + i), 4);
        for (size_t j = 0; j < stride; j++) square += (int32_t)axis[j] * axis[j];
        const double error = (double)square * 0x1p-30 - 1;
        if (!(fabs(error) <= SKEW)) return INFINITY;
        rag_kernels()->turn(axes, kept, stride / 2, axis, stride, 1, products);
        sum += error * error;
        for (size_t j = 0; j < i; j++) {
            const double product = products[j] * 0x1p-30;
            sum += 2 * product * product;
        }
    }
    return sqrt(sum);
}

struct choosing {
    int16_t *sample, *points;
    int32_t *sums;
    double *means, *values, *matrix, *axes;
};

static bool choosing_open(struct choosing *on, size_t dim) {
    const size_t stride = align_up(dim, AXIS_PAD);
    on->sample = calloc((stride + 4) * SAMPLE_ROWS, sizeof *on->sample);
    on->points = on->sample + stride * SAMPLE_ROWS;
    on->means = malloc(2 * dim * (dim + 1) * sizeof *on->means);
    on->sums = malloc(4 * stride * sizeof *on->sums);
    on->values = on->means + dim;
    on->matrix = on->values + dim;
    on->axes = on->matrix + dim * dim;
    return on->sample && on->means && on->sums;
}

static void choosing_close(struct choosing *on) {
    free(on->sample);
    free(on->means);
    free(on->sums);
}

/* Return NULL for no rotation, and without memory for it. */
static struct rag_rotation *choose(struct choosing *on, uint32_t dim) {
    moments_of(on->sample, dim, on->means, on->matrix, on->points, on->sums);
    centre(on->matrix, on->means, dim);
    if (!rag_eigen(on->matrix, dim, on->values, on->axes)) return NULL;
    const double variance = score_variance(on->values, on->axes, on->means, dim);
    const uint32_t kept = variance > 0x1p-40 ? kept_of(on->values, variance, dim) : 0;
    struct rag_rotation *rotation = kept ? rotation_new(dim, kept) : NULL;
    if (!rotation) return NULL;
    for (uint32_t i = 0; i < dim; i++) rotation->mean[i] = (float)on->means[i];
    put_axes(rotation, on->axes);
    put_steps(rotation, on->values);
    if (rag_axes_skew((const uint8_t *)rotation->axes, rotation->stride, kept) <= SKEW)
        return rotation;
    rag_rotation_free(rotation);
    return NULL;
}

enum rag_status rag_rotation_choose(const struct rag_matrix *matrix, struct rag_rotation **rotation,
                                    struct rag_fault *fault) {
    struct choosing on = {0};
    rag_float_mode before;
    *rotation = NULL;
    if (matrix->count < SAMPLE_ROWS || matrix->dim < ROTATED_DIM_MIN ||
        matrix->dim > ROTATED_DIM_MAX)
        return RAG_OK;
    enum rag_status status = choosing_open(&on, matrix->dim) ? RAG_OK : RAG_MEMORY;
    rag_float_plain(&before);
    if (status == RAG_OK) status = take_sample(matrix, on.sample, fault);
    if (status == RAG_OK) *rotation = choose(&on, matrix->dim);
    rag_float_back(&before);
    choosing_close(&on);
    return status == RAG_MEMORY ? rag_fail(fault, RAG_MEMORY, 0, "no memory to build a shadow")
                                : status;
}
