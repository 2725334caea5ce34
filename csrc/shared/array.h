/* array.h - growing arrays.
 *
 * An array is a pointer, its capacity in items, and the caller's own count. Capacity grows by
 * half, so appending n items copies O(n) items. */
#ifndef RAG_ARRAY_H
#define RAG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Ensures a capacity of `count` items of `width` bytes. `array` points to the caller's pointer,
 * of any type. False if memory runs out or the size overflows; the array is then unchanged. */
bool rag_grow(void *array, size_t *room, size_t count, size_t width);

#endif
