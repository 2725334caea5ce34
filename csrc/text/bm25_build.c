/* bm25_build.c - rows of text to postings, in bounded memory.
 *
 * A batch records its words as numbers; once the vocabulary has their terms, commit turns them into
 * postings (term, row, tf). When postings and vocabulary approach the memory limit, the builder
 * sorts them by term, spills them as a run and starts empty again. The end merges the runs. They
 * cover ascending ranges of rows, so a term's list concatenates its pieces in run order, and the
 * result does not depend on the cuts between runs.
 *
 * A run is a sequence of: u8 size, term, varint df, then per row varint (row - row before), varint
 * tf. A size of 0 ends it. The caller's functions (struct rag_spill) write and read runs; the core
 * opens no file for them. A builder without a spill reports RAG_MEMORY at the limit.
 *
 * The limit covers postings, words and terms. The lengths of all rows, four bytes each, stay in
 * memory in any case, and so does the finished dictionary (bm25_write.c).
 *
 * A field's weight of 1 to 255 multiplies each occurrence and the field's length. Frequencies and
 * lengths stop at 2^32 - 1 instead of wrapping, and a segment has fewer than 2^32 - 1 rows
 * (RAG_LIMIT). */
#include <stdlib.h>

#include "shared/fail.h"
#include "text/bm25.h"

enum { RUN_WINDOW = 1 << 16, TERM_BYTES_MAX = 1 + LEX_TERM_MAX + LEX_VARINT_MAX };

struct entry {
    uint32_t term, row, tf;
};

struct run {
    uint64_t at, end; /* in the spill */
};

struct rag_lexical_builder {
    double k1, b;
    unsigned rules;
    size_t memory;
    struct rag_spill spill;
    uint64_t spilled;
    struct rag_vocabulary vocabulary;
    uint32_t *words; /* of the batch; a field's words follow a mark */
    size_t word_count, word_capacity;
    struct batch_field {
        size_t first, row;
        uint32_t weight;
    } *fields;
    size_t field_count, field_capacity;
    uint32_t *lengths;
    size_t rows, row_capacity; /* rows ended */
    size_t committed;
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
    const uint32_t id =
        rag_bm25_vocabulary_word(&builder->vocabulary, word->bytes, word->size, word->kind);
    if (id == LEX_NO_STRING) return;
    if (!rag_grow(&builder->words, &builder->word_capacity, builder->word_count + 1,
                  sizeof *builder->words)) {
        builder->vocabulary.failed = true;
        return;
    }
    builder->words[builder->word_count++] = id;
}

enum rag_status rag_lexical_builder_text(struct rag_lexical_builder *builder, const uint8_t *text,
                                         size_t size, uint32_t weight, struct rag_fault *fault) {
    if (weight < 1 || weight > 255)
        return rag_fail(fault, RAG_ARGUMENT, weight,
                        "a field's weight is a whole number of 1 to 255");
    if (!rag_grow(&builder->fields, &builder->field_capacity, builder->field_count + 1,
                  sizeof *builder->fields))
        return no_memory(fault);
    builder->fields[builder->field_count++] =
        (struct batch_field){builder->word_count, builder->rows, weight};
    rag_analyze(text, size, builder->rules, note_word, builder);
    return builder->vocabulary.failed ? no_memory(fault) : RAG_OK;
}

enum rag_status rag_lexical_builder_end_row(struct rag_lexical_builder *builder,
                                            struct rag_fault *fault) {
    /* unreached: takes 2^32 rows */
    if (builder->rows >= LEX_ROWS_MAX - 1)
        return rag_fail(fault, RAG_LIMIT, builder->rows, "a segment has fewer than 2^32 - 1 rows");
    if (!rag_grow(&builder->lengths, &builder->row_capacity, builder->rows + 1,
                  sizeof *builder->lengths))
        return no_memory(fault);
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
           vocabulary->words.memory + vocabulary->terms.memory + vocabulary->terms.count * 24;
}

enum rag_status rag_lexical_builder_commit(struct rag_lexical_builder *builder,
                                           struct rag_fault *fault) {
    if (builder->vocabulary.pending.size)
        return rag_fail(fault, RAG_ARGUMENT, builder->vocabulary.pending.size,
                        "some words have no term yet");
    /* unreached: takes 2^32 postings in memory */
    if (!grow_seen(builder) || builder->entry_count + builder->word_count > UINT32_MAX ||
        !rag_grow(&builder->entries, &builder->entry_capacity,
                  builder->entry_count + builder->word_count, sizeof *builder->entries))
        return no_memory(fault);
    for (size_t i = 0; i < builder->field_count; i++) {
        const struct batch_field *field = &builder->fields[i];
        if (field->row >= builder->rows)
            return rag_fail(fault, RAG_ARGUMENT, field->row, "the last row was not ended");
        const size_t stop = i + 1 < builder->field_count ? field[1].first : builder->word_count;
        uint32_t parts = 0;
        for (size_t word = field->first; word < stop; word++) {
            const uint32_t term = builder->vocabulary.term_of[builder->words[word]];
            if ((term & ~LEX_WHOLE) == LEX_DROPPED) continue;
            parts += !(term & LEX_WHOLE);
            count_term(builder, term & ~LEX_WHOLE, field->row, field->weight);
        }
        const uint64_t length = (uint64_t)parts * field->weight;
        builder->lengths[field->row] = add_capped(
            builder->lengths[field->row], length > UINT32_MAX ? UINT32_MAX : (uint32_t)length);
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

/* The run in memory: terms in order, with their postings side by side. */
struct grouped {
    struct sorted *terms;
    size_t count;
    size_t *starts; /* by term number, one more than there are */
    struct rag_bm25_posting *postings;
};

static void free_grouped(struct grouped *grouped) {
    free(grouped->terms);
    free(grouped->starts);
    free(grouped->postings);
}

/* Group the entries by term, rows ascending as they arrived. Consumes the entries. */
static bool group_entries(struct rag_lexical_builder *builder, struct grouped *grouped) {
    const struct rag_bm25_strings *strings = &builder->vocabulary.terms;
    *grouped = (struct grouped){malloc((strings->count + 1) * sizeof *grouped->terms), 0,
                                calloc(strings->count + 2, sizeof *grouped->starts),
                                malloc((builder->entry_count + 1) * sizeof *grouped->postings)};
    if (!grouped->terms || !grouped->starts || !grouped->postings) return false;
    size_t *next = grouped->starts + 1;
    for (size_t i = 0; i < builder->entry_count; i++) next[builder->entries[i].term + 1]++;
    for (size_t term = 0; term < strings->count; term++) {
        if (next[term + 1]) {
            struct sorted *sorted = &grouped->terms[grouped->count++];
            *sorted = (struct sorted){0, strings->texts[term], (uint32_t)term};
            for (size_t j = 0; j < 8; j++)
                sorted->key = sorted->key << 8 | (j < sorted->text[0] ? sorted->text[j + 1] : 0);
        }
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

/* ------------------------------------------------------------------------------------- spilling */

static void put_run_term(struct rag_bm25_buffer *out, const uint8_t *text,
                         const struct rag_bm25_posting *postings, size_t df) {
    uint8_t bytes[2 * LEX_VARINT_MAX];
    rag_bm25_buffer_put(out, text, (size_t)text[0] + 1);
    rag_bm25_buffer_put(out, bytes, rag_bm25_varint_put(bytes, df));
    for (size_t i = 0; i < df; i++) {
        size_t size = rag_bm25_varint_put(bytes, postings[i].row - (i ? postings[i - 1].row : 0));
        size += rag_bm25_varint_put(bytes + size, postings[i].tf);
        rag_bm25_buffer_put(out, bytes, size);
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
    enum rag_status status = RAG_OK;
    for (size_t i = 0; !status && i < grouped->count; i++) {
        const size_t *start = &grouped->starts[grouped->terms[i].term];
        put_run_term(&out, grouped->terms[i].text, grouped->postings + start[0],
                     start[1] - start[0]);
        if (out.size >= RUN_WINDOW || out.failed) status = flush_run(builder, &out, fault);
    }
    rag_bm25_buffer_put(&out, "", 1);
    if (!status) status = flush_run(builder, &out, fault);
    rag_bm25_buffer_free(&out);
    return status;
}

static enum rag_status spill_run(struct rag_lexical_builder *builder, struct rag_fault *fault) {
    struct grouped grouped;
    const uint64_t at = builder->spilled;
    if (!builder->spill.write)
        return rag_fail(fault, RAG_MEMORY, 0,
                        "the memory limit is reached and there is nowhere to spill");
    enum rag_status status =
        group_entries(builder, &grouped) ? write_run(builder, &grouped, fault) : no_memory(fault);
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

struct list {
    struct rag_bm25_posting *items;
    size_t count, capacity;
};

/* Append the rows of the current term and advance to the next term. */
static enum rag_status take_rows(struct rag_lexical_builder *builder, struct reader *reader,
                                 struct list *list, struct rag_fault *fault) {
    const uint64_t df = read_varint(reader);
    if (df > builder->rows ||
        !rag_grow(&list->items, &list->capacity, list->count + df, sizeof *list->items))
        return no_memory(fault);
    uint32_t row = 0;
    for (uint64_t i = 0; i < df; i++) {
        const enum rag_status status = refill(builder, reader, fault);
        if (status) return status;
        row += (uint32_t)read_varint(reader);
        const uint32_t tf = (uint32_t)read_varint(reader);
        if (row >= builder->rows)
            return rag_fail(fault, RAG_CORRUPT, row, "spilled postings came back changed");
        list->items[list->count++] = (struct rag_bm25_posting){row, tf};
    }
    return read_term(builder, reader, fault);
}

/* Write the least term of all runs and advance the runs that have it; *more is false at the end of
 * all runs. */
static enum rag_status merge_term(struct rag_lexical_builder *builder, struct reader *readers,
                                  struct list *list, struct rag_bm25_writer *writer, bool *more,
                                  struct rag_fault *fault) {
    const uint8_t *least = NULL;
    uint8_t text[LEX_TERM_MAX + 1];
    for (size_t i = 0; i < builder->run_count; i++)
        if (readers[i].text[0] && (!least || compare_text(readers[i].text, least) < 0))
            least = readers[i].text;
    *more = least != NULL;
    if (!least) return RAG_OK;
    memcpy(text, least, (size_t)least[0] + 1);
    list->count = 0;
    for (size_t i = 0; i < builder->run_count; i++) {
        if (!readers[i].text[0] || compare_text(readers[i].text, text) != 0) continue;
        const enum rag_status status = take_rows(builder, &readers[i], list, fault);
        if (status) return status;
    }
    return rag_bm25_writer_term(writer, text + 1, text[0], list->items, list->count, fault);
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

static enum rag_status write_merged(struct rag_lexical_builder *builder,
                                    struct rag_bm25_writer *writer, struct rag_fault *fault) {
    struct reader *readers = calloc(builder->run_count, sizeof *readers);
    struct list list = {0};
    bool more = true;
    if (!readers) return no_memory(fault);
    enum rag_status status = open_readers(builder, readers, fault);
    while (!status && more) status = merge_term(builder, readers, &list, writer, &more, fault);
    for (size_t i = 0; i < builder->run_count; i++) free(readers[i].window);
    free(readers);
    free(list.items);
    return status;
}

static enum rag_status write_grouped(struct rag_lexical_builder *builder,
                                     struct rag_bm25_writer *writer, struct rag_fault *fault) {
    struct grouped grouped;
    enum rag_status status = group_entries(builder, &grouped) ? RAG_OK : no_memory(fault);
    for (size_t i = 0; !status && i < grouped.count; i++) {
        const size_t *start = &grouped.starts[grouped.terms[i].term];
        const uint8_t *text = grouped.terms[i].text;
        status = rag_bm25_writer_term(writer, text + 1, text[0], grouped.postings + start[0],
                                      start[1] - start[0], fault);
    }
    free_grouped(&grouped);
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
                                           struct rag_fault *fault) {
    if (config_size > UINT16_MAX)
        return rag_fail(fault, RAG_LIMIT, config_size,
                        "a lexical configuration has at most 65535 bytes");
    enum rag_status status = rag_lexical_builder_commit(builder, fault);
    if (!status && builder->run_count) status = spill_run(builder, fault);
    if (status) return status;
    struct rag_bm25_writer writer = {
        .postings = postings, .lengths = builder->lengths, .rows = builder->rows};
    writer.norm = rag_bm25_norm_of(builder->k1, builder->b, builder->rows, total_length(builder));
    status = builder->run_count ? write_merged(builder, &writer, fault)
                                : write_grouped(builder, &writer, fault);
    if (!status)
        status = rag_bm25_writer_finish(&writer, builder->k1, builder->b, config, config_size,
                                        terms, fault);
    rag_bm25_writer_free(&writer);
    return status;
}
