/* trailer_mark.c - the mark that ends a trailer. Its numbers are used only where they fit the
 * file. */
#include <string.h>

#include "ragfile/machine.h"
#include "container/format.h"
#include "parity/trailer.h"
#include "shared/bytes.h"

void rag_trailer_mark(const struct parity *p, uint8_t *mark) {
    memset(mark, 0, MARK_SIZE);
    memcpy(mark, MARK_MAGIC, 8);
    store_u64(mark + MARK_AT, p->at);
    store_u64(mark + MARK_BLOCKS, p->previous);
    store_u64(mark + MARK_HASH, rag_hash(mark, MARK_HASH));
}

uint64_t rag_trailer_place(uint64_t at, uint32_t stride) {
    return TRAILER_FROM + align_up(at - TRAILER_FROM, stride);
}

bool rag_trailer_read(const uint8_t *mark, uint64_t size, uint32_t stride, struct parity *p) {
    if (size < TRAILER_FROM + (uint64_t)stride || rag_trailer_place(size, stride) != size)
        return false;
    if (memcmp(mark, MARK_MAGIC, 8) != 0 || load_u64(mark + MARK_HASH) != rag_hash(mark, MARK_HASH))
        return false;
    p->at = load_u64(mark + MARK_AT);
    p->previous = load_u64(mark + MARK_BLOCKS);
    return p->at < size && p->previous > TRAILER_FROM && p->previous <= p->at &&
           rag_trailer_place(p->previous, stride) == p->at;
}

uint64_t rag_trailer_start(const uint8_t *ending, uint64_t size, uint32_t stride) {
    struct parity found;
    return rag_trailer_read(ending, size, stride, &found) ? found.previous : size;
}
