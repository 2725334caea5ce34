/* analyze.c - text to words, one definition for indexing and queries (spec: analyzer rag-words-1
 * to rag-words-3).
 *
 * A part is a maximal run of letters, digits and marks, folded: each code point through
 * NFKC_Casefold, the run composed to NFC. Scripts without spaces between words (CJK, Thai, ...)
 * give pairs of neighbouring clusters, and on request the clusters; a cluster is a base with its
 * marks. Parts joined by single underscores also give their identifier (snake_case). Parts and
 * identifiers joined by single dots also give the whole (v0.1.0, foo.bar). A part before ++ or #
 * also gives itself with that sign (c++, c#). Single letters joined by dots are one part without
 * the dots (U.S.A.).
 *
 * ASCII, nearly all of most text, takes a byte loop; a run that meets another byte restarts on code
 * points. The tables belong to one fixed Unicode version, never the host's, and no locale is
 * consulted. Invalid UTF-8 separates words. */
#include "ragfile/words.h"
#include "shared/bytes.h"
#include "shared/utf8.h"
#include "text/ascii_words.h"
#include "text/unicode_tables.h"

enum {
    PART_MAX = 63,      /* code points of a part; longer runs are cut */
    PART_SIZE = 4 * 64, /* their maximum size in bytes, plus one sign */
    CHAIN_SIZE = 255,   /* bytes of an identifier or a whole; longer ones are not emitted */
    SIGN_MAX = 2,
};

struct chain {
    uint8_t bytes[CHAIN_SIZE + 1];
    size_t size;  /* CHAIN_SIZE + 1: too long */
    size_t links; /* parts joined so far */
};

struct analysis {
    const uint8_t *text, *at, *end;
    bool strip_accents, gives_pieces, gives_clusters;
    rag_word_sink *sink;
    void *context;
    uint8_t part[PART_SIZE + SIGN_MAX];
    size_t part_size;
    uint32_t points[PART_MAX + 32]; /* the part being read, folded and decomposed */
    uint8_t combining[PART_MAX + 32];
    size_t point_count;
};

static inline void emit(struct analysis *a, const uint8_t *bytes, size_t size, int kind,
                        const uint8_t *from, const uint8_t *to) {
    const struct rag_word word = {
        bytes, size, kind, RAG_SHARE, (size_t)(from - a->text), (size_t)(to - a->text)};
    a->sink(a->context, &word);
}

/* ---------------------------------------------------------------------------------- code points */

static inline const struct unicode_record *record_of(uint32_t point) {
    size_t page = unicode_stages[point / UNICODE_PAGE];
    return &unicode_records[unicode_pages[page * UNICODE_PAGE + point % UNICODE_PAGE]];
}

/* Decode the code point at `at` and its size. An ill-formed byte becomes U+FFFD of size 1, which no
 * word contains. */
static inline size_t decode(const uint8_t *at, const uint8_t *end, uint32_t *point) {
    const uint8_t *next = at;
    *point = utf8_next(&next, end);
    if (*point != UTF8_BROKEN) return (size_t)(next - at);
    *point = 0xFFFD;
    return 1;
}

/* ---------------------------------------------------------------------------------- composition */

enum {
    HANGUL = 0xAC00,
    HANGUL_L = 0x1100,
    HANGUL_V = 0x1161,
    HANGUL_T = 0x11A7,
    L_COUNT = 19,
    V_COUNT = 21,
    T_COUNT = 28
};

/* The primary composite of two code points, or 0. */
static uint32_t compose(uint32_t first, uint32_t second) {
    if (first - HANGUL_L < L_COUNT && second - HANGUL_V < V_COUNT)
        return HANGUL + ((first - HANGUL_L) * V_COUNT + (second - HANGUL_V)) * T_COUNT;
    if (first - HANGUL < L_COUNT * V_COUNT * T_COUNT && (first - HANGUL) % T_COUNT == 0 &&
        second - HANGUL_T - 1 < T_COUNT - 1)
        return first + (second - HANGUL_T);
    size_t low = 0, high = sizeof unicode_pairs / sizeof unicode_pairs[0];
    const uint64_t wanted = (uint64_t)first << 32 | second;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const uint64_t here =
            (uint64_t)unicode_pairs[middle].first << 32 | unicode_pairs[middle].second;
        if (here == wanted) return unicode_pairs[middle].composed;
        if (here < wanted) low = middle + 1;
        else high = middle;
    }
    return 0;
}

/* Canonical ordering: marks between two starters by combining class, stable. */
static void order_marks(struct analysis *a) {
    for (size_t i = 1; i < a->point_count; i++) {
        const uint32_t point = a->points[i];
        const uint8_t combining = a->combining[i];
        size_t j = i;
        for (; combining && j > 0 && a->combining[j - 1] > combining; j--) {
            a->points[j] = a->points[j - 1];
            a->combining[j] = a->combining[j - 1];
        }
        a->points[j] = point;
        a->combining[j] = combining;
    }
}

/* Canonical composition in place: each code point joins the last starter unless something between
 * blocks it. */
static void compose_points(struct analysis *a) {
    size_t count = 0, starter = SIZE_MAX;
    for (size_t i = 0; i < a->point_count; i++) {
        const uint8_t combining = a->combining[i];
        const bool adjacent = starter != SIZE_MAX && starter + 1 == count;
        const bool open =
            starter != SIZE_MAX && (adjacent || (combining && a->combining[count - 1] < combining));
        const uint32_t joined = open ? compose(a->points[starter], a->points[i]) : 0;
        if (joined) {
            a->points[starter] = joined;
            continue;
        }
        a->points[count] = a->points[i];
        a->combining[count] = combining;
        if (!combining) starter = count;
        count++;
    }
    a->point_count = count;
}

/* Accents that folding can drop: positioned diacritics and the points of Hebrew, Arabic and Syriac.
 * Viramas and vowel signs stay: without them a word becomes another word. */
static bool is_accent(uint8_t combining) {
    return combining >= 200 || (combining >= 10 && combining <= 36);
}

static void push_fold(struct analysis *a, uint32_t point, const struct unicode_record *record) {
    for (size_t i = 0; i < record->count; i++) {
        const uint32_t folded = record->count == 1 ? (uint32_t)((int32_t)point + record->value)
                                                   : unicode_pool[(size_t)record->value + i];
        const uint8_t combining = record_of(folded)->combining;
        if (a->strip_accents && is_accent(combining)) continue;
        a->points[a->point_count] = folded;
        a->combining[a->point_count++] = combining;
    }
}

/* Encode the code points read so far as the part's bytes. */
static void finish_points(struct analysis *a) {
    order_marks(a);
    compose_points(a);
    a->part_size = 0;
    for (size_t i = 0; i < a->point_count; i++)
        a->part_size += utf8_put(a->points[i], a->part + a->part_size);
    a->point_count = 0;
}

/* ---------------------------------------------------------------------------------------- parts */

static inline enum word_class class_at(const uint8_t *at, const uint8_t *end) {
    uint32_t point;
    if (at >= end) return WORD_OTHER;
    decode(at, end, &point);
    return (enum word_class)record_of(point)->word_class;
}

/* Read a part of any script from a->at on. A part may consist of marks alone, or be empty (soft
 * hyphens). */
static void read_points(struct analysis *a) {
    a->point_count = 0;
    while (a->at < a->end) {
        uint32_t point;
        const size_t size = decode(a->at, a->end, &point);
        const struct unicode_record *record = record_of(point);
        if (record->word_class == WORD_OTHER || record->word_class == WORD_DENSE) break;
        if (a->point_count + record->count > PART_MAX) break;
        push_fold(a, point, record);
        a->at += size;
    }
    finish_points(a);
}

static void read_part(struct analysis *a) {
    const uint8_t *start = a->at, *at = start;
    const uint8_t *stop = a->end - start > PART_MAX ? start + PART_MAX : a->end;
    size_t size = 0;
    for (uint8_t byte; at < stop && (byte = ascii_word[*at]) != 0; at++) a->part[size++] = byte;
    if (at < a->end && *at >= 0x80) {
        const enum word_class next = class_at(at, a->end);
        if (next != WORD_OTHER && next != WORD_DENSE) {
            read_points(a);
            return;
        }
    }
    a->at = at;
    a->part_size = size;
}

/* Join an apostrophe and one or two ASCII letters to the letters before (don't, it's, we're);
 * l'avion is two parts. */
static void read_contraction(struct analysis *a) {
    const uint8_t *at = a->at;
    if (at >= a->end || !a->part_size || a->part_size > PART_MAX - 3 ||
        a->part[a->part_size - 1] <= '9')
        return;
    if (*at == '\'') at += 1;
    else if (a->end - at > 3 && at[0] == 0xE2 && at[1] == 0x80 && at[2] == 0x99)
        at += 3; /* U+2019 */
    else return;
    size_t letters = 0;
    while (letters < 3 && at + letters < a->end && ascii_word[at[letters]] >= 'a') letters++;
    if (letters < 1 || letters > 2 || class_at(at + letters, a->end) != WORD_OTHER) return;
    a->part[a->part_size++] = '\'';
    for (size_t i = 0; i < letters; i++) a->part[a->part_size++] = ascii_word[at[i]];
    a->at = at + letters;
}

/* Emit a part with the ++ or # after it, unless more sign characters follow. */
static void emit_signed(struct analysis *a, const uint8_t *from) {
    const uint8_t *at = a->at;
    size_t size = 0;
    if (a->end - at >= 2 && at[0] == '+' && at[1] == '+') size = 2;
    else if (a->end - at >= 1 && at[0] == '#') size = 1;
    else return;
    if (at + size < a->end && (at[size] == '+' || at[size] == '#')) return;
    if (class_at(at + size, a->end) != WORD_OTHER) return;
    memcpy(a->part + a->part_size, at, size);
    emit(a, a->part, a->part_size + size, RAG_WORD_WHOLE, from, at + size);
}

/* --------------------------------------------------------------------------------------- pieces */

static inline bool is_upper(uint8_t byte) { return byte >= 'A' && byte <= 'Z'; }
static inline bool is_lower(uint8_t byte) { return byte >= 'a' && byte <= 'z'; }

/* Return the end of the identifier's piece that begins at `at`: capitals before a capital with
 * small letters after it, small letters with at most one capital before them, capitals, or
 * digits. */
static const uint8_t *piece_end(const uint8_t *at, const uint8_t *end) {
    const uint8_t *next = at;
    if (!is_upper(*at) && !is_lower(*at)) {
        while (next < end && !is_upper(*next) && !is_lower(*next)) next++;
        return next;
    }
    while (next < end && is_upper(*next)) next++;
    if (next - at > 1) return next < end && is_lower(*next) ? next - 1 : next;
    while (next < end && is_lower(*next)) next++;
    return next;
}

/* True for a part of ASCII letters and digits with a capital after a small letter
 * (getPodStatus). */
static bool has_pieces(const uint8_t *from, const uint8_t *to) {
    bool has_hump = false;
    for (const uint8_t *at = from; at < to; at++) {
        if (!ascii_word[*at]) return false;
        has_hump |= at > from && is_upper(*at) && is_lower(at[-1]);
    }
    return has_hump;
}

static void emit_pieces(struct analysis *a, const uint8_t *from) {
    if (!a->gives_pieces || !has_pieces(from, a->at)) return;
    for (const uint8_t *at = from, *end; at < a->at; at = end) {
        uint8_t piece[PART_MAX];
        end = piece_end(at, a->at);
        const size_t size = (size_t)(end - at);
        for (size_t i = 0; i < size; i++) piece[i] = ascii_word[at[i]];
        if (size > 1) emit(a, piece, size, RAG_WORD_PIECE, at, end);
    }
}

/* --------------------------------------------------------------------------------------- chains */

static void chain_add(struct chain *chain, const uint8_t *bytes, size_t size, uint8_t joiner) {
    const size_t needed = chain->size + (chain->links ? 1 : 0) + size;
    if (needed > CHAIN_SIZE) {
        chain->size = CHAIN_SIZE + 1;
    } else {
        if (chain->links) chain->bytes[chain->size++] = joiner;
        memcpy(chain->bytes + chain->size, bytes, size);
        chain->size += size;
    }
    chain->links++;
}

static void chain_emit(struct analysis *a, const struct chain *chain, const uint8_t *from) {
    if (chain->links > 1 && chain->size <= CHAIN_SIZE)
        emit(a, chain->bytes, chain->size, RAG_WORD_WHOLE, from, a->at);
}

static inline bool joined_by(const struct analysis *a, uint8_t joiner) {
    if (a->end - a->at < 2 || *a->at != joiner) return false;
    if (a->at[1] < 0x80) return ascii_word[a->at[1]] != 0;
    return class_at(a->at + 1, a->end) == WORD_SPACED;
}

/* Emit each part of one identifier; leave the whole identifier in `chain`. */
static void read_identifier(struct analysis *a, struct chain *chain) {
    chain->size = chain->links = 0;
    for (;;) {
        const uint8_t *from = a->at;
        read_part(a);
        read_contraction(a);
        if (a->part_size) {
            emit(a, a->part, a->part_size, RAG_WORD_PART, from, a->at);
            emit_signed(a, from);
            emit_pieces(a, from);
            chain_add(chain, a->part, a->part_size, '_');
        }
        if (!joined_by(a, '_')) return;
        a->at++;
    }
}

/* Read single letters joined by dots as one word without dots: USA matches U.S.A. Return false if
 * the input at `at` has another form. */
static bool read_acronym(struct analysis *a) {
    const uint8_t *at = a->at;
    size_t size = 0;
    while (a->end - at >= 2 && size < PART_MAX && ascii_word[*at] >= 'a' && at[1] == '.') {
        a->part[size++] = ascii_word[*at];
        at += 2;
    }
    if (at < a->end && size && size < PART_MAX && ascii_word[*at] >= 'a' &&
        class_at(at + 1, a->end) == WORD_OTHER)
        a->part[size++] = ascii_word[*at++];
    if (size < 2 || class_at(at, a->end) != WORD_OTHER || (at < a->end && *at == '_')) return false;
    emit(a, a->part, size, RAG_WORD_PART, a->at, at);
    a->at = at;
    return true;
}

static void read_spaced(struct analysis *a) {
    struct chain identifier, whole;
    const uint8_t *start = a->at;
    if (a->end - a->at >= 3 && a->at[1] == '.' && read_acronym(a)) return;
    whole.size = whole.links = 0;
    for (;;) {
        const uint8_t *from = a->at;
        read_identifier(a, &identifier);
        chain_emit(a, &identifier, from);
        const bool more = joined_by(a, '.');
        if (!more && !whole.links) return;
        chain_add(&whole, identifier.bytes, identifier.size, '.');
        if (!more) break;
        a->at++;
    }
    chain_emit(a, &whole, start);
}

/* ----------------------------------------------------------------------- scripts without spaces */

/* Write one cluster, a base and its marks, as folded bytes to out; return its size. */
static size_t read_cluster(struct analysis *a, uint8_t *out) {
    a->point_count = 0;
    for (bool first = true; a->at < a->end; first = false) {
        uint32_t point;
        const size_t size = decode(a->at, a->end, &point);
        const struct unicode_record *record = record_of(point);
        const bool extends = record->word_class == WORD_MARK || record->word_class == WORD_IGNORED;
        if (!first && !extends) break;
        if (a->point_count + record->count > PART_MAX / 2) break;
        push_fold(a, point, record);
        a->at += size;
    }
    finish_points(a);
    memcpy(out, a->part, a->part_size);
    return a->part_size;
}

static void emit_dense(struct analysis *a, const uint8_t *bytes, size_t size, int kind,
                       uint16_t share, const uint8_t *from, const uint8_t *to) {
    const struct rag_word word = {bytes,
                                  size,
                                  kind,
                                  a->gives_clusters ? share : RAG_SHARE,
                                  (size_t)(from - a->text),
                                  (size_t)(to - a->text)};
    if (size) a->sink(a->context, &word);
}

/* Emit each pair of neighbouring clusters of the run as a word, or a lone cluster; on request also
 * each cluster of a pair, before the pair that begins with it. */
static void read_dense(struct analysis *a) {
    uint8_t pair[2 * PART_SIZE];
    const uint8_t *from = a->at;
    size_t size = read_cluster(a, pair);
    bool alone = true;
    while (class_at(a->at, a->end) == WORD_DENSE) {
        const uint8_t *second = a->at;
        if (a->gives_clusters)
            emit_dense(a, pair, size, RAG_WORD_WHOLE, RAG_CLUSTER_SHARE, from, second);
        const size_t next = read_cluster(a, pair + size);
        emit_dense(a, pair, size + next, RAG_WORD_PART, RAG_PAIR_SHARE, from, a->at);
        memmove(pair, pair + size, next);
        from = second;
        size = next;
        alone = false;
    }
    if (alone || a->gives_clusters)
        emit_dense(a, pair, size, alone ? RAG_WORD_PART : RAG_WORD_WHOLE, RAG_CLUSTER_SHARE, from,
                   a->at);
}

bool rag_word_is_dense(const uint8_t *word, size_t size) {
    return class_at(word, word + size) == WORD_DENSE;
}

const char *rag_unicode_version(void) { return UNICODE_VERSION; }

void rag_analyze(const uint8_t *text, size_t size, unsigned rules, rag_word_sink *sink,
                 void *context) {
    struct analysis a = {.text = text,
                         .at = text,
                         .end = text + size,
                         .strip_accents = rules & RAG_STRIP_ACCENTS,
                         .gives_pieces = rules & RAG_PIECES,
                         .gives_clusters = rules & RAG_CLUSTERS,
                         .sink = sink,
                         .context = context};
    while (a.at < a.end) {
        if (*a.at < 0x80) {
            if (ascii_word[*a.at]) read_spaced(&a);
            else a.at++;
            continue;
        }
        uint32_t point;
        const size_t here = decode(a.at, a.end, &point);
        switch (record_of(point)->word_class) {
            case WORD_SPACED:
                read_spaced(&a);
                break;
            case WORD_DENSE:
                read_dense(&a);
                break;
            default:
                a.at += here; /* a mark without a base is not a word */
        }
    }
}
