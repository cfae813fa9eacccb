# What tally-web answers of spans of the past: what it keeps, and a store.

. "$here/web_lib.sh"

_set_up() {
  need curl
  need jq
  start_daemon
  send 'create web/us on=1 type=range units=microseconds/requests' 'create web/hits on=1'
}
_need_store() {
  [[ $("${TALLY_BIN:+$TALLY_BIN/}tallyctl" show --last 1s 2>&1) != *TALLYFS_PAST=OFF* ]] ||
    skip 'built without a store'
}
_samples() {  # _samples NAME: of the span since $begin
  api "span/web?from=${begin}000000&to=$(($(date +%s) + 1))000000&statistic=$1" |
    jq -c '[.from, .statistics[0].samples]'
}

_is_fed_and_recorded() {
  send 'web/us 30' 'web/us 50'
  ! kill -0 "$recorder" 2>/dev/null
}

a_span_is_read_from_what_is_kept() {
  start_web
  local begin
  api 'statistics/web?statistic=us' >/dev/null
  wait_until '[ "$(api "line/web/us?seconds=9" | jq ".series.end_us | length")" != 0 ]'
  begin=$(($(api 'line/web/us?seconds=9' | jq '.series.end_us[-1]') / 1000000))
  send 'web/us 30' 'web/us 50' 'web/hits 1'
  wait_until '[ "$(_samples us)" = "[\"kept\",2]" ]'
  wait_until '[ "$(_samples hits)" = "[\"kept\",1]" ]'
  assert_eq '["40µs","-"]' "$(api \
    "span/web?from=${begin}000000&to=$(($(date +%s) + 1))000000&statistic=us" |
    jq -c "[.statistics[0].view.total.facts[] | select(.label == \"average\" or
      .label == \"most\").text]")"
}

a_span_of_before_is_read_from_the_store() {
  _need_store
  local begin recorder
  begin=$(date +%s)
  "${TALLY_BIN:+$TALLY_BIN/}tallyctl" --mount "$MNT" record --store "$CASE/store" --count 3 &
  recorder=$!
  wait_until _is_fed_and_recorded
  start_web --store "$CASE/store"
  assert_eq "[\"store\",$("${TALLY_BIN:+$TALLY_BIN/}tallyctl" show --store "$CASE/store" \
    --last 1h --json web/us | jq '.interfaces[0].statistics[0].samples')]" "$(_samples us)"
  assert_eq true "$(_samples us | jq '.[1] > 0')"
  assert_eq 2 "$(api "line/web/hits?from=${begin}000000&to=$(date +%s)000000" |
    jq '[.series.value[] | select(. != null)] | length | if . > 2 then 2 else . end')"
}

a_filter_finds_statistics_of_any_interface() {
  start_web
  send 'create other/hits on=1'
  # An answer reads as many names as it has time for.
  wait_until 'api "statistics?filter=HIT" | jq -e ".view.searched == .view.interfaces" >/dev/null'
  assert_eq '["other/hits","web/hits"] 2' "$(api 'statistics?filter=HIT' |
    jq -r '"\(.view.found | sort | tojson) \(.view.found_all)"')"
  assert_eq '[]' "$(api 'statistics?filter=web' | jq -c '.view.found')"
  assert_eq null "$(api statistics | jq '.view.found')"
}

what_no_store_has_is_not_found() {
  _need_store
  start_web --store "$CASE/none"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/span/web?from=1000000&to=2000000")"
  assert_has 'there is no store of the past' "$(jq -r .error "$CASE/answer")"
}

times_that_are_none_are_refused() {
  start_web
  local query
  for query in 'span/web' 'span/web?from=1' 'heat/web/us?from=5&to=5' 'span/web?from=9&to=8' \
    'line/web/us?from=x&to=y' 'span/web?from=1&to=99999999999999'; do
    assert_eq 400 "$(http_status -H "$TOKEN" "$WEB/api/1/$query")" "$query"
  done
}
