#!/bin/sh
# Install the Debian packages that are missing: those to build cuzk, and with --test those that only
# the tests need. Does nothing, and needs no network, when all are there.
set -eu

build="gcc g++ make cmake ninja-build pkg-config libyajl-dev"
daemon="libgrpc-dev libprotobuf-c-dev protobuf-c-compiler protobuf-compiler libmicrohttpd-dev
        libsqlite3-dev libtomlplusplus-dev libssl-dev libsystemd-dev"
tests="python3 clang libclang-rt-14-dev"

wanted="$build $daemon"
[ "${1:-}" = "--test" ] && wanted="$wanted $tests"

missing=""
for package in $wanted; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -z "$missing" ] && exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "missing packages:$missing" >&2
        echo "run this as root, or install sudo" >&2
        exit 1
    }
    as_root="sudo"
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
