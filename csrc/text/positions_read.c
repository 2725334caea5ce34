/* positions_read.c - rag.positions in place: the header, the lists of words, and a cursor over a
 * list (positions.h has the bytes).
 *
 * The rows of a term's list are those of its postings, so a list here has no rows of its own; those
 * of a group are read from the posting list when the group is entered. A stop word has no postings,
 * and its list has its rows.
 *
 * A reader trusts no number. Opening checks that the parts fill the section. A list's groups are
 * checked to be inside it. Bits past the end of a group read as an error. The code of positions
 * can only give ascending ones below the row's number of words, and each count of n costs at least
 * n / 64 bits, so a list of b bytes gives at most 512 b positions.
 *
 * RAG_FORMAT names the offset in the section. */
#include "text/positions_read.h"

#include <stdlib.h>

#include "shared/fail.h"

static enum rag_status broken(struct rag_fault *fault, uint64_t at, const char *what) {
    return rag_fail(fault, RAG_FORMAT, at, what);
}

/* --------------------------------------------------------------------------------------- header */

static enum rag_status read_header(struct rag_positions *p, const uint8_t *at,
                                   struct rag_fault *fault) {
    if (memcmp(at, PLACE_MAGIC, 6) != 0) return broken(fault, 0, "not a section of positions");
    if (memcmp(at, PLACE_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_VERSION, 6, "positions of a newer version");
    p->rows = load_u64(at + PLACE_AT_ROWS);
    p->terms = load_u64(at + PLACE_AT_TERMS);
    p->lists_size = load_u64(at + PLACE_AT_LISTS_SIZE);
    p->stops_at = load_u64(at + PLACE_AT_STOPS_AT);
    p->stops = load_u32(at + PLACE_AT_STOPS);
    p->width = load_u32(at + PLACE_AT_WIDTH);
    p->dictionary_size = load_u64(at + PLACE_AT_DICTIONARY_SIZE);
    if (p->rows != p->lexicon->info.rows)
        return broken(fault, PLACE_AT_ROWS, "the postings have another number of rows");
    if (p->terms != p->lexicon->info.terms)
        return broken(fault, PLACE_AT_TERMS, "the dictionary has another number of terms");
    if (p->width != 1 && p->width != 2 && p->width != 4)
        return broken(fault, PLACE_AT_WIDTH, "a number of words has 1, 2 or 4 bytes");
    if (p->lists_size > p->guard.size || p->dictionary_size > p->guard.size)
        return broken(fault, PLACE_AT_LISTS_SIZE, "the parts do not fill the section");
    if (p->stops_at > p->lists_size)
        return broken(fault, PLACE_AT_STOPS_AT, "the lists of stop words lie outside");
    return RAG_OK;
}

/* No sum can wrap: rows and terms are those of an open lexicon, sizes are below the section's. */
static enum rag_status place_parts(struct rag_positions *p, struct rag_fault *fault) {
    p->words_at = PLACE_HEADER + 8 * ((p->terms + LEX_BLOCK - 1) / LEX_BLOCK);
    p->dictionary_at = align_up(p->words_at + p->rows * p->width, 8);
    p->lists_at = align_up(p->dictionary_at + p->dictionary_size, 8);
    return p->lists_at + p->lists_size + PLACE_SLACK == p->guard.size
               ? RAG_OK
               : broken(fault, 0, "the parts do not fill the section");
}

enum rag_status rag_positions_open(const struct rag_guard *section,
                                   const struct rag_lexicon *lexicon, struct rag_positions **out,
                                   struct rag_fault *fault) {
    *out = NULL;
    if (section->size < PLACE_HEADER + PLACE_SLACK)
        return broken(fault, 0, "a section of positions has at least a header");
    enum rag_status status = rag_guard_check(section, 0, PLACE_HEADER, fault);
    if (status) return status;
    struct rag_positions *positions = calloc(1, sizeof *positions);
    if (!positions) return rag_fail(fault, RAG_MEMORY, 0, "no memory for positions");
    positions->guard = *section;
    positions->lexicon = lexicon;
    status = read_header(positions, rag_guard_at(section, 0), fault);
    if (!status) status = place_parts(positions, fault);
    if (status) free(positions);
    else *out = positions;
    return status;
}

void rag_positions_close(struct rag_positions *positions) { free(positions); }

uint64_t rag_positions_lists_at(const struct rag_positions *positions) {
    return positions->lists_at;
}

static uint32_t words_of(const struct rag_positions *p, uint64_t row) {
    const uint8_t *at = rag_guard_at(&p->guard, p->words_at + row * p->width);
    return p->width == 2 ? load_u16(at) : p->width == 1 ? *at : load_u32(at);
}

enum rag_status rag_positions_words(const struct rag_positions *positions, uint64_t row,
                                    uint32_t *words, struct rag_fault *fault) {
    if (row >= positions->rows) return rag_fail(fault, RAG_ARGUMENT, row, "no such row");
    const enum rag_status status = rag_guard_check(
        &positions->guard, positions->words_at + row * positions->width, positions->width, fault);
    if (!status) *words = words_of(positions, row);
    return status;
}

/* --------------------------------------------------------------------------------- stop words */

struct stop {
    const uint8_t *word;
    size_t size;
    uint64_t count, at, list_size; /* at: in the lists */
};

static const char STOP_OUTSIDE[] = "a stop word or its list lies outside";

/* Read the entry at *at and advance; `next` is the offset of its list in the lists. */
static enum rag_status read_stop(const struct rag_positions *p, const uint8_t **at,
                                 const uint8_t *end, uint64_t next, struct stop *stop,
                                 struct rag_fault *fault) {
    if (end - *at < 1 || !**at || end - *at < 1 + **at)
        return broken(fault, p->dictionary_at, STOP_OUTSIDE);
    stop->size = **at;
    stop->word = *at + 1;
    *at += 1 + stop->size;
    stop->count = rag_bm25_varint_get(at, end);
    stop->list_size = rag_bm25_varint_get(at, end);
    stop->at = next;
    if (!stop->count || stop->count > p->rows || stop->list_size > p->lists_size - next)
        return broken(fault, p->dictionary_at, STOP_OUTSIDE);
    return RAG_OK;
}

/* Find a stop word; count is 0 if there is none. */
static enum rag_status find_stop(const struct rag_positions *p, const uint8_t *word, size_t size,
                                 struct stop *stop, struct rag_fault *fault) {
    enum rag_status status =
        rag_guard_check(&p->guard, p->dictionary_at, p->dictionary_size, fault);
    const uint8_t *at = status ? NULL : rag_guard_at(&p->guard, p->dictionary_at);
    const uint8_t *end = status ? NULL : at + p->dictionary_size;
    uint64_t next = p->stops_at;
    for (uint32_t i = 0; !status && i < p->stops; i++) {
        status = read_stop(p, &at, end, next, stop, fault);
        if (!status && stop->size == size && memcmp(stop->word, word, size) == 0) return RAG_OK;
        next += stop->list_size;
    }
    *stop = (struct stop){0};
    return status;
}

enum rag_status rag_positions_stops(const struct rag_positions *positions, rag_stop_sink *sink,
                                    void *context, struct rag_fault *fault) {
    const struct rag_positions *p = positions;
    enum rag_status status =
        rag_guard_check(&p->guard, p->dictionary_at, p->dictionary_size, fault);
    if (status) return status;
    const uint8_t *at = rag_guard_at(&p->guard, p->dictionary_at), *end = at + p->dictionary_size;
    struct stop stop = {0};
    uint64_t next = p->stops_at;
    for (uint32_t i = 0; !status && i < p->stops; i++, next += stop.list_size) {
        status = read_stop(p, &at, end, next, &stop, fault);
        if (!status) sink(context, stop.word, stop.size);
    }
    if (!status && (at != end || next != p->lists_size))
        status = broken(fault, p->dictionary_at, "the dictionary of stop words has more bytes");
    return status;
}

/* --------------------------------------------------------------------------------------- lists */

/* Find the list of a term by its number. */
static enum rag_status find_term_list(const struct rag_positions *p, uint64_t number, uint64_t *at,
                                      uint64_t *size, struct rag_fault *fault) {
    const uint64_t block = number / LEX_BLOCK, blocks = (p->terms + LEX_BLOCK - 1) / LEX_BLOCK;
    const uint64_t start_at = PLACE_HEADER + 8 * block;
    const bool is_last = block + 1 == blocks;
    if (number >= p->terms)
        return broken(fault, PLACE_AT_TERMS, "the dictionary has another number of terms");
    enum rag_status status = rag_guard_check(&p->guard, start_at, is_last ? 8 : 16, fault);
    if (status) return status;
    const uint8_t *starts = rag_guard_at(&p->guard, start_at);
    const uint64_t from = load_u64(starts), to = is_last ? p->stops_at : load_u64(starts + 8);
    if (from > to || to > p->stops_at) return broken(fault, start_at, "a block lies outside");
    const uint64_t left = to - from, most = LEX_BLOCK * LEX_VARINT_MAX;
    const uint64_t front = left < most ? left : most;
    status = rag_guard_check(&p->guard, p->lists_at + from, front, fault);
    if (status) return status;
    const uint8_t *first = rag_guard_at(&p->guard, p->lists_at + from), *next = first;
    const uint64_t here = is_last ? p->terms - block * LEX_BLOCK : LEX_BLOCK;
    uint64_t before = 0;
    for (uint64_t i = 0; i < here; i++) {
        const uint64_t one = rag_bm25_varint_get(&next, first + front);
        if (one > left) return broken(fault, p->lists_at + from, "a list lies outside");
        if (i < number % LEX_BLOCK) before += one;
        if (i == number % LEX_BLOCK) *size = one;
    }
    before += (uint64_t)(next - first);
    if (before > left || *size > left - before)
        return broken(fault, p->lists_at + from, "a list lies outside");
    *at = from + before;
    return RAG_OK;
}

static enum rag_status no_memory(struct rag_fault *fault) {
    return rag_fail(fault, RAG_MEMORY, 0, "no memory for the positions of a word");
}

/* Read the head and the sizes of the groups. */
static enum rag_status open_groups(struct rag_place_list *list, struct rag_fault *fault) {
    const uint8_t *at = list->bytes, *end = at + list->size;
    list->groups = (list->count + PLACE_GROUP - 1) / PLACE_GROUP;
    list->group = UINT64_MAX;
    if (list->size < list->groups) return broken(fault, list->at, "a list is cut short");
    list->rice = *at & 7;
    list->can_lack = *at & PLACE_CAN_LACK;
    if (*at >> 4 || list->rice > PLACE_RICE_MAX)
        return broken(fault, list->at, "a list has an unknown head");
    at++;
    list->ends = malloc((size_t)(list->groups + 1) * sizeof *list->ends);
    if (list->is_stop) list->firsts = malloc((size_t)list->groups * sizeof *list->firsts);
    if (!list->ends || (list->is_stop && !list->firsts)) return no_memory(fault);
    uint64_t row = 0, sum = 0;
    for (uint64_t i = 0; i < list->groups; i++) {
        if (list->is_stop) {
            const uint64_t step = rag_bm25_varint_get(&at, end);
            row += step;
            if (step >= list->positions->rows || row >= list->positions->rows || (i && !step))
                return broken(fault, list->at, "a list's rows are out of order");
            list->firsts[i] = (uint32_t)row;
        }
        list->ends[i] = sum;
        if (i + 1 < list->groups) sum += rag_bm25_varint_get(&at, end);
        if (sum > list->size) return broken(fault, list->at, "a list is cut short");
    }
    const uint64_t front = (uint64_t)(at - list->bytes);
    if (sum > list->size - front) return broken(fault, list->at, "a list is cut short");
    for (uint64_t i = 0; i < list->groups; i++) list->ends[i] += front;
    list->ends[list->groups] = list->size;
    return RAG_OK;
}

/* Open a term's postings, whose rows are those of its positions. */
static enum rag_status open_rows(struct rag_place_list *list, const struct rag_bm25_entry *entry,
                                 struct rag_fault *fault) {
    struct rag_bm25_list head;
    size_t count;
    const struct rag_lexicon *lexicon = list->positions->lexicon;
    if (entry->df <= LEX_SHORT)
        return rag_bm25_short_open(lexicon, entry, list->few, &count, fault);
    const enum rag_status status =
        rag_bm25_list_open(lexicon, entry, &head, &list->containers, fault);
    if (status) return status;
    list->bases = malloc((list->containers.count + 1) * sizeof *list->bases);
    if (!list->bases) return no_memory(fault);
    list->bases[0] = 0;
    for (size_t i = 0; i < list->containers.count; i++)
        list->bases[i + 1] = list->bases[i] + list->containers.items[i].count;
    return list->bases[list->containers.count] == list->count
               ? RAG_OK
               : broken(fault, list->at, "the postings have another number of rows");
}

static enum rag_status place_of(const struct rag_positions *positions,
                                const struct rag_place_word *word, struct rag_bm25_entry *entry,
                                uint64_t *at, uint64_t *size, uint64_t *count,
                                struct rag_fault *fault) {
    struct stop stop;
    *at = *size = *count = 0;
    *entry = (struct rag_bm25_entry){0};
    if (word->is_stop) {
        const enum rag_status status = find_stop(positions, word->bytes, word->size, &stop, fault);
        *at = positions->lists_at + stop.at;
        *size = stop.list_size;
        *count = stop.count;
        return status;
    }
    enum rag_status status =
        rag_bm25_entry_find(positions->lexicon, word->bytes, word->size, entry, fault);
    if (status || !entry->df) return status;
    status = find_term_list(positions, entry->number, at, size, fault);
    *at += positions->lists_at;
    *count = *size ? entry->df : 0;
    return status;
}

enum rag_status rag_positions_place(const struct rag_positions *positions,
                                    const struct rag_place_word *word, uint64_t *at, uint64_t *size,
                                    struct rag_fault *fault) {
    struct rag_bm25_entry entry;
    uint64_t count;
    return place_of(positions, word, &entry, at, size, &count, fault);
}

enum rag_status rag_place_list_open(const struct rag_positions *positions,
                                    const struct rag_place_word *word, struct rag_place_list *list,
                                    struct rag_fault *fault) {
    struct rag_bm25_entry entry;
    memset(list, 0, sizeof *list);
    list->positions = positions;
    list->is_stop = word->is_stop;
    enum rag_status status =
        place_of(positions, word, &entry, &list->at, &list->size, &list->count, fault);
    if (status || !list->count) return status;
    status = rag_guard_check(&positions->guard, list->at, list->size + PLACE_SLACK, fault);
    if (status) return status;
    list->bytes = rag_guard_at(&positions->guard, list->at);
    list->gap_rice = rag_places_gap_rice(positions->rows, list->count);
    status = open_groups(list, fault);
    return status || list->is_stop ? status : open_rows(list, &entry, fault);
}

void rag_place_list_close(struct rag_place_list *list) {
    free(list->ends);
    free(list->firsts);
    free(list->containers.items);
    free(list->bases);
    free(list->found);
}

/* ---------------------------------------------------------------------------------------- bits */

/* The next 57 bits or more, at the top. The slack makes it safe for bits up to the end. */
static inline uint64_t bits_at(const struct rag_place_list *list) {
    return __builtin_bswap64(load_u64(list->bytes + list->bit / 8)) << list->bit % 8;
}

/* Read a Rice code; false past the end. */
static inline bool read_rice(struct rag_place_list *list, unsigned rice, uint32_t *value) {
    uint64_t zeros = 0;
    for (;;) {
        if (list->bit >= list->end) return false;
        const uint64_t bits = bits_at(list) >> 8; /* 56 bits */
        if (bits) {
            const unsigned run = (unsigned)__builtin_clzll(bits) - 8;
            zeros += run;
            list->bit += run + 1;
            break;
        }
        zeros += 56;
        list->bit += 56;
    }
    const uint64_t low = rice ? bits_at(list) >> (64 - rice) : 0;
    list->bit += rice;
    if (list->bit > list->end || zeros >> (32 - rice)) return false;
    *value = (uint32_t)(zeros << rice | low);
    return true;
}

/* Read a number below `range`. Past the end it reads the slack, which the caller notices. */
static inline uint32_t read_below(struct rag_place_list *list, uint32_t range) {
    if (range < 2) return 0;
    const unsigned width = 32 - (unsigned)__builtin_clz(range - 1);
    const uint64_t shorter = ((uint64_t)1 << width) - range, bits = bits_at(list) >> (64 - width);
    const uint64_t low = (range - shorter) / 2, rest = bits - 2 * shorter;
    const bool is_short = bits >> 1 < shorter;
    list->bit += width - is_short;
    return (uint32_t)(is_short ? (bits >> 1) + low : rest < low ? rest : rest + shorter);
}

/* Decode `count` positions in [from, to), which has room for them; false past the end. */
static bool read_positions(struct rag_place_list *list, uint32_t *found, uint32_t count,
                           uint32_t from, uint32_t to) {
    while (count) {
        const uint32_t half = count / 2;
        const uint32_t middle = from + half + read_below(list, to - from - count + 1);
        if (list->bit > list->end) return false;
        found[half] = middle;
        if (half && !read_positions(list, found, half, from, middle)) return false;
        found += half + 1;
        count -= half + 1;
        from = middle + 1;
    }
    return true;
}

/* -------------------------------------------------------------------------------------- groups */

static enum rag_status cut(const struct rag_place_list *list, struct rag_fault *fault) {
    return broken(fault, list->at, "the positions of a row are cut short");
}

/* The rows of a stop word's group. */
static enum rag_status read_gaps(struct rag_place_list *list, struct rag_fault *fault) {
    uint64_t row = list->firsts[list->group];
    list->rows[0] = (uint32_t)row;
    for (uint32_t i = 1; i < list->some; i++) {
        uint32_t gap;
        if (!read_rice(list, list->gap_rice, &gap)) return cut(list, fault);
        row += (uint64_t)gap + 1;
        if (row >= list->positions->rows)
            return broken(fault, list->at, "a list's rows are out of order");
        list->rows[i] = (uint32_t)row;
    }
    return RAG_OK;
}

/* Append rows of a dense container from its row number `index` on. */
static uint32_t take_dense(const struct rag_place_list *list,
                           const struct rag_bm25_container *container, uint32_t index,
                           uint32_t *rows, uint32_t room) {
    const uint32_t width = rag_bm25_window_width(list->positions->lexicon, container->window);
    const uint32_t groups = (width + LEX_GROUP - 1) / LEX_GROUP;
    uint32_t low = 0, count = groups, taken = 0;
    while (count) { /* the groups that start at or before index */
        const uint32_t half = count / 2;
        const bool is_before = load_u16(container->ranks + 2 * (size_t)(low + half)) <= index;
        low = is_before ? low + half + 1 : low;
        count = is_before ? count - half - 1 : half;
    }
    uint32_t group = low ? low - 1 : 0;
    uint32_t skip = index - load_u16(container->ranks + 2 * (size_t)group);
    for (; group < groups && taken < room; group++)
        for (uint64_t bits = load_u64(container->rows + 8 * (size_t)group); bits && taken < room;
             bits &= bits - 1) {
            if (skip) {
                skip--;
                continue;
            }
            rows[taken++] = container->window * LEX_WINDOW + group * LEX_GROUP +
                            (uint32_t)__builtin_ctzll(bits);
        }
    return taken;
}

/* The rows of a term's group, from its postings. */
static enum rag_status take_rows(struct rag_place_list *list, struct rag_fault *fault) {
    const uint64_t first = list->group * PLACE_GROUP;
    if (!list->bases) {
        for (uint32_t i = 0; i < list->some; i++) list->rows[i] = list->few[i].row;
        return RAG_OK;
    }
    size_t low = 0, count = list->containers.count;
    while (count > 1) {
        const size_t half = count / 2;
        if (list->bases[low + half] <= first) low += half, count -= half;
        else count = half;
    }
    for (uint32_t taken = 0; taken < list->some; low++) {
        if (low == list->containers.count)
            return broken(fault, list->at, "the postings have another number of rows");
        const struct rag_bm25_container *container = &list->containers.items[low];
        const uint32_t index = taken ? 0 : (uint32_t)(first - list->bases[low]);
        const uint32_t left = container->count - index, wanted = list->some - taken;
        const uint32_t room = left < wanted ? left : wanted;
        if (container->dense) {
            if (take_dense(list, container, index, list->rows + taken, room) < room)
                return broken(fault, list->at, "the postings have another number of rows");
        } else {
            for (uint32_t i = 0; i < room; i++)
                list->rows[taken + i] = container->window * LEX_WINDOW +
                                        load_u16(container->rows + 2 * (size_t)(index + i));
        }
        taken += room;
    }
    return RAG_OK;
}

/* How many words each row of the group has; also checks that rows exist and ascend. */
static enum rag_status read_words(struct rag_place_list *list, struct rag_fault *fault) {
    const struct rag_positions *p = list->positions;
    for (uint32_t i = 0; i < list->some; i++)
        if (list->rows[i] >= p->rows || (i && list->rows[i] <= list->rows[i - 1]))
            return broken(fault, list->at, "a list's rows are out of order");
    const uint64_t first = list->rows[0], last = list->rows[list->some - 1];
    const enum rag_status status = rag_guard_check(&p->guard, p->words_at + first * p->width,
                                                   (last - first + 1) * p->width, fault);
    for (uint32_t i = 0; !status && i < list->some; i++)
        list->words[i] = words_of(p, list->rows[i]);
    return status;
}

enum rag_status rag_place_list_group(struct rag_place_list *list, uint64_t group,
                                     struct rag_fault *fault) {
    if (group == list->group && list->next == 0) return RAG_OK;
    const uint64_t rest = list->count - group * PLACE_GROUP;
    const bool is_new = group != list->group;
    list->group = group;
    list->some = rest < PLACE_GROUP ? (uint32_t)rest : PLACE_GROUP;
    list->next = 0;
    list->bit = 8 * list->ends[group];
    list->end = 8 * list->ends[group + 1];
    enum rag_status status = RAG_OK;
    if (list->is_stop) status = read_gaps(list, fault);
    else if (is_new) status = take_rows(list, fault);
    if (!status && is_new) status = read_words(list, fault);
    if (status) list->group = UINT64_MAX;
    return status;
}

static enum rag_status read_next(struct rag_place_list *list, struct rag_fault *fault) {
    const uint32_t words = list->words[list->next++];
    uint32_t count;
    if (!read_rice(list, list->rice, &count)) return cut(list, fault);
    if (!list->can_lack && count < UINT32_MAX) count++;
    if (count > words) return broken(fault, list->at, "a row has fewer words than positions");
    if (!rag_grow(&list->found, &list->capacity, (size_t)count + 1, sizeof *list->found))
        return no_memory(fault);
    list->found_count = count;
    return read_positions(list, list->found, count, 0, words) ? RAG_OK : cut(list, fault);
}

enum rag_status rag_place_list_read(struct rag_place_list *list, uint64_t index,
                                    struct rag_fault *fault) {
    const uint64_t group = index / PLACE_GROUP;
    const uint32_t wanted = (uint32_t)(index % PLACE_GROUP);
    enum rag_status status = RAG_OK;
    if (group != list->group || list->next > wanted + 1)
        status = rag_place_list_group(list, group, fault);
    while (!status && list->next <= wanted) status = read_next(list, fault);
    return status;
}

/* -------------------------------------------------------------------------------------- lookup */

/* The number of `row` among the ascending rows of the current group; UINT32_MAX if not there. */
static uint32_t find_here(const struct rag_place_list *list, uint32_t row) {
    uint32_t low = 0, count = list->some;
    while (count) {
        const uint32_t half = count / 2;
        const bool is_below = list->rows[low + half] < row;
        low = is_below ? low + half + 1 : low;
        count = is_below ? count - half - 1 : half;
    }
    return low < list->some && list->rows[low] == row ? low : UINT32_MAX;
}

static enum rag_status find_stop_row(struct rag_place_list *list, uint32_t row, uint64_t *index,
                                     struct rag_fault *fault) {
    uint64_t low = 0, count = list->groups;
    if (row < list->firsts[0]) return RAG_OK;
    while (count > 1) {
        const uint64_t half = count / 2;
        if (list->firsts[low + half] <= row) low += half, count -= half;
        else count = half;
    }
    const enum rag_status status =
        low == list->group ? RAG_OK : rag_place_list_group(list, low, fault);
    const uint32_t here = status ? UINT32_MAX : find_here(list, row);
    if (here != UINT32_MAX) *index = low * PLACE_GROUP + here;
    return status;
}

enum rag_status rag_place_list_find(struct rag_place_list *list, uint32_t row, uint64_t *index,
                                    struct rag_fault *fault) {
    *index = UINT64_MAX;
    if (!list->count) return RAG_OK;
    if (list->is_stop) return find_stop_row(list, row, index, fault);
    if (!list->bases) {
        for (uint64_t i = 0; i < list->count; i++)
            if (list->few[i].row == row) *index = i;
        return RAG_OK;
    }
    const uint32_t window = row / LEX_WINDOW;
    for (; list->container < list->containers.count &&
           list->containers.items[list->container].window < window;
         list->container++)
        list->from = 0;
    if (list->container == list->containers.count ||
        list->containers.items[list->container].window != window)
        return RAG_OK;
    const uint32_t here = rag_bm25_container_find(&list->containers.items[list->container],
                                                  row % LEX_WINDOW, &list->from);
    if (here != UINT32_MAX) *index = list->bases[list->container] + here;
    return RAG_OK;
}

/* --------------------------------------------------------------------------------- whole lists */

enum rag_status rag_positions_list(const struct rag_positions *positions,
                                   const struct rag_place_word *word, rag_place_sink *sink,
                                   void *context, struct rag_fault *fault) {
    struct rag_place_list list;
    enum rag_status status = rag_place_list_open(positions, word, &list, fault);
    for (uint64_t i = 0; !status && i < list.count; i++) {
        status = rag_place_list_read(&list, i, fault);
        if (!status) sink(context, list.rows[i % PLACE_GROUP], list.found, list.found_count);
    }
    rag_place_list_close(&list);
    return status;
}
