# --state: a daemon starts on any damaged file, has what is whole, and says what is not.
T=$MNT/tracing
E=$T/events

_set_up() { need_python; }
# Something of each branch. One trigger of each event and instance.
_feed() {
  send 'create web/hits on=1' 'create web/slow of=hits type=range range_min=100' \
    'create web/latency on=1 type=array base_interval=10 scale=log2 range_min=0 range_max=1000' \
    'create web/sizes type=list entries_max=4 on=1' 'create disk/now type=last on=1' \
    'create disk/p type=quantiles precision=5 quantiles=50,99 on=1'
  local each
  for each in web/hits web/latency web/sizes disk/now disk/p; do send "$each 5 2" "$each 700"; done
  echo 'late/* type=range' >>"$MNT/rules"
  echo 'later/* type=range on=1' >>"$MNT/rules"
  send 'event define rt/waking pid_t pid; int prio' 'event define rt/switch pid_t next_pid'
  wait_until '[ -d "$E/rt/switch" ]'
  echo 'wakeup_latency u64 lat; pid_t pid' >>"$T/synthetic_events"
  echo 'hist:keys=pid:ts0=common_timestamp.usecs' >>"$E/rt/waking/trigger"
  echo 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:'\
'onmatch(rt.waking).wakeup_latency($lat,next_pid)' >>"$E/rt/switch/trigger"
  echo 'hist:keys=pid:vals=lat' >>"$E/synthetic/wakeup_latency/trigger"
  mkdir "$T/instances/deep"
  echo 'hist:keys=prio.log2:name=by_prio' >>"$T/instances/deep/events/rt/waking/trigger"
  echo 'prio > 3' >"$T/instances/deep/events/rt/waking/filter"
  echo 17 >"$T/set_event_pid"
  ! echo 'hist:keys=nothing' 2>/dev/null >>"$E/rt/waking/trigger" || fail 'no such field'
  for each in 11 12; do
    send "event rt/waking pid=$each prio=$each" "event rt/switch next_pid=$each"
  done
  py <<'EOT'
from peer import *
peer = Peer()
hash, fresh = u32_sum("T", "x")
assert peer.tell("T", ["x"], fresh) == 0, peer.reason
assert peer.ask("subsystem web")[0] == 0
number = peer.ask("object web/total")[1]
peer.publish(number, u32_sum("T", "x", 7)[1])
peer.send(latencies("disk", *[(us * 1000, 0, task(7, 19, "rt")) for us in (12, 20000, 3)]))
assert peer.ask("") == (0, 0)
EOT
}

a_hundred_damaged_files_keep_no_daemon_from_starting() {
  start_daemon --state "$CASE/state" --state-period 3600
  _feed
  stop_daemon
  PYTHONPATH=$here "$PYTHON" "$here/damaged_states.py" "$MNT" "$SOCK" "$TALLYFS" \
    "$CASE/state/state.1" "$CASE/damaged" "$(fewer 20 5)"
}
