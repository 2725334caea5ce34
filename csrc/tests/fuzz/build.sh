#!/bin/sh
# Builds the fuzz targets with clang's libFuzzer, ASan and UBSan into the folder given (default: fuzz-build).
#
#   csrc/tests/fuzz/build.sh                                    build
#   cp -r csrc/tests/fuzz/corpus fuzz-corpus                    a corpus that may grow
#   fuzz-build/container -max_len=32768 -jobs=2 -workers=2 -max_total_time=1800 fuzz-corpus
#   fuzz-build/container csrc/tests/fuzz/corpus/*               every kept input once
#   fuzz-build/pairs -max_len=4096 csrc/tests/fuzz/corpus_pairs  the reader of 0.1.0 files
#   fuzz-build/frames -max_len=4096 csrc/tests/fuzz/corpus_frames  compressed blocks
#   fuzz-build/graph -max_len=4096 csrc/tests/fuzz/corpus_graph  sections of links, links in Markdown
#   fuzz-build/sparse -max_len=4096 csrc/tests/fuzz/corpus_sparse  weights of terms
#
# A crash is written to crash-<hash>: fix the cause, then keep the file in csrc/tests/fuzz/corpus under a name that says what it is.
set -eu
cd "$(dirname "$0")/../../.."
out=${1:-fuzz-build}
mkdir -p "$out"
zstd=$(python3 tools/pinned.py)
compile() { # program, sources and options
    program=$1
    shift
    ${FUZZ_CC:-clang} -std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined -Wall -Wextra -Icsrc/include -Icsrc -isystem "$zstd" "$@" -lm -lpthread -o "$out/$program"
}
${FUZZ_CC:-clang} -std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
    -fno-sanitize-recover=undefined -w -c "$zstd/zstd.c" -o "$out/zstd.o"
compile container csrc/tests/fuzz/container.c csrc/tests/fuzz/mutate.c csrc/shared/array.c csrc/shared/bits.c \
    csrc/container/reader.c csrc/container/section_lists.c csrc/parity/shard.c csrc/container/verify.c csrc/container/guard.c csrc/container/hash.c csrc/container/sha256.c csrc/system/cpu.c \
    csrc/system/posix.c
compile sparse csrc/tests/fuzz/sparse.c csrc/*/*.c "$out/zstd.o"
compile pairs csrc/tests/fuzz/pairs.c csrc/*/*.c "$out/zstd.o"
compile frames csrc/tests/fuzz/frames.c csrc/compression/*.c "$out/zstd.o"
compile graph csrc/tests/fuzz/graph.c csrc/graph/*.c csrc/compression/*.c csrc/shared/array.c csrc/container/guard.c \
    csrc/container/hash.c csrc/container/sha256.c csrc/system/cpu.c csrc/system/posix.c "$out/zstd.o"
