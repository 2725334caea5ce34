/* internal.h - what the .c files of the core share and nobody outside needs. */
#ifndef RAG_INTERNAL_H
#define RAG_INTERNAL_H

#include "rag.h"

/* Records a fault and returns its status, so that a check reads: return rag_fail(fault, RAG_FORMAT, at, "..."). */
static inline enum rag_status rag_fail(struct rag_fault *fault, enum rag_status status, uint64_t at, const char *what) {
    if (fault) {
        fault->status = status;
        fault->at = at;
        fault->what = what;
        fault->section[0] = 0;
        fault->os_error = 0;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ cpu --- */

enum {
    RAG_CPU_AVX2 = 1u << 0,       /* AVX2, FMA, BMI2, F16C */
    RAG_CPU_AVX512 = 1u << 1,     /* AVX-512 F, BW, DQ, VL */
    RAG_CPU_AVX512VNNI = 1u << 2, /* + VNNI, VBMI2 */
    RAG_CPU_NEON = 1u << 3,
    RAG_CPU_NEONDOT = 1u << 4, /* + dotprod */
};

/* The features in use: what the machine has, less what rag_init was told to leave out. */
extern unsigned rag_cpu;

#endif
