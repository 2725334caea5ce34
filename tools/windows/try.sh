#!/usr/bin/env bash
# Build the wheel for Windows and try it in python.org's Python under Wine:
#
#     tools/windows/try.sh [pytest arguments]      the default: the rooms that mean the same on every system
#
# The bytes, answers and refusals of tests/checks/portable_life.py must equal those of this machine, also if each
# replaced file steps aside and if a writer dies between its two renames. Then the conformance files and the tests.
# Wine has no rule that a mapped file cannot be replaced; the job `windows` of the workflow runs the same steps on
# Windows itself. Needs x86-64 Linux; installs wine64 with apt-get if it is root.
set -euo pipefail
cd "$(dirname "$0")/../.."
PY=${PY:-.venv/bin/python}
built=$PWD/build/windows
# Not in the tree: Wine's drive z: is a link to /, and setuptools follows links when it looks for files.
export WINEPREFIX=${WINEPREFIX:-${TMPDIR:-/tmp}/ragfile-wine-$(id -u)}
export WINEDEBUG=-all PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1

if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "left out: Wine runs these programs on x86-64 Linux alone"
    exit 0
fi
wine=$(command -v wine64 /usr/lib/wine/wine64 | head -n 1 || true)
if [ -z "$wine" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends wine64 >/dev/null
    wine=$(command -v wine64 /usr/lib/wine/wine64 | head -n 1)
fi
if [ -z "$wine" ]; then
    echo "left out: wine64 is not installed, and only root can install it"
    exit 0
fi

$PY tools/windows/build.py
wheel=$(ls "$PWD"/dist/ragfile-*-win_amd64.whl)
python=$(dirname "$(find "$built/python" -name python3.dll)")
packages=$python/packages
mkdir -p "$packages"
printf 'python313.zip\n.\npackages\nimport site\n' >"$python/python313._pth"
rm -f "$python/_wmi.pyd" # calls what Wine lacks
if [ ! -d "$packages/pytest" ]; then
    # The newest numpy that calls no function that Wine's C library lacks.
    $PY -m pip install -q --platform win_amd64 --python-version 3.13 --only-binary=:all: --target "$packages" \
        "numpy==2.1.3" "$(printf '%s' "$wheel")" pytest hypothesis pytest-benchmark tokenizers zstandard cryptography
fi

unpack() {
    rm -rf "$packages/ragfile"
    $PY -m zipfile -e "$1" "$packages"
}
windows() { # Wine's programs take a file as stdin and a pipe as stdout
    "$wine" "$python/python.exe" "$@" </dev/null 2>&1 | cat
    return "${PIPESTATUS[0]}"
}
life() {
    windows tests/checks/portable_life.py >"$built/life.txt"
    diff "$built/expected.txt" "$built/life.txt"
}

windows -c "" >/dev/null # Wine makes its folder, and reports that
unpack "$wheel"
$PY tests/checks/portable_life.py >"$built/expected.txt"
life
echo "a life of a file: $(wc -l <"$built/life.txt") lines are those of this machine"

$PY tools/windows/build.py --aside
unpack "$(ls "$built"/ragfile-*-win_amd64.whl)"
life
echo "the same, with every replaced file stepping aside"
windows tests/checks/dies_aside.py

unpack "$wheel"
windows -m ragfile.conformance --vectors spec/vectors
if [ $# = 0 ]; then
    set -- tests/core tests/file tests/search tests/write
fi
windows -m pytest -q -p no:cacheprovider -p no:faulthandler "$@"
