#!/usr/bin/env bash
# tracing/latency_hist beside cyclictest, which measures the same from outside: from when its timers
# should have expired until its threads run. Once with CPUs that are busy, once with CPUs that sleep
# in between, of which some kernels leave out switches. Each CPU agrees with cyclictest, or its file
# says what is missing. TALLY_SECONDS: for how long, both together (20).
. "$(dirname "$0")/lib.sh"
SECONDS_LONG=$((${TALLY_SECONDS:-20} / 2))
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

processes=$(pgrep -d' ' -f -- "--socket $SOCK")
# Clock ticks that daemon, supervisor and feeder have used.
ticks() {
  for pid in $processes; do sed 's/.*) //' "/proc/$pid/stat"; done |
    awk '{ n += $12 + $13 } END { print n + 0 }'
}
value() { sed -n "s/^$2 //p" "$HIST/$1/summary"; }

# compare_cpu NUMBER WHEN: with what cyclictest has said.
compare_cpu() {
  local cpu=$1 what="CPU$1, $2" file=$HIST/timerandwakeup/CPU$1 percent
  read -r samples p50 p99 < <(awk -v n=$((cpu + 2)) '/^[0-9]/ && $n + 0 { print $1 + 0, $n + 0 }' \
    "$WORK/cyclictest" | percentiles)
  # Of those beyond its rows cyclictest knows the number only.
  over=$(awk -v n=$((cpu + 4)) '/^# Histogram Overflows:/ { print $n + 0 }' "$WORK/cyclictest")
  samples=$((samples + over))
  max=$(awk -v n=$((cpu + 4)) '/^# Max Latencies:/ { print $n + 0 }' "$WORK/cyclictest")
  read -r _ our_p50 our_p99 < <(grep -v -e '^#' -e ' 0$' "$file" | percentiles)
  our_samples=$(sed -n 's/^#Total samples: //p' "$file")
  our_max=$(sed -n 's/^#Maximum latency: \(.*\) microseconds/\1/p' "$file")
  echo "# $what: cyclictest $samples samples, p50 $p50, p99 $p99, maximum $max us"
  echo "#   timerandwakeup $our_samples samples, p50 $our_p50, p99 $our_p99, maximum $our_max us"
  echo "#   $(grep "^CPU$cpu " "$HIST/timerandwakeup/summary")"
  if grep '^#.* are not in this histogram: ' "$file"; then
    ok "$what: the file says what is missing"
    return
  fi
  # A CPU that is taken away between arming a timer and sleeping has no wakeup to measure. It is
  # taken away often, by its host too, which does not always tell, where cyclictest itself is late
  # by a quarter of its interval at the 99th percentile.
  percent=1
  [ "$stolen" -eq 0 ] || percent=2
  [ "$p99" -lt 250 ] || percent=10 used_max=6
  check "$what: the samples agree within $percent%" \
    within $((samples * percent / 100)) "$samples" "$our_samples"
  check_p50 "$p50" "$p99" "$our_p50" "$what: p50 agrees within 5 us or a quarter"
  check_p99 "$p50" "$p99" "$our_p99" "$what: p99 agrees within 10 us or a quarter"
  check_max "$max" "$our_max" "$stolen" "$what: the maximum agrees within 20 us or 2%"
}

few_unmatched() {
  [ "$(value "$1" unmatched)" -le $(($(value "$1" samples) / 100)) ] ||
    grep -q '^#.* are not in this histogram: ' "$HIST/$1"/CPU*
}

# compare WHEN
compare() {
  # Where a host takes CPUs away untold, what it takes counts as used.
  local when=$1 before used used_max=3 stolen each cpu percent
  for each in $(find "$HIST" -name reset); do echo 1 >"$each"; done
  before=$(ticks)
  stolen=$(stolen_ticks)
  cyclictest -m -p95 -t2 -a -i1000 -D "$SECONDS_LONG" -q -h 10240 \
    --histfile="$WORK/cyclictest" >/dev/null
  used=$(($(ticks) - before))
  stolen=$(($(stolen_ticks) - stolen))
  for cpu in 0 1; do
    [ ! -e "$HIST/timerandwakeup/CPU$cpu" ] || compare_cpu "$cpu" "$when"
  done
  for each in wakeup missed_timer_offsets timerandwakeup; do
    check_eq 0 "$(value $each lost)" "$when: $each has lost nothing"
    check "$when: $each has less than 1% unmatched, or says so" few_unmatched "$each"
  done
  percent=$(awk -v ticks="$used" -v hz="$(getconf CLK_TCK)" -v s="$SECONDS_LONG" \
    'BEGIN { printf "%.2f", 100 * ticks / hz / s }')
  check "$when: daemon and feeder use at most $used_max% of a core: $percent%" \
    within "$used_max" 0 "$percent"
}

keep_busy
compare busy
be_idle
compare sleepy
