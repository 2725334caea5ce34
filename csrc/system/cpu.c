/* cpu.c - detects the instruction sets of this machine once, and selects the target. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "system/cpu.h"
#include "system/system.h"

unsigned rag_cpu;

/* From plainest to widest. Each row includes those above it on its own architecture. */
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
#elif defined(__wasm_simd128__)
    {"simd128", 0},
#endif
};
static const struct target *chosen = &targets[0];

#if defined(__x86_64__)
#include <cpuid.h>

/* The CPUID bits that a target needs, by leaf and register. CPUID is read directly, because not
 * every compiler ships the library of __builtin_cpu_supports. */
enum {
    LEAF_1_ECX_AVX2 = 1u << 12 /* FMA */ | 1u << 23 /* POPCNT */ | 1u << 29 /* F16C */,
    LEAF_1_ECX_XGETBV = 1u << 27,
    LEAF_7_EBX_AVX2 = 1u << 3 /* BMI */ | 1u << 5 /* AVX2 */ | 1u << 8 /* BMI2 */,
    LEAF_7_ECX_VNNI = 1u << 1 /* VBMI */ | 1u << 6 /* VBMI2 */ | 1u << 11 /* VNNI */,
};
#define LEAF_7_EBX_AVX512 \
    (1u << 16 /* F */ | 1u << 17 /* DQ */ | 1u << 30 /* BW */ | 1u << 31 /* VL */)

/* The registers that the operating system saves for each thread: XCR0. */
enum { KEEPS_YMM = 0x6, KEEPS_ZMM = 0xe6 };

static unsigned kept_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
#ifdef __APPLE__
    low |= KEEPS_ZMM; /* macOS reports them only after a thread's first use */
#endif
    return low;
}

static unsigned machine_features(void) {
    unsigned eax, ebx, ecx, edx, wide, narrow;
    /* unreached: another processor */
    if (!__get_cpuid(1, &eax, &ebx, &narrow, &edx) || !(narrow & LEAF_1_ECX_XGETBV)) return 0;
    /* unreached: another processor */
    if (!__get_cpuid_count(7, 0, &eax, &wide, &ecx, &edx)) return 0;
    const unsigned kept = kept_registers();
    unsigned features = 0;
    /* unreached: another processor */
    if ((narrow & LEAF_1_ECX_AVX2) == LEAF_1_ECX_AVX2 &&
        (wide & LEAF_7_EBX_AVX2) == LEAF_7_EBX_AVX2 && (kept & KEEPS_YMM) == KEEPS_YMM)
        features |= RAG_CPU_AVX2;
    /* unreached: another processor */
    if ((features & RAG_CPU_AVX2) && (wide & LEAF_7_EBX_AVX512) == LEAF_7_EBX_AVX512 &&
        (kept & KEEPS_ZMM) == KEEPS_ZMM)
        features |= RAG_CPU_AVX512;
    /* unreached: another processor */
    if ((features & RAG_CPU_AVX512) && (ecx & LEAF_7_ECX_VNNI) == LEAF_7_ECX_VNNI)
        features |= RAG_CPU_AVX512VNNI;
    return features;
}
#elif defined(__aarch64__)
static unsigned machine_features(void) {
    return RAG_CPU_NEON | (rag_has_dotprod() ? RAG_CPU_NEONDOT : 0);
}
#else
static unsigned machine_features(void) { return 0; }
#endif

enum rag_status rag_init(const char *target) {
    const size_t count = sizeof targets / sizeof targets[0];
    const unsigned machine = machine_features();
    const char *name = target ? target : getenv("RAGFILE_TARGET");
    const struct target *best = NULL;
    for (size_t i = 0; i < count; i++)
        if ((targets[i].features & ~machine) == 0 && /* unreached: another processor */
            (!name || !*name || strcmp(targets[i].name, name) == 0))
            best = &targets[i];
    if (!best) return RAG_ARGUMENT;
    chosen = best;
    rag_cpu = best->features;
    return RAG_OK;
}

const char *rag_target(void) { return chosen->name; }
