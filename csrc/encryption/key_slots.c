/* key_slots.c - changes the keys of an encrypted file.
 *
 * The page with the older sequence is written first, then the other one, each made durable, so that
 * one whole page is always there. */
#include <string.h>

#include "encryption/layout.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "system/files.h"

static enum rag_status write_pages(struct rag_file *file, const struct rag_crypt_header *header,
                                   bool second_first, struct rag_fault *fault) {
    uint8_t page[RAG_CRYPT_PAGE];
    enum rag_status status = RAG_OK;
    rag_crypt_page_write(header, page);
    for (int i = 0; status == RAG_OK && i < 2; i++) {
        const uint64_t at = (i == 0) == second_first ? RAG_CRYPT_PAGE : 0;
        status = rag_file_write(file, at, page, sizeof page, fault);
        if (status == RAG_OK) status = rag_file_sync(file, fault);
    }
    return status;
}

/* The page that is not in use is written first. */
static enum rag_status replace_pages(struct rag_file *file, const struct rag_map *map,
                                     struct rag_crypt_header *header, struct rag_fault *fault) {
    struct rag_crypt_header old;
    const enum rag_status status = rag_crypt_header_read(map->bytes, map->size, &old, fault);
    if (status != RAG_OK) return status;
    if (memcmp(old.id, header->id, sizeof old.id) != 0 || old.sequence != header->sequence)
        return rag_fail(fault, RAG_ARGUMENT, old.sequence, "the keys of the file were changed");
    header->sequence = old.sequence + 1;
    header->stride = old.stride;
    const bool first_holds = rag_crypt_page_is_whole(map->bytes, map->size) &&
                             load_u64(map->bytes + PAGE_SEQUENCE) == old.sequence;
    return write_pages(file, header, first_holds, fault);
}

enum rag_status rag_crypt_slots_write(const char *path, const struct rag_wait *wait,
                                      struct rag_crypt_header *header, struct rag_fault *fault) {
    struct rag_file *file = NULL;
    struct rag_map map = {0};
    enum rag_status status = rag_file_edit(path, wait, &file, fault);
    if (status == RAG_OK) status = rag_file_map(file, &map, fault);
    if (status == RAG_OK) status = replace_pages(file, &map, header, fault);
    rag_map_close(&map);
    rag_file_discard(file);
    return status;
}
