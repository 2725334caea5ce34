/* abi_floor.h - checks that a file with kernels is compiled for the floor of its ABI.
 *
 * The floor is the instruction set that every machine of the ABI has: SSE2 on x86-64, NEON on
 * aarch64. Wider code is in functions with a target attribute, which are called only if the CPU
 * supports it. With a flag such as -mavx2, the compiler would use wider instructions in the
 * baseline, too, and the program would crash on older machines. */
#ifndef RAG_ABI_FLOOR_H
#define RAG_ABI_FLOOR_H

#if defined(__AVX__) || defined(__ARM_FEATURE_SVE)
#error "built with wider instructions than every machine has: leave out -march and -mavx"
#endif

#endif
