#!/usr/bin/env bash
# Installs what is missing, builds, and all-reduces over four ranks of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh

say "1/3 packages"
install_missing "${build_packages[@]}"
say "2/3 build (build/release)"
cmake --preset release -DSIRCL_TESTS=OFF >build-quickstart.log 2>&1 || { cat build-quickstart.log; exit 1; }
rm -f build-quickstart.log
cmake --build --preset release -j "$(nproc)"
say "3/3 four ranks, shared memory"
exec build/release/bench/ring_allreduce_bench --local 4 -b 1K -e 16M -f 4 --transport shm "$@"
