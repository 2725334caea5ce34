#!/usr/bin/env bash
# Run Python for aarch64 under qemu with a wheel and its dependencies:
#
#     tools/run_aarch64.sh dist/ragfile-*manylinux*_aarch64.whl -m ragfile.conformance --vectors "$PWD/spec/vectors"
#
# Python comes from the distribution's archive, packages from the Python registry. Needs apt (Debian, Ubuntu)
# and qemu-user.
set -euo pipefail
wheel=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,root,packages}

foreign=(-o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State::Lists=$work/lists"
    -o "Dir::Cache::Archives=$work/archives" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
apt-get "${foreign[@]}" update -qq
apt-get "${foreign[@]}" install -y -qq --download-only --no-install-recommends python3-minimal libpython3-stdlib \
    libstdc++6 zlib1g >/dev/null
for package in "$work"/archives/*.deb; do
    dpkg-deb -x "$package" "$work/root"
done
python=$(basename "$(echo "$work"/root/usr/bin/python3.[0-9]*)")
python3 -m pip install -q --target "$work/packages" --only-binary=:all: --implementation cp \
    --python-version "${python#python}" --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
    --platform manylinux_2_17_aarch64 --platform linux_aarch64 "$wheel"
cd "$work"
PYTHONPATH=$work/packages qemu-aarch64 -cpu max -L "$work/root" "$work/root/usr/bin/$python" "$@"
