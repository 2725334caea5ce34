/* bm25_spelling.c - dictionary terms that begin with a word, or are within a few edits of it.
 *
 * The dictionary is in order of its bytes, 16 terms a block, and a block can be unpacked alone. So
 * terms with a common prefix form one range, which a binary search finds. Terms near a word can be
 * anywhere, but most are ruled out by their first points, together with all terms that have the
 * same: the walk goes on behind them, by a binary search. The terms of many files together,
 * rag.frequencies, are walked in order.
 *
 * An edit inserts, deletes or replaces one code point, or swaps two neighbours (the restricted
 * distance: no stretch is edited twice). The mark of a language is not edited: a word with a mark
 * is near terms with the same one, which are a range, too. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/languages.h"
#include "shared/fail.h"
#include "shared/utf8.h"
#include "text/bm25.h"

enum { POINTS_MAX = LEX_TERM_MAX };

/* --------------------------------------------------------------------------------------- prefix */

struct beginning {
    const uint8_t *prefix;
    size_t count;
    rag_count_sink *sink;
    void *context;
    bool is_past;
};

static bool take_begun(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    struct beginning *b = context;
    const int order = memcmp(term, b->prefix, size < b->count ? size : b->count);
    if (order == 0 && size >= b->count) b->sink(b->context, term, size, rows);
    b->is_past = order > 0;
    return !b->is_past;
}

enum rag_status rag_lexicon_beginning(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                      size_t count, rag_count_sink *sink, void *context,
                                      struct rag_fault *fault) {
    struct beginning beginning = {prefix, count, sink, context, false};
    uint64_t block;
    enum rag_status status = rag_bm25_block_before(lexicon, prefix, count, &block, fault);
    for (; !status && !beginning.is_past && block < lexicon->blocks; block++)
        status = rag_bm25_block_walk(lexicon, block, take_begun, &beginning, fault);
    return status;
}

/* ------------------------------------------------------------------------------------ commonest */

/* A term among the commonest ones; its bytes are those of a slot. */
struct common {
    uint64_t rows;
    uint32_t place; /* among all terms of the walk */
    uint16_t slot, size;
};

#define HEAP_ITEM struct common
#define HEAP_CONTEXT const void *
#define HEAP_ABOVE(c, a, b) ((a).rows < (b).rows || ((a).rows == (b).rows && (a).place > (b).place))
#include "shared/heap.h"

struct commonest {
    struct common kept[RAG_COMMONEST];
    uint8_t bytes[RAG_COMMONEST][LEX_TERM_MAX];
    size_t count;
    uint32_t place;
};

static void take_common(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    struct commonest *c = context;
    const bool is_full = c->count == RAG_COMMONEST;
    const uint32_t place = c->place++;
    if (is_full && rows <= c->kept[0].rows) return; /* of equal ones the first stays */
    const uint16_t slot = is_full ? c->kept[0].slot : (uint16_t)c->count;
    memcpy(c->bytes[slot], term, size);
    c->count = heap_offer(NULL, c->kept, c->count, RAG_COMMONEST,
                          (struct common){rows, place, slot, (uint16_t)size});
}

enum rag_status rag_lexicon_commonest(const struct rag_lexicon *lexicon, const uint8_t *prefix,
                                      size_t count, rag_count_sink *sink, void *context,
                                      struct rag_fault *fault) {
    struct commonest *c = malloc(sizeof *c);
    if (!c) return rag_fail(fault, RAG_MEMORY, 0, "no memory for the commonest terms");
    c->count = c->place = 0;
    const enum rag_status status =
        rag_lexicon_beginning(lexicon, prefix, count, take_common, c, fault);
    for (size_t i = 0; i < c->count && !status; i++)
        sink(context, c->bytes[c->kept[i].slot], c->kept[i].size, c->kept[i].rows);
    free(c);
    return status;
}

/* ------------------------------------------------------------------------------------ languages */

struct marked {
    struct rag_bm25_mark mark;
    bool is_found, is_past;
    const struct rag_lexicon *lexicon; /* with `where`: a term must be in one of these rows */
    const uint64_t *where;
    enum rag_status status;
    struct rag_fault *fault;
};

static bool take_marked(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    struct marked *m = context;
    (void)rows;
    const size_t shared = size < m->mark.size ? size : m->mark.size;
    const int order = memcmp(term, m->mark.bytes, shared);
    const bool is_marked = order == 0 && size >= m->mark.size;
    uint64_t df = 1;
    if (is_marked && m->where)
        m->status = rag_lexicon_df(m->lexicon, term, size, m->where, &df, m->fault);
    m->is_found = is_marked && !m->status && df;
    m->is_past = m->is_found || order > 0 || m->status;
    return !m->is_past;
}

enum rag_status rag_lexicon_languages(const struct rag_lexicon *lexicon, const uint64_t *where,
                                      uint32_t *found, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    *found = 0;
    for (size_t language = 1; !status && rag_language_at(language); language++) {
        struct marked m = {
            .mark = rag_bm25_mark_of(language), .lexicon = lexicon, .where = where, .fault = fault};
        uint64_t block;
        status = rag_bm25_block_before(lexicon, m.mark.bytes, m.mark.size, &block, fault);
        for (; !status && !m.is_past && block < lexicon->blocks; block++)
            status = rag_bm25_block_walk(lexicon, block, take_marked, &m, fault);
        if (!status) status = m.status;
        if (m.is_found) *found |= (uint32_t)1 << language;
    }
    return status;
}

enum rag_status rag_frequencies_languages(const struct rag_frequencies *frequencies,
                                          uint32_t *found, struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    *found = 0;
    for (size_t language = 1; !status && rag_language_at(language); language++) {
        struct marked m = {.mark = rag_bm25_mark_of(language)};
        status = rag_bm25_frequencies_walk(frequencies, m.mark.bytes, m.mark.size, take_marked, &m,
                                           fault);
        if (m.is_found) *found |= (uint32_t)1 << language;
    }
    return status;
}

/* The size of the mark that a word begins with, 0 without one. */
static size_t mark_size(const uint8_t *word, size_t size) {
    for (size_t language = 1; rag_language_at(language); language++) {
        const struct rag_bm25_mark mark = rag_bm25_mark_of(language);
        if (size >= mark.size && memcmp(word, mark.bytes, mark.size) == 0) return mark.size;
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------- edits */

struct points {
    uint32_t of[POINTS_MAX];
    size_t count;
};

static void take_points(struct points *points, const uint8_t *text, size_t size) {
    const uint8_t *at = text, *end = text + size;
    points->count = 0;
    while (at < end && points->count < POINTS_MAX) {
        const uint8_t *before = at;
        points->of[points->count] = utf8_next(&at, end);
        if (at == before) at++;
        points->count++;
    }
}

static unsigned least_of(unsigned a, unsigned b, unsigned c) {
    const unsigned less = a < b ? a : b;
    return less < c ? less : c;
}

/* Compute the distances of the first i + 1 points of a to all prefixes of b from the two rows
 * before. Return the least. */
static unsigned next_row(const struct points *a, const struct points *b, size_t i,
                         const uint8_t *before, const uint8_t *last, uint8_t *row) {
    unsigned least = row[0] = (uint8_t)(i + 1);
    for (size_t j = 0; j < b->count; j++) {
        const bool is_same = a->of[i] == b->of[j];
        row[j + 1] = (uint8_t)least_of(last[j + 1] + 1u, row[j] + 1u, last[j] + !is_same);
        const bool is_swap =
            i && j && a->of[i] == b->of[j - 1] && a->of[i - 1] == b->of[j] && !is_same;
        if (is_swap && before[j - 1] + 1 < row[j + 1]) row[j + 1] = (uint8_t)(before[j - 1] + 1);
        if (row[j + 1] < least) least = row[j + 1];
    }
    return least;
}

/* The rows of distances of a term to a word, one for each point of the term and one before. No
 * distance is above the larger number of points, 255. */
struct distances {
    uint8_t rows[POINTS_MAX + 1][POINTS_MAX + 1];
    unsigned least[POINTS_MAX + 1];
};

/* True if swapping the last of `count` points with the one that follows can still help. */
static bool can_swap(const struct points *a, const struct points *b, unsigned edits, size_t count,
                     const struct distances *d) {
    for (size_t j = 1; j < b->count; j++)
        if (a->of[count - 1] == b->of[j] && d->rows[count - 1][j - 1] + 1u <= edits) return true;
    return false;
}

/* Return how many points of `a` show that no text that begins with them is near b; SIZE_MAX if a
 * itself can be near. */
static size_t find_dead(const struct points *a, const struct points *b, unsigned edits,
                        struct distances *d) {
    static const uint8_t none[POINTS_MAX + 1];
    for (size_t j = 0; j <= b->count; j++) d->rows[0][j] = (uint8_t)j;
    d->least[0] = 0;
    for (size_t i = 0; i < a->count; i++) {
        d->least[i + 1] = next_row(a, b, i, i ? d->rows[i - 1] : none, d->rows[i], d->rows[i + 1]);
        if (d->least[i + 1] > edits && !can_swap(a, b, edits, i + 1, d)) return i + 1;
    }
    return SIZE_MAX;
}

/* True if a term is within the distance; terms of a very different size are not decoded. */
static bool is_spelled(const struct points *wanted, const uint8_t *term, size_t size,
                       unsigned edits) {
    struct points points;
    struct distances d;
    if (size > 4 * (wanted->count + edits) || size + edits < wanted->count) return false;
    take_points(&points, term, size);
    return find_dead(&points, wanted, edits, &d) == SIZE_MAX &&
           d.rows[points.count][wanted->count] <= edits;
}

/* A walk for the terms near a word. Texts below `next` cannot be near. */
struct near {
    struct points wanted;
    const uint8_t *word;
    size_t marked; /* bytes of the word's mark */
    unsigned edits;
    rag_count_sink *sink;
    void *context;
    uint8_t next[LEX_TERM_MAX + 4];
    size_t next_size;
    bool is_over;
    struct distances distances;
};

/* The bytes of the first `count` points of a term. */
static size_t size_of(const uint8_t *term, size_t size, size_t count) {
    const uint8_t *at = term, *end = term + size;
    for (; count && at < end; count--) {
        const uint8_t *before = at;
        (void)utf8_next(&at, end);
        if (at == before) at++;
    }
    return (size_t)(at - term);
}

/* Skip all texts that begin with the first `size` bytes of a term. */
static void skip_prefix(struct near *near, const uint8_t *term, size_t size) {
    while (size && term[size - 1] == 0xFF) size--;
    near->is_over = size == 0;
    if (!size) return;
    memcpy(near->next, term, size);
    near->next[size - 1]++;
    near->next_size = size;
}

/* The least point above the one at `place` that can follow the points before it; 0 if there is
 * none. They have used up all edits, so the word's own points must follow. */
static uint32_t next_point(const struct near *near, const struct points *term, size_t place) {
    const struct points *wanted = &near->wanted;
    const struct distances *d = &near->distances;
    uint32_t found = 0;
    for (size_t j = 0; j < wanted->count; j++) {
        const bool is_swap = place && j + 1 < wanted->count &&
                             term->of[place - 1] == wanted->of[j + 1] &&
                             d->rows[place - 1][j] + 1u <= near->edits;
        if (d->rows[place][j] > near->edits && !is_swap) continue;
        const uint32_t point = wanted->of[j];
        if (point > term->of[place] && (!found || point < found)) found = point;
    }
    return found;
}

/* Skip the terms that `dead` points of a term rule out. */
static void skip_dead(struct near *near, const uint8_t *term, size_t size,
                      const struct points *points, size_t dead) {
    const size_t before = size_of(term, size, dead - 1);
    if (near->distances.least[dead - 1] < near->edits) {
        skip_prefix(near, term, size_of(term, size, dead));
        return;
    }
    const uint32_t point = next_point(near, points, dead - 1);
    if (!point) {
        skip_prefix(near, term, before);
        return;
    }
    memcpy(near->next, term, before);
    near->next_size = before + utf8_put(point, near->next + before);
}

static bool take_near_term(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    struct near *near = context;
    const size_t shared = size < near->next_size ? size : near->next_size;
    const int order = memcmp(term, near->next, shared);
    if (order < 0 || (order == 0 && size < near->next_size)) return true;
    near->is_over = size < near->marked || memcmp(term, near->word, near->marked) != 0;
    if (near->is_over) return false;
    struct points points;
    take_points(&points, term, size);
    const size_t dead = find_dead(&points, &near->wanted, near->edits, &near->distances);
    if (dead != SIZE_MAX) skip_dead(near, term, size, &points, dead);
    else if (near->distances.rows[points.count][near->wanted.count] <= near->edits)
        near->sink(near->context, term, size, rows);
    return !near->is_over;
}

/* The terms are in order, so all that begin with the same dead points are skipped at once. */
enum rag_status rag_lexicon_near(const struct rag_lexicon *lexicon, const uint8_t *word,
                                 size_t count, unsigned edits, rag_count_sink *sink, void *context,
                                 struct rag_fault *fault) {
    struct near *near = calloc(1, sizeof *near);
    if (!near) return rag_fail(fault, RAG_MEMORY, 0, "no memory to compare spellings");
    near->edits = edits;
    near->sink = sink;
    near->context = context;
    near->word = word;
    near->marked = near->next_size = mark_size(word, count);
    memcpy(near->next, word, near->marked);
    take_points(&near->wanted, word, count);
    enum rag_status status = RAG_OK;
    for (uint64_t block = 0, first; !status && !near->is_over && block < lexicon->blocks; block++) {
        status = rag_bm25_block_before(lexicon, near->next, near->next_size, &first, fault);
        if (first > block) block = first;
        if (!status) status = rag_bm25_block_walk(lexicon, block, take_near_term, near, fault);
    }
    free(near);
    return status;
}

/* --------------------------------------------------------------------- of many files together */

/* A spelling query and the sink for its matches. */
struct asking {
    rag_count_sink *sink;
    void *context;
    const uint8_t *prefix; /* or the mark of a word */
    size_t count;
    struct points wanted;
    unsigned edits;
};

static bool take_beginning(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    const struct asking *asking = context;
    const size_t shared = size < asking->count ? size : asking->count;
    const int order = memcmp(term, asking->prefix, shared);
    if (order == 0 && size >= asking->count) asking->sink(asking->context, term, size, rows);
    return order <= 0;
}

static bool take_near(void *context, const uint8_t *term, size_t size, uint64_t rows) {
    const struct asking *asking = context;
    const size_t shared = size < asking->count ? size : asking->count;
    const int order = memcmp(term, asking->prefix, shared);
    if (order != 0 || size < asking->count) return order <= 0;
    if (is_spelled(&asking->wanted, term, size, asking->edits))
        asking->sink(asking->context, term, size, rows);
    return true;
}

enum rag_status rag_frequencies_beginning(const struct rag_frequencies *frequencies,
                                          const uint8_t *prefix, size_t count, rag_count_sink *sink,
                                          void *context, struct rag_fault *fault) {
    struct asking asking = {.sink = sink, .context = context, .prefix = prefix, .count = count};
    return rag_bm25_frequencies_walk(frequencies, prefix, count, take_beginning, &asking, fault);
}

enum rag_status rag_frequencies_near(const struct rag_frequencies *frequencies, const uint8_t *word,
                                     size_t count, unsigned edits, rag_count_sink *sink,
                                     void *context, struct rag_fault *fault) {
    struct asking asking = {.sink = sink, .context = context, .prefix = word, .edits = edits};
    asking.count = mark_size(word, count);
    take_points(&asking.wanted, word, count);
    return rag_bm25_frequencies_walk(frequencies, word, asking.count, take_near, &asking, fault);
}
