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
