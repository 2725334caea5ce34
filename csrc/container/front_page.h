/* front_page.h - names of sections, and the front page with its directory. */
#ifndef RAG_FRONT_PAGE_H
#define RAG_FRONT_PAGE_H

#include "ragfile/container.h"

/* Valid characters in names of sections and strategies, in 0.1.0 and 1.0: [A-Za-z0-9_.+@/] */
static inline bool is_name_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '+' || c == '@' || c == '/';
}

/* [A-Za-z0-9_.+@/]{1,64} */
bool rag_name_valid(const char *name, size_t size);

/* Writes the directory of the front page: as many entries, in file order, as fit. Returns its
 * size. */
size_t rag_front_directory(uint8_t *out, const struct rag_entry *entries, size_t count,
                           uint64_t toc_at, uint64_t footer_at);

/* Writes the complete front page, FRONT_SIZE bytes. */
struct front_page {
    const uint8_t *version; /* major, minor, patch */
    uint64_t write_features, toc_at, toc_size, toc_hash, footer_at, created;
    const struct rag_entry *entries;
    size_t count;
};
void rag_front_page(uint8_t *out, const struct front_page *page);

#endif
