# --state: what of tracing/ is there after a restart, and goes on.
T=$MNT/tracing
E=$T/events

_set_up() { :; }
# Saves at the end alone, if no case takes an hour.
_start() { start_daemon --state "$CASE/state" --state-period 3600 "$@"; }
_restart() {
  stop_daemon
  _start "$@"
}
_define() {
  send 'event define rt/waking pid_t pid; int prio; char comm[16]' \
    'event define rt/switch pid_t next_pid; int next_prio'
  wait_until '[ -d "$E/rt/switch" ]'
  echo 'wakeup_latency u64 lat; pid_t pid; int prio' >>"$T/synthetic_events"
  echo 'hist:keys=pid:ts0=common_timestamp.usecs if comm=="cyclictest"' >>"$E/rt/waking/trigger"
  echo 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:'\
'onmatch(rt.waking).wakeup_latency($lat,next_pid,next_prio):onmax($lat).save(next_prio)' \
    >>"$E/rt/switch/trigger"
  echo 'hist:keys=pid,prio:vals=lat.max,lat:sort=pid' >>"$E/synthetic/wakeup_latency/trigger"
  echo 'traceoff:5 if pid == 1' >>"$E/rt/waking/trigger"
  mkdir "$T/instances/deep"
  echo 'hist:keys=prio.log2:name=by_prio' >>"$T/instances/deep/events/rt/waking/trigger"
  echo 'prio > 3' >"$T/instances/deep/events/rt/waking/filter"
  echo rt:waking >"$T/instances/deep/set_event"
  echo nooverwrite >"$T/instances/deep/trace_options"
  echo 17 >"$T/set_event_pid"
}
_feed() {
  local pid
  for pid in 11 12 13; do
    send "event rt/waking pid=$pid prio=$pid comm=cyclictest" \
      "event rt/switch next_pid=$pid next_prio=19"
  done
}
_hits() { sed -n 's/^    Hits: //p' "$1/hist" | tail -1; }
# _feed_disk MICROSECONDS...: latencies on CPU 0.
_feed_disk() {
  py "$@" <<'EOT'
from peer import *
Peer().send(latencies("disk", *[(int(us) * 1000, 0, task(7, 19, "rt")) for us in sys.argv[1:]]))
EOT
}
# What is kept, as files show it.
_texts() {
  local each
  for each in synthetic_events set_event set_event_pid tracing_on trace_options \
    events/rt/{waking,switch}/{trigger,hist,id,format,enable,filter} \
    events/synthetic/wakeup_latency/{trigger,hist,id} instances/deep/{set_event,trace_options} \
    instances/deep/events/rt/waking/{trigger,hist,enable,filter}; do
    echo "== $each"
    cat "$T/$each"
  done
}

triggers_histograms_and_instances_are_there_and_go_on() {
  _start
  _define
  _feed
  assert_eq 3 "$(_hits "$E/synthetic/wakeup_latency")"
  local before
  before=$(_texts)
  _restart
  assert_eq "$before" "$(_texts)"
  _feed
  assert_eq 6 "$(_hits "$E/synthetic/wakeup_latency")"
  assert_eq 6 "$(_hits "$E/rt/waking")"
  assert_eq 6 "$(_hits "$T/instances/deep/events/rt/waking")"
  before=$(_texts)
  _restart
  assert_eq "$before" "$(_texts)"
  assert_has_not 'is left out' "$(cat "$STDERR")"
}

a_variable_waits_through_a_restart() {
  _start
  _define
  send 'event rt/waking pid=5 prio=5 comm=cyclictest'
  assert_eq 1 "$(_hits "$E/rt/waking")"
  _restart
  send 'event rt/switch next_pid=5 next_prio=19'
  assert_eq 1 "$(_hits "$E/synthetic/wakeup_latency")"
}

what_was_removed_stays_removed() {
  _start
  _define
  _feed
  echo '!hist:keys=pid,prio:vals=lat.max,lat:sort=pid' >>"$E/synthetic/wakeup_latency/trigger"
  rmdir "$T/instances/deep"
  _restart
  [ ! -e "$T/instances/deep" ] || fail 'the instance is there again'
  assert_has '# Available triggers' "$(cat "$E/synthetic/wakeup_latency/trigger")"
  assert_has_not 'is left out' "$(cat "$STDERR")"
}

of_a_broken_trigger_the_others_are_there() {
  need_python
  _start
  _define
  _feed
  stop_daemon
  py "$CASE"/state/state.* <<'EOT'
import sys
with open(sys.argv[1], "r+b") as file:
    state = file.read()
    file.seek(state.index(b"keys=next_pid"))
    file.write(b"keys=NEXT")
EOT
  _start
  local object="the object 'tracing/events/rt/switch [0-9]+' of kind 10 at byte [0-9]+"
  assert_match "$object has wrong bytes" "$(grep -o "the object 'tracing.*" "$STDERR" | sort -u)"
  assert_match "histogram 'tracing/events/rt/switch [0-9]+' is left out: its trigger is not there" \
    "$(grep -o "histogram 'tracing.*" "$STDERR")"
  assert_has '# Available triggers' "$(cat "$E/rt/switch/trigger")"
  assert_eq 3 "$(_hits "$E/rt/waking")"
  assert_eq 3 "$(_hits "$E/synthetic/wakeup_latency")"
}

latencies_are_there_and_go_on() {
  need_python
  _start
  local hist=$T/latency_hist before
  _feed_disk 12 20000 3
  assert_has '#Total samples: 3' "$(cat "$hist/disk/CPU0")"
  before=$(cat "$hist"/disk/{CPU0,summary,data,top,max_latency-CPU0})
  _restart
  assert_eq "$before" "$(cat "$hist"/disk/{CPU0,summary,data,top,max_latency-CPU0})"
  _feed_disk 5
  assert_has '#Total samples: 4' "$(cat "$hist/disk/CPU0")"
}

the_error_log_is_there() {
  _start
  send 'event define rt/waking junk x'
  assert_fails bash -c 'echo junk >>"$1"' - "$T/synthetic_events"
  local before
  before=$(cat "$T/error_log")
  assert_has 'Command: junk' "$before"
  _restart
  assert_eq "$before" "$(cat "$T/error_log")"
  echo >"$T/error_log"
  _restart
  assert_eq '' "$(cat "$T/error_log")"
}
