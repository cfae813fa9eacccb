# --state: triggers on events of this kernel are armed again when the feeder has come.
_alone=yes # others would fork
. ./tracing/_kernel.sh

_set_up() { need_root; }
_start() { _start_with_kernel --state "$CASE/state" --state-period 3600; }

triggers_on_the_kernels_events_are_armed_again() {
  _start
  mkdir "$T/instances/again"
  local deep=$T/instances/again/events/task/task_newtask
  echo "hist:keys=common_comm if comm == \"$FORKER\"" >>"$E/trigger"
  echo "hist:keys=comm:size=128 if comm == \"$FORKER\"" >>"$deep/trigger"
  echo 1 >"$T/latency_hist/enable/wakeup"
  _fork 20
  _reaches 20 'hits of all' _hits "$E"
  _reaches 20 'hits of the instance' _hits "$deep"
  local before
  before=$(cat "$E/trigger" "$E/hist" "$deep/trigger" "$deep/hist")
  stop_daemon
  _fork 5 # nothing measures
  _start
  assert_eq "$before" "$(cat "$E/trigger" "$E/hist" "$deep/trigger" "$deep/hist")"
  _fork 7
  _reaches 27 'hits of all' _hits "$E"
  _reaches 27 'hits of the instance' _hits "$deep"
  assert_eq 1 "$(cat "$T/latency_hist/enable/wakeup")"
  assert_has_not 'is left out' "$(cat "$STDERR")"
}

another_id_of_the_event_does_not_matter() {
  need_python
  _start
  echo "hist:keys=common_comm if comm == \"$FORKER\"" >>"$E/trigger"
  _fork 3
  _reaches 3 'hits' _hits "$E"
  local id
  id=$(cat "$E/id")
  stop_daemon
  py "$CASE"/state/state.* "$id" <<'EOT'
import struct
import sys


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


# Gives the event of the kernel another id, with the checksums of its object.
with open(sys.argv[1], "r+b") as file:
    state = bytearray(file.read())
    (first,) = struct.unpack_from("<I", state, 44)
    at, kind = 48, 0
    while True:
        kind, _, label, size = struct.unpack_from("<HHII", state, at + 4)
        contents = at + 24 + label
        if kind == 7:
            break
        at = contents + size
    old = b"ID: %d\n" % int(sys.argv[2])
    new = b"ID: " + b"1" * (len(old) - 5) + b"\n"
    assert old in state[contents:contents + size] and old != new
    state[contents:contents + size] = state[contents:contents + size].replace(old, new)
    struct.pack_into("<I", state, at + 16, crc32c(state[contents:contents + size]))
    struct.pack_into("<I", state, contents - 4, crc32c(state[at:contents - 4], first))
    file.seek(0)
    file.write(state)
EOT
  _start
  assert_eq "$id" "$(cat "$E/id")"
  assert_eq 3 "$(_hits "$E")"
  _fork 2
  _reaches 5 'hits' _hits "$E"
  assert_has_not 'is not whole' "$(cat "$STDERR")"
  assert_has_not 'is left out' "$(cat "$STDERR")"
}
