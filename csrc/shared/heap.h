/* heap.h - binary heaps in arrays, for files that keep the k best or sort in place.
 *
 * The including file defines, and this header ends,
 *
 *   HEAP_ITEM            the type of an item
 *   HEAP_CONTEXT         the type of the order's context; void * where it needs none
 *   HEAP_ABOVE(c, a, b)  whether item a belongs nearer to the top than b
 *
 * and gets the static functions below. To keep the k best, the worst belongs on top: it is the one
 * to replace. */
#include <stddef.h>

/* Sifts down the item at i, whose subtrees are heaps. */
static inline void heap_down(HEAP_CONTEXT context, HEAP_ITEM *heap, size_t count, size_t i) {
    const HEAP_ITEM item = heap[i];
    (void)context;
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && HEAP_ABOVE(context, heap[child + 1], heap[child])) child++;
        if (!HEAP_ABOVE(context, heap[child], item)) break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

/* Makes a heap of items in any order. */
static inline void heap_make(HEAP_CONTEXT context, HEAP_ITEM *heap, size_t count) {
    for (size_t i = count / 2; i-- > 0;) heap_down(context, heap, count, i);
}

/* Adds item, or puts it in the place of the top where k are there and it belongs below the top.
 * Returns how many there are now. */
static inline size_t heap_offer(HEAP_CONTEXT context, HEAP_ITEM *heap, size_t count, size_t k,
                                HEAP_ITEM item) {
    if (count < k) {
        size_t i = count;
        for (size_t up; i > 0 && HEAP_ABOVE(context, item, heap[up = (i - 1) / 2]); i = up)
            heap[i] = heap[up];
        heap[i] = item;
        return count + 1;
    }
    if (k > 0 && HEAP_ABOVE(context, heap[0], item)) {
        heap[0] = item;
        heap_down(context, heap, count, 0);
    }
    return count;
}

/* Sorts a heap: the top comes last. */
static inline void heap_sort(HEAP_CONTEXT context, HEAP_ITEM *heap, size_t count) {
    for (size_t last = count; last-- > 1;) {
        const HEAP_ITEM top = heap[0];
        heap[0] = heap[last];
        heap_down(context, heap, last, 0);
        heap[last] = top;
    }
}

#undef HEAP_ITEM
#undef HEAP_CONTEXT
#undef HEAP_ABOVE
