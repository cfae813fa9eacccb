# shellcheck shell=bash
# Which way samples of the probe go. Sourced by files beside this one, behind _probe.sh.
_in_cells() {
  local before
  before=$(own samples)
  tell "inc $1 1"
  ok 'sync 5000'
  [ "$(own samples)" = "$before" ]
}
# _into_cells NAME...: from now on its samples go into cells. They are reset.
_into_cells() {
  local each
  for each; do
    wait_until "_in_cells $each"
    ok "reset $each" 'sync 5000'
    wait_until "_in_cells $each"
    define web "name=$each data=reset"
  done
}
# _goes_by_ring NAME: a sample of it did.
_goes_by_ring() {
  local before
  before=$(own ring_samples)
  ok "add $1 1 1 1" 'sync 5000'
  [ "$(own ring_samples)" -gt "$before" ]
}
# _into_ring NAME...: from now on its samples go into rings. They are reset.
_into_ring() {
  local each
  for each; do
    wait_until "_goes_by_ring $each"
    define web "name=$each data=reset"
  done
}
# _traced LINE: the probe does it; its system calls are in $CASE/calls. Of the thread that calls:
# the library's own thread has its ticks.
_traced() {
  local tracer
  strace -qq -o "$CASE/calls" -p "$PROBE" &
  tracer=$!
  echo $tracer >>"$CASE/pids"
  wait_until '! grep -q "^TracerPid:.0$" "/proc/$PROBE/status" || ! kill -0 '$tracer
  kill -0 $tracer 2>/dev/null || skip 'strace may not trace'
  echo "$1" >&7
  IFS= read -r -t $((90 * ${TALLY_PATIENCE:-1})) SAID <&8 || fail 'the probe does not end'
  assert_eq ok "$SAID"
  kill -INT $tracer
  wait $tracer || true
}
