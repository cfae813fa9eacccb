# shellcheck shell=bash
# A feeder on libtally that does as it is told: tests/client/probe.cpp. Sourced by the files beside
# this one.
TALLY_PROBE=${TALLY_BIN:+$TALLY_BIN/}tally-probe

# start_stats_probe: the same for stats/, tests/client/stats_probe.c.
start_stats_probe() { TALLY_PROBE=${TALLY_BIN:+$TALLY_BIN/}tally-stats-probe start_probe; }
# start_probe: with what it was told first by `PROBE_SAYS=...` in the environment.
start_probe() {
  command -v "$TALLY_PROBE" >/dev/null || skip "tally-probe is not built"
  # In the case's directory, which its command line names, so that it is taken away with it.
  mkfifo "$CASE/tell" "$CASE/hear" 2>/dev/null || true
  # Where a process forks while another thread allocates, LLVM 14's ASan lets the child wait for
  # ever for the lock of its table of stacks. Without stacks of allocations it takes none.
  (cd "$CASE" && ASAN_OPTIONS=${ASAN_OPTIONS:-}:malloc_context_size=0 TALLY_SOCKET=$SOCK \
    exec "$TALLY_PROBE" "$CASE" <"$CASE/tell" >"$CASE/hear" 2>>"$CASE/stderr.probe") &
  PROBE=$!
  echo $PROBE >>"$CASE/pids"
  exec 7>"$CASE/tell" 8<"$CASE/hear"
}
# tell LINE: what it answers is in $SAID.
tell() {
  echo "$1" >&7
  SAID=''
  IFS= read -r -t $((60 * ${TALLY_PATIENCE:-1})) SAID <&8 || fail "the probe does not answer '$1'"
}
# ok LINE...: each is answered with ok. A sanitizer makes longer how long `sync MS` may wait.
ok() {
  local each
  for each; do
    [[ $each != 'sync '* ]] || each="sync $((${each#sync } * ${TALLY_PATIENCE:-1}))"
    tell "$each"
    assert_eq ok "$SAID" "$each"
  done
}
# said WANTED LINE
said() { tell "$2"; assert_eq "$1" "$SAID" "$2"; }
# count_of WHAT: of its counts
count_of() {
  tell counts
  [[ " $SAID " =~ \ $1=([0-9]+)\  ]] || fail "no $1 in '$SAID'"
  echo "${BASH_REMATCH[1]}"
}
# Every sample is somewhere: added = held + sent + dropped, and sent = confirmed + lost + on the
# way.
assert_balanced() {
  tell counts
  local added held sent confirmed lost dropped
  eval "${SAID// /;}"
  assert_eq "$added" $((held + sent + dropped)) "held + sent + dropped of $SAID"
  [ $((confirmed + lost)) -le "$sent" ] || fail "more confirmed than sent: $SAID"
}
end_probe() { echo end >&7; wait "$PROBE" || fail "the probe ended with $?"; }
# at_an_end DOES ENDS SHOWN: what ENDS still sends is there. At the end of a process libtally waits
# for the daemon for 250 ms: an end that took as long says nothing, and all is done with another $N.
at_an_end() {
  local N=0 begun took deadline=$((SECONDS + 60 * ${TALLY_PATIENCE:-1}))
  while :; do
    N=$((N + 1))
    eval "$1"
    begun=$(now_us)
    eval "$2"
    took=$(($(now_us) - begun))
    ! eval "$3" || return 0
    [ $took -ge 250000 ] || fail "after $took us it is not so: $3" "$(data web$N 2>&1)"
    [ $SECONDS -le $deadline ] || fail "no end of $N was answered in time"
  done
}
# web/hits, a counter that is on
web_hits() { start_probe; ok 'interface web' 'statistic web hits' 'start hits'; }
# in_cells STATISTIC: what is added to it goes by cells, and not by the socket.
in_cells() {
  local before
  before=$(own samples)
  ok "inc $1 1" 'sync 5000'
  [ "$(own samples)" = "$before" ]
}
