# Events of user programs, as text on the socket.
T=$MNT/tracing
E=$MNT/tracing/events

an_event_is_defined_written_and_removed() {
  send 'event define web/request u64 lat; pid_t pid; char comm[16]; char[] path'
  wait_until '[ -d "$E/web/request" ]'
  assert_eq web:request "$(cat "$T/available_events")"
  assert_has 'field:u64 lat;	offset:8;	size:8;	signed:0;' "$(cat "$E/web/request/format")"
  echo 'hist:keys=path,comm:vals=lat' >"$E/web/request/trigger"
  send 'event web/request lat=3 path=/index comm="two words"' \
    'event web/request path="/index" lat=0x4 comm="two words"'
  assert_has 'hitcount:          2  lat:          7' "$(cat "$E/web/request/hist")"
  assert_fails_with 'a trigger or enable is set on it' "$TALLY_SEND" --socket "$SOCK" \
    'event remove web/request'
  echo >"$E/web/request/trigger"
  send 'event remove web/request'
  wait_until '[ ! -e "$E/web" ]'
  assert_eq '' "$(cat "$T/available_events")"
}

a_long_text_is_traced_and_filtered_as_it_is() {
  local path
  path=$(printf 'x%.0s' {1..1021})end
  send 'event define web/request char[] path'
  wait_until '[ -d "$E/web/request" ]'
  echo 'path ~ "*end"' >"$E/web/request/filter"
  echo 1 >"$E/web/request/enable"
  send "event web/request path=$path"
  assert_has ": request: path=$path" "$(cat "$T/trace")"
}

what_is_wrong_is_said_with_a_caret() {
  send 'event define web/request u8 lat' 'event web/request lat=256' 'event web/other lat=1'
  assert_has 'not a number that the field holds
  Command: event web/request lat=256
                                 ^' "$(errors)"
  assert_has 'no such event
  Command: event web/other lat=1
                 ^' "$(errors)"
  echo >"$T/error_log"
  send 'event define web/more u8 lat; junk x' 'event define web' 'event'
  assert_has 'Invalid type: types are u8 to u64, ' "$(errors)"
  assert_has ' and others of C
  Command: event define web/more u8 lat; junk x
                                         ^' "$(errors)"
  assert_has 'neither SYSTEM/EVENT nor define or remove' "$(errors)"
  assert_has 'needs a SYSTEM/EVENT' "$(errors)"
}

tally_send_waits_for_the_daemons_word() {
  "$TALLY_SEND" --socket "$SOCK" 'event define web/request u64 lat' 'event web/request lat=1'
  assert_fails_with 'other fields' "$TALLY_SEND" --socket "$SOCK" 'event define web/request u32 lat'
}

an_event_may_end_with_the_process_that_defined_it() {
  py <<'EOT'
from peer import *
peer = Peer()
assert peer.ask("event define web/request lifetime=feeder u64 lat")[0] == 0, peer.reason
assert os.path.isdir(os.environ["MNT"] + "/tracing/events/web/request")
assert peer.ask("event web/request lat=1")[0] == 0
EOT
  wait_until '[ ! -e "$E/web" ]'
}

thousands_of_events_are_defined_listed_and_enabled_in_time() {
  need_python
  find "$E" >/dev/null # what was listed is kept up to date
  py <<'EOT'
import time
from peer import *
started = time.monotonic()
peer = Peer()
for i in range(2000):
    assert peer.ask("event define sys%d/event%d u64 lat; pid_t pid" % (i % 40, i))[0] == 0, peer.reason
    if i % 500 == 0:
        for _ in os.walk(os.environ["MNT"] + "/tracing/events"): pass
took = time.monotonic() - started
print("2000 events: %.2f s" % took)
assert took < time_limit(20), took
EOT
  local before took_us limit_us
  limit_us=$(time_limit_us 5000000)
  before=$(now_us)
  echo 1 >"$E/enable"
  took_us=$(($(now_us) - before))
  echo "enabled in $took_us us"
  [ "$took_us" -lt "$limit_us" ] || fail "enabling all took $took_us us"
  assert_eq 2000 "$(wc -l <"$T/set_event")"
  before=$(now_us)
  echo 0 >"$E/enable"
  took_us=$(($(now_us) - before))
  [ "$took_us" -lt "$limit_us" ] || fail "disabling all took $took_us us"
  assert_eq '' "$(cat "$T/set_event")"
}

an_event_is_its_uids() {
  need_root
  send 'event define web/request u64 lat'
  wait_until '[ -d "$E/web/request" ]'
  printf 'event web/request lat=1\n' >"$CASE/datagram"
  need socat
  chmod 644 "$CASE/datagram"
  as_nobody socat -u "OPEN:$CASE/datagram" "UNIX-SENDTO:$SOCK"
  assert_has 'the event belongs to uid 0' "$(errors)"
}

an_event_whose_process_ended_goes_with_the_last_trigger() {
  py <<'EOT'
from peer import *
peer = Peer()
for event in "web/request", "web/with_the_process":
    assert peer.ask(f"event define {event} lifetime=feeder u64 lat")[0] == 0, peer.reason
open(os.environ["MNT"] + "/tracing/events/web/request/trigger", "a").write("hist:keys=lat\n")
EOT
  # A daemon that learns of the end between the truncation and the write removes the event then.
  wait_until '[ ! -e "$E/web/with_the_process" ]'
  assert_has 'hist:keys=lat' "$(cat "$E/web/request/trigger")"
  (set -e; echo >"$E/web/request/trigger")
  wait_until '[ ! -e "$E/web" ]'
}

a_program_of_another_pid_namespace_is_told_by_the_id_that_the_daemon_sees() {
  need_root
  need unshare
  unshare --pid --fork true 2>/dev/null || skip "no PID namespace can be made here"
  "$TALLY_SEND" --socket "$SOCK" 'event define web/request u64 us'
  echo 1 >"$E/web/request/enable"
  assert_eq 1 \
    "$(unshare --pid --fork sh -c 'echo $$; exec "$0" --socket "$1" "event web/request us=7"' \
    "$TALLY_SEND" "$SOCK")"
  assert_match '.*-[1-9][0-9]+ +\[000\] .* request: us=7' "$(grep 'us=7' "$T/trace")"
}
