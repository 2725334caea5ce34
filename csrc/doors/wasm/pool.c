/* pool.c - rag_parallel where there are no threads: WebAssembly in a page, where shared memory
 * would need headers that most hosts do not send. */
#include "ragfile/machine.h"

void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context) {
    (void)threads;
    for (size_t i = 0; i < count; i++) task(context, i);
}

int rag_cpu_count(void) { return 1; }
