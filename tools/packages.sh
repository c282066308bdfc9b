# shellcheck shell=bash disable=SC2034
# Installs Debian or Ubuntu packages that are missing. Sourced by quickstart.sh and check.sh.
say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "this is neither root nor a machine with sudo; needed: $*" >&2
    return 1
  fi
}

install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "all needed packages are installed"
    return 0
  fi
  echo "installing: ${missing[*]}"
  as_root apt-get update -qq || echo "apt-get update failed; trying with the lists that are here" >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# libclang-rt of the version that the package clang stands for; its name holds that version.
clang_packages() {
  local major
  major=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
  echo clang
  [ -z "$major" ] || echo "libclang-rt-$major-dev"
}

# Packages of two architectures stand beside each other only in one version, so both are named.
install_arm64() {
  if [ "$(dpkg --print-architecture)" != amd64 ]; then
    echo "the cross-build is made for amd64 machines" >&2
    return 1
  fi
  if ! dpkg --print-foreign-architectures | grep -qx arm64; then
    if grep -qx 'ID=ubuntu' /etc/os-release; then
      echo "Ubuntu keeps arm64 packages in another archive than amd64; add it to the apt sources and" \
        "run: dpkg --add-architecture arm64" >&2
      return 1
    fi
    as_root dpkg --add-architecture arm64 || return 1
  fi
  install_missing g++-aarch64-linux-gnu qemu-user libc6:arm64 libstdc++6:arm64 \
    libfmt-dev{,:arm64} libssl-dev{,:arm64} libhwy-dev{,:arm64} libnl-route-3-dev{,:arm64}
}

build_packages=(g++ cmake ninja-build pkg-config libfmt-dev libssl-dev libhwy-dev libnl-route-3-dev nlohmann-json3-dev libcli11-dev)
peer_packages=(openmpi-bin libopenmpi-dev mpich libmpich-dev)
[ "$(dpkg --print-architecture)" = amd64 ] && peer_packages+=(libgloo-dev)
test_packages=(catch2 python3 valgrind ccache)
