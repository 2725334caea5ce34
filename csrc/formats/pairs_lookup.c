/* pairs_lookup.c - every pair with a given keyword, at the speed of memory.
 *
 * The result equals that of a walk over all pairs (rag_pairs_next), but the scan takes 64 bytes per
 * step: a block becomes three bit masks, for NUL (z), '-' (d) and the keyword's last byte (l), and
 * word arithmetic does the parsing.
 *
 * Proof. In a section that a walk accepts, NULs occur in gaps only and a gap is exactly p of them,
 * since neither keyword nor content can hold one. So position i starts a pair if and only if it is
 * not NUL and comes right after a NUL (or is the first), and the walk's rules about NULs reduce to:
 * no run is shorter than p (`brief`), none longer (`over`), none at the end. The walk's other rule:
 * from each start, a '-' comes before the next NUL or the end. Adding the starts to the mask of
 * bytes that are neither '-' nor NUL carries each start to the next '-' or NUL, which must be a '-'
 * (`landed`); that '-' ends the pair's keyword. A keyword that reaches over the block's end leaves
 * the addition's carry, which is the next block's start at bit 0 (`open`). Each block is checked
 * whole, so the scan succeeds exactly when the walk does. On failure the walk restarts at the last
 * known good pair (`anchor`) and reports the fault.
 *
 * A block without NUL after one without, inside a content, changes no state: it costs one load and
 * compare. */
#include <stdlib.h>

#include "formats/pairs.h"
#include "shared/array.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

struct scan {
    const uint8_t *bytes;
    uint64_t at;     /* of the next block */
    uint64_t anchor; /* of the last pair start before it */
    uint64_t z;      /* NULs of the block before */
    uint64_t open;   /* 1 inside a keyword that the block before began */
    uint64_t l;      /* 1 when the block before ended in the keyword's last byte */
    uint64_t hits;   /* '-' after a keyword's last byte, in the block that stopped the scan */
    uint8_t padding, last;
    bool keyless; /* the requested keyword is empty */
    bool bad;     /* the block that stopped the scan breaks a rule */
};

/* Prefetch distance: the hardware prefetcher stops at each page. */
enum { AHEAD = 4096 };

struct masks {
    uint64_t z, d, l;
};

/* Return the bits i such that positions i - p + 1 .. i are all NUL. The 64 low bits lack their
 * predecessors. */
static inline unsigned __int128 runs_of(unsigned __int128 z, uint8_t p) {
    z &= z << 1;
    z &= z << 2;
    if (p >= 8) z &= z << 4;
    if (p == 16) z &= z << 8;
    return z;
}

/* Scan one block; return true if it has hits or a fault. */
static inline bool scan_block(struct scan *scan, struct masks m) {
    unsigned __int128 z = (unsigned __int128)m.z << 64 | scan->z, after = runs_of(z, scan->padding)
                                                                          << 1;
    uint64_t starts = (uint64_t)(z << 1 >> 64) & ~m.z;
    uint64_t over = (uint64_t)(after >> 64) & m.z, brief = starts & ~(uint64_t)(after >> 64);
    uint64_t from = starts | scan->open, through = ~(m.z | m.d), sum;
    scan->open = __builtin_add_overflow(through, from & through, &sum);
    uint64_t landed = (sum | from) & ~through;
    scan->bad = (over | brief | (landed & m.z)) != 0;
    scan->hits = landed & m.d & (m.l << 1 | scan->l | (scan->keyless ? ~UINT64_C(0) : 0));
    if (scan->bad) return true; /* before anchor moves into this block */
    if (starts) scan->anchor = scan->at + 63 - (uint64_t)__builtin_clzll(starts);
    scan->z = m.z;
    scan->l = m.l >> 63;
    return scan->hits != 0;
}

#define SUFFIX baseline
#define TARGET
#if defined(__x86_64__)
#include <immintrin.h>
static inline uint64_t equal_sse2(const uint8_t *at, uint8_t c) {
    const __m128i wanted = _mm_set1_epi8((char)c);
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(at + 16 * i));
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted)) << 16 * i;
    }
    return mask;
}
#define EQUAL equal_sse2
#elif defined(__aarch64__)
#include <arm_neon.h>
static inline uint64_t equal_neon(const uint8_t *at, uint8_t c) {
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t wanted = vdupq_n_u8(c), bit = vld1q_u8(bits);
    uint8x16_t v[4];
    for (int i = 0; i < 4; i++) v[i] = vandq_u8(vceqq_u8(vld1q_u8(at + 16 * i), wanted), bit);
    uint8x16_t low = vpaddq_u8(v[0], v[1]), high = vpaddq_u8(v[2], v[3]),
               both = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(both, both)), 0);
}
#define EQUAL equal_neon
#else
static inline uint64_t equal_plain(const uint8_t *at, uint8_t c) {
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) mask |= (uint64_t)(at[i] == c) << i;
    return mask;
}
#define EQUAL equal_plain
#endif
#include "formats/pairs_lookup_kernel.h"

#if defined(__x86_64__)
#define SUFFIX avx2
#define TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt")))
TARGET static inline uint64_t equal_avx2(const uint8_t *at, uint8_t c) {
    const __m256i wanted = _mm256_set1_epi8((char)c);
    __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)at), wanted);
    __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(at + 32)), wanted);
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}
#define EQUAL equal_avx2
#include "formats/pairs_lookup_kernel.h"

#define SUFFIX avx512
#define TARGET __attribute__((target("avx512f,avx512bw,bmi,bmi2,lzcnt")))
TARGET static inline uint64_t equal_avx512(const uint8_t *at, uint8_t c) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8((char)c));
}
#define EQUAL equal_avx512
#include "formats/pairs_lookup_kernel.h"
#endif

static void scan_blocks(struct scan *scan, const uint8_t *bytes, uint64_t count) {
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX512) scan_blocks_avx512(scan, bytes, count);
    else if (rag_cpu & RAG_CPU_AVX2) scan_blocks_avx2(scan, bytes, count);
    else
#endif
        scan_blocks_baseline(scan, bytes, count);
}

void rag_spans_free(struct rag_spans *spans) {
    free(spans->items);
    *spans = (struct rag_spans){0};
}

enum rag_status rag_spans_add(struct rag_spans *spans, uint64_t at, uint64_t size,
                              struct rag_fault *fault) {
    if (!rag_grow(&spans->items, &spans->capacity, spans->count + 1, sizeof *spans->items))
        return rag_fail(fault, RAG_MEMORY, at, "no memory for what was found");
    spans->items[spans->count++] = (struct rag_span){at, size};
    return RAG_OK;
}

struct lookup {
    const struct rag_pairs *pairs;
    const uint8_t *key;
    size_t key_size;
    struct rag_spans *spans;
};

/* The '-' at dash ends a keyword; add the content after it if that keyword is the key. The key
 * contains no NUL, so it is the whole keyword if it ends at the '-' and follows a NUL or the
 * start. */
static enum rag_status consider(const struct lookup *lookup, uint64_t dash,
                                struct rag_fault *fault) {
    const struct rag_pairs *pairs = lookup->pairs;
    if (dash < lookup->key_size) return RAG_OK;
    uint64_t from = dash - lookup->key_size;
    if (from > 0 && pairs->bytes[from - 1] != 0) return RAG_OK;
    if (memcmp(pairs->bytes + from, lookup->key, lookup->key_size) != 0) return RAG_OK;
    uint64_t content = dash + 1, rest = pairs->size - content;
    const uint8_t *nul = rest ? memchr(pairs->bytes + content, 0, rest) : NULL;
    return rag_spans_add(lookup->spans, content,
                         nul ? (uint64_t)(nul - pairs->bytes) - content : rest, fault);
}

/* Handle the block `at` that stopped the scan: a broken rule, hits, or (neither) the last block. */
static enum rag_status handle(const struct lookup *lookup, const struct scan *scan, uint64_t at,
                              struct rag_fault *fault) {
    enum rag_status status = RAG_OK;
    if (scan->bad) {
        struct rag_pair pair;
        for (uint64_t cursor = scan->anchor; !status && cursor < lookup->pairs->size;)
            status = rag_pairs_next(lookup->pairs, &cursor, &pair, fault);
        return status;
    }
    for (uint64_t hits = scan->hits; !status && hits; hits &= hits - 1)
        status = consider(lookup, at + (uint64_t)__builtin_ctzll(hits), fault);
    return status;
}

/* Scan the last, partial block, padded with a byte that is neither NUL nor '-': a keyword without
 * '-' and trailing NULs both appear as an open keyword. */
static enum rag_status finish(const struct lookup *lookup, struct scan *scan,
                              struct rag_fault *fault) {
    uint8_t block[64];
    uint64_t at = scan->at, rest = lookup->pairs->size - at, anchor = scan->anchor;
    enum rag_status status = RAG_OK;
    if (rest) {
        memset(block, 'x', sizeof block);
        memcpy(block, lookup->pairs->bytes + at, rest);
        scan_blocks(scan, block, 1);
        status = handle(lookup, scan, at, fault);
    }
    scan->bad |= scan->open || scan->z >> 63;
    scan->anchor = anchor; /* the padding may have looked like a pair's start */
    scan->hits = 0;
    return status ? status : handle(lookup, scan, at, fault);
}

enum rag_status rag_pairs_lookup(const struct rag_pairs *pairs, const uint8_t *key, size_t key_size,
                                 struct rag_spans *spans, struct rag_fault *fault) {
    const struct lookup lookup = {pairs, key, key_size, spans};
    /* The first pair starts as if after a gap. */
    struct scan scan = {.bytes = pairs->bytes,
                        .z = ~UINT64_C(0) << (64 - pairs->padding),
                        .padding = pairs->padding};
    scan.last = key_size ? key[key_size - 1] : 0;
    scan.keyless = key_size == 0;
    if (pairs->size == 0) return RAG_OK;
    while (pairs->size - scan.at >= 64) {
        scan_blocks(&scan, pairs->bytes + scan.at, (pairs->size - scan.at) / 64);
        enum rag_status status = handle(&lookup, &scan, scan.at - 64, fault);
        if (status) return status;
    }
    return finish(&lookup, &scan, fault);
}
