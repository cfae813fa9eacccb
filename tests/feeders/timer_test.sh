#!/usr/bin/env bash
# tally-feed-timer, as an unprivileged user if root.
. "$(dirname "$0")/lib.sh"

as_nobody=()
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
  # Where that user may not go, a copy of the program is run.
  install -m 755 "$BIN/tally-feed-timer" "$WORK/tally-feed-timer" && BIN_OF_NOBODY=$WORK
fi
[ -e /dev/fuse ] || skip_all "no /dev/fuse"

uptime_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
# periods: that the first CPU's statistics account for, whether it woke or slept on.
periods() { echo $(($(sum timer "$first") + $(sum timer "overruns${first#lateness}"))); }

start_daemon
launched=$(uptime_ms)
start "${as_nobody[@]}" "${BIN_OF_NOBODY:-$BIN}/tally-feed-timer" --socket "$SOCK"
FEEDER=$PID
cpus=$(nproc)
check "a statistic of lateness comes into being for each CPU" \
  wait_until '[ "$(grep -c "^name=[a-z]*{cpu:[0-9]*} on" "$MNT/statistics/timer/definition")" -eq $((2 * cpus)) ]'
first=$(grep -o '^name=lateness{cpu:[0-9]*}' "$MNT/statistics/timer/definition" | head -1 |
  cut -d= -f2)
views() {
  grep -c "^name=lateness_[a-z_]*${first#lateness} of=$first on=1 type=" \
    "$MNT/statistics/timer/definition"
}
check "and its views show percentiles, and the last five minutes" wait_until '[ "$(views)" -eq 2 ]'
check "wake-ups are counted" wait_until '[ "$(sum timer "$first")" -ge 1 ]'
woken=$(uptime_ms)
# Every millisecond since the first wake-up is a wake-up or was skipped, up to what has not been
# collected yet.
check "no period is forgotten" wait_until \
  'now=$(uptime_ms) && [ "$now" -ge $((woken + 2000)) ] && [ "$(periods)" -ge $((now - woken - 100)) ]'
counted=$(periods)
check "and none counts twice" [ "$counted" -le $(($(uptime_ms) - launched)) ]
check_eq 0 "$(sum timer occurrence_lost)" "none was lost"
wakeups=$(sum timer "$first")
stop "$FEEDER"
check_eq 0 "$STATUS" "SIGTERM ends the feeder well"
total=$(sum timer "$first")
check "what it gathered last was still sent" [ "$total" -ge "$wakeups" ]
echo "type=history entries_max=10 period=1000000 mode=range name=$first" \
  >"$MNT/statistics/timer/definition"
start "${as_nobody[@]}" "${BIN_OF_NOBODY:-$BIN}/tally-feed-timer" --socket "$SOCK" --period-us 500
check "another feeder goes on with what the user has defined since" \
  wait_until '[ "$(data timer | grep -c "^$first \[")" -ge 1 ]'
stop "$PID"
stop "$DAEMON"
check_eq 0 "$STATUS" "SIGTERM ends the daemon well"
"$BIN/tally-feed-timer" --nonsense 2>"$WORK/said"
check_eq 2 $? "wrong usage ends with 2"
check "and is told under the program's name" grep -q '^tally-feed-timer: ' "$WORK/said"
