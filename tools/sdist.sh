#!/usr/bin/env bash
# Build the source distribution into dist/ and test it: it contains every file of the repository and the generated
# files for browsers, it becomes a wheel without Cython and without network, from libzstd's sources that it contains, and
# its own tests pass with that wheel.
# Arguments go to pytest. With --built, it tests the source distribution that tools/wheels.sh left in dist/.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${1:-}" = --built ]; then
    shift
else
    python3 tools/build_web.py
    python3 -m venv "$work/builder"
    "$work/builder/bin/pip" install -q build
    rm -f dist/ragfile-*.tar.gz
    "$work/builder/bin/python" -m build -q --sdist --outdir dist .
fi
mkdir "$work/tree"
tar -xzf dist/ragfile-*.tar.gz -C "$work/tree" --strip-components=1

if git rev-parse -q --is-inside-work-tree >/dev/null 2>&1; then
    missing=$(comm -23 <((git ls-files; git ls-files -o ragfile/doors/browser) | sort) <(cd "$work/tree" && find . -type f | sed 's,^\./,,' | sort))
    [ -z "$missing" ] || { printf 'not in the source distribution:\n%s\n' "$missing" >&2; exit 1; }
fi

python3 -m venv "$work/clean"
"$work/clean/bin/pip" install -q "setuptools>=77"
env -u RAGFILE_PINNED -u PIP_FIND_LINKS PIP_NO_INDEX=1 "$work/clean/bin/pip" wheel -q --no-index --no-deps --no-build-isolation -w "$work" "$work/tree"
"$work/clean/bin/pip" install -q "$(echo "$work"/ragfile-*.whl)[test]"
"$work/clean/bin/python" tools/check_wheel.py "$work"/ragfile-*.whl
! "$work/clean/bin/python" -c "import Cython" 2>/dev/null || { echo "Cython is in the clean environment" >&2; exit 1; }
cd "$work/tree/tests"
"$work/clean/bin/python" -m pytest -q -p no:cacheprovider "$@"
