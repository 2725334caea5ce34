/* floor.h - for files whose kernels exist once for each target: they are built for the floor.
 *
 * The floor is what every machine of the ABI runs: SSE2 on x86-64, NEON on aarch64. Wider code
 * stands in functions with a target attribute, which rag_init calls only where the machine has it.
 * A compiler that is told to use wider instructions everywhere would put them into the baseline
 * too, and the module would die on older machines, long after anybody thinks of the flag. */
#ifndef RAG_FLOOR_H
#define RAG_FLOOR_H

#if defined(__AVX__) || defined(__ARM_FEATURE_SVE)
#error "built with wider instructions than every machine has: leave out -march and -mavx"
#endif

#endif
