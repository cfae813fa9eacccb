# Probes under load, for seconds here and for a minute in `tests/run long`: a hot function on all
# CPUs while the feeder stands still for a part of it. Each hit is counted, or is among the lost.
# TALLY_PROBE_SECONDS: for how long the function is called (3).
_alone=timed
. ./tracing/_probes.sh
LOAD_SECONDS=${TALLY_PROBE_SECONDS:-3}

_set_up() {
  need_root
  need_python
  command -v "${CC:-cc}" >/dev/null || skip "NO COMPILER HERE: ${CC:-cc}"
  start_daemon -o tracefs
  [ -e "$P" ] || skip "no uprobes here"
  PROGRAM=$CASE/hot$$
  "${CC:-cc}" -x c -O1 -pthread -o "$PROGRAM" - <<'EOF'
// hot SECONDS: calls hot() on each CPU for so long, and prints how often.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile int ends;
// The kernel emulates a nop.
__attribute__((noinline)) void hot(void) { __asm__ volatile("nop"); }
static void* run(void* of) {
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET((size_t)of, &cpu);
  pthread_setaffinity_np(pthread_self(), sizeof cpu, &cpu);
  size_t calls = 0;
  for (; !ends; ++calls) hot();
  return (void*)calls;
}
int main(int argc, char** argv) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t threads[256];
  size_t all = 0;
  for (long i = 0; i < cpus && i < 256; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  const struct timespec period = {.tv_sec = atoi(argv[argc - 1])};
  nanosleep(&period, NULL);
  ends = 1;
  for (long i = 0; i < cpus && i < 256; ++i) {
    void* calls;
    pthread_join(threads[i], &calls);
    all += (size_t)calls;
  }
  printf("%zu\n", all);
  return 0;
}
EOF
}
_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
_lost() { own events_lost; }
# _read_for PID: opens and reads a file of the mount all the time while the process lives; prints
# how often, the 99th percentile and the longest, in microseconds.
_read_for() {
  py "$STAT/tallyfs/data" "$1" <<'EOF'
import os, sys, time
taken = []
while os.path.exists("/proc/" + sys.argv[2]):
    begin = time.monotonic_ns()
    with open(sys.argv[1], "rb") as file:
        file.read()
    taken.append(time.monotonic_ns() - begin)
    time.sleep(0.002)
taken.sort()
print(len(taken), taken[len(taken) * 99 // 100] // 1000, taken[-1] // 1000)
EOF
}

# What the kernel has met = what triggers counted + what was lost.
each_hit_of_a_hot_function_on_all_cpus_counts_or_is_lost() {
  local event=$T/events/uprobes/hot feeder load reads calls before count p99 longest
  echo "p:hot $PROGRAM:hot" >>"$P"
  echo 'hist:keys=cpu' >"$event/trigger"
  before=$(_lost)
  feeder=$(_feeder)
  "$PROGRAM" "$LOAD_SECONDS" >"$CASE/calls" &
  load=$!
  echo "$load" >>"$CASE/pids"
  _read_for "$load" >"$CASE/reads" &
  reads=$!
  nap "$((LOAD_SECONDS / 3))"
  kill -STOP "$feeder"
  nap "$((LOAD_SECONDS < 15 ? 1 : 5))"
  kill -CONT "$feeder"
  wait "$load"
  wait "$reads"
  calls=$(cat "$CASE/calls")
  read -r count p99 longest <"$CASE/reads"
  assert_eq "$calls" "$(_profile "$PROGRAM")" "hits of the kernel, and calls"
  wait_until '[ "$(($(_hits '"$event"') + $(_lost) - '"$before"'))" -ge '"$calls"' ]'
  echo "measured: $calls hits in $LOAD_SECONDS s, the feeder stopped for a part:" \
    "$(_hits "$event") counted, $(($(_lost) - before)) lost; $count other reads: p99 $p99 us," \
    "longest $longest us"
  assert_eq "$calls" "$(($(_hits "$event") + $(_lost) - before))" "counted and lost"
  [ "$p99" -le "$(time_limit_us 50000)" ] || fail "p99 of $count reads is $p99 us"
  assert_eq "$feeder" "$(_feeder)" "the feeder lived"
}

# A program that sleeps shortly again and again, once it gets SIGUSR1, until it gets another.
_program_that_switches() {
  SWITCHER=$CASE/switcher$$
  "${CC:-cc}" -x c -O1 -o "$SWITCHER" - <<'EOF'
#include <signal.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t is_on;
static void turn(int signal) {
  is_on = !is_on;
  (void)signal;
}
int main(void) {
  const struct timespec nap = {.tv_nsec = 50000};
  sigset_t usr1, none;
  sigemptyset(&none);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, NULL);
  signal(SIGUSR1, turn);
  for (;;) {
    while (!is_on) sigsuspend(&none);
    sigprocmask(SIG_UNBLOCK, &usr1, NULL);
    while (is_on) nanosleep(&nap, NULL);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
  }
}
EOF
}
# How often it has left its CPU, once it sleeps until a signal comes.
_switches() {
  wait_until '_rests '"$1"
  awk '/ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$1/status"
}
_rests() {
  local call
  read -r call _ <"/proc/$1/syscall" && [ "$call" = 130 ]
}
_calls_of() { awk '/ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$1/status"; }

# The kernel empties the buffer in which a probe was on when it removes it. With more of them than
# are kept until the recording ends, some go meanwhile: what is missing is marked as lost.
# TALLY_REMOVALS: how many probes are removed (10; 1,100 in a long run).
no_switch_is_missing_without_a_mark_when_probes_are_removed() {
  local removals=${TALLY_REMOVALS:-10} event=$T/events/sched/sched_switch switcher before i
  local own switches hits lost
  [ "$(uname -m)" = x86_64 ] || skip "the number of sigsuspend is that of x86-64"
  [ -d "$event" ] || skip "no sched_switch here"
  _program_that_switches
  "$SWITCHER" &
  switcher=$!
  echo "$switcher" >>"$CASE/pids"
  before=$(_switches "$switcher") lost=$(_lost)
  echo "hist:keys=prev_pid if prev_pid == $switcher" >"$event/trigger"
  kill -USR1 "$switcher"
  for ((i = 1; i <= removals; ++i)); do
    echo "p:probe$i $PROGRAM:hot" >>"$P"
    echo 1 >"$T/events/uprobes/probe$i/enable"
    echo 0 >"$T/events/uprobes/probe$i/enable"
    echo "-:probe$i" >>"$P"
  done
  wait_until '[ "$(_calls_of '"$switcher"')" -ge $(('"$before"' + 1000)) ]'
  kill -USR1 "$switcher"
  switches=$(($(_switches "$switcher") - before))
  own=$(_real 'cat uprobe_events' | grep -c "$PROGRAM" || true)
  wait_until '[ "$(_hits "'"$event"'")" -ge '"$switches"' ] || [ "$(_lost)" -gt '"$lost"' ]'
  hits=$(_hits "$event") lost=$(($(_lost) - lost))
  echo "measured: $removals probes removed, $own of them leaving; of $switches switches" \
    "$hits counted, $lost marks of lost records"
  [ "$hits" -eq "$switches" ] || [ "$lost" -gt 0 ] || fail "$hits of $switches, and nothing is lost"
  [ "$hits" -le "$switches" ] || fail "$hits of $switches"
  [ "$removals" -gt 1000 ] || assert_eq "$switches 0" "$hits $lost" "nothing is removed meanwhile"
}
