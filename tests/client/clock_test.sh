#!/usr/bin/env bash
# tally-clock as a person runs it who wants to know whether to trust the clock.
. "$(dirname "$0")/../feeders/lib.sh"
CLOCK=$BIN/tally-clock
SOURCE=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)
value() { awk -v name="$1" '$1 == name { print $2 }' "$WORK/said"; }
# run STATUS ARGUMENT...: it ends with this status; what it says is in $WORK/said and $WORK/progress.
run() {
  local wanted=$1 status=0
  shift
  "$CLOCK" "$@" >"$WORK/said" 2>"$WORK/progress" || status=$?
  check_eq "$wanted" "$status" "tally-clock $* ends with $wanted"
}

run 0
check_eq "$(printf '%s\n' driver width_bits rate_hz drift_ppm epoch anchors reach_s steps last_step_ns leap_seconds suspends gaps jumps frequency_changes fallbacks error_ns)" \
  "$(awk '{ print $1 }' "$WORK/said")" "it prints its status, a name and a value on each line"
expected=monotonic
[ "$(uname -m)" = x86_64 ] && [ "$SOURCE" = tsc ] && expected=tsc
[ "$(uname -m)" = aarch64 ] && expected=cntvct
check_eq "$expected" "$(value driver)" "the driver is the one that the kernel trusts"
check_eq '0 0 0 0' "$(value gaps) $(value jumps) $(value frequency_changes) $(value fallbacks)" "nothing is wrong with it"

run 0 --watch 2
check_eq 1 "$(grep -c '^1 of 2 s: drift .* ppm, sched_clock off by .* ns at most$' "$WORK/progress")" "it shows progress while it watches"
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
unset TALLY_CLOCK

run 2 --driver nobody
check_eq 'tally-clock: driver nobody: there is none of this name' "$(cat "$WORK/progress")" "a driver that is not there is named"
run 2 --watch 0
run 2 --nonsense
run 0 --help
run 0 --version
check_eq "$("$BIN/tallyfs" --version | grep -oE '[0-9.]+$')" "$(grep -oE '[0-9.]+$' "$WORK/said")" "its version is tallyfs's"
for option in --driver --watch --cost --quiet; do
  check "the man page has $option" grep -q -- "${option//-/\\\\-}" "$(dirname "$0")/../../packaging/man/tally-clock.1"
done
