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

uint64_t rag_bits_count(const uint64_t *words, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count / 64; i++) sum += (uint64_t)__builtin_popcountll(words[i]);
    if (count % 64)
        sum +=
            (uint64_t)__builtin_popcountll(words[count / 64] & (~UINT64_C(0) >> (64 - count % 64)));
    return sum;
}
