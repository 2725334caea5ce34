/* array.c - the one function of array.h. The pointer is copied by memcpy, because it can have
 * any type and pointers of different types may not alias. */
#include "shared/array.h"

#include <stdlib.h>
#include <string.h>

bool rag_grow(void *array, size_t *room, size_t count, size_t width) {
    if (count <= *room) return true;
    size_t wanted = *room + *room / 2 + 64, size;
    if (wanted < count) wanted = count;
    /* unreached: fewer items already take more memory than there is */
    if (__builtin_mul_overflow(wanted, width, &size)) return false;
    void *items;
    memcpy(&items, array, sizeof items);
    items = realloc(items, size);
    if (!items) return false;
    memcpy(array, &items, sizeof items);
    *room = wanted;
    return true;
}
