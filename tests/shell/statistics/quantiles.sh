# type=quantiles and history mode=quantiles: percentiles with a promise.

_makes_history() {  # PERIOD QUANTILES
  local settings="period=$1 entries_max=1000 precision=8 quantiles=$2"
  send "create web/h on=1 type=history mode=quantiles $settings"
}
_makes() { send "create web/q on=1 type=quantiles $1"; }

shows_count_min_avg_percentiles_and_max() {
  _makes 'precision=5 quantiles=50,99,99.9'
  send 'web/q 3' 'web/q 120 9' 'web/q 1000'
  assert_data web 'q count 11' 'q min 3' 'q avg 189.364' 'q p50 122' 'q p99 1000' \
    'q p99.9 1000' 'q max 1000'
}

shows_one_line_without_samples() {
  _makes 'precision=5 quantiles=50'
  assert_data web 'q count 0'
}

a_percentile_is_not_below_the_true_value_and_not_a_bucket_above() {
  _makes 'precision=5 quantiles=10,50,90,99'
  py <<'EOT'
import math, random
from peer import *
draw = random.Random(17)
xs = [int(draw.lognormvariate(7, 2)) + 1 for _ in range(5000)]
peer = Peer()
number = peer.make("web/q")
for at in range(0, len(xs), 200):
    peer.send(samples(number, xs[at:at + 200]))
shown = dict(line.split()[1:] for line in data("web").splitlines())
xs.sort()
assert int(shown["count"]) == len(xs), shown
assert int(shown["min"]) == xs[0] and int(shown["max"]) == xs[-1], shown
for q in (10, 50, 90, 99):
    true = xs[math.ceil(q * len(xs) / 100) - 1]
    assert true <= int(shown[f"p{q}"]) < true * 2 ** (1 / 32) + 1e-6, (q, true, shown)
EOT
}

buckets_end_at_powers_of_the_base_unit() {
  send 'create web/q on=1 type=quantiles precision=0 quantiles=50 units=microseconds/requests'
  send 'web/q 400000' 'web/q 5000000'
  assert_has 'q p50 500000' "$(data web)"
}

values_below_zero_and_zero_count() {
  _makes 'precision=0 quantiles=25,50,75'
  send 'web/q -100' 'web/q -3' 'web/q 0' 'web/q 5'
  assert_data web 'q count 4' 'q min -100' 'q avg -24.500' 'q p25 -65' 'q p50 -3' 'q p75 0' \
    'q max 5'
}

changing_the_percentiles_keeps_the_data_and_changing_the_precision_does_not() {
  _makes 'precision=5 quantiles=50'
  send 'web/q 7'
  define web 'name=q quantiles=10,99.99'
  assert_data web 'q count 1' 'q min 7' 'q avg 7.000' 'q p10 7' 'q p99.99 7' 'q max 7'
  define web 'name=q precision=4'
  assert_data web 'q count 0'
}

what_is_wrong_is_refused() {
  _makes 'precision=5 quantiles=50'
  local before=$(definition web) line
  for line in quantiles=0 quantiles=100 quantiles=50,50 quantiles=90,50 quantiles=1.23456 \
    quantiles= quantiles=a precision=9 precision=-1 \
    'type=quantiles precision=5' 'type=quantiles quantiles=5'; do
    assert_fails_with 'Invalid argument' define web "name=q $line"
  done
  assert_eq "$before" "$(definition web)"
}

a_history_shows_percentiles_of_each_period() {
  _makes_history 100000 50,99
  send 'web/h 3' 'web/h 100 9'
  data web >/dev/null  # taken in
  wait_until 'data web | grep -q "10 3 90.300 100"'
  assert_match 'h \[[0-9.]*\] 10 3 90\.300 100 p50=100 p99=100' "$(data web | grep ' 10 3 ')"
  wait_until 'data web | tail -1 | grep -q "0 0 0.000 0$"'
  assert_attribute web h precision 8
  assert_attribute web h quantiles 50,99
}

a_history_keeps_what_a_period_showed() {
  _makes_history 50000 50
  send 'web/h 3' 'web/h 100 9'
  data web >/dev/null
  wait_until '[ "$(data web | grep -c "")" -ge 6 ]'
  assert_has ' 10 3 90.300 100 p50=100' "$(data web)"
}
