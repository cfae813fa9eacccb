# Spans of a store, one beside the other: what each has, what changed, and what is drawn of both.
# Each case has a daemon, a mount and a store of its own.

. ./ctl/_past.sh

# _make_bench: the store of changed_store, which has eleven minutes.
_make_bench() {
  local make=${TALLY_BIN:+$TALLY_BIN/}changed_store
  command -v "$make" >/dev/null || skip 'changed_store is not built'
  "$make" "$STORE" 40 >/dev/null
}
# _before_end SECONDS: the time so long before the store ends, whatever the clock shows by now.
_before_end() {
  date -u -d "@$(($(_sql 'SELECT max(end_us) FROM block WHERE tier=0') / 1000000 - $1))" '+%F %T'
}

a_span_has_its_own_samples_and_the_other_beside_it() {
  _record
  send 'web/us 10' 'web/hits 1' 'web/hits 1'
  local _
  for _ in 1 2 3 4 5; do _next_second; done
  send 'web/us 900' 'web/us 900'
  _end_recorder
  local middle samples='.interfaces[0].statistics[0].samples'
  middle=$(_moments | jq -r 'map(select(.samples > 0))[0].at')
  assert_eq 2 "$(_show --json --at "$middle+30s" web/us | jq "$samples")"
  local begin
  begin=$(date -d '-5 minutes' '+%F %T')
  assert_eq 1 "$(_show --json --at "$begin..$middle" web/us | jq "$samples")"
  _show --at "$middle+30s" --vs before web >"$CASE/out"
  assert_has 'before: ' "$(cat "$CASE/out")"
  assert_match 'web/hits .* silent .*' "$(grep '^web/hits' "$CASE/out")"
  # The change is from the earlier span to the later one, whichever is named first.
  _show --at "$begin..$middle" --vs "$middle+30s" web >"$CASE/out"
  assert_has 'after: ' "$(cat "$CASE/out")"
  assert_match 'STATISTIC +RATE +AFTER +CHANGE +VALUES +AFTER' "$(grep '^STATISTIC' "$CASE/out")"
  assert_match 'web/hits .* silent .*' "$(grep '^web/hits' "$CASE/out")"
  assert_has 'compared with: ' "$(_show --at "$middle+30s" --vs "$begin+10m" web)"
  assert_eq '2 1' "$(_show --json --at "$middle+30s" --vs before web/us |
    jq -r '[.interfaces, .before.interfaces | .[0].statistics[0].samples] | join(" ")')"
  # hits fell silent, us changed by half or less, and of all else nothing was counted.
  assert_eq 'web/hits web/us' "$(_show --at "$middle+30s" --vs before --sort change web |
    sed -n '/^STATISTIC/,$s/^\(web[^ ]*\).*/\1/p' | paste -sd' ')"
  assert_eq web/us "$(_show --at "$middle+30s" --vs before --sort change web/us web/depth |
    sed -n '/^STATISTIC/{n;s/ .*//p}')"
  assert_fails_with '--sort change compares' _show --last 5m --sort change
  assert_eq 'statistic,samples us,2 us,1' "$(_show --at "$middle+30s" --vs before --csv --nonzero \
    web/us | cut -d, -f3,7 | paste -sd' ')"
}

a_span_since_a_reset_has_what_was_counted_since() {
  _record
  send 'web/hits 1' 'db/us 5'
  _next_second
  _next_second
  define web 'name=hits data=reset'
  send 'web/hits 1' 'web/hits 1'
  _next_second
  _next_second
  _end_recorder
  assert_eq 2 "$(_show --json --at 'since reset' web/hits |
    jq '.interfaces[0].statistics[0].samples')"
  assert_fails_with 'knows of no reset' _show --at 'since reset' db
  assert_has 'OK: web/hits value 2' \
    "$("$TALLYCTL" check --at 'since reset' 'web/hits value > 1')"
  "$TALLYCTL" record --at 'since reset' "$CASE/export"
  assert_eq 2 "$("$TALLYCTL" show --json --from "$CASE/export" web/hits |
    jq '.interfaces[0].statistics[0].samples')"
  assert_fails_with '"since reset" is of --at' _show --last 5m --vs 'since reset' web
}

spans_of_the_store_are_compared_and_exported() {
  _record
  send 'web/us 100' 'web/us 200' 'web/hits 1'
  _next_second
  _next_second
  send 'web/hits 1'
  _next_second
  _next_second
  _end_recorder
  "$TALLYCTL" diff --last 10m web >"$CASE/diff"
  assert_has 'before: ' "$(cat "$CASE/diff")"
  assert_match 'web/us .*p50 .*' "$(grep '^web/us' "$CASE/diff")"
  assert_fails_with '--exit-code is of snapshots' "$TALLYCTL" diff --exit-code --last 10m
  assert_fails_with '--store needs the time' "$TALLYCTL" diff --store "$STORE"
  "$TALLYCTL" record --last 10m "$CASE/export"
  assert_eq 1000000 "$(head -1 "$CASE/export" | jq .every_us)"
  # Totals of a recording begin with its first moment.
  local counted='map(.statistics[0].view.samples) | add'
  assert_eq "$(_moments | jq 'map(.samples) | add')" \
    "$("$TALLYCTL" heat --json --from "$CASE/export" web/us | jq -s "$counted")"
  assert_eq 2 "$("$TALLYCTL" show --json --from "$CASE/export" web/hits |
    jq '.interfaces[0].statistics[0].samples')"
  assert_fails_with 'a FILE is needed, for what' "$TALLYCTL" record --last 10m
}

# Counters of web1 are silent in the last 30 s of the bench's store.
pictures_of_two_spans_are_below_each_other() {
  local begin command status=0
  _make_bench
  begin=$(_before_end 300)
  "$TALLYCTL" plot --at "$begin+1m" --vs before web1/s11 >"$CASE/out"
  assert_match "$begin to [-0-9: ]+" "$(head -1 "$CASE/out")"
  assert_eq 'web1/s11 web1/s11' "$(sed -n 's/^\(web[^ ]*\).*/\1/p' "$CASE/out" | paste -sd' ')"
  assert_match 'before: .* to [-0-9: ]+' "$(grep '^before: ' "$CASE/out")"
  "$TALLYCTL" heat --at "$begin+5s" --vs "$begin+2s" web0/latency_us >"$CASE/out"
  assert_match 'compared with: .*' "$(grep '^compared with: ' "$CASE/out")"
  assert_eq 7 "$("$TALLYCTL" heat --json --at "$begin+5s" --vs "$begin+2s" web0/latency_us |
    wc -l)"
  # Nothing is printed of what is refused.
  for command in plot heat; do
    "$TALLYCTL" $command --at "$begin+5s" --vs before --from "$CASE/out" web0/latency_us \
      >"$CASE/refused" 2>"$CASE/err" || status=$?
    assert_eq '2 ' "$status $(cat "$CASE/refused")"
    assert_has '--from of a recording' "$(cat "$CASE/err")"
  done
  status=0
  "$TALLYCTL" plot --vs before web1/s11 2>"$CASE/err" || status=$?
  assert_eq 2 $status
  assert_has '--vs compares the span' "$(cat "$CASE/err")"
}

# The bench's store has eleven minutes; in the last 30 s web0/latency_us is slower.
what_changed_is_compared_with_a_time_that_is_named() {
  local begin span
  _make_bench
  begin=$(_before_end 540)
  span="$(_before_end 60)+1m"
  _show --changed --at "$span" --vs "$begin+4m" web0 >"$CASE/out"
  assert_match "(unusual|nothing unusual): .* compared with $begin to [-0-9: ]+, of 10 statistics" \
    "$(head -1 "$CASE/out")"
  assert_has '4 of 9 spans before are known' "$(cat "$CASE/out")"
  assert_match 'web0/latency_us +[0-9:]+ +slower x[56]\..*, p99 .*' \
    "$(grep '^web0/latency_us' "$CASE/out")"
  assert_fails_with 'at least twice as long' _show --changed --at "$span" --vs "$begin+90s"
  # Of a longer time the newest nine spans count, and are named.
  _show --changed --at "$span" --vs "$(_before_end 660)+10m" web0 >"$CASE/out"
  assert_has "compared with $(_before_end 600) to" "$(sed 1q "$CASE/out")"
  # What the time shares with the span is no baseline of it.
  _show --changed --at "$span" --vs "$begin+9m" web0 >"$CASE/out"
  assert_has '8 of 9 spans before are known' "$(cat "$CASE/out")"
  assert_fails_with 'shares with the span' _show --changed --at "$span" --vs "$(_before_end 120)+2m"
}

# The bench's store, of which the third minute is damaged.
pictures_and_what_changed_name_what_is_damaged() {
  local whole last said
  _make_bench
  sqlite3 "$STORE/past.sqlite" "UPDATE block SET data=x'01020304' WHERE id=(SELECT id FROM block
    WHERE tier=0 ORDER BY begin_us LIMIT 1 OFFSET 2)"
  whole="$(_before_end 600)+10m"
  last="$(_before_end 60)+1m"
  for said in "$("$TALLYCTL" heat --at "$whole" web0/latency_us)" \
    "$("$TALLYCTL" plot --at "$whole" web0/s1)" "$(_show --changed --at "$last" 'web0/*')"; do
    assert_eq 1 "$(grep -c 'damaged in the store' <<<"$said")"
  done
}
