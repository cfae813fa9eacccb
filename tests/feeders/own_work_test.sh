#!/usr/bin/env bash
# What tallyfs does itself is left out of tracing/events, and nothing else: beside an instance of
# the kernel's own tracing with the same filters, the counts are the same, event for event.
# Daemon and feeder need less than 3 % of a core for that. TALLY_SECONDS: for how long (8).
. "$(dirname "$0")/lib.sh"
SECONDS_LONG=${TALLY_SECONDS:-8}
E=$MNT/tracing/events
KERNEL=$WORK/kernel
BESIDE=beside-tallyfs-$$

[ -e /dev/fuse ] || skip_all "no /dev/fuse"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"

start_daemon -o tracefs
[ -d "$E/sched/sched_waking" ] || skip_all "no kernel events here"
FEEDER=$(pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1)

mkdir "$KERNEL"
in_kernel() {
  unshare -m bash -c 'mount -t tracefs nodev "$1" && cd "$1" && eval "$2"' - "$KERNEL" "$1"
}
clean_up_more() { in_kernel "rmdir instances/$BESIDE" 2>/dev/null; }
own_threads() { { ls "/proc/$SERVER/task"; echo "$FEEDER"; } | tr '\n' ' '; }
# counts EVENT KEY: `KEY COUNT` lines of a histogram with that key alone, sorted.
counts() {
  all_of sed -nE "s/^\{ $2: +([0-9]+) +\} hitcount: +([0-9]+)\$/\1 \2/p" "$E/$1/hist" | sort
}
hits() { sed -n 's/^    Hits: //p' "$E/$1/hist" | awk '{ n += $1 } END { print n + 0 }'; }

# --- Before anything is counted a reader waits, so that all of tallyfs's threads have work to do.
timeout $((SECONDS_LONG + 60)) cat "$MNT/tracing/trace_pipe" >/dev/null &
STARTED+=($!)

# --- The same filters on both sides
in_kernel "mkdir instances/$BESIDE && cd instances/$BESIDE && echo 32768 >buffer_size_kb &&
  echo 'comm == \"worker\"' >events/sched/sched_waking/filter &&
  echo 'next_comm == \"worker\" || prev_comm == \"worker\"' >events/sched/sched_switch/filter &&
  echo 1 >events/sched/sched_waking/enable && echo 1 >events/sched/sched_switch/enable"
echo 'hist:keys=pid if comm == "worker"' >"$E/sched/sched_waking/trigger"
echo 'hist:keys=next_pid if next_comm == "worker"' >"$E/sched/sched_switch/trigger"
echo 'hist:name=gone:keys=prev_pid if prev_comm == "worker"' >>"$E/sched/sched_switch/trigger"

# --- Two tasks that sleep for a millisecond at a time, on the CPUs where daemon and feeder have to
# work meanwhile.
cp "$(command -v bash)" "$WORK/worker"
mkfifo "$WORK/never"
workers=()
for cpu in 0 $(($(nproc) - 1)); do
  taskset -c "$cpu" "$WORK/worker" -c 'exec 9<>"$1"; end=$((SECONDS + $2))
    while [ $SECONDS -lt $end ]; do read -t 0.001 -u 9; done' - "$WORK/never" "$SECONDS_LONG" &
  workers+=($!)
  STARTED+=($!)
done
# For the first half readers keep daemon and feeder at work; then one comes twice a second.
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
began=''
half=$((SECONDS + SECONDS_LONG / 2))
while kill -0 "${workers[@]}" 2>/dev/null; do
  cat "$E/sched/sched_waking/hist" "$E/sched/sched_switch/hist" >/dev/null
  [ $SECONDS -ge $half ] || continue
  [ "$began" ] || { began=${EPOCHREALTIME/./} && of_daemon=$(ticks "$SERVER") &&
    of_feeder=$(ticks "$FEEDER"); }
  sleep 0.5
done
took=$((${EPOCHREALTIME/./} - began))
of_daemon=$(($(ticks "$SERVER") - of_daemon)) of_feeder=$(($(ticks "$FEEDER") - of_feeder))
wait "${workers[@]}"
# share TICKS: of a core, in percent.
share() {
  awk -v ticks="$1" -v hz="$(getconf CLK_TCK)" -v us="$took" \
    'BEGIN { printf "%.2f", 1e8 * ticks / hz / us }'
}

waking=$(counts sched/sched_waking pid)
come=$(counts sched/sched_switch next_pid)
gone=$(counts sched/sched_switch prev_pid)
in_kernel "cd instances/$BESIDE && echo 0 >tracing_on && cat trace" >"$WORK/trace"
stats=$(in_kernel "cat instances/$BESIDE/per_cpu/cpu*/stats")
check_eq 0 "$(awk '/overrun:|dropped events:/ { n += $NF } END { print n + 0 }' <<<"$stats")" \
  "the kernel's instance has lost nothing"

# of_kernel EVENT FIELD COMM: `PID COUNT` lines of its records with a worker in these fields,
# without wakings that a thread of tallyfs did outside of interrupts.
of_kernel() {
  local line="^.*-([0-9]+) +\[[0-9]+\] ..(.).* $1: .*$3=worker .*\\<$2=([0-9]+) .*\$"
  sed -nE "s/$line/\1 \2 \3/p" "$WORK/trace" |
    awk -v own="$(own_threads)" -v waking="$1" '
      BEGIN { split(own, all, " "); for (i in all) is_own[all[i]] = 1 }
      waking == "sched_waking" && $2 == "." && is_own[$1] { next }
      { n[$3] += 1 }
      END { for (pid in n) print pid, n[pid] }' | sort
}
check_eq "$(of_kernel sched_waking pid comm)" "$waking" "wakings are counted as the kernel has them"
check_eq "$(of_kernel sched_switch next_pid next_comm)" "$come" "so are switches to tasks"
check_eq "$(of_kernel sched_switch prev_pid prev_comm)" "$gone" "and switches away from them"
among=$(own_threads | tr ' ' '\n' | sed '/./!d; s/.*/-& +\\[/' | paste -sd'|')
check "the daemon uses less than 3 % of a core: $(share "$of_daemon")" \
  within 3 0 "$(share "$of_daemon")"
check "and so does the feeder: $(share "$of_feeder")" within 3 0 "$(share "$of_feeder")"
echo "# $(grep -c sched_waking: "$WORK/trace") wakings," \
  "$(grep -cE "($among).* sched_waking:" "$WORK/trace") of them while a thread of tallyfs ran"
in_kernel "rmdir instances/$BESIDE"
echo >"$E/sched/sched_waking/trigger"
echo >"$E/sched/sched_switch/trigger"

# --- Of tallyfs itself there is nothing, under whatever key
echo 'hist:keys=pid:size=16384' >"$E/sched/sched_waking/trigger"
echo 'hist:keys=prev_pid:size=16384' >"$E/sched/sched_switch/trigger"
echo 'hist:name=come:keys=next_pid:size=16384' >>"$E/sched/sched_switch/trigger"
echo 'hist:keys=common_pid:size=16384' >"$E/raw_syscalls/sys_enter/trigger"
until [ "$(hits sched/sched_switch)" -ge 1000 ]; do
  cat "$E"/sched/sched_{waking,switch}/hist "$E/raw_syscalls/sys_enter/hist" >/dev/null
done
for event in sched/sched_waking sched/sched_switch raw_syscalls/sys_enter; do
  cat "$E/$event/hist" >"$WORK/seen"
  own=$(own_threads | sed 's/ *$//; s/ /|/g')
  check_eq "" "$(grep -E "pid: +($own) " "$WORK/seen")" "$event has no threads of tallyfs"
  check "$event has others" grep -q 'pid: ' "$WORK/seen"
  echo >"$E/$event/trigger"
done
lost=$(data tallyfs | awk '$1 == "events_lost" { n += $NF } END { print n + 0 }')
check_eq 0 "$lost" "nothing was lost"
