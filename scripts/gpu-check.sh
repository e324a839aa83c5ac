#!/bin/sh
# Build the GPU library on a bare CUDA machine (nvcc, cmake, a C and C++ compiler; no packages), run its
# tests, compute-sanitizer on small sizes, and the benches. Prints one table; exit 1 if anything failed.
#
#   scripts/gpu-check.sh [quick|sanitize|bench|porep32|all] [BUILD_DIR]
#
# quick: tests. sanitize: four tools on small sizes. bench: kernels on resident data. porep32: full-size
# partitions (scripts/gpu-porep32.sh). all: quick, sanitize and bench, under 9 minutes on 16 cores.
set -u
source_dir=$(cd "$(dirname "$0")/.." && pwd)
what=${1:-all}
build=${2:-/tmp/cuzk-gpu}
PATH=$PATH:/usr/local/cuda/bin
[ "$what" = porep32 ] && exec sh "$source_dir/scripts/gpu-porep32.sh" "$build"
case $what in quick | sanitize | bench | all) ;; *)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
mkdir -p "$build"
table=$build/table.txt
: >"$table"
failed=0

# row NAME SECONDS RESULT
row() { printf '| %-34s | %6s s | %-7s |\n' "$1" "$2" "$3" >>"$table"; }
# run NAME COMMAND...: output to a log, the end of it when the command fails
run() {
    name=$1
    shift
    log=$build/$(echo "$name" | tr ' /' '--').log
    start=$(date +%s)
    "$@" >"$log" 2>&1
    code=$?
    case $code in
    0) result=passed ;;
    77) result=skipped ;;
    *) result=FAILED failed=1 && tail -n 20 "$log" ;;
    esac
    row "$name" $(($(date +%s) - start)) "$result"
    return $code
}
make_it() {
    cmake -S "$source_dir" -B "$build" -DCUZK_DAEMON=OFF &&
        cmake --build "$build" -j "$(nproc)" --target test_device_math test_device_sums test_device_ntt \
            test_device_eval test_gpu_plan test_gpu_sums test_gpu_ntt test_gpu_golden bench_gpu
}

run build make_it || { cat "$table"; exit 1; }
tests=$build/tests/cuda
if [ "$what" != sanitize ] && [ "$what" != bench ]; then
    for test in test_device_math test_device_sums test_device_ntt test_device_eval test_gpu_plan \
        test_gpu_sums test_gpu_ntt test_gpu_golden; do
        run "$test" "$tests/$test"
    done
fi
if [ "$what" = sanitize ] || [ "$what" = all ]; then
    for tool in memcheck racecheck initcheck synccheck; do
        for test in test_gpu_sums test_gpu_ntt; do
            run "$tool $test" compute-sanitizer --error-exitcode 1 --tool "$tool" "$tests/$test" small
        done
    done
fi
if [ "$what" = bench ] || [ "$what" = all ]; then
    for part in ntt subset msm; do
        run "bench $part" "$tests/bench_gpu" "$part" && grep '^|' "$build/bench-$part.log" >"$build/$part.txt"
    done
fi
echo
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
printf '| %-34s | %8s | %-7s |\n| --- | ---: | --- |\n' what time result
cat "$table"
for part in ntt subset msm; do
    [ -f "$build/$part.txt" ] && { echo; cat "$build/$part.txt"; }
done
exit $failed
