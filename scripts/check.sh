#!/bin/sh
# What a change should pass beyond `make test`: formatting, clang, sanitizers. Takes a while.
#   scripts/check.sh [format|clang|asan|tsan]...   (default: all)
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)
[ $# -eq 0 ] && set -- format clang asan tsan

for step in "$@"; do
    echo "== $step"
    case $step in
    format) git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror ;;
    clang | asan | tsan)
        cmake --preset "$step"
        cmake --build "build-$step" -j "$jobs"
        ctest --test-dir "build-$step" -L quick --output-on-failure -j "$jobs"
        ;;
    *)
        echo "unknown step $step" >&2
        exit 2
        ;;
    esac
done
