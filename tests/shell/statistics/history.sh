# type=history: results period by period. Time is the subject here.
_alone=yes

# It is there when this returns: its periods have begun.
_makes() {
  send "create web/h on=1 type=history period=${2:-50000} entries_max=${3:-1000} mode=$1"
  _taken_in
}
# What was sent is in its period when this returns, however late the daemon gets to it: an open
# waits for it.
_taken_in() { data web >/dev/null; }
# Reads the data once all that was fed stands in complete periods, checks the time stamps, and
# prints what stands behind them, without the empty periods before and after.
_results() {
  _taken_in
  sleep "${1:-0.12}"
  data web >"$CASE/history"
  definition web >"$CASE/definition"
  py <<'EOT'
import os, re, time
case = os.environ["CASE"]
us = lambda t: int(t.replace(".", ""))
definition = open(case + "/definition").read()
period = int(re.search(r" period=(\d+)", definition)[1])
start = us(re.search(r" data=\[([\d.]+)\]", definition)[1])
found = [re.fullmatch(r"h \[(\d+\.\d{6})\] (.*)", l).groups() for l in open(case + "/history").read().splitlines()]
times = [us(t) for t, _ in found]
assert times, "no period is there"
assert times[-1] <= time.monotonic() * 1e6, "a period that has not ended is shown"
for a, b in zip(times, times[1:]):
    assert b - a == period, f"periods end at {a} and {b}"
assert (times[0] - start) % period == 0 and times[0] > start, f"{times[0]} is no end of a period since {start}"
results = [r for _, r in found]
empty = ("0", "0 0 0.000 0")
while results and results[0] in empty: results.pop(0)
while results and results[-1] in empty: results.pop()
print("\n".join(results))
EOT
}

increments_mode_sums_y_per_period() {
  _makes increments
  send 'web/h 100 3' 'web/h 7 4'
  assert_eq 7 "$(_results)"
}

products_mode_sums_x_times_y_per_period() {
  _makes products
  send 'web/h 100 3' 'web/h -7 4'
  assert_eq 272 "$(_results)"
}

range_mode_shows_number_minimum_average_and_maximum_per_period() {
  _makes range
  send 'web/h 100 3' 'web/h -7 1'
  assert_eq '4 -7 73.250 100' "$(_results)"
}

periods_without_samples_show_zeros() {
  _makes increments 20000
  send 'web/h 0 5'
  _taken_in
  sleep 0.1
  send 'web/h 0 6'
  _results >"$CASE/results"
  assert_eq 5 "$(head -1 "$CASE/results")"
  assert_eq 6 "$(tail -1 "$CASE/results")"
  assert_match '5 (0 ){3,}6 ' "$(tr '\n' ' ' <"$CASE/results")"
}

range_mode_shows_zeros_for_an_empty_period() {
  _makes range 20000
  sleep 0.05
  assert_match 'h \[[0-9.]*\] 0 0 0\.000 0' "$(data web | head -1)"
}

samples_fall_into_the_period_of_their_time() {
  _makes increments 100000
  py <<'EOT'
import time
from peer import *
peer = Peer()
number = peer.make("web/h")
for i in range(40):
    peer.send(samples(number, [1]))
    data("web")  # has it taken in
    time.sleep(0.01)
EOT
  _results 0.25 >"$CASE/results"
  assert_eq 40 "$(paste -sd+ "$CASE/results" | bc 2>/dev/null || awk '{n += $1} END {print n}' \
    "$CASE/results")"
  [ "$(wc -l <"$CASE/results")" -ge 4 ] ||
    fail "not spread over the periods: $(cat "$CASE/results")"
}

holds_at_most_entries_max_the_newest() {
  _makes increments 10000 3
  send 'web/h 0 9'
  _taken_in
  sleep 0.2
  assert_eq 3 "$(data web | wc -l)"
  assert_eq '0 0 0' "$(data web | cut -d' ' -f3 | paste -sd' ')"
  _results 0 >/dev/null
}

oldest_come_first() {
  _makes increments 20000
  send 'web/h 0 1'; _taken_in; sleep 0.05
  send 'web/h 0 2'; _taken_in; sleep 0.05
  send 'web/h 0 3'
  assert_eq '1 2 3' "$(_results | grep -v '^0$' | paste -sd' ')"
}

stands_still_while_it_is_off() {
  _makes increments 20000
  send 'web/h 0 5'
  _taken_in
  sleep 0.05
  define web 'name=h on=0'
  data web >"$CASE/before"
  sleep 0.1
  assert_eq "$(cat "$CASE/before")" "$(data web)" 'while off'
  define web 'name=h on=1'
  send 'web/h 0 6'
  _taken_in
  sleep 0.05
  assert_eq '5 6' "$(data web | cut -d' ' -f3 | grep -v '^0$' | paste -sd' ')"
  # What stood there still stands there, and all time stamps still are ends of periods.
  assert_eq "$(cat "$CASE/before")" "$(data web | head -"$(wc -l <"$CASE/before")")"
  py <<'EOT'
import re
from peer import data
ends = [int(t.replace(".", "")) for t in re.findall(r"\[(.*?)\]", data("web"))]
assert all((b - a) % 20000 == 0 and b > a for a, b in zip(ends, ends[1:])), ends
EOT
}

periods_count_from_the_last_reset() {
  _makes increments 20000
  sleep 0.03
  define web 'data=reset'
  send 'web/h 0 5'
  assert_eq 5 "$(_results)"
}

reset_clears_it() {
  _makes increments 50000
  send 'web/h 0 5'
  assert_eq 5 "$(_results)"
  define web 'data=reset'
  # Periods that have ended since are there, and none of before (_results).
  assert_eq '' "$(_results)"
}

# 2006: multiplied the period by 1000.
changing_another_attribute_leaves_the_period() {
  _makes increments 50000
  define web 'name=h entries_max=7'
  assert_attribute web h period 50000
  define web 'name=h mode=range'
  assert_attribute web h period 50000
  assert_attribute web h entries_max 7
}

the_range_filter_drops_and_counts() {
  send 'create web/h on=1 type=history period=50000 entries_max=100 mode=increments range_min=1 range_max=9'
  send 'web/h 0' 'web/h 1 2' 'web/h 9 3' 'web/h 10'
  assert_eq 5 "$(_results)"
  assert_attribute web h hits_out_of_range 2
}
