# decimals=: X as people have it, kept as an integer and shown as a decimal everywhere.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl
FEED_LOG=${TALLY_BIN:+$TALLY_BIN/}tally-feed-log

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT
}

_send() { "$TALLY_SEND" --socket "$SOCK" "$@"; }
# _log WORDS [FACTOR]: tally-feed-log counts the line `took 0.25 s`.
_log() {
  "$FEED_LOG" --socket "$SOCK" --once --from start --match 'took (?<s>\S+) s' \
    --sample "log/${NAME:-s}={s}${2:-} $1" "$CASE/log" 2>&1
}
# _refused TEXT LINE: what tally-send says of the line.
_refused() { assert_has "$1" "$(_send "$2" 2>&1 || true)"; }
_own() { awk -v name="$1" '$1 == name { print $2 }' "$STAT/tallyfs/data"; }

a_decimal_is_kept_exactly_and_shown_with_its_places() {
  _send 'create web/s on=1 type=range decimals=6 units=seconds/requests' 'web/s 0.25' 'web/s 2'
  assert_eq 's 2 0.250000 1.125000000 2.000000' "$(cat "$STAT/web/data")"
  assert_match '.* decimals=6 units=seconds/requests' "$(definition web)"
  assert_has '"decimals":6,"units":"seconds/requests"' "$(cat "$STAT/web/data.json")"
  assert_has '"min":0.250000,"avg":1.125000000,"max":2.000000,"sum":2.250000' \
    "$(cat "$STAT/web/data.json")"
  assert_has 'tally_s_seconds_sum{interface="web"} 2.25' "$(cat "$MNT/metrics/tallyfs.prom")"
  assert_has 'tally_s_min_seconds{interface="web"} 0.25' "$(cat "$MNT/metrics/tallyfs.prom")"
  assert_match '.*250ms.*1.12s.*2.00s.*' "$("$TALLYCTL" show web/s | paste -sd' ')"
  assert_has '0.25s' "$("$TALLYCTL" show --exact web/s)"
}

more_places_are_rounded_and_counted() {
  _send 'create web/s on=1 type=list entries_max=9 decimals=1' 'web/s 0.25' 'web/s 0.35' 'web/s 0.4'
  assert_eq 's 0.4 2
s 0.2 1' "$(cat "$STAT/web/data")"
  assert_eq 2 "$(_own rounded)"
}

without_them_a_decimal_is_refused_with_the_way_out() {
  _refused 'whole numbers only: create web/s type=range decimals=6 on=1, or '"send \
microseconds (Invalid argument)"'
  web/s 0.25
        ^' 'web/s 0.25'
  assert_eq tallyfs "$(ls "$STAT")"
  _send 'create web/s decimals=6 on=1 type=range' 'web/s 0.25'
  assert_eq 's 1 0.250000 0.250000000 0.250000' "$(cat "$STAT/web/data")"
  _send 'web/n 1'
  _refused 'whole numbers only: define web/n decimals=6 (which discards its data)' 'web/n 0.5'
  _send 'define web/n decimals=6' 'web/n 0.5'
  assert_has 'n 1 0.500000' "$(cat "$STAT/web/data")"
  _refused 'X has no exponent: 0.00001 instead of 1e-05' 'web/n 1e-05'
  _refused 'decimals must be a number from 0 to 9' 'create web/m decimals=10'
  _refused 'X is beyond 9223372036854.775807, the most with decimals=6' 'web/n 99999999999999'
}

a_range_in_a_line_is_decimal_too() {
  local range='range_min=0 range_max=0.5 decimals=2'
  _send "create web/s on=1 type=array scale=lin base_interval=0.25 $range"
  _send 'web/s 0.25' 'web/s 0.3' 'web/s 7'
  assert_eq 's <=0.00 0
s <=0.25 1
s <=0.50 1
s >0.50 1' "$(cat "$STAT/web/data")"
  assert_attribute web s range_max 0.50
  assert_fails_with 'Invalid argument' define web 'name=s range_max=0.555'
  assert_has 'range_max has more places than decimals=2' "$(errors)"
  # What was read is written back, at each door.
  local line
  line=$(definition web)
  define web "$line"
  _send "define web $line"
  _send 'remove web/s' "create web/s $line"
  assert_attribute web s base_interval 0.25
}

a_change_discards_the_data_and_undo_brings_them_back() {
  _send 'create web/s on=1 type=range decimals=1' 'web/s 0.5'
  "$TALLYCTL" define web/s decimals=2 on=1
  assert_eq 's 0 0.00 0.00000 0.00' "$(cat "$STAT/web/data")"
  "$TALLYCTL" undo web/s
  assert_eq 's 1 0.5 0.5000 0.5' "$(cat "$STAT/web/data")"
}

rules_and_tallyctl_give_them() {
  echo 'web/* decimals=3' >"$MNT/rules"
  _send 'web/s 0.125'
  assert_eq 's 1 0.125 0.125000 0.125' "$(cat "$STAT/web/data")"
  "$TALLYCTL" create shop/price type=last decimals=2 on=1 units=euros/sales
  _send 'shop/price 9.99'
  assert_match 'price \[.*\] 9.99' "$(cat "$STAT/shop/data")"
  assert_has 'decimals=2' "$("$TALLYCTL" definitions shop)"
  assert_has 'tally_price_last_euros{interface="shop"} 9.99' "$(cat "$MNT/metrics/tallyfs.prom")"
  assert_has 9.99 "$("$TALLYCTL" show shop/price)"
}

they_last_over_a_restart_and_a_reload() {
  local line data
  stop_daemon
  start_daemon --state "$CASE/state"
  _send 'create web/s on=1 type=quantiles precision=5 quantiles=50 range_min=0 decimals=3' \
    'create web/view of=s type=range' 'web/s 0.25' 'web/s 1.5'
  line=$(line web s) data=$(data web)
  assert_has 'range_min=0.000' "$line"
  assert_has 'view 2 0.250 0.875000 1.500' "$data"
  stop_daemon
  start_daemon --state "$CASE/state"
  assert_eq "$line" "$(line web s)"
  assert_eq "$data" "$(data web)"
  "$TALLYFS" --reload "$MNT"
  assert_eq "$line" "$(line web s)"
  assert_eq "$data" "$(data web)"
  _send 'web/s 4'
  assert_has 'view 3 0.250 1.916667 4.000' "$(data web)"
}

a_line_leaves_the_decimals_of_a_feeder_that_sends_integers() {
  command -v "$FEED_LOG" >/dev/null || skip 'tally-feed-log is not built'
  echo 'took 0.25 s' >"$CASE/log"
  local said line
  said=$(_log 'decimals=3 units=seconds/n')
  assert_has '1 sample' "$said"
  line=$(line log s)
  said=$("$TALLYCTL" define log/s decimals=6 2>&1 || true)
  assert_has 'its feeder sends samples with decimals=3: change the feeder, then remove the' "$said"
  assert_fails_with 'Invalid argument' define log decimals=6
  assert_has 's: its feeder sends samples with decimals=3' "$(errors)"
  assert_eq "$line" "$(line log s)"
  # The same scale by other words adds up, another one does not.
  assert_has '1 sample' "$(_log units=milliseconds/n '*1000')"
  assert_eq 's 2 0.250 0.250000 0.250' "$(data log)"
  assert_has '1 dropped' "$(_log 'decimals=6 units=seconds/n' || true)"
  # What a user has made, and rules, have decimals of theirs.
  _send 'create log/made type=range decimals=2 on=1'
  said=$(NAME=made _log decimals=3 || true)
  assert_has 'it has decimals=2, to which samples with no units decimals=3 do not add up' "$said"
  echo 'log/ruled decimals=1' >"$MNT/rules"
  assert_has '1 sample' "$(NAME=ruled _log decimals=3)"
  assert_has 'ruled 1 0.250 0.250000 0.250' "$(data log)"
}

percentiles_are_in_buckets_of_the_base_unit() {
  _send 'create web/d on=1 type=quantiles precision=5 quantiles=50 decimals=6 units=seconds/n' \
    'create web/us on=1 type=quantiles precision=5 quantiles=50 units=microseconds/n'
  local x
  for x in 100 250 250 900; do _send "web/us $x" "web/d 0.000$x"; done
  need jq
  assert_eq "$(jq -c '.statistics[1].values.buckets' "$STAT/web/data.json")" \
    "$(jq -c '.statistics[0].values.buckets' "$STAT/web/data.json")"
  assert_has 'd p50 0.000' "$(cat "$STAT/web/data")"
  # But for the name of the unit.
  assert_eq "$("$TALLYCTL" show web/us | tail -n +2 | sed 's/^ *microseconds/seconds/')" \
    "$("$TALLYCTL" show web/d | tail -n +2 | sed 's/^ *seconds/seconds/')"
  "$TALLYCTL" check 'web/d p50 < 1ms'
  "$TALLYCTL" check 'web/d max < 0.001s'
}
