#!/usr/bin/env bash
# Print branches and conditions (MC/DC) of the container, the guard, parity and encryption that C programs alone take:
# the drivers and replayed fuzzers of csrc/tests over their corpora and over every vector of spec/vectors. Needs
# clang 18 or later. $1 is the folder for objects and profiles; ROUNDS (300) changes of each input are tried.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/packages
clang=$(clang_of_this_machine)
tools=$(dirname "$(readlink -f "$(command -v "$clang")")")
out=${1:-build/mcdc} rounds=${ROUNDS:-300}
zstd=$(python3 tools/pinned.py)
mkdir -p "$out/objects" "$out/work"
rm -f "$out"/*.profraw
flags=(-std=gnu11 -O1 -g -Icsrc/include -Icsrc -isystem "$zstd")
counted=(-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc)
objects=()
for file in csrc/*/*.c "$zstd/zstd.c"; do
    object=$out/objects/$(echo "$file" | tr / _).o
    objects+=("$object")
    case $file in
        csrc/container/* | csrc/parity/* | csrc/encryption/*) more=("${counted[@]}") ;;
        *) more=() ;;
    esac
    [ "$object" -nt "$file" ] || "$clang" "${flags[@]}" -w "${more[@]}" -c "$file" -o "$object"
done
run() { # program, sources, --, arguments
    local program=$out/$1 sources=()
    shift
    while [ "$1" != -- ]; do sources+=("csrc/tests/$1") && shift; done
    shift
    "$clang" "${flags[@]}" -w -fprofile-instr-generate "${sources[@]}" "${objects[@]}" -lm -lpthread -o "$program"
    LLVM_PROFILE_FILE=$program-%p.profraw "$program" "$@" >/dev/null
    programs+=(-object "$program")
}
programs=()
run misuse drivers/misuse.c -- "$out/work"
run encrypted drivers/encrypted.c -- "$out/work" $((rounds / 5))
run parity_fuzz drivers/parity_fuzz.c -- $((rounds * 3)) 1 spec/vectors/parity/*.ragfile spec/vectors/encryption/parity*.ragfile
run container fuzz/replay.c fuzz/container.c fuzz/mutate.c -- "$rounds" csrc/tests/fuzz/corpus/*
find spec/vectors -name '*.ragfile' -size -70k -print0 |
    LLVM_PROFILE_FILE=$out/container-vectors-%p.profraw xargs -0 "$out/container" 3 >/dev/null
"$tools/llvm-profdata" merge -sparse "$out"/*.profraw -o "$out/all.profdata"
"$tools/llvm-cov" report "${programs[@]:1}" -instr-profile="$out/all.profdata" -show-mcdc-summary -show-region-summary=false \
    csrc/container csrc/parity csrc/encryption | cut -c1-200
"$tools/llvm-cov" export "${programs[@]:1}" -instr-profile="$out/all.profdata" csrc/container csrc/parity csrc/encryption >"$out/all.json"
python3 tools/mcdc.py "$out/all.json"
