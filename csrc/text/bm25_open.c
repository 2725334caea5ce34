/* bm25_open.c - open the lexical sections in place: header, dictionary lookup, checked views of
 * posting lists.
 *
 * Opening parses and copies nothing. rag_lexicon_open reads the header and checks that its parts
 * fill the section exactly; all other checks happen at the first query that needs them.
 *
 * A term lookup has two steps. A binary search finds the block among the keys, the first eight
 * bytes of each block's first term; between equal keys the full first terms decide. A walk then
 * passes the terms of that block of 16 from its start and checks each term's length, df and list
 * extent. No term is put together: terms ascend, so the length that a term shares with the one
 * before decides nearly all comparisons.
 *
 * A list is checked when a query opens it: each container's parts end inside the section with slack
 * to spare, so kernels read them without a test. Rows, ranks and codes are clamped at use. A
 * hostile section can give wrong rows or scores, but no read outside it.
 *
 * RAG_FORMAT and RAG_CORRUPT name the offset in the section. Any number of threads may share one
 * lexicon. */
#include <math.h>
#include <stdlib.h>

#include "shared/fail.h"
#include "text/bm25.h"
#include "text/bm25_search.h"

static uint64_t opened; /* lexicons, in this process */

/* --------------------------------------------------------------------------------------- header */

static enum rag_status broken(struct rag_fault *fault, uint64_t at, const char *what) {
    return rag_fail(fault, RAG_FORMAT, at, what);
}

static enum rag_status read_header(struct rag_lexicon *lexicon, const uint8_t *at,
                                   struct rag_fault *fault) {
    struct rag_lexicon_info *info = &lexicon->info;
    if (memcmp(at, LEX_MAGIC, 6) != 0) return broken(fault, 0, "not a lexical section");
    if (memcmp(at, LEX_MAGIC, 8) != 0)
        return rag_fail(fault, RAG_VERSION, 6, "a lexical section of a newer version");
    info->rows = load_u64(at + LEX_AT_ROWS);
    info->terms = load_u64(at + LEX_AT_TERMS);
    info->total_length = load_u64(at + LEX_AT_TOTAL_LENGTH);
    info->postings = load_u64(at + LEX_AT_POSTINGS);
    info->k1 = load_f64(at + LEX_AT_K1);
    info->b = load_f64(at + LEX_AT_B);
    info->config_size = load_u32(at + LEX_AT_CONFIG_SIZE);
    lexicon->length_width = load_u32(at + LEX_AT_LENGTH_WIDTH);
    lexicon->dictionary_size = load_u64(at + LEX_AT_DICTIONARY_SIZE);
    lexicon->length_min = load_u32(at + LEX_AT_SHORTEST);
    lexicon->length_max = load_u32(at + LEX_AT_LONGEST);
    if (info->rows >= LEX_ROWS_MAX) return broken(fault, LEX_AT_ROWS, "too many rows");
    if (info->terms > info->postings)
        return broken(fault, LEX_AT_TERMS, "more terms than postings");
    if (load_u64(at + LEX_AT_POSTINGS_SIZE) != lexicon->postings.size ||
        lexicon->postings.size < LEX_SLACK)
        return broken(fault, LEX_AT_POSTINGS_SIZE, "the postings have another size");
    if (!(info->k1 >= 0 && info->k1 <= 1000) || !(info->b >= 0 && info->b <= 1))
        return broken(fault, LEX_AT_K1, "k1 or b out of range");
    if (info->config_size > UINT16_MAX)
        return broken(fault, LEX_AT_CONFIG_SIZE, "the configuration is too long");
    if (lexicon->length_width != 1 && lexicon->length_width != 2 && lexicon->length_width != 4)
        return broken(fault, LEX_AT_LENGTH_WIDTH, "a length has 1, 2 or 4 bytes");
    if (lexicon->dictionary_size > UINT32_MAX)
        return broken(fault, LEX_AT_DICTIONARY_SIZE, "the dictionary is too large");
    if (lexicon->length_min > lexicon->length_max && info->rows)
        return broken(fault, LEX_AT_SHORTEST, "lengths out of order");
    /* neither product can wrap: rows and lengths are below 2^32 */
    if (info->total_length < info->rows * lexicon->length_min ||
        info->total_length > info->rows * lexicon->length_max)
        return rag_fail(fault, RAG_CORRUPT, LEX_AT_TOTAL_LENGTH,
                        "the total length is not that of the rows");
    return RAG_OK;
}

/* Compute the offsets of the parts. None of these sums can wrap: every operand is below 2^40, terms
 * being checked here. */
static enum rag_status place_parts(struct rag_lexicon *lexicon, struct rag_fault *fault) {
    if (lexicon->info.terms > lexicon->terms.size) return broken(fault, 16, "too many terms");
    lexicon->blocks = (lexicon->info.terms + LEX_BLOCK - 1) / LEX_BLOCK;
    lexicon->keys_at = align_up(LEX_HEADER + lexicon->info.config_size, 8);
    lexicon->starts_at = lexicon->keys_at + 8 * lexicon->blocks;
    lexicon->dictionary_at = align_up(lexicon->starts_at + 4 * lexicon->blocks, 8);
    lexicon->lengths_at = lexicon->dictionary_at + align_up(lexicon->dictionary_size, 8);
    const uint64_t end =
        lexicon->lengths_at + align_up(lexicon->info.rows * lexicon->length_width, 8) + LEX_SLACK;
    if (end != lexicon->terms.size) return broken(fault, 0, "the parts do not fill the section");
    return RAG_OK;
}

enum rag_status rag_lexicon_open(const struct rag_guard *terms, const struct rag_guard *postings,
                                 struct rag_lexicon **out, struct rag_fault *fault) {
    *out = NULL;
    if (terms->size < LEX_HEADER)
        return broken(fault, 0, "a lexical section has at least a header");
    enum rag_status status = rag_guard_check(terms, 0, LEX_HEADER, fault);
    if (status) return status;
    struct rag_lexicon *lexicon = calloc(1, sizeof *lexicon);
    if (!lexicon) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a lexicon");
    lexicon->terms = *terms;
    lexicon->postings = *postings;
    status = read_header(lexicon, rag_guard_at(terms, 0), fault);
    if (!status) status = place_parts(lexicon, fault);
    if (!status) status = rag_guard_check(terms, 0, lexicon->keys_at, fault);
    if (status == RAG_OK) lexicon->info.config = rag_guard_at(terms, LEX_HEADER);
    lexicon->opened = __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
    if (status) free(lexicon);
    else *out = lexicon;
    return status;
}

void rag_lexicon_close(struct rag_lexicon *lexicon) {
    if (!lexicon) return;
    rag_bm25_scratch_free_all(&lexicon->scratches);
    free(lexicon->fields);
    free(lexicon);
}

void rag_lexicon_info(const struct rag_lexicon *lexicon, struct rag_lexicon_info *info) {
    *info = lexicon->info;
}

enum rag_status rag_lexicon_lengths(const struct rag_lexicon *lexicon, uint32_t *lengths,
                                    struct rag_fault *fault) {
    const enum rag_status status = rag_guard_check(
        &lexicon->terms, lexicon->lengths_at, lexicon->info.rows * lexicon->length_width, fault);
    for (uint64_t row = 0; !status && row < lexicon->info.rows; row++)
        lengths[row] = rag_bm25_length_at(lexicon, row);
    return status;
}

/* ----------------------------------------------------------------------------------- dictionary */

/* A walk through one block. The current term has `size` bytes, of which the last `rest` are new. */
struct walk {
    const uint8_t *at, *end;
    uint64_t end_at; /* of end, in the section */
    uint64_t list_at;
    size_t size, rest;
    const uint8_t *bytes; /* the new ones */
};

static enum rag_status open_block(const struct rag_lexicon *lexicon, uint64_t block,
                                  struct walk *walk, struct rag_fault *fault) {
    const uint64_t starts_at = lexicon->starts_at + 4 * block;
    const enum rag_status status = rag_guard_check(&lexicon->terms, starts_at, 8, fault);
    if (status) return status;
    const uint8_t *starts = rag_guard_at(&lexicon->terms, starts_at);
    const uint64_t from = load_u32(starts), to = block + 1 < lexicon->blocks
                                                     ? load_u32(starts + 4)
                                                     : lexicon->dictionary_size;
    if (from + 8 > to || to > lexicon->dictionary_size)
        return broken(fault, starts_at, "a dictionary block lies outside");
    const uint64_t at = lexicon->dictionary_at + from, size = to - from;
    const enum rag_status there = rag_guard_check(&lexicon->terms, at, size, fault);
    if (there) return there;
    const uint8_t *first = rag_guard_at(&lexicon->terms, at);
    *walk = (struct walk){
        .at = first + 8, .end = first + size, .end_at = at + size, .list_at = load_u64(first)};
    return RAG_OK;
}

/* Advance to the next term and read its entry; df is 0 after the last. Check that its list is
 * inside rag.postings. The term's first bytes are those of the term before. */
static enum rag_status next_entry(const struct rag_lexicon *lexicon, struct walk *walk,
                                  struct rag_bm25_entry *entry, struct rag_fault *fault) {
    const uint64_t here = walk->end_at - (uint64_t)(walk->end - walk->at);
    *entry = (struct rag_bm25_entry){0};
    if (walk->end - walk->at < 2) return RAG_OK;
    const size_t shared = walk->at[0], rest = walk->at[1];
    if (shared > walk->size || shared + rest > LEX_TERM_MAX ||
        (size_t)(walk->end - walk->at) < 2 + rest)
        return broken(fault, here, "a dictionary term is cut short");
    walk->bytes = walk->at + 2;
    walk->rest = rest;
    walk->size = shared + rest;
    walk->at += 2 + rest;
    entry->df = rag_bm25_varint_get(&walk->at, walk->end);
    if (entry->df == 0 || entry->df > lexicon->info.rows)
        return broken(fault, here, "a term's df is out of range");
    if (entry->df == 1) {
        const uint64_t row = rag_bm25_varint_get(&walk->at, walk->end),
                       tf = rag_bm25_varint_get(&walk->at, walk->end);
        if (row >= lexicon->info.rows) return broken(fault, here, "a term's row is out of range");
        entry->row = (uint32_t)row;
        entry->tf = tf > UINT32_MAX ? UINT32_MAX : (uint32_t)tf;
        return RAG_OK;
    }
    entry->at = walk->list_at;
    entry->size = rag_bm25_varint_get(&walk->at, walk->end);
    const uint64_t room = lexicon->postings.size - LEX_SLACK;
    if (entry->at > room || entry->size > room - entry->at)
        return broken(fault, here, "a posting list lies outside");
    walk->list_at += entry->size;
    return RAG_OK;
}

/* Put the walk's term together, over that of the term before. */
static void put_text(const struct walk *walk, uint8_t text[LEX_TERM_MAX]) {
    memcpy(text + walk->size - walk->rest, walk->bytes, walk->rest);
}

static uint64_t key_of(const uint8_t *term, size_t size) {
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++) key = key << 8 | (i < size ? term[i] : 0);
    return key;
}

/* Compare the walk's term with another one, of which the term before, a smaller one, has the first
 * *matched bytes. */
static int compare_next(const struct walk *walk, const uint8_t *term, size_t size,
                        size_t *matched) {
    const size_t shared = walk->size - walk->rest;
    if (shared != *matched) return shared < *matched ? 1 : -1;
    size_t same = 0;
    while (same < walk->rest && shared + same < size && walk->bytes[same] == term[shared + same])
        same++;
    *matched = shared + same;
    if (same == walk->rest) return walk->size < size ? -1 : 0;
    return *matched < size && walk->bytes[same] < term[*matched] ? -1 : 1;
}

/* Count the leading blocks with a first key below `key` (or not above it). */
static uint64_t blocks_below(const struct rag_lexicon *lexicon, uint64_t key, bool or_equal) {
    const uint8_t *keys = rag_guard_at(&lexicon->terms, lexicon->keys_at);
    uint64_t low = 0, count = lexicon->blocks;
    while (count > 0) {
        const uint64_t half = count / 2, here = load_u64(keys + 8 * (low + half));
        const bool below = here < key || (or_equal && here == key);
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

static enum rag_status find_in_block(const struct rag_lexicon *lexicon, uint64_t block,
                                     const uint8_t *term, size_t size, struct rag_bm25_entry *entry,
                                     int *order, struct rag_fault *fault) {
    struct walk walk;
    enum rag_status status = open_block(lexicon, block, &walk, fault);
    uint64_t number = block * LEX_BLOCK;
    size_t matched = 0;
    for (bool first = true; !status; first = false, number++) {
        status = next_entry(lexicon, &walk, entry, fault);
        if (status || !entry->df) break;
        const int here = compare_next(&walk, term, size, &matched);
        if (first) *order = here;
        if (here == 0) {
            entry->number = number;
            return RAG_OK;
        }
        if (here > 0) break;
    }
    entry->df = 0;
    return status;
}

/* Compare full first terms, last block first, where blocks share the first eight bytes. */
enum rag_status rag_bm25_entry_find(const struct rag_lexicon *lexicon, const uint8_t *term,
                                    size_t size, struct rag_bm25_entry *entry,
                                    struct rag_fault *fault) {
    *entry = (struct rag_bm25_entry){0};
    if (!size || !lexicon->blocks) return RAG_OK;
    enum rag_status status =
        rag_guard_check(&lexicon->terms, lexicon->keys_at, 8 * lexicon->blocks, fault);
    if (status) return status;
    const uint64_t key = key_of(term, size);
    uint64_t low = blocks_below(lexicon, key, false), high = blocks_below(lexicon, key, true);
    if (low > 0) low--; /* the block before can contain this key */
    while (low < high && !status) {
        const uint64_t middle = low + (high - low) / 2;
        int order = 0;
        if (high - low == 1) return find_in_block(lexicon, low, term, size, entry, &order, fault);
        status = find_in_block(lexicon, middle, term, size, entry, &order, fault);
        if (entry->df) return status;
        if (order > 0) high = middle;
        else low = middle;
        if (order <= 0 && high - low == 1)
            return status; /* the term belongs in this block and is absent */
    }
    return status;
}

enum rag_status rag_lexicon_place(const struct rag_lexicon *lexicon, const uint8_t *term,
                                  size_t term_size, uint64_t *at, uint64_t *size,
                                  struct rag_fault *fault) {
    struct rag_bm25_entry entry;
    const enum rag_status status = rag_bm25_entry_find(lexicon, term, term_size, &entry, fault);
    *at = entry.df > 1 ? entry.at : 0;
    *size = entry.df > 1 ? entry.size : 0;
    return status;
}

enum rag_status rag_lexicon_block(const struct rag_lexicon *lexicon, uint64_t block,
                                  uint8_t out[4096], size_t *size, struct rag_fault *fault) {
    uint8_t text[LEX_TERM_MAX];
    struct walk walk;
    struct rag_bm25_entry entry;
    *size = 0;
    if (block >= lexicon->blocks)
        return rag_fail(fault, RAG_ARGUMENT, block, "no such block of the dictionary");
    enum rag_status status = open_block(lexicon, block, &walk, fault);
    for (int i = 0; !status && i < LEX_BLOCK; i++) {
        status = next_entry(lexicon, &walk, &entry, fault);
        if (status || !entry.df) break;
        put_text(&walk, text);
        memcpy(out + *size, text, walk.size);
        out[*size + walk.size] = 0;
        *size += walk.size + 1;
    }
    return status;
}

enum rag_status rag_bm25_block_walk(const struct rag_lexicon *lexicon, uint64_t block,
                                    rag_bm25_visitor *visit, void *context,
                                    struct rag_fault *fault) {
    uint8_t text[LEX_TERM_MAX];
    struct walk walk;
    struct rag_bm25_entry entry;
    enum rag_status status = open_block(lexicon, block, &walk, fault);
    for (int i = 0; !status && i < LEX_BLOCK; i++) {
        status = next_entry(lexicon, &walk, &entry, fault);
        if (status || !entry.df) break;
        put_text(&walk, text);
        if (!visit(context, text, walk.size, entry.df)) break;
    }
    return status;
}

enum rag_status rag_bm25_block_before(const struct rag_lexicon *lexicon, const uint8_t *term,
                                      size_t size, uint64_t *block, struct rag_fault *fault) {
    *block = 0;
    if (!lexicon->blocks) return RAG_OK;
    const enum rag_status status =
        rag_guard_check(&lexicon->terms, lexicon->keys_at, 8 * lexicon->blocks, fault);
    if (status) return status;
    const uint64_t below = blocks_below(lexicon, key_of(term, size), false);
    *block = below ? below - 1 : 0;
    return RAG_OK;
}

/* ---------------------------------------------------------------------------------------- lists */

enum rag_status rag_bm25_short_open(const struct rag_lexicon *lexicon,
                                    const struct rag_bm25_entry *entry,
                                    struct rag_bm25_posting out[LEX_SHORT], size_t *count,
                                    struct rag_fault *fault) {
    *count = 1;
    out[0] = (struct rag_bm25_posting){entry->row, entry->tf ? entry->tf : 1};
    if (entry->df == 1) return RAG_OK;
    *count = 0;
    const enum rag_status status =
        rag_guard_check(&lexicon->postings, entry->at, entry->size, fault);
    if (status) return status;
    const uint8_t *at = rag_guard_at(&lexicon->postings, entry->at), *end = at + entry->size;
    uint64_t row = 0;
    for (uint64_t i = 0; i < entry->df; i++) {
        const uint64_t step = rag_bm25_varint_get(&at, end),
                       tf = step & 1 ? rag_bm25_varint_get(&at, end) : 1;
        row += step / 2;
        if ((i && step < 2) || step / 2 >= lexicon->info.rows || row >= lexicon->info.rows)
            return broken(fault, entry->at, "a short list's rows are out of order");
        out[i] = (struct rag_bm25_posting){(uint32_t)row, tf > UINT32_MAX ? UINT32_MAX
                                                          : tf            ? (uint32_t)tf
                                                                          : 1};
    }
    *count = entry->df;
    return RAG_OK;
}

/* Open one container from its directory entry and move *at past its data. Return false if the data
 * passes `end`. */
static bool open_container(const struct rag_lexicon *lexicon, const uint8_t *entry,
                           const uint8_t **at, const uint8_t *end, struct rag_bm25_container *out) {
    const uint32_t marks = load_u32(entry + 4);
    *out = (struct rag_bm25_container){.window = load_u16(entry),
                                       .count = (uint32_t)load_u16(entry + 2) + 1,
                                       .escapes = (marks & 0xFFFFFF) / 2,
                                       .dense = marks & 1,
                                       .max = entry[7]};
    if ((uint64_t)out->window * LEX_WINDOW >= lexicon->info.rows) return false;
    const size_t groups = (rag_bm25_window_width(lexicon, out->window) + LEX_GROUP - 1) / LEX_GROUP;
    const size_t front = out->dense ? groups * 11 : (size_t)out->count * 2;
    const size_t size = front + out->count + (size_t)out->escapes * LEX_ESCAPE;
    if ((size_t)(end - *at) < size) return false;
    out->rows = *at;
    out->ranks = out->rows + 8 * groups;
    out->maxima = out->ranks + 2 * groups;
    out->codes = out->rows + front;
    out->escaped = out->codes + out->count;
    *at += size;
    return true;
}

enum rag_status rag_bm25_list_open(const struct rag_lexicon *lexicon,
                                   const struct rag_bm25_entry *entry, struct rag_bm25_list *list,
                                   struct rag_bm25_containers *containers,
                                   struct rag_fault *fault) {
    const enum rag_status status =
        rag_guard_check(&lexicon->postings, entry->at, entry->size, fault);
    if (status) return status;
    const uint8_t *head = rag_guard_at(&lexicon->postings, entry->at), *end = head + entry->size;
    if (entry->size < LEX_LIST_HEAD) return broken(fault, entry->at, "a posting list is cut short");
    const uint64_t count = load_u32(head + 4);
    if (count > (entry->size - LEX_LIST_HEAD) / LEX_CONTAINER)
        return broken(fault, entry->at, "a posting list is cut short");
    *list = (struct rag_bm25_list){head[0], head[1], head[2]};
    if (!rag_grow(&containers->items, &containers->capacity, containers->count + count,
                  sizeof *containers->items))
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a query");
    const uint8_t *directory = head + LEX_LIST_HEAD, *at = directory + count * LEX_CONTAINER;
    for (uint64_t i = 0; i < count; i++) {
        struct rag_bm25_container *container = &containers->items[containers->count];
        if (!open_container(lexicon, directory + i * LEX_CONTAINER, &at, end, container) ||
            (i && container->window <= container[-1].window))
            return broken(fault, entry->at, "a posting container is out of order or cut short");
        containers->count++;
    }
    return RAG_OK;
}

/* ----------------------------------------------------------------------------------- containers */

static uint32_t find_dense(const struct rag_bm25_container *container, uint32_t row) {
    const uint64_t word = load_u64(container->rows + row / LEX_GROUP * 8),
                   bit = (uint64_t)1 << row % LEX_GROUP;
    if (!(word & bit)) return UINT32_MAX;
    const uint32_t rank = load_u16(container->ranks + row / LEX_GROUP * 2) +
                          (uint32_t)__builtin_popcountll(word & (bit - 1));
    return rank < container->count ? rank : container->count - 1;
}

/* Find a row; calls must be in ascending order of rows, so that *from resumes at the previous
 * position. */
static uint32_t find_sparse(const struct rag_bm25_container *container, uint32_t row,
                            uint32_t *from) {
    uint32_t low = *from, count = container->count - low;
    while (count > 0) {
        const uint32_t half = count / 2;
        const bool below = load_u16(container->rows + 2 * (size_t)(low + half)) < row;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    *from = low;
    return low < container->count && load_u16(container->rows + 2 * (size_t)low) == row
               ? low
               : UINT32_MAX;
}

uint32_t rag_bm25_container_find(const struct rag_bm25_container *container, uint32_t row,
                                 uint32_t *from) {
    return container->dense ? find_dense(container, row) : find_sparse(container, row, from);
}

/* Return the escape of an index, or 0. */
static uint32_t find_escape(const struct rag_bm25_container *container, uint32_t index) {
    uint32_t low = 0, high = container->escapes;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2,
                       here = load_u16(container->escaped + (size_t)middle * LEX_ESCAPE);
        if (here == index) return load_u32(container->escaped + (size_t)middle * LEX_ESCAPE + 2);
        if (here < index) low = middle + 1;
        else high = middle;
    }
    return 0;
}

/* Return the least t in 1..255 with a code that reaches the stored one: solve the equation for tf,
 * then correct. (Trying 1, 2, 3 first saves divisions but loses more to mispredicted branches.) */
static uint32_t tf_of_code(uint32_t code, double norm, double scale) {
    const double part = (double)code / scale,
                 guess = part < 1.0 ? norm * part / (1.0 - part) : 255.0;
    uint32_t tf = guess < 1.0 ? 1 : guess < 255.0 ? (uint32_t)guess : 255;
    while (tf > 1 && rag_bm25_code(rag_bm25_tf_part(tf - 1, norm), scale) >= code) tf--;
    while (tf < 255 && rag_bm25_code(rag_bm25_tf_part(tf, norm), scale) < code) tf++;
    return tf;
}

uint32_t rag_bm25_container_tf(const struct rag_bm25_container *container, uint32_t index,
                               double build_norm, double scale) {
    if (container->tfs) return container->tfs[index];
    const uint32_t escaped = container->escapes ? find_escape(container, index) : 0;
    return escaped ? escaped : tf_of_code(container->codes[index], build_norm, scale);
}
