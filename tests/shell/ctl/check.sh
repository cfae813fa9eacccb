# tallyctl check, create, rm and help: with the statuses and the output that scripts and Nagios see.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT
  send 'create web/us type=range on=1 units=microseconds/requests' 'web/us 120' 'web/us 9000'
}
# _check STATUS TEXT ARGUMENT...: that exit status, and that output.
_check() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$TALLYCTL" check "$@" >"$CASE/out" 2>&1 || status=$?
  assert_eq "$wanted" $status "status of check $*, which said: $(cat "$CASE/out")"
  assert_has "$text" "$(cat "$CASE/out")"
}

the_status_is_that_of_nagios() {
  _check 0 'OK: web/us max 9.00ms, wanted < 10ms | max=0.009s;;0.01' 'web/us max < 10ms'
  _check 2 'CRITICAL: web/us max 9.00ms, wanted < 5ms' web/us max '<' 5ms
  _check 1 'WARNING: web/us max 9.00ms, wanted < 8ms | max=0.009s;0.008;0.01' \
    --warn 'max < 8ms' 'web/us max < 10ms'
  _check 3 "UNKNOWN: web/us p99: type=range has no p99" 'web/us p99 < 1ms'
  _check 3 "nothing is called 'web/nil'" 'web/nil max < 1ms'
  _check 3 "'*' is more than one statistic" '* max < 1ms'
  _check 3 "as 'web/latency_us p99 < 20ms'" 'web/us max'
  _check 3 "--warn: '5ms' is not METRIC < LIMIT, without the name, as 'p99 < 10ms'" \
    --warn 5ms 'web/us max < 10ms'
  _check 3 "--warn: 'web/us max < 5ms' is not METRIC < LIMIT, without the name" \
    --warn 'web/us max < 5ms' 'web/us max < 10ms'
  _check 3 "'1,5ms' has a comma: a decimal is 1.5, a thousand 1000;" 'web/us max < 1,5ms'
  _check 3 'needs --every' --for 1s 'web/us max < 10ms'
  send 'create web/new type=range on=1' 'create web/hits on=1'
  _check 3 'UNKNOWN: web/new count: no sample' 'web/new count < 5'
  _check 3 'UNKNOWN: web/hits value: no sample' 'web/hits value < 5'
  _check 3 'UNKNOWN: web/hits rate: no sample' --over 100ms 'web/hits rate < 5'
  define web 'name=us on=0'
  _check 3 'UNKNOWN: web/us max: it is off' 'web/us max < 1ms'
  TALLY_MOUNT=$CASE/none _check 3 "$CASE/none" 'web/us max < 1ms'
}

an_interval_has_what_was_counted_in_it() {
  _check 2 'wanted > 1' --over 100ms 'web/us count > 1'
  (while :; do send 'web/us 1'; done) &
  local feeder=$!
  # A busy machine may have no time for a sample in one of them.
  wait_until '"$TALLYCTL" check --over 1s "web/us rate > 0" >"$CASE/out"'
  assert_has 'OK: web/us rate' "$(cat "$CASE/out")"
  kill $feeder
}

a_command_runs_once_for_each_change() {
  printf '#!/bin/sh\necho "$TALLY_STATUS $TALLY_WHAT $TALLY_VALUE $(cat)" >>%s\n' "$CASE/ran" \
    >"$CASE/hook"
  chmod +x "$CASE/hook"
  "$TALLYCTL" check --every 100ms --run "$CASE/hook" 'web/us max < 10ms' >"$CASE/out" 2>&1 &
  local check=$!
  wait_until '[ -s "$CASE/out" ]'
  send 'web/us 20000'
  wait_until 'grep -q ^CRITICAL "$CASE/out"'
  define web 'name=us data=reset'
  wait_until 'grep -q ^UNKNOWN "$CASE/out"'
  send 'web/us 1'
  wait_until '[ "$(grep -c ^OK "$CASE/ran")" = 1 ]'
  kill $check
  assert_eq 'CRITICAL web/us 20000 
UNKNOWN web/us  
OK web/us 1 ' "$(cat "$CASE/ran")"
}

_rule() { "$TALLYCTL" check --print-rule "$@"; }
_expression() { _rule "$@" | sed -n 's/^ *expr: "\(.*\)"$/\1/p' | tr -d '\\'; }
_needs_valid_rules() {
  if command -v promtool >/dev/null; then promtool check rules "$1"; fi
}

a_rule_of_prometheus_says_the_same() {
  send 'create web/wait on=1 type=quantiles precision=5 quantiles=99 units=microseconds/n' \
    'create web/hits on=1 units=requests' 'create web/heat on=1 type=last units=celsius/readings' \
    'create web/size on=1 type=array scale=log2 base_interval=1 range_min=0 units=KiB/n'
  # A server that takes native histograms has no series of their buckets.
  local classic='histogram_quantile(0.99, tally_wait_seconds_bucket{interface="web"})'
  local native='histogram_quantile(0.99, tally_wait_seconds{interface="web"})'
  assert_eq "($classic or $native) >= 0.02" "$(_expression 'web/wait p99 < 20ms')"
  classic='rate(tally_size_bytes_bucket{interface="web"}[5m])'
  native='rate(tally_size_bytes{interface="web"}[5m])'
  assert_eq "(histogram_quantile(0.999, $classic) or histogram_quantile(0.999, $native)) > 2048.0" \
    "$(_expression --over 5m 'web/size p99.9 <= 2')"
  native='histogram_count(rate(tally_wait_seconds{interface="web"}[5m]))'
  assert_eq "(rate(tally_wait_seconds_count{interface=\"web\"}[5m]) or $native) <= 3.0" \
    "$(_expression --over 5m 'web/wait rate > 3')"
  assert_eq 'tally_us_max_seconds{interface="web"} >= 1.0' "$(_expression 'web/us max < 1s')"
  local sum='tally_us_seconds_sum{interface="web"}' count='tally_us_seconds_count{interface="web"}'
  assert_eq "$sum / $count >= 0.00025" "$(_expression 'web/us avg < 250')"
  assert_eq 'rate(tally_hits_requests_total{interface="web"}[10s]) <= 3.0' \
    "$(_expression --over 10s 'web/hits rate > 3')"
  assert_eq 'increase(tally_us_seconds_count{interface="web"}[1m]) < 5.0' \
    "$(_expression --over 1m 'web/us count >= 5')"
  assert_eq 'tally_hits_requests_total{interface="web"} >= 1000.0' \
    "$(_expression 'web/hits value < 1k')"
  assert_eq 'tally_heat_last_celsius{interface="web"} >= 70.0' \
    "$(_expression 'web/heat last < 70')"
  _rule --warn 'max < 8ms' --for 5m --every 30s 'web/us max < 10ms' >"$CASE/rules.yml"
  _needs_valid_rules "$CASE/rules.yml"
  assert_eq 'interval: 30s
for: 5m
severity: warning
for: 5m
severity: critical' "$(grep -oE '(interval|for|severity): .*' "$CASE/rules.yml")"
}

a_rule_is_of_one_statistic_and_quotes_its_name() {
  send 'create web/us{route:%2Fcart} on=1 type=range units=microseconds/n' \
    'create web/us{q:"{{x}}\"} on=1 type=last'
  assert_eq 'tally_us_max_seconds{interface="web",route=""} >= 1.0' \
    "$(_expression 'web/us max < 1s')"
  assert_eq 'tally_us_max_seconds{interface="web",route="/cart"} >= 1.0' \
    "$(_expression 'web/us{route:%2Fcart} max < 1s')"
  _rule 'web/us{q:"{{x}}\"} last < 1' >"$CASE/rules.yml"
  _needs_valid_rules "$CASE/rules.yml"
  assert_has 'alert: "web/us{q:\"{{x}}\\\"} last < 1"' "$(cat "$CASE/rules.yml")"
}

decimals_are_in_the_performance_data_and_the_value() {
  send 'create web/cold type=range decimals=2 units=celsius on=1' 'web/cold -3.55' \
    'create web/paid type=value mode=products decimals=2 units=euro/sales on=1' 'web/paid 6.75' \
    'create web/slow type=range decimals=6 units=seconds/requests on=1' 'web/slow 0.006' \
    'create web/sent type=value mode=products units=KiB/files on=1' 'web/sent 3'
  _check 2 'wanted < -4 | avg=-3.55;-5;-4' --warn 'avg < -5' 'web/cold avg < -4'
  _check 2 'wanted < 5 | value=6.75;;5' 'web/paid value < 5'
  _check 0 'wanted < 20ms | max=0.006s;;0.02' 'web/slow max < 20ms'
  _check 2 'wanted < 2KiB | value=3072B;;2048' 'web/sent value < 2KiB'
  local each
  for each in 'cold avg < -4' 'paid value < 5' 'slow max < 1ms' 'sent value < 2'; do
    _check 2 CRITICAL --run "echo \"\$TALLY_VALUE\" >>'$CASE/values'" "web/$each"
  done
  assert_eq '-3.55 6.75 0.006 3' "$(paste -sd' ' "$CASE/values")"
}

hostile_names_and_values_are_no_commands() {
  local name="us{a:';touch%20touched;'\$(id)\`id\`%0A%1B[31m}"
  send "create web/$name type=range on=1" "web/$name 7"
  printf '#!/bin/sh\nprintf %%s "$TALLY_WHAT" >%s/what; printf %%s "$TALLY_VALUE" >%s/value\n' \
    "$CASE" "$CASE" >"$CASE/hook"
  chmod +x "$CASE/hook"
  local known
  known=$(jq -r '.statistics[].name | select(contains("touch"))' "$STAT/web/data.json")
  assert_has touched "$known"
  cd "$CASE"
  _check 2 CRITICAL --run "$CASE/hook" "web/$known max < 5"
  assert_eq "web/$known 7" "$(cat "$CASE/what") $(cat "$CASE/value")"
  # As text of a shell in the user's command, it is a value and nothing else.
  _check 2 CRITICAL --run "printf %s \"\$TALLY_WHAT\" >'$CASE/what'" "web/$known max < 5"
  assert_eq "web/$known" "$(cat "$CASE/what")"
  [ ! -e touched ] || fail 'the name was run'
}

what_metrics_do_not_have_has_no_rule() {
  send 'create web/log on=1 type=raw entries_max=9'
  _check 3 'metrics have no p99 of type=range' --print-rule 'web/us p99 < 1ms'
  _check 3 'metrics have no max of type=range in an interval' \
    --print-rule --over 1s 'web/us max < 1'
  _check 3 'metrics have no last of type=raw' --print-rule 'web/log last < 1'
  _check 3 'is in another unit' --print-rule 'web/us max < 1KiB'
  _check 3 "nothing is called 'web/nil'" --print-rule 'web/nil max < 1'
}

a_fault_that_does_not_last_is_none() {
  send 'web/us 20000'
  "$TALLYCTL" check --every 100ms --for 24h --count 3 'web/us max < 10ms' >"$CASE/out" ||
    fail 'it counts at once'
  local not_yet='; it has not been so for 24h yet'
  assert_eq "OK: web/us max 20.0ms, wanted < 10ms$not_yet | max=0.02s;;0.01" "$(cat "$CASE/out")"
  _check 2 CRITICAL --every 100ms --for 100ms --count 5 'web/us max < 10ms'
  _check 3 "UNKNOWN: web/nil max: nothing is called 'web/nil'" \
    --every 100ms --for 10s --count 2 'web/nil max < 3'
}

# The first look has no sample; then comes one that breaks the limit. That is no recovery.
a_fault_after_a_look_that_says_nothing_is_not_ok() {
  local told=$CASE/told send="${TALLY_BIN:+$TALLY_BIN/}tally-send --socket $SOCK"
  _check 3 'UNKNOWN: web/late max' --every 100ms --for 24h --count 3 \
    --run "echo \$TALLY_STATUS >>$told; $send 'web/late 20000'" 'web/late max < 10000'
  assert_eq UNKNOWN "$(cat "$told")"
  assert_data web 'us 2 120 4560.000 9000' 'late 1 20000 20000.000 20000'
}

create_and_rm_say_what_was_refused() {
  "$TALLYCTL" create db/queries on=1 units=queries
  assert_data db 'queries 0'
  assert_eq "tallyctl: it is off, so its samples do not count: tallyctl on 'db/us'" \
    "$("$TALLYCTL" create db/us type=list entries_max=3 2>&1)"
  assert_eq '' "$("$TALLYCTL" create off/us on=0 2>&1; "$TALLYCTL" create off feed=any 2>&1)"
  assert_has 'it is off' "$("$TALLYCTL" create off/q type=quantiles precision=5 quantiles=50 2>&1)"
  define db 'name=v of=us type=range'
  assert_fails_with 'range_max' "$TALLYCTL" create db/wrong range_max=x
  # A type that lacks something is refused with a line that works.
  assert_fails_with 'also needs: mode' "$TALLYCTL" create sums/n type=value on=1
  local example
  "$TALLYCTL" create sums/n type=value on=1 2>"$CASE/err" || true
  example=$(sed -n 's/.* the type needs: //p' "$CASE/err")
  eval "\"\$TALLYCTL\" $example"
  assert_attribute sums n mode increments
  assert_has_not 'the type needs' "$("$TALLYCTL" create db/wrong range_max=x 2>&1)"
  "$TALLYCTL" rm db/v
  assert_eq 'queries us' "$(ls "$STAT/db" >/dev/null && definition db |
    sed -n 's/^name=\([^ ]*\) .*/\1/p' | paste -sd' ')"
  "$TALLYCTL" rm 'db/q*'
  assert_eq us "$(definition db | sed -n 's/^name=\([^ ]*\) .*/\1/p')"
  "$TALLYCTL" rm db
  [ ! -e "$STAT/db" ] || fail 'db is there'
  assert_fails_with "nothing is called 'db'" "$TALLYCTL" rm db
}

help_is_typed_as_plain_text() {
  "$TALLYCTL" create shop/us type=range on=1 'help=100 % of "us"'
  assert_has 'help=100%20%25%20of%20%22us%22' "$(definition shop)"
  assert_has '100 % of "us"' "$("$TALLYCTL" show shop/us)"
  "$TALLYCTL" define shop/us 'help=Time in queue'
  assert_has 'help=Time%20in%20queue' "$(definition shop)"
  "$TALLYCTL" define shop/us 'help=Time%20in%20the%20queue'
  assert_has 'help=Time%20in%20the%20queue' "$(definition shop)"
}

create_takes_labels_as_people_type_them() {
  "$TALLYCTL" create 'shop/us{route:/cart/a b,code:200}' type=range on=1
  "$TALLYCTL" create 'shop/view{route:/cart}' 'of=us{route:/cart/a b,code:200}'
  assert_eq 'us{code:200,route:%2Fcart%2Fa%20b} view{route:%2Fcart}' \
    "$(definition shop | sed -n 's/^name=\([^ ]*\) .*/\1/p' | paste -sd' ')"
  # It is the one that the stored spelling names, and that show finds as it was typed.
  "$TALLYCTL" create 'shop/us{route:%2Fcart%2Fa%20b,code:200}' type=range on=1
  send 'shop/us{route:%2Fcart%2Fa%20b,code:200} 5'
  assert_has 'shop/us{code:200,route:/cart/' \
    "$("$TALLYCTL" show 'shop/us{route:/cart/a b,code:200}')"
  # Screens have it as it was typed, scripts as it is stored.
  assert_has 'shop/us{code:200,route:/cart/a b} ' "$("$TALLYCTL" ls shop)"
  assert_has 'shop/us{code:200,route:%2Fcart%2Fa%20b}' "$("$TALLYCTL" ls --names shop)"
  assert_fails_with "shop/us{code:200,route:/cart/a b} keeps no past" \
    "$TALLYCTL" plot 'shop/us{code:200,route:%2Fcart%2Fa%20b}'
  assert_has 'alert: "shop/us{code:200,route:/cart/a b} max < 1"' \
    "$(_rule 'shop/us{route:/cart/a b,code:200} max < 1')"
  "$TALLYCTL" define 'shop/us{route:/cart/a b,code:200}' units=things
  assert_attribute shop 'us{code:200,route:%2Fcart%2Fa%20b}' units things
  assert_fails_with "a name has one '/': write %2F for others" "$TALLYCTL" create shop/a/b
  assert_eq shop "$(ls "$STAT" | grep -vx -e tallyfs -e web)"
}

help_is_that_of_the_command() {
  assert_eq "$("$TALLYCTL" show --help)" "$("$TALLYCTL" help show)"
  assert_eq "$("$TALLYCTL" --help)" "$("$TALLYCTL" help)"
  assert_eq "$("$TALLYCTL" --help)" "$("$TALLYCTL" help nonsense)"
}
