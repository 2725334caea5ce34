/* words.c - queries by words: from text to terms to rows with exact BM25 scores.
 *
 * The host does stemming and stop words, as Python does elsewhere: words_ask returns the new words,
 * words_resolve takes their terms. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/fusion.h"
#include "ragfile/languages.h"
#include "doors/wasm/wasm.h"
#include "shared/fail.h"
#include "text/bm25.h"

static struct rag_vocabulary *vocabulary;
static struct rag_queries *queries;
static struct rag_lexical_leg *legs;
static struct rag_lexical_stats stats;
static size_t leg_count;
static struct segment **searched;

static enum rag_status open_one(struct segment *segment) {
    struct rag_guard terms, postings;
    bool found;
    if (segment->lexicon) return RAG_OK;
    enum rag_status status = section_guard("rag.terms", segment->record.number, &terms, &found);
    if (status == RAG_OK && found)
        status = section_guard("rag.postings", segment->record.number, &postings, &found);
    if (status == RAG_OK && !found)
        status = rag_fail(&fault, RAG_ARGUMENT, 0, "a segment has no BM25 index");
    if (status == RAG_OK) status = rag_lexicon_open(&terms, &postings, &segment->lexicon, &fault);
    if (status != RAG_OK) return status;
    struct rag_lexicon_info info;
    rag_lexicon_info(segment->lexicon, &info);
    if (info.rows == segment->record.rows) return RAG_OK;
    rag_lexicon_close(segment->lexicon);
    segment->lexicon = NULL;
    return rag_fail(&fault, RAG_CORRUPT, info.rows,
                    "a segment has another number of rows than its postings");
}

/* Sum the lengths of live rows: deleted rows do not count. */
static enum rag_status sum_lengths(struct segment *segment, const struct rag_lexicon_info *info) {
    if (!segment->alive) segment->live_length = info->total_length;
    if (!segment->alive || segment->live_length) return RAG_OK;
    uint32_t *lengths = malloc((size_t)info->rows * 4 + 4);
    if (!lengths) return rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    const enum rag_status status = rag_lexicon_lengths(segment->lexicon, lengths, &fault);
    uint64_t sum = 0;
    for (uint64_t row = 0; status == RAG_OK && row < info->rows; row++)
        if (segment->alive[row / 64] >> row % 64 & 1) sum += lengths[row];
    segment->live_length = sum;
    free(lengths);
    return status;
}

static enum rag_status add_leg(struct segment *segment) {
    enum rag_status status = open_one(segment);
    if (status != RAG_OK) return status;
    struct rag_lexicon_info info;
    rag_lexicon_info(segment->lexicon, &info);
    status = sum_lengths(segment, &info);
    if (status != RAG_OK) return status;
    if (leg_count == 0) stats.k1 = info.k1, stats.b = info.b;
    stats.rows += segment->record.live, stats.total_length += segment->live_length;
    legs[leg_count] =
        (struct rag_lexical_leg){segment->lexicon, segment->alive, NULL, segment->base};
    searched[leg_count++] = segment;
    return RAG_OK;
}

/* Open the lexicons of all segments with live rows. */
EXPORT(words_open) int words_open(void) {
    enum rag_status status = RAG_OK;
    if (!vocabulary) vocabulary = rag_vocabulary_new();
    if (!legs) legs = calloc(file.count + 1, sizeof *legs);
    if (!searched) searched = calloc(file.count + 1, sizeof *searched);
    if (!vocabulary || !legs || !searched) return (int)rag_fail(&fault, RAG_MEMORY, 0, "no memory");
    stats = (struct rag_lexical_stats){0};
    leg_count = 0;
    for (size_t i = 0; i < file.count; i++) {
        if (file.segments[i].record.live == 0) continue;
        const enum rag_status one = add_leg(&file.segments[i]);
        if (one != RAG_OK && one != RAG_SOURCE) return (int)one;
        if (one != RAG_OK) status = one;
    }
    return (int)status;
}

/* Copy the configuration of a lexicon while its bytes are held; *size gets its size. */
EXPORT(words_config) int words_config(uint32_t segment, const uint8_t **config, size_t *size) {
    struct rag_guard terms;
    struct rag_lexicon_info info;
    bool found;
    enum rag_status status =
        section_guard("rag.terms", file.segments[segment].record.number, &terms, &found);
    if (status == RAG_OK && (!found || !file.segments[segment].lexicon))
        status = rag_fail(&fault, RAG_ARGUMENT, 0, "a segment has no BM25 index");
    if (status != RAG_OK) return (int)status;
    rag_lexicon_info(file.segments[segment].lexicon, &info);
    status = rag_guard_check(&terms, 0, 128 + info.config_size, &fault);
    if (status != RAG_OK) return (int)status;
    *config = rag_guard_at(&terms, 128);
    *size = info.config_size;
    return RAG_OK;
}

enum { VOCABULARY_MOST = 1 << 17, LENGTHS_MOST = 64 << 10 };

/* Set a bit for each language of the file's live rows. */
EXPORT(words_languages) int words_languages(uint32_t *found) {
    enum rag_status status = RAG_OK;
    *found = 0;
    for (size_t s = 0; s < leg_count; s++) {
        uint32_t some = 0;
        const enum rag_status one =
            rag_lexicon_languages(legs[s].lexicon, legs[s].alive, &some, &fault);
        if (one != RAG_OK && one != RAG_SOURCE) return (int)one;
        if (one != RAG_OK) status = one;
        *found |= some;
    }
    return (int)status;
}

static size_t put_text(uint8_t *out, size_t room, size_t used, const char *text, char end) {
    const size_t size = strlen(text);
    if (used + size + 1 <= room) {
        memcpy(out + used, text, size);
        out[used + size] = (uint8_t)end;
    }
    return used + size + 1;
}

/* Write a line for each language: code, stemmer, number of the rule for accents, letters and stop
 * words, separated by tabs. Return the size needed. */
EXPORT(words_language_table) size_t words_language_table(uint8_t *out, size_t room) {
    size_t used = 0;
    const struct rag_language *one;
    for (size_t i = 0; (one = rag_language_at(i)) != NULL; i++) {
        const char accents[] = {(char)('0' + one->accents), 0};
        used = put_text(out, room, used, one->code, '\t');
        used = put_text(out, room, used, one->stemmer, '\t');
        used = put_text(out, room, used, accents, '\t');
        used = put_text(out, room, used, one->letters, '\t');
        used = put_text(out, room, used, one->stop_words, '\n');
    }
    return used;
}

EXPORT(words_foreign) int words_foreign(const uint8_t *text, size_t size) {
    return rag_language_is_foreign(text, size);
}

/* Add the words of the query as those of each language of a set, beside English. */
static enum rag_status ask_languages(const uint8_t *text, size_t size, unsigned rules,
                                     uint32_t among) {
    enum rag_status status = RAG_OK;
    for (uint32_t left = among; left && status == RAG_OK; left &= left - 1)
        status = rag_queries_also(queries, vocabulary, text, size, rules,
                                  (size_t)__builtin_ctz(left), &fault);
    if (!among || status != RAG_OK) return status;
    const size_t sure = rag_language_asked(text, size, among | 1);
    if (sure != RAG_LANGUAGE_UNSURE) rag_queries_sure(queries, sure);
    return RAG_OK;
}

/* Begin new queries. */
static enum rag_status start_queries(void) {
    if (queries) rag_queries_free(queries);
    if (rag_vocabulary_size(vocabulary) > VOCABULARY_MOST) {
        rag_vocabulary_free(vocabulary);
        vocabulary = rag_vocabulary_new();
    }
    queries = rag_queries_new();
    return queries && vocabulary ? RAG_OK : rag_fail(&fault, RAG_MEMORY, 0, "no memory");
}

/* Set the query; rules are those of rag_analyze, `among` the languages of the file. Return the
 * words without a term yet, each followed by a NUL. */
EXPORT(words_ask)
int words_ask(const uint8_t *text, size_t size, unsigned rules, uint32_t among,
              const uint8_t **pending, size_t *pending_size) {
    enum rag_status status = start_queries();
    if (status == RAG_OK) status = rag_queries_add(queries, vocabulary, text, size, rules, &fault);
    if (status == RAG_OK) status = ask_languages(text, size, rules, among);
    if (status == RAG_OK) *pending = rag_vocabulary_pending(vocabulary, pending_size);
    return (int)status;
}

/* The same for several texts, each followed by a NUL; words_rarest answers. */
EXPORT(words_ask_each)
int words_ask_each(const uint8_t *texts, size_t size, unsigned rules, uint32_t among,
                   const uint8_t **pending, size_t *pending_size) {
    enum rag_status status = start_queries();
    for (size_t at = 0, end; at < size && status == RAG_OK; at = end + 1) {
        for (end = at; end < size && texts[end];) end++;
        status = rag_queries_add(queries, vocabulary, texts + at, end - at, rules, &fault);
        if (status == RAG_OK) status = ask_languages(texts + at, end - at, rules, among);
    }
    if (status == RAG_OK) *pending = rag_vocabulary_pending(vocabulary, pending_size);
    return (int)status;
}

/* Write the smallest number of live rows with a term of each of `count` queries, 0 without
 * terms. */
EXPORT(words_rarest) int words_rarest(size_t count, double *rarest) {
    const enum rag_status status = rag_lexicons_count(legs, leg_count, queries, 1, &fault);
    for (size_t i = 0; i < count && status == RAG_OK; i++) {
        size_t terms_count;
        const struct rag_query_term *terms = rag_queries_terms(queries, i, &terms_count);
        rarest[i] = terms_count ? (double)terms[0].df : 0;
        for (size_t j = 1; j < terms_count; j++)
            if ((double)terms[j].df < rarest[i]) rarest[i] = (double)terms[j].df;
    }
    return (int)status;
}

EXPORT(words_resolve) int words_resolve(const uint8_t *terms, size_t size) {
    enum rag_status status =
        size ? rag_vocabulary_resolve(vocabulary, terms, size, &fault) : RAG_OK;
    if (status == RAG_OK) status = rag_queries_finish(queries, vocabulary, &fault);
    return (int)status;
}

/* Write the query's *count terms, each followed by a NUL, to `out`, which has room for `room`
 * bytes. Return the size needed. */
EXPORT(words_terms) size_t words_terms(uint8_t *out, size_t room) {
    size_t count, used = 0;
    const struct rag_query_term *terms = rag_queries_terms(queries, 0, &count);
    for (size_t i = 0; i < count; i++) {
        if (used + terms[i].size + 1 <= room) {
            memcpy(out + used, terms[i].bytes, terms[i].size);
            out[used + terms[i].size] = 0;
        }
        used += terms[i].size + 1;
    }
    return used;
}

/* Record a request for missing bytes; return true for a status that must end the call. */
static bool is_final(enum rag_status one, enum rag_status *status) {
    if (one != RAG_OK) *status = one;
    return one != RAG_OK && one != RAG_SOURCE;
}

static enum rag_status bring_list(const struct rag_lexicon *lexicon,
                                  const struct rag_guard *postings,
                                  const struct rag_query_term *term) {
    uint64_t at = 0, size = 0;
    enum rag_status status =
        rag_lexicon_place(lexicon, term->bytes, term->size, &at, &size, &fault);
    const struct rag_want want = {postings, at, size};
    if (status == RAG_OK && size > 0) status = rag_ready(&want, 1, &fault);
    return status;
}

/* Fetch the lengths of all rows, if they are too few for single requests to save anything. */
static enum rag_status bring_lengths(const struct rag_lexicon *lexicon) {
    const uint64_t size = lexicon->info.rows * lexicon->length_width;
    const struct rag_want want = {&lexicon->terms, lexicon->lengths_at, size};
    return size > 0 && size <= LENGTHS_MOST ? rag_ready(&want, 1, &fault) : RAG_OK;
}

/* Fetch everything that the terms need in the fewest rounds: list locations and row lengths, then
 * the lists. */
static enum rag_status bring_lists(void) {
    size_t count;
    const struct rag_query_term *terms = rag_queries_terms(queries, 0, &count);
    enum rag_status status = RAG_OK;
    for (size_t s = 0; s < leg_count; s++) {
        struct rag_guard postings;
        bool found;
        enum rag_status one =
            section_guard("rag.postings", searched[s]->record.number, &postings, &found);
        if (is_final(one, &status)) return one;
        if (count && is_final(one = bring_lengths(legs[s].lexicon), &status)) return one;
        for (size_t i = 0; i < count; i++)
            if (is_final(one = bring_list(legs[s].lexicon, &postings, &terms[i]), &status))
                return one;
    }
    return status;
}

/* Find the k best rows of the file for the query, best first; *kept gets their count. Rows and
 * scores have room for k per segment. */
EXPORT(words_match) int words_match(size_t k, int64_t *rows, float *scores, size_t *kept) {
    enum rag_status status = bring_lists();
    for (size_t s = 0; s < leg_count; s++) legs[s].where = searched[s]->where;
    if (status == RAG_OK) status = rag_lexicons_count(legs, leg_count, queries, 1, &fault);
    if (status == RAG_OK)
        status = rag_lexicons_search(legs, leg_count, queries, 1, &stats, NULL, k, 1, rows, scores,
                                     &fault);
    if (status == RAG_OK) status = rag_rank(rows, scores, k * leg_count, k, kept, &fault);
    if (status == RAG_OK && leg_count > 1) status = order_ties(rows, scores, *kept);
    if (status == RAG_OK && *kept > k) *kept = k;
    return (int)status;
}

/* Score rows of the file, in ascending order. */
EXPORT(words_score) int words_score(const int64_t *rows, size_t count, float *scores) {
    size_t term_count;
    enum rag_status status = bring_lists();
    if (status == RAG_OK) status = rag_lexicons_count(legs, leg_count, queries, 1, &fault);
    const struct rag_query_term *terms = rag_queries_terms(queries, 0, &term_count);
    if (status == RAG_OK)
        status = rag_lexicons_score(legs, leg_count, terms, term_count, &stats, rows, count, scores,
                                    &fault);
    return (int)status;
}

/* Write the weight of each of the query's terms: its rarity in the file (BM25's idf), as if `least`
 * rows had it if fewer have. */
EXPORT(words_weights) int words_weights(double *weights, uint32_t least) {
    size_t count;
    enum rag_status status = bring_lists();
    if (status == RAG_OK) status = rag_lexicons_count(legs, leg_count, queries, 1, &fault);
    const struct rag_query_term *terms = rag_queries_terms(queries, 0, &count);
    for (size_t i = 0; i < count && status == RAG_OK; i++)
        weights[i] = rag_bm25_idf(stats.rows, terms[i].df > least ? terms[i].df : least);
    return (int)status;
}

EXPORT(words_segments) size_t words_segments(void) { return leg_count; }

enum { WORD_DENSE_BIT = 8 }; /* of a kind: the word is of a script without spaces */

struct word_list {
    uint8_t *out;
    size_t room, used;
};

static void add_word(void *context, const struct rag_word *word) {
    struct word_list *list = context;
    const uint32_t dense = rag_word_is_dense(word->bytes, word->size) ? WORD_DENSE_BIT : 0;
    const uint32_t record[] = {(uint32_t)word->from, (uint32_t)word->to,
                               (uint32_t)word->kind | dense, (uint32_t)word->size};
    const size_t size = sizeof record + (word->size + 3) / 4 * 4;
    if (list->used + size <= list->room) {
        memcpy(list->out + list->used, record, sizeof record);
        memcpy(list->out + list->used + sizeof record, word->bytes, word->size);
    }
    list->used += size;
}

/* Write the words of a text: from, to, kind and size as four u32, then the word's bytes, padded to
 * a multiple of four. Return the size written. */
EXPORT(words_of)
size_t words_of(const uint8_t *text, size_t size, unsigned rules, uint8_t *out, size_t room) {
    struct word_list list = {out, room, 0};
    rag_analyze(text, size, rules, add_word, &list);
    return list.used;
}
