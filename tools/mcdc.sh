#!/usr/bin/env bash
# Print branches and conditions (MC/DC) of the container, the guard, parity and encryption that tests take: C programs
# (drivers and replayed fuzzers over their corpora and every vector of spec/vectors), and Python on an extension with
# counted objects in place of those of `make build`: conformance, each failing allocation and system call, and tests.
# Needs clang 18 or later. Counts add up in the folder $1 (build/mcdc); delete it to begin anew. $2 is a Python; more
# arguments are tests for it. Without tests it runs the C programs, conformance and failures (STARVE=N places of each),
# and reports; with tests it runs those alone, and reports. ROUNDS (300) changes of each input are tried.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/packages
clang=$(clang_of_this_machine)
tools=$(dirname "$(readlink -f "$(command -v "$clang")")")
out=$(realpath -m "${1:-build/mcdc}") python=$(realpath -s "${2:-.venv/bin/python}") rounds=${ROUNDS:-300}
shift $(($# < 2 ? $# : 2))
zstd=$(python3 tools/pinned.py)
mkdir -p "$out/objects" "$out/work"
flags=(-fPIC -std=gnu11 -O1 -g -Icsrc/include -Icsrc -isystem "$zstd")
counted=(-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc)
objects=() replaced=()
for file in csrc/*/*.c "$zstd/zstd.c"; do
    object=$out/objects/$(echo "$file" | tr / _).o
    objects+=("$object")
    case $file in
        csrc/container/* | csrc/parity/* | csrc/encryption/*)
            more=("${counted[@]}")
            replaced+=("$object")
            ;;
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
}
# Link the extension of a copy of the tree with the counted objects.
make_tree() {
    git ls-files -z | tar -c --null -T - | tar -x -C "$tree"
    cp -r ragfile/data "$tree/ragfile/"
    local built
    built=$(find build/objects/*-cpython-[0-9]* -name '*.o' -not -path '*-counted*' -not -path '*-sanitized*' \
        -not -path '*/csrc/container/*' -not -path '*/csrc/parity/*' -not -path '*/csrc/encryption/*')
    "$clang" -shared -fprofile-instr-generate -Wl,--gc-sections $built "${replaced[@]}" -lm -lpthread -o "$tree/ragfile/_core.abi3.so"
}
in_tree() {
    (cd "$tree" && PYTHONPATH=$tree LLVM_PROFILE_FILE=$out/python-%8m.profraw "$@") || true
}
run_programs() {
    run misuse drivers/misuse.c -- "$out/work"
    run encrypted drivers/encrypted.c -- "$out/work" $((rounds / 5))
    run parity_fuzz drivers/parity_fuzz.c -- $((rounds * 3)) 1 spec/vectors/parity/*.ragfile spec/vectors/encryption/parity*.ragfile
    run container fuzz/replay.c fuzz/container.c fuzz/mutate.c -- "$rounds" csrc/tests/fuzz/corpus/*
    find spec/vectors -name '*.ragfile' -size -70k -print0 |
        LLVM_PROFILE_FILE=$out/container-vectors-%p.profraw xargs -0 "$out/container" 3 >/dev/null
}
tree=$out/tree
[ -e "$tree/ragfile/_core.abi3.so" ] || { mkdir -p "$tree" && make_tree; }
if [ $# -gt 0 ]; then
    in_tree "$python" -m pytest -q -p no:cacheprovider "$@"
else
    run_programs
    in_tree "$python" -m ragfile.conformance
    "${CC:-cc}" -shared -fPIC -O1 tests/crash/starve_core.c -o "$out/starve_core.so" -ldl
    rm -rf "$out/work/starve"
    in_tree env LD_PRELOAD="$out/starve_core.so" PYTHONMALLOC=malloc "$python" tests/crash/starve_core.py "$out/work/starve" ${STARVE:-}
fi
programs=(-object "$tree/ragfile/_core.abi3.so")
for name in misuse encrypted parity_fuzz container; do
    [ ! -e "$out/$name" ] || programs+=(-object "$out/$name")
done
"$tools/llvm-profdata" merge -sparse "$out"/*.profraw -o "$out/all.profdata"
"$tools/llvm-cov" report "${programs[@]:1}" -instr-profile="$out/all.profdata" -show-mcdc-summary -show-region-summary=false \
    csrc/container csrc/parity csrc/encryption | cut -c1-200
"$tools/llvm-cov" export "${programs[@]:1}" -instr-profile="$out/all.profdata" csrc/container csrc/parity csrc/encryption >"$out/all.json"
python3 tools/mcdc.py "$out/all.json"
