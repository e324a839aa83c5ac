#!/bin/sh
# Build the GPU library on a bare CUDA machine (nvcc, cmake, a C and C++ compiler; no packages), for its
# card's architecture, run its tests, compute-sanitizer on small sizes, and the benches. Prints one
# table; exit 1 if anything failed.
#
#   scripts/gpu-check.sh [quick|sanitize|bench|porep32|engine|all] [BUILD_DIR [PARAMS_DIR [ARGUMENT...]]]
#
# quick: tests. sanitize: four tools on small sizes, side by side. bench: kernels on resident data.
# porep32: full-size partitions (scripts/gpu-porep32.sh). engine: several jobs on one card at full size
# (tests/cuda/bench_engine.c; ARGUMENTs are its scenarios and options; parameters in PARAMS_DIR, by
# default in /dev/shm, are made when they are missing). all: quick, sanitize and bench; its
# time is in docs/benchmarks/gpu-kernels.md.
set -u
source_dir=$(cd "$(dirname "$0")/.." && pwd)
what=${1:-all}
build=${2:-/tmp/cuzk-gpu}
PATH=$PATH:/usr/local/cuda/bin
[ "$what" = porep32 ] && exec sh "$source_dir/scripts/gpu-porep32.sh" "$build"
case $what in quick | sanitize | bench | engine | all) ;; *)
    sed -n '2,13s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
rows=$build/rows
rm -rf "$rows"
mkdir -p "$rows"
n_rows=100

# run NAME COMMAND...: output to a log, the end of it when the command fails; a row of the table
run() {
    name=$1
    shift
    n_rows=$((n_rows + 1))
    run_row "$rows/$n_rows" "$name" "$@"
}
# start NAME COMMAND...: the same, in the background
start() {
    name=$1
    shift
    n_rows=$((n_rows + 1))
    run_row "$rows/$n_rows" "$name" "$@" &
}
run_row() (
    row=$1
    name=$2
    shift 2
    log=$build/$(echo "$name" | tr ' /' '--').log
    began=$(date +%s)
    "$@" >"$log" 2>&1
    code=$?
    case $code in
    0) result=passed ;;
    77) result=skipped ;;
    124) result=TIMEOUT && tail -n 5 "$log" ;;
    *) result=FAILED && tail -n 20 "$log" ;;
    esac
    printf '| %-38s | %6s s | %-7s |\n' "$name" $(($(date +%s) - began)) "$result" >"$row"
    return $code
)
finish() {
    echo
    command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    printf '| %-38s | %8s | %-7s |\n| --- | ---: | --- |\n' what time result
    cat "$rows"/*
    ! grep -q 'FAILED\|TIMEOUT' "$rows"/*
    exit
}

host_tests="test_device_math test_device_sums test_device_ntt test_device_eval test_gpu_plan test_gpu_faults"
gpu_tests="test_gpu_sums test_gpu_ntt test_gpu_golden"
targets="$host_tests $gpu_tests bench_gpu"
[ "$what" = engine ] && targets=bench_engine
# shellcheck disable=SC2086,SC2317
make_it() {
    cmake -S "$source_dir" -B "$build" -DCUZK_DAEMON=OFF &&
        cmake --build "$build" -j "$(nproc)" --target $targets
}
run build make_it || finish
tests=$build/tests/cuda

if [ "$what" = engine ]; then
    [ $# -gt 3 ] || set -- engine "$build" "${3:-/dev/shm/cuzk-params/porep-32g}" locks overtake small
    params=$3
    shift 3
    mkdir -p "$params"
    run engine "$tests/bench_engine" porep-32g "$params" "$@"
    cat "$build/engine.log"
    finish
fi
if [ "$what" = quick ] || [ "$what" = all ]; then
    for test in $host_tests; do
        start "$test" "$tests/$test"
    done
    for test in $gpu_tests; do
        run "$test" "$tests/$test"
    done
    wait
fi
if [ "$what" = sanitize ] || [ "$what" = all ]; then
    # The tools wait for the card one after another, and so does the host's part of the tests: side by
    # side they fill both. Racecheck needs most memory: its whole partitions come one by one.
    sanitize="timeout 300 compute-sanitizer --error-exitcode 1 --tool"
    # shellcheck disable=SC2086
    race_partitions() {
        for part in small_winning small_porep small_window; do
            run "racecheck test_gpu_golden $part" $sanitize racecheck "$tests/test_gpu_golden" $part
        done
    }
    race_partitions &
    n_rows=$((n_rows + 10)) # the rows of those
    # shellcheck disable=SC2086
    for tool in racecheck initcheck memcheck synccheck; do
        for part in small_porep small_window small_winning; do
            [ $tool = racecheck ] ||
                start "$tool test_gpu_golden $part" $sanitize $tool "$tests/test_gpu_golden" $part
        done
        for test in test_gpu_sums test_gpu_ntt; do
            start "$tool $test" $sanitize $tool "$tests/$test" small
        done
    done
    wait
fi
if [ "$what" = bench ] || [ "$what" = all ]; then
    for part in ntt subset msm tables; do
        [ "$part" = tables ] && most=24 || most=27
        run "bench $part" "$tests/bench_gpu" "$part" "$most" && grep '^|' "$build/bench-$part.log" >"$build/$part.txt"
    done
    for part in ntt subset msm tables; do
        [ -f "$build/$part.txt" ] && { echo; cat "$build/$part.txt"; }
    done
fi
finish
