# Installs Debian or Ubuntu packages that are missing. Sourced by quickstart.sh and check.sh.
say() { printf '\n== %s\n' "$*"; }

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
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "these packages are missing and this is neither root nor a machine with sudo; install them: ${missing[*]}" >&2
      return 1
    }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq || echo "apt-get update failed; trying with the lists that are here" >&2
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

build_packages=(g++ cmake ninja-build pkg-config libfmt-dev libssl-dev libhwy-dev nlohmann-json3-dev libcli11-dev)
peer_packages=(openmpi-bin libopenmpi-dev mpich libmpich-dev)
[ "$(dpkg --print-architecture)" = amd64 ] && peer_packages+=(libgloo-dev)
test_packages=(catch2 python3 valgrind)
