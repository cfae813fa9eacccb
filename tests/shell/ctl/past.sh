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
}

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

# The fault is younger than the span's begin: the row says since when.
what_changed_in_a_span_is_ranked() {
  _record
  local i end
  for ((i = 0; i < 48; ++i)); do
    if ((i < 40)); then echo 'web/us 100'; else echo 'web/us 900'; fi >"$CASE/one"
    for _ in 1 2 3 4 5 6 7 8 9; do cat "$CASE/one"; done >"$CASE/nine"
    send_file "$CASE/nine"
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
    # A recorder that the machine has no time for leaves a gap, after which a past begins again.
    _show --json --at "$(date -d "$end 48 seconds ago" '+%F %T')..$end" web/us >"$CASE/observed"
    assert_eq true "$(jq '.end_us - .interfaces[0].statistics[0].data_us < 48000000' \
      "$CASE/observed")" 'a gap'
  else
    assert_match 'unusual: .* beside the [0-9]+ s before, of 1 statistics' \
      "$(head -1 "$CASE/changed")"
    assert_match 'web/us +[0-9:]{8} +slower x[0-9.]+, p99 100us -> 900us .*' \
      "$(grep '^web/us' "$CASE/changed")"
  fi
  assert_has_not ': new' "$(cat "$CASE/changed")"
  assert_fails_with 'needs twelve of them' "$TALLYCTL" show --changed --last 6s
  assert_fails_with '6s at least' "$TALLYCTL" show --changed --last 2s
  assert_fails_with 'without it' "$TALLYCTL" show --changed --last 12s --vs before
}

what_was_before_the_store_is_told() {
  send 'web/hits 1'
  _record
  _end_recorder
  assert_eq 1 "$(_show --last 10m web | grep -c ': nothing was recorded yet$')"
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
  assert_has 'OK: web/us count 2, wanted < 5' "$("$TALLYCTL" check --last 600 'web/us count < 5')"
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
