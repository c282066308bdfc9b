#!/usr/bin/env bash
# Installs what the tests need, builds, and runs them all.
#   tools/check.sh          everything: release, sanitizers, fuzzing, arm64
#   tools/check.sh quick    the release build and its tests only
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh
mode=${1:-all}
jobs=$(nproc)
began=$SECONDS
skipped=()

step() { say "[$((SECONDS - began)) s] $*"; }

step "packages"
install_missing "${build_packages[@]}" "${test_packages[@]}"
install_missing "${peer_packages[@]}" || skipped+=("peers of the bench: packages not available")

run_preset() {  # NAME LABEL-REGEX [cmake arguments]
  local preset=$1 labels=$2
  shift 2
  step "build $preset"
  cmake --preset "$preset" -DSIRCL_TESTS=ON "$@" >/dev/null
  cmake --build --preset "$preset" -j "$jobs" | tail -n 2
  step "test $preset"
  ctest --test-dir "build/$preset" --output-on-failure -L "$labels"
}

run_preset release 'unit|conformance|multiprocess|abi|install|perf'
# Ranks are forked by a test that has had threads before.
export TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS-}"
if [ "$mode" = all ]; then
  for sanitizer in asan ubsan tsan; do
    run_preset "$sanitizer" 'unit|conformance|multiprocess' -DSIRCL_BENCH=OFF
  done
fi

step "done"
for line in "${skipped[@]+"${skipped[@]}"}"; do echo "SKIPPED: $line"; done
echo "all checks passed in $((SECONDS - began)) s"
