/* dot.c - the targets of the vector kernels, and the table that picks one.
 *
 * The kernels are written once, in dot_kernel.h, on gcc's plain vector types. For each target this
 * file has a paragraph with the definitions that dot_kernel.h lists, and then includes it. A
 * paragraph names instructions only where compilers do not find them from plain vector code: byte
 * products, half floats and masks.
 *
 * Baseline is the floor of the ABI: SSE2 on x86-64, NEON on aarch64, and on WebAssembly simd128,
 * which is all that a browser has. The wider targets stand in functions with a target attribute,
 * so the file is compiled without -m flags (abi_floor.h). rag_kernels returns the table of the
 * widest target that rag_init left in rag_cpu.
 *
 * A new target is a paragraph here, a row in cpu.c, and a line in rag_kernels. kernels.h lists the
 * results that must be the same on every target, to the bit; others differ within their slack. */
#include <string.h>

#include "shared/bytes.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"
#include "vectors/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#else
#error "ragfile's vector kernels know x86-64, aarch64 and WebAssembly with simd128"
#endif

/* Converts any binary16: a multiplication adjusts the exponent, which handles subnormals, too. */
static inline float half_to_float(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = (uint32_t)(half & 0x7fff) << 13;
    float magnitude;
    memcpy(&magnitude, &rest, sizeof magnitude);
    magnitude *= 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    if (rest >= 0x0f800000) bits |= 0x7f800000;
    bits |= sign;
    memcpy(&magnitude, &bits, sizeof magnitude);
    return magnitude;
}

static const int32_t lane_bits[16] = {1,       1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                      1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                      1 << 12, 1 << 13, 1 << 14, 1 << 15};

/* How far ahead of a sweep, and of a tile, loads are started. */
enum { PREFETCH = 8192, TILE_AHEAD = 4096 };

enum { ANY_PAIR = 255, MADDUBS_PAIR = 128 }; /* codes go up to 127; 255 * 128 fits into int16 */

typedef float four_floats __attribute__((vector_size(16)));
typedef float eight_floats __attribute__((vector_size(32)));
typedef int32_t four_ints __attribute__((vector_size(16)));
typedef int32_t eight_ints __attribute__((vector_size(32)));
typedef double two_doubles __attribute__((vector_size(16)));
typedef double four_doubles __attribute__((vector_size(32)));

/* The sum of a vector's halves, in registers; a loop over an array of its elements would go
 * through memory. */
#define FOLD(whole, half, v) \
    (((const union {         \
         whole all;          \
         half part[2];       \
     }){v})                  \
         .part[0] +          \
     ((const union {         \
         whole all;          \
         half part[2];       \
     }){v})                  \
         .part[1])

static inline four_floats four_halves(const uint8_t *at) {
    return (four_floats){half_to_float(load_u16(at)), half_to_float(load_u16(at + 2)),
                         half_to_float(load_u16(at + 4)), half_to_float(load_u16(at + 6))};
}

#if defined(__x86_64__)
/* ------------------------------------------------------------------------------------- baseline */
/* SSE2 multiplies only words, so even and odd bytes are multiplied separately and added in the
 * sum of four. */
static inline __m128i dot4_baseline(__m128i sum, __m128i x, __m128i q) {
    const __m128i even = _mm_madd_epi16(_mm_and_si128(x, _mm_set1_epi16(255)),
                                        _mm_srai_epi16(_mm_slli_epi16(q, 8), 8));
    const __m128i odd = _mm_madd_epi16(_mm_srli_epi16(x, 8), _mm_srai_epi16(q, 8));
    return _mm_add_epi32(sum, _mm_add_epi32(even, odd));
}

static inline __m128i bytes_baseline(const uint8_t *at) {
    const __m128i zero = _mm_setzero_si128(),
                  words = _mm_unpacklo_epi8(_mm_cvtsi32_si128((int)load_u32(at)), zero);
    return _mm_unpacklo_epi16(words, zero);
}

#define NAME(x) x##_baseline
#define KERNEL static
#define WIDTH 4
#define FMADD(a, b, c) ((a) * (b) + (c))
#define FMADD64(a, b, c) ((a) * (b) + (c))
#define MASK_GE(a, b) ((unsigned)_mm_movemask_ps(_mm_cmpge_ps((__m128)(a), (__m128)(b))))
#define HALF(p) four_halves(p)
#define BYTES(p) ((vi)bytes_baseline(p))
#define FLIP(x) (x)
#define CODE_BIAS 128
#define DOT4(s, x, q) ((vi)dot4_baseline((__m128i)(s), (__m128i)(x), (__m128i)(q)))
#define DOT4N(s, x, q) DOT4(s, x, q)
#define MADD16(s, x, y) \
    ((vi)_mm_add_epi32((__m128i)(s), _mm_madd_epi16((__m128i)(x), (__m128i)(y))))
#define HIGH_NIBBLES(x) ((vb)((vs)(x) >> 4) & mask)
#define HIGH_SHIFT 0
#define PAIR_MOST ANY_PAIR
#include "vectors/dot_kernel.h"

/* ----------------------------------------------------------------------------------------- avx2 */
#define AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt")))

AVX2 static inline __m256i dot4_avx2(__m256i sum, __m256i x, __m256i q) {
    const __m256i even = _mm256_madd_epi16(_mm256_and_si256(x, _mm256_set1_epi16(255)),
                                           _mm256_srai_epi16(_mm256_slli_epi16(q, 8), 8));
    const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(x, 8), _mm256_srai_epi16(q, 8));
    return _mm256_add_epi32(sum, _mm256_add_epi32(even, odd));
}

/* Nibbles cannot saturate the words of maddubs. */
AVX2 static inline __m256i dot4n_avx2(__m256i sum, __m256i x, __m256i q) {
    return _mm256_add_epi32(sum,
                            _mm256_madd_epi16(_mm256_maddubs_epi16(x, q), _mm256_set1_epi16(1)));
}

#define NAME(x) x##_avx2
#define KERNEL AVX2 static
#define WIDTH 8
#define FMADD(a, b, c) ((vf)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FMADD64(a, b, c) ((vd)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define MASK_GE(a, b) \
    ((unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_GE_OQ)))
#define HALF(p) ((vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p))))
#define BYTES(p) ((vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p))))
#define FLIP(x) (x)
#define CODE_BIAS 128
#define DOT4(s, x, q) ((vi)dot4_avx2((__m256i)(s), (__m256i)(x), (__m256i)(q)))
#define DOT4N(s, x, q) ((vi)dot4n_avx2((__m256i)(s), (__m256i)(x), (__m256i)(q)))
#define MADD16(s, x, y) \
    ((vi)_mm256_add_epi32((__m256i)(s), _mm256_madd_epi16((__m256i)(x), (__m256i)(y))))
#define HIGH_NIBBLES(x) ((vb)((vs)(x) >> 4) & mask)
#define HIGH_SHIFT 0
#define TILE_DOT(s, x, q) DOT4N(s, x, q)
#define HALF_DOT(s, x, q) DOT4N(s, x, q)
#define TILE_ABREAST 2
#define PAIR_MOST MADDUBS_PAIR
#include "vectors/dot_kernel.h"

/* --------------------------------------------------------------------------------------- avx512 */
#define AVX512 \
    __attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")))

AVX512 static inline __m512i dot4_avx512(__m512i sum, __m512i x, __m512i q) {
    const __m512i even = _mm512_madd_epi16(_mm512_and_si512(x, _mm512_set1_epi16(255)),
                                           _mm512_srai_epi16(_mm512_slli_epi16(q, 8), 8));
    const __m512i odd = _mm512_madd_epi16(_mm512_srli_epi16(x, 8), _mm512_srai_epi16(q, 8));
    return _mm512_add_epi32(sum, _mm512_add_epi32(even, odd));
}

AVX512 static inline __m512i dot4n_avx512(__m512i sum, __m512i x, __m512i q) {
    return _mm512_add_epi32(sum,
                            _mm512_madd_epi16(_mm512_maddubs_epi16(x, q), _mm512_set1_epi16(1)));
}

/* The sums of the lanes of four and four pairs of vectors, by turns: halves first, as sum_lanes. */
AVX512 static inline __m512d halves_avx512(__m512d x, __m512d y) {
    return _mm512_add_pd(_mm512_shuffle_f64x2(x, y, 0x44), _mm512_shuffle_f64x2(x, y, 0xee));
}

AVX512 static inline __m512d quarters_avx512(__m512d x, __m512d y) {
    return _mm512_add_pd(_mm512_shuffle_f64x2(x, y, 0x88), _mm512_shuffle_f64x2(x, y, 0xdd));
}

AVX512 static inline __m512d four_sums_avx512(const __m512d *a, const __m512d *b, const __m512d *c,
                                              const __m512d *d) {
    return quarters_avx512(halves_avx512(_mm512_add_pd(a[0], a[1]), _mm512_add_pd(b[0], b[1])),
                           halves_avx512(_mm512_add_pd(c[0], c[1]), _mm512_add_pd(d[0], d[1])));
}

AVX512 static inline void eight_sums_avx512(const __m512d *a, const __m512d *b, const __m512d *c,
                                            const __m512d *d, const __m512d *e, const __m512d *f,
                                            const __m512d *g, const __m512d *h, double *sums) {
    const __m512d x = four_sums_avx512(a, b, c, d), y = four_sums_avx512(e, f, g, h);
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_unpacklo_pd(x, y), _mm512_unpackhi_pd(x, y)));
}

#define NAME(x) x##_avx512
#define KERNEL AVX512 static
#define WIDTH 16
#define FMADD(a, b, c) ((vf)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FMADD64(a, b, c) ((vd)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define EIGHT_SUMS(a, b, c, d, e, f, g, h, sums)                                        \
    eight_sums_avx512((const __m512d *)(a), (const __m512d *)(b), (const __m512d *)(c), \
                      (const __m512d *)(d), (const __m512d *)(e), (const __m512d *)(f), \
                      (const __m512d *)(g), (const __m512d *)(h), sums)
#define MASK_GE(a, b) ((unsigned)_mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_GE_OQ))
#define HALF(p) ((vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p))))
#define BYTES(p) ((vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))))
#define FLIP(x) (x)
#define CODE_BIAS 128
#define DOT4(s, x, q) ((vi)dot4_avx512((__m512i)(s), (__m512i)(x), (__m512i)(q)))
#define DOT4N(s, x, q) ((vi)dot4n_avx512((__m512i)(s), (__m512i)(x), (__m512i)(q)))
#define MADD16(s, x, y) \
    ((vi)_mm512_add_epi32((__m512i)(s), _mm512_madd_epi16((__m512i)(x), (__m512i)(y))))
#define HIGH_NIBBLES(x) ((vb)((vs)(x) >> 4) & mask)
#define HIGH_SHIFT 0
#define TILE_DOT(s, x, q) DOT4N(s, x, q)
#define HALF_DOT(s, x, q) ((eight_ints)dot4n_avx2((__m256i)(s), (__m256i)(x), (__m256i)(q)))
#define TILE_ABREAST 4
#define PAIR_MOST MADDUBS_PAIR
#include "vectors/dot_kernel.h"

/* ----------------------------------------------------------------------------------- avx512vnni */
#define VNNI        \
    __attribute__(( \
        target("avx2,fma,f16c,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

#define NAME(x) x##_avx512vnni
#define KERNEL VNNI static
#define WIDTH 16
#define FMADD(a, b, c) ((vf)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FMADD64(a, b, c) ((vd)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define EIGHT_SUMS(a, b, c, d, e, f, g, h, sums)                                        \
    eight_sums_avx512((const __m512d *)(a), (const __m512d *)(b), (const __m512d *)(c), \
                      (const __m512d *)(d), (const __m512d *)(e), (const __m512d *)(f), \
                      (const __m512d *)(g), (const __m512d *)(h), sums)
#define MASK_GE(a, b) ((unsigned)_mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_GE_OQ))
#define HALF(p) ((vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p))))
#define BYTES(p) ((vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))))
#define FLIP(x) (x)
#define CODE_BIAS 128
#define DOT4(s, x, q) ((vi)_mm512_dpbusd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(q)))
#define DOT4N(s, x, q) DOT4(s, x, q)
#define MADD16(s, x, y) ((vi)_mm512_dpwssd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(y)))
#define HIGH_NIBBLES(x) ((x) & ~mask)
#define HIGH_SHIFT 4
#define TILE_DOT(s, x, q) DOT4(s, x, q)
#define HALF_DOT(s, x, q) \
    ((eight_ints)_mm256_dpbusd_epi32((__m256i)(s), (__m256i)(x), (__m256i)(q)))
#define TILE_ABREAST 4
#define PAIR_MOST ANY_PAIR
#include "vectors/dot_kernel.h"

#elif defined(__wasm_simd128__)
/* -------------------------------------------------------------------------------------- simd128 */
/* Like SSE2: only words are multiplied, so even and odd bytes are separate. */
static inline v128_t dot4_simd128(v128_t sum, v128_t x, v128_t q) {
    const v128_t even = wasm_i32x4_dot_i16x8(wasm_v128_and(x, wasm_i16x8_splat(255)),
                                             wasm_i16x8_shr(wasm_i16x8_shl(q, 8), 8));
    const v128_t odd = wasm_i32x4_dot_i16x8(wasm_u16x8_shr(x, 8), wasm_i16x8_shr(q, 8));
    return wasm_i32x4_add(sum, wasm_i32x4_add(even, odd));
}

#define NAME(x) x##_simd128
#define KERNEL static
#define WIDTH 4
#define FMADD(a, b, c) ((a) * (b) + (c))
#define FMADD64(a, b, c) ((a) * (b) + (c))
#define MASK_GE(a, b) ((unsigned)wasm_i32x4_bitmask(wasm_f32x4_ge((v128_t)(a), (v128_t)(b))))
#define HALF(p) four_halves(p)
#define BYTES(p) \
    ((vi)wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p))))
#define FLIP(x) (x)
#define CODE_BIAS 128
#define DOT4(s, x, q) ((vi)dot4_simd128((v128_t)(s), (v128_t)(x), (v128_t)(q)))
#define DOT4N(s, x, q) DOT4(s, x, q)
#define MADD16(s, x, y) \
    ((vi)wasm_i32x4_add((v128_t)(s), wasm_i32x4_dot_i16x8((v128_t)(x), (v128_t)(y))))
#define HIGH_NIBBLES(x) ((vb)((vs)(x) >> 4) & mask)
#define HIGH_SHIFT 0
#define PAIR_MOST ANY_PAIR
#include "vectors/dot_kernel.h"

#else
/* ----------------------------------------------------------------------------------------- neon */
static inline unsigned mask_ge_neon(four_floats a, four_floats b) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgeq_f32((float32x4_t)a, (float32x4_t)b), bits));
}

static inline int32x4_t dot4_neon(int32x4_t sum, int8x16_t x, int8x16_t q) {
    const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(q)), high = vmull_high_s8(x, q);
    return vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
}

static inline int32x4_t madd16_neon(int32x4_t sum, int16x8_t x, int16x8_t y) {
    return vaddq_s32(sum,
                     vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y)));
}

static inline int32x4_t bytes_neon(const uint8_t *at) {
    const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(load_u32(at)));
    return (int32x4_t)vmovl_u16(vget_low_u16(vmovl_u8(bytes)));
}

#define NAME(x) x##_neon
#define KERNEL static
#define WIDTH 4
#define FMADD(a, b, c) ((vf)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define FMADD64(a, b, c) ((vd)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define MASK_GE(a, b) mask_ge_neon(a, b)
#define HALF(p) ((vf)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))))
#define BYTES(p) bytes_neon(p)
#define FLIP(x) ((x) ^ 128)
#define CODE_BIAS 0
#define DOT4(s, x, q) ((vi)dot4_neon((int32x4_t)(s), (int8x16_t)(x), (int8x16_t)(q)))
#define DOT4N(s, x, q) DOT4(s, x, q)
#define MADD16(s, x, y) ((vi)madd16_neon((int32x4_t)(s), (int16x8_t)(x), (int16x8_t)(y)))
#define HIGH_NIBBLES(x) ((vb)((vs)(x) >> 4) & mask)
#define HIGH_SHIFT 0
#define TILE_DOT(s, x, q) DOT4(s, x, q)
#define TILE_ABREAST 4
#define PAIR_MOST ANY_PAIR
#include "vectors/dot_kernel.h"

/* -------------------------------------------------------------------------------------- neondot */
#define NEONDOT __attribute__((target("arch=armv8.2-a+dotprod")))
#define NAME(x) x##_neondot
#define KERNEL NEONDOT static
#define WIDTH 4
#define FMADD(a, b, c) ((vf)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define FMADD64(a, b, c) ((vd)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define MASK_GE(a, b) mask_ge_neon(a, b)
#define HALF(p) ((vf)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))))
#define BYTES(p) bytes_neon(p)
#define FLIP(x) ((x) ^ 128)
#define CODE_BIAS 0
#define DOT4(s, x, q) ((vi)vdotq_s32((int32x4_t)(s), (int8x16_t)(x), (int8x16_t)(q)))
#define DOT4N(s, x, q) DOT4(s, x, q)
#define MADD16(s, x, y) ((vi)madd16_neon((int32x4_t)(s), (int16x8_t)(x), (int16x8_t)(y)))
#define HIGH_NIBBLES(x) ((vb)((vs)(x) >> 4) & mask)
#define HIGH_SHIFT 0
#define TILE_DOT(s, x, q) DOT4(s, x, q)
#define TILE_ABREAST 4
#define PAIR_MOST ANY_PAIR
#include "vectors/dot_kernel.h"
#endif

const struct kernels *rag_kernels(void) {
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX512VNNI) return &kernels_avx512vnni;
    if (rag_cpu & RAG_CPU_AVX512) return &kernels_avx512;
    if (rag_cpu & RAG_CPU_AVX2) return &kernels_avx2;
    return &kernels_baseline;
#elif defined(__wasm_simd128__)
    return &kernels_simd128;
#else
    return rag_cpu & RAG_CPU_NEONDOT ? &kernels_neondot : &kernels_neon;
#endif
}
