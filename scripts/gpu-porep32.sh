#!/bin/sh
# Full-size partitions on a machine with nvcc and cmake: fixtures proven on the GPU, development
# parameters made on it (porep-32g 47.6 GB, window-32g 60.8, snap-32g 34.5, winning-32g 0.2), then
# partitions with all points resident and in small arenas.
#
#   scripts/gpu-porep32.sh [-q] [BUILD_DIR [PARAMS_DIR [CIRCUIT [VRAM_LIMIT_MIB...]]]]
#
# -q: no fixtures, no command line. PARAMS_DIR, also when empty: /dev/shm/cuzk-params/CIRCUIT when
# there is room, else BUILD_DIR/params; other circuits' files there are removed first. An unlimited
# run comes first.
set -eu
source_dir=$(cd "$(dirname "$0")/.." && pwd)
quick=
[ "${1:-}" = -q ] && quick=1 && shift
build=${1:-/tmp/cuzk-gpu}
params=${2:-}
circuit=${3:-porep-32g}
[ $# -gt 3 ] && shift 3 || set --
if [ -z "$params" ]; then
    shm=/dev/shm/cuzk-params
    for other in "$shm"/*; do
        [ "$other" = "$shm/$circuit" ] || rm -rf "$other"
    done
    params=$build/params
    # the largest file has 59.4 million KiB
    if [ -d "$shm/$circuit" ] || [ "$(df --output=avail -k /dev/shm | tail -n 1)" -gt 60000000 ]; then
        params=$shm/$circuit
    fi
fi
started=$(date +%s)
stamp() { echo "== $* ($(($(date +%s) - started)) s)"; }
mkdir -p "$build" "$params"
rm -f "$params"/*.tmp.* # of a run that was ended
targets="bench_partition cuzk"
[ -n "$quick" ] || targets="$targets test_gpu_golden"
cmake -S "$source_dir" -B "$build" -DCUZK_DAEMON=OFF >"$build/cmake.log"
# shellcheck disable=SC2086
cmake --build "$build" -j "$(nproc)" --target $targets >"$build/build.log" 2>&1 ||
    { tail -n 30 "$build/build.log"; exit 1; }
stamp built
"$build/cuzk" doctor
if [ -z "$quick" ]; then
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
fi
free -g
"$build/tests/cuda/bench_partition" "$circuit" "$params"
free -g
for limit in "$@"; do
    stamp "arena of $limit MiB"
    "$build/tests/cuda/bench_partition" "$circuit" "$params" "$limit" 3
done
stamp done
