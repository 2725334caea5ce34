/* open_file.c - maps a file of this machine and opens its newest commit.
 *
 * Each small segment has a list of its sections, on a page of its own. The first use of a mapped
 * page takes some 3 us with its release, and a read of the list .7. So the lists are read from the
 * file, which is open anyway. */
#include "ragfile/container.h"
#include "ragfile/files.h"
#include "container/reader.h"
#include "system/system.h"

static bool read_kept(const void *file, uint64_t at, void *bytes, size_t size) {
    return rag_read_at(*(const rag_handle *)file, at, bytes, size);
}

enum rag_status rag_reader_open_file(const char *path, struct rag_map *map,
                                     struct rag_reader **reader, struct rag_fault *fault) {
    rag_handle file;
    const struct rag_reads reads = {read_kept, &file};
    struct rag_fault none;
    *reader = NULL;
    const enum rag_status status = rag_map_and_keep(path, map, &file, fault);
    if (status == RAG_OK) (void)rag_reader_open_read(map->bytes, map->size, &reads, reader, &none);
    rag_map_let_go(file);
    return status;
}
