/* example.c - prints the passages of a file that best match a word: example FILE WORD
 *
 * The word is a term as the file stores it: lower case, and stemmed if the file's analyzer stems.
 * Only the first segment is searched, which is all of a file that was never edited. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"

static struct rag_fault fault;

static void must(enum rag_status status) {
    if (status == RAG_OK) return;
    fprintf(stderr, "%s (status %d)\n", fault.what ? fault.what : "failed", status);
    exit(1);
}

static struct rag_guard section(struct rag_reader *file, const char *name) {
    struct rag_guard guard = {0};
    const int64_t number = rag_reader_find(file, name, 1);
    if (number >= 0) must(rag_reader_guard(file, (uint32_t)number, &guard, &fault));
    return guard;
}

int main(int count, char **arguments) {
    enum { K = 3 };
    struct rag_map map;
    struct rag_reader *file;
    struct rag_lexicon *lexicon;
    struct rag_lexicon_info info;

    if (count != 3) return 2;
    must(rag_init(NULL));
    must(rag_map_open(arguments[1], &map, &fault));
    must(rag_reader_open(map.bytes, map.size, 0, &file, &fault));
    const struct rag_guard terms = section(file, "rag.terms"),
                           postings = section(file, "rag.postings");
    struct rag_records records = {section(file, "rag.chunks"), section(file, "rag.documents"),
                                  section(file, "rag.ids"), 0, 0};
    must(rag_records_open(&records, &fault));
    must(rag_lexicon_open(&terms, &postings, &lexicon, &fault));
    rag_lexicon_info(lexicon, &info);

    const struct rag_query_term word = {(const uint8_t *)arguments[2],
                                        (uint32_t)strlen(arguments[2]), RAG_SHARE, 0, NULL};
    const struct rag_lexical_stats stats = {info.rows, info.total_length, info.k1, info.b, NULL, 0};
    int64_t rows[K];
    float scores[K];
    must(rag_lexicon_search(lexicon, &word, 1, &stats, NULL, K, rows, scores, &fault));
    for (int i = 0; i < K && rows[i] >= 0; i++) {
        struct rag_chunk chunk;
        struct rag_document document;
        must(rag_records_chunk(&records, (uint64_t)rows[i], &chunk, &fault));
        must(rag_records_document(&records, chunk.document, &document, &fault));
        printf("%.*s %u %.9g\n", (int)document.id_size, document.id, chunk.index, scores[i]);
    }
    rag_lexicon_close(lexicon);
    rag_reader_close(file);
    rag_map_close(&map);
    return 0;
}
