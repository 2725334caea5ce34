#!/usr/bin/env bash
# Prints the line and branch coverage of C and Python by the suite. $1 is a Python with the tests' packages; the other
# arguments go to pytest. The tree is copied first, so that no instrumented core is left in it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m pip install -q "coverage>=7.10" gcovr "cython>=3.1" "setuptools>=77" pytest-xdist
git ls-files -z | tar -c --null -T - | tar -x -C "$work"
cd "$work"
RAGFILE_COVERAGE=1 "$python" setup.py -q build_ext --inplace
export PYTHONPATH=$work
"$python" -m coverage run -m pytest -q -p no:cacheprovider "$@"
"$python" -m coverage combine -q
printf '\nPython:\n'
"$python" -m coverage report --skip-covered --sort=cover
printf '\nC:\n'
"$python" -m gcovr --root . --filter csrc/ --merge-mode-functions=separate --txt-metric=branch --sort=uncovered-percent
"$python" -m gcovr --root . --filter csrc/ --merge-mode-functions=separate --print-summary -o "$work/summary.txt"
