# libtally's latency.h: latencies of a program in tracing/latency_hist.
. ./client/_probe.sh
HIST=$MNT/tracing/latency_hist

latency_record_is_seen_at_once_with_the_task_that_suffered() {
  start_probe
  ok 'latency my_section 0 25999 4711 80 worker'
  assert_eq '4711 80 25 worker' "$(cat "$HIST/my_section/max_latency-CPU0")"
  ok 'latency my_section 0 3000 4711 80 worker'
  assert_eq 'samples 2' "$(head -1 "$HIST/my_section/summary")"
  end_probe
}

latency_end_measures_since_the_mark_on_this_thread() {
  start_probe
  ok 'section my_section 20'
  assert_match "CPU[0-9]+ $PROBE -[0-9]+ ([2-9][0-9]|[1-9][0-9]{2,})[0-9]{3} tally-probe" \
    "$(cat "$HIST/my_section/top")"
  end_probe
}

a_real_time_thread_has_its_priority() {
  need_root
  need chrt
  chrt -f 1 true 2>/dev/null || skip "no real-time priority is allowed here"
  start_probe
  chrt -f -p 42 "$PROBE"
  ok 'section my_section 1'
  assert_match "CPU[0-9]+ $PROBE 42 [0-9]+ tally-probe" "$(cat "$HIST/my_section/top")"
  end_probe
}

without_a_daemon_latencies_are_dropped_and_told_of_later() {
  start_probe
  ok 'latency one 0 1000 1 1 a'
  stop_daemon
  said ENOTCONN 'latency one 0 1000 1 1 a'
  said ENOTCONN 'latency one 0 1000 1 1 a'
  start_daemon
  wait_until 'tell "latency one 0 1000 1 1 a"; [ "$SAID" = ok ]'
  local dropped
  dropped=$(data tallyfs | sed -n 's/^dropped //p')
  [ "$dropped" -ge 2 ] || fail "dropped: $dropped"
  assert_eq 'samples 1' "$(head -1 "$HIST/one/summary")"
  end_probe
}

names_that_are_none_are_refused() {
  start_probe
  said EINVAL 'latency a/b 0 1000 1 1 a'
  ok 'latency wakeup 0 1000 1 1 a'
  assert_has "these latencies are the kernel's" "$(errors)"
  end_probe
}

_samples() { sed -n 's/^samples //p' "$HIST/one/summary" 2>/dev/null || true; }
# Until the daemon's queue is full: of the last ones nothing can be sent along. It returns when the
# daemon has taken all in, as flush and exit wait for room for a tenth of a second only.
_burst() {
  local samples
  samples=$(_samples)
  freeze "$SERVER"
  ok 'latency one 0 1000 1 1 a'
  for ((samples += 1; ; ++samples)); do
    tell 'latency one 0 1000 1 1 a'
    [ "$SAID" != EAGAIN ] || break
  done
  said EAGAIN 'latency one 0 1000 1 1 a'
  kill -CONT "$SERVER"
  wait_until '[ "$(_samples)" = '$samples' ]'
}
_lost() { sed -n 's/^lost //p' "$HIST/one/summary"; }

what_the_last_of_a_burst_has_dropped_is_told_by_flush() {
  start_probe
  _burst
  ok flush
  assert_eq 2 "$(_lost)"
  ok flush
  assert_eq 2 "$(_lost)" "once"
  end_probe
}

what_the_last_of_a_burst_has_dropped_is_told_at_exit() {
  start_probe
  _burst
  end_probe
  assert_eq 2 "$(_lost)"
}

a_child_tells_what_it_has_dropped_itself_and_nothing_of_its_parents() {
  start_probe
  tell may-fork
  [ "$SAID" = yes ] || skip "ThreadSanitizer cannot follow a thread that a forked child starts"
  _burst
  assert_eq 0 "$(_lost)"
  ok become-child become-child become-child
  ok 'latency one 0 1000 1 1 a'
  assert_eq 0 "$(_lost)" "the parent's two are the parent's to tell"
  _burst
  end_probe
  assert_eq 4 "$(_lost)" "two of each"
}
