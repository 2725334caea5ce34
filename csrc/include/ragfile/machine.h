/* machine.h - kernels for this CPU, worker threads, and the checksum. */
#ifndef RAGFILE_MACHINE_H
#define RAGFILE_MACHINE_H

#include "ragfile/status.h"

/* Selects the kernels for this CPU. Call it once, before any other function. If target is NULL,
 * the environment variable RAGFILE_TARGET is used, which can only restrict the choice:
 * "baseline", "avx2", "avx512", "avx512vnni", "neon", "neondot", "simd128". Returns RAG_ARGUMENT
 * if this build lacks the target or this CPU cannot run it. */
enum rag_status rag_init(const char *target);

/* The target in use, e.g. "avx512vnni". */
const char *rag_target(void);

/* XXH3-64 with seed 0, the checksum of every part of the format. */
uint64_t rag_hash(const void *bytes, size_t size);

/* Runs task(context, i) for i in 0 .. count-1 on up to `threads` threads, including the caller,
 * and returns when all tasks are done. With threads <= 1 or count <= 1, the caller runs them
 * alone. Workers start on first use, are kept for later calls, and are restarted after a fork. */
void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context);

/* The number of CPUs that this process may use: the default number of threads. */
int rag_cpu_count(void);

#endif
