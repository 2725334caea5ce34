/* bits.c - row sets: one bit a row, 64 to a word, as filters and tombstones use them. */
#include "bytes.h"
#include "internal.h"

void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words) {
    for (uint64_t row = 0; row < count; row += 64) {
        const uint64_t rest = count - row < 64 ? count - row : 64;
        uint64_t word = 0;
        for (uint64_t j = 0; j < rest; j++) word |= (uint64_t)(bytes[row + j] != 0) << j;
        words[row / 64] = word;
    }
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

uint64_t rag_bits_count(const uint64_t *words, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count / 64; i++) sum += (uint64_t)__builtin_popcountll(words[i]);
    if (count % 64)
        sum +=
            (uint64_t)__builtin_popcountll(words[count / 64] & (~UINT64_C(0) >> (64 - count % 64)));
    return sum;
}
