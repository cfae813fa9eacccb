#!/usr/bin/env bash
# tally-clock as a user runs it, to decide whether to trust the clock.
. "$(dirname "$0")/../feeders/lib.sh"
CLOCK=$BIN/tally-clock
SOURCE=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)
value() { awk -v name="$1" '$1 == name { print $2 }' "$WORK/said"; }
# run STATUS ARGUMENT...: it ends with this status; what it says is in $WORK/said and
# $WORK/progress.
run() {
  local wanted=$1 status=0
  shift
  "$CLOCK" "$@" >"$WORK/said" 2>"$WORK/progress" || status=$?
  check_eq "$wanted" "$status" "tally-clock $* ends with $wanted"
}

run 0
check_eq "$(printf '%s\n' driver width_bits rate_hz drift_ppm epoch anchors reach_s steps \
  last_step_ns leap_seconds suspends gaps jumps frequency_changes fallbacks error_ns)" \
  "$(awk '{ print $1 }' "$WORK/said")" "it prints its status, a name and a value on each line"
expected=monotonic
[ "$(uname -m)" = x86_64 ] && [ "$SOURCE" = tsc ] && expected=tsc
[ "$(uname -m)" = aarch64 ] && expected=cntvct
check_eq "$expected" "$(value driver)" "the driver is the one that the kernel trusts"
check_eq '0 0 0 0' "$(value gaps) $(value jumps) $(value frequency_changes) $(value fallbacks)" \
  "nothing is wrong with it"

run 0 --watch 2
check_eq 1 \
  "$(grep -c '^1 of 2 s: drift .* ppm, sched_clock off by .* ns at most$' "$WORK/progress")" \
  "it shows progress while it watches"
check "sched_clock() was within a microsecond" [ "$(value sched_clock_off_ns)" -le 1000 ]
check_eq 0 "$(value steps_back)" "and never stepped back"
run 0 --watch 1 --quiet
check_eq '' "$(cat "$WORK/progress")" "without progress, if so asked"

run 0 --cost
check_eq 4 "$(grep -c 'ns *[0-9.]* of ' "$WORK/said")" "it tells costs as ratios"

run 0 --driver monotonic
check_eq monotonic "$(value driver)" "another driver is chosen by an option"
export TALLY_CLOCK=monotonic
run 0 --watch 1 -q
check_eq monotonic "$(value driver)" "and by the environment"
check_eq 0 "$(value sched_clock_off_ns)" "CLOCK_MONOTONIC is itself"
TALLY_CLOCK=off
run 0
check_eq 'off 0' "$(value driver) $(value anchors)" "it may be off"
run 2 --watch 1
check_eq 'tally-clock: TALLY_CLOCK=off: the clock is off, nothing to watch' \
  "$(cat "$WORK/progress")" "when there is nothing to watch"
run 0 --driver monotonic
check_eq monotonic "$(value driver)" "unless the option says otherwise"
TALLY_CLOCK=foo
run 0
check_eq "$expected foo" "$(value driver) $(value not_taken)" \
  "what the environment names in vain is told"
check_eq 'tally-clock: TALLY_CLOCK=foo: no such driver; choose auto, tsc, cntvct or monotonic' "$(cat "$WORK/progress")" "on the standard error too"
unset TALLY_CLOCK

run 2 --driver nobody
check_eq 'tally-clock: driver nobody: no such driver; choose auto, tsc, cntvct or monotonic' "$(cat "$WORK/progress")" "a driver that is not there is named, and those that are"
run 2 --driver ''
check_eq "tally-clock: driver '': no such driver; choose auto, tsc, cntvct or monotonic" \
  "$(cat "$WORK/progress")" "one without a name, too"
for arguments in '' --cost --help --version; do
  # shellcheck disable=SC2086
  "$CLOCK" $arguments >/dev/full 2>"$WORK/progress"
  check_eq '3 tally-clock: standard output: No space left on device' "$? $(cat "$WORK/progress")" \
    "tally-clock $arguments notices that its output is lost"
done

# A shell has what runs in the background ignore SIGINT.
env --default-signal=INT "$CLOCK" --watch 1000 >"$WORK/said" 2>"$WORK/progress" &
watching=$!
check "it runs" wait_until 'grep -q "^1 of 1000 s" "$WORK/progress"'
kill -INT "$watching" 2>/dev/null
wait "$watching"
check "interrupted, it ends as if the time were over" [ $? -le 1 ]
check "and prints what it has found so far" [ "$(value looks)" -ge 1000 ]
check_eq 1 "$(grep -c '^driver ' "$WORK/said")" "and its status"

# ---- a kernel that does not trust the counter, as this process's own mounts have it
if [ "$(uname -m)" = x86_64 ] && unshare -m true 2>/dev/null; then
  echo hpet >"$WORK/hpet"
  # shellcheck disable=SC2016
  elsewhere() { unshare -m sh -c 'mount --bind "$1" /sys/devices/system/clocksource/clocksource0/current_clocksource && shift && exec "$@"' - "$WORK/hpet" "$@"; }
  check_eq monotonic "$(elsewhere "$CLOCK" | awk '$1 == "driver" { print $2 }')" \
    "a counter that the kernel does not trust is not taken"
  elsewhere "$CLOCK" --driver tsc >/dev/null 2>"$WORK/progress"
  check_eq '2 tally-clock: driver tsc: not to be trusted on this machine' \
    "$? $(cat "$WORK/progress")" "nor if it is asked for"
else
  echo "ok $((COUNT += 1)) # SKIP no mount namespace of one's own"
fi

run 2 --watch 0
run 2 --nonsense
run 0 --help
run 0 --version
check_eq "$("$BIN/tallyfs" --version | grep -oE '[0-9.]+$')" "$(grep -oE '[0-9.]+$' "$WORK/said")" \
  "its version is tallyfs's"
for option in --driver --watch --cost --quiet; do
  check "the man page has $option" grep -q -- "${option//-/\\\\-}" \
    "$(dirname "$0")/../../packaging/man/tally-clock.1"
done
