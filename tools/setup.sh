# Shell functions for tools/demo and tools/test, which source this file. It changes to the project's top folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 2
}

# installed PACKAGE[|PACKAGE...]: succeeds if one of them is installed.
installed() {
  local name
  for name in ${1//|/ }; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^.i' && return
  done
  return 1
}

# need WORD...: installs the missing ones of the packages that tools/packages lists after these words.
need() {
  local words missing=() package
  words=$(IFS='|' && echo "$*")
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian: nothing is installed. tools/packages lists what lp needs, by its Debian names." >&2
    return
  fi
  for package in $(awk -v words="^($words)$" '$1 ~ words { print $2 }' tools/packages); do
    installed "$package" || missing+=("${package%%|*}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$install" = no ]; then
    echo "Not installed: ${missing[*]}" >&2
    return
  fi
  local root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "missing ${missing[*]}: install them as root, or install sudo"
    root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${root[@]}" apt-get update -q || fail "apt-get update failed: is there a network? Missing: ${missing[*]}"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}; lp is made for Debian 12"
}

# build PRESET [TARGET...]: configures and builds a preset of CMakePresets.json; all targets if none is named.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" &&
    cmake --build --preset "$preset" --parallel "$jobs" ${@:+--target "$@"}
}
