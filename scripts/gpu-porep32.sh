#!/bin/sh
# Full-size PoRep partitions on a machine with nvcc and cmake: fixtures proven on the GPU, development
# parameters of 47 GB made on it, then partitions with all points resident and in small arenas.
#
#   scripts/gpu-porep32.sh [BUILD_DIR [PARAMS_DIR [CIRCUIT [VRAM_LIMIT_MIB...]]]]
#
# PARAMS_DIR: default /dev/shm when it has room, else BUILD_DIR. An unlimited run comes first.
set -eu
source_dir=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-/tmp/cuzk-gpu}
params=${2:-}
circuit=${3:-porep-32g}
[ $# -gt 3 ] && shift 3 || set --
if [ -z "$params" ]; then
    params=$build/params
    [ "$(df --output=avail -k /dev/shm | tail -n 1)" -gt 60000000 ] && params=/dev/shm/cuzk-params
fi
started=$(date +%s)
stamp() { echo "== $* ($(($(date +%s) - started)) s)"; }
mkdir -p "$build" "$params"
cmake -S "$source_dir" -B "$build" -DCUZK_DAEMON=OFF >"$build/cmake.log"
cmake --build "$build" -j "$(nproc)" --target test_gpu_golden bench_partition cuzk >"$build/build.log" 2>&1 ||
    { tail -n 30 "$build/build.log"; exit 1; }
stamp built
"$build/cuzk" doctor
"$build/tests/cuda/test_gpu_golden"
stamp fixtures
# The command line from end to end.
small=$build/porep-2k
"$build/cuzk" synth porep --sector-size 2KiB --out "$small.c1"
"$build/cuzk" setup --circuit porep-2k --out "$small" --device cuda
for device in cuda cuda:0@1500MiB cpu; do
    "$build/cuzk" prove porep --c1 "$small.c1" --params "$small" --device "$device" --out "$small.proof"
done
stamp "command line"
"$build/tests/cuda/bench_partition" "$circuit" "$params"
for limit in "$@"; do
    stamp "arena of $limit MiB"
    "$build/tests/cuda/bench_partition" "$circuit" "$params" "$limit" 3
done
stamp done
