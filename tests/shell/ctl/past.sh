# What tallyctl reads of a store: show, plot, heat, diff and record with --at, --last and --vs.

. ./ctl/_past.sh

what_was_counted_comes_back_with_its_percentiles() {
  _record
  local i
  for ((i = 1; i <= 200; ++i)); do echo "web/us $((i * 37 % 1000 + 1))"; done >"$CASE/samples"
  send_file "$CASE/samples"
  send 'web/hits 1' 'web/hits 1' 'web/depth 42' 'db/us 5' 'db/us 9'
  _end_recorder
  _show --last 10m web db/us >"$CASE/out"
  assert_match 'web/us +quantiles +on +200 .*p50 .*p99 .*' "$(grep '^web/us' "$CASE/out")"
  assert_match 'web/hits +value +on +2 .* 2' "$(grep '^web/hits' "$CASE/out")"
  assert_match 'web/depth +last +on +1 .* 42' "$(grep '^web/depth' "$CASE/out")"
  local of='.interfaces[0].statistics[0].view.quantiles'
  assert_eq "$(_show --json web/us | jq -c "$of")" \
    "$(_show --json --last 10m web/us | jq -c "$of")" 'percentiles of the store and the mount'
  assert_has '200 requests' "$(_show --last 10m web/us)"
}

# A recorder that the machine has no time for reads late: the store says when the samples were.
# Two sends are in one moment if the machine had no time for the recorder in between; a second
# without a moment is a gap, after which totals begin again.
heat_and_plot_draw_the_moments_of_a_span() {
  _record
  local i moments with='map(select(.samples > 0))'
  for ((i = 0; i < 5; ++i)); do
    send 'web/us 100' 'web/us 200' 'web/hits 1'
    _next_second
  done
  _end_recorder
  moments=$(_moments)
  assert_eq 10 "$(jq 'map(.samples) | add' <<<"$moments")" "samples of $moments"
  "$TALLYCTL" heat --ascii --last 10m web/us >"$CASE/heat"
  assert_eq "$(jq -r "$with[] | \"\(.at[11:]) \(.samples)\"" <<<"$moments")" \
    "$(sed -nE 's/^([0-9:]{8}) +\|.*\| +([1-9][0-9]*) +.*us +.*us$/\1 \2/p' "$CASE/heat")" \
    'moments with samples'
  if [ "$(jq '.[-1].us - .[0].us == (length - 1) * 1000000' <<<"$moments")" = true ]; then
    assert_eq true "$(jq "$with | length > 1" <<<"$moments")" "several in $moments"
    assert_eq 10 "$(_moments --every 10s | jq 'map(.samples) | add')" 'samples in steps of 10 s'
  fi
  "$TALLYCTL" plot --ascii --last 1m web/hits >"$CASE/plot"
  assert_has 'samples a second' "$(cat "$CASE/plot")"
  assert_has '*' "$(cat "$CASE/plot")"
  assert_has '10 requests' "$("$TALLYCTL" plot --last 1m web/us)"
  assert_fails_with 'is a value; heat needs' "$TALLYCTL" heat --last 1m web/hits
  assert_fails_with 'did you mean web/hits' "$TALLYCTL" plot --last 1m web/hist
  assert_fails_with '--from of a recording' "$TALLYCTL" plot --last 1m --from x web/hits
  assert_fails_with '--store needs the time' "$TALLYCTL" heat --store "$STORE" web/us
}

# Percentiles of a sum are those of all samples of its parts, and its rate is of the time that one
# of them was observed.
families_of_the_past_are_added_up_over_their_labels() {
  local each us='type=quantiles precision=5 quantiles=50,99 units=microseconds/requests on=1'
  for each in code:200 code:500; do
    send "create shop/us{route:%2Fcart,$each} $us" "create shop/n{route:%2Fcart,$each} on=1"
  done
  send "create shop/us{code:200,route:%2F} $us"
  _record
  send 'shop/us{route:%2Fcart,code:200} 100' 'shop/us{route:%2Fcart,code:500} 900' \
    'shop/us{code:200,route:%2F} 100' 'shop/n{route:%2Fcart,code:200} 1' \
    'shop/n{route:%2Fcart,code:500} 1'
  _next_second
  _next_second
  send 'create shop/n{route:late,code:200} on=1' 'shop/n{route:late,code:200} 1'
  _next_second
  _next_second
  _end_recorder
  _show --last 10m --by route shop >"$CASE/out"
  assert_match 'shop/us\{route:/cart\} +quantiles +on +2 .*p50 .*' \
    "$(grep -F 'us{route:/cart}' "$CASE/out")"
  assert_match 'shop/us\{route:/\} +quantiles +on +1 .*' "$(grep -F 'us{route:/}' "$CASE/out")"
  assert_match 'shop/n\{route:/cart\} +value +on +2 .* 2' \
    "$(grep -F 'shop/n{route:/cart}' "$CASE/out")"
  assert_has_not code: "$(cat "$CASE/out")"
  assert_has 'shop/us{code:200}' "$(_show --last 10m --by code shop/us)"
  _show --last 5m --vs before --by route shop/us >"$CASE/out"
  assert_has 'before: ' "$(cat "$CASE/out")"
  assert_eq 1 "$(grep -cF 'shop/us{route:/cart}' "$CASE/out")"
  assert_has_not code: "$(cat "$CASE/out")"
  "$TALLYCTL" plot --ascii --last 10m --by route 'shop/us' >"$CASE/out"
  assert_match 'shop/us\{route:/cart\} .*2 requests.*' "$(grep -F '{route:/cart}' "$CASE/out")"
  assert_has_not code: "$(cat "$CASE/out")"
  "$TALLYCTL" plot --ascii --last 1m --by route shop/n >"$CASE/out"
  assert_has 'samples a second' "$(cat "$CASE/out")"
  assert_has '*' "$(cat "$CASE/out")"
  # It came after the first moment.
  assert_has 'shop/n{route:late}' "$(cat "$CASE/out")"
  "$TALLYCTL" plot --ascii --last 1m --every 1s --by route shop/n >"$CASE/out"
  assert_has 'shop/n{route:late}' "$(cat "$CASE/out")"
  assert_fails_with "there is no label 'rout'; the labels are" _show --last 10m --by rout shop
  assert_fails_with '--by does not go with --json' "$TALLYCTL" plot --json --by route shop/us
}

# The fault is younger than the span's begin: the row says since when. A recorder that is stopped
# for two seconds reads late: what it counted is spread, and the past goes on, as on the page.
what_changed_in_a_span_is_ranked() {
  _record
  local i end
  for ((i = 0; i < 48; ++i)); do
    if ((i < 40)); then echo 'web/us 100'; else echo 'web/us 900'; fi >"$CASE/one"
    for _ in 1 2 3 4 5 6 7 8 9; do cat "$CASE/one"; done >"$CASE/nine"
    send_file "$CASE/nine"
    case $i in
      20) kill -STOP "$RECORDER" ;;
      22) kill -CONT "$RECORDER" ;;
    esac
    _next_second
  done
  end=$(date '+%F %T')
  _next_second
  _next_second
  _end_recorder
  local begin
  begin=$(date -d "$end 12 seconds ago" '+%F %T')
  "$TALLYCTL" show --changed --at "$begin..$end" web/us >"$CASE/changed"
  if grep -q '^too little past' "$CASE/changed"; then
    # A recorder that the machine has no time for leaves a longer gap, or another one, after which
    # a past begins again.
    _show --json --at "$(date -d "$end 48 seconds ago" '+%F %T')..$end" web/us >"$CASE/observed"
    assert_eq true "$(jq '[.facts[] | select(.reason == "the daemon did not answer" or
      .end_us - .begin_us > 4000000)] | length > 0' "$CASE/observed")" "$(cat "$CASE/changed")"
  else
    assert_match 'unusual: .* compared with the [0-9]+ s before, of 1 statistics' \
      "$(head -1 "$CASE/changed")"
    assert_match 'web/us +[0-9:]{8} +slower x[0-9.]+, p99 100us -> 900us .*' \
      "$(grep '^web/us' "$CASE/changed")"
  fi
  assert_has_not ': new' "$(cat "$CASE/changed")"
  assert_fails_with 'needs twelve of them' "$TALLYCTL" show --changed --last 6s
  assert_fails_with '6s at least' "$TALLYCTL" show --changed --last 2s
}

what_was_before_the_store_is_told() {
  send 'web/hits 1'
  _record
  _end_recorder
  assert_eq 1 "$(_show --last 10m web | grep -c ': nothing was recorded yet$')"
}

# As show does, below the picture, and on stderr where the output is of a program.
pictures_of_the_past_have_its_facts() {
  _record
  send 'web/us 100'
  _next_second
  _next_second
  define web 'name=us data=reset'
  define web 'name=hits data=reset'
  send 'web/us 100'
  _next_second
  _next_second
  _end_recorder
  local command
  for command in 'heat --ascii' plot; do
    "$TALLYCTL" $command --last 10m web/us >"$CASE/out"
    assert_eq 1 "$(grep -c '  web/us: reset$' "$CASE/out")" "$command"
    assert_eq 1 "$(grep -c 'nothing was recorded yet$' "$CASE/out")" "$command"
    assert_has_not 'web/hits' "$(cat "$CASE/out")"
  done
  "$TALLYCTL" show --changed --last 1m web >"$CASE/out"
  assert_has 'nothing was recorded yet' "$(cat "$CASE/out")"
  "$TALLYCTL" heat --json --last 10m web/us 2>"$CASE/facts" | jq -e . >/dev/null
  assert_has 'web/us: reset' "$(cat "$CASE/facts")"
}

check_judges_a_span_of_the_store() {
  _record
  send 'web/us 100' 'web/us 200'
  wait_until '[ "$(_total us)" = 2 ]'
  _end_recorder
  local status=0
  "$TALLYCTL" check --last 10m 'web/us max < 150us' >"$CASE/out" || status=$?
  assert_eq 2 $status "$(cat "$CASE/out")"
  assert_has 'CRITICAL: web/us max' "$(cat "$CASE/out")"
  assert_has "nothing is called 'log/raw' in what was recorded; a store keeps no type=history" \
    "$("$TALLYCTL" check --last 10m 'log/raw max < 1')"
  # What the store does not know may turn an answer, or may not.
  assert_has 'OK: web/us count 2, wanted > 1; ' "$("$TALLYCTL" check --last 600 'web/us count > 1')"
  assert_has 'WARNING: web/us count 2, wanted < 2; ' \
    "$("$TALLYCTL" check --last 10m --warn 'count < 2' 'web/us count < 5')"
  local condition
  for condition in 'count > 5' 'count < 5' 'max < 1s' 'min > 1us' 'avg < 1s' 'rate < 9000'; do
    status=0
    "$TALLYCTL" check --last 10m "web/us $condition" >"$CASE/out" || status=$?
    assert_eq 3 $status "$(cat "$CASE/out")"
    assert_match 'UNKNOWN: web/us .*: only .* of 10 min 0 s were observed, and in them it is .*' \
      "$(cat "$CASE/out")"
  done
  status=0
  "$TALLYCTL" check --last 5m --store "$CASE/none" 'web/us max < 1' >"$CASE/out" 2>&1 || status=$?
  assert_eq 3 $status
  assert_has "$CASE/none" "$(cat "$CASE/out")"
  status=0
  "$TALLYCTL" check --last 5m --over 1s 'web/us max < 1' >"$CASE/out" 2>&1 || status=$?
  assert_eq 3 $status
  assert_has '--over is of the time from now on' "$(cat "$CASE/out")"
}

a_store_needs_a_time() {
  assert_fails_with '--store needs the time that is meant' "$TALLYCTL" show --store "$STORE" web
}

errors_say_what_to_do() {
  assert_fails_with 'tallyctl record --store' _show --last 5m --store "$CASE/none"
  _record
  assert_fails_with 'a store has one writer' "$TALLYCTL" record --store "$STORE"
  _next_second
  _next_second
  _end_recorder
  assert_fails_with 'is no span of time' _show --at noon
  assert_fails_with 'has not come yet' _show --at 23:59:59+1s
  assert_fails_with 'is no length of time' _show --last 12:00
  assert_fails_with 'compares the span' _show --vs before
  assert_fails_with 'two spans' _show --at 00:00 --last 5m
  assert_fails_with '--from are not' _show --last 5m --every 1s
  assert_fails_with 'statistics/' _show --last 5m tracing/latency_hist/wakeup
  assert_fails_with 'did you mean web/hits' _show --last 5m web/hist
  assert_fails_with 'not both' "$TALLYCTL" record --store "$STORE" file
  assert_fails_with 'not both' "$TALLYCTL" record
  assert_fails_with '--tiers says' "$TALLYCTL" record --store "$STORE" --every 1s
  assert_fails_with 'is no tier' "$TALLYCTL" record --store "$STORE" --tiers 1s
  assert_fails_with '1s:1h,10s:1d,1m:30d' "$TALLYCTL" record --store "$STORE" --tiers 2s:1h
  sqlite3 "$STORE/past.sqlite" 'PRAGMA user_version=9'
  assert_fails_with 'format 9' _show --last 5m
  sqlite3 "$STORE/past.sqlite" 'PRAGMA user_version=1'
  assert_fails_with 'format 1 of an earlier tallyctl' _show --last 5m
  assert_fails_with 'into another directory' "$TALLYCTL" record --store "$STORE"
  head -c 20000 /dev/urandom >"$STORE/past.sqlite"
  rm -f "$STORE"/past.sqlite-*
  assert_fails_with 'is damaged' _show --last 5m
  assert_fails_with 'is damaged' "$TALLYCTL" record --store "$STORE"
}

# What doctor says of the store, in one line.
_doctor() {
  "$TALLYCTL" doctor --json | jq -r '.checks[] | select(.check == "store") |
    [.level, .check, .text] | join(" ")'
}

doctor_says_whether_the_past_is_recorded() {
  assert_match "ok +store +none in $STORE: .*TALLY_STORE.*" "$(_doctor)"
  _record
  _next_second
  _end_recorder
  assert_match "ok +store +$STORE, from 20.* on" "$(_doctor)"
  sqlite3 "$STORE/past.sqlite" 'UPDATE block SET begin_us=begin_us-120000000,
    end_us=end_us-120000000'
  assert_match "WARN +store +$STORE ends at 20.*: nothing is recorded.*" \
    "$(_doctor)"
  echo damaged >"$STORE/past.sqlite"
  rm -f "$STORE"/past.sqlite-*
  assert_match 'FAIL +store +.*is damaged.*' "$(_doctor)"
}

# A shell of SQLite was left open, as it were, and much is written beside it.
doctor_names_the_reader_that_lets_the_log_grow() {
  _record
  _next_second
  _end_recorder
  "$PYTHON" -c 'import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("BEGIN")
print(store.execute("SELECT count(*) FROM block").fetchall(), flush=True)
sys.stdin.read()' "$STORE/past.sqlite" >"$CASE/held" < <(wait_until '[ -e "$CASE/done" ]') &
  local reader=$!
  echo "$reader" >>"$CASE/pids"
  wait_until '[ -s "$CASE/held" ]'
  assert_eq '' "$("$TALLYCTL" doctor --json | jq -r '.checks[] | select(.check == "store-log")')"
  sqlite3 "$STORE/past.sqlite" \
    "INSERT INTO fact(begin_us,end_us,interface,name,reason) VALUES(1,2,'','',zeroblob(20000000))"
  { "$TALLYCTL" doctor --json || true; } | jq -r '.checks[] | select(.check == "store-log") |
    [.level, .text, .do] | join(" ")' >"$CASE/out"
  assert_match \
    "WARN $STORE/past.sqlite-wal has [12][0-9] MiB: process $reader \\(python3\\) holds .*" \
    "$(cat "$CASE/out")"
  assert_has "kill $reader" "$(cat "$CASE/out")"
  touch "$CASE/done"
  wait "$reader"
}

# As an export of a long time reads: one transaction after the other, none of them long.
doctor_takes_no_reader_that_goes_on_for_one_that_hangs() {
  _record
  _next_second
  _end_recorder
  "$PYTHON" -c 'import os, sqlite3, sys, time
store = sqlite3.connect(sys.argv[1], isolation_level=None)
while not os.path.exists(sys.argv[2]):
    store.execute("BEGIN")
    print(store.execute("SELECT count(*) FROM fact WHERE end_us=2").fetchall(), flush=True)
    time.sleep(0.1)  # so long a transaction lasts
    store.execute("COMMIT")' "$STORE/past.sqlite" "$CASE/done" >"$CASE/read" &
  local reader=$!
  echo "$reader" >>"$CASE/pids"
  wait_until '[ -s "$CASE/read" ]'
  sqlite3 "$STORE/past.sqlite" \
    "INSERT INTO fact(begin_us,end_us,interface,name,reason) VALUES(1,2,'','',zeroblob(20000000))"
  wait_until 'grep -q "(1,)" "$CASE/read"'
  [ "$(stat -c %s "$STORE/past.sqlite-wal")" -ge $((16 << 20)) ] || fail 'the log is short'
  assert_eq '' "$("$TALLYCTL" doctor --json | jq -r '.checks[] | select(.check == "store-log")')"
  touch "$CASE/done"
  wait "$reader"
}

# The bench's store: web0/latency_us is six times as slow, and all counters of web1 are silent.
doctor_says_what_changed_in_the_newest_minute() {
  local make=${TALLY_BIN:+$TALLY_BIN/}changed_store
  command -v "$make" >/dev/null || skip 'changed_store is not built'
  "$make" "$STORE" 40 60 >/dev/null
  "$TALLYCTL" doctor --json | jq -r '.checks[] | select(.check == "changed") |
    [.level, .text, .do] | join(" ")' >"$CASE/out"
  assert_match 'ok web[01].* since [0-9:]+: .*, of 40 statistics tallyctl show --changed .*' \
    "$(cat "$CASE/out")"
  _show --changed --last 1m >"$CASE/changed"
  assert_match 'web0/latency_us +[0-9:]+ +slower x[56]\..*, p99 .*' \
    "$(grep '^web0/latency_us' "$CASE/changed")"
  assert_match 'web1 .*5 of 10 statistics: silent.*' "$(grep '^web1 ' "$CASE/changed")"
  assert_eq "$(sed -n '/^STATISTIC/{n;s/ .*//p}' "$CASE/changed")" "$(cut -d' ' -f2 "$CASE/out")"
}

# Of four minutes, which are usual by then.
a_silence_of_minutes_is_listed_apart_from_rows() {
  local make=${TALLY_BIN:+$TALLY_BIN/}changed_store
  command -v "$make" >/dev/null || skip 'changed_store is not built'
  "$make" "$STORE" 40 60 0 240 >/dev/null
  _show --changed --last 1m >"$CASE/changed"
  assert_match 'web1: 5 of 10 statistics: silent, before [0-9.]+/s, since [0-9:]+' \
    "$(grep '^web1:' "$CASE/changed")"
  assert_eq 1 "$(grep -c silent "$CASE/changed")"
  "$TALLYCTL" doctor --json | jq -r '.checks[] | select(.check == "changed").text' >"$CASE/out"
  assert_match '.*; web1, 5 silent since [0-9:]+' "$(cat "$CASE/out")"
  _show --changed --last 1m --json >"$CASE/json"
  assert_eq '["web1",5]' "$(jq -c '.silent[] | [.interface, (.statistics | length)]' "$CASE/json")"
}

a_damaged_block_is_a_gap_and_the_rest_is_shown() {
  _record
  send 'web/hits 1'
  _next_second
  _next_second
  _end_recorder
  sqlite3 "$STORE/past.sqlite" "UPDATE block SET data=x'01020304'"
  assert_has 'damaged in the store' "$(_show --last 1m web)"
}

the_group_reads_and_others_do_not() {
  _record
  _end_recorder
  assert_eq '750 640 640' "$(stat -c %a "$STORE" "$STORE/past.sqlite" "$STORE/past.sqlite-wal" |
    paste -sd' ')"
  chmod 755 "$CASE"
  cp "$(command -v "$TALLYCTL")" "$CASE/tallyctl"
  chmod 755 "$CASE/tallyctl"
  assert_fails_with 'Permission denied' as_nobody env TALLY_STORE="$STORE" "$CASE/tallyctl" show \
    --last 5m
}
