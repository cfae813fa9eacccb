# The socket as a file: its owner, and the users that may remove it.

_another() { "$TALLYFS" -f --socket "$SOCK" "$@" "$CASE/other"; }

a_socket_that_a_running_daemon_holds_is_left_to_it() {
  mkdir "$CASE/other"
  assert_fails_with "$SOCK" _another
  assert_has 'running' "$(_another 2>&1 || true)"
  send 'web/a 1'
  assert_counts web 'a 1'
  assert_eq '' "$(grep " $CASE/other " /proc/mounts || true)"
}

a_stale_socket_is_taken_over() {
  kill_daemon
  [ -S "$SOCK" ] || fail 'the crash left no socket'
  fusermount3 -u -z "$MNT"
  start_daemon
  send 'web/a 1'
  assert_counts web 'a 1'
}

what_is_no_socket_is_left_alone() {
  local said
  mkdir "$CASE/other"
  echo precious >"$CASE/file"
  said=$(! "$TALLYFS" -f --socket "$CASE/file" "$CASE/other" 2>&1)
  assert_has "$CASE/file" "$said"
  assert_eq precious "$(cat "$CASE/file")"
}

one_that_was_replaced_meanwhile_is_not_removed() {
  py <<'EOT'
import os, socket
os.unlink(os.environ["SOCK"])
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(os.environ["SOCK"])
EOT
  # That one is no longer held; one that is held:
  rm -f "$SOCK"
  need socat
  socat -u "UNIX-RECV:$SOCK" /dev/null &
  local holder=$!
  wait_until '[ -S "$SOCK" ]'
  stop_daemon
  [ -S "$SOCK" ] || fail "another's socket was removed"
  kill $holder
}

it_makes_its_directory_and_removes_it() {
  [ -d "$CASE/run" ]
  stop_daemon
  [ ! -e "$CASE/run" ] || fail "left $CASE/run"
}

a_directory_that_was_there_stays() {
  stop_daemon
  mkdir "$CASE/run"
  start_daemon
  stop_daemon
  [ -d "$CASE/run" ] || fail "removed $CASE/run"
}

a_user_that_may_write_to_it_may_feed() {
  need_root
  need socat
  as_nobody bash -c "echo 'web/a 1' | socat -u - UNIX-SENDTO:$SOCK"
  assert_counts web 'a 1'
  stop_daemon
  start_daemon --socket-mode 0600
  assert_eq 600 "$(stat -c %a "$SOCK")"
  assert_fails as_nobody bash -c "echo 'web/b 1' | socat -u - UNIX-SENDTO:$SOCK"
  assert_eq tallyfs "$(ls "$STAT")"
}

# bind() is held for a moment, in which others would have their chance.
it_has_its_mode_from_its_first_moment_on() {
  need strace
  stop_daemon
  (
    umask 0
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 exec strace -f -qq -o "$CASE/calls" \
      -e trace=bind -e inject=bind:delay_exit=3000000 \
      "$TALLYFS" -f --socket "$SOCK" --socket-mode 0600 "$MNT" >"$CASE/ready" 2>"$CASE/refusal"
  ) &
  local tracer=$! mode
  echo $tracer >>"$CASE/pids"
  wait_until '[ -S "$SOCK" ] || ! kill -0 '$tracer' 2>/dev/null'
  kill -0 $tracer 2>/dev/null || skip "strace may not trace: $(cat "$CASE/refusal")"
  mode=$(stat -c %a "$SOCK")
  [ ! -s "$CASE/ready" ] || skip 'bind() was not held for long enough'
  assert_eq 600 "$mode"
  wait_until '[ -s "$CASE/ready" ]'
  umount "$MNT"
  wait $tracer
}

a_name_too_long_for_a_socket_is_told() {
  mkdir "$CASE/other"
  SOCK=$CASE/$(printf '%0120d' 0) assert_fails_with 'bytes' _another
}

two_that_start_at_once_do_not_share_it() {
  stop_daemon
  local i pids=() alive=0
  for i in 1 2 3 4; do
    mkdir "$CASE/m$i"
    "$TALLYFS" -f --socket "$SOCK" "$CASE/m$i" >"$CASE/out$i" 2>/dev/null &
    pids+=($!)
    echo $! >>"$CASE/pids"
  done
  for i in 1 2 3 4; do
    wait_until "grep -q READY $CASE/out$i || ! kill -0 ${pids[i - 1]} 2>/dev/null"
  done
  for i in "${pids[@]}"; do kill -TERM "$i" 2>/dev/null && alive=$((alive + 1)); done
  assert_eq 1 $alive 'daemons that hold the socket'
  wait
}

a_relative_path_means_where_it_was_started() {
  stop_daemon
  (cd "$CASE" && "$TALLYFS" --socket relative "$MNT" 2>/dev/null)
  pgrep -f -- "--socket relative $MNT" >>"$CASE/pids"
  [ -S "$CASE/relative" ] || fail 'no socket there'
  fusermount3 -u "$MNT"
  wait_until '[ ! -e "$CASE/relative" ]'
  wait_until '[ ! -e "$CASE/relative.lock" ]'
}

two_daemons_share_a_directory() {
  mkdir "$CASE/second"
  "$TALLYFS" -f --socket "$SOCK.second" "$CASE/second" >"$CASE/ready" 2>"$CASE/stderr.second" &
  local second=$!
  echo $second >>"$CASE/pids"
  wait_until 'grep -q READY "$CASE/ready"'
  echo 'web/a 1' | socat -u - "UNIX-SENDTO:$SOCK.second"
  assert_eq 'a 1 1 1.000 1' "$(cat "$CASE/second/statistics/web/data")"
  kill $second
  wait_until '[ ! -e "$SOCK.second" ]'
  send 'web/b 1'
  assert_counts web 'b 1'
}

a_set_user_id_program_is_not_told_by_its_caller_where_to_send() {
  need_root
  chmod 755 "$CASE" "$CASE/run"
  local copy=$CASE/set-user-id said=0
  cp "$TALLY_SEND" "$copy"
  chmod 4755 "$copy"
  as_nobody "$copy" --version >/dev/null 2>&1 || skip 'nobody may not run it here'
  TALLY_SOCKET=$SOCK as_nobody "$TALLY_SEND" 'plain/a 1'
  assert_counts plain 'a 1'
  # It may reach a daemon of the machine's, but not this one.
  TALLY_SOCKET=$SOCK as_nobody "$copy" 'raised/a 1' >"$CASE/said" 2>&1 || said=$?
  [ ! -e "$STAT/raised" ] || fail 'it sent where its caller said' "$(cat "$CASE/said")"
}
