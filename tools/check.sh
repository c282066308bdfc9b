#!/usr/bin/env bash
# Installs what the tests need, builds, and runs them all.
#   tools/check.sh          everything: release, Clang, sanitizers, fuzzing, arm64
#   tools/check.sh quick    the release build and its tests only
#   tools/check.sh STEP...  only these steps, in this order: release clang asan tsan fuzz arm64
# A step that fails does not stop the others. Whole logs: build/logs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tools/packages.sh
logs=$PWD/build/logs
jobs=$(nproc)
fuzz_seconds=${SIRCL_FUZZ_SECONDS:-60}
table=()
skipped=()
failed=0
optional=0  # 1: a part that fails is skipped
mkdir -p "$logs"

skip() {
  skipped+=("$*")
  echo "SKIPPED: $*"
}

# Shows every 25th command of a build, and everything that is no command.
progress() { awk '/^\[[0-9]+\/[0-9]+\]/ { if (++n % 25 == 0) { print; fflush() } next } { print; fflush() }'; }

# part NAME COMMAND...: runs it, keeps its log, notes time and outcome.
part() {
  local name=$1 began=$SECONDS outcome=ok
  shift
  say "$name"
  "$@" 2>&1 | tee "$logs/${name// /-}.log" | progress ||
    { if [ "$optional" = 1 ]; then outcome=skipped; else outcome=FAILED failed=1; fi; }
  table+=("$(printf '%-28s %-7s %5d s' "$name" "$outcome" $((SECONDS - began)))")
  # Tests that do not run must be seen.
  local line
  while IFS= read -r line; do skipped+=("$name: $line"); done \
    < <(sed -n 's/.*Test *#[0-9]*: \(.*[^.]\) *\.*\*\*\*Skipped.*/\1/p' "$logs/${name// /-}.log")
  [ "$outcome" = ok ]
}

# build NAME PRESET "TARGET..." [cmake arguments]: in build/NAME
build() {
  local name=$1 preset=$2 targets
  read -ra targets <<<"$3"
  shift 3
  cmake --preset "$preset" -B "build/$name" -DSIRCL_TESTS=ON "$@" >"$logs/configure-$name.log" 2>&1 ||
    { cat "$logs/configure-$name.log"; return 1; }
  cmake --build "build/$name" -j "$jobs" --target "${targets[@]}"
}

# run_tests NAME LABELS [ctest arguments]
run_tests() {
  local name=$1 labels=$2
  shift 2
  "${fixed_layout[@]}" ctest --test-dir "build/$name" --output-on-failure --no-tests=error -L "$labels" "$@"
}
fixed_layout=()

release() {
  part "release build" build release release all -DSIRCL_WERROR=ON || return
  part "release unit" run_tests release '^unit$' -j "$jobs"
  part "release multiprocess" run_tests release 'conformance|multiprocess|abi'
  part "release install, perf" run_tests release 'install|perf'
  part "release rig" run_tests release '^rig$'
}

clang=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DSIRCL_WERROR=ON)
clang() {
  part "clang build" build clang release "sircl ring_allreduce_bench sircl_bench_peers tests_unit" "${clang[@]}" || return
  part "clang unit" run_tests clang '^unit$' -j "$jobs"
}

# Clang compiles vector code with sanitizers several times faster than GCC does.
sanitize=("${clang[@]}" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DSIRCL_BENCH=OFF)
sanitized_tests="tests_unit tests_conformance tests_multiprocess"

asan() {
  part "asan, ubsan build" build asan asan "$sanitized_tests" "${sanitize[@]}" -DSIRCL_SANITIZE=address,undefined || return
  part "asan, ubsan unit" run_tests asan '^unit$' -j "$jobs"
  part "asan, ubsan multiprocess" run_tests asan 'conformance|multiprocess'
}

tsan() {
  # Ranks are forked by tests that have had threads before.
  export TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS-}"
  # ThreadSanitizer of these compilers does not know the address layouts of newer kernels.
  setarch "$(uname -m)" -R true 2>/dev/null && fixed_layout=(setarch "$(uname -m)" -R)
  part "tsan build" build tsan tsan "$sanitized_tests" "${sanitize[@]}" || return
  # Kernels and schedules are pure functions without threads.
  part "tsan unit" run_tests tsan '^unit$' -E '^(reduce|schedule)_' -j "$jobs"
  part "tsan multiprocess" run_tests tsan 'conformance|multiprocess'
  fixed_layout=()
}

fuzz_one() {  # TARGET: what it found stays in build/fuzz/found
  local corpora=("build/fuzz/corpus/$1") seeds=tests/fuzz/corpus/${1#fuzz_}
  mkdir -p "${corpora[@]}" build/fuzz/found
  [ -d "$seeds" ] && corpora+=("$seeds")
  "build/fuzz/tests/fuzz/$1" -max_total_time="$fuzz_seconds" -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$1-" "${corpora[@]}" >"$logs/$1.log" 2>&1 ||
    { echo "$1 FAILED"; tail -n 60 "$logs/$1.log"; return 255; }
  echo "$1: $(sed -n 's/stat::number_of_executed_units: */runs: /p' "$logs/$1.log"), $fuzz_seconds s"
}

fuzz_all() {
  export -f fuzz_one
  export logs fuzz_seconds
  printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'fuzz_one {}'
}

fuzz() {
  part "fuzz configure" cmake --preset fuzz -DSIRCL_TESTS=ON || return
  local targets
  mapfile -t targets < <(ctest --test-dir build/fuzz -N -L '^fuzz$' | sed -n 's/.*: \(fuzz_[a-z0-9_]*\)$/\1/p')
  part "fuzz build" build fuzz fuzz "${targets[*]}" || return
  part "fuzz, $fuzz_seconds s each" fuzz_all "${targets[@]}"
}

arm64() {
  optional=1 part "arm64 packages" install_arm64 || {
    skip "arm64: $(tail -n 1 "$logs/arm64-packages.log")"
    return
  }
  part "arm64 build" build arm64 arm64 tests_unit -DSIRCL_BENCH=OFF -DSIRCL_WERROR=ON || return
  # The emulator has neither process_vm_readv nor a limit of the address space.
  skip "arm64: sys_shared_memory and transport_shm need calls that the emulator lacks"
  part "arm64 unit, NEON" env QEMU_CPU=cortex-a72 ctest --test-dir build/arm64 --output-on-failure --no-tests=error \
    -L '^unit$' -E '^(sys_shared_memory|transport_shm)$' -j "$jobs"
  # The vector length of current Arm processors, and one that is longer.
  part "arm64 reduce, SVE2 128" env QEMU_CPU=max,sve-max-vq=1 ctest --test-dir build/arm64 --output-on-failure --no-tests=error -R '^reduce_'
  part "arm64 reduce, SVE2 256" env QEMU_CPU=max,sve-max-vq=2 ctest --test-dir build/arm64 --output-on-failure --no-tests=error -R '^reduce_'
}

case ${1-all} in
  all) steps=(release clang asan tsan fuzz arm64) ;;
  quick) steps=(release) ;;
  *) steps=("$@") ;;
esac
for step in "${steps[@]}"; do
  case $step in
    release | clang | asan | tsan | fuzz | arm64) ;;
    *) echo "unknown step $step; known are release clang asan tsan fuzz arm64" >&2; exit 2 ;;
  esac
done

part "packages" install_missing "${build_packages[@]}" "${test_packages[@]}" || exit 1
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache
if [[ " ${steps[*]} " == *" release "* ]]; then
  optional=1 part "packages of peers" install_missing "${peer_packages[@]}" ||
    skip "peers of the benchmark: their packages cannot be installed"
fi
if [[ " ${steps[*]} " =~ \ (clang|asan|tsan|fuzz)\  ]]; then
  mapfile -t clang_needs < <(clang_packages)
  optional=1 part "packages of clang" install_missing "${clang_needs[@]}" || {
    skip "clang, asan, tsan, fuzz: Clang cannot be installed"
    mapfile -t steps < <(printf '%s\n' "${steps[@]}" | grep -vxE 'clang|asan|tsan|fuzz')
  }
fi
for step in "${steps[@]}"; do $step; done

say "times"
printf '%s\n' "${table[@]}"
for line in "${skipped[@]+"${skipped[@]}"}"; do echo "SKIPPED: $line"; done
if [ "$failed" != 0 ]; then
  echo "CHECKS FAILED after $SECONDS s; logs in build/logs"
  exit 1
fi
echo "all checks passed in $SECONDS s"
