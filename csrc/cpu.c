/* cpu.c - which instruction sets this machine has, asked once, and which of them to use. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

unsigned rag_cpu;

/* From plainest to widest; each row includes those above it on its own architecture. */
static const struct target {
    const char *name;
    unsigned features;
} targets[] = {
    {"baseline", 0},
#if defined(__x86_64__)
    {"avx2", RAG_CPU_AVX2},
    {"avx512", RAG_CPU_AVX2 | RAG_CPU_AVX512},
    {"avx512vnni", RAG_CPU_AVX2 | RAG_CPU_AVX512 | RAG_CPU_AVX512VNNI},
#elif defined(__aarch64__)
    {"neon", RAG_CPU_NEON},
    {"neondot", RAG_CPU_NEON | RAG_CPU_NEONDOT},
#endif
};
static const struct target *chosen = &targets[0];

#if defined(__x86_64__)
static unsigned machine_features(void) {
    unsigned features = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        features |= RAG_CPU_AVX2; /* F16C came a generation before AVX2 */
    if ((features & RAG_CPU_AVX2) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        features |= RAG_CPU_AVX512;
    if ((features & RAG_CPU_AVX512) && __builtin_cpu_supports("avx512vnni") &&
        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi"))
        features |= RAG_CPU_AVX512VNNI;
    return features;
}
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
static unsigned machine_features(void) {
    unsigned long dotprod = 1ul << 20; /* HWCAP_ASIMDDP */
    return RAG_CPU_NEON | (getauxval(AT_HWCAP) & dotprod ? RAG_CPU_NEONDOT : 0);
}
#elif defined(__aarch64__)
static unsigned machine_features(void) {
    return RAG_CPU_NEON | RAG_CPU_NEONDOT;
} /* every Apple machine has both */
#else
static unsigned machine_features(void) { return 0; }
#endif

enum rag_status rag_init(const char *target) {
    const size_t count = sizeof targets / sizeof targets[0];
    const unsigned machine = machine_features();
    const char *name = target ? target : getenv("RAGFILE_TARGET");
    const struct target *best = NULL;
    for (size_t i = 0; i < count; i++)
        if ((targets[i].features & ~machine) == 0 &&
            (!name || !*name || strcmp(targets[i].name, name) == 0))
            best = &targets[i];
    if (!best) return RAG_ARGUMENT;
    chosen = best;
    rag_cpu = best->features;
    return RAG_OK;
}

const char *rag_target(void) { return chosen->name; }
