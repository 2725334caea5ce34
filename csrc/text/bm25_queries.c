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
#include "ragfile/languages.h"
#include "ragfile/machine.h"
#include "shared/fail.h"
#include "text/bm25.h"

/* A word of the vocabulary, and what it adds to the count of its term. */
struct query_word {
    uint32_t word;
    uint32_t share;
};

/* The words of one query in one language. */
struct query_pass {
    size_t query, language, first;
    bool is_sure;
};

/* Two terms of one word, in different languages: numbers of terms. */
struct query_form {
    size_t term, other;
    uint64_t joined; /* of the term, in the first of its entries */
};

struct rag_queries {
    struct query_form *forms; /* by term */
    size_t form_count, form_capacity;
    struct query_word *words; /* query after query */
    size_t word_count, word_capacity;
    struct query_pass *passes; /* by query: one or more */
    size_t pass_count, pass_capacity;
    size_t *ends; /* by query: end of its words; after finish, end of its terms */
    size_t count, end_capacity;
    struct rag_query_term *terms;
    size_t term_count, term_capacity;
    struct rag_bm25_buffer bytes; /* of the terms */
    struct rag_bm25_known *known; /* or NULL */
    bool failed;
};

struct rag_queries *rag_queries_new(void) { return calloc(1, sizeof(struct rag_queries)); }

void rag_queries_free(struct rag_queries *queries) {
    if (!queries) return;
    free(queries->words);
    free(queries->passes);
    free(queries->forms);
    free(queries->ends);
    free(queries->terms);
    free(queries->known);
    rag_bm25_buffer_free(&queries->bytes);
    free(queries);
}

/* Beyond these, look-ups cost less than the memory of their results. */
enum { KNOWN_LEGS = 128, KNOWN_ENTRIES = 1 << 17 };

static void forget(struct rag_queries *queries) {
    for (size_t i = 0; queries->known && i < queries->term_count; i++)
        queries->terms[i].known = NULL;
    free(queries->known);
    queries->known = NULL;
}

struct rag_bm25_known *rag_bm25_queries_know(struct rag_queries *queries, size_t leg_count) {
    const size_t terms = queries->term_count, most = KNOWN_ENTRIES / (leg_count + 1);
    forget(queries);
    if (!terms || leg_count < 2 || leg_count > KNOWN_LEGS || terms > most) return NULL;
    struct rag_bm25_known *known = malloc(sizeof *known + leg_count * sizeof *known->opened +
                                          leg_count * terms * sizeof *known->entries);
    if (!known) return NULL;
    uint64_t *opened = (uint64_t *)(known + 1);
    *known = (struct rag_bm25_known){.terms = queries->terms,
                                     .term_count = terms,
                                     .leg_count = leg_count,
                                     .opened = opened,
                                     .entries = (struct rag_bm25_entry *)(opened + leg_count)};
    return queries->known = known;
}

const struct rag_bm25_entry *rag_bm25_known_in(const struct rag_lexicon *lexicon,
                                               const struct rag_query_term *terms, size_t count) {
    const struct rag_bm25_known *known = count ? terms->known : NULL;
    if (!known || terms < known->terms || terms + count > known->terms + known->term_count)
        return NULL;
    for (size_t s = 0; s < known->leg_count; s++)
        if (known->opened[s] == lexicon->opened)
            return known->entries + s * known->term_count + (terms - known->terms);
    return NULL;
}

struct noting {
    struct rag_queries *queries;
    struct rag_vocabulary *vocabulary;
    struct rag_bm25_mark mark;
};

static void put_word(struct rag_queries *queries, uint32_t id, uint32_t share) {
    if (id == LEX_NO_STRING || !rag_grow(&queries->words, &queries->word_capacity,
                                         queries->word_count + 1, sizeof *queries->words))
        queries->failed = true;
    else queries->words[queries->word_count++] = (struct query_word){id, share};
}

static void note_word(void *context, const struct rag_word *word) {
    struct noting *noting = context;
    put_word(noting->queries, rag_bm25_vocabulary_marked(noting->vocabulary, noting->mark, word),
             word->share);
}

/* Begin a pass of query number `query`, and add its words. */
static void add_pass(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                     const uint8_t *text, size_t size, unsigned rules, size_t language,
                     size_t query) {
    struct noting noting = {queries, vocabulary, rag_bm25_mark_of(language)};
    if (!rag_grow(&queries->passes, &queries->pass_capacity, queries->pass_count + 1,
                  sizeof *queries->passes)) {
        queries->failed = true;
        return;
    }
    queries->passes[queries->pass_count++] =
        (struct query_pass){query, language, queries->word_count, false};
    rag_analyze(text, size, rag_language_rules(rules, language), note_word, &noting);
}

enum rag_status rag_queries_add(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                const uint8_t *text, size_t size, unsigned rules,
                                struct rag_fault *fault) {
    add_pass(queries, vocabulary, text, size, rules, 0, queries->count);
    if (queries->failed || !rag_grow(&queries->ends, &queries->end_capacity, queries->count + 1,
                                     sizeof *queries->ends))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->ends[queries->count++] = queries->word_count;
    return RAG_OK;
}

enum rag_status rag_queries_also(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                 const uint8_t *text, size_t size, unsigned rules, size_t language,
                                 struct rag_fault *fault) {
    if (queries->count == 0)
        return rag_fail(fault, RAG_ARGUMENT, 0, "no query to add a language to");
    add_pass(queries, vocabulary, text, size, rules, language, queries->count - 1);
    if (queries->failed) return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->ends[queries->count - 1] = queries->word_count;
    return RAG_OK;
}

void rag_queries_sure(struct rag_queries *queries, size_t language) {
    for (size_t i = queries->pass_count; i-- && queries->passes[i].query + 1 == queries->count;)
        queries->passes[i].is_sure = queries->passes[i].language == language;
}

enum rag_status rag_queries_whole(struct rag_queries *queries, struct rag_vocabulary *vocabulary,
                                  const uint8_t *term, size_t size, struct rag_fault *fault) {
    const uint32_t id = rag_bm25_vocabulary_term(vocabulary, term, size);
    if (queries->count == 0) return rag_fail(fault, RAG_ARGUMENT, 0, "no query to add a term to");
    put_word(queries, id, RAG_SHARE);
    if (queries->failed) return rag_fail(fault, RAG_MEMORY, 0, "no memory for queries");
    queries->ends[queries->count - 1] = queries->word_count;
    return RAG_OK;
}

/* Positions of a query's terms by their number in the vocabulary; open addressing, 0 is empty. */
struct places {
    struct place {
        uint32_t term, at_and_one;
        uint32_t pass, count; /* in the pass that counted last */
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

static uint32_t add_capped(uint32_t a, uint32_t b) {
    /* unreached: takes a question of 2^24 words */
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Count one occurrence in a pass; a term's bytes hold its buffer offset until all terms are
 * known. */
static void count_term(struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                       struct places *places, size_t first, uint32_t term, uint32_t share,
                       uint32_t pass) {
    size_t slot = (term * 0x9E3779B1u >> 7) & places->mask;
    while (places->slots[slot].at_and_one && places->slots[slot].term != term)
        slot = (slot + 1) & places->mask;
    struct place *place = &places->slots[slot];
    if (place->at_and_one) {
        uint32_t *count = &queries->terms[first + place->at_and_one - 1].count;
        place->count = add_capped(place->pass == pass ? place->count : 0, share);
        place->pass = pass;
        if (place->count > *count) *count = place->count;
        return;
    }
    const uint8_t *text = vocabulary->terms.texts[term];
    queries->terms[queries->term_count++] =
        (struct rag_query_term){(const uint8_t *)queries->bytes.size, text[0], share, 0, NULL};
    rag_bm25_buffer_put(&queries->bytes, text + 1, text[0]);
    *place = (struct place){term, (uint32_t)(queries->term_count - first), pass, share};
}

/* Where the words of a pass end. */
static size_t pass_end(const struct rag_queries *queries, size_t pass, size_t to) {
    const bool is_last = pass + 1 == queries->pass_count ||
                         queries->passes[pass + 1].query != queries->passes[pass].query;
    return is_last ? to : queries->passes[pass + 1].first;
}

/* The pass of a query whose language is sure, or SIZE_MAX. Terms that were added as they are follow
 * the words of the last pass. */
static size_t sure_pass(const struct rag_queries *queries, size_t pass) {
    const size_t query = queries->passes[pass].query;
    for (; pass < queries->pass_count && queries->passes[pass].query == query; pass++)
        if (queries->passes[pass].is_sure) return pass;
    return SIZE_MAX;
}

/* True if word number i of a pass is a stop word of the language that is sure: languages differ in
 * the terms of words, never in their number. */
static bool is_stopped(const struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                       size_t sure, size_t i, size_t to) {
    if (sure == SIZE_MAX) return false;
    const size_t at = queries->passes[sure].first + i;
    if (at >= pass_end(queries, sure, to)) return false;
    return (vocabulary->term_of[queries->words[at].word] & ~LEX_WHOLE) == LEX_DROPPED;
}

/* The term of word number i of a pass, by its place in the query, one more; 0 if it has none. */
static size_t term_at(const struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                      const struct places *places, size_t pass, size_t i, size_t to) {
    const size_t at = queries->passes[pass].first + i;
    if (at >= pass_end(queries, pass, to)) return 0;
    const uint32_t term = vocabulary->term_of[queries->words[at].word] & ~LEX_WHOLE;
    size_t slot = (term * 0x9E3779B1u >> 7) & places->mask;
    while (places->slots[slot].at_and_one && places->slots[slot].term != term)
        slot = (slot + 1) & places->mask;
    return places->slots[slot].at_and_one;
}

static bool add_form(struct rag_queries *queries, size_t term, size_t other) {
    for (size_t i = queries->form_count; i-- && queries->forms[i].term == term;)
        if (queries->forms[i].other == other) return true;
    if (!rag_grow(&queries->forms, &queries->form_capacity, queries->form_count + 1,
                  sizeof *queries->forms))
        return false;
    queries->forms[queries->form_count++] = (struct query_form){term, other, 0};
    return true;
}

/* Note the other terms of the word that gave each term first. */
static bool note_forms(struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                       const struct places *places, size_t first_pass, size_t first, size_t to) {
    size_t last = first_pass, next = first;
    while (pass_end(queries, last, to) < to) last++;
    for (size_t pass = first_pass; pass <= last; pass++) {
        const size_t end = pass_end(queries, pass, to) - queries->passes[pass].first;
        for (size_t i = 0; i < end; i++) {
            const size_t term = term_at(queries, vocabulary, places, pass, i, to);
            if (term == 0 || first + term - 1 != next) continue;
            for (size_t q = first_pass; q <= last; q++) {
                const size_t other = term_at(queries, vocabulary, places, q, i, to);
                if (other && other != term && !add_form(queries, next, first + other - 1))
                    return false;
            }
            next++;
        }
    }
    return true;
}

void rag_queries_join(struct rag_queries *queries) {
    struct query_form *forms = queries->forms;
    for (size_t i = 0, first = 0; i < queries->form_count; i++) {
        if (forms[i].term != forms[first].term || i == 0) {
            first = i;
            forms[i].joined = queries->terms[forms[i].term].df;
        }
        forms[first].joined += queries->terms[forms[i].other].df;
    }
    for (size_t i = 0; i < queries->form_count; i++)
        if (i == 0 || forms[i - 1].term != forms[i].term)
            queries->terms[forms[i].term].df = forms[i].joined;
}

static bool finish_query(struct rag_queries *queries, const struct rag_vocabulary *vocabulary,
                         struct places *places, size_t pass, size_t from, size_t to) {
    const size_t first = queries->term_count, sure = sure_pass(queries, pass), from_pass = pass;
    if (!clear_places(places, to - from)) return false;
    if (!rag_grow(&queries->terms, &queries->term_capacity, first + (to - from),
                  sizeof *queries->terms))
        return false;
    for (size_t i = from, start = from; i < to; i++) {
        while (i == pass_end(queries, pass, to)) start = queries->passes[++pass].first;
        const struct query_word *word = &queries->words[i];
        const uint32_t term = vocabulary->term_of[word->word] & ~LEX_WHOLE;
        if (term != LEX_DROPPED && !is_stopped(queries, vocabulary, sure, i - start, to))
            count_term(queries, vocabulary, places, first, term, word->share, (uint32_t)pass);
    }
    if (pass > from_pass && !note_forms(queries, vocabulary, places, from_pass, first, to))
        return false;
    return !queries->bytes.failed;
}

enum rag_status rag_queries_finish(struct rag_queries *queries,
                                   const struct rag_vocabulary *vocabulary,
                                   struct rag_fault *fault) {
    struct places places = {NULL, 0};
    size_t from = 0, pass = 0;
    bool fine = true;
    for (size_t i = 0; fine && i < queries->count; i++) {
        const size_t to = queries->ends[i];
        while (queries->passes[pass].query < i) pass++;
        fine = finish_query(queries, vocabulary, &places, pass, from, to);
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
    queries->terms[queries->term_count++] = (struct rag_query_term){
        (const uint8_t *)queries->bytes.size, (uint32_t)size, count, df, NULL};
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
