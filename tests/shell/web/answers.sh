# What tally-web answers on a real mount: statistics, heat maps, metrics, changes.

. "$here/web_lib.sh"

_set_up() {
  need curl
  need jq
  start_daemon
  local array='type=array scale=log2 base_interval=1 range_min=0 range_max=4096'
  send "create web/us $array on=1 units=microseconds/requests" 'create web/hits on=1' \
    'create db/us type=range on=1'
  send 'web/us 20' 'web/us 120' 'web/us 9000' 'web/hits 1' 'db/us 70'
  start_web
}
_rate_is_known() {
  [ "$(api 'statistics?rows=1' | jq '.interfaces[0].view.rate != null')" = true ]
}

the_overview_has_interfaces_and_rates() {
  assert_eq 'db
tallyfs
web' "$(api 'statistics?sort=name' | jq -r '.interfaces[].interface')"
  assert_eq web "$(api 'statistics?filter=eb' | jq -r '.interfaces[].interface')"
  assert_eq 'tallyfs 3' "$(api 'statistics?sort=name&first=1&rows=1' |
    jq -r '"\(.interfaces[].interface) \(.view.matching)"')"
  assert_eq "$(jq .epoch "$MNT/statistics.json")" "$(api statistics | jq .epoch)"
  wait_until _rate_is_known
}

more_interfaces_than_are_followed_are_answered() {
  local i lines=() urls=()
  for ((i = 150; i > 100; --i)); do
    lines+=("w$i/hits $i")
    urls+=("$WEB/api/1/statistics/w$i")
  done
  send "${lines[@]}"
  api statistics >/dev/null
  # One after the other, the last names first, within a reading of the mount or two.
  curl -s -H "$TOKEN" "${urls[@]}" >"$CASE/answers"
  assert_eq "$(seq 150 -1 101 | sed 's/^/w/')" "$(jq -r .interface "$CASE/answers")"
  assert_eq 200 "$(http_status "$WEB/healthz")"
}

numbers_are_those_of_tallyctl() {
  local tallyctl=${TALLY_BIN:+$TALLY_BIN/}tallyctl
  wait_until '[ "$(api statistics/web | jq ".statistics[0].view.interval_us")" = null ] ||
    api statistics/web | jq -e ".statistics[0].view.samples == 0" >/dev/null'
  assert_eq "$("$tallyctl" --mount "$MNT" show --json web/us |
    jq -c '.interfaces[0].statistics[0] | .values, .samples')" \
    "$(api statistics/web | jq -c '.statistics[0] | .values, .samples')"
  assert_eq "$("$tallyctl" --mount "$MNT" show web/us | sed -n 2p)" \
    "$(api statistics/web | jq -r '[.statistics[0].view.total.percentiles[] |
      "p\(.q) \(.text)"] | join("   ")' | sed 's/µs/us/g')"
  assert_eq 'web 2' "$(api 'statistics/web?statistic=hits' |
    jq -r '"\(.interface) \(.view.rows | length)"')"
  assert_eq 1 "$(api 'statistics/web?statistic=hits' | jq '.statistics | length')"
}

the_slowest_are_first_by_their_p99() {
  local array='type=array scale=log2 base_interval=1 range_min=0 range_max=4096'
  send "create slow/us $array on=1 units=milliseconds/requests" \
    "create fast/us $array on=1 units=nanoseconds/requests"
  _order() {
    send 'slow/us 100' 'fast/us 4000' 'web/us 20'
    api 'statistics?sort=p99' | jq -r '[.interfaces[] | select(.view.p99 != null) | .interface |
      select(. != "tallyfs")] | join(" ")'
  }
  wait_until '[ "$(_order)" = "slow web fast" ]'
  # Where the percentile is in its bucket depends on how many samples the last look had.
  local shown='.interfaces[0].view.p99 | "\(.statistic) \(.bounds)"'
  assert_match 'us (6[5-9]|[7-9][0-9]|1[0-2][0-9])ms \(65-128\)' \
    "$(api 'statistics?sort=p99&rows=1' | jq -r "$shown")"
}

the_p99_of_the_busiest_stays_while_others_are_looked_at() {
  local i idle=() busy=() feed=() urls=()
  for ((i = 100; i < 145; ++i)); do
    idle+=("a$i/hits 1")
    urls+=("$WEB/api/1/statistics/a$i")
  done
  for ((i = 100; i < 131; ++i)); do
    busy+=("create z$i/us type=array scale=log2 base_interval=1 range_min=0 range_max=4096 on=1")
    feed+=("z$i/us 20")
  done
  send "${idle[@]}"
  send "${busy[@]}"
  _with_p99() { api statistics | jq '[.interfaces[] | select(.view.p99 != null) | .interface |
    select(startswith("z"))] | length'; }
  wait_until 'send "${feed[@]}"; [ "$(_with_p99)" = 31 ]'
  curl -s -H "$TOKEN" "${urls[@]}" >/dev/null
  assert_eq 31 "$(_with_p99)"
  # What is not known of the others comes last.
  assert_eq true "$(api 'statistics?sort=p99' | jq '[.interfaces[].view |
    if .p99 then 0 elif .p99_known then 1 else 2 end] | . == sort')"
}

words_of_a_filter_match_in_any_order() {
  send 'create tags/hits{code:200,host:a}' 'create tags/hits{code:404,host:a}'
  local words
  for words in 'code:404+host:a' 'host:a,code:404' '%7Bhost:a+hits' 'CODE:404+Host:a'; do
    api "statistics/tags?filter=$words" >"$CASE/answer"
    assert_eq 'hits{code:404,host:a}' "$(jq -r '.view.rows[-1].name' "$CASE/answer")" "$words"
  done
  assert_eq '0 of 2' "$(api 'statistics/tags?filter=host:b' |
    jq -r '.view | "\(.matching) of \(.of)"')"
}

wrong_parameters_are_refused() {
  local query
  for query in statistics?first=x statistics?sort=size statistics/web?rows=-1 \
    heat/web/us?seconds=abc heat/web/us?seconds= heat/web/us?scale=cubic heat/web/us?bins=4.5 \
    statistics?sort=value statistics/web?sort=p99 statistics/web?by=type statistics?by=name \
    statistics/web?counted=yes 'statistics/web?by=name&'{filter=us,sort=rate,order=0} \
    'statistics/web?by=name&'{counted=1,first=0,rows=1}; do
    assert_eq 400 "$(http_status -H "$TOKEN" "$WEB/api/1/$query")" "$query"
  done
  assert_eq 400 "$(http_status -H "$TOKEN" "$WEB/api/1/heat/web/us?seconds=abc")"
  assert_eq 'seconds=abc: not a number' "$(jq -r .error "$CASE/answer")"
}

# As collectd's curl_json wants them: a value has a path of names.
statistics_are_an_object_by_name() {
  assert_eq 'us hits' "$(api 'statistics/web?by=name' |
    jq -r '.statistics | keys_unsorted | join(" ")')"
  assert_eq "$(api statistics/web | jq -c '[.statistics[] | del(.view)]')" \
    "$(api 'statistics/web?by=name' | jq -c '[.statistics[] | del(.view)]')"
  assert_eq 1 "$(api 'statistics/web?by=name' | jq .statistics.hits.samples)"
  assert_eq 1 "$(api 'statistics/web?by=name' | jq .statistics.hits.values.total)"
  assert_eq us "$(api 'statistics/web?by=name&statistic=us' | jq -r '.statistics | keys[]')"
  assert_eq null "$(api 'statistics/web?by=name' | jq .view)"
}

a_parameter_that_is_not_known_is_refused() {
  local query
  for query in api/1/statistics?filtre=web api/1/statistics?statistic=us 'api/1/statistics/web?=1' \
    api/1/statistics/web?seconds=3 api/1/heat/web/us?first=0 api/1/hists?rows=1 \
    api/1/heat/web/us?vs=1..2 api/1/changed?rows=3 healthz?mount=x ?vs=1..2 page.js?v=2 \
    metrics?interfaces=web metrics?interface=web\&x; do
    assert_eq 400 "$(http_status -H "$TOKEN" "$WEB/$query")" "$query"
  done
  assert_eq 'x: no parameter of this request; it takes: interface' "$(cat "$CASE/answer")"
  http_status "$WEB/?vs=1..2" >"$CASE/status"
  assert_eq "vs: no parameter of this request; the page's own follow a #, as /#s=web/us" \
    "$(cat "$CASE/answer")"
  assert_eq 401 "$(http_status "$WEB/metrics?interfaces=web")"
}

a_statistic_that_is_not_there_is_not_found() {
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/statistics/web?statistic=nope")"
  assert_eq 'web has no statistic nope' "$(jq -r .error "$CASE/answer")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/statistics/web?statistic=uss")"
  assert_eq 'web has no statistic uss; did you mean us?' "$(jq -r .error "$CASE/answer")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/statistics/wep")"
  assert_has 'did you mean web?' "$(jq -r .error "$CASE/answer")"
  assert_eq 200 "$(http_status -H "$TOKEN" "$WEB/api/1/statistics/web?statistic=")"
}

help_is_shown_as_plain_text() {
  send 'create web/wait on=1 help=Time%20in%20%22queue%22%1B'
  assert_eq 'Time in "queue"%1B' "$(api 'statistics/web?statistic=wait' |
    jq -r '.statistics[0].view.help_text')"
  assert_eq '' "$(api 'statistics/web?statistic=us' | jq -r '.statistics[0].view.help_text')"
}

what_a_full_list_misses_is_told() {
  send 'create full/codes type=list entries_max=2 on=1' 'full/codes 1' 'full/codes 2' \
    'full/codes 3' 'full/codes 4'
  assert_eq '2 missed' "$(api 'statistics/full?statistic=codes' |
    jq -r '.statistics[0].view.total.left_out')"
}

a_heat_map_has_a_column_for_each_second() {
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/heat/web/hits")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/heat/web/nothing")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/heat/nothing/us")"
  api heat/web/us >/dev/null
  wait_until 'send "web/us 20"; api heat/web/us |
    jq -e "[.counts[][]?] | add // 0 | . > 3" >/dev/null'
  api heat/web/us >"$CASE/heat"
  jq -e '(.counts | length) == (.end_us | length) and (.states | length) == (.end_us | length) and
    (.least | length) == 16 and (.dark | length) == 16 and .bins[-1].end == ">4.1ms"' "$CASE/heat" \
    >/dev/null || fail "$(cat "$CASE/heat")"
}

without_a_past_a_heat_map_has_no_columns() {
  stop_web
  start_web --keep 0
  _moves() { send 'web/us 20'; api 'statistics/web?statistic=us' | jq -e "$1" >/dev/null; }
  wait_until '_moves ".statistics[0].view.interval_us != null"'
  assert_eq 0 "$(api heat/web/us | jq '.end_us | length')"
}

latency_histograms_are_read_too() {
  send 'latency my_section ns=25999 cpu=0' 'latency my_section ns=3000 cpu=0'
  wait_until 'api statistics | jq -e ".view.latencies | index(\"my_section\")" >/dev/null' 30
  assert_eq 200 "$(http_status -H "$TOKEN" \
    "$WEB/api/1/statistics/tracing%2Flatency_hist%2Fmy_section")"
  jq -e '.statistics[0].view.total.percentiles | length > 0' "$CASE/answer" >/dev/null ||
    fail "$(cat "$CASE/answer")"
}

histogram_triggers_are_tables() {
  local event=$MNT/tracing/events/shop/request
  assert_eq '{"hists":[],"left_out":false}' "$(api hists)"
  stop_web
  start_web
  send 'event define shop/request u64 us; char path[16]'
  wait_until '[ -d "$event" ]'
  echo 'hist:keys=path:vals=us.max:sort=hitcount.descending' >"$event/trigger"
  send 'event shop/request us=7 path=/' 'event shop/request us=9 path=/' \
    'event shop/request us=2 path=/cart'
  assert_eq '{"hists":["tracing/events/shop/request"],"left_out":false}' "$(api hists)"
  wait_until '[ "$(api hist/tracing%2Fevents%2Fshop%2Frequest |
    jq -c ".triggers[0].rows[] | [.cells[], .text, .share]" | xargs)" = \
    "[/,9 µs,2,66.7] [/cart,2 µs,1,33.3]" ]'
  local name
  for name in tracing%2Fevents%2Fshop%2Fnothing tracing%2Fevents%2F..%2F.. web \
    tracing%2Fevents%2Fshop tracing%2Finstances%2Fx%2Fy%2Fz%2Fa; do
    assert_eq 404 "$(http_status --path-as-is -H "$TOKEN" "$WEB/api/1/hist/$name")" "$name"
  done
}

latencies_come_by_cpu() {
  send 'latency my_section ns=25999 cpu=0' 'latency my_section ns=3000 cpu=0'
  wait_until '[ -e "$MNT/tracing/latency_hist/my_section/CPU0" ]'
  api cpus/tracing%2Flatency_hist%2Fmy_section >"$CASE/cpus"
  jq -e '.names[0] == "CPU 0" and (.counts[0] | add) == 2 and .units == "microseconds/samples" and
    (.seconds | length) == (.names | length)' "$CASE/cpus" >/dev/null || fail "$(cat "$CASE/cpus")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/cpus/tracing%2Flatency_hist%2Fnothing")"
  assert_eq 404 "$(http_status -H "$TOKEN" "$WEB/api/1/cpus/web")"
}

what_is_as_before_is_not_sent_again() {
  local etag
  etag=$(curl -si "$WEB/page.js" | tr -d '\r' | sed -n 's/^ETag: //p')
  if [ -n "$etag" ]; then
    assert_eq 304 "$(http_status -H "If-None-Match: $etag" "$WEB/page.js")"
  fi
  define db 'on=0'
  # Until the rate of the last sample is 0 in two answers.
  _is_quiet() {
    etag=$(curl -si -H "$TOKEN" "$WEB/api/1/statistics/db" | tr -d '\r' | sed -n 's/^ETag: //p')
    [ "$(http_status -H "$TOKEN" -H "If-None-Match: $etag" "$WEB/api/1/statistics/db")" = 304 ]
  }
  wait_until _is_quiet
}

what_the_page_is_made_of_is_kept_for_ever() {
  local folder each
  curl -si "$WEB/" | tr -d '\r' >"$CASE/page"
  ! grep -q '^HTTP/1.1 404' "$CASE/page" || return 0  # built without its page
  assert_has 'Cache-Control: no-cache' "$(cat "$CASE/page")"
  folder=$(sed -n 's|.* src="\([0-9a-f]*\)/page.js".*|\1|p' "$CASE/page")
  [ -n "$folder" ] || fail 'the page names its files without a version'
  for each in page.js d3.js state.js page.css icon.svg; do
    assert_has 'Cache-Control: max-age=31536000, immutable' "$(curl -si "$WEB/$folder/$each")"
  done
  # Those of another version are not this one's.
  assert_eq 404 "$(http_status "$WEB/0$folder/page.js")"
  assert_has 'Cache-Control: no-cache' "$(curl -si "$WEB/page.js")"
}

changes_need_the_option() {
  local post=(-X POST -H "$TOKEN" -H 'Content-Type: application/json')
  assert_eq 403 "$(http_status "${post[@]}" -d '{"line":"name=us on=0"}' \
    "$WEB/api/1/definition/web")"
  assert_attribute web us on 1
  stop_web
  start_web --allow-changes
  assert_eq 401 "$(http_status -X POST -H 'Content-Type: application/json' \
    -d '{"line":"name=us on=0"}' "$WEB/api/1/definition/web")"
  assert_eq 415 "$(http_status -X POST -H "$TOKEN" -d 'line=name%3Dus' \
    "$WEB/api/1/definition/web")"
  assert_has "needs the header 'Content-Type: application/json'" "$(cat "$CASE/answer")"
  assert_eq 403 "$(http_status "${post[@]}" -H 'Origin: null' -d '{"line":"name=us on=0"}' \
    "$WEB/api/1/definition/web")"
  assert_attribute web us on 1
  assert_eq 200 "$(http_status "${post[@]}" -d '{"line":"name=us on=0"}' \
    "$WEB/api/1/definition/web")"
  assert_attribute web us on 0
  assert_has 'change by 127.0.0.1:' "$(cat "$CASE/stderr.web")"
  assert_has 'web: name=us on=0' "$(cat "$CASE/stderr.web")"
}

a_refused_line_comes_back_with_the_caret() {
  stop_web
  start_web --allow-changes
  local post=(-X POST -H "$TOKEN" -H 'Content-Type: application/json')
  assert_eq 422 "$(http_status "${post[@]}" -d '{"line":"name=us type=rainge"}' \
    "$WEB/api/1/definition/web")"
  assert_has 'refused, nothing changed' "$(jq -r .error "$CASE/answer")"
  assert_has '
  name=us type=rainge
          ^' "$(jq -r .error "$CASE/answer")"
  local body
  for body in '' '[]' '{"line":7}' '{"line":"a\nb"}' '{'; do
    assert_eq 400 "$(http_status "${post[@]}" -d "$body" "$WEB/api/1/definition/web")" "$body"
  done
  assert_eq 404 "$(http_status --path-as-is "${post[@]}" -d '{"line":"on=1"}' \
    "$WEB/api/1/definition/..")"
}

metrics_come_in_the_format_that_is_asked_for() {
  local name
  _type() {
    curl -s -o "$CASE/answer" -w '%{content_type}' -H "$TOKEN" -H "Accept: $1" "$WEB/metrics"
  }
  assert_eq 'text/plain; version=0.0.4; charset=utf-8' "$(_type text/plain)"
  assert_has 'tally_us_seconds_count{interface="web"} 3' "$(cat "$CASE/answer")"
  assert_has '# TYPE tally_web_requests_total counter' "$(cat "$CASE/answer")"
  assert_eq 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores' \
    "$(_type 'application/openmetrics-text;version=1.0.0')"
  assert_eq '# EOF' "$(tail -1 "$CASE/answer")"
  assert_has 'tally_web_requests_total{code="200",format="prom"} 1' "$(cat "$CASE/answer")"
  assert_has 'encoding=delimited' "$(_type application/vnd.google.protobuf)"
  assert_has 'tally_web_requests_total' "$(tr -d '\0' <"$CASE/answer" | strings 2>/dev/null ||
    tr -cd '[:print:]' <"$CASE/answer")"
  # curl sends */*; a probe may send no header.
  _type '*/*' >"$CASE/types"
  _type 'text/html,*/*;q=0.8' >>"$CASE/types"
  _type '' >>"$CASE/types"
  assert_eq "$(printf 'text/plain; version=0.0.4; charset=utf-8%.0s' 1 2 3)" "$(cat "$CASE/types")"
  curl -s --compressed -D "$CASE/head" -H "$TOKEN" "$WEB/metrics" >"$CASE/plain"
  assert_has 'Content-Encoding: gzip' "$(cat "$CASE/head")"
  assert_has 'Vary: Accept, Accept-Encoding' "$(cat "$CASE/head")"
  assert_has 'tally_us_seconds_count{interface="web"} 3' "$(cat "$CASE/plain")"
  curl -s -H "$TOKEN" "$WEB/metrics?interface=db" >"$CASE/answer"
  assert_has 'interface="db"' "$(cat "$CASE/answer")"
  assert_has_not 'interface="web"' "$(cat "$CASE/answer")"
  assert_has 'tally_metrics_series 5' "$(cat "$CASE/answer")"
  # One that is not there is an error of the configuration, unless others of the request are.
  send 'create quiet/us type=raw entries_max=2'
  assert_eq '200 200' "$(http_status -H "$TOKEN" "$WEB/metrics?interface=nope&interface=db"
    ) $(http_status -H "$TOKEN" "$WEB/metrics?interface=quiet")"
  for name in nope .. ../statistics/web %2e%2e%2fstatistics; do
    assert_eq 404 "$(http_status --path-as-is -H "$TOKEN" "$WEB/metrics?interface=$name")" "$name"
    assert_has 'no interface ' "$(cat "$CASE/answer")"
  done
}

# The limit is of what is asked for: the daemon's own numbers alone are more.
metrics_of_an_interface_are_there_beyond_the_limit() {
  local answer
  stop_daemon
  start_daemon --metrics-series-max 20
  send 'create a/hits on=1 units=requests' 'create z/hits on=1 units=requests' 'z/hits 1 7'
  _metrics() { curl -s -H "$TOKEN" "$WEB/metrics$1"; }
  answer=$(_metrics '')
  assert_has_not 'interface="z"' "$answer"
  assert_match '.*tally_metrics_omitted\{reason="limit"\} [1-9].*' "$answer"
  answer=$(_metrics '?interface=z')
  assert_has 'tally_hits_requests_total{interface="z"} 7' "$answer"
  assert_has_not 'interface="tallyfs"' "$answer"
  assert_has $'\ntally_metrics_series 1\n' "$answer"
  assert_has 'tally_metrics_omitted{reason="limit"} 0' "$answer"
  answer=$(_metrics '?interface=z&interface=a')
  assert_has $'{interface="a"} 0\ntally_hits_requests_total{interface="z"} 7\n' "$answer"
  assert_has $'\ntally_metrics_series 2\n' "$answer"
  # One that is too large by itself says so.
  answer=$(_metrics '?interface=tallyfs&interface=z')
  assert_has 'tally_hits_requests_total{interface="z"} 7' "$answer"
  assert_match '.*tally_metrics_omitted\{reason="limit"\} [1-9].*' "$answer"
}

names_keep_their_characters_for_scrapers_that_take_them() {
  local array='type=array scale=lin base_interval=1 range_min=0 range_max=1'
  send 'create x/page.views on=1' 'x/page.views 1' "create x/größe{http.code:200} on=1 $array"
  local accept='application/openmetrics-text;version=1.0.0;escaping='
  _metrics() { curl -s -H "$TOKEN" -H "Accept: $accept$1" "$WEB/metrics?interface=x"; }
  assert_has 'tally_page_views_total{interface="x"} 1' "$(_metrics allow-utf-8)"
  stop_web
  start_web --utf8-names
  _metrics allow-utf-8 >"$CASE/utf8"
  assert_has '# TYPE "tally_page.views" counter' "$(cat "$CASE/utf8")"
  assert_has '{"tally_page.views_total",interface="x"} 1' "$(cat "$CASE/utf8")"
  assert_has '{"tally_größe_value_bucket",interface="x","http.code"="200",le="+Inf"} 0' \
    "$(cat "$CASE/utf8")"
  assert_eq '# EOF' "$(tail -1 "$CASE/utf8")"
  # A name does not change with anything but what was asked for.
  assert_has 'tally_page_views_total{interface="x"} 1' "$(_metrics underscores)"
  assert_has 'tally_page_views_total{interface="x"} 1' "$(curl -s -H "$TOKEN" "$WEB/metrics")"
}

a_daemon_that_is_gone_is_503() {
  kill_daemon
  assert_eq 503 "$(http_status -H "$TOKEN" "$WEB/metrics")"
  wait_until '[ "$(http_status "$WEB/healthz")" = 503 ]'
  assert_eq 503 "$(http_status -H "$TOKEN" "$WEB/api/1/statistics")"
  assert_has 'the daemon of this mount is dead' "$(jq -r .error "$CASE/answer")"
  fusermount3 -u -z "$MNT" 2>/dev/null || umount -l "$MNT"
  rm -f "$SOCK"
  start_daemon
  wait_until '[ "$(http_status "$WEB/healthz")" = 200 ]'
  assert_eq tallyfs "$(api statistics | jq -r '.interfaces[].interface')"
}

a_daemon_that_hangs_is_503_in_time() {
  freeze "$SERVER"
  assert_eq 503 "$(http_status --max-time 30 -H "$TOKEN" "$WEB/metrics")"
  assert_eq 503 "$(http_status --max-time 30 "$WEB/healthz")"
  assert_eq 404 "$(http_status --max-time 30 "$WEB/nothing")"
  # A scraper says when it gives up; it has an answer before.
  _milliseconds() { curl -s -o "$CASE/answer" -w '%{time_total}' "$@" "$WEB/metrics" | tr -d .; }
  wait_until '[ $((10#$(_milliseconds -H "$TOKEN" -H "X-Prometheus-Scrape-Timeout-Seconds: 1"))) \
    -lt $((10#$(_milliseconds -H "$TOKEN"))) ]'
  kill -CONT "$SERVER"
  wait_until '[ "$(http_status "$WEB/healthz")" = 200 ]'
  stop_web
}
