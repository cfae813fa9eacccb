# tracing/latency_hist on real events of this kernel: what a real-time task meets, and the feeder's
# life.
_alone=yes # others would wake real-time tasks, and trace
HIST=$MNT/tracing/latency_hist

_set_up() {
  need_root
  need chrt
  chrt -f 1 true 2>/dev/null || skip "no real-time priority is allowed here"
  start_daemon -o tracefs
  if ! said=$({ echo 1 >"$HIST/enable/wakeup"; } 2>&1); then
    skip "no kernel events here: $(errors | head -1)"
  fi
}
# 0 while a feeder begins.
_lost() { awk '/^lost / { lost = $2 } END { print lost + 0 }' "$HIST/wakeup/summary"; }
_samples() { uncut sed -n 's/^samples //p' "$HIST/$1/summary"; }
# Samples, and wakeups that began and have none: a virtual CPU that its host stops between arming
# the timer and sleeping lets the timer expire before its task sleeps.
_begun() { uncut awk '/^(samples|unmatched) / { sum += $2 } END { print sum }' "$HIST/$1/summary"; }
# Whose the instances are.
_supervisor() { ps -o ppid= -p "$(_feeder)" | tr -d ' '; }
_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
# Sleeps ten times for a millisecond, with real-time priority, on a CPU that never does: of one that
# sleeps the kernel may leave out the switches from its idle task.
_sleep_ten_times() {
  taskset -c 0 sh -c 'chrt -i 0 sh -c "while :; do :; done" & chrt -f 80 perl -e "select(undef, undef, undef, 0.001) for 1 .. 10"; kill $!'
}
# One that sleeps whenever it is told to, selected by its pid: of all real-time tasks,
# others of this machine could have a higher priority or the same, and fill `top` besides.
_start_sleeper() {
  taskset -c 0 chrt -i 0 sh -c 'while :; do :; done' &
  BUSY=$!
  coproc SLEEPER { exec taskset -c 0 chrt -f 80 perl -e '$| = 1; while (<STDIN>) { select(undef, undef, undef, 0.001) for 1 .. $_; print "slept\n" }'; }
  wait_until '[ "$(cat "/proc/$SLEEPER_PID/comm")" = perl ]'
  put "$SLEEPER_PID" "$HIST/wakeup/pid"
  put "$SLEEPER_PID" "$HIST/missed_timer_offsets/pid"
}
# _let_it_sleep [TIMES]: a millisecond each time.
_let_it_sleep() {
  echo "${1:-10}" >&"${SLEEPER[1]}"
  read -r -t 30 <&"${SLEEPER[0]}" || fail "it did not sleep"
}
_end_sleeper() { kill "$BUSY" "$SLEEPER_PID"; }
_instances() {
  local tracefs=/sys/kernel/tracing
  mountpoint -q $tracefs || { mkdir -p "$CASE/tracefs" && mount -t tracefs none "$CASE/tracefs" &&
    tracefs=$CASE/tracefs; }
  ls "$tracefs/instances" | grep -c "^tallyfs-latency-\([0-9]*-\)\?$1\$" || true
  [ $tracefs = /sys/kernel/tracing ] || umount "$tracefs"
}

an_open_sees_what_the_kernel_recorded_before_it() {
  need perl
  put 1 "$HIST/enable/missed_timer_offsets"
  put 1 "$HIST/enable/timerandwakeup"
  local each before
  _start_sleeper
  put 1 "$HIST/timerandwakeup/reset"
  for each in wakeup missed_timer_offsets timerandwakeup; do
    before=$(_begun $each)
    _let_it_sleep
    [ "$(_begun $each)" -ge $((before + 10)) ] || fail "$each: $before, then $(_begun $each)" \
      "$(cat "$HIST/$each/summary")"
  done
  _end_sleeper
  assert_match '[0-9]+ 80 [0-9]+ \([0-9]+\) perl <- .* [0-9]+\.[0-9]{6}' \
    "$(grep -h -m1 ' perl <- ' "$HIST/timerandwakeup/top" | cut -d' ' -f2-)"
}

a_selected_pid_is_measured_whatever_its_priority() {
  need perl
  perl -e 'while (1) { select(undef, undef, undef, 0.001) }' &
  local pid=$!
  put "$pid" "$HIST/wakeup/pid"
  put 1 "$HIST/wakeup/reset"
  wait_until '[ "$(_samples wakeup)" -ge 20 ]'
  assert_has " perl" "$(cat "$HIST/wakeup/top")"
  assert_eq "$pid" "$(cut -d' ' -f2 "$HIST/wakeup/top" | sort -u)"
  kill "$pid"
}

what_is_off_is_not_traced_and_keeps_its_data() {
  need perl
  local supervisor before samples
  supervisor=$(_supervisor)
  assert_eq 1 "$(_instances "$supervisor")"
  _sleep_ten_times
  before=$(_samples wakeup)
  put 0 "$HIST/enable/wakeup"
  assert_eq 0 "$(_instances "$supervisor")"
  # Another real-time task of the machine may have been woken until then.
  samples=$(_samples wakeup)
  [ "$before" -gt 0 ] && [ "$samples" -ge "$before" ] || fail "$before samples, then $samples"
  _sleep_ten_times
  assert_eq "$samples" "$(_samples wakeup)"
}

# Each change once took what is traced away for some 70 ms, and what happened meanwhile counted as
# nothing. The task goes on sleeping until all changes have been made.
what_is_traced_changes_without_a_gap() {
  need perl
  local before each slept
  before=$(_samples wakeup)
  taskset -c 0 sh -c 'chrt -i 0 sh -c "while :; do :; done" &
    chrt -f 80 perl -e "until (\$n >= 300 && -e \"$CASE/enough\") {
      select(undef, undef, undef, 0.002); ++\$n } print \$n" >"$CASE/slept"
    kill $!' &
  for each in 1 2 3 4 5; do
    put 1 "$HIST/enable/missed_timer_offsets"
    put $$ "$HIST/missed_timer_offsets/pid"
    put 0 "$HIST/missed_timer_offsets/pid"
    put 0 "$HIST/enable/missed_timer_offsets"
  done
  touch "$CASE/enough"
  wait $!
  assert_eq 0 "$(_lost)"
  slept=$(cat "$CASE/slept")
  [ $((60 * ($(_samples wakeup) - before))) -ge $((59 * slept)) ] ||
    fail "slept $slept times" "$(cat "$HIST/wakeup/summary")"
}

a_feeder_that_was_killed_is_started_again_and_its_loss_shows() {
  need perl
  local feeder
  feeder=$(_feeder)
  kill -9 "$feeder"
  wait_until '[ "$(_feeder)" != "$feeder" ] && [ -n "$(_feeder)" ]'
  wait_until '_sleep_ten_times; [ "$(_samples wakeup)" -ge 10 ]'
  [ "$(_lost)" -ge 1 ] || fail "$(cat "$HIST/wakeup/summary")"
  assert_eq 1 "$(_instances "$(_supervisor)")"
}

# Each killed feeder may have held an event. Few samples come, so that three lost ones are more than
# one in a hundred, and a hundred at least, so that the log says so.
a_cpu_says_what_it_misses_and_the_log_says_it_once() {
  need perl
  local feeder samples file=$HIST/wakeup/CPU0
  _start_sleeper
  put 1 "$HIST/wakeup/reset"
  for _ in 1 2 3; do
    feeder=$(_feeder)
    kill -9 "$feeder"
    wait_until '[ "$(_feeder)" != "$feeder" ] && [ -n "$(_feeder)" ]'
    samples=$(_samples wakeup)
    wait_until '_let_it_sleep 1; nap 0.2; [ "$(_samples wakeup)" -gt "$samples" ]'
  done
  [ "$(_lost)" -ge 3 ] || fail "$(cat "$HIST/wakeup/summary")"
  wait_until '_let_it_sleep 5; nap 0.1; [ "$(_samples wakeup)" -ge 100 ]'
  assert_match '#usecs.*
#[0-9]+ of [0-9]+ wakeups are not in this histogram: (.*, )?[0-9]+ events lost' \
    "$(grep -m1 -A1 '^#usecs' "$file")"
  assert_eq "$(grep ' are not in ' "$file")" \
    "$(grep -v ' 0$' "$file" | grep ' are not in ')" 'not shortened by the usual grep'
  _let_it_sleep
  cat "$file" >"$CASE/read"
  assert_eq 1 "$(grep -c 'latency_hist/wakeup/CPU.* are not in this histogram' "$STDERR")" \
    "$(cat "$STDERR")"
  _end_sleeper
}

a_feeder_that_is_stopped_holds_up_nobody() {
  local feeder each start took writers=()
  feeder=$(_feeder)
  freeze "$feeder"
  start=$(now_us)
  for each in 1 2 3 4; do
    sh -c "echo 1 >$HIST/enable/missed_timer_offsets" 2>/dev/null &
    writers+=($!)
  done
  send 'web/hits 1'
  assert_counts web 'hits 1'
  cat "$HIST/irqsoff/CPU0" >"$CASE/read"
  for each in "${writers[@]}"; do ! wait "$each" || fail "it was done"; done
  for each in 1 2 3 4 5; do
    assert_fails_with 'Connection timed out' bash -c "echo 1 >$HIST/enable/missed_timer_offsets"
    cat "$HIST/wakeup/summary" >"$CASE/read"
  done
  took=$(($(now_us) - start))
  # Some twenty processes take their time, too. A second for each write would be more.
  [ $took -lt "$(time_limit_us 3000000)" ] || fail "it was waited for: $took us"
  assert_has "the feeder of the kernel's events does not answer" "$(errors)"
  assert_eq 0 "$(cat "$HIST/enable/missed_timer_offsets")"
  kill -CONT "$feeder"
  echo 1 >"$HIST/enable/missed_timer_offsets"
  assert_eq 1 "$(cat "$HIST/enable/missed_timer_offsets")"
}

# A feeder that was killed with its daemon and its supervisor has left an instance, which is not held
# open.
what_was_left_behind_is_removed_at_the_next_start() {
  local feeder supervisor
  feeder=$(_feeder) supervisor=$(_supervisor)
  freeze "$feeder"
  kill -KILL "$supervisor"
  kill_daemon
  kill -KILL "$feeder"
  # Until it has closed them, its instance and the lock of its probes are in use.
  wait_until '! kill -0 '"$supervisor"' 2>/dev/null && ! kill -0 '"$feeder"' 2>/dev/null'
  assert_eq 1 "$(_instances "$supervisor")"
  umount -l "$MNT" 2>/dev/null || true
  start_daemon -o tracefs
  assert_eq 0 "$(_instances "$supervisor")"
}

the_feeder_and_its_supervisor_have_three_capabilities_at_most() {
  local each
  for each in "$(_feeder)" "$(_supervisor)"; do
    # CAP_DAC_OVERRIDE, CAP_SYS_PTRACE and CAP_SYSLOG.
    assert_eq '0 0 1' "$(awk '/^Cap(Prm|Bnd):/ { print $2 } /^NoNewPrivs:/ { print $2 }' \
      "/proc/$each/status" | { read -r held; read -r bound; read -r none_new
        echo $((0x$held & ~0x400080002)) $((0x$bound & ~0x400080002)) "$none_new"; })" "$each"
  done
}

the_feeder_ends_with_the_daemon_and_leaves_nothing() {
  local feeder supervisor
  feeder=$(_feeder) supervisor=$(_supervisor)
  stop_daemon
  wait_until '! kill -0 '"$feeder"' 2>/dev/null && ! kill -0 '"$supervisor"' 2>/dev/null'
  assert_eq 0 "$(_instances "$supervisor")"
}

the_feeder_ends_with_a_daemon_that_was_killed() {
  local feeder supervisor
  feeder=$(_feeder) supervisor=$(_supervisor)
  kill_daemon
  wait_until '! kill -0 '"$feeder"' 2>/dev/null && ! kill -0 '"$supervisor"' 2>/dev/null'
  assert_eq 0 "$(_instances "$supervisor")"
}

# The feeder does not notice that its daemon has gone; the supervisor that started it does.
a_stopped_feeder_ends_with_a_daemon_that_was_killed() {
  local feeder supervisor
  feeder=$(_feeder) supervisor=$(_supervisor)
  freeze "$feeder"
  kill_daemon
  wait_until '! kill -0 '"$supervisor"' 2>/dev/null'
  ! kill -0 "$feeder" 2>/dev/null || fail "the feeder is still there"
  assert_eq 0 "$(_instances "$supervisor")" "the kernel still records, without a reader"
}

a_daemon_without_privileges_reads_them_all_the_same() {
  need perl
  stop_daemon
  # As in daemon/privileges: what libfuse leaves behind is not looked for.
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 start_daemon -o tracefs --run-as nobody
  put 1 "$HIST/enable/wakeup"
  _start_sleeper
  _let_it_sleep
  _end_sleeper
  [ "$(_begun wakeup)" -ge 10 ] || fail "$(cat "$HIST/wakeup/summary")"
}

a_kernel_without_events_of_critical_sections_says_so() {
  local said
  if said=$({ echo 1 >"$HIST/enable/preemptirqsoff"; } 2>&1); then
    wait_until '[ "$(_samples irqsoff)" -ge 1 ]'
    return
  fi
  assert_has 'No such device' "$said"
  assert_has 'this kernel has no events of interrupts and preemption going off' "$(errors)"
  assert_eq 0 "$(cat "$HIST/enable/preemptirqsoff")"
  assert_eq 1 "$(cat "$HIST/enable/wakeup")"
}

a_user_other_than_root_is_told_so() {
  local said
  stop_daemon
  let_nobody_mount
  nobodys_tallyfs tally-feed-tracefs
  start_daemon -o tracefs
  # By bash: what the echo of dash says is the same for whatever a write fails with.
  said=$(as_nobody bash -c "echo 1 >$HIST/enable/wakeup" 2>&1) && fail 'it succeeded'
  assert_has 'Permission denied' "$said"
  assert_has 'not root' "$(as_nobody cat "$MNT/tracing/error_log")"
  stop_daemon
}

# The supervisor holds neither the socket's lock nor the pipe that the daemon's caller waits for.
a_killed_daemon_in_the_background_holds_up_no_process() {
  local said
  stop_daemon
  said=$(within 20 "$TALLYFS" --socket "$SOCK" -o tracefs "$MNT" 2>&1) ||
    fail "it ended with $?" "$said"
  # Keeper and server: the supervisor looks the same but for its name.
  local pid
  for pid in $(pgrep -f "^$TALLYFS --socket $SOCK -o tracefs $MNT"); do
    [ "$(cat "/proc/$pid/comm")" != tallyfs-keeper ] || DAEMON=$pid
    [ "$(cat "/proc/$pid/comm")" != tallyfs ] || SERVER=$pid
  done
  kill_daemon
  start_daemon -o auto_unmount,tracefs
  send 'web/hits 1'
  assert_counts web 'hits 1'
}
