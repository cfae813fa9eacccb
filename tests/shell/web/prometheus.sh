# A real Prometheus scrapes tally-web, with and without native histograms.

. "$here/web_lib.sh"

_set_up() {
  need curl
  need jq
  need ss
  need prometheus
  start_daemon
  send 'create web/us type=quantiles precision=4 quantiles=50 on=1 units=microseconds/requests' \
    'create web/hits on=1 units=requests'
  # 1 to 1,000: the median is 500 us.
  seq 1000 | sed 's/^/web\/us /' | split -l 200 - "$CASE/samples."
  local each
  for each in "$CASE"/samples.*; do send_file "$each"; done
  send 'web/hits 1' 'web/hits 1'
  start_web
  cat >"$CASE/prometheus.yml" <<EOF
scrape_configs:
  - job_name: tallyfs
    scrape_interval: 1s
    authorization: {credentials_file: $CASE/run/web-token}
    static_configs: [{targets: ["${WEB#http://}"]}]
rule_files: [$(cd "$here/../.." && pwd)/packaging/prometheus/tallyfs.rules.yml]
EOF
}
_tear_down_prometheus() { kill -TERM "$PROMETHEUS" && wait "$PROMETHEUS" || true; }

# _start_prometheus [OPTION...]: on any free port; $QUERY is its address for queries.
_start_prometheus() {
  TZ=UTC GOMAXPROCS=1 prometheus --config.file="$CASE/prometheus.yml" \
    --storage.tsdb.path="$CASE/tsdb" --web.listen-address=127.0.0.1:0 \
    --web.console.templates="$CASE" --web.console.libraries="$CASE" "$@" \
    >"$CASE/prometheus.log" 2>&1 &
  PROMETHEUS=$!
  echo "$PROMETHEUS" >>"$CASE/pids"
  local port=''
  _port() { port=$(ss -Hltnp | sed -n "s/.* 127\.0\.0\.1:\([0-9]*\) .*pid=$PROMETHEUS,.*/\1/p"); }
  wait_until '_port; [ "$port" ]' 60
  QUERY=http://127.0.0.1:$port/api/v1/query
}
# _query EXPRESSION: the value of the only series, or nothing.
_query() {
  curl -s --get --data-urlencode "query=$1" "$QUERY" |
    jq -r '.data.result | if length == 1 then .[0].value[1] else empty end'
}
_becomes() { wait_until "[ \"\$(_query '$1')\" = $2 ]" 60; }

prometheus_scrapes_openmetrics() {
  _start_prometheus
  _becomes 'up{job="tallyfs"}' 1
  _becomes 'tally_hits_requests_total{interface="web"}' 2
  _becomes 'tally_us_seconds_count{interface="web"}' 1000
  _becomes 'count(tally_web_requests_total{code="200",format="om"})' 1
  # A reset is a total that fell.
  define web data=reset
  send 'web/hits 1'
  _becomes 'tally_hits_requests_total{interface="web"}' 1
  _becomes 'resets(tally_hits_requests_total{interface="web"}[5m])' 1
  _tear_down_prometheus
}

prometheus_sees_a_daemon_that_is_gone_and_comes_back() {
  _start_prometheus
  _becomes 'up{job="tallyfs"}' 1
  stop_daemon
  _becomes 'up{job="tallyfs"}' 0
  start_daemon
  send 'create web/hits on=1 units=requests' 'web/hits 1'
  _becomes 'up{job="tallyfs"}' 1
  _becomes 'tally_hits_requests_total{interface="web"}' 1
  _tear_down_prometheus
}

# Buckets grow by 2^(1/16), and interpolation stays inside of one.
prometheus_has_percentiles_of_native_histograms() {
  _start_prometheus --enable-feature=native-histograms
  _becomes 'up{job="tallyfs"}' 1
  local median=''
  _ask() { median=$(_query 'histogram_quantile(0.5, tally_us_seconds{interface="web"})'); }
  wait_until '_ask; [ "$median" ]' 60
  awk -v got="$median" \
    'BEGIN { step = 2 ^ (1 / 16); exit !(got > 5e-4 / step && got < 5e-4 * step) }' ||
    fail "the median is $median"
  local rule found
  for rule in 'p50 < 1us' 'avg < 1us' 'count < 1'; do
    rule=$("${TALLY_BIN:+$TALLY_BIN/}tallyctl" --mount "$MNT" check --print-rule "web/us $rule" |
      sed -n 's/^ *expr: "\(.*\)"$/\1/p' | tr -d '\\')
    found=$(_query "$rule")
    [ "$found" ] || fail "nothing is found by $rule"
  done
  _becomes 'count(tally_web_requests_total{code="200",format="pb"})' 1
  _tear_down_prometheus
}

# Statistics as the ready-made feeders make them, of two disks and of two CPUs at least; and those
# that an earlier tally-feed-timer has left.
every_query_of_dashboard_and_alerts_finds_something() {
  local project array each names
  project=$(cd "$here/../.." && pwd)
  array='on=1 type=array scale=log2 base_interval=1 range_min=0 range_max=1048576'
  names=(block-{vda,vdb}/latencies_{read,write} 'timer/lateness{cpu:4000}' timer/lateness_cpu{0,1})
  for each in "${names[@]}"; do
    send "create $each $array units=microseconds/wakeups" "$each 120" "$each 3000"
  done
  "${TALLY_BIN:+$TALLY_BIN/}tally-feed-timer" --socket "$SOCK" >/dev/null 2>&1 &
  echo $! >>"$CASE/pids"
  wait_until 'grep -q "^lateness{cpu:[0-9]*} .* [1-9]" "$STAT/timer/data"'
  echo 'global: {evaluation_interval: 1s}' >>"$CASE/prometheus.yml"
  _start_prometheus
  _becomes 'count_over_time(tally_lateness_seconds_count{cpu="4000"}[1m]) >= bool 3' 1
  _becomes 'count(tally_lateness_seconds_count) >= bool 2' 1
  _rules() { curl -s "${QUERY%/query}/rules" | jq -r ".data.groups[].rules[] | $1"; }
  # All of them are evaluated with these samples.
  local since stale
  since=$(date +%s)
  stale="select(.lastEvaluation | sub(\"[.].*\"; \"Z\") | fromdate <= $since)"
  wait_until '[ "$(_rules "$stale")" = "" ]' 60
  assert_eq 8 "$(_rules .health | wc -l)"
  assert_eq '' "$(_rules 'select(.health != "ok")')" 'rules that fail'
  assert_eq '' "$(_rules 'select(.labels.severity == null or .annotations.description == null)')" \
    'rules without a severity or a description'
  promtool check rules "$project/packaging/prometheus/tallyfs.rules.yml" >"$CASE/rules" ||
    fail "$(cat "$CASE/rules")"
  {
    jq -r '.panels[].targets[]?.expr' "$project/packaging/prometheus/tallyfs.dashboard.json" |
      sed 's/\$__rate_interval/1m/g; s/\$instance/.*/g; s/\$interface/timer/g' |
      sed 's/\${family}/tally_lateness_seconds/g'
    # Of alerts what they compare: it is there while none of them fires.
    curl -s "${QUERY%/query}/rules" | jq -r '.data.groups[].rules[].query' |
      sed 's/ and /\n/' | sed -E 's/ (>=?|==) [0-9.]+$//'
  } >"$CASE/queries"
  [ "$(wc -l <"$CASE/queries")" -ge 31 ] || fail "queries are missing: $(cat "$CASE/queries")"
  # A scrape that a busy machine cuts leaves no series until the next one.
  while read -r each; do
    wait_until "_finds_something $(printf %q "$each")" 60
  done <"$CASE/queries"
  _tear_down_prometheus
}
_finds_something() {
  curl -s --get --data-urlencode "query=$1" "$QUERY" |
    jq -e '.status == "success" and (.data.result | length > 0)' >/dev/null
}
