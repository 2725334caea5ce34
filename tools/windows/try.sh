#!/usr/bin/env bash
# Build the wheel for Windows and try it in python.org's Python under Wine:
#
#     tools/windows/try.sh [PART …]      the default: every part; `build` comes first, then any order
#
#   build        the wheel, the wheel whose replaced files always step aside, python.org's Python, what tests need
#   life         bytes, answers and refusals of tests/checks/portable_life.py equal those of this machine, also if each
#                replaced file steps aside, and if a writer dies between its two renames
#   conformance  the files of spec/vectors/
#   kills        writers killed beside readers: tests/crash/kill.py and kill_life.py; ROUNDS=20
#   ROOM         a folder of tests/, without the modules of tests/not_on_windows.toml; a path below tests/ works as well
#
# A result is kept until the next build, and each call ends with the table of all of them.
#
# Wine has no rule that a mapped file cannot be replaced; the job `windows` of the workflow runs the same steps on
# Windows itself. Needs x86-64 Linux; installs wine64 with apt-get if it is root.
set -euo pipefail
cd "$(dirname "$0")/../.."
PY=${PY:-.venv/bin/python}
built=$PWD/build/windows results=$PWD/build/windows/results
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

unpack() { # the wheel of this machine's dist/, or the one whose files step aside
    rm -rf "$packages/ragfile"
    $PY -m zipfile -e "$1" "$packages"
}
windows() { # Wine's programs take a file as stdin and a pipe as stdout
    "$wine" "$python/python.exe" "$@" </dev/null 2>&1 | cat
    return "${PIPESTATUS[0]}"
}
same_life() {
    windows tests/checks/portable_life.py >"$built/life.txt"
    diff "$built/expected.txt" "$built/life.txt"
}

build() {
    $PY tools/windows/build.py --aside
    find_python
    rm -rf "$results"
    mkdir -p "$packages" "$results"
    printf 'python313.zip\n.\npackages\nimport site\n' >"$python/python313._pth"
    rm -f "$python/_wmi.pyd" # calls what Wine lacks
    if [ ! -d "$packages/pytest" ]; then
        # The newest numpy that calls no function that Wine's C library lacks.
        $PY -m pip install -q --platform win_amd64 --python-version 3.13 --only-binary=:all: --target "$packages" \
            "numpy==2.1.3" "$(wheel dist)" pytest hypothesis pytest-benchmark tokenizers zstandard cryptography
    fi
    windows -c "" >/dev/null # Wine makes its folder, and reports that
    unpack "$(wheel dist)"
    echo "two wheels, $(stat -c %s "$(wheel dist)") bytes"
}
life() {
    $PY tests/checks/portable_life.py >"$built/expected.txt"
    same_life
    unpack "$(wheel build/windows)"
    same_life
    windows tests/checks/dies_aside.py
    unpack "$(wheel dist)"
    echo "$(wc -l <"$built/life.txt") lines are those of this machine, also with files that step aside"
}
conformance() { windows -m ragfile.conformance --vectors spec/vectors; }
kills() {
    windows tests/crash/kill.py kill --rounds "${ROUNDS:-20}"
    windows tests/crash/kill_life.py kill --rounds "${ROUNDS:-20}"
}
room() { windows -m pytest -q -p no:cacheprovider -p no:faulthandler "tests/$1"; }

wheel() { echo "$PWD/$1"/ragfile-*-win_amd64.whl; }
find_python() {
    python=$(dirname "$(find "$built/python" -name python3.dll 2>/dev/null)")
    packages=$python/packages
}

find_python
failed=0
[ $# -gt 0 ] || set -- build life conformance kills core file ground search write
for part in "$@"; do
    SECONDS=0 log=$(mktemp) state=FAILED
    if [ "$part" != build ] && [ ! -d "$results" ]; then
        echo "nothing is built: make windows PART=build" >&2
        exit 1
    fi
    case $part in
    build | life | conformance | kills) run=$part ;;
    *) run="room $part" ;;
    esac
    set +e # beside && or ||, no command below would end its part
    (set -e; $run) 2>&1 | tee "$log"
    if [ "${PIPESTATUS[0]}" = 0 ]; then state=passed; else failed=1; fi
    set -e
    [ "$part" != build ] || find_python
    printf '%-24s %s  %5d s  %s\n' "$part" $state $SECONDS "$(tail -n 1 "$log")" >"$results/${part//\//-}.txt"
    rm -f "$log"
done
printf '\nof the wheel that the last build made:\n'
cat "$results"/*.txt
exit $failed
