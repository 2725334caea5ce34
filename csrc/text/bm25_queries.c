/* bm25_queries.c - the texts of queries as distinct terms with counts, and batches of queries on
 * several threads.
 *
 * The work has three steps, because the core does not know how a word becomes a term.
 * rag_queries_add analyses each text and records its words by their numbers in the vocabulary. The
 * caller then resolves the vocabulary's pending words. rag_queries_finish turns words into terms,
 * once for all queries: it removes dropped words and merges repeated terms into one entry with a
 * count. Terms keep the order of first occurrence, which the canonical score prescribes.
 *
 * A small hash table finds a term's entry within its query; it is cleared for each query and grows
 * with the longest. The buffer of term bytes can move while it grows, so entries hold offsets until
 * the last step turns them into pointers.
 *
 * Adding and finishing are single-threaded. Afterwards only the caller changes the queries, by
 * setting the df of terms, and any number of threads may search with them. rag_lexicon_search_batch
 * runs one query a task, on at most count / 8 + 1 threads. When queries fail, the fault of the
 * first of them, in the order of the queries, is returned. */
#include <stdlib.h>

#include "ragfile/bits.h"
#include "ragfile/fusion.h"
#include "ragfile/machine.h"
#include "shared/fail.h"
#include "text/bm25.h"

struct rag_queries {
    uint32_t *words; /* of the vocabulary, query after query */
    size_t word_count, word_capacity;
    size_t *ends; /* by query: end of its words; after finish, end of its terms */
    size_t count, end_capacity;
    struct rag_query_term *terms;
    size_t term_count, term_capacity;
    struct rag_bm25_buffer bytes; /* of the terms */
    bool failed;
};

struct rag_queries *rag_queries_new(void) { return calloc(1, sizeof(struct rag_queries)); }

void rag_queries_free(struct rag_queries *queries) {
    if (!queries) return;
    free(queries->words);
    free(queries->ends);
    free(queries->terms);
    rag_bm25_buffer_free(&queries->bytes);
    free(queries);
}

struct noting {
    struct rag_queries *queries;
    struct rag_vocabulary *vocabulary;
};

static void note_word(void *context, const struct rag_word *word) {
    struct rag_queries *queries = ((struct noting *)context)->queries;
    const uint32_t id = rag_bm25_vocabulary_word(((struct noting *)context)->vocabulary,
                                                 word->bytes, word->size, word->kind);
    if (id == LEX_NO_STRING || !rag_grow(&queries->words, &queries->word_capacity,
                                         queries->word_count + 1, sizeof *queries->words))
        queries->failed = true;
    else queries->words[queries->word_count++] = id;
}

enum rag_status rag_queries_add(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                const uint8_t *text, size_t size, unsigned rules,
                                struct rag_fault *fault) {
    struct noting noting = {queries, vocabulary};
    rag_analyze(text, size, rules, note_word, &noting);
    if (queries->failed || !rag_grow(&queries->ends, &queries->end_capacity, queries->count + 1,
                                     sizeof *queries->ends))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->ends[queries->count++] = queries->word_count;
    return RAG_OK;
}

enum rag_status rag_queries_whole(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                  const uint8_t *term, size_t size, struct rag_fault *fault) {
    const uint32_t id = rag_bm25_vocabulary_term(vocabulary, term, size);
    if (queries->count == 0) return rag_fail(fault, RAG_ARGUMENT, 0, "no query to add a term to");
    if (id == LEX_NO_STRING || !rag_grow(&queries->words, &queries->word_capacity,
                                         queries->word_count + 1, sizeof *queries->words))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->words[queries->word_count++] = id;
    queries->ends[queries->count - 1] = queries->word_count;
    return RAG_OK;
}

/* Positions of a query's terms by their number in the vocabulary; open addressing, 0 is empty. */
struct places {
    struct place {
        uint32_t term, at_and_one;
    } *slots;
    size_t mask;
};

static bool clear_places(struct places *places, size_t words) {
    size_t wanted = 64;
    while (wanted < 2 * words) wanted *= 2;
    if (!places->slots || wanted > places->mask + 1) {
        free(places->slots);
        places->slots = malloc(wanted * sizeof *places->slots);
    }
    places->mask = wanted - 1;
    if (places->slots) memset(places->slots, 0, wanted * sizeof *places->slots);
    return places->slots != NULL;
}

/* Count one occurrence; a term's bytes hold its buffer offset until all terms are known. */
static void count_term(struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                       struct places *places, size_t first, uint32_t term) {
    size_t slot = (term * 0x9E3779B1u >> 7) & places->mask;
    while (places->slots[slot].at_and_one && places->slots[slot].term != term)
        slot = (slot + 1) & places->mask;
    if (places->slots[slot].at_and_one) {
        queries->terms[first + places->slots[slot].at_and_one - 1].count++;
        return;
    }
    const uint8_t *text = vocabulary->terms.texts[term];
    queries->terms[queries->term_count++] =
        (struct rag_query_term){(const uint8_t *)queries->bytes.size, text[0], 1, 0};
    rag_bm25_buffer_put(&queries->bytes, text + 1, text[0]);
    places->slots[slot] = (struct place){term, (uint32_t)(queries->term_count - first)};
}

static bool finish_query(struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                         struct places *places, size_t from, size_t to) {
    const size_t first = queries->term_count;
    if (!clear_places(places, to - from)) return false;
    if (!rag_grow(&queries->terms, &queries->term_capacity, first + (to - from),
                  sizeof *queries->terms))
        return false;
    for (size_t i = from; i < to; i++) {
        const uint32_t term = vocabulary->term_of[queries->words[i]] & ~LEX_WHOLE;
        if (term != LEX_DROPPED) count_term(queries, vocabulary, places, first, term);
    }
    return !queries->bytes.failed;
}

enum rag_status rag_queries_finish(struct rag_queries *queries,
                                   const struct rag_vocabulary *vocabulary,
                                   struct rag_fault *fault) {
    struct places places = {NULL, 0};
    size_t from = 0;
    bool fine = true;
    for (size_t i = 0; fine && i < queries->count; i++) {
        const size_t to = queries->ends[i];
        fine = finish_query(queries, vocabulary, &places, from, to);
        queries->ends[i] = queries->term_count;
        from = to;
    }
    free(places.slots);
    rag_queries_seal(queries);
    return fine ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
}

enum rag_status rag_queries_term(struct rag_queries *queries, const uint8_t *bytes, size_t size,
                                 uint32_t count, uint64_t df, struct rag_fault *fault) {
    if (size == 0 || size > LEX_TERM_MAX)
        return rag_fail(fault, RAG_ARGUMENT, size, "a term has 1 to 255 bytes");
    if (!rag_grow(&queries->terms, &queries->term_capacity, queries->term_count + 1,
                  sizeof *queries->terms))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->terms[queries->term_count++] =
        (struct rag_query_term){(const uint8_t *)queries->bytes.size, (uint32_t)size, count, df};
    rag_bm25_buffer_put(&queries->bytes, bytes, size);
    return queries->bytes.failed ? rag_fail(fault, RAG_MEMORY, 0, "no memory for queries") : RAG_OK;
}

enum rag_status rag_queries_end(struct rag_queries *queries, struct rag_fault *fault) {
    if (!rag_grow(&queries->ends, &queries->end_capacity, queries->count + 1,
                  sizeof *queries->ends))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->ends[queries->count++] = queries->term_count;
    return RAG_OK;
}

void rag_queries_seal(struct rag_queries *queries) {
    for (size_t i = 0; i < queries->term_count; i++)
        queries->terms[i].bytes = queries->bytes.bytes + (size_t)queries->terms[i].bytes;
}

struct rag_query_term *rag_queries_terms(const struct rag_queries *queries, size_t i,
                                         size_t *count) {
    const size_t first = i ? queries->ends[i - 1] : 0;
    *count = queries->ends[i] - first;
    return queries->terms + first;
}

/* -------------------------------------------------------------------------------------- batches */

struct batch {
    struct rag_lexicon *lexicon;
    const struct rag_queries *queries;
    const struct rag_lexical_stats *stats;
    const uint64_t *where;
    const struct rag_filters *filters;
    size_t k;
    int64_t *rows;
    float *scores;
    int lock;
    size_t failed_at; /* the first query that failed, and why */
    struct rag_fault fault;
};

static void note_failure(struct batch *batch, size_t i, enum rag_status status,
                         struct rag_fault *fault) {
    /* unreached: two threads that fail in the same instant */
    while (__atomic_exchange_n(&batch->lock, 1, __ATOMIC_ACQUIRE)) {
    }
    if (i < batch->failed_at) {
        batch->failed_at = i;
        batch->fault = *fault;
        batch->fault.status = status;
    }
    __atomic_store_n(&batch->lock, 0, __ATOMIC_RELEASE);
}

static void search_one(void *context, size_t i) {
    struct batch *batch = context;
    struct rag_fault fault;
    size_t count;
    const struct rag_query_term *terms = rag_queries_terms(batch->queries, i, &count);
    const uint64_t *where =
        batch->filters ? batch->filters->sets[batch->filters->of[i]] : batch->where;
    const enum rag_status status =
        rag_lexicon_search(batch->lexicon, terms, count, batch->stats, where, batch->k,
                           batch->rows + i * batch->k, batch->scores + i * batch->k, &fault);
    if (status) note_failure(batch, i, status, &fault);
}

enum rag_status rag_lexicon_search_batch(struct rag_lexicon *lexicon,
                                         const struct rag_queries *queries, size_t count,
                                         const struct rag_lexical_stats *stats,
                                         const uint64_t *where, const struct rag_filters *filters,
                                         size_t k, int threads, int64_t *rows, float *scores,
                                         struct rag_fault *fault) {
    struct batch batch = {.lexicon = lexicon,
                          .queries = queries,
                          .stats = stats,
                          .where = where,
                          .filters = filters,
                          .k = k,
                          .rows = rows,
                          .scores = scores,
                          .failed_at = SIZE_MAX};
    const size_t worth = count / 8 + 1; /* waking a thread costs as much as some queries */
    rag_parallel(count, (size_t)threads < worth ? threads : (int)worth, search_one, &batch);
    if (batch.failed_at == SIZE_MAX) return RAG_OK;
    if (fault) *fault = batch.fault;
    return batch.fault.status;
}
