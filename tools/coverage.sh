#!/usr/bin/env bash
# Print the line and branch coverage of C and Python by the suite. $1 is a Python with the tests' packages; the other
# arguments are passed to pytest. The tree is copied first, so that no instrumented core is left in it. Fails if Python
# is under `fail_under` of pyproject.toml, which requires every extra (.ci/all-extras), or if C is under 95 % of its
# branches (tools/coverage_c.sh measures C alone).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m pip install -q "coverage>=7.10" gcovr "cython>=3.1" "setuptools>=77" pytest-xdist
export RAGFILE_PINNED=$PWD/build/pinned # libzstd's archive
git ls-files -z | tar -c --null -T - | tar -x -C "$work"
cd "$work"
RAGFILE_COVERAGE=1 "$python" setup.py -q build_ext --inplace
export PYTHONPATH=$work GCOV_ERROR_FILE=$work/gcov.log
# Three tests cannot be measured. Whoever is interrupted while coverage.py holds its lock waits for that lock forever, and
# the interrupts come anywhere. A fork beside busy threads inherits that lock, and writes what its process has covered.
"$python" -m coverage run -m pytest -q -p no:cacheprovider \
    --deselect tests/whole/test_forking.py \
    --deselect tests/whole/test_life.py::test_children_forked_while_threads_are_inside_a_reader_answer \
    --deselect tests/whole/test_life.py::test_interrupts_anywhere_lose_no_commit_and_leave_neither_lock_nor_file "$@"
"$python" -m coverage combine -q
printf '\nPython:\n'
enough=0
"$python" -m coverage report --skip-covered --sort=cover --show-missing || enough=$?
printf '\nC:\n'
tools/coverage_c.sh --here "$python" || enough=$?
exit "$enough"
