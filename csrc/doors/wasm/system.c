/* system.c - the system calls of the library, without files and threads: in a web page,
 * WebAssembly threads need shared memory, and that needs headers that most hosts do not send. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "shared/bytes.h"
#include "system/system.h"

void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context) {
    (void)threads;
    for (size_t i = 0; i < count; i++) task(context, i);
}

int rag_cpu_count(void) { return 1; }

void rag_mutex_lock(rag_mutex *mutex) { (void)mutex; }
void rag_mutex_unlock(rag_mutex *mutex) { (void)mutex; }

void *rag_aligned(size_t size) { return aligned_alloc(64, align_up(size, 64)); }
void rag_aligned_free(void *block) { free(block); }
