/* replay.c - run a fuzz target without a fuzzer: on stored inputs, then on random mutations.
 *
 *    replay ROUNDS FILE...
 *
 * It replaces libFuzzer in builds without clang, and for branch coverage. The target gets each file
 * once unchanged and ROUNDS times mutated, by its own mutator if it has one. Mutations are not
 * guided by coverage, so this finds less than a fuzzer does. The same rounds give the same inputs
 * everywhere. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 72000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                                                     unsigned seed);

static uint64_t state = 1;
static uint64_t chance(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state >> 8) % below;
}

/* Set a number of one to eight bytes, or cut, double or drop a run of bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) {
    static const uint64_t tempting[] = {0,    1,    2,      4,          8,         16,
                                        0x7f, 0xff, 0xffff, UINT32_MAX, UINT64_MAX};
    const size_t at = chance(size + 1), left = size - at, run = left ? 1 + chance(left) : 0;
    const uint64_t number = chance(2) ? tempting[chance(11)] : chance(256), kind = chance(8);
    if (kind == 0) return at;
    if (kind == 1) return memmove(data + at, data + at + run, left - run), size - run;
    if (kind == 2 && run <= max - size)
        return memmove(data + at + run, data + at, left), size + run;
    memcpy(data + at, &number, left < 8 ? (left ? 1 + chance(left) : 0) : 1 + chance(8));
    return size;
}

static size_t changed(uint8_t *data, size_t size, unsigned seed) {
    if (LLVMFuzzerCustomMutator) return LLVMFuzzerCustomMutator(data, size, INPUT_MAX, seed);
    for (uint64_t times = 1 + chance(3); times > 0; times--)
        size = LLVMFuzzerMutate(data, size, INPUT_MAX);
    return size;
}

int main(int count, char **arguments) {
    static uint8_t kept[INPUT_MAX], data[INPUT_MAX + 8];
    const unsigned rounds = count > 1 ? (unsigned)atoi(arguments[1]) : 0;
    for (int i = 2; i < count; i++) {
        FILE *file = fopen(arguments[i], "rb");
        if (!file) return perror(arguments[i]), 2;
        const size_t size = fread(kept, 1, sizeof kept, file);
        fclose(file);
        LLVMFuzzerTestOneInput(kept, size);
        for (unsigned seed = 0; seed < rounds; seed++) {
            memcpy(data, kept, size);
            LLVMFuzzerTestOneInput(data, changed(data, size, seed));
        }
    }
    printf("%d inputs, %u changes of each\n", count - 2, rounds);
    return 0;
}
