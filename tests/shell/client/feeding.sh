# What a program does with libtally, and what is seen of it. The probe is a program on libtally that
# does as it is told.
. ./client/_probe.sh

what_is_created_is_in_the_tree_as_it_was_defined() {
  start_probe
  ok 'interface web' 'statistic web a us/requests' 'statistic web b' 'define b array' \
    'statistic web c' 'define c list' \
    'statistic web d' 'define d history' 'statistic web e' 'define e raw' 'statistic web f' \
      'define f range' \
    'statistic web g' 'define g products' 'start g' 'sync 5000'
  assert_eq "$(cat <<'EOT'
name=a on=0 type=value mode=increments units=us/requests
name=b on=0 type=array base_interval=10 scale=log2 units=
name=c on=0 type=list entries_max=100 hits_missed=0 units=
name=d on=0 type=history entries_max=10 mode=range period=1000 units=
name=e on=0 type=raw entries_max=1000 units=
name=f on=0 type=range units=
name=g on=1 type=value mode=products units=
EOT
)" "$(definition web |
  sed -E 's/ (range_min|range_max|hits_out_of_range|data|started|stopped)=[^ ]*//g')"
  assert_eq '0 1000' "$(attribute web b range_min) $(attribute web b range_max)"
}

samples_are_counted() {
  web_hits
  ok 'define hits products' 'add hits 5 3 4' 'inc hits 10' 'sync 5000'
  assert_data web 'hits 105'
  assert_balanced
  assert_eq 14 "$(count_of confirmed)"
}

all_of_many_are_counted() {
  start_probe
  ok 'settings 10000 60000 4096' 'interface web' 'statistic web hits' 'start hits' \
    'statistic web sizes' 'define sizes list' 'start sizes' 'sync 5000' 'inc hits 1000000' \
    'add sizes 7 2 10000' 'add sizes 8 1 10000' 'sync 20000'
  assert_data web 'hits 1000000' 'sizes 0x7 20000' 'sizes 0x8 10000'
  assert_balanced
}

samples_of_several_statistics_in_turn_keep_their_order() {
  start_probe
  ok 'interface web' 'statistic web a' 'define a raw' 'start a' 'statistic web b' 'define b raw' \
    'start b' \
    'add a 1 1 1' 'add b 10 1 1' 'add a 2 5 1' 'add b 20 1 1' 'add a -3 1 1' 'sync 5000'
  assert_eq 'a 0 1 1
a 1 2 5
a 2 -3 1
b 0 10 1
b 1 20 1' "$(data web | sed -E 's/ \[[0-9.]*\]//')"
}

floats_are_samples_where_x_has_decimals() {
  start_probe
  ok 'interface web' 'statistic web s seconds/requests' 'decimals s 3' 'define s range' 'start s' \
    'statistic web whole' 'start whole' 'sync 5000' \
    'decimal s 0.25 1' 'decimal s 1.5 2' 'add s 750 1 1' 'sync 5000'
  assert_data web 's 4 0.250 1.000000 1.500' 'whole 0'
  assert_match '.* decimals=3 units=seconds/requests' "$(line web s)"
  assert_has 'tally_s_seconds_sum{interface="web"} 4' "$(cat "$MNT/metrics/tallyfs.prom")"
  said EINVAL 'decimal whole 0.5 1'
  said EINVAL 'decimal s nan 1'
  said EINVAL 'decimal s 1e300 1'
  said EINVAL 'decimals whole 10'
  ok 'sync 5000'
  assert_data web 's 4 0.250 1.000000 1.500' 'whole 0'
}

# Before the statistic is registered, after that, and of a view.
what_a_statistic_is_is_said_in_plain_text() {
  start_probe
  ok 'interface web' 'statistic web s seconds/requests' 'help s Time in "queue", 50 %' \
    'define s range' 'start s' 'view s by_value' 'inc s 1' 'sync 5000'
  assert_match '.* units=seconds/requests help=Time%20in%20%22queue%22,%2050%20%25' "$(line web s)"
  assert_has '# HELP tally_s_seconds Time in "queue", 50 %' "$(cat "$MNT/metrics/tallyfs.prom")"
  ok 'help by_value Values of s' 'help s -' 'sync 5000'
  assert_match '.* help=Values%20of%20s' "$(line web by_value)"
  assert_match '.* help=%2D' "$(line web s)"
  ok 'help s' 'sync 5000'
  assert_match '.* units=seconds/requests' "$(line web s)"
}

what_people_have_said_of_a_statistic_stays() {
  web_hits
  ok 'help hits Requests' 'sync 5000'
  echo 'name=hits help=Visits' >"$MNT/statistics/web/definition"
  ok 'help hits Page views' 'sync 5000'
  assert_match '.* help=Visits' "$(line web hits)"
  ok "help hits $(printf '%0255d' 0)"
  said EINVAL "help hits $(printf '%0256d' 0)"
  said 'help must be at most 255 bytes, of which a blank takes three' reason
  said EINVAL "help hits $(printf '%0253d' 0) 0"
}

a_statistic_that_is_off_sends_nothing() {
  start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000'
  said 0 'on hits'
  local before
  before=$(data tallyfs | sed -n 's/^samples //p')
  ok 'inc hits 100000' 'sync 5000'
  assert_eq "$before" "$(data tallyfs | sed -n 's/^samples //p')" samples
  said 'added=0 held=0 sent=0 confirmed=0 lost=0 dropped=0' counts
}

on_and_off_are_followed_at_once() {
  start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000'
  local i
  for i in 1 2 3 4 5 6 7 8 9 10; do
    define web on=1
    ok 'inc hits 3'
    define web on=0
    ok 'inc hits 1000' flush
    # Those of before on=0 were sent after it, if at all.
  done
  said 0 'on hits'
  assert_eq 30 "$(count_of added)"
}

a_sample_leaves_within_moments_by_itself() {
  web_hits
  ok 'sync 5000' 'inc hits 1'
  wait_until '[ "$(data web)" = "hits 1" ]'
  # And again, when the library's thread has gone to sleep.
  local keeper
  keeper=$(grep -l tally-keeper "/proc/$PROBE/task"/*/comm)
  wait_until "grep -q futex ${keeper%comm}wchan"
  ok 'inc hits 1'
  wait_until '[ "$(data web)" = "hits 2" ]'
}

without_delay_each_sample_is_seen_by_the_next_open() {
  start_probe
  ok 'settings 0 0 4096' 'interface web' 'statistic web hits' 'start hits' 'sync 5000'
  local i
  for i in 1 2 3 4 5 6 7 8 9 10; do
    ok 'inc hits 1'
    assert_data web "hits $i"
  done
}

# _hits_held COUNT: of web$N, which the daemon does not know yet.
_hits_held() {
  ok 'settings 10000000 0 4096' "interface web$N" "statistic web$N hits" 'start hits' "inc hits $1"
}
_has_hits() { [ "$(data "web$N" 2>&1)" = "hits $1" ]; }
finish_registers_and_sends_all_for_an_end_without_exit() {
  at_an_end 'start_probe; _hits_held 5' 'ok finish' 'kill -KILL "$PROBE"; _has_hits 5'
}

flush_sends_what_was_gathered() {
  start_probe
  ok 'settings 10000000 0 4096' 'interface web' 'statistic web hits' 'start hits' 'sync 5000' \
    'inc hits 5' flush
  assert_data web 'hits 5'
}

a_thread_sends_what_it_has_when_it_ends() {
  start_probe
  ok 'settings 10000000 0 65536' 'interface web' 'statistic web hits' 'start hits' 'sync 5000' \
    'threads 20 hits 7'
  assert_data web 'hits 140'
  ok 'threads 4 hits 10000' 'sync 20000'
  assert_data web 'hits 40140'
  assert_balanced
}

exit_sends_even_what_was_only_just_registered() {
  at_an_end 'start_probe; _hits_held 123' end_probe '_has_hits 123'
}

kill_loses_no_more_than_what_was_gathered_since() {
  start_probe
  ok 'settings 10000000 0 4096' 'interface web' 'statistic web hits' 'define hits last' \
    'start hits' 'sync 5000' 'add hits 1 1 5' flush 'add hits 2 1 1000'
  kill -KILL "$PROBE"
  wait "$PROBE" || true
  # Over the socket, full datagrams had been sent. In a ring, if the probe had one by then, all are.
  local samples
  samples=$(uncut grep -oE '"samples":[0-9]+' "$STAT/web/data.json")
  [[ $samples =~ :(515|1005)$ ]] || fail "$samples"
}

a_forked_child_sends_its_own_samples_and_none_of_its_parents() {
  web_hits
  tell may-fork
  [ "$SAID" = yes ] || skip "ThreadSanitizer cannot follow a thread that a forked child starts"
  _starts() { ok "statistic web $1" "start $1"; }
  _has_both() { ok 'sync 5000' && [ "$(data web | grep "^$1 ")" = "$1 340" ]; }
  at_an_end '_starts known$N; ok "sync 5000"' 'said 0 "fork known$N 300 40"' '_has_both known$N'
  # Before the daemon has answered anything, too.
  at_an_end '_starts early$N' 'said 0 "fork early$N 300 40"' '_has_both early$N'
}

signal_handlers_may_add() {
  web_hits
  ok 'sync 5000'
  local calls all
  calls=$(fewer 2000000)
  tell "signals hits $calls"
  all=$SAID
  [ "$all" -gt "$calls" ] || fail "no signal was taken"
  ok 'sync 20000'
  # What had no room in the handler was counted as dropped.
  assert_eq "$all" "$(count_of added)" "all that were added"
  assert_balanced
  assert_data web "hits $(count_of confirmed)"
}

handlers_that_interrupt_malloc_may_add_a_threads_first_sample() {
  local probe=${TALLY_BIN:+$TALLY_BIN/}tally-late-probe
  command -v "$probe" >/dev/null || skip "tally-late-probe is not built"
  local said threads
  threads=$(fewer 500)
  said=$(TALLY_SOCKET=$SOCK MALLOC_ARENA_MAX=1 "$probe" "$threads")
  [ "$said" != 'not under ThreadSanitizer' ] || skip "$said"
  assert_eq 'sync 0' "$said"
  assert_data web "hits $threads"
}

times_are_those_of_the_calls() {
  start_probe
  ok 'settings 300000 0 4096' 'interface web' 'statistic web a' 'define a raw' 'start a' 'sync 5000'
  local before after past
  before=$("$PYTHON" -c 'import time; print(time.monotonic_ns())')
  ok 'inc a 3'
  after=$("$PYTHON" -c 'import time; print(time.monotonic_ns())')
  past=$((before - 2000000000))
  ok "at a 9 $past" 'sync 5000'
  assert_has "a [$((past / 1000000000)).$(printf %06d $((past / 1000 % 1000000)))] 3 9 1" \
    "$(data web)"
  py "$before" "$after" <<'EOT'
from peer import *
import sys
times = [int(float(line.split()[1].strip("[]")) * 1e9) for line in data("web").splitlines()][:3]
before, after = map(int, sys.argv[1:])
# Printed in microseconds.
assert before - 2000 <= times[0] <= times[1] <= times[2] <= after + 1000, (before, times, after)
EOT
}

names_and_numbers_that_cannot_be_are_refused_at_the_call() {
  start_probe
  said EINVAL 'interface a=b'
  said EINVAL 'interface ..'
  ok 'interface web' 'statistic web hits'
  said EEXIST 'interface web'
  said EEXIST 'statistic web hits'
  said EINVAL 'statistic web x/y'
  said EBUSY 'settings 0 0 4096'
}

a_refusal_has_its_reason() {
  start_probe
  said '' reason
  ok 'interface web' 'statistic web hits'
  said '' reason
  said EINVAL 'define hits inverted'
  said 'range_min must not be above range_max' reason
  said EINVAL 'statistic web x/y'
  tell reason
  assert_has "a statistic's name must be 1 to 255 printable bytes" "$SAID"
  said EEXIST 'statistic web hits'
  said 'this process has one of that name already' reason
  ok 'start hits' 'inc hits 1'
  said 'this process has one of that name already' reason
}

a_refusal_by_the_daemon_has_its_reason() {
  stop_daemon
  start_daemon --memory-max 1M
  start_probe
  ok 'interface web' 'statistic web hits' 'define hits raw'
  tell 'sync 5000'
  assert_eq ok "$SAID"
  ok 'statistic web more' 'define more huge'
  said ENOSPC 'sync 5000'
  tell reason
  # Depending on whether it was registered when the definition came.
  assert_match '.*the daemon refused (to change )?web/more: .*' "$SAID"
}

settings_out_of_their_range_are_refused() {
  start_probe
  said EINVAL 'settings 10000001 0 4096'
  said EINVAL 'settings 0 60001 4096'
  said EINVAL 'settings 0 0 1023'
  ok 'settings 0 0 1024'
}

what_is_released_stays_and_what_is_removed_goes() {
  web_hits
  ok 'statistic web more' 'start more' 'inc hits 5' 'inc more 6' 'release hits' 'sync 5000'
  assert_data web 'hits 5' 'more 6'
  ok 'remove more' 'sync 5000'
  assert_data web 'hits 5'
  # Released before the daemon had answered: what was added is sent all the same.
  ok 'statistic web late' 'start late' 'inc late 3' 'release late' 'sync 5000'
  assert_data web 'hits 5' 'late 3'
  ok 'remove-interface web' 'sync 5000'
  wait_until '! [ -e "$STAT/web" ]'  # the kernel hears of it after the feeder did
}

a_feeder_can_take_its_interface_along() {
  start_probe
  ok 'interface web feeder' 'statistic web hits' 'start hits' 'inc hits 2' 'sync 5000'
  assert_data web 'hits 2'
  kill -KILL "$PROBE"
  wait_until '! [ -e "$STAT/web" ]'
}

start_stop_and_reset_keep_their_order_with_samples() {
  web_hits
  ok 'inc hits 5' 'stop hits' 'inc hits 100' 'start hits' 'inc hits 3' 'sync 5000'
  assert_data web 'hits 8'
  ok 'inc hits 10' 'reset hits' 'inc hits 2' 'sync 5000'
  assert_data web 'hits 2'
}

a_long_delay_is_kept() {
  local begun of held shown took=10000000
  # As long as the machine has no time, the delay may be over before it was looked.
  for ((of = 1; took >= 10000000; ++of)); do
    start_probe
    ok 'settings 10000000 0 4096' "interface web$of" "statistic web$of hits" 'start hits' \
      "statistic web$of other" 'sync 5000'
    begun=$(now_us)
    ok 'inc hits 5' "statistic web$of late"
    # The library's own thread goes on meanwhile: it registers another statistic.
    wait_until '[ "$(line web'$of' late | wc -l)" = 1 ]'
    held=$(count_of held) shown=$(data web$of)
    took=$(($(now_us) - begun))
    end_probe
  done
  assert_eq 5 "$held"
  assert_eq $'hits 0\nother 0\nlate 0' "$shown"
}

errno_is_left_alone_and_a_cancelled_thread_holds_no_lock() {
  web_hits
  ok 'sync 5000' 'cancel hits' 'inc hits 1000' 'sync 5000'
  assert_balanced
  assert_data web "hits $(count_of confirmed)"
  said 0 'errno hits'
}
