#!/bin/sh
# Builds the fuzz targets with clang's libFuzzer, ASan and UBSan into the folder given (default: fuzz-build).
#
#   tests/fuzz/build.sh                                    build
#   cp -r tests/fuzz/corpus fuzz-corpus                    a corpus that may grow
#   fuzz-build/container -max_len=32768 -jobs=2 -workers=2 -max_total_time=1800 fuzz-corpus
#   fuzz-build/container tests/fuzz/corpus/*               every kept input once
#   fuzz-build/pairs -max_len=4096 tests/fuzz/corpus_pairs  the reader of 0.1.0 files
#
# A crash is written to crash-<hash>: fix the cause, then keep the file in tests/fuzz/corpus under a name that says what it is.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-fuzz-build}
mkdir -p "$out"
${FUZZ_CC:-clang} -std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -Wall -Wextra -Icsrc tests/fuzz/container.c tests/fuzz/mutate.c csrc/array.c csrc/reader.c csrc/share.c csrc/verify.c csrc/guard.c csrc/hash.c csrc/sha256.c csrc/cpu.c \
    -o "$out/container"
${FUZZ_CC:-clang} -std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -Wall -Wextra -Icsrc tests/fuzz/fuzz_pairs.c csrc/*.c -lm -lpthread -o "$out/pairs"
