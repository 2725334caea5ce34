/* cpu.h - CPU features, for the selection of kernels. */
#ifndef RAG_CPU_H
#define RAG_CPU_H

#include "ragfile/status.h"

enum {
    RAG_CPU_AVX2 = 1u << 0,       /* AVX2, FMA, BMI2, F16C */
    RAG_CPU_AVX512 = 1u << 1,     /* AVX-512 F, BW, DQ, VL */
    RAG_CPU_AVX512VNNI = 1u << 2, /* + VNNI, VBMI2 */
    RAG_CPU_NEON = 1u << 3,
    RAG_CPU_NEONDOT = 1u << 4, /* + dotprod */
};

/* The features in use: those of the machine without those that rag_init disabled. */
extern unsigned rag_cpu;

#endif
