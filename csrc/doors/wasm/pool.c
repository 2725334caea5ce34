/* pool.c - rag_parallel without threads: in a web page, WebAssembly threads need shared memory, and
 * that needs headers that most hosts do not send. */
#include "ragfile/machine.h"

void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context) {
    (void)threads;
    for (size_t i = 0; i < count; i++) task(context, i);
}

int rag_cpu_count(void) { return 1; }
