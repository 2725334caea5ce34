/* bits.c - row sets: one bit for each row, 64 rows to a word, as filters and deletions use them.
 *
 * A set in memory is an array of uint64_t: bit i % 64 of word i / 64 stands for row i. Python hands
 * over one byte a row; pack turns those bytes into words and unpack turns words back. A bitmap in a
 * file (rag.tombs, rag.gone) holds the same bits as bytes: bit i % 8 of byte i / 8. On a
 * little-endian host, the only kind that bytes.h admits, the bytes of a bitmap are those of the
 * words, so rest reads a bitmap eight bytes at a time.
 *
 *    pack    writes ceil(count / 64) words; bits past count are zero
 *    unpack  writes count bytes, each 0 or 1
 *    store   writes ceil(count / 8) bytes; bits past count are zero
 *    rest    reads whole words, so the bitmap must be padded to a multiple of 8 bytes
 *    count   ignores bits past count
 *
 * Only clear_listed can fail, and nothing checks a size: the caller provides the room and knows
 * that the bitmap is as long as its rows need. */
#include <string.h>

#include "ragfile/bits.h"
#include "shared/bytes.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

#if defined __SSE2__
typedef char bytes_16 __attribute__((vector_size(16)));

static inline uint64_t packed_16(const uint8_t *bytes) {
    bytes_16 x;
    memcpy(&x, bytes, sizeof x);
    return (uint16_t)~__builtin_ia32_pmovmskb128((bytes_16)(x == 0));
}
#else
/* One bit for each of eight bytes, whether it is not 0. The first step leaves 1 in each such byte;
 * the product adds up the bytes at distinct bits of the top byte. */
static inline uint64_t packed_8(const uint8_t *bytes) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), ones = UINT64_C(0x0101010101010101);
    const uint64_t x = load_u64(bytes), some = ((x & low) + low | x) >> 7 & ones;
    return some * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t packed_16(const uint8_t *bytes) {
    return packed_8(bytes) | packed_8(bytes + 8) << 8;
}
#endif

void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words) {
    uint64_t row = 0;
    for (; row + 64 <= count; row += 64)
        words[row / 64] = packed_16(bytes + row) | packed_16(bytes + row + 16) << 16 |
                          packed_16(bytes + row + 32) << 32 | packed_16(bytes + row + 48) << 48;
    if (row == count) return;
    uint64_t word = 0;
    for (uint64_t j = 0; j < count - row; j++) word |= (uint64_t)(bytes[row + j] != 0) << j;
    words[row / 64] = word;
}

void rag_bits_unpack(const uint64_t *words, uint64_t count, uint8_t *bytes) {
    for (uint64_t row = 0; row < count; row++) bytes[row] = words[row / 64] >> row % 64 & 1;
}

void rag_bitmap_store(uint8_t *out, const uint8_t *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 8) {
        const uint64_t rest = count - i < 8 ? count - i : 8;
        uint8_t packed = 0;
        for (uint64_t j = 0; j < rest; j++) packed |= (uint8_t)((bytes[i + j] != 0) << j);
        out[i / 8] = packed;
    }
}

bool rag_bitmap_has(const uint8_t *bitmap, uint64_t i) { return bitmap[i / 8] >> i % 8 & 1; }

void rag_bitmap_rest(const uint8_t *bitmap, uint64_t count, uint64_t *words) {
    for (uint64_t row = 0; row < count; row += 64) {
        const uint64_t kept = count - row < 64 ? ~(~UINT64_C(0) << (count - row)) : ~UINT64_C(0);
        words[row / 64] = ~load_u64(bitmap + row / 8) & kept;
    }
}

void rag_bits_list(const uint64_t *words, uint64_t count, uint8_t *out) {
    for (uint64_t first = 0; first < count; first += 64)
        for (uint64_t word = words[first / 64]; word; word &= word - 1, out += 4)
            store_u32(out, (uint32_t)(first + (uint64_t)__builtin_ctzll(word)));
}

bool rag_bits_clear_listed(const uint8_t *list, uint64_t listed, uint64_t count, uint64_t *words) {
    for (uint64_t i = 0; i < listed; i++) {
        const uint64_t row = load_u32(list + 4 * i), bit = UINT64_C(1) << row % 64;
        if (row >= count || !(words[row / 64] & bit)) return false;
        words[row / 64] &= ~bit;
    }
    return true;
}

static inline __attribute__((always_inline)) uint64_t count_whole(const uint64_t *words,
                                                                  uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += (uint64_t)__builtin_popcountll(words[i]);
    return sum;
}

#if defined __x86_64__
/* popcnt is newer than the baseline, and counting without it takes ten times as long. Selective
 * filters are mostly zeros. */
__attribute__((target("avx2,popcnt"))) static uint64_t count_popcnt(const uint64_t *words,
                                                                    uint64_t count) {
    uint64_t sum = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t any = 0;
        for (size_t j = 0; j < 8; j++) any |= words[i + j];
        if (any) sum += count_whole(words + i, 8);
    }
    return sum + count_whole(words + i, count - i);
}
#endif

static uint64_t count_words(const uint64_t *words, uint64_t count) {
#if defined __x86_64__
    if (rag_cpu & RAG_CPU_AVX2) return count_popcnt(words, count);
#endif
    return count_whole(words, count);
}

uint64_t rag_bits_count(const uint64_t *words, uint64_t count) {
    uint64_t sum = count_words(words, count / 64);
    if (count % 64)
        sum +=
            (uint64_t)__builtin_popcountll(words[count / 64] & (~UINT64_C(0) >> (64 - count % 64)));
    return sum;
}
