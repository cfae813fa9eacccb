# tracing/ on real events of this kernel: where a write stands among them.
_alone=yes # others would fork, and trace
. ./tracing/_kernel.sh

_set_up() {
  need_root
  _start_with_kernel
}

# _write LINE: appended, once the feeder has sent what was recorded before. A write waits for that for
# 100 ms, and drains_cut counts where it was not enough.
_write() {
  local cut
  cut=$(_drains_cut)
  echo "$1" >>"$E/trigger"
  [ "$(_drains_cut)" = "$cut" ] || skip 'the machine had no time for the feeder'
}
_drains_cut() { data tallyfs | sed -n 's/^drains_cut //p'; }

a_write_comes_behind_all_that_the_kernel_has_recorded_before_it() {
  local hist='hist:keys=common_comm' only="if comm == \"$FORKER\""
  echo "$hist $only" >"$E/trigger"
  _fork 20
  _write "$hist:pause $only"
  _fork 7
  _reaches 20 "paused behind 20 of 27" _hits
  _write "$hist:cont $only"
  _fork 3
  _reaches 23 "goes on before the last 3" _hits
  _fork 20
  _write "$hist:clear $only"
  assert_eq 0 "$(_hits)" "cleared"
  _fork 2
  _reaches 2 "and counts again" _hits
}

what_was_recorded_is_traced_whatever_is_chosen_afterwards() {
  echo 1 >"$E/enable"
  _fork 20
  echo 1 >"$T/set_event_pid"
  _fork 20
  _reaches 20 "set_event_pid is for what comes then" grep -c "comm=$FORKER" "$T/trace"
  echo >"$T/set_event_pid"
  : >"$T/trace"
  _fork 20
  echo 'comm == "nobody"' >"$E/filter"
  _fork 20
  _reaches 20 "a filter is for what comes then" grep -c "comm=$FORKER" "$T/trace"
}

a_trace_says_what_the_processor_was_in() {
  echo 1 >"$T/events/sched/sched_switch/enable"
  _fork 5
  echo 0 >"$T/tracing_on"
  # Tasks are switched with interrupts off.
  [ "$(grep -c ': sched_switch: ' "$T/trace")" -ge 5 ] || fail "$(head -20 "$T/trace")"
  assert_eq '' "$(grep ': sched_switch: ' "$T/trace" | grep -v '\] [dD][^ ]\{4\} ' || true)"
}

# A shell is told of children that end while it writes.
a_script_whose_children_end_meanwhile_has_no_write_interrupted() {
  cat >"$CASE/script" <<'EOT'
set -e
for ((i = 0; i < 40; ++i)); do
  (exit 0) &
  sleep 0.01 &
  echo hist:keys=pid >"$1/trigger"
  echo 1 >"$1/enable"
  cat "$1/hist" >/dev/null
  echo '!hist:keys=pid' >>"$1/trigger"
done
wait
EOT
  assert_eq '' "$(bash "$CASE/script" "$E" 2>&1)"
  assert_eq '' "$(cat "$T/error_log")"
}

_first() { sed -n "/ $1: /{s/.* $1: //p;q}" "$T/trace"; } # _first EVENT: its words
an_event_is_worded_as_the_kernel_words_it() {
  local page=$T/events/kmem/mm_page_alloc call=$T/events/raw_syscalls/sys_enter
  echo 'common_pid != 0' >"$page/filter"
  echo 1 >"$page/enable"
  _fork 5
  echo 0 >"$page/enable"
  assert_match 'page=\? pfn=0x[0-9a-f]+ order=[0-9]+ migratetype=[0-9]+ gfp_flags=[A-Z_|x0-9a-f]+' \
    "$(_first mm_page_alloc)"
  [ -d "$call" ] && [ -n "$PYTHON" ] || return 0
  : >"$T/trace"
  echo 'id == 39' >"$call/filter"
  echo 1 >"$call/enable"
  "$PYTHON" -c 'import os; os.getppid(); os.getpid()' || true
  echo 0 >"$call/enable"
  assert_match 'NR 39 \([0-9a-f]+(, [0-9a-f]+){5}\)' "$(_first sys_enter)"
}

texts_in_the_kernels_memory_are_shown_as_the_kernel_shows_them() {
  local rcu=$T/events/rcu/rcu_utilization tracefs=$CASE/tracefs
  [ -d "$rcu" ] || skip "no event with such a text here"
  mkdir "$tracefs" && mount -t tracefs none "$tracefs"
  assert_eq "$(cat "$tracefs/printk_formats")" "$(cat "$T/printk_formats")"
  umount "$tracefs"
  echo 1 >"$rcu/enable"
  wait_until '_fork 1 && grep -q ": rcu_utilization: Start context switch" "$T/trace"'
  assert_eq '' "$(grep ': rcu_utilization: 0x' "$T/trace" || true)"
}

addresses_of_the_kernel_are_hashed_as_long_as_hash_ptr_says_so() {
  local timer=$T/events/timer/hrtimer_start
  [ -d "$timer" ] || skip "no event with an address here"
  echo 1 >"$timer/enable"
  wait_until '[ -n "$(_first hrtimer_start)" ]'
  echo 0 >"$timer/enable"
  assert_eq 1 "$(cat "$T/options/hash-ptr")"
  assert_match 'hrtimer=0{8}[0-9a-f]{8} .*' "$(_first hrtimer_start)"
  _addresses >"$CASE/hashed"
  echo 0 >"$T/options/hash-ptr"
  assert_match 'hrtimer=ffff[0-9a-f]{12} .*' "$(_first hrtimer_start)"
  assert_eq "$(_addresses | sort -u | wc -l)" "$(sort -u "$CASE/hashed" | wc -l)" \
    "as many hashes as addresses"
  assert_eq "$(_addresses | wc -l)" \
    "$(paste "$CASE/hashed" <(_addresses) | grep -c '^0\{8\}.*ffff')"
}
_addresses() { sed -n 's/.* hrtimer_start: hrtimer=\([0-9a-f]*\) .*/\1/p' "$T/trace"; }

the_processes_of_threads_are_recorded_if_record_tgid_says_so() {
  local forker
  echo 1 >"$E/enable"
  "$CASE/$FORKER" -c '(:); read' < <(exec sleep 1000) &
  forker=$!
  echo "$forker" >>"$CASE/pids"
  wait_until '[ "$(_traced "$T/trace")" -ge 1 ]'
  assert_eq '' "$(cat "$T/saved_tgids")"
  assert_has_not TGID "$(head -20 "$T/trace")"
  kill "$forker"
  echo 1 >"$T/options/record-tgid"
  : >"$T/trace"
  "$CASE/$FORKER" -c '(:); read' < <(exec sleep 1000) &
  forker=$!
  echo "$forker" >>"$CASE/pids"
  wait_until 'grep -qx "'"$forker $forker"'" "$T/saved_tgids"'
  assert_has TGID "$(head -20 "$T/trace")"
  assert_match " *$FORKER-$forker +\( *$forker\) \[.*" "$(grep -m1 " $FORKER-$forker " "$T/trace")"
  kill "$forker"
}

_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
# A name that the case's own helpers do not have.
_traced() { grep -c "newtask.* comm=$FORKER" "$1" || true; }

# Records that the kernel makes without a reader are kept for the next feeder; those that the dead
# feeder held may be missing.
what_is_recorded_while_the_feeder_is_dead_comes_with_the_next_one() {
  local feeder
  feeder=$(_feeder)
  mkdir "$T/instances/quiet"
  echo 1 >"$E/enable"
  _fork 10
  _reaches 10 'what was recorded before' _traced "$T/trace"
  assert_eq '' "$(grep LOST "$T/trace" || true)"
  freeze "$feeder"
  _fork 20
  kill -9 "$feeder"
  _fork 30
  wait_until '[ "$(_feeder)" != '"$feeder"' ] && [ -n "$(_feeder)" ]'
  wait_until '[ "$(_traced "$T/trace")" -ge 60 ]'
  _fork 5
  _reaches 65 'all that was recorded' _traced "$T/trace"
  assert_has 'CPU:0 [LOST EVENTS]' "$(cat "$T/trace")"
  assert_eq 10 "$(sed '/^CPU:0 .LOST/,$d' "$T/trace" | grep -c "comm=$FORKER")" \
    "the mark stands where the feeder died"
  assert_match '^events_lost [1-9]' "$(data tallyfs | grep '^events_lost')"
  assert_eq '' "$(grep LOST "$T/instances/quiet/trace" || true)"
  assert_eq 1 "$(grep -c 'events that were wanted are lost' "$STDERR")" "the log says so once"
  cat "$T/trace_pipe" >"$CASE/pipe" &
  wait_until 'grep -qF "CPU:0 [LOST EVENTS]" "$CASE/pipe"'
  kill $!
}

# The records of a system call fill the kernel's pages, which then have no room to say how many were
# lost before them.
what_the_kernel_drops_is_counted_one_by_one() {
  local call=$T/events/raw_syscalls/sys_enter tracefs=$CASE/tracefs instance
  need_python
  [ -d "$call" ] || skip "no events of system calls here"
  instance=$(_instance_of events "$(_feeder)")
  mkdir "$tracefs" && mount -t tracefs none "$tracefs"
  py "$T" "$(_feeder)" "$tracefs/instances/$instance" "$MNT" <<'EOT'
import glob, os, re, signal, sys, time
from peer import freeze, time_limit
top, feeder, instance, mount = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
CALLS = 400_000
call = top + "/events/raw_syscalls/sys_enter"
def number(text, name):
    return sum(int(found) for found in re.findall(rf"^{name}: +([0-9]+)$", text, re.M))
def lost():
    data = open(mount + "/statistics/tallyfs/data").read()
    return number(data.replace("events_lost ", "events_lost: "), "events_lost")
def hits():
    return int(re.search("Hits: ([0-9]+)", open(call + "/hist").read())[1])
# 110 is getppid, and 39 getpid.
own = f"common_pid == {os.getpid()}"
with open(call + "/trigger", "w") as trigger: trigger.write(f"hist:keys=id if id == 110 && {own}")
before = lost()
freeze(feeder)
for _ in range(CALLS): os.getppid()
stats = "\n".join(open(file).read() for file in glob.glob(instance + "/per_cpu/cpu*/stats"))
dropped = number(stats, "overrun") + number(stats, "dropped events")
os.kill(feeder, signal.SIGCONT)
if dropped == 0: sys.exit("nothing was dropped")
until = time.monotonic() + time_limit(20)
while hits() + lost() - before != CALLS:
    if time.monotonic() > until: sys.exit(f"{hits()} came, {lost() - before} of {dropped} counted")
    time.sleep(0.02)
if lost() - before != dropped: sys.exit(f"{lost() - before} were counted, {dropped} dropped")
EOT
  umount "$tracefs"
}

# The feeder dies, and the next one is not there before _succeed.
_die() { # _die FEEDER SUPERVISOR
  echo "$2" >>"$CASE/pids"
  freeze "$2"
  kill -9 "$1"
  wait_until 'grep -q "^State:.Z" /proc/'"$1"'/status'
}
_succeed() { # _succeed SUPERVISOR
  kill -CONT "$1"
  wait_until '[ -n "$(_feeder)" ] && _fork 1 && [ "$(_traced "$T/trace")" -ge 1 ]'
}
# What is said while no feeder answers is refused, and holds for the next one where it takes back.
_take_back() { { echo "$1" >"$2"; } 2>/dev/null || true; }
_of_instance() { cat "$1/events/sched/$2"; } # _of_instance INSTANCE EVENT/FILE

a_successor_does_not_go_on_with_what_is_not_wanted_any_more() {
  local feeder supervisor instance event sched=$T/events/sched
  feeder=$(_feeder) supervisor=$(ps -o ppid= -p "$(_feeder)" | tr -d ' ')
  mkdir "$CASE/tracefs" && mount -t tracefs none "$CASE/tracefs"
  instance=$CASE/tracefs/instances/$(_instance_of events "$feeder")
  echo 1 >"$E/enable"
  echo 'pid == 1' >"$sched/sched_process_exit/filter"
  echo 1 >"$sched/sched_process_exit/enable"
  echo 1 >"$sched/sched_process_fork/enable"
  echo stacktrace >"$sched/sched_process_exec/trigger"
  assert_eq 1 "$(_of_instance "$instance" sched_process_exit/enable)"
  assert_has '(pid == 1)&&(' "$(_of_instance "$instance" sched_process_exit/filter)"
  assert_has stacktrace "$(_of_instance "$instance" sched_process_exec/trigger)"
  _die "$feeder" "$supervisor"
  # As one leaves them that dies before it has put an end to stacks, and to a filter.
  echo stacktrace >"$instance/events/sched/sched_process_wait/trigger"
  echo 'parent_pid == 1' >"$instance/events/sched/sched_process_fork/filter"
  _take_back 0 "$sched/sched_process_exit/enable"
  _take_back '!stacktrace' "$sched/sched_process_exec/trigger"
  assert_eq 0 "$(cat "$sched/sched_process_exit/enable")"
  assert_eq '' "$(grep '^stacktrace' "$sched/sched_process_exec/trigger" || true)"
  _succeed "$supervisor"
  assert_eq 1 "$(cat "$instance/events/task/task_newtask/enable")"
  assert_eq 0 "$(_of_instance "$instance" sched_process_exit/enable)"
  assert_eq none "$(_of_instance "$instance" sched_process_exit/filter)"
  assert_eq 1 "$(_of_instance "$instance" sched_process_fork/enable)"
  assert_has_not parent_pid "$(_of_instance "$instance" sched_process_fork/filter)"
  for event in sched_process_exec sched_process_wait; do
    assert_eq 0 "$(_of_instance "$instance" $event/enable)" "$event"
    assert_has_not 'stacktrace:' "$(_of_instance "$instance" $event/trigger)" "$event"
  done
  _die "$(_feeder)" "$supervisor"
  _take_back 0 "$E/enable"
  _take_back 0 "$sched/sched_process_fork/enable"
  kill -CONT "$supervisor"
  wait_until '[ ! -e '"$instance"' ]'
  umount "$CASE/tracefs"
}

# Else each switch of all tasks is recorded, shipped and thrown away.
a_filter_of_tasks_names_is_the_kernels_to_apply() {
  local filter each
  mkdir "$CASE/tracefs" && mount -t tracefs none "$CASE/tracefs"
  filter=$CASE/tracefs/instances/$(_instance_of events "$(_feeder)")
  filter=$filter/events/sched/sched_process_exit/filter
  for each in "common_comm == \"$FORKER\"|COMM == \"$FORKER\"" \
    'comm ~ "fork*" && common_cpu >= 0|comm ~ "fork*" && CPU >= 0'; do
    echo "hist:keys=common_comm if ${each%|*}" >"$T/events/sched/sched_process_exit/trigger"
    assert_has "(${each#*|})&&(" "$(cat "$filter")"
    _fork 20
    _reaches 21 "each fork, and the forker: $each" _hits "$T/events/sched/sched_process_exit"
  done
  umount "$CASE/tracefs"
}
