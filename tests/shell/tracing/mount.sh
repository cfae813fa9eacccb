# The tracing directory as a mount of its own, and as a bind mount.
_set_up() { :; }

a_part_of_the_tree_is_mounted_alone() {
  start_daemon -o subtree=tracing,fsname=tracefs
  assert_match "tracefs on $MNT type fuse.tallyfs .*" "$(mount | grep tracefs | grep "$MNT")"
  [ -f "$MNT/README" ] && [ -d "$MNT/events/ftrace/print" ] && [ ! -e "$MNT/statistics" ] ||
    fail "$(ls "$MNT")"
  assert_eq "$(stat -c %i "$MNT")" "$(stat -c %i "$MNT/events/..")"
  send 'event define web/request u64 lat; pid_t pid'
  wait_until '[ -d "$MNT/events/web/request" ]'
  (cd "$MNT" && bash -e) <<'EOT'
echo 'lat u64 lat' >> synthetic_events
echo 'hist:keys=pid' > events/web/request/trigger
mkdir instances/foo
rmdir instances/foo
echo > synthetic_events
! test -e events/synthetic
EOT
  send 'event web/request pid=7'
  assert_has 'Hits: 1' "$(cat "$MNT/events/web/request/hist")"
  df "$MNT" >/dev/null
}

a_part_that_is_not_there_cannot_be_mounted() {
  mkdir -p "$MNT"
  assert_fails_with 'there is no directory nothing' "$TALLYFS" -f --socket "$SOCK" \
    -o subtree=nothing "$MNT"
}

its_feeder_looks_for_the_socket_as_others_do() {
  local feeder
  feeder=$(dirname "$(command -v "$TALLYFS")")/tally-feed-tracefs
  mkdir "$CASE/empty"
  TALLY_SOCKET=$CASE/none assert_fails_with "$CASE/none: No such file or directory" \
    "$feeder" --orders 9 --tracefs 8 8<"$CASE/empty" 9</dev/null
}

a_bind_mount_of_the_directory_works_alike() {
  need_root
  start_daemon
  mkdir "$CASE/bound"
  mount --bind "$MNT/tracing" "$CASE/bound"
  send 'event define web/request u64 lat; pid_t pid'
  wait_until '[ -d "$CASE/bound/events/web/request" ]'
  (cd "$CASE/bound" && bash -e) <<'EOT'
echo 'hist:keys=pid' > events/web/request/trigger
echo 1 > events/web/request/enable
EOT
  send 'event web/request pid=7'
  assert_has 'Hits: 1' "$(cat "$CASE/bound/events/web/request/hist")"
  assert_has pid=7 "$(cat "$CASE/bound/trace")"
  umount "$CASE/bound"
}

# A daemon in a mount namespace of its own, where the case may cover the kernel's directory.
_start_apart() {
  need_root
  need nsenter
  printf '#!/bin/sh\nexec unshare --mount --propagation private "%s" "$@"\n' \
    "$(command -v "$TALLYFS")" >"$CASE/apart"
  chmod 755 "$CASE/apart"
  local TALLYFS=$CASE/apart
  start_daemon "$@"
}
_inside() { nsenter --target "$DAEMON" --mount "$@"; }
_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }

a_bind_mount_over_the_kernels_directory_leaves_its_events_in_reach() {
  _need_tracefs
  _start_apart -o tracefs
  local T=/proc/$DAEMON/root$MNT/tracing feeder
  wait_until '[ -e "/proc/$DAEMON/root$MNT/tracing/events/task/task_newtask" ]'
  local E=$T/events/task/task_newtask
  _inside mount --bind "$MNT/tracing" /sys/kernel/tracing
  echo 'hist:keys=common_comm if comm == "forker"' >"$E/trigger"
  cp "$(command -v bash)" "$CASE/forker"
  "$CASE/forker" -c '(:); (:)'
  wait_until 'grep -q "Hits: 2$" "$E/hist"'
  # A successor of the feeder finds them, too.
  feeder=$(_feeder)
  kill -KILL "$feeder"
  wait_until '[ -n "$(_feeder)" ] && [ "$(_feeder)" != '"$feeder"' ]'
  wait_until '[ "$(grep -c "the kernel has [1-9]" "$STDERR")" -ge 2 ]'
  wait_until '"$CASE/forker" -c "(:)"; [ "$(sed -n "s/^ *Hits: //p" "$E/hist")" -gt 2 ]'
  assert_eq '' "$(cat "$STDERR" "$T/error_log" | grep 'none of the kernel' || true)"
  _inside umount /sys/kernel/tracing
}

# The feeder is a script that has found no events.
a_feeder_without_events_is_a_warning_with_its_reason() {
  local bin=$CASE/bin
  mkdir "$bin"
  cp "$(command -v "$TALLYFS")" "$bin/tallyfs"
  cat >"$bin/tally-feed-tracefs" <<'EOT'
#!/bin/bash
while [ $# -gt 0 ]; do
  [ "$1" != --orders ] || orders=$2
  shift
done
printf 'hello %d no tracefs can be reached' $$ >&"$orders"
exec cat <&"$orders" >/dev/null
EOT
  chmod 755 "$bin/tally-feed-tracefs"
  local TALLYFS=$bin/tallyfs
  local said="tracing/ has none of the kernel's events: no tracefs can be reached"
  start_daemon -o tracefs
  wait_until 'errors | grep -q "^\[.*\] tracing/events: error: "'
  assert_has "tracing/events: error: $said" "$(errors)"
  assert_has "[warning] $said" "$(cat "$STDERR")"
}

_mounts() { awk -v on="$MNT" '$2 == on { print $1, $3 }' /proc/mounts | xargs; }
_need_tracefs() { need_root; grep -qw tracefs /proc/filesystems || skip 'no tracefs here'; }

over_tracefs_lies_on_a_tracefs_and_takes_both_away() {
  _need_tracefs
  start_daemon --over-tracefs
  assert_eq 'tracefs tracefs tracefs fuse.tallyfs' "$(_mounts)"
  [ -d "$MNT/events/ftrace/print" ] && [ ! -e "$MNT/tracing" ] || fail "$(ls "$MNT")"
  stop_daemon
  assert_eq '' "$(_mounts)"
}

over_tracefs_is_undone_when_the_daemon_is_killed() {
  _need_tracefs
  start_daemon --over-tracefs
  kill_daemon
  wait_until '[ -z "$(_mounts)" ]'
  wait_until '[ ! -e "${SOCK%/*}" ]'
  start_daemon --over-tracefs
  assert_eq 'tracefs tracefs tracefs fuse.tallyfs' "$(_mounts)"
}

over_tracefs_leaves_a_tracefs_that_was_there() {
  _need_tracefs
  mkdir -p "$MNT"
  mount -t tracefs before "$MNT"
  start_daemon --over-tracefs
  assert_eq 'before tracefs tracefs fuse.tallyfs' "$(_mounts)"
  stop_daemon
  assert_eq 'before tracefs' "$(_mounts)"
  umount "$MNT"
}

over_tracefs_is_for_the_whole_directory() {
  assert_fails_with subtree "$TALLYFS" -f --socket "$SOCK" --over-tracefs --subtree stats "$MNT"
}

a_mount_that_cannot_read_the_kernels_events_says_so() {
  need_root
  need setpriv
  mkdir "$CASE/bin" "$CASE/runtime" "$MNT"
  cp "$TALLYFS" "$CASE/bin"
  chown nobody "$MNT" "$CASE/runtime"
  # Told before the mount, which another user may not make on every machine.
  XDG_RUNTIME_DIR=$CASE/runtime as_nobody "$CASE/bin/tallyfs" -o tracefs "$MNT" \
    2>"$CASE/told" || true
  umount "$MNT" 2>/dev/null || true
  wait_until '! pgrep -f "^$CASE/bin/tallyfs" >/dev/null'
  assert_has "warning: --tracefs: the kernel's events cannot be read: " "$(cat "$CASE/told")"
}
