/* sha256.c - SHA-256 (FIPS 180-4) of one block of a signed section.
 *
 * xxh3 detects damage; signatures need a hash that detects forgery. It is computed only for
 * files that are opened with trusted keys, once for each block that is read, so the code is the
 * published algorithm without kernels: a block of 64 KiB takes a fraction of a millisecond. The
 * hash of a leaf begins with a zero byte (spec/parts/signatures.md), so the bytes go through a
 * small state instead of one call. */
#include <string.h>

#include "ragfile/container.h"
#include "shared/bytes.h"

enum { CHUNK = 64 };

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static inline uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void schedule(uint32_t words[64], const uint8_t *in) {
    for (int i = 0; i < 16; i++) words[i] = __builtin_bswap32(load_u32(in + 4 * i));
    for (int i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + words[i - 7] +
                   (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void absorb(uint32_t state[8], const uint8_t *in) {
    uint32_t words[64], s[8];
    schedule(words, in);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint32_t mixed = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25),
                       chosen = (s[4] & s[5]) ^ (~s[4] & s[6]),
                       first = s[7] + mixed + chosen + round_constants[i] + words[i],
                       other = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22),
                       most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + first;
        s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = first + other + most;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void store_big(uint8_t *out, uint64_t value, int size) {
    for (int i = size - 1; i >= 0; i--, value >>= 8) out[i] = (uint8_t)value;
}

void rag_seal_leaf(const uint8_t *bytes, size_t size, uint8_t out[RAG_LEAF]) {
    uint8_t held[2 * CHUNK] = {0}; /* the leading zero and what follows it; then the end */
    uint32_t state[8];
    memcpy(state, start, sizeof state);
    size_t at = 0, kept = 1;
    if (size >= CHUNK - 1) {
        memcpy(held + 1, bytes, CHUNK - 1);
        absorb(state, held);
        for (at = CHUNK - 1; size - at >= CHUNK; at += CHUNK) absorb(state, bytes + at);
        kept = 0;
    }
    memset(held + kept, 0, sizeof held - kept);
    if (size > at) memcpy(held + kept, bytes + at, size - at); /* empty may be NULL */
    kept += size - at;
    held[kept] = 0x80;
    const size_t end = kept + 9 <= CHUNK ? CHUNK : 2 * CHUNK;
    store_big(held + end - 8, 8 * ((uint64_t)size + 1), 8);
    for (size_t i = 0; i < end; i += CHUNK) absorb(state, held + i);
    for (int i = 0; i < 8; i++) store_big(out + 4 * i, state[i], 4);
}
