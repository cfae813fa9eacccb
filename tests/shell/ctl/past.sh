# tallyctl record --store, and show --at, --last, --vs, which read it: with a daemon, a mount and a
# store of each case's own.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  need sqlite3
  [[ $("$TALLYCTL" show --last 1s 2>&1) != *TALLYFS_PAST=OFF* ]] || skip 'built without a store'
  start_daemon
  STORE=$CASE/store
  export TALLY_MOUNT=$MNT TALLY_STORE=$STORE TZ=UTC
  RECORDER=''
  send 'create web/us type=quantiles precision=5 quantiles=50,99 units=microseconds/requests on=1' \
    'create web/hits on=1' 'create web/depth type=last on=1' 'create db/us type=range on=1'
}
# _record [OPTION...]: in the background; returns when the first moment was read.
_record() {
  "$TALLYCTL" record --store "$STORE" "$@" 2>>"$CASE/recorder" &
  RECORDER=$!
  echo "$RECORDER" >>"$CASE/pids"
  wait_until '[ "$(_sql "SELECT count(*) FROM series")" != "" ]'
  wait_until '[ "$(_sql "SELECT count(*) FROM series")" -gt 4 ]'
}
_sql() { sqlite3 "file:$STORE/past.sqlite?mode=ro" "$1" 2>/dev/null || true; }
# _end_recorder: as systemd ends it; what it has is written.
_end_recorder() {
  kill -TERM "$RECORDER"
  wait "$RECORDER" || fail "the recorder ended with $?" "$(cat "$CASE/recorder")"
}
_show() { "$TALLYCTL" show "$@"; }
_total() { _show --json --last 10m "web/$1" | jq -r '.interfaces[0].statistics[0] | .samples'; }
# _moments [OPTION...]: what heat draws of web/us, as a list of {us, at, samples}.
_moments() {
  "$TALLYCTL" heat --json --last 10m "$@" web/us | jq -s 'map({us: .realtime_us,
    at: (.realtime_us / 1000000 | strftime("%F %T")), samples: .statistics[0].view.samples})'
}
_next_second() {
  local second=${EPOCHREALTIME%.*}
  wait_until "[ \${EPOCHREALTIME%.*} != $second ]"
}

what_was_counted_comes_back_with_its_percentiles() {
  _record
  local i
  for ((i = 1; i <= 200; ++i)); do echo "web/us $((i * 37 % 1000 + 1))"; done >"$CASE/samples"
  send_file "$CASE/samples"
  send 'web/hits 1' 'web/hits 1' 'web/depth 42' 'db/us 5' 'db/us 9'
  _end_recorder
  _show --last 10m web db/us >"$CASE/out"
  assert_match 'web/us +quantiles +on +200 .*p50 .*p99 .*' "$(grep '^web/us' "$CASE/out")"
  assert_match 'web/hits +value +on +2 .* 2' "$(grep '^web/hits' "$CASE/out")"
  assert_match 'web/depth +last +on +1 .* 42' "$(grep '^web/depth' "$CASE/out")"
  local of='.interfaces[0].statistics[0].view.quantiles'
  assert_eq "$(_show --json web/us | jq -c "$of")" \
    "$(_show --json --last 10m web/us | jq -c "$of")" 'percentiles of the store and the mount'
  assert_has '200 requests' "$(_show --last 10m web/us)"
}

# A recorder that the machine has no time for reads late: the store says when the samples were.
a_span_has_its_own_samples_and_the_other_beside_it() {
  _record
  send 'web/us 10' 'web/hits 1' 'web/hits 1'
  local _
  for _ in 1 2 3 4 5; do _next_second; done
  send 'web/us 900' 'web/us 900'
  _end_recorder
  local middle samples='.interfaces[0].statistics[0].samples'
  middle=$(_moments | jq -r 'map(select(.samples > 0))[0].at')
  assert_eq 2 "$(_show --json --at "$middle+30s" web/us | jq "$samples")"
  local begin
  begin=$(date -d '-5 minutes' '+%F %T')
  assert_eq 1 "$(_show --json --at "$begin..$middle" web/us | jq "$samples")"
  _show --at "$middle+30s" --vs before web >"$CASE/out"
  assert_has 'before: ' "$(cat "$CASE/out")"
  assert_match 'web/hits .* silent .*' "$(grep '^web/hits' "$CASE/out")"
  assert_eq '2 1' "$(_show --json --at "$middle+30s" --vs before web/us |
    jq -r '[.interfaces, .before.interfaces | .[0].statistics[0].samples] | join(" ")')"
}

# Two sends are in one moment if the machine had no time for the recorder in between; a second
# without a moment is a gap, after which totals begin again.
heat_and_plot_draw_the_moments_of_a_span() {
  _record
  local i moments with='map(select(.samples > 0))'
  for ((i = 0; i < 5; ++i)); do
    send 'web/us 100' 'web/us 200' 'web/hits 1'
    _next_second
  done
  _end_recorder
  moments=$(_moments)
  assert_eq 10 "$(jq 'map(.samples) | add' <<<"$moments")" "samples of $moments"
  "$TALLYCTL" heat --ascii --last 10m web/us >"$CASE/heat"
  assert_eq "$(jq -r "$with[] | \"\(.at[11:]) \(.samples)\"" <<<"$moments")" \
    "$(sed -nE 's/^([0-9:]{8}) +\|.*\| +([1-9][0-9]*) +.*us +.*us$/\1 \2/p' "$CASE/heat")" \
    'moments with samples'
  if [ "$(jq '.[-1].us - .[0].us == (length - 1) * 1000000' <<<"$moments")" = true ]; then
    assert_eq true "$(jq "$with | length > 1" <<<"$moments")" "several in $moments"
    assert_eq 10 "$(_moments --every 10s | jq 'map(.samples) | add')" 'samples in steps of 10 s'
  fi
  "$TALLYCTL" plot --ascii --last 1m web/hits >"$CASE/plot"
  assert_has 'samples a second' "$(cat "$CASE/plot")"
  assert_has '*' "$(cat "$CASE/plot")"
  assert_has '10 requests' "$("$TALLYCTL" plot --last 1m web/us)"
  assert_fails_with 'is a value; heat needs' "$TALLYCTL" heat --last 1m web/hits
  assert_fails_with 'did you mean web/hits' "$TALLYCTL" plot --last 1m web/hist
  assert_fails_with '--from of a recording' "$TALLYCTL" plot --last 1m --from x web/hits
  assert_fails_with '--store needs the time' "$TALLYCTL" heat --store "$STORE" web/us
}

# The fault is younger than the span's begin: the row says since when.
what_changed_in_a_span_is_ranked() {
  _record
  local i end
  for ((i = 0; i < 48; ++i)); do
    if ((i < 40)); then echo 'web/us 100'; else echo 'web/us 900'; fi >"$CASE/one"
    for _ in 1 2 3 4 5 6 7 8 9; do cat "$CASE/one"; done >"$CASE/nine"
    send_file "$CASE/nine"
    _next_second
  done
  end=$(date '+%F %T')
  _next_second
  _next_second
  _end_recorder
  local begin
  begin=$(date -d "$end 12 seconds ago" '+%F %T')
  "$TALLYCTL" show --changed --at "$begin..$end" web/us >"$CASE/changed"
  if grep -q '^too little past' "$CASE/changed"; then
    # A recorder that the machine has no time for leaves a gap, after which a past begins again.
    _show --json --at "$(date -d "$end 48 seconds ago" '+%F %T')..$end" web/us >"$CASE/observed"
    assert_eq true "$(jq '.end_us - .interfaces[0].statistics[0].data_us < 48000000' \
      "$CASE/observed")" 'a gap'
  else
    assert_match 'unusual: .* beside the [0-9]+ s before, of 1 statistics' \
      "$(head -1 "$CASE/changed")"
    assert_match 'web/us +[0-9:]{8} +slower x[0-9.]+, p99 .* -> ([89]..us|1.0ms) .*' \
      "$(grep '^web/us' "$CASE/changed")"
  fi
  assert_has_not ': new' "$(cat "$CASE/changed")"
  assert_fails_with 'needs twelve of them' "$TALLYCTL" show --changed --last 6s
  assert_fails_with '6s at least' "$TALLYCTL" show --changed --last 2s
  assert_fails_with 'without it' "$TALLYCTL" show --changed --last 12s --vs before
}

what_was_before_the_store_is_told() {
  send 'web/hits 1'
  _record
  _end_recorder
  assert_eq 1 "$(_show --last 10m web | grep -c ': nothing was recorded yet$')"
}

a_store_needs_a_time() {
  assert_fails_with '--store needs the time that is meant' "$TALLYCTL" show --store "$STORE" web
}

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
  assert_has 'web/depth: defined anew' "$(cat "$CASE/out")"
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

errors_say_what_to_do() {
  assert_fails_with 'tallyctl record --store' _show --last 5m --store "$CASE/none"
  _record
  assert_fails_with 'a store has one writer' "$TALLYCTL" record --store "$STORE"
  _next_second
  _next_second
  _end_recorder
  assert_fails_with 'is no span of time' _show --at noon
  assert_fails_with 'has not come yet' _show --at 23:59:59+1s
  assert_fails_with 'is no length of time' _show --last 12:00
  assert_fails_with 'compares the span' _show --vs before
  assert_fails_with 'two spans' _show --at 00:00 --last 5m
  assert_fails_with '--from are not' _show --last 5m --every 1s
  assert_fails_with 'statistics/' _show --last 5m tracing/latency_hist/wakeup
  assert_fails_with 'did you mean web/hits' _show --last 5m web/hist
  assert_fails_with 'not both' "$TALLYCTL" record --store "$STORE" file
  assert_fails_with 'not both' "$TALLYCTL" record
  assert_fails_with '--tiers says' "$TALLYCTL" record --store "$STORE" --every 1s
  assert_fails_with 'is no tier' "$TALLYCTL" record --store "$STORE" --tiers 1s
  assert_fails_with '1s:1h,10s:1d,1m:30d' "$TALLYCTL" record --store "$STORE" --tiers 2s:1h
  sqlite3 "$STORE/past.sqlite" 'PRAGMA user_version=9'
  assert_fails_with 'format 9' _show --last 5m
  sqlite3 "$STORE/past.sqlite" 'PRAGMA user_version=1'
  assert_fails_with 'format 1 of an earlier tallyctl' _show --last 5m
  assert_fails_with 'into another directory' "$TALLYCTL" record --store "$STORE"
  head -c 20000 /dev/urandom >"$STORE/past.sqlite"
  rm -f "$STORE"/past.sqlite-*
  assert_fails_with 'is damaged' _show --last 5m
  assert_fails_with 'is damaged' "$TALLYCTL" record --store "$STORE"
}

doctor_says_whether_the_past_is_recorded() {
  assert_has_not ' store ' "$("$TALLYCTL" doctor)"
  _record
  _next_second
  _end_recorder
  assert_match "ok +store +$STORE, from 20.* on" "$("$TALLYCTL" doctor | grep ' store ')"
  sqlite3 "$STORE/past.sqlite" 'UPDATE block SET begin_us=begin_us-120000000,
    end_us=end_us-120000000'
  assert_match "WARN +store +$STORE ends at 20.*: nothing is recorded.*" \
    "$("$TALLYCTL" doctor | grep ' store ')"
  echo damaged >"$STORE/past.sqlite"
  rm -f "$STORE"/past.sqlite-*
  assert_match 'FAIL +store +.*is damaged.*' "$("$TALLYCTL" doctor | grep ' store ')"
}

a_damaged_block_is_a_gap_and_the_rest_is_shown() {
  _record
  send 'web/hits 1'
  _next_second
  _next_second
  _end_recorder
  sqlite3 "$STORE/past.sqlite" "UPDATE block SET data=x'01020304'"
  assert_has 'damaged in the store' "$(_show --last 1m web)"
}

the_group_reads_and_others_do_not() {
  _record
  _end_recorder
  assert_eq '750 640 640' "$(stat -c %a "$STORE" "$STORE/past.sqlite" "$STORE/past.sqlite-wal" |
    paste -sd' ')"
  chmod 755 "$CASE"
  cp "$(command -v "$TALLYCTL")" "$CASE/tallyctl"
  chmod 755 "$CASE/tallyctl"
  assert_fails_with 'Permission denied' as_nobody env TALLY_STORE="$STORE" "$CASE/tallyctl" show \
    --last 5m
}
