# metrics/: what Prometheus and its relatives read.

_prom() { cat "$MNT/metrics/tallyfs.prom"; }
# Of each type, in two interfaces, with units and labels.
_makes_metrics() {
  local interface log2='type=array scale=log2 range_min=0 range_max=9000000000000000000'
  local history='type=history period=1000 entries_max=9'
  for interface in web dns; do
    send "create $interface/hits{route:checkout,k2} on=1 units=requests" \
      "create $interface/busy on=1 mode=products units=milliseconds/requests" \
      "create $interface/net on=1 mode=products" \
      "create $interface/status on=1 type=list entries_max=3 units=status/requests" \
      "create $interface/latency_us on=1 $log2 base_interval=1 units=microseconds/requests" \
      "create $interface/size on=1 $log2 base_interval=8 units=bytes/requests" \
      "create $interface/depth on=1 type=array scale=lin base_interval=1 range_min=-3 range_max=3" \
      "create $interface/read on=1 type=range units=KiB/reads" \
      "create $interface/wait on=1 type=quantiles precision=3 quantiles=50 units=microseconds/n" \
      "create $interface/heat on=1 type=last units=celsius/readings" \
      "create $interface/trail on=1 type=raw entries_max=3" \
      "create $interface/by_second on=1 $history mode=increments" \
      "create $interface/p99 on=1 $history mode=quantiles precision=3 quantiles=99 units=seconds/n"
  done
}
_feeds() {
  local each of=(busy status latency_us size read wait trail by_second p99)
  for each in 'hits{route:checkout,k2}' "${of[@]}"; do
    send "web/$each 3" "web/$each 1000 2" "web/$each 0"
  done
  send 'web/heat -40' 'web/net 5' 'web/net -7' 'web/depth -2' 'web/depth 9'
}

has_each_type() {
  _makes_metrics
  _feeds
  local text
  text=$(_prom)
  assert_has $'\ntally_hits_requests_total{interface="web",k2="true",route="checkout"} 4\n' "$text"
  assert_has $'\ntally_busy_summed_seconds_total{interface="web"} 2.003\n' "$text"
  assert_has $'\ntally_net_net{interface="web"} -2\n' "$text"
  assert_has $'\ntally_status_requests_total{interface="web",value="1000"} 2\n' "$text"
  assert_has $'\ntally_latency_seconds_bucket{interface="web",le="4e-06"} 2\n' "$text"
  assert_has $'\ntally_latency_seconds_sum{interface="web"} 0.002003\n' "$text"
  assert_has $'\ntally_read_max_bytes{interface="web"} 1024000\n' "$text"
  assert_has $'\ntally_wait_seconds_count{interface="web"} 4\n' "$text"
  assert_has $'\ntally_heat_last_celsius{interface="web"} -40\n' "$text"
  assert_has $'\ntally_metrics_omitted{reason="raw"} 2\n' "$text"
  assert_has_not trail "$text"
}

_help_of() { grep "^# HELP $1 " "$MNT/metrics/tallyfs.$2"; }
_needs_valid_metrics() {
  if command -v promtool >/dev/null; then promtool check metrics <"$MNT/metrics/tallyfs.prom"; fi
}

says_the_help_of_statistics() {
  send 'create web/hits on=1 help=Pages%20%22seen%22%20in%20C:\all' 'create dns/hits on=1'
  send 'create web/wait_us on=1 type=range units=microseconds/n help=Time'
  local quoted='"seen"' escaped='\"seen\"'
  assert_eq "# HELP tally_hits_total Pages $quoted in C:\\\\all" "$(_help_of tally_hits_total prom)"
  assert_eq "# HELP tally_hits Pages $escaped in C:\\\\all" "$(_help_of tally_hits om)"
  assert_eq '# HELP tally_wait_seconds Time' "$(_help_of tally_wait_seconds prom)"
  assert_has 'Pages "seen" in C:\all' "$(cat "$MNT/metrics/tallyfs.pb" | tr -d '\0')"
  _needs_valid_metrics
}

two_helps_of_a_family_are_none() {
  send 'create web/hits on=1 help=Pages' 'create dns/hits on=1 help=Names' 'create x/hits on=1'
  assert_eq '# HELP tally_hits_total Total of a statistic of tallyfs.' \
    "$(_help_of tally_hits_total prom)"
  define dns 'name=hits help=Pages'
  assert_eq '# HELP tally_hits_total Pages' "$(_help_of tally_hits_total prom)"
  # Files of one interface do not know what the others say.
  assert_has '# HELP tally_hits_total Total of a statistic of tallyfs.' \
    "$(cat "$MNT/metrics/prom/web")"
}

help_has_no_control_bytes() {
  send 'create web/hits on=1 help=a%0A%1B%7F%ff%c3%a4%3Cscript%3E'
  assert_eq $'# HELP tally_hits_total a%0A%1B%7F\xef\xbf\xbd\xc3\xa4<script>' \
    "$(_help_of tally_hits_total prom)"
  _needs_valid_metrics
}

has_a_file_for_each_interface() {
  _makes_metrics
  _feeds
  assert_eq $'dns\ntallyfs\nweb' "$(ls "$MNT/metrics/prom")"
  local text
  text=$(cat "$MNT/metrics/prom/web")
  # But those of a period, which passes meanwhile.
  _web() { grep '{interface="web"' | grep -v -e by_second -e p99 | sort; }
  assert_eq "$(_prom | _web)" "$(_web <<<"$text")"
  assert_has_not 'interface="dns"' "$text"
  assert_eq '# EOF' "$(tail -1 "$MNT/metrics/om/web")"
  [ "$(stat -c %a "$MNT/metrics/pb/dns")" = 400 ] || fail 'others may read it'
  _read() { cat "$MNT/metrics/prom/$1"; }
  assert_fails_with 'No such file' _read nothing
  rmdir "$STAT/web"
  assert_fails_with 'No such file' _read web
  send 'web/new 1'
  assert_has 'tally_new_' "$(_read web)"
}

promtool_accepts_the_text() {
  need promtool
  _makes_metrics
  promtool check metrics <"$MNT/metrics/tallyfs.prom"
  _feeds
  promtool check metrics <"$MNT/metrics/tallyfs.prom"
}

the_python_client_reads_both_texts() {
  need_python
  "$PYTHON" -c 'import prometheus_client' 2>/dev/null || skip 'python3-prometheus-client is missing'
  _makes_metrics
  local i
  for i in empty full; do
    [ $i = empty ] || _feeds
    py "$MNT/metrics" <<'EOF'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_om
from prometheus_client.parser import text_string_to_metric_families as parse_prom
read = lambda name: open(f"{sys.argv[1]}/{name}", encoding="utf-8", newline="\n").read()
def by_name(families):
    """But those of the daemon alone: each open changes its numbers."""
    return {family.name: family for family in families
            if {sample.labels.get("interface") for sample in family.samples} != {"tallyfs"}}
om, prom = by_name(parse_om(read("tallyfs.om"))), by_name(parse_prom(read("tallyfs.prom")))
assert om.keys() == prom.keys(), om.keys() ^ prom.keys()
assert om["tally_latency_seconds"].unit == "seconds"
assert om["tally_latency_seconds"].type == "histogram"
EOF
  done
}

any_tree_is_accepted() {
  need promtool protoc
  "$PYTHON" -c 'import prometheus_client' 2>/dev/null || skip 'python3-prometheus-client is missing'
  py "$MNT/metrics" <<'EOF'
import os, random, subprocess, sys
from client_model import read_series, steady, values_of
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
from prometheus_client.parser import text_string_to_metric_families as parse_prom
from peer import Peer
seed = int(os.environ.get("TALLY_SEED", random.randrange(2**32)))
print(f"TALLY_SEED={seed}")
draw, peer = random.Random(seed), Peer()
HISTORY = "type=history entries_max=3 period=100"
TYPES = ["type=value", "type=value mode=products", "type=range", "type=list entries_max=9",
         "type=last", "type=raw entries_max=2", "type=quantiles precision=2 quantiles=50,99",
         "type=array base_interval=7 scale=lin range_min=-20 range_max=60",
         "type=array base_interval=1 scale=log2 range_min=0 range_max=9223372036854775807",
         f"{HISTORY} mode=range", f"{HISTORY} mode=quantiles precision=2 quantiles=50,99.9"]
PARTS = ["a", "_total", "_count", "_sum", "_bucket", "_created", "_info", "_seconds", "_us", ".b",
         "読み", "{k:v}", "{le:1,k}", "{a:%FF%0A%22}", "{*}", "~t", "9", "-", '"', "\\", "#"]
UNITS = ["", "microseconds/requests", "bytes", "KiB/reads", "percent/x", "bits/seconds",
         "count/total", "読/#", "a+b", "seconds/", "thousandths/bytes"]
for interface in ["web", 'd"\\n', "読み"]:
    for _ in range(60):
        name = "".join(draw.choice(PARTS) for _ in range(draw.randrange(1, 4)))
        units = draw.choice(UNITS)
        line = f"create {interface}/{name} on=1 {draw.choice(TYPES)} units={units}"
        peer.socket.send(line.encode())
        for _ in range(draw.randrange(4)):
            x = draw.choice([0, -5, 3, 900, 2**63 - 1, -2**63])
            peer.socket.send(f"{interface}/{name} {x} {draw.choice([0, 1, 2**64 - 1])}".encode())
with open(f"{sys.argv[1]}/tallyfs.om", encoding="utf-8", newline="\n") as file:
    families = list(parse(file.read()))
assert len(families) > 20
with open(f"{sys.argv[1]}/tallyfs.prom", "rb") as file:
    checked = subprocess.run(["promtool", "check", "metrics"], stdin=file, capture_output=True)
assert checked.returncode in (0, 3), checked  # 3: names that the linter does not like
with open(f"{sys.argv[1]}/tallyfs.prom", encoding="utf-8", newline="\n") as file:
    text = steady(values_of(parse_prom(file.read())))
values = steady(read_series(f"{sys.argv[1]}/tallyfs.pb")[0])
assert text == values, text.items() ^ values.items()
EOF
}

protobuf_says_what_the_text_says() {
  need protoc
  "$PYTHON" -c 'import prometheus_client' 2>/dev/null || skip 'python3-prometheus-client is missing'
  _makes_metrics
  _feeds
  py "$MNT/metrics" <<'EOF'
import math, sys
from client_model import one, positive_counts, read_series, steady, values_of
from prometheus_client.parser import text_string_to_metric_families as parse
values, native = read_series(f"{sys.argv[1]}/tallyfs.pb")
with open(f"{sys.argv[1]}/tallyfs.prom", encoding="utf-8", newline="\n") as file:
    wanted = steady(values_of(parse(file.read())))
assert steady(values) == wanted, steady(values).items() ^ wanted.items()
assert ("tally_p99_period_samples", frozenset({("interface", "web")})) in values
# An array of microseconds fits no schema; one of bytes does.
web = frozenset({("interface", "web")})
assert ("tally_latency_seconds", web) not in native
size = native["tally_size_bytes", web]
assert one(size, "schema") == "0" and float(one(size, "zero_threshold")) == 8, size
assert one(size, "zero_count") == "2" and positive_counts(size) == {10: 2}, size
# Percentiles have theirs in the base unit.
wait = native["tally_wait_seconds", web]
assert one(wait, "schema") == "3" and one(wait, "zero_count") == "1", wait
index = lambda seconds: math.ceil(math.log2(seconds) * 8)
assert positive_counts(wait) == {index(3e-6): 1, index(1e-3): 2}, wait
EOF
}

native_histograms_agree_with_the_percentiles_shown() {
  need protoc
  local shown='quantiles=0.1,50,90,99,99.9,99.99' precision type
  for precision in 0 3 8; do
    type="type=quantiles precision=$precision $shown"
    send "create web/us$precision on=1 $type units=microseconds/n" \
      "create web/kib$precision on=1 $type units=KiB/n" \
      "create web/plain$precision on=1 $type"
  done
  py "$MNT" <<'EOF'
import json, math, os, random, sys
from fractions import Fraction
from client_model import counts_below, one, positive_counts, read_series
from peer import Peer
seed = int(os.environ.get("TALLY_SEED", random.randrange(2**32)))
print(f"TALLY_SEED={seed}")
draw, peer = random.Random(seed), Peer()
with open(f"{sys.argv[1]}/statistics/web/data.json", encoding="utf-8") as file:
    names = [each["name"] for each in json.load(file)["statistics"]]
for name in names:
    for _ in range(400):
        x = draw.choice([0, draw.randrange(100), int(draw.lognormvariate(8, 3)),
                         -int(draw.lognormvariate(3, 3))])
        peer.socket.send(f"web/{name} {x} {draw.randrange(1, 4)}".encode())
assert peer.ask("") == (0, 0)  # all is taken in: both readings show the same
with open(f"{sys.argv[1]}/statistics/web/data.json", encoding="utf-8") as file:
    shown = {each["name"]: each["values"] for each in json.load(file)["statistics"]}
_, native = read_series(f"{sys.argv[1]}/metrics/tallyfs.pb")
FACTORS = {"us": ("seconds", Fraction(1, 10**6)), "kib": ("bytes", Fraction(1024)),
           "plain": ("value", Fraction(1))}

def close(a, b):
    return abs(a - b) <= max(1, abs(b) * 1e-9)

for name in names:
    kind, precision = name[:-1], int(name[-1])
    unit, factor = FACTORS[kind]
    histogram = native[f"tally_{kind}{precision}_{unit}", frozenset({("interface", "web")})]
    values = shown[name]
    assert int(one(histogram, "schema", "0")) == precision
    assert int(one(histogram, "sample_count")) == values["count"]
    edge = lambda index: math.floor(2 ** (index / 2**precision) / float(factor) + 1e-6)
    # The greatest X of each bucket, ascending, and its count.
    buckets = [(-edge(i - 1) - 1, count) for i, count in reversed(counts_below(histogram).items())]
    buckets += [(0, int(one(histogram, "zero_count", "0")))]
    buckets += [(edge(i), count) for i, count in positive_counts(histogram).items()]
    for quantile in values["quantiles"]:
        rank = max(1, math.ceil(Fraction(str(quantile["q"])) / 100 * values["count"]))
        for end, count in buckets:
            rank -= count
            if rank <= 0:
                break
        assert close(quantile["value"], min(end, values["max"])), (name, quantile, end, values)
EOF
}

node_exporter_reads_a_mounted_file() {
  need prometheus-node-exporter
  _makes_metrics
  _feeds
  mkdir "$CASE/textfiles"
  ln -s "$MNT/metrics/tallyfs.prom" "$CASE/textfiles/tallyfs.prom"
  prometheus-node-exporter --collector.disable-defaults --collector.textfile \
    --collector.textfile.directory="$CASE/textfiles" --web.listen-address=127.0.0.1:0 \
    --log.format=json 2>"$CASE/exporter" &
  local exporter=$! port='' text
  wait_until "grep -q '\"address\"' '$CASE/exporter'"
  port=$(sed -n 's/.*"address":"127.0.0.1:\([0-9]*\)".*/\1/p' "$CASE/exporter" | head -1)
  text=$("$PYTHON" -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())' \
    "http://127.0.0.1:$port/metrics")
  kill "$exporter"
  assert_has 'node_textfile_scrape_error 0' "$text"
  assert_has 'tally_read_max_bytes{interface="web"} 1.024e+06' "$text"
}

are_0400_and_0444_on_request() {
  assert_eq 400 "$(stat -c %a "$MNT/metrics/tallyfs.pb")"
  stop_daemon
  start_daemon -o metrics_readable,metrics_created --metrics-prefix=node_ --metrics-series-max=70
  assert_eq 444 "$(stat -c %a "$MNT"/metrics/tallyfs.* | sort -u)"
  # More than one would be the same numbers twice to a collector that is given the directory.
  assert_eq tallyfs.prom "$(cd "$MNT/metrics"; echo *.prom)"
  assert_has 'node_metrics_series' "$(_prom)"
  assert_match '.*_created.*' "$(tr '\n' ' ' <"$MNT/metrics/tallyfs.om")"
  send 'create web/a on=1 type=array scale=lin base_interval=1 range_min=0 range_max=90'
  assert_has 'node_metrics_omitted{reason="limit"} 1' "$(_prom)"
  assert_has 'metrics-series-max' "$(errors)"
}

# To make a text takes long, and a user that may read it may ask for its size again and again.
to_users_the_size_is_that_of_the_last_text() {
  need_root
  need setpriv
  stop_daemon
  start_daemon -o allow_other,metrics_readable
  local path=$MNT/metrics/tallyfs.prom size
  assert_eq 0 "$(as_nobody stat -c %s "$path")"
  cat "$path" >/dev/null
  size=$(as_nobody stat -c %s "$path")
  [ "$size" -gt 0 ]
  send 'web/new 1'
  assert_eq "$size" "$(as_nobody stat -c %s "$path")"
  cat "$path" >/dev/null
  [ "$(as_nobody stat -c %s "$path")" -gt "$size" ]
  assert_has tally_ "$(as_nobody cat "$path")"
}

a_group_reads_them() {
  need_root
  need setpriv
  local member='setpriv --reuid=nobody --regid=nogroup --groups=4711 --'
  stop_daemon
  start_daemon -o allow_other --group 4711
  assert_eq '750 4711 440 4711' "$(stat -c '%a %g' "$MNT"/metrics{,/tallyfs.om} | xargs)"
  assert_has tally_ "$($member cat "$MNT/metrics/tallyfs.prom")"
  assert_fails_with 'Permission denied' as_nobody cat "$MNT/metrics/tallyfs.prom"
  stop_daemon
  start_daemon -o allow_other,metrics_readable --group 4711
  assert_eq '755 444' "$(stat -c %a "$MNT"/metrics{,/tallyfs.om} | xargs)"
  assert_has tally_ "$(as_nobody cat "$MNT/metrics/tallyfs.prom")"
}

a_duplicate_is_told_once() {
  send 'create web/a.b on=1' 'create web/a_b on=1'
  assert_has 'tally_metrics_omitted{reason="duplicate"} 1' "$(_prom)"
  _prom >/dev/null
  assert_eq 1 "$(errors | grep -c 'left out')"
  assert_has web/a_b "$(errors)"
  assert_has 'left out: web/a.b has this name there' "$(errors)"
}

a_series_that_is_gone_is_not_in_the_next_text() {
  send 'create web/a on=1'
  assert_has 'interface="web"' "$(_prom)"
  rmdir "$STAT/web"
  assert_has_not 'interface="web"' "$(_prom)"
}
