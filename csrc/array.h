/* array.h - arrays that grow, one item or many at a time.
 *
 * An array is a pointer, the number of items that it has room for, and the caller's own count. Room
 * grows by half, so that appending n items copies at most a few n. */
#ifndef RAG_ARRAY_H
#define RAG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for count items of width bytes. array points to the caller's pointer, of any type.
 * False without memory, or where the size does not fit; the array is as it was then. */
bool rag_grow(void *array, size_t *room, size_t count, size_t width);

#endif
