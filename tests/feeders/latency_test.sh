#!/usr/bin/env bash
# tracing/latency_hist beside cyclictest, which measures the same from outside: from when its timers
# should have expired until its threads run. TALLY_SECONDS: for how long (10).
. "$(dirname "$0")/lib.sh"
SECONDS_LONG=${TALLY_SECONDS:-10}
HIST=$MNT/tracing/latency_hist

[ -e /dev/fuse ] || skip_all "no /dev/fuse"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v cyclictest >/dev/null || skip_all "cyclictest is not installed"
chrt -f 95 true 2>/dev/null || skip_all "no real-time priority is allowed here"

start_daemon -o tracefs
if ! { echo 1 >"$HIST/enable/wakeup"; } 2>/dev/null; then
  skip_all "no kernel events here: $(head -1 "$MNT/tracing/error_log")"
fi
echo 1 >"$HIST/enable/missed_timer_offsets"
echo 1 >"$HIST/enable/timerandwakeup"

keep_busy

processes=$(pgrep -d' ' -f -- "--socket $SOCK")
# Clock ticks that daemon, supervisor and feeder have used.
ticks() {
  for pid in $processes; do sed 's/.*) //' "/proc/$pid/stat"; done |
    awk '{ n += $12 + $13 } END { print n + 0 }'
}

before=$(ticks)
stolen=$(stolen_ticks)
cyclictest -m -p95 -t2 -a -i1000 -D "$SECONDS_LONG" -q -h 10240 --histfile="$WORK/cyclictest" \
  >/dev/null
used=$(($(ticks) - before))
stolen_after=$(stolen_ticks)
be_idle

for cpu in 0 1; do
  [ -e "$HIST/timerandwakeup/CPU$cpu" ] || continue
  read -r samples p50 p99 < <(awk -v n=$((cpu + 2)) '/^[0-9]/ && $n + 0 { print $1 + 0, $n + 0 }' \
    "$WORK/cyclictest" | percentiles)
  # Of those beyond its rows cyclictest knows the number only.
  over=$(awk -v n=$((cpu + 4)) '/^# Histogram Overflows:/ { print $n + 0 }' "$WORK/cyclictest")
  samples=$((samples + over))
  max=$(awk -v n=$((cpu + 4)) '/^# Max Latencies:/ { print $n + 0 }' "$WORK/cyclictest")
  read -r _ our_p50 our_p99 < <(grep -v -e '^#' -e ' 0$' "$HIST/timerandwakeup/CPU$cpu" |
    percentiles)
  our_samples=$(sed -n 's/^#Total samples: //p' "$HIST/timerandwakeup/CPU$cpu")
  our_max=$(sed -n 's/^#Maximum latency: \(.*\) microseconds/\1/p' "$HIST/timerandwakeup/CPU$cpu")
  echo "# CPU$cpu: cyclictest $samples samples, p50 $p50, p99 $p99, maximum $max us; timerandwakeup $our_samples, $our_p50, $our_p99, $our_max us"
  # A virtual CPU that its host stops between arming a timer and sleeping has no wakeup to measure.
  missing=$((samples / (stolen_after > stolen ? 50 : 100)))
  check "CPU$cpu: the samples agree within 1%, or 2% of a CPU that was taken away" \
    within "$missing" "$samples" "$our_samples"
  check "CPU$cpu: p50 agrees within 3 us or a quarter" within "$(bound 3 "$p50" 4)" "$p50" \
    "$our_p50"
  check_p99 "$p50" "$p99" "$our_p99" "CPU$cpu: p99 agrees within 10 us or a quarter"
  check_max "$max" "$our_max" "$((stolen_after - stolen))" \
    "CPU$cpu: the maximum agrees within 20 us or 2%"
done
value() { sed -n "s/^$2 //p" "$HIST/$1/summary"; }
for each in wakeup missed_timer_offsets timerandwakeup; do
  check_eq 0 "$(value $each lost)" "$each has lost nothing"
  check "$each has less than 1% unmatched" [ "$(value $each unmatched)" \
    -le $(($(value $each samples) / 100)) ]
done
percent=$(awk -v ticks="$used" -v hz="$(getconf CLK_TCK)" -v s="$SECONDS_LONG" \
  'BEGIN { printf "%.2f", 100 * ticks / hz / s }')
check "daemon and feeder use at most 3% of a core: $percent%" within 3 0 "$percent"
