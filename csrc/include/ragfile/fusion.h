/* fusion.h - one ranking from BM25 scores and vector scores. */
#ifndef RAGFILE_FUSION_H
#define RAGFILE_FUSION_H

#include "ragfile/search.h"

struct rag_records;
struct rag_sample;

/* Calibrated fusion of two exact scores: the best BM25 score of all rows, mean and deviation of
 * the query's vector scores, and the weight. */
struct rag_calibration {
    double best, mean, deviation, weight;
};

/* The weight for a query of which a model knows the share `known` (model.h): the recorded one,
 * divided by 1 - counted * (1 - known); infinite for a divisor of 0. `counted` is how much the
 * share counts, both are from 0 to 1. */
double rag_calibrated_weight(double recorded, double counted, double known);

/* The fused score of a row. */
double rag_calibrated_score(const struct rag_calibration *by, float bm25, float dense);

/* Ranks rows by fused score, ties by `ties`. order[i] is the index of the row at rank i,
 * scores[i] its score. */
enum rag_status rag_calibrated_rank(const struct rag_calibration *by, const float *bm25,
                                    const float *dense, const int64_t *ties, size_t count,
                                    int64_t *order, double *scores, struct rag_fault *fault);

/* The vector score that a row with a BM25 score of at most `rest` needs to be among the k best
 * of these rows, or evidence; -infinity if any score suffices, FLT_MAX if none does. */
float rag_calibrated_least(const struct rag_calibration *by, const float *bm25, const float *dense,
                           size_t count, size_t k, float rest, bool has_evidence);

/* Evidence of the document (fusion/further_passages.c has the formulas). Of a fused ranking, those
 * of the first RAG_EVIDENCE_ROWS rows count that score at least RAG_EVIDENCE_NEAR of the first;
 * rag_evidence_count returns their number. scores are in descending order, documents[i] is equal
 * for rows of one document. weights[i] receives the logarithm of the sum for the best row of a
 * document and 0 for its others. */
enum { RAG_EVIDENCE_ROWS = 50 };
#define RAG_EVIDENCE_NEAR 0.65
size_t rag_evidence_count(const double *scores, size_t count);
void rag_evidence_weigh(const double *scores, const int64_t *documents, size_t count,
                        double *weights);

/* The score of a document's best row with its weight, top being the best score of all rows; and
 * the score that documents are ranked by. */
double rag_evidence_raised(double score, double top, double share, double weight);
double rag_evidence_of_document(double score, double top, double share, double weight,
                                uint64_t chunks);

/* Raises the scores of rows that count and puts them into their new order: order[i] is the index
 * of the row at rank i, scores[i] its score, equal scores by `ties`. */
enum rag_status rag_evidence_rank(double *scores, const int64_t *documents, const int64_t *ties,
                                  size_t count, double share, int64_t *order,
                                  struct rag_fault *fault);

/* Pages that the best passages name (fusion/named.c has the formula). A seed is a passage: its
 * score as a share of the best one, and the first row of its document. The number after the last
 * seed stands for the question. An edge is a document that a seed names, with a weight above 0.
 * Edges are in the order of the seeds, of one seed in the order of its text. */
enum { RAG_NAMED_ROWS = 12, RAG_NAMED_SEEDS = 3 };
struct rag_named_seed {
    double share;
    int64_t document;
};
struct rag_named_edge {
    uint32_t seed;
    int64_t document;
    double weight;
};

/* A document with its mass, 1 for the largest, the seed that gives most of it by naming the
 * document, and that part of it; RAG_NAMED_BY_NONE for a seed's document that none names. */
#define RAG_NAMED_BY_NONE 0xFFFFFFFFU
struct rag_named_mass {
    int64_t document;
    double mass, part;
    uint32_t by;
};

/* The weight of a name of which the rarest term is in df of all rows, and that `documents` have as
 * title; 0 for a name that does not count. */
double rag_named_weight(uint64_t rows, uint64_t df, size_t documents);

/* Takes the seeds of a ranking: of its first RAG_NAMED_ROWS rows, the best rows of the first
 * RAG_NAMED_SEEDS documents. documents[i] is the first row of the document of row i. at[i] is the
 * place of seed i. Returns their number, 0 if the best score is not above 0. */
size_t rag_named_seeds(const double *scores, const int64_t *documents, size_t count,
                       struct rag_named_seed seeds[RAG_NAMED_SEEDS], size_t at[RAG_NAMED_SEEDS]);

/* Spreads what the seeds hold over what they name. out has room for seed_count + edge_count.
 * Returns the number of documents, 0 if the seeds name none but their own. */
size_t rag_named_spread(const struct rag_named_seed *seeds, size_t seed_count,
                        const struct rag_named_edge *edges, size_t edge_count,
                        struct rag_named_mass *out);

/* The score of a document's row after the rule. */
double rag_named_raised(double score, double top, double share, double mass);

/* One segment in a merge of several: the number of its first row in the file, its rows, its
 * records (for ties between segments and for evidence; else NULL), and its vectors or NULL.
 * Arrays are sorted by base. */
struct rag_part {
    uint64_t base, rows;
    const struct rag_records *records;
    const struct rag_matrix *matrix;
};

/* Merges the results of all segments for each query. rows (numbers in the file, -1 for none) and
 * scores are [queries][parts][k] and are overwritten; to and best are [queries][k], by score,
 * then by (document id, chunk index). Unused entries are row -1, score -infinity. */
enum rag_status rag_merge(const struct rag_part *parts, size_t part_count, int64_t *rows,
                          float *scores, size_t count, size_t k, int threads, int64_t *to,
                          float *best, struct rag_fault *fault);

/* The first row in the file of the document of each row. Each part needs its records. */
enum rag_status rag_parts_first_rows(const struct rag_part *parts, size_t part_count,
                                     const int64_t *rows, size_t count, int64_t *first,
                                     struct rag_fault *fault);

/* The method of fusion (fusion/fuse.c has the formulas). `parameter` is the weight, the constant
 * of reciprocal ranks, or the share of vectors. `weights` has the weight of each query instead of
 * `parameter`, or is NULL. */
enum rag_method { RAG_CALIBRATED, RAG_RRF, RAG_BLEND };

struct rag_lexical_leg;
struct rag_lexical_stats;
struct rag_queries;

/* Queries over words and vectors. Ranked rows of either are [queries][depth] with their scores,
 * best first, row -1 after the last. Only RAG_CALIBRATED needs `sample`. evidence is the share of
 * RAG_CALIBRATED's evidence, 0 for none; it needs the records of all parts. */
struct rag_fusion {
    enum rag_method method;
    double parameter, evidence;
    const double *weights;
    const struct rag_part *parts;
    size_t part_count;
    const struct rag_lexical_leg *legs;
    size_t leg_count;
    const struct rag_lexical_stats *stats;
    const struct rag_queries *queries;
    const float *vectors;
    uint32_t dim;
    enum rag_metric metric;
    const struct rag_sample *sample;
    size_t count, depth;
    int threads;
};

/* Second step, between the searches for words and for vectors. nearness[queries][depth] receives
 * the vector scores of the rows that words found; RAG_CALIBRATED uses the mean for a row without a
 * vector. For RAG_CALIBRATED, moments[queries][2] receives mean and deviation, and `least`, if
 * not NULL, the vector score that any other row needs to be among the k best. */
enum rag_status rag_fusion_near(const struct rag_fusion *fusion, const int64_t *rows,
                                const float *bm25, size_t k, float *nearness, double *moments,
                                float *least, struct rag_fault *fault);

/* The fused ranking: rows, fused scores, and the BM25 and vector score of each row, all
 * [queries][width], best first. Unused entries are row -1, score -infinity, parts NaN. scales is
 * NULL or receives for RAG_CALIBRATED [queries][3]: the best BM25 score, mean and deviation. */
struct rag_fused {
    int64_t *rows;
    double *scores, *scales;
    float *bm25, *nearness;
    size_t width;
};
enum rag_status rag_fusion_rank(const struct rag_fusion *fusion, const int64_t *word_rows,
                                const float *bm25, const float *nearness, const double *moments,
                                const int64_t *dense_rows, const float *dense,
                                const struct rag_fused *out, struct rag_fault *fault);

/* A complete hybrid search. fusion has a leg for each part, and segments has the vectors of each.
 * wheres, if not NULL, has a row set or NULL for each; `filters` one for each query as well. With
 * wants_least (RAG_CALIBRATED only), rows that cannot be among the k best are skipped; then only
 * the first k rows of the result are meaningful. */
struct rag_hybrid {
    struct rag_fusion fusion;
    const struct rag_segment *segments;
    const uint64_t *const *wheres;
    const struct rag_filters *filters;
    size_t k;
    bool wants_least;
};

/* Time of each step in milliseconds. */
struct rag_spent {
    double words, fusing, vectors;
};
enum rag_status rag_hybrid_answer(const struct rag_hybrid *asked, const struct rag_fused *out,
                                  struct rag_spent *spent, struct rag_fault *fault);

/* Whether the suffix of a document's id is one of source code. */
bool rag_is_code(const uint8_t *id, size_t size);

/* A candidate of a question: the id of its document, and its fused score. */
struct rag_code_candidate {
    const uint8_t *id;
    size_t id_size;
    double score;
};

/* A ranked candidate: the number that it had among the candidates, its score, and the terms of it
 * that fusion/code_rank.c defines. Candidates of other files have path and file 0, and factors
 * 1. */
struct rag_code_score {
    double score, path, file, prior, discount;
    size_t at;
};

/* Ranks candidates again, best first, by the paths of those that are source code. They come best
 * first, with finite scores. */
enum rag_status rag_code_rank(const uint8_t *text, size_t size,
                              const struct rag_code_candidate *all, size_t count,
                              struct rag_code_score *out, struct rag_fault *fault);

/* The same for rows of a file. Each part needs its records. */
enum rag_status rag_code_rank_rows(const struct rag_part *parts, size_t part_count,
                                   const uint8_t *text, size_t size, const int64_t *rows,
                                   const double *scores, size_t count, struct rag_code_score *out,
                                   struct rag_fault *fault);

#endif
