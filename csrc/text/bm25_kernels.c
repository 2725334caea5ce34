/* bm25_kernels.c - the window scan of bm25_kernel.h per target, and the dispatch.
 *
 * bm25_kernel.h has the scan; this file includes it once per target. A target defines the three
 * operations that compilers vectorise badly:
 *
 *    ABOVE      how 64 sums are compared with the threshold: one bit for each sum above it
 *    SHARES     how codes become shares, (code * weight) >> 8; compilers multiply 32 bits where the
 *               upper half of a 16-bit product is enough
 *    SUM_GROUP  how the codes of a dense container are added to the 64 rows of a group; they are
 *               packed, one for each bit that is set, and must be spread: bit by bit at the
 *               baseline, with pdep on AVX2, with one expand on AVX-512 VBMI2
 *
 * The baseline is SSE2, NEON or plain C. rag_bm25_scan_window returns the widest copy that this
 * machine has and RAGFILE_TARGET allows. All sums are whole numbers that cannot wrap, so every
 * target finds the same candidates, and a new one changes nothing but speed.
 *
 * The kernels trust the bounds of containers, which are checked when a list is opened, and no
 * number inside them. A corrupt rank reaches the end of the container at most, and 64 bytes are
 * readable after that: the sections end in LEX_SLACK zeros. */
#include "shared/abi_floor.h"
#include "system/cpu.h"
#include "text/bm25_search.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

/* Return the start of a group's codes. A hostile rank is clamped to the container's end, and 64
 * bytes are readable from there. */
static inline const uint8_t *group_codes(const struct rag_bm25_dense *dense, uint32_t group) {
    const uint32_t rank = load_u16(dense->ranks + 2 * (size_t)group);
    return dense->codes + (rank < dense->count ? rank : dense->count);
}

/* ------------------------------------------------------------------------ baseline: any machine */

static inline void sum_group_plain(uint16_t *out, const uint16_t *sums,
                                   const struct rag_bm25_scan *scan, uint32_t group) {
    memcpy(out, sums, LEX_GROUP * sizeof *out);
    for (size_t t = 0; t < scan->dense_count; t++) {
        const struct rag_bm25_dense *dense = &scan->dense[t];
        const uint8_t *code = group_codes(dense, group);
        for (uint64_t bits = load_u64(dense->bits + 8 * (size_t)group); bits; bits &= bits - 1) {
            uint16_t *sum = &out[__builtin_ctzll(bits)];
            *sum = (uint16_t)(*sum + (*code++ * dense->weight >> 8));
        }
    }
}

static inline void shares_plain(uint16_t *out, const uint8_t *codes, size_t count,
                                uint16_t weight) {
    for (size_t i = 0; i < count; i++) out[i] = (uint16_t)((uint32_t)codes[i] * weight >> 8);
}

#if defined(__x86_64__)
#include <immintrin.h>

static inline uint64_t above_sse2(const uint16_t *sums, uint32_t threshold) {
    const __m128i limit = _mm_set1_epi16((short)threshold), zero = _mm_setzero_si128();
    uint64_t rows = 0;
    for (size_t i = 0; i < LEX_GROUP; i += 16) {
        const __m128i low = _mm_subs_epu16(_mm_loadu_si128((const __m128i *)(sums + i)), limit);
        const __m128i high =
            _mm_subs_epu16(_mm_loadu_si128((const __m128i *)(sums + i + 8)), limit);
        const __m128i none =
            _mm_packs_epi16(_mm_cmpeq_epi16(low, zero), _mm_cmpeq_epi16(high, zero));
        rows |= (uint64_t)(uint16_t)~_mm_movemask_epi8(none) << i;
    }
    return rows;
}
#define ABOVE above_sse2
#elif defined(__aarch64__)
#include <arm_neon.h>

static inline uint64_t above_neon(const uint16_t *sums, uint32_t threshold) {
    const uint16x8_t limit = vdupq_n_u16((uint16_t)threshold);
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint64_t rows = 0;
    for (size_t i = 0; i < LEX_GROUP; i += 16) {
        const uint8x8_t low = vmovn_u16(vcgtq_u16(vld1q_u16(sums + i), limit));
        const uint8x8_t high = vmovn_u16(vcgtq_u16(vld1q_u16(sums + i + 8), limit));
        const uint8x16_t some = vandq_u8(vcombine_u8(low, high), weights);
        rows |=
            (uint64_t)(vaddv_u8(vget_low_u8(some)) | (uint32_t)vaddv_u8(vget_high_u8(some)) << 8)
            << i;
    }
    return rows;
}
#define ABOVE above_neon
#else
static inline uint64_t above_plain(const uint16_t *sums, uint32_t threshold) {
    uint64_t rows = 0;
    for (size_t i = 0; i < LEX_GROUP; i++) rows |= (uint64_t)(sums[i] > threshold) << i;
    return rows;
}

#define ABOVE above_plain
#endif
#define SUM_GROUP sum_group_plain
#define SHARES shares_plain
#define TARGET(name) JOIN(name, baseline)
#define TARGET_CODE
#include "text/bm25_kernel.h"
#undef ABOVE
#undef SUM_GROUP
#undef SHARES
#undef TARGET
#undef TARGET_CODE

#if defined(__x86_64__)

/* ------------------------------------------------------------------- AVX2: bytes spread by pdep */

#define TARGET_CODE __attribute__((target("avx2,bmi,bmi2,popcnt")))

static inline TARGET_CODE uint64_t above_avx2(const uint16_t *sums, uint32_t threshold) {
    const __m256i limit = _mm256_set1_epi16((short)threshold), zero = _mm256_setzero_si256();
    uint64_t rows = 0;
    for (size_t i = 0; i < LEX_GROUP; i += 32) {
        const __m256i low =
            _mm256_subs_epu16(_mm256_loadu_si256((const __m256i *)(sums + i)), limit);
        const __m256i high =
            _mm256_subs_epu16(_mm256_loadu_si256((const __m256i *)(sums + i + 16)), limit);
        const __m256i none =
            _mm256_packs_epi16(_mm256_cmpeq_epi16(low, zero), _mm256_cmpeq_epi16(high, zero));
        rows |= (uint64_t)~(uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(none, 0xD8))
                << i;
    }
    return rows;
}

/* Eight rows per step: their bits become a byte mask, and pdep spreads the packed codes under
 * it. */
static inline TARGET_CODE void add_dense_avx2(uint16_t *out, const struct rag_bm25_dense *dense,
                                              uint32_t group) {
    const uint8_t *code = group_codes(dense, group);
    const __m128i weight = _mm_set1_epi16((short)dense->weight);
    uint64_t bits = load_u64(dense->bits + 8 * (size_t)group);
    for (uint16_t *sums = out; bits; bits >>= 8, sums += 8) {
        const uint64_t mask = _pdep_u64(bits & 0xFF, 0x0101010101010101) * 0xFF;
        const __m128i codes = _mm_cvtsi64_si128((long long)_pdep_u64(load_u64(code), mask));
        const __m128i share =
            _mm_mulhi_epu16(_mm_unpacklo_epi8(_mm_setzero_si128(), codes), weight);
        _mm_storeu_si128((__m128i *)sums,
                         _mm_add_epi16(_mm_loadu_si128((const __m128i *)sums), share));
        code += __builtin_popcountll(bits & 0xFF);
    }
}

static inline TARGET_CODE void sum_group_avx2(uint16_t *out, const uint16_t *sums,
                                              const struct rag_bm25_scan *scan, uint32_t group) {
    memcpy(out, sums, LEX_GROUP * sizeof *out);
    for (size_t t = 0; t < scan->dense_count; t++) add_dense_avx2(out, &scan->dense[t], group);
}

static inline TARGET_CODE void shares_avx2(uint16_t *out, const uint8_t *codes, size_t count,
                                           uint16_t weight) {
    const __m256i weights = _mm256_set1_epi16((short)weight);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(codes + i)));
        _mm256_storeu_si256((__m256i *)(out + i),
                            _mm256_mulhi_epu16(_mm256_slli_epi16(wide, 8), weights));
    }
    shares_plain(out + i, codes + i, count - i, weight);
}

#define ABOVE above_avx2
#define SUM_GROUP sum_group_avx2
#define SHARES shares_avx2
#define TARGET(name) JOIN(name, avx2)
#include "text/bm25_kernel.h"
#undef ABOVE
#undef SUM_GROUP
#undef SHARES
#undef TARGET
#undef TARGET_CODE

/* -------------------------------------------------- AVX-512 with VBMI2: 64 codes spread at once */

#define TARGET_CODE \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,avx2,bmi,bmi2,popcnt")))

static inline TARGET_CODE uint64_t above_avx512vnni(const uint16_t *sums, uint32_t threshold) {
    const __m512i limit = _mm512_set1_epi16((short)threshold);
    const uint64_t low = _mm512_cmpgt_epu16_mask(_mm512_loadu_si512(sums), limit);
    return low | (uint64_t)_mm512_cmpgt_epu16_mask(_mm512_loadu_si512(sums + 32), limit) << 32;
}

static inline TARGET_CODE void sum_group_avx512vnni(uint16_t *out, const uint16_t *sums,
                                                    const struct rag_bm25_scan *scan,
                                                    uint32_t group) {
    __m512i low = _mm512_loadu_si512(sums), high = _mm512_loadu_si512(sums + 32);
    for (size_t t = 0; t < scan->dense_count; t++) {
        const struct rag_bm25_dense *dense = &scan->dense[t];
        const __mmask64 bits = load_u64(dense->bits + 8 * (size_t)group);
        const __m512i codes =
            _mm512_maskz_expand_epi8(bits, _mm512_loadu_si512(group_codes(dense, group)));
        const __m512i weight = _mm512_set1_epi16((short)dense->weight);
        const __m512i first =
            _mm512_slli_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(codes)), 8);
        const __m512i second =
            _mm512_slli_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(codes, 1)), 8);
        low = _mm512_add_epi16(low, _mm512_mulhi_epu16(first, weight));
        high = _mm512_add_epi16(high, _mm512_mulhi_epu16(second, weight));
    }
    _mm512_storeu_si512(out, low);
    _mm512_storeu_si512(out + 32, high);
}

static inline TARGET_CODE void shares_avx512vnni(uint16_t *out, const uint8_t *codes, size_t count,
                                                 uint16_t weight) {
    const __mmask64 some = count < 64 ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
    const __m512i weights = _mm512_set1_epi16((short)weight),
                  packed = _mm512_maskz_loadu_epi8(some, codes);
    const __m512i low = _mm512_slli_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed)), 8);
    const __m512i high =
        _mm512_slli_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(packed, 1)), 8);
    _mm512_storeu_si512(out, _mm512_mulhi_epu16(low, weights));
    _mm512_storeu_si512(out + 32, _mm512_mulhi_epu16(high, weights));
}

#define ABOVE above_avx512vnni
#define SUM_GROUP sum_group_avx512vnni
#define SHARES shares_avx512vnni
#define TARGET(name) JOIN(name, avx512vnni)
#include "text/bm25_kernel.h"
#undef ABOVE
#undef SUM_GROUP
#undef SHARES
#undef TARGET
#undef TARGET_CODE

#endif

rag_bm25_scan_function *rag_bm25_scan_window(void) {
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX512VNNI) return scan_window_avx512vnni;
    if (rag_cpu & RAG_CPU_AVX2) return scan_window_avx2;
#endif
    return scan_window_baseline;
}

rag_bm25_scan_function *rag_bm25_scan_weights(void) {
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX512VNNI) return scan_weights_avx512vnni;
    if (rag_cpu & RAG_CPU_AVX2) return scan_weights_avx2;
#endif
    return scan_weights_baseline;
}
