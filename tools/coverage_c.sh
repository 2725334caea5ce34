#!/usr/bin/env bash
# Print the branch coverage of the core's C: by the tests that call it, the C programs of tests/core/test_c_drivers.py
# with many rounds, each failing allocation and system call (`make -C tests starve`), and the false sections of
# `make -C tests fuzz-sections`. $1 is a Python with the tests' packages; the other arguments are passed to pytest.
# The tree is copied first, so that no instrumented core is left in it. With --here, the tests have already run in this
# tree with an instrumented core (tools/coverage.sh), and only the rest is done. Fails under 95 %. A failing test is
# printed but does not end the run: an instrumented core is slow, and its processes are large.
#
# In parts that add up: `--part PYTHON FILE…` runs tests in a copy of the tree that stays in build/coverage-c, with the
# counts of the parts before; `--part PYTHON` without files does the rest, and reports. Delete the folder to begin anew.
set -euo pipefail

# Measure everything but the tests in an instrumented tree. $1 is the Python.
measure() {
    export RAGFILE_OBJECTS=$PWD/$(echo build/objects/*-counted/csrc) RAGFILE_ROUNDS=${ROUNDS:-3000}
    "$1" -m pytest -q -p no:cacheprovider tests/core/test_c_drivers.py || true
    "${CC:-cc}" -shared -fPIC -O1 tests/crash/starve_core.c -o build/starve_core.so -ldl
    rm -rf build/starve
    LD_PRELOAD=$PWD/build/starve_core.so PYTHONMALLOC=malloc \
        "$1" tests/crash/starve_core.py build/starve ${STARVE:-} || true
    PYTHONPATH=$PWD:$PWD/tests "$1" tests/fuzz/sections.py 1000 || true
    "$1" -m gcovr --root . --filter csrc/ --merge-mode-functions=separate \
        --gcov-suspicious-hits-threshold=0 --json coverage.json
    "$1" tools/coverage_c.py coverage.json --all
}

if [ "$1" = --here ]; then
    measure "$2"
    exit
fi
# Copy the tree to a folder, and build its instrumented core there.
prepare() {
    "$python" -m pip install -q gcovr "cython>=3.1" "setuptools>=77" pytest-xdist
    export RAGFILE_PINNED=$PWD/build/pinned # libzstd's archive
    git ls-files -z | tar -c --null -T - | tar -x -C "$1"
    (cd "$1" && RAGFILE_COVERAGE=1 "$python" setup.py -q build_ext --inplace)
}

# Go to an instrumented tree, which Python imports from now on.
enter() {
    cd "$1"
    export PYTHONPATH=$1 GCOV_ERROR_FILE=$1/gcov.log
}

run_tests() {
    "$python" -m pytest -q -p no:cacheprovider --deselect tests/core/test_c_drivers.py "$@" || true
}

cd "$(dirname "$0")/.."
if [ "$1" = --part ]; then
    python=$(realpath -s "$2") work=$PWD/build/coverage-c
    shift 2
    [ -e "$work/built" ] || { mkdir -p "$work" && prepare "$work" && touch "$work/built"; }
    enter "$work"
    if [ $# -gt 0 ]; then run_tests "$@"; else measure "$python"; fi
    exit
fi
python=$(realpath -s "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prepare "$work"
enter "$work"
run_tests "$@" tests/core tests/file tests/search tests/write tests/whole tests/spec tests/net tests/exchange \
    tests/embedding tests/shards tests/ingest
measure "$python"
