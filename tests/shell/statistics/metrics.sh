# metrics/: what Prometheus and its relatives read.

_prom() { cat "$MNT/metrics/tallyfs.prom"; }
# Of each type, in two interfaces, with units and labels.
_makes_metrics() {
  local interface
  for interface in web dns; do
    send "create $interface/hits{route:checkout,k2} on=1 units=requests" \
      "create $interface/busy on=1 mode=products units=milliseconds/requests" \
      "create $interface/net on=1 mode=products" \
      "create $interface/status on=1 type=list entries_max=3 units=status/requests" \
      "create $interface/latency_us on=1 type=array scale=log2 base_interval=1 range_min=0 range_max=9000000000000000000 units=microseconds/requests" \
      "create $interface/depth on=1 type=array scale=lin base_interval=1 range_min=-3 range_max=3" \
      "create $interface/size on=1 type=array scale=log2 base_interval=8 range_min=0 range_max=9000000000000000000 units=bytes/requests" \
      "create $interface/read on=1 type=range units=KiB/reads" \
      "create $interface/wait on=1 type=quantiles precision=3 quantiles=50,99 units=microseconds/waits" \
      "create $interface/heat on=1 type=last units=celsius/readings" \
      "create $interface/trail on=1 type=raw entries_max=3" \
      "create $interface/by_second on=1 type=history mode=increments period=1000 entries_max=9" \
      "create $interface/p99 on=1 type=history mode=quantiles period=1000 entries_max=9 precision=3 quantiles=99.9 units=seconds/calls"
  done
}
_feeds() {
  local each
  for each in hits{route:checkout,k2} busy status latency_us size read wait trail by_second p99; do
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
om = {family.name: family for family in parse_om(read("tallyfs.om"))}
prom = {family.name: family for family in parse_prom(read("tallyfs.prom"))}
assert om.keys() == prom.keys(), om.keys() ^ prom.keys()
assert om["tally_latency_seconds"].unit == "seconds"
assert om["tally_latency_seconds"].type == "histogram"
EOF
  done
}

any_tree_is_accepted() {
  need promtool
  "$PYTHON" -c 'import prometheus_client' 2>/dev/null || skip 'python3-prometheus-client is missing'
  py "$MNT/metrics" <<'EOF'
import os, random, subprocess, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
from peer import Peer
seed = int(os.environ.get("TALLY_SEED", random.randrange(2**32)))
print(f"TALLY_SEED={seed}")
draw, peer = random.Random(seed), Peer()
TYPES = ["type=value", "type=value mode=products", "type=range", "type=list entries_max=9", "type=last",
         "type=raw entries_max=2", "type=quantiles precision=2 quantiles=50,99",
         "type=array base_interval=7 scale=lin range_min=-20 range_max=60",
         "type=array base_interval=1 scale=log2 range_min=0 range_max=9223372036854775807",
         "type=history mode=range entries_max=3 period=100",
         "type=history mode=quantiles entries_max=3 period=100 precision=2 quantiles=50,99.9"]
PARTS = ["a", "_total", "_count", "_sum", "_bucket", "_created", "_info", "_seconds", "_us", ".b", "読み",
         "{k:v}", "{le:1,k}", "{a:%FF%0A%22}", "{*}", "~t", "9", "-", '"', "\\", "#"]
UNITS = ["", "microseconds/requests", "bytes", "KiB/reads", "percent/x", "bits/seconds", "count/total",
         "読/#", "a b".replace(" ", "+"), "seconds/", "thousandths/bytes"]
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
    checked = subprocess.run(["promtool", "check", "metrics"], stdin=file, capture_output=True, text=True)
assert checked.returncode in (0, 3), checked  # 3: names that the linter does not like
EOF
}

protobuf_says_what_the_text_says() {
  need protoc
  "$PYTHON" -c 'import prometheus_client' 2>/dev/null || skip 'python3-prometheus-client is missing'
  _makes_metrics
  _feeds
  for each in by_second p99; do define web "name=$each on=0"; define dns "name=$each on=0"; done
  cp "$here/client_model.proto" "$CASE/"
  py "$MNT/metrics" "$CASE" <<'EOF'
import re, subprocess, sys
from prometheus_client.parser import text_string_to_metric_families as parse
metrics, work = sys.argv[1:]
pb = open(f"{metrics}/tallyfs.pb", "rb").read()
text = open(f"{metrics}/tallyfs.prom", encoding="utf-8", newline="\n").read()

def varint(at):
    value = shift = 0
    while True:
        byte = pb[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at

def decode(message):
    """[(field, value or list)] of a message in protoc's text."""
    said = subprocess.run(["protoc", f"--proto_path={work}", "client_model.proto",
                           "--decode=io.prometheus.client.MetricFamily"], input=message, check=True, capture_output=True)
    stack, top = [], []
    for line in said.stdout.decode().splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = []
            top.append((line[:-1].strip(), inner))
            stack.append(top)
            top = inner
        elif line == "}":
            top = stack.pop()
        else:
            key, value = line.split(": ", 1)
            top.append((key, value))
    return top

one = lambda fields, key, default=None: next((v for k, v in fields if k == key), default)
all_of = lambda fields, key: [v for k, v in fields if k == key]
unquoted = lambda text: text[1:-1]
at, values, native = 0, {}, {}
while at < len(pb):
    size, at = varint(at)
    family = decode(pb[at:at + size])
    at += size
    name = unquoted(one(family, "name"))
    for metric in all_of(family, "metric"):
        labels = {unquoted(one(p, "name")): unquoted(one(p, "value")) for p in all_of(metric, "label")}
        key = lambda end, **more: (name + end, tuple(sorted({**labels, **more}.items())))
        for kind in ("counter", "gauge"):
            for found in all_of(metric, kind):
                values[key("")] = float(one(found, "value", "0"))
        for histogram in all_of(metric, "histogram"):
            values[key("_sum")] = float(one(histogram, "sample_sum", "0"))
            count = values[key("_count")] = float(one(histogram, "sample_count", "0"))
            values[key("_bucket", le="+Inf")] = count
            for bucket in all_of(histogram, "bucket"):
                le = float(one(bucket, "upper_bound", "0"))
                values[key("_bucket", le=le)] = float(one(bucket, "cumulative_count", "0"))
            if one(histogram, "schema") is not None:
                native[key("")] = histogram
wanted = {}
for family in parse(text):
    for sample in family.samples:
        labels = dict(sample.labels)
        if labels.get("le", "+Inf") != "+Inf":
            labels["le"] = float(labels["le"])
        if not sample.name.startswith("tally_metrics_render"):
            wanted[sample.name, tuple(sorted(labels.items()))] = sample.value
values = {key: value for key, value in values.items() if not key[0].startswith("tally_metrics_render")}
own = lambda all: {k: v for k, v in all.items() if ("interface", "tallyfs") not in k[1]}
assert own(values) == own(wanted), (own(values).items() ^ own(wanted).items())
web = (("interface", "web"),)
# Percentiles in the base unit; an array of microseconds fits no schema; one of bytes does.
wait = native["tally_wait_seconds", web]
assert one(wait, "schema") == "3" and one(wait, "zero_count") == "1", wait
assert ("tally_latency_seconds", web) not in native
size = native["tally_size_bytes", web]
assert one(size, "schema") == "0" and float(one(size, "zero_threshold")) == 8, size
assert one(size, "zero_count") == "2", size

def counts(histogram):
    """{index: count} of the positive buckets."""
    found, index, count = {}, 0, 0
    deltas = [int(d) for d in all_of(histogram, "positive_delta")]
    for span in all_of(histogram, "positive_span"):
        index += int(one(span, "offset", "0"))
        for _ in range(int(one(span, "length", "0"))):
            count += deltas.pop(0)
            if count:
                found[index] = count
            index += 1
    assert not deltas
    return found

assert counts(size) == {10: 2}, counts(size)
# 3 us and 1,000 us: 2**((i - 1) / 8) < x <= 2**(i / 8)
import math
place = lambda x: math.ceil(math.log2(x) * 8)
assert counts(wait) == {place(3e-6): 1, place(1e-3): 2}, counts(wait)
EOF
}

node_exporter_reads_a_mounted_file() {
  need prometheus-node-exporter curl
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
  text=$(curl -sS --max-time 30 "http://127.0.0.1:$port/metrics")
  kill "$exporter"
  assert_has 'node_textfile_scrape_error 0' "$text"
  assert_has 'tally_read_max_bytes{interface="web"} 1.024e+06' "$text"
}

are_0400_and_0444_on_request() {
  assert_eq 400 "$(stat -c %a "$MNT/metrics/tallyfs.pb")"
  stop_daemon
  start_daemon -o metrics_readable,metrics_created --metrics-prefix=node_ --metrics-series-max=70
  assert_eq '444 444 444' "$(stat -c %a "$MNT"/metrics/* | xargs)"
  assert_has 'node_metrics_series' "$(_prom)"
  assert_match '.*_created.*' "$(tr '\n' ' ' <"$MNT/metrics/tallyfs.om")"
  send 'create web/a on=1 type=array scale=lin base_interval=1 range_min=0 range_max=90'
  assert_has 'node_metrics_omitted{reason="limit"} 1' "$(_prom)"
  assert_has 'metrics-series-max' "$(errors)"
}

a_duplicate_is_told_once() {
  send 'create web/a.b on=1' 'create web/a_b on=1'
  assert_has 'tally_metrics_omitted{reason="duplicate"} 1' "$(_prom)"
  _prom >/dev/null
  assert_eq 1 "$(errors | grep -c 'left out')"
  assert_has web/a_b "$(errors)"
}

a_series_that_is_gone_is_not_in_the_next_text() {
  send 'create web/a on=1'
  assert_has 'interface="web"' "$(_prom)"
  rmdir "$STAT/web"
  assert_has_not 'interface="web"' "$(_prom)"
}
