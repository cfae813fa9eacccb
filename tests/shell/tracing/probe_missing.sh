# Where there can be no probes: what is missing, and what to do, from the files and from tallyctl.
TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl
T=$MNT/tracing

_set_up() {
  need_root
  export TALLY_MOUNT=$MNT
}
_log() { tail -3 "$T/error_log" | sed 's/^\[[^]]*\]/[T]/' | head -1; }
# _inside COMMAND: in the namespaces of the daemon.
_inside() { nsenter --all --target "$DAEMON" bash -c "$1"; }
# _start_in COMMAND...: a daemon with -o tracefs, in the namespaces that the command makes.
_start_in() {
  printf '#!/bin/bash\nexec %s "%s" "$@"\n' "$*" "$(command -v "$TALLYFS")" >"$CASE/apart"
  chmod 755 "$CASE/apart"
  local TALLYFS=$CASE/apart
  start_daemon -o tracefs
}

a_mount_without_the_kernels_events_says_what_probes_need() {
  start_daemon
  [ ! -e "$T/uprobe_events" ] || fail "uprobe_events is there"
  assert_fails_with 'No such device' bash -c 'echo "p:a /bin/bash:main" >>"$1"' - \
    "$T/dynamic_events"
  assert_match '\[T\] .*: error: probes need tallyfs -o tracefs, as root' "$(_log)"
  local said='no tracefs is mounted here'
  if [ ! -e /sys/bus/event_source/devices/uprobe ]; then
    said='this kernel has no uprobes'
  elif [ -e /sys/kernel/tracing/uprobe_events ] ||
    [ -e /sys/kernel/debug/tracing/uprobe_events ]; then
    said='start it as root with tallyfs -o tracefs'
  fi
  assert_fails_with "$said" "$TALLYCTL" probe count bash main --for 1s
}

# It may not look into the tracefs.
another_user_is_told_that_the_mount_has_no_probes() {
  [ -e /sys/bus/event_source/devices/uprobe ] || skip "no uprobes here"
  start_daemon -o allow_other
  chmod 755 "$CASE" "$CASE/run"
  cp "$(command -v "$TALLYCTL")" "$CASE/tallyctl"
  assert_fails_with 'start it as root with tallyfs -o tracefs' unshare -m bash -c \
    '! mountpoint -q /sys/kernel/tracing || umount -l /sys/kernel/tracing
    mount -t tracefs -o mode=700 nodev /sys/kernel/tracing && exec "$@"' - \
    setpriv --reuid=nobody --regid=nogroup --clear-groups -- \
    env TALLY_MOUNT="$MNT" "$CASE/tallyctl" probe ls
}

# The directory by which a kernel says that it has uprobes is hidden.
a_kernel_without_uprobes_says_so() {
  [ -d /sys/bus/event_source/devices ] || skip "this kernel has no such directory"
  _start_in unshare -m bash -c \
    "'mount -t tmpfs none /sys/bus/event_source/devices && exec \"\$0\" \"\$@\"'"
  _inside '[ ! -e "$TALLY_MOUNT/tracing/uprobe_events" ]' || fail "uprobe_events is there"
  assert_fails_with 'Invalid argument' _inside \
    'echo "p:a /bin/bash:main" >>"$TALLY_MOUNT/tracing/dynamic_events"'
  assert_eq '[T] probe: error: this kernel has no uprobes (CONFIG_UPROBE_EVENTS)' \
    "$(_inside 'tail -3 "$TALLY_MOUNT/tracing/error_log"' | sed 's/^\[[^]]*\]/[T]/' | head -1)"
  assert_fails_with 'this kernel has no uprobes (CONFIG_UPROBE_EVENTS): no program can be probed' \
    _inside "'$TALLYCTL' probe count bash main --for 1s"
}

# Root of a user namespace may not mount tracefs.
a_container_without_tracefs_says_what_to_do() {
  unshare -Urm true 2>/dev/null || skip "NO USER NAMESPACES HERE"
  grep -q tracefs /proc/mounts && skip "A TRACEFS IS MOUNTED HERE, WHICH A CONTAINER WOULD HAVE"
  _start_in unshare -Urm
  local said='no tracefs can be reached here: mount -t tracefs nodev /sys/kernel/tracing'
  [ -e /sys/bus/event_source/devices/uprobe ] || skip "no uprobes here"
  assert_has 'no tracefs can be reached' "$(cat "$STDERR")"
  assert_fails_with 'No such device' _inside \
    'echo "p:a /bin/bash:main" >>"$TALLY_MOUNT/tracing/uprobe_events"'
  assert_has "probe: error: $said" "$(_inside 'cat "$TALLY_MOUNT/tracing/error_log"')"
  assert_fails_with "$said" _inside "'$TALLYCTL' probe count bash main --for 1s"
  assert_fails_with "$said" _inside "'$TALLYCTL' probe add bash main"
}

# Nobody may see that there are probes, and nothing more.
another_user_than_root_is_told_so() {
  start_daemon -o tracefs -o allow_other
  [ -e "$T/uprobe_events" ] || skip "no uprobes here"
  chmod 755 "$CASE" "$CASE/run"
  assert_fails_with 'Permission denied' as_nobody bash -c 'echo "p:a /bin/bash:main" >>"$1"' - \
    "$T/uprobe_events"
  cp "$(command -v "$TALLYCTL")" "$CASE/tallyctl"
  assert_fails_with 'only root probes programs: sudo tallyctl probe' as_nobody \
    env TALLY_MOUNT="$MNT" "$CASE/tallyctl" probe count /bin/bash main --for 1s
  assert_fails_with 'only root probes programs' as_nobody \
    env TALLY_MOUNT="$MNT" "$CASE/tallyctl" probe renew main
}
