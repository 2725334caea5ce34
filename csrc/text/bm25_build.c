/* bm25_build.c - rows of text to postings, in bounded memory.
 *
 * A batch records its words as numbers; once the vocabulary has their terms, commit turns them into
 * postings (term, row, tf). When postings and vocabulary approach the memory limit, the builder
 * sorts them by term, spills them as a run and starts empty again. The end merges the runs. They
 * cover ascending ranges of rows, so a term's list concatenates its pieces in run order, and the
 * result does not depend on the cuts between runs.
 *
 * A run is a sequence of: u8 size, term, varint df, then per row varint (row - row before), varint
 * tf, varint count of positions, and these as varint (position - position before). A size of 0 ends
 * it; the stop words follow in the same way, with a tf of 0. The caller's functions (struct
 * rag_spill) write and read runs; the core opens no file for them. A builder without a spill
 * reports RAG_MEMORY at the limit.
 *
 * Positions come from the words of placed texts, kept in order as the numbers of their terms (or of
 * the words, for those without a term) until a run ends.
 *
 * The limit covers postings, positions, words and terms. The lengths of all rows and their numbers
 * of words, four bytes each, stay in memory in any case, and so does the finished dictionary
 * (bm25_write.c).
 *
 * A field's weight of 1 to 255 multiplies each occurrence and the field's length. Frequencies and
 * lengths stop at 2^32 - 1 instead of wrapping, and a segment has fewer than 2^32 - 1 rows
 * (RAG_LIMIT). */
#include <stdlib.h>

#include "ragfile/languages.h"
#include "shared/fail.h"
#include "text/positions.h"

enum { RUN_WINDOW = 1 << 16, TERM_BYTES_MAX = 1 + LEX_TERM_MAX + LEX_VARINT_MAX };

enum { UNPLACED = 0x80000000u }; /* bit of a word of the batch: a whole, or a piece */

struct entry {
    uint32_t term, row, tf;
};

struct run {
    uint64_t at, end; /* in the spill */
};

struct rag_lexical_builder {
    double k1, b;
    unsigned rules;
    size_t language;
    struct rag_bm25_mark mark;
    size_t memory;
    struct rag_spill spill;
    uint64_t spilled;
    struct rag_vocabulary vocabulary;
    uint32_t *words; /* of the batch; a field's words follow a mark */
    size_t word_count, word_capacity;
    struct batch_field {
        size_t first, row;
        uint32_t weight;
        bool is_placed;
    } *fields;
    size_t field_count, field_capacity;
    uint32_t *lengths, *places;     /* by row; how many words of it have a position */
    size_t rows, row_capacity;      /* rows ended */
    size_t place_capacity, run_row; /* first row of the run */
    uint32_t *stream;               /* of the run: term, or word | LEX_WHOLE */
    size_t stream_size, stream_capacity;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct seen {
        uint32_t row_and_one, slot;
    } *seen; /* by term: its entry in the current row */
    size_t seen_capacity, seen_count;
    struct run *runs;
    size_t run_count, run_capacity;
};

struct rag_lexical_builder *rag_lexical_builder_new(double k1, double b, unsigned rules,
                                                    size_t memory, struct rag_spill spill) {
    struct rag_lexical_builder *builder = calloc(1, sizeof *builder);
    if (!builder) return NULL;
    builder->k1 = k1;
    builder->b = b;
    builder->rules = rules;
    builder->memory = memory;
    builder->spill = spill;
    return builder;
}

void rag_lexical_builder_free(struct rag_lexical_builder *builder) {
    if (!builder) return;
    rag_bm25_vocabulary_clear(&builder->vocabulary);
    free(builder->words);
    free(builder->fields);
    free(builder->lengths);
    free(builder->places);
    free(builder->stream);
    free(builder->entries);
    free(builder->seen);
    free(builder->runs);
    free(builder);
}

struct rag_vocabulary *rag_lexical_builder_vocabulary(struct rag_lexical_builder *builder) {
    return &builder->vocabulary;
}

static enum rag_status no_memory(struct rag_fault *fault) {
    return rag_fail(fault, RAG_MEMORY, 0, "no memory for postings");
}

/* -------------------------------------------------------------------------------------- batches */

static void note_word(void *context, const struct rag_word *word) {
    struct rag_lexical_builder *builder = context;
    const uint32_t id = rag_bm25_vocabulary_marked(&builder->vocabulary, builder->mark, word);
    if (id == LEX_NO_STRING) return;
    if (!rag_grow(&builder->words, &builder->word_capacity, builder->word_count + 1,
                  sizeof *builder->words)) {
        builder->vocabulary.failed = true;
        return;
    }
    builder->words[builder->word_count++] = word->kind == RAG_WORD_PART ? id : id | UNPLACED;
}

void rag_lexical_builder_language(struct rag_lexical_builder *builder, size_t language) {
    builder->language = language;
    builder->mark = rag_bm25_mark_of(language);
}

enum rag_status rag_lexical_builder_text(struct rag_lexical_builder *builder, const uint8_t *text,
                                         size_t size, uint32_t weight, bool is_placed,
                                         struct rag_fault *fault) {
    if (weight < 1 || weight > 255)
        return rag_fail(fault, RAG_ARGUMENT, weight,
                        "a field's weight is a whole number of 1 to 255");
    if (!rag_grow(&builder->fields, &builder->field_capacity, builder->field_count + 1,
                  sizeof *builder->fields))
        return no_memory(fault);
    builder->fields[builder->field_count++] =
        (struct batch_field){builder->word_count, builder->rows, weight, is_placed};
    rag_analyze(text, size, rag_language_rules(builder->rules, builder->language), note_word,
                builder);
    return builder->vocabulary.failed ? no_memory(fault) : RAG_OK;
}

enum rag_status rag_lexical_builder_end_row(struct rag_lexical_builder *builder,
                                            struct rag_fault *fault) {
    /* unreached: takes 2^32 rows */
    if (builder->rows >= LEX_ROWS_MAX - 1)
        return rag_fail(fault, RAG_LIMIT, builder->rows, "a segment has fewer than 2^32 - 1 rows");
    if (!rag_grow(&builder->lengths, &builder->row_capacity, builder->rows + 1,
                  sizeof *builder->lengths) ||
        !rag_grow(&builder->places, &builder->place_capacity, builder->rows + 1,
                  sizeof *builder->places))
        return no_memory(fault);
    builder->places[builder->rows] = 0;
    builder->lengths[builder->rows++] = 0;
    return RAG_OK;
}

static uint32_t add_capped(uint32_t a, uint32_t b) {
    /* unreached: takes a row of 2^32 words */
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Count one occurrence of a term in a row: add an entry, or increment the row's existing one. */
static void count_term(struct rag_lexical_builder *builder, uint32_t term, size_t row,
                       uint32_t weight) {
    struct seen *seen = &builder->seen[term];
    if (seen->row_and_one == (uint32_t)row + 1) {
        struct entry *entry = &builder->entries[seen->slot];
        entry->tf = add_capped(entry->tf, weight);
        return;
    }
    *seen = (struct seen){(uint32_t)row + 1, (uint32_t)builder->entry_count};
    builder->entries[builder->entry_count++] = (struct entry){term, (uint32_t)row, weight};
}

static bool grow_seen(struct rag_lexical_builder *builder) {
    const size_t wanted = builder->vocabulary.terms.count;
    if (!rag_grow(&builder->seen, &builder->seen_capacity, wanted, sizeof *builder->seen))
        return false;
    for (; builder->seen_count < wanted; builder->seen_count++)
        builder->seen[builder->seen_count] = (struct seen){0, 0};
    return true;
}

static enum rag_status spill_run(struct rag_lexical_builder *builder, struct rag_fault *fault);

static size_t memory_held(const struct rag_lexical_builder *builder) {
    const struct rag_vocabulary *vocabulary = &builder->vocabulary;
    return builder->entry_count * (sizeof(struct entry) + sizeof(struct rag_bm25_posting)) +
           builder->stream_size * 2 * sizeof *builder->stream + vocabulary->words.memory +
           vocabulary->terms.memory + vocabulary->terms.count * 24;
}

/* Count the words of a field in its row, and add them to the stream if it is placed. */
static void commit_field(struct rag_lexical_builder *builder, const struct batch_field *field,
                         size_t stop) {
    uint32_t parts = 0;
    for (size_t i = field->first; i < stop; i++) {
        const uint32_t word = builder->words[i] & ~UNPLACED;
        const uint32_t found = builder->vocabulary.term_of[word], term = found & ~LEX_WHOLE;
        if (field->is_placed && !(builder->words[i] & UNPLACED)) {
            builder->stream[builder->stream_size++] = term == LEX_DROPPED ? word | LEX_WHOLE : term;
            builder->places[field->row]++;
        }
        if (term == LEX_DROPPED) continue;
        /* A whole is counted by its parts; a lone cluster has none. */
        parts += !(found & LEX_WHOLE) || !(builder->words[i] & UNPLACED);
        count_term(builder, term, field->row, field->weight);
    }
    const uint64_t length = (uint64_t)parts * field->weight;
    builder->lengths[field->row] = add_capped(builder->lengths[field->row],
                                              length > UINT32_MAX ? UINT32_MAX : (uint32_t)length);
}

enum rag_status rag_lexical_builder_commit(struct rag_lexical_builder *builder,
                                           struct rag_fault *fault) {
    if (builder->vocabulary.pending.size)
        return rag_fail(fault, RAG_ARGUMENT, builder->vocabulary.pending.size,
                        "some words have no term yet");
    /* unreached: takes 2^32 postings in memory */
    if (!grow_seen(builder) || builder->entry_count + builder->word_count > UINT32_MAX ||
        builder->stream_size + builder->word_count > UINT32_MAX ||
        !rag_grow(&builder->entries, &builder->entry_capacity,
                  builder->entry_count + builder->word_count, sizeof *builder->entries) ||
        !rag_grow(&builder->stream, &builder->stream_capacity,
                  builder->stream_size + builder->word_count, sizeof *builder->stream))
        return no_memory(fault);
    for (size_t i = 0; i < builder->field_count; i++) {
        const struct batch_field *field = &builder->fields[i];
        if (field->row >= builder->rows)
            return rag_fail(fault, RAG_ARGUMENT, field->row, "the last row was not ended");
        commit_field(builder, field,
                     i + 1 < builder->field_count ? field[1].first : builder->word_count);
    }
    builder->word_count = builder->field_count = 0;
    return memory_held(builder) < builder->memory ? RAG_OK : spill_run(builder, fault);
}

/* --------------------------------------------------------------------------------- sorted terms */

struct sorted {
    uint64_t key; /* first 8 bytes, big-endian, zero-padded */
    const uint8_t *text;
    uint32_t term;
};

static int compare_text(const uint8_t *a, const uint8_t *b) {
    const size_t shorter = a[0] < b[0] ? a[0] : b[0];
    const int order = memcmp(a + 1, b + 1, shorter);
    return order ? order : (int)a[0] - (int)b[0];
}

static int compare_sorted(const void *left, const void *right) {
    const struct sorted *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return compare_text(a->text, b->text);
}

/* The run in memory: terms in order, with their postings side by side; the stop words in order;
 * and where each of both is in the stream, ascending. */
struct grouped {
    struct sorted *terms, *stops;
    size_t count, stop_count;
    size_t *starts; /* by term number, one more than there are */
    struct rag_bm25_posting *postings;
    size_t *places_at; /* by term, then by word: where its places start; one more than there are */
    uint32_t *places;
    uint32_t *row_ends; /* by row of the run: where it ends in the stream */
    size_t rows, first_row;
};

static void free_grouped(struct grouped *grouped) {
    free(grouped->terms);
    free(grouped->stops);
    free(grouped->starts);
    free(grouped->postings);
    free(grouped->places_at);
    free(grouped->places);
    free(grouped->row_ends);
}

static struct sorted sorted_of(const uint8_t *text, size_t number) {
    struct sorted sorted = {0, text, (uint32_t)number};
    for (size_t i = 0; i < 8; i++) sorted.key = sorted.key << 8 | (i < text[0] ? text[i + 1] : 0);
    return sorted;
}

/* Group the entries by term, rows ascending as they arrived. Consumes the entries. */
static bool group_entries(struct rag_lexical_builder *builder, struct grouped *grouped) {
    const struct rag_bm25_strings *strings = &builder->vocabulary.terms;
    grouped->terms = malloc((strings->count + 1) * sizeof *grouped->terms);
    grouped->starts = calloc(strings->count + 2, sizeof *grouped->starts);
    grouped->postings = malloc((builder->entry_count + 1) * sizeof *grouped->postings);
    if (!grouped->terms || !grouped->starts || !grouped->postings) return false;
    size_t *next = grouped->starts + 1;
    for (size_t i = 0; i < builder->entry_count; i++) next[builder->entries[i].term + 1]++;
    for (size_t term = 0; term < strings->count; term++) {
        if (next[term + 1])
            grouped->terms[grouped->count++] = sorted_of(strings->texts[term], term);
        next[term + 1] += next[term];
    }
    for (size_t i = 0; i < builder->entry_count; i++) {
        const struct entry *entry = &builder->entries[i];
        grouped->postings[next[entry->term]++] = (struct rag_bm25_posting){entry->row, entry->tf};
    }
    qsort(grouped->terms, grouped->count, sizeof *grouped->terms, compare_sorted);
    free(builder->entries);
    builder->entries = NULL;
    builder->entry_count = builder->entry_capacity = 0;
    return true;
}

/* Group the stream by term and by stop word. Consumes the stream. */
static bool group_stream(struct rag_lexical_builder *builder, struct grouped *grouped) {
    const struct rag_bm25_strings *words = &builder->vocabulary.words;
    const size_t terms = builder->vocabulary.terms.count;
    grouped->first_row = builder->run_row;
    grouped->rows = builder->rows - builder->run_row;
    grouped->stops = malloc((words->count + 1) * sizeof *grouped->stops);
    grouped->places_at = calloc(terms + words->count + 2, sizeof *grouped->places_at);
    grouped->places = malloc((builder->stream_size + 1) * sizeof *grouped->places);
    grouped->row_ends = malloc((grouped->rows + 1) * sizeof *grouped->row_ends);
    if (!grouped->stops || !grouped->places_at || !grouped->places || !grouped->row_ends)
        return false;
    size_t *next = grouped->places_at + 1;
    for (size_t i = 0; i < builder->stream_size; i++) {
        const uint32_t mark = builder->stream[i];
        next[1 + (mark & LEX_WHOLE ? terms + (mark & ~LEX_WHOLE) : mark)]++;
    }
    for (size_t i = 0; i < terms + words->count; i++) {
        if (i >= terms && next[i + 1])
            grouped->stops[grouped->stop_count++] = sorted_of(words->texts[i - terms], i);
        next[i + 1] += next[i];
    }
    for (size_t i = 0; i < builder->stream_size; i++) {
        const uint32_t mark = builder->stream[i];
        grouped->places[next[mark & LEX_WHOLE ? terms + (mark & ~LEX_WHOLE) : mark]++] =
            (uint32_t)i;
    }
    qsort(grouped->stops, grouped->stop_count, sizeof *grouped->stops, compare_sorted);
    uint32_t end = 0;
    for (size_t row = 0; row < grouped->rows; row++)
        grouped->row_ends[row] = end += builder->places[grouped->first_row + row];
    free(builder->stream);
    builder->stream = NULL;
    builder->stream_size = builder->stream_capacity = 0;
    builder->run_row = builder->rows;
    return true;
}

/* Group a run; free_grouped() in any case. */
static bool group_run(struct rag_lexical_builder *builder, struct grouped *grouped) {
    *grouped = (struct grouped){0};
    return group_entries(builder, grouped) && group_stream(builder, grouped);
}

static uint32_t row_start(const struct grouped *grouped, size_t row) {
    return row ? grouped->row_ends[row - 1] : 0;
}

/* Append the positions of a term in its rows. */
static bool term_places(const struct grouped *grouped, uint32_t term, struct rag_places *places) {
    const struct rag_bm25_posting *posting = grouped->postings + grouped->starts[term];
    const struct rag_bm25_posting *end = grouped->postings + grouped->starts[term + 1];
    const uint32_t *at = grouped->places + grouped->places_at[term];
    const uint32_t *stop = grouped->places + grouped->places_at[term + 1];
    for (; posting < end; posting++) {
        const size_t row = posting->row - grouped->first_row;
        const uint32_t from = row_start(grouped, row);
        if (!rag_places_row(places, posting->row)) return false;
        for (; at < stop && *at < grouped->row_ends[row]; at++)
            if (!rag_places_add(places, *at - from)) return false;
    }
    return true;
}

/* The first row from `row` on that ends after a place of the stream. */
static size_t row_of(const struct grouped *grouped, size_t row, uint32_t place) {
    size_t count = grouped->rows - row;
    while (count) {
        const size_t half = count / 2;
        const bool is_before = grouped->row_ends[row + half] <= place;
        row = is_before ? row + half + 1 : row;
        count = is_before ? count - half - 1 : half;
    }
    return row;
}

/* Append the rows and positions of a stop word. */
static bool stop_places(const struct grouped *grouped, uint32_t number, struct rag_places *places) {
    const uint32_t *at = grouped->places + grouped->places_at[number];
    const uint32_t *stop = grouped->places + grouped->places_at[number + 1];
    for (size_t row = 0; at < stop; row++) {
        row = row_of(grouped, row, *at);
        if (!rag_places_row(places, (uint32_t)(row + grouped->first_row))) return false;
        for (; at < stop && *at < grouped->row_ends[row]; at++)
            if (!rag_places_add(places, *at - row_start(grouped, row))) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------- spilling */

static void put_run_term(struct rag_bm25_buffer *out, const uint8_t *text,
                         const struct rag_bm25_posting *postings, const struct rag_places *places) {
    uint8_t bytes[3 * LEX_VARINT_MAX];
    rag_bm25_buffer_put(out, text, (size_t)text[0] + 1);
    rag_bm25_buffer_put(out, bytes, rag_bm25_varint_put(bytes, places->count));
    const uint32_t *position = places->positions;
    for (size_t i = 0; i < places->count; i++) {
        size_t size = rag_bm25_varint_put(bytes, places->rows[i] - (i ? places->rows[i - 1] : 0));
        size += rag_bm25_varint_put(bytes + size, postings ? postings[i].tf : 0);
        size += rag_bm25_varint_put(bytes + size, places->counts[i]);
        rag_bm25_buffer_put(out, bytes, size);
        for (uint32_t j = 0, before = 0; j < places->counts[i]; before = position[j++])
            rag_bm25_buffer_put(out, bytes, rag_bm25_varint_put(bytes, position[j] - before));
        position += places->counts[i];
    }
}

static enum rag_status flush_run(struct rag_lexical_builder *builder, struct rag_bm25_buffer *out,
                                 struct rag_fault *fault) {
    if (out->failed) return no_memory(fault);
    if (out->size && builder->spill.write(builder->spill.context, out->bytes, out->size) != 0)
        return rag_fail(fault, RAG_OS, 0, "spilling postings failed");
    builder->spilled += out->size;
    out->size = 0;
    return RAG_OK;
}

static enum rag_status write_run(struct rag_lexical_builder *builder, const struct grouped *grouped,
                                 struct rag_fault *fault) {
    struct rag_bm25_buffer out = {0};
    struct rag_places places = {0};
    enum rag_status status = RAG_OK;
    for (size_t i = 0; !status && i < grouped->count + grouped->stop_count; i++) {
        const bool is_stop = i >= grouped->count;
        const struct sorted *one =
            is_stop ? &grouped->stops[i - grouped->count] : &grouped->terms[i];
        places.count = places.total = 0;
        if (is_stop ? !stop_places(grouped, one->term, &places)
                    : !term_places(grouped, one->term, &places))
            out.failed = true;
        if (i == grouped->count) rag_bm25_buffer_put(&out, "", 1);
        put_run_term(&out, one->text,
                     is_stop ? NULL : grouped->postings + grouped->starts[one->term], &places);
        if (out.size >= RUN_WINDOW || out.failed) status = flush_run(builder, &out, fault);
    }
    if (!grouped->stop_count) rag_bm25_buffer_put(&out, "", 1);
    rag_bm25_buffer_put(&out, "", 1);
    if (!status) status = flush_run(builder, &out, fault);
    rag_bm25_buffer_free(&out);
    rag_places_free(&places);
    return status;
}

static enum rag_status spill_run(struct rag_lexical_builder *builder, struct rag_fault *fault) {
    struct grouped grouped;
    const uint64_t at = builder->spilled;
    if (!builder->spill.write)
        return rag_fail(fault, RAG_MEMORY, 0,
                        "the memory limit is reached and there is nowhere to spill");
    enum rag_status status =
        group_run(builder, &grouped) ? write_run(builder, &grouped, fault) : no_memory(fault);
    free_grouped(&grouped);
    if (status) return status;
    if (!rag_grow(&builder->runs, &builder->run_capacity, builder->run_count + 1,
                  sizeof *builder->runs))
        return no_memory(fault);
    builder->runs[builder->run_count++] = (struct run){at, builder->spilled};
    rag_bm25_vocabulary_clear(&builder->vocabulary);
    builder->seen_count = 0;
    return RAG_OK;
}

/* -------------------------------------------------------------------------------------- merging */

/* Reads a run back through a window. text is the current term; size is 0 at the end. */
struct reader {
    struct run run;
    uint8_t *window;
    size_t at, size;
    uint8_t text[LEX_TERM_MAX + 1];
};

/* Make sure that the window holds a whole term head, or a whole row. */
static enum rag_status refill(struct rag_lexical_builder *builder, struct reader *reader,
                              struct rag_fault *fault) {
    const uint64_t left = reader->run.end - reader->run.at;
    if (reader->size - reader->at >= TERM_BYTES_MAX || left == 0) return RAG_OK;
    memmove(reader->window, reader->window + reader->at, reader->size - reader->at);
    reader->size -= reader->at;
    reader->at = 0;
    const size_t room = RUN_WINDOW - reader->size, wanted = left < room ? (size_t)left : room;
    if (builder->spill.read(builder->spill.context, reader->run.at, reader->window + reader->size,
                            wanted) != 0)
        return rag_fail(fault, RAG_OS, 0, "reading spilled postings failed");
    reader->run.at += wanted;
    reader->size += wanted;
    return RAG_OK;
}

static enum rag_status read_term(struct rag_lexical_builder *builder, struct reader *reader,
                                 struct rag_fault *fault) {
    const enum rag_status status = refill(builder, reader, fault);
    if (status) return status;
    if (reader->at >= reader->size || reader->at + reader->window[reader->at] >= reader->size)
        return (reader->text[0] = 0), RAG_OK;
    memcpy(reader->text, reader->window + reader->at, (size_t)reader->window[reader->at] + 1);
    reader->at += (size_t)reader->text[0] + 1;
    return RAG_OK;
}

static uint64_t read_varint(struct reader *reader) {
    const uint8_t *at = reader->window + reader->at;
    const uint64_t value = rag_bm25_varint_get(&at, reader->window + reader->size);
    reader->at = (size_t)(at - reader->window);
    return value;
}

/* The postings and places of a term, or the places of a stop word. */
struct list {
    struct rag_bm25_posting *items;
    size_t count, capacity;
    struct rag_places places;
};

static void free_list(struct list *list) {
    free(list->items);
    rag_places_free(&list->places);
}

static enum rag_status take_positions(struct rag_lexical_builder *builder, struct reader *reader,
                                      struct list *list, struct rag_fault *fault) {
    uint32_t position = 0;
    for (uint64_t left = read_varint(reader); left; left--) {
        const enum rag_status status = refill(builder, reader, fault);
        if (status) return status;
        if (reader->at >= reader->size)
            return rag_fail(fault, RAG_CORRUPT, left, "spilled postings came back changed");
        position += (uint32_t)read_varint(reader);
        if (!rag_places_add(&list->places, position)) return no_memory(fault);
    }
    return RAG_OK;
}

/* Append the rows of the current term and advance to the next term. */
static enum rag_status take_rows(struct rag_lexical_builder *builder, struct reader *reader,
                                 struct list *list, struct rag_fault *fault) {
    const uint64_t df = read_varint(reader);
    if (df > builder->rows ||
        !rag_grow(&list->items, &list->capacity, list->count + df, sizeof *list->items))
        return no_memory(fault);
    uint32_t row = 0;
    for (uint64_t i = 0; i < df; i++) {
        enum rag_status status = refill(builder, reader, fault);
        if (status) return status;
        row += (uint32_t)read_varint(reader);
        const uint32_t tf = (uint32_t)read_varint(reader);
        if (row >= builder->rows)
            return rag_fail(fault, RAG_CORRUPT, row, "spilled postings came back changed");
        list->items[list->count++] = (struct rag_bm25_posting){row, tf};
        if (!rag_places_row(&list->places, row)) return no_memory(fault);
        status = take_positions(builder, reader, list, fault);
        if (status) return status;
    }
    return read_term(builder, reader, fault);
}

/* The sections that a builder writes at its end. */
struct outputs {
    struct rag_bm25_writer *writer;
    struct rag_places_writer *places; /* NULL without positions */
};

static enum rag_status write_term(const struct outputs *out, const uint8_t *text,
                                  const struct rag_bm25_posting *postings,
                                  const struct rag_places *places, struct rag_fault *fault) {
    const enum rag_status status =
        rag_bm25_writer_term(out->writer, text + 1, text[0], postings, places->count, fault);
    return status || !out->places ? status : rag_places_writer_term(out->places, places, fault);
}

static enum rag_status write_stop(const struct outputs *out, const uint8_t *text,
                                  const struct rag_places *places, struct rag_fault *fault) {
    return out->places ? rag_places_writer_stop(out->places, text + 1, text[0], places, fault)
                       : RAG_OK;
}

/* Write the least term of all runs and advance the runs that have it; *more is false at the end of
 * all runs. */
static enum rag_status merge_term(struct rag_lexical_builder *builder, struct reader *readers,
                                  struct list *list, const struct outputs *out, bool is_stop,
                                  bool *more, struct rag_fault *fault) {
    const uint8_t *least = NULL;
    uint8_t text[LEX_TERM_MAX + 1];
    for (size_t i = 0; i < builder->run_count; i++)
        if (readers[i].text[0] && (!least || compare_text(readers[i].text, least) < 0))
            least = readers[i].text;
    *more = least != NULL;
    if (!least) return RAG_OK;
    memcpy(text, least, (size_t)least[0] + 1);
    list->count = list->places.count = list->places.total = 0;
    for (size_t i = 0; i < builder->run_count; i++) {
        if (!readers[i].text[0] || compare_text(readers[i].text, text) != 0) continue;
        const enum rag_status status = take_rows(builder, &readers[i], list, fault);
        if (status) return status;
    }
    return is_stop ? write_stop(out, text, &list->places, fault)
                   : write_term(out, text, list->items, &list->places, fault);
}

static enum rag_status open_readers(struct rag_lexical_builder *builder, struct reader *readers,
                                    struct rag_fault *fault) {
    for (size_t i = 0; i < builder->run_count; i++) {
        readers[i].run = builder->runs[i];
        readers[i].window = malloc(RUN_WINDOW);
        if (!readers[i].window) return no_memory(fault);
        const enum rag_status status = read_term(builder, &readers[i], fault);
        if (status) return status;
    }
    return RAG_OK;
}

/* Move each reader from the end of its terms, which it has read, to its stop words. */
static enum rag_status pass_terms(struct rag_lexical_builder *builder, struct reader *readers,
                                  struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    for (size_t i = 0; !status && i < builder->run_count; i++)
        status = read_term(builder, &readers[i], fault);
    return status;
}

static enum rag_status write_merged(struct rag_lexical_builder *builder, const struct outputs *out,
                                    struct rag_fault *fault) {
    struct reader *readers = calloc(builder->run_count, sizeof *readers);
    struct list list = {0};
    bool more = true;
    if (!readers) return no_memory(fault);
    enum rag_status status = open_readers(builder, readers, fault);
    while (!status && more) status = merge_term(builder, readers, &list, out, false, &more, fault);
    if (!status) status = pass_terms(builder, readers, fault);
    for (more = true; !status && more;)
        status = merge_term(builder, readers, &list, out, true, &more, fault);
    for (size_t i = 0; i < builder->run_count; i++) free(readers[i].window);
    free(readers);
    free_list(&list);
    return status;
}

static enum rag_status write_grouped(struct rag_lexical_builder *builder, const struct outputs *out,
                                     struct rag_fault *fault) {
    struct grouped grouped;
    struct rag_places places = {0};
    enum rag_status status = group_run(builder, &grouped) ? RAG_OK : no_memory(fault);
    for (size_t i = 0; !status && i < grouped.count; i++) {
        const struct sorted *one = &grouped.terms[i];
        places.count = places.total = 0;
        status = term_places(&grouped, one->term, &places) ? RAG_OK : no_memory(fault);
        if (!status)
            status = write_term(out, one->text, grouped.postings + grouped.starts[one->term],
                                &places, fault);
    }
    for (size_t i = 0; !status && i < grouped.stop_count; i++) {
        places.count = places.total = 0;
        status = stop_places(&grouped, grouped.stops[i].term, &places) ? RAG_OK : no_memory(fault);
        if (!status) status = write_stop(out, grouped.stops[i].text, &places, fault);
    }
    free_grouped(&grouped);
    rag_places_free(&places);
    return status;
}

static uint64_t total_length(const struct rag_lexical_builder *builder) {
    uint64_t total = 0;
    for (size_t row = 0; row < builder->rows; row++) total += builder->lengths[row];
    return total;
}

enum rag_status rag_lexical_builder_finish(struct rag_lexical_builder *builder,
                                           const uint8_t *config, size_t config_size,
                                           struct rag_sink postings, struct rag_sink terms,
                                           const struct rag_position_sinks *positions,
                                           struct rag_fault *fault) {
    if (config_size > UINT16_MAX)
        return rag_fail(fault, RAG_LIMIT, config_size,
                        "a lexical configuration has at most 65535 bytes");
    enum rag_status status = rag_lexical_builder_commit(builder, fault);
    if (!status && builder->run_count) status = spill_run(builder, fault);
    if (status) return status;
    struct rag_bm25_writer writer = {
        .postings = postings, .lengths = builder->lengths, .rows = builder->rows};
    struct rag_places_writer places = {.words = builder->places, .rows = builder->rows};
    if (positions) places.lists = positions->lists;
    const struct outputs out = {&writer, positions ? &places : NULL};
    writer.norm = rag_bm25_norm_of(builder->k1, builder->b, builder->rows, total_length(builder));
    status = builder->run_count ? write_merged(builder, &out, fault)
                                : write_grouped(builder, &out, fault);
    if (!status)
        status = rag_bm25_writer_finish(&writer, builder->k1, builder->b, config, config_size,
                                        terms, fault);
    if (!status && positions) status = rag_places_writer_finish(&places, positions->front, fault);
    rag_bm25_writer_free(&writer);
    rag_places_writer_free(&places);
    return status;
}
