/* gf16.c - arithmetic in the field of 65,536 elements, for single elements and runs.
 *
 * Single products are computed bit by bit: there are few, and tables of logarithms would take
 * 256 KB. Runs of words are multiplied by one factor with eight small tables (gf16_kernel.h),
 * which cost as much to make as a hundred words to multiply. A target without a shuffle looks up
 * the same tables word by word. */
#include <string.h>

#include "parity/gf16.h"
#include "shared/bytes.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

enum { POLYNOMIAL = 0x1100b };

/* The products of a factor with each nibble of a word, as low and high bytes. */
struct tables {
    uint8_t low[4][16], high[4][16];
};

static uint32_t doubled(uint32_t a) { return a << 1 ^ (a & 0x8000 ? POLYNOMIAL : 0); }

uint16_t rag_gf_product(uint16_t a, uint16_t b) {
    uint32_t sum = 0, power = a;
    for (; b; b >>= 1, power = doubled(power))
        if (b & 1) sum ^= power;
    return (uint16_t)sum;
}

/* a to the power of 65,534. */
uint16_t rag_gf_inverse(uint16_t a) {
    uint16_t power = a, product = 1;
    for (int i = 1; i < 16; i++) {
        power = rag_gf_product(power, power);
        product = rag_gf_product(product, power);
    }
    return a ? product : 0;
}

static void make_tables(struct tables *tables, uint16_t factor) {
    uint32_t power = factor;
    for (int nibble = 0; nibble < 4; nibble++) {
        uint8_t *low = tables->low[nibble], *high = tables->high[nibble];
        low[0] = high[0] = 0;
        for (int bit = 1; bit < 16; bit <<= 1, power = doubled(power))
            for (int i = 0; i < bit; i++) {
                low[bit + i] = low[i] ^ (uint8_t)power;
                high[bit + i] = high[i] ^ (uint8_t)(power >> 8);
            }
    }
}

static void add_product_plain(uint8_t *to, const uint8_t *from, const struct tables *t,
                              size_t size) {
    for (size_t at = 0; at < size; at += 2) {
        const unsigned n0 = from[at] & 15, n1 = from[at] >> 4, n2 = from[at + 1] & 15,
                       n3 = from[at + 1] >> 4;
        to[at] ^= t->low[0][n0] ^ t->low[1][n1] ^ t->low[2][n2] ^ t->low[3][n3];
        to[at + 1] ^= t->high[0][n0] ^ t->high[1][n1] ^ t->high[2][n2] ^ t->high[3][n3];
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define NAME(x) x##_avx2
#define KERNEL __attribute__((target("avx2"))) static
#define VECTOR __m256i
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define AND(v) _mm256_and_si256(v, _mm256_set1_epi8(15))
#define LOOK(table, v) _mm256_shuffle_epi8(table, v)
#define SPREAD(p) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define NIBBLE(v) _mm256_srli_epi16(v, 4)
#define EVEN(a, b)                                                   \
    _mm256_packus_epi16(_mm256_and_si256(a, _mm256_set1_epi16(255)), \
                        _mm256_and_si256(b, _mm256_set1_epi16(255)))
#define ODD(a, b) _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8))
#define FIRST(l, h) _mm256_unpacklo_epi8(l, h)
#define SECOND(l, h) _mm256_unpackhi_epi8(l, h)
#include "parity/gf16_kernel.h"
#elif defined(__aarch64__)
#include <arm_neon.h>

#define NAME(x) x##_neon
#define KERNEL static
#define VECTOR uint8x16_t
#define LOAD(p) vld1q_u8(p)
#define STORE(p, v) vst1q_u8(p, v)
#define XOR(a, b) veorq_u8(a, b)
#define AND(v) vandq_u8(v, vdupq_n_u8(15))
#define LOOK(table, v) vqtbl1q_u8(table, v)
#define SPREAD(p) vld1q_u8(p)
#define NIBBLE(v) vshrq_n_u8(v, 4)
#define EVEN(a, b) vuzp1q_u8(a, b)
#define ODD(a, b) vuzp2q_u8(a, b)
#define FIRST(l, h) vzip1q_u8(l, h)
#define SECOND(l, h) vzip2q_u8(l, h)
#include "parity/gf16_kernel.h"
#endif

void rag_gf_add(uint8_t *to, const uint8_t *from, size_t size) {
    for (size_t at = 0; at < size; at += 8)
        store_u64(to + at, load_u64(to + at) ^ load_u64(from + at));
}

void rag_gf_add_product(uint8_t *to, const uint8_t *from, uint16_t factor, size_t size) {
    struct tables tables;
    if (factor == 0) return;
    make_tables(&tables, factor);
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX2) {
        add_product_avx2(to, from, &tables, size);
        return;
    }
#elif defined(__aarch64__)
    if (rag_cpu & RAG_CPU_NEON) {
        add_product_neon(to, from, &tables, size);
        return;
    }
#endif
    add_product_plain(to, from, &tables, size);
}
