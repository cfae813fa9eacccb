# tallyctl record --store, and of a file, where the daemon, the disk or the recorder itself ends.

. ./ctl/_past.sh

a_kill_of_the_recorder_loses_ten_seconds_at_most() {
  _record
  send 'web/hits 1' 'web/hits 1'
  wait_until '[ "$(_total hits 2>/dev/null)" = 2 ]' 25
  kill -KILL "$RECORDER"
  wait "$RECORDER" 2>/dev/null || true
  assert_eq 2 "$(_total hits)"
  assert_eq ok "$(_sql 'PRAGMA integrity_check')"
  # The gap is longer than a point.
  _next_second
  _next_second
  _next_second
  send 'web/hits 1'
  "$TALLYCTL" record --store "$STORE" --count 1
  send 'web/hits 1'
  assert_has 'the recorder did not run' "$(_show --last 10m web)"
  assert_eq 2 "$(_total hits)"
}

# _says N TEXT: a line of the recorder's, the Nth of that text.
_says() { wait_until "[ \"\$(grep -c '$2' '$CASE/recorder')\" = $1 ]" 30; }
# _stops_and_goes_on N: the daemon, until the recorder has said so for the Nth time.
_stops_and_goes_on() {
  freeze "$SERVER"
  _says "$1" 'nothing is recorded: .* does not answer'
  kill -CONT "$SERVER"
  _says "$1" 'can be read again'
}

a_daemon_that_does_not_answer_is_a_gap_from_the_start_on() {
  touch "$CASE/recorder"
  freeze "$SERVER"
  "$TALLYCTL" record --store "$STORE" 2>>"$CASE/recorder" &
  RECORDER=$!
  echo "$RECORDER" >>"$CASE/pids"
  _says 1 'nothing is recorded: .* does not answer'
  kill -CONT "$SERVER"
  _says 1 'can be read again'
  send 'web/hits 1'
  _next_second
  _next_second
  _stops_and_goes_on 2
  send 'web/hits 1'
  _next_second
  _next_second
  _end_recorder
  _show --last 10m web >"$CASE/out"
  assert_eq 2 "$(grep -c ': the daemon did not answer$' "$CASE/out")"
  assert_eq 2 "$(_total hits)"
}

a_recording_goes_on_after_a_stop_and_a_restart_of_the_daemon() {
  touch "$CASE/recorder"
  "$TALLYCTL" record "$CASE/file" 2>>"$CASE/recorder" &
  RECORDER=$!
  echo "$RECORDER" >>"$CASE/pids"
  wait_until 'grep -qs "\"interface\":\"web\"" "$CASE/file"'
  _stops_and_goes_on 1
  kill_daemon
  fusermount3 -u -z "$MNT"
  _says 2 'nothing is recorded: '
  start_daemon
  _says 2 'can be read again'
  send 'create web/new on=1' 'web/new 1' 'web/new 1'
  wait_until 'grep -q "\"name\":\"new\".*\"samples\":2" "$CASE/file"'
  _end_recorder
  "$TALLYCTL" show --from "$CASE/file" web >"$CASE/out"
  assert_match 'web/new +value +on +2 .*' "$(grep '^web/new' "$CASE/out")"
  # Those of the daemon before are not there any more.
  assert_has_not 'web/hits' "$(cat "$CASE/out")"
}

a_recording_of_zstd_is_whole_up_to_each_moment() {
  "$TALLYCTL" record --every 100ms "$CASE/file.zst" &
  RECORDER=$!
  echo "$RECORDER" >>"$CASE/pids"
  local hits='.interfaces[0].statistics[0].samples'
  _hits() { "$TALLYCTL" show --json --from "$CASE/file.zst" web/hits 2>/dev/null | jq "$hits"; }
  wait_until '[ "$(_hits)" = 0 ]'
  send 'web/hits 1' 'web/hits 1'
  wait_until '[ "$(_hits)" = 2 ]'
  kill -KILL "$RECORDER"
  wait "$RECORDER" 2>/dev/null || true
  assert_eq 2 "$(_hits)" 'after a kill'
  "$TALLYCTL" record --every 100ms --count 2 "$CASE/ended.zst"
  assert_eq 0 "$("$TALLYCTL" diff --json "$CASE/file.zst" "$CASE/ended.zst" |
    jq '.differences[] | select(.name == "hits") | .samples')"
  if command -v zstd >/dev/null; then
    assert_has '"tallyctl":' "$(zstd -dc "$CASE/ended.zst" | head -1)"
  fi
  head -c 30 /dev/urandom >"$CASE/none.zst"
  assert_fails_with 'no recording of tallyctl' "$TALLYCTL" show --from "$CASE/none.zst"
  assert_fails_with 'cannot be opened' "$TALLYCTL" show --from "$CASE/missing.zst"
}

a_recorder_ends_where_nothing_was_read() {
  local status=0
  freeze "$SERVER"
  "$TALLYCTL" record --count 1 "$CASE/file" 2>"$CASE/err" || status=$?
  kill -CONT "$SERVER"
  assert_eq 3 $status
  assert_eq 1 "$(grep -c 'does not answer' "$CASE/err")"
  status=0
  "$TALLYCTL" record --mount "$CASE" --store "$STORE" 2>"$CASE/err" || status=$?
  assert_eq 3 $status
  assert_has 'nothing is mounted there' "$(cat "$CASE/err")"
}

resets_restarts_and_definitions_are_told() {
  _record
  send 'web/hits 1'
  _next_second
  _next_second
  define web 'name=hits data=reset'
  define web 'name=depth type=range'
  _next_second
  _next_second
  kill_daemon
  fusermount3 -u -z "$MNT"
  start_daemon
  send 'create web/hits on=1' 'web/hits 5'
  _next_second
  _next_second
  _end_recorder
  _show --last 10m web >"$CASE/out"
  assert_has 'web/hits: reset' "$(cat "$CASE/out")"
  assert_has 'web/depth: redefined' "$(cat "$CASE/out")"
  assert_has 'the daemon has started again' "$(cat "$CASE/out")"
  # Rows for programs have them on stderr.
  _show --last 10m --tsv web/hits >"$CASE/rows" 2>"$CASE/facts"
  assert_eq 'hits' "$(tail -1 "$CASE/rows" | cut -f3)"
  assert_has 'tallyctl: ' "$(cat "$CASE/facts")"
  assert_has 'web/hits: reset' "$(cat "$CASE/facts")"
}

a_full_disk_stops_the_recording_alone() {
  need_root
  mkdir -p "$STORE"
  mount -t tmpfs -o size=600k,mode=750 store "$STORE" || skip 'no tmpfs can be mounted'
  local status=0
  _full_disk || status=$?
  umount -l "$STORE"
  return $status
}
_full_disk() {
  _record
  head -c 10000000 /dev/zero >"$STORE/ballast" 2>/dev/null || true
  wait_until 'grep -q "the disk is full" "$CASE/recorder"' 30
  assert_eq 1 "$(grep -c 'not written' "$CASE/recorder")"
  kill -0 "$RECORDER"
  rm "$STORE/ballast"
  wait_until 'grep -q "written again" "$CASE/recorder"' 30
  _end_recorder
  _show --last 10m web >/dev/null
}
