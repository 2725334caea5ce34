/* hash.c - XXH3-64, the checksum of the format, from its published description.
 *
 * The hash has the seed 0 and the published secret of 192 bytes. There are four formulas, one for
 * each range of sizes:
 *
 *    0 .. 16      a few multiplications over overlapping loads
 *    17 .. 128    16 bytes at a time, in pairs from both ends
 *    129 .. 240   16 bytes at a time, from the start
 *    241 ..       eight 64-bit accumulators over stripes of 64 bytes, scrambled every 1024 bytes
 *
 * Only the last one matters for speed. Its loop is written once, on vectors of eight lanes, and
 * compiled once for each target; rag_cpu chooses among the copies at run time. All arithmetic is on
 * whole numbers, so every copy gives the same value.
 *
 * rag_hash reads exactly size bytes, at any alignment, and cannot fail. It finds damage but does
 * not keep out forgers: a program that can change the bytes can change the hash as well.
 *
 * rag_hash_blocks is the hash of a whole section: the hashes of its blocks of RAG_BLOCK bytes,
 * stored one after the other and hashed again. A reader that has checked this list can check each
 * block alone. It needs eight bytes of memory a block and returns RAG_MEMORY without them. */
#include <stdlib.h>

#include "ragfile/machine.h"
#include "container/block_hashes.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

#define P32_1 0x9E3779B1u
#define P32_2 0x85EBCA77u
#define P32_3 0xC2B2AE3Du
#define P64_1 0x9E3779B185EBCA87u
#define P64_2 0xC2B2AE3D27D4EB4Fu
#define P64_3 0x165667B19E3779F9u
#define P64_4 0x85EBCA77C2B2AE63u
#define P64_5 0x27D4EB2F165667C5u
#define MX_1 0x165667919E3779F9u
#define MX_2 0x9FB21C651E98DF25u

enum { STRIPE = 64, STRIPES_PER_BLOCK = 16, SECRET_SIZE = 192 };

static const uint8_t secret[SECRET_SIZE] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static inline uint64_t rotate(uint64_t v, int by) { return v << by | v >> (64 - by); }
static inline uint64_t key(size_t at) { return load_u64(secret + at); }

static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t finish(uint64_t h) {
    h = (h ^ h >> 37) * MX_1;
    return h ^ h >> 32;
}

static inline uint64_t finish_tiny(uint64_t h) {
    h = (h ^ h >> 33) * P64_2;
    h = (h ^ h >> 29) * P64_3;
    return h ^ h >> 32;
}

static inline uint64_t mix16(const uint8_t *in, size_t at) {
    return fold(load_u64(in) ^ key(at), load_u64(in + 8) ^ key(at + 8));
}

static uint64_t hash_to_16(const uint8_t *in, size_t size) {
    if (size > 8) {
        uint64_t low = load_u64(in) ^ (key(24) ^ key(32)),
                 high = load_u64(in + size - 8) ^ (key(40) ^ key(48));
        return finish(size + __builtin_bswap64(low) + high + fold(low, high));
    }
    if (size >= 4) {
        uint64_t h =
            (load_u32(in + size - 4) + ((uint64_t)load_u32(in) << 32)) ^ (key(8) ^ key(16));
        h ^= rotate(h, 49) ^ rotate(h, 24);
        h *= MX_2;
        h ^= (h >> 35) + size;
        h *= MX_2;
        return h ^ h >> 28;
    }
    if (size == 0) return finish_tiny(key(56) ^ key(64));
    uint32_t all =
        (uint32_t)in[0] << 16 | (uint32_t)in[size >> 1] << 24 | in[size - 1] | (uint32_t)size << 8;
    return finish_tiny(all ^ (uint64_t)(load_u32(secret) ^ load_u32(secret + 4)));
}

static uint64_t hash_to_128(const uint8_t *in, size_t size) {
    uint64_t h = size * P64_1;
    for (size_t pair = (size - 1) / 32; pair > 0; pair--)
        h += mix16(in + 16 * pair, 32 * pair) + mix16(in + size - 16 * (pair + 1), 32 * pair + 16);
    return finish(h + mix16(in, 0) + mix16(in + size - 16, 16));
}

static uint64_t hash_to_240(const uint8_t *in, size_t size) {
    uint64_t h = size * P64_1;
    for (size_t i = 0; i < 8; i++) h += mix16(in + 16 * i, 16 * i);
    h = finish(h);
    for (size_t i = 8; i < size / 16; i++) h += mix16(in + 16 * i, 16 * (i - 8) + 3);
    return finish(h + mix16(in + size - 16, 136 - 17));
}

typedef uint64_t lanes __attribute__((vector_size(64)));
#ifdef __clang__
#define SWAP_PAIRS(v) __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6)
#else
#define SWAP_PAIRS(v) __builtin_shuffle(v, (lanes){1, 0, 3, 2, 5, 4, 7, 6})
#endif

static inline __attribute__((always_inline)) void stripe(lanes *sums, const uint8_t *in,
                                                         size_t key_at) {
    lanes v, keyed;
    memcpy(&v, in, sizeof v);
    memcpy(&keyed, secret + key_at, sizeof keyed);
    keyed ^= v;
    *sums += SWAP_PAIRS(v) + (keyed & 0xffffffff) * (keyed >> 32);
}

static inline __attribute__((always_inline)) void long_sums(uint64_t *out, const uint8_t *in,
                                                            size_t size) {
    lanes sums = {P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1}, scramble;
    memcpy(&scramble, secret + SECRET_SIZE - STRIPE, sizeof scramble);
    const size_t block = STRIPE * STRIPES_PER_BLOCK, blocks = (size - 1) / block;
    const uint8_t *at = in;
    for (size_t b = 0; b < blocks; b++, at += block) {
        for (size_t n = 0; n < STRIPES_PER_BLOCK; n++) {
            __builtin_prefetch(at + n * STRIPE + 512);
            stripe(&sums, at + n * STRIPE, 8 * n);
        }
        sums = (sums ^ sums >> 47 ^ scramble) * P32_1;
    }
    const size_t rest = (size - 1 - blocks * block) / STRIPE;
    for (size_t n = 0; n < rest; n++) stripe(&sums, at + n * STRIPE, 8 * n);
    stripe(&sums, in + size - STRIPE, SECRET_SIZE - STRIPE - 7);
    memcpy(out, &sums, sizeof sums);
}

static void long_sums_baseline(uint64_t *out, const uint8_t *in, size_t size) {
    long_sums(out, in, size);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void long_sums_avx2(uint64_t *out, const uint8_t *in,
                                                           size_t size) {
    long_sums(out, in, size);
}
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) static void long_sums_avx512(
    uint64_t *out, const uint8_t *in, size_t size) {
    long_sums(out, in, size);
}
#endif

static uint64_t hash_long(const uint8_t *in, size_t size) {
    uint64_t sums[8], h = size * P64_1;
#if defined(__x86_64__)
    if (rag_cpu & RAG_CPU_AVX512) long_sums_avx512(sums, in, size);
    else if (rag_cpu & RAG_CPU_AVX2) long_sums_avx2(sums, in, size);
    else
#endif
        long_sums_baseline(sums, in, size);
    for (size_t i = 0; i < 4; i++)
        h += fold(sums[2 * i] ^ key(11 + 16 * i), sums[2 * i + 1] ^ key(19 + 16 * i));
    return finish(h);
}

uint64_t rag_hash(const void *bytes, size_t size) {
    const uint8_t *in = bytes;
    if (size <= 16) return hash_to_16(in, size);
    if (size <= 128) return hash_to_128(in, size);
    if (size <= 240) return hash_to_240(in, size);
    return hash_long(in, size);
}

void rag_sum_blocks(const uint8_t *bytes, uint64_t size, uint8_t *sums) {
    for (uint64_t at = 0; at < size; at += RAG_BLOCK, sums += 8) {
        const uint64_t rest = size - at;
        store_u64(sums, rag_hash(bytes + at, rest < RAG_BLOCK ? (size_t)rest : RAG_BLOCK));
    }
}

enum rag_status rag_hash_blocks(const uint8_t *bytes, size_t size, uint64_t *hash,
                                struct rag_fault *fault) {
    const size_t sums_size = 8 * ((size + RAG_BLOCK - 1) / RAG_BLOCK);
    uint8_t *sums = malloc(sums_size + 1);
    if (!sums) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    rag_sum_blocks(bytes, size, sums);
    *hash = rag_hash(sums, sums_size);
    free(sums);
    return RAG_OK;
}
