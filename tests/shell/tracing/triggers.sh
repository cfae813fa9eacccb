# Scripts for the kernel's tracing directory, with `set -e`, on events of user programs and on
# synthetic ones.
T=$MNT/tracing
E=$MNT/tracing/events

_define() {
  send 'event define rt/waking pid_t pid; int prio; char comm[16]' \
    'event define rt/switch pid_t next_pid; int next_prio; char next_comm[16]; pid_t prev_pid'
  wait_until '[ -d "$E/rt/switch" ]'
}
# _script: what stands in it runs as a script of its own, in tracing/.
_script() { (cd "$T" && bash -e) || fail "the script ended with $?" "$(cat "$T/error_log")"; }
_waking() { send "event rt/waking pid=$1 prio=19 comm=cyclictest"; }
_switch() { send "event rt/switch next_pid=$1 next_prio=19 next_comm=cyclictest prev_pid=77"; }

a_latency_from_two_events_makes_a_synthetic_one() {
  _define
  _script <<'EOT'
echo 'wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events
echo 'hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm=="cyclictest"' >> events/rt/waking/trigger
echo 'hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:onmatch(rt.waking).wakeup_latency($wakeup_lat,$saved_pid,next_prio) if next_comm=="cyclictest"' >> events/rt/switch/trigger
echo 'hist:keys=pid,prio,lat:sort=pid,lat' >> events/synthetic/wakeup_latency/trigger
EOT
  _waking 2255
  _switch 2255
  _switch 2255  # read once
  _waking 2256
  _switch 2256
  assert_match '.*\{ pid: +2255, prio: +19, lat: +[0-9]+ \} hitcount: +1
\{ pid: +2256, prio: +19, lat: +[0-9]+ \} hitcount: +1
.*' "$(cat "$E/synthetic/wakeup_latency/hist")"
  assert_has 'Hits: 2' "$(cat "$E/synthetic/wakeup_latency/hist")"
  # The wakeup took longer than it takes to send, and less than the test.
  echo 1 >"$E/synthetic/wakeup_latency/enable"
  _waking 2257
  _switch 2257
  assert_match '.* wakeup_latency: lat=[0-9]+ pid=2257 prio=19' "$(grep -v '^#' "$T/trace")"
  # What others refer to stays until they are gone.
  _script <<'EOT'
  refused() { if echo "$1" 2>/dev/null >> "$2"; then exit 9; fi; }
refused '!hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm=="cyclictest"' events/rt/waking/trigger
refused '!wakeup_latency u64 lat; pid_t pid; int prio' synthetic_events
echo 0 > events/synthetic/wakeup_latency/enable
echo '!hist:keys=pid,prio,lat:sort=pid,lat' >> events/synthetic/wakeup_latency/trigger
echo '!hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:onmatch(rt.waking).wakeup_latency($wakeup_lat,$saved_pid,next_prio) if next_comm=="cyclictest"' >> events/rt/switch/trigger
echo '!hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm=="cyclictest"' >> events/rt/waking/trigger
echo '!wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events
test -z "$(cat synthetic_events)"
test ! -e events/synthetic
EOT
}

a_filter_that_ends_in_an_operator_is_refused() {
  _define
  local end
  for end in '&&' '|| '; do
    assert_fails_with 'Invalid argument' \
      bash -c 'echo "pid == 1 $1" >"$2"' - "$end" "$E/rt/waking/filter"
    assert_has 'parse_error: Meaningless filter expression' "$(cat "$E/rt/waking/filter")"
    assert_fails_with 'Invalid argument' \
      bash -c 'echo "hist:keys=pid if pid == 1 $1" >"$2"' - "$end" "$E/rt/waking/trigger"
    echo 0 >"$E/rt/waking/filter"
  done
}

busy_is_said_by_errno() {
  _define
  _script <<'EOT'
echo 'lat u64 lat' >> synthetic_events
echo 'hist:keys=pid:ts0=common_timestamp' >> events/rt/waking/trigger
echo 'hist:keys=next_pid:d=common_timestamp-$ts0:onmatch(rt.waking).lat($d)' >> events/rt/switch/trigger
EOT
  assert_fails_with 'resource busy' bash -c 'echo "!lat u64 lat" >>"$1"' - "$T/synthetic_events"
  assert_fails_with 'resource busy' bash -c 'echo >"$1"' - "$T/synthetic_events"
  assert_fails_with 'resource busy' bash -c 'echo "!hist:keys=pid:ts0=common_timestamp" >>"$1"' - \
    "$E/rt/waking/trigger"
  assert_fails_with 'File exists' bash -c 'echo "lat u64 lat" >>"$1"' - "$T/synthetic_events"
  assert_fails_with 'No such file' bash -c 'echo "!nothing u64 lat" >>"$1"' - "$T/synthetic_events"
  : >"$E/rt/waking/trigger"  # all but what others need
  assert_has ts0=common_timestamp "$(cat "$E/rt/waking/trigger")"
}

the_highest_is_kept_with_what_went_with_it() {
  _define
  _script <<'EOT'
echo 'hist:keys=pid:ts0=common_timestamp.usecs' >> events/rt/waking/trigger
echo 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmax($lat).save(next_comm,prev_pid)' >> events/rt/switch/trigger
EOT
  _waking 5
  # Reading takes the waking in, at a time of its own: of two events of one microsecond the latency
  # is 0, and 0 is no new maximum.
  assert_has 'Hits: 1' "$(cat "$E/rt/waking/hist")"
  _switch 5
  assert_match '.*\{ next_pid: +5 \} hitcount: +1
	max: +[0-9]+  next_comm: cyclictest +prev_pid: +77
.*' "$(cat "$E/rt/switch/hist")"
}

a_new_maximum_takes_a_snapshot() {
  _define
  _script <<'EOT'
echo 1 > events/rt/enable
echo 'hist:keys=pid:p=prio:onmax($p).snapshot()' >> events/rt/waking/trigger
EOT
  _waking 5
  assert_has 'Snapshot taken (see tracing/snapshot).  Details:' "$(cat "$E/rt/waking/hist")"
  assert_has 'waking: pid=5' "$(cat "$T/snapshot")"
}

histograms_are_chained_through_synthetic_events() {
  _define
  _script <<'EOT'
echo 'first int a' >> synthetic_events
echo 's:second int b' >> dynamic_events
echo 'hist:keys=pid:p=prio:onchange($p).trace(first,$p)' >> events/rt/waking/trigger
echo 'hist:keys=a:d=a*2:onmatch(synthetic.first).trace(second,$d)' >> events/synthetic/first/trigger
echo 'hist:keys=b' >> events/synthetic/second/trigger
grep -q 'second	int b' synthetic_events
EOT
  _waking 5
  _waking 5
  assert_has '{ b:         38 } hitcount:          1' "$(cat "$E/synthetic/second/hist")"
}

triggers_turn_one_another_on_and_off() {
  _define
  _script <<'EOT'
echo 'enable_event:rt:switch:1 if pid == 9' > events/rt/waking/trigger
echo 'traceoff if next_pid == 13' > events/rt/switch/trigger
grep -q '^0\*$' events/rt/switch/enable
EOT
  _switch 1
  _waking 9
  assert_eq '1*' "$(cat "$E/rt/switch/enable")"
  _switch 2
  _switch 13
  assert_eq 0 "$(cat "$T/tracing_on")"
  _switch 3
  assert_eq 'next_pid=2 next_pid=13' "$(grep -o 'next_pid=[0-9]*' "$T/trace" | xargs)"
}

a_histogram_is_paused_continued_and_cleared() {
  _define
  _script <<'EOT'
echo 'hist:keys=pid' > events/rt/waking/trigger
echo 'hist:keys=pid:pause' >> events/rt/waking/trigger
grep -q '\[paused\]$' events/rt/waking/trigger
EOT
  _waking 1
  assert_has 'Hits: 0' "$(cat "$E/rt/waking/hist")"
  echo 'hist:keys=pid:cont' >>"$E/rt/waking/trigger"
  _waking 1
  assert_has 'Hits: 1' "$(cat "$E/rt/waking/hist")"
  echo 'hist:keys=pid:clear' >>"$E/rt/waking/trigger"
  assert_has 'Hits: 0' "$(cat "$E/rt/waking/hist")"
}

numbers_below_zero_are_counted_as_such() {
  send 'event define web/change s32 by'
  wait_until '[ -d "$E/web/change" ]'
  echo 'hist:keys=by.buckets=10:vals=by.min,by.p99,by.max:sort=by' >"$E/web/change/trigger"
  local by
  for by in -12 -3 -7 4; do send "event web/change by=$by"; done
  assert_eq '-20--11 1 -12 -12 -12 -10--1 2 -7 -3 -3 0-9 1 4 4 4' \
    "$(sed -n 's/^{ by: ~ \(.*\) } hitcount: \(.*\)  by.min: \(.*\)  by.p99: \(.*\)  by.max: \(.*\)/\1 \2 \3 \4 \5/p' "$E/web/change/hist" | xargs)"
}

what_ours_adds_is_there_beside() {
  _define
  echo 'hist:keys=comm:vals=prio.avg,prio.max,prio.p99:sort=prio.p99.descending:limit=3' \
    >"$E/rt/waking/trigger"
  _waking 1
  assert_has 'prio.max:         19' "$(cat "$E/rt/waking/hist")"
  need_python
  "$PYTHON" -c 'import json, sys; (h,) = json.load(open(sys.argv[1])); assert h["entries"][0]["key"] == {"comm": "cyclictest"}, h' "$E/rt/waking/hist.json"
}
