# A fresh Debian for the tests of packages, by mmdebstrap, kept as build/package-root.tar for the
# next run. Sourced behind feeders/lib.sh, in a mount namespace of the test's own, with which the
# mounts end.
PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$BIN/.." && pwd)
ROOT=$WORK/root PACKAGES=$WORK/packages
CACHED_ROOT=$BUILD/../package-root.tar
mkdir "$ROOT" "$PACKAGES"
CLEAN_ENVIRONMENT=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive)
skip() { echo "ok $((COUNT += 1)) - $1 # SKIP $2"; }
has() { command -v "$1" >/dev/null; }
quietly() { "$@" >"$WORK/said" 2>&1 || { sed 's/^/# /' "$WORK/said"; return 1; }; }
in_root() { "${CLEAN_ENVIRONMENT[@]}" chroot "$ROOT" "$@"; }
node() {
  [ -c "$ROOT/dev/$1" ] || { mknod "$ROOT/dev/$1" c "$2" "$3" && chmod 666 "$ROOT/dev/$1"; }
}

# build_packages [COMPONENT...]: into $PACKAGES; all if none is named.
build_packages() {
  local components="$*" status=0
  quietly cpack --config "$BUILD/CPackConfig.cmake" -B "$PACKAGES" \
    ${components:+-D "CPACK_COMPONENTS_ALL=${components// /;}"} || status=$?
  rm -rf "$PACKAGES/_CPack_Packages"
  return $status
}

# make_root: in $ROOT, with systemd and what $PACKAGES depend on. $WORK/said tells why there is
# none.
make_root() {
  local depends each sources=()
  depends=systemd,$(for each in "$PACKAGES"/*.deb; do dpkg-deb -f "$each" Depends; echo; done |
    tr ',' '\n' | sed 's/(.*//; s/ //g' | grep -v '^libtally\|^$' | sort -u | paste -sd,)
  if [ "$(tar -xOf "$CACHED_ROOT" ./.depends 2>/dev/null)" != "$depends" ]; then
    for each in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
      /etc/apt/sources.list.d/*.sources; do
      [ -s "$each" ] && sources+=("$each")
    done
    cat /etc/apt/apt.conf.d/* | grep -E '^Acquire::(Check-|http|https|Retries)' >"$WORK/apt.conf"
    timeout 600 mmdebstrap --format=tar --variant=minbase --include="$depends" \
      --aptopt="$WORK/apt.conf" --dpkgopt=force-unsafe-io \
      --customize-hook="echo $depends >\"\$1/.depends\"" \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" \
      "$CACHED_ROOT.$$" "${sources[@]}" >"$WORK/said" 2>&1 || { rm -f "$CACHED_ROOT.$$"; return 1; }
    mv "$CACHED_ROOT.$$" "$CACHED_ROOT"
  fi
  mount -t tmpfs root "$ROOT" || return 1
  tar -C "$ROOT" -xf "$CACHED_ROOT" || { umount "$ROOT"; return 1; }
}
