#!/usr/bin/env bash
# tracing/events on the kernel's own events: the seed's examples as its scripts have them, counts
# beside sources that know better, latencies beside cyclictest's own, and a feeder that is killed.
# TALLY_SECONDS: for how long to measure (10).
. "$(dirname "$0")/lib.sh"
SECONDS_LONG=${TALLY_SECONDS:-10}
T=$MNT/tracing
E=$T/events

[ -e /dev/fuse ] || skip_all "no /dev/fuse"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"

start_daemon -o tracefs
[ -d "$E/sched/sched_switch" ] || skip_all "no kernel events here"

feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
hits() { all_of sed -n 's/^    Hits: //p' "$1/hist" | tail -1; }
# script TEXT: as a script for the kernel's tracing directory, in tracing/.
script() { (cd "$T" && bash -e -c "$1"); }
refused() { ! bash -c "$1" 2>"$WORK/refused"; }

# --- What is offered
kernel=$WORK/kernel
mkdir "$kernel"
in_kernel() {
  unshare -m bash -c 'mount -t tracefs nodev "$1" && cd "$1" && eval "$2"' - "$kernel" "$1"
}
check_eq "$(in_kernel 'for each in events/*/*/enable; do each=${each%/enable} each=${each#events/}; echo "${each/\//:}"; done' | sort | sha1sum)" \
  "$(grep -v ^synthetic: "$T/available_events" | sort | sha1sum)" \
    "all events of the kernel that can be switched are offered"
for each in sched/sched_switch syscalls/sys_enter_write irq/irq_handler_entry; do
  [ -e "$E/$each" ] || continue
  check_eq "$(in_kernel "cat events/$each/format events/$each/id")" \
    "$(cat "$E/$each/format" "$E/$each/id")" "$each has the kernel's format and id"
done
# Our instance, if there is one: it has the id of the supervisor, which starts one feeder after the
# other.
OURS=tallyfs-events-$(tr '\0' '\n' <"/proc/$(feeder)/cmdline" | awk '
  $0 == "--owner" { getline owner }
  $0 == "--probe-group" { getline number; owner = number "-" owner }
  END { print owner }')
instance() { in_kernel 'ls instances' | grep -x "$OURS"; }
in_instance() { in_kernel "cat instances/$OURS/$1"; }
lost() { data tallyfs | awk '$1 == "events_lost" { n += $NF } END { print n + 0 }'; }
check_eq "" "$(instance)" "without demand there is no instance"

# --- Counts beside a source that knows better: a program that forks 500 times
script "echo 'hist:keys=common_pid:vals=hitcount if comm == \"forker\"' > events/task/task_newtask/trigger"
check_eq 1 "$(in_instance events/task/task_newtask/enable)" \
  "the real event is on when the write returns"
check "and has the filter" \
  grep -qF '(comm == "forker")&&(' <(in_instance events/task/task_newtask/filter)
cp "$(command -v bash)" "$WORK/forker"
for round in 1 2; do
  before=$(hits "$E/task/task_newtask")
  "$WORK/forker" -c 'for ((i = 0; i < 500; ++i)); do (exit 0); done'
  after=$(hits "$E/task/task_newtask")
  check_eq 500 $((after - before)) "500 forks are counted, without waiting (round $round)"
done
script "echo '!hist:keys=common_pid:vals=hitcount if comm == \"forker\"' >> events/task/task_newtask/trigger"
check_eq "" "$(instance)" "what is taken off goes from the kernel"

# --- Writes and their sizes beside strace's word for it: one process, 300 writes of 17 bytes
if [ -e "$E/syscalls/sys_enter_write" ]; then
  script "echo 'hist:keys=common_pid.execname:vals=count:sort=hitcount if count == 17' > events/syscalls/sys_enter_write/trigger"
  bash -c 'exec 9>/dev/null; for ((i = 0; i < 300; ++i)); do echo -n 12345678901234567 >&9; done'
  check "writes and their bytes are summed by process" \
    grep -Eq '^\{ common_pid: bash +\[ +[0-9]+\] \} hitcount: +300  count: +5100$' \
      <(all_of cat "$E/syscalls/sys_enter_write/hist")
  echo >"$E/syscalls/sys_enter_write/trigger"
  script "echo 'hist:keys=id.syscall,common_pid if common_pid == $$' > events/raw_syscalls/sys_enter/trigger"
  kill -0 $$
  check "system calls have names" \
    grep -q '{ id: sys_' <(all_of cat "$E/raw_syscalls/sys_enter/hist")
  echo >"$E/raw_syscalls/sys_enter/trigger"
fi

# --- Stacks and symbols
script "echo 'hist:keys=common_stacktrace:sort=hitcount if comm == \"forker\"' > events/task/task_newtask/trigger"
"$WORK/forker" -c 'for ((i = 0; i < 20; ++i)); do (exit 0); done'
# The feeder may take longer for its first name than a read waits for one.
check "stacks are taken by the kernel, and have names" wait_until \
  'all_of cat "$E/task/task_newtask/hist" | tee "$WORK/stacks" |
    grep -E "^ +(copy_process|kernel_clone)" >"$WORK/named"'
check "without the tracing itself" refused "grep -q trace_event_raw '$WORK/stacks'"
echo >"$E/task/task_newtask/trigger"

# --- Records of others are shown, but not those of tallyfs itself
script "echo 'hist:keys=common_pid,common_comm' > events/raw_syscalls/sys_enter/trigger"
for each in 1 2 3 4 5; do cat "$E/raw_syscalls/sys_enter/hist" >/dev/null; done
all_of cat "$E/raw_syscalls/sys_enter/hist" >"$WORK/others"
check "neither the daemon nor the feeder is in what is measured" refused \
  "grep -Eq 'common_pid: +($DAEMON|$SERVER|$(feeder)),' '$WORK/others'"
check "others are" grep -q 'common_comm: cat' "$WORK/others"
echo >"$E/raw_syscalls/sys_enter/trigger"

script "echo 'hist:keys=next_pid' > events/sched/sched_switch/trigger"
for each in 1 2 3 4 5; do cat "$E/sched/sched_switch/hist" >"$WORK/switches"; done
threads=$(ls "/proc/$SERVER/task" | tr '\n' '|')$(feeder)
check "no task switches to them" refused "grep -Eq 'next_pid: +($threads) ' '$WORK/switches'"
check "but to others" grep -q 'next_pid: ' "$WORK/switches"
echo >"$E/sched/sched_switch/trigger"

# --- A trace
echo 1 >"$E/task/task_newtask/enable"
"$WORK/forker" -c '(exit 0); (exit 0)'
check_eq 2 "$(all_of grep -c 'task_newtask: .*comm=forker' "$T/trace")" \
  "enabled events are in trace"
echo 0 >"$E/task/task_newtask/enable"
echo >"$T/trace"

# --- One trigger joins a program's events with the kernel's
send() { "$BIN/tally-send" --socket "$SOCK" "$@"; }
send 'event define app/begin pid_t who'
script "echo 'app_to_exit u64 lat; pid_t who' >> synthetic_events
echo 'hist:keys=who:t0=common_timestamp.usecs' > events/app/begin/trigger
echo 'hist:keys=common_pid:lat=common_timestamp.usecs-\$t0:onmatch(app.begin).app_to_exit(\$lat,common_pid)' > events/sched/sched_process_exit/trigger
echo 'hist:keys=who:vals=lat' > events/synthetic/app_to_exit/trigger"
# A process that ends when the fifo has no writer any more, 0.2 s after its event was taken in.
mkfifo "$WORK/end"
cat "$WORK/end" &
joined=$!
exec 9>"$WORK/end"
began=${EPOCHREALTIME/./}
send "event app/begin who=$joined"
sleep 0.2
exec 9>&-
wait "$joined"
took=$((${EPOCHREALTIME/./} - began))
check "a program's event is joined with a kernel's, by key" \
  awk -v who="$joined" -v took="$took" '
    $2 == "who:" && $3 == who && $NF >= 200000 && $NF <= took { found = 1 }
    END { exit !found }' <(all_of cat "$E/synthetic/app_to_exit/hist")
script "echo > events/synthetic/app_to_exit/trigger; echo > events/sched/sched_process_exit/trigger; echo > events/app/begin/trigger; echo > synthetic_events"

# --- The seed: wakeup latencies of cyclictest, onmatch, onmax with save
if command -v cyclictest >/dev/null && chrt -f 95 true 2>/dev/null; then
  script "echo 'wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events
echo 'hist:keys=\$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm==\"cyclictest\"' >> events/sched/sched_waking/trigger
echo 'hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-\$ts0:onmatch(sched.sched_waking).wakeup_latency(\$wakeup_lat,\$saved_pid,next_prio) if next_comm==\"cyclictest\"' >> events/sched/sched_switch/trigger
echo 'hist:keys=pid,prio,lat:sort=pid,lat' >> events/synthetic/wakeup_latency/trigger
echo 'hist:keys=pid:ts1=common_timestamp.usecs if comm==\"cyclictest\"' >> events/sched/sched_waking/trigger
echo 'hist:keys=next_pid:max_lat=common_timestamp.usecs-\$ts1:onmax(\$max_lat).save(next_comm,prev_pid,prev_prio,prev_comm) if next_comm==\"cyclictest\"' >> events/sched/sched_switch/trigger" ||
    not_ok "the seed's triggers are taken" "$(cat "$T/error_log")"
  # cyclictest measures from when its timers should have expired: the start of a timer says when.
  script "echo 'timer_latency u64 lat; pid_t pid' >> synthetic_events
echo 'hist:keys=common_pid:expiry=expires' >> events/timer/hrtimer_start/trigger
echo 'hist:keys=next_pid:late=common_timestamp-\$expiry:onmatch(timer.hrtimer_start).timer_latency(\$late,next_pid) if next_comm==\"cyclictest\"&&next_prio==4' >> events/sched/sched_switch/trigger
echo 'hist:keys=lat.buckets=1000:size=16384' >> events/synthetic/timer_latency/trigger" ||
    not_ok "the chain from a timer's start is taken" "$(cat "$T/error_log")"
  keep_busy
  cyclictest -m -p95 -t1 -a0 -i1000 -D "$SECONDS_LONG" -q -h 10240 --histfile="$WORK/cyclictest" \
    >/dev/null
  all_of cat "$E/synthetic/wakeup_latency/hist" >"$WORK/latencies"
  all_of cat "$E/synthetic/timer_latency/hist" >"$WORK/timers"
  be_idle
  read -r samples p50 p99 < <(awk '/^[0-9]/ && $2 + 0 { print $1 + 0, $2 + 0 }' "$WORK/cyclictest" |
    percentiles)
  read -r woken_samples woken_p50 woken_p99 < \
    <(sed -nE 's/^\{ pid: +[0-9]+, prio: +4, lat: +([0-9]+) \} hitcount: +([0-9]+)$/\1 \2/p' \
    "$WORK/latencies" | percentiles)
  read -r our_samples our_p50 our_p99 < <(sed -nE 's/^\{ lat: ~ ([0-9]+)[0-9]{3}-[0-9]+ +\} hitcount: +([0-9]+)$/\1 \2/p; s/^\{ lat: ~ 0-999 +\} hitcount: +([0-9]+)$/0 \1/p' "$WORK/timers" | percentiles)
  echo "# cyclictest $samples samples, p50 $p50, p99 $p99 us; from the timer $our_samples, $our_p50, $our_p99 us; from the waking $woken_samples, $woken_p50, $woken_p99 us"
  check "every wakeup of cyclictest has a latency" within $((samples / 50 + 5)) "$samples" \
    "$woken_samples"
  check "and every timer of it" within $((samples / 50 + 5)) "$samples" "$our_samples"
  check_p50 "$p50" "$p99" "$our_p50" "p50 agrees within 5 us or a quarter"
  check_p99 "$p50" "$p99" "$our_p99" "p99 agrees within 10 us or a quarter"
  check "a timer's latency is no less than what of it begins at the waking" [ "$our_p50" \
    -ge "$woken_p50" ]
  check "onmax saves what was there" grep -Eq \
    'max: +[0-9]+  next_comm: cyclictest +prev_pid: +[0-9]+' "$E/sched/sched_switch/hist"
  check "what others refer to is not taken off" refused "echo '!hist:keys=\$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs if comm==\"cyclictest\"' >> '$E/sched/sched_waking/trigger'"
  echo >"$E/synthetic/wakeup_latency/trigger"
  echo >"$E/synthetic/timer_latency/trigger"
  echo >"$E/sched/sched_switch/trigger"
  echo >"$E/sched/sched_waking/trigger"
  echo >"$E/timer/hrtimer_start/trigger"
  echo >"$T/synthetic_events"
else
  echo "# cyclictest is not here, or no real-time priority is allowed"
fi

check_eq 0 "$(lost)" "nothing was lost"

# --- A feeder that is killed
script "echo 'hist:keys=common_comm if comm == \"forker\"' > events/task/task_newtask/trigger"
old=$(feeder)
kill -9 "$old"
wait_until '[ -n "$(feeder)" ] && [ "$(feeder)" != "$old" ]' || not_ok "a new feeder comes"
"$WORK/forker" -c 'for ((i = 0; i < 50; ++i)); do (exit 0); done'
check "what is recorded while there is no feeder comes with the next one" wait_until \
  '[ "$(hits "$E/task/task_newtask")" -ge 50 ]'
before=$(hits "$E/task/task_newtask")
"$WORK/forker" -c 'for ((i = 0; i < 50; ++i)); do (exit 0); done'
after=$(hits "$E/task/task_newtask")
check_eq 50 $((after - before)) "which records what was wanted, with its filter"
check_eq "$OURS" "$(instance)" "and goes on with the instance of the dead"
echo >"$E/task/task_newtask/trigger"
check_eq "" "$(instance)" "at the end there is none"
check_eq 1 "$(lost)" "that the dead one may have held more is told"
