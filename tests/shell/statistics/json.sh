# data.json and statistics.json: for programs what data and definition are for people.

# _of [INTERFACE]: asks jq about its data.json
_of() { jq -e "$2" "$STAT/$1/data.json"; }
_overview() { jq -e "$1" "$MNT/statistics.json"; }
# what statistics.json says of an interface: KEY
_of_interface() { _overview ".interfaces[] | select(.interface == \"$1\") | .$2"; }

_makes_each_type() {
  local history='on=1 type=history entries_max=3 period=1000'
  send 'create web/v on=1' 'create web/p on=1 mode=products' 'create web/r on=1 type=range' \
    'create web/l on=1 type=list entries_max=3' \
    'create web/a on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=4' \
    'create web/w on=1 type=raw entries_max=3' 'create web/g on=1 type=last' \
    'create web/q on=1 type=quantiles precision=5 quantiles=50,99.90' \
    "create web/h $history mode=increments" "create web/hp $history mode=products" \
    "create web/hr $history mode=range" \
    "create web/hq $history mode=quantiles precision=2 quantiles=1"
}

jq_and_python_read_each_type_empty_and_full() {
  need jq
  need_python
  _makes_each_type
  _of web '.statistics | length == 12' >/dev/null
  "$PYTHON" -m json.tool "$STAT/web/data.json" >"$CASE/empty"
  for each in v p r l a w g q h hp hr hq; do send "web/$each 3" "web/$each -2 5"; done
  _of web '[.statistics[].samples] == [2,2,2,2,2,2,2,2,2,2,2,2]' >/dev/null
  "$PYTHON" -m json.tool "$STAT/web/data.json" >"$CASE/full"
  "$PYTHON" -m json.tool "$MNT/statistics.json" >"$CASE/overview"
  assert_eq 1 "$(wc -l <"$STAT/web/data.json")" 'lines of data.json'
}

has_the_keys_of_the_definition_line() {
  need jq
  send 'create web/a on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=4 units=us/n'
  local keys=name,on,type,range_min,range_max,base_interval,scale,hits_out_of_range,data_us
  assert_eq "$keys,started_us,stopped_us,units,data_realtime_us,samples,values" \
    "$(jq -r '.statistics[0] | keys_unsorted | join(",")' "$STAT/web/data.json")"
  assert_eq interface,format,epoch,serial,time_us,realtime_us,uid,feed,statistics \
    "$(jq -r 'keys_unsorted | join(",")' "$STAT/web/data.json")"
}

the_ends_of_all_numbers_are_exact() {
  send 'create web/p on=1 mode=products' 'create web/r on=1 type=range' 'create web/v on=1'
  local most=9223372036854775807 least=-9223372036854775808 y=18446744073709551615
  send "web/r $least" "web/v 0 $y" "web/p $most $y" "web/p $most $y"
  py "$STAT/web/data.json" <<'EOF'
import json, sys
p, r, v = (each["values"] for each in json.load(open(sys.argv[1]))["statistics"])
assert p["total"] == 2**127 - 1, p
assert r["min"] == r["max"] == r["sum"] == -2**63, r
assert v["total"] == 2**64 - 1, v
EOF
}

a_reader_makes_data_and_definition_of_it_byte_for_byte() {
  py "$MNT" <<'EOF'
import os, random, sys
from data_json import data_of, definition_of, parse
from peer import Peer
mount = sys.argv[1]
seed = int(os.environ.get("TALLY_SEED", random.randrange(2**32)))
print(f"TALLY_SEED={seed}")
draw = random.Random(seed)
peer = Peer()

def send(line):
    peer.socket.send(line.encode())

UNITS = ['microseconds/requests', 'a', 'µs/読', 'x"y\\z']

def definition():
    kind = draw.choice(["value", "range", "list", "array", "history", "raw", "quantiles", "last"])
    words = [f"on={draw.choice([1, 1, 1, 0])} type={kind}"]
    low = draw.choice([-2**63, -50, 0, 1])
    high = draw.choice([2**63 - 1, 50, 1000])
    if kind == "array":
        low, high = draw.randrange(-50, 50), draw.randrange(60, 5000)
        words.append(f"base_interval={draw.randrange(1, 90)} scale={draw.choice(['lin', 'log2'])}")
    words.append(f"range_min={low} range_max={high}")
    mode = draw.choice(["increments", "products"])
    if kind == "history":
        mode = draw.choice(["increments", "products", "range", "quantiles"])
        words.append(f"period={draw.choice([100, 10_000, 1_000_000])}")
    if kind in ("value", "history"):
        words.append(f"mode={mode}")
    if kind in ("list", "raw", "history"):
        words.append(f"entries_max={draw.randrange(1, 40)}")
    if kind == "quantiles" or mode == "quantiles":
        words.append(f"precision={draw.randrange(9)}")
        words.append(f"quantiles={draw.choice(['50', '0.5,50,99.90', '1,2,3,4,5.0625'])}")
    if draw.random() < 0.5:
        words.append(f"units={draw.choice(UNITS)}")
    return " ".join(words)

names = ['s', 'a"b\\c', "読み取り", "e\u0301", "x" * 255, "}[],:", "<b>&'"]
for round in range(30):
    interface = f"{draw.choice(names)[:200]}.{round}"
    statistics = [f"{draw.choice(names)[:200]}{i}" for i in range(draw.randrange(1, 12))]
    for name in statistics:
        send(f"create {interface}/{name} {definition()}")
    if draw.random() < 0.5:
        send(f"create {interface}/view of={statistics[0]} type=range")
    for _ in range(draw.randrange(200)):
        x = draw.randrange(-2**63, 2**63) if draw.random() < 0.3 else draw.randrange(-99, 2000)
        send(f"{interface}/{draw.choice(statistics)} {x} {draw.choice([0, 1, 7, 2**64 - 1])}")
    def read(file):
        with open(f"{mount}/statistics/{interface}/{file}", encoding="utf-8") as f:
            return f.read()
    # Of one moment: nothing changed between the first reading and the last.
    while True:
        first = parse(read("data.json"))
        texts = read("definition"), read("data")
        if parse(read("data.json"))["serial"] == first["serial"]:
            break
        with open(f"{mount}/statistics/{interface}/definition", "w") as f:
            f.write("on=0\n")  # histories go on by themselves
    assert first["interface"] == interface
    assert (definition_of(first), data_of(first)) == texts, (first, texts)
EOF
}

samples_survive_what_a_user_does() {
  need jq
  send 'create web/x on=1 type=range range_max=9' 'web/x 1' 'web/x 100'
  define web 'name=x data=reset'
  define web 'name=x type=list entries_max=1'
  send 'web/x 1'
  define web on=0
  send 'web/x 1'
  assert_eq 3 "$(_of web '.statistics[0].samples')"
  assert_eq 3 "$(_of_interface web samples)"
}

the_serial_tells_whether_anything_changed() {
  need jq
  send 'create web/x on=1'
  local first
  first=$(_of web .serial)
  assert_eq "$first" "$(_of_interface web serial)"
  assert_eq "$first" "$(_of web .serial)"
  send 'web/x 1'
  assert_eq $((first + 1)) "$(_of web .serial)"
  define web range_max=5
  assert_eq $((first + 2)) "$(_of_interface web serial)"
}

statistics_json_has_each_interface_on_a_line() {
  need jq
  send 'create web/x on=1' 'create web/y' 'create b"読/x on=1' 'web/x 1'
  local keys=tallyfs,format,epoch,time_us,realtime_us,pid,socket,queue_length,tracefs,quotas,quota_limits
  assert_eq "$keys,interfaces" \
    "$(jq -r 'keys_unsorted | join(",")' "$MNT/statistics.json")"
  local rights='"uid":0,"feed":"any"'
  assert_eq '{"interface":"web","statistics":2,"on":1,"samples":1,"serial":3,'"$rights}," \
    "$(grep '"interface":"web"' "$MNT/statistics.json")"
  assert_has '{"interface":"b\"読","statistics":1,' "$(cat "$MNT/statistics.json")"
  assert_eq 4 "$(wc -l <"$MNT/statistics.json")"
  assert_eq "$SERVER \"$SOCK\" \"off\"" "$(_overview '.pid, .socket, .tracefs' | xargs -d '\n')"
  assert_eq "$(_of web .epoch)" "$(_overview .epoch)"
  assert_match '"[0-9a-f]{16}"' "$(_overview .epoch)"
  local uid
  uid=$(id -u)
  # Root has the daemon's own interface, too.
  _overview ".quotas == [{uid: $uid, interfaces: 3, statistics: (.quotas[0].statistics),
    bytes: (.quotas[0].bytes)}] and .quotas[0].bytes > 2048 * 3" >/dev/null
  _overview '.quota_limits == {uid: {interfaces: 65536, statistics: 262144, bytes: 268435456},
    all: {interfaces: 131072, statistics: 1048576, bytes: 1073741824}}' >/dev/null
}

another_daemon_has_another_epoch() {
  need jq
  local first
  first=$(_overview .epoch)
  stop_daemon
  start_daemon
  [ "$first" != "$(_overview .epoch)" ] || fail "two daemons with epoch $first"
}

an_interface_may_be_called_as_the_files_are() {
  send 'create data.json/data.json on=1' 'create statistics.json/x on=1' 'data.json/data.json 7'
  assert_has '"values":{"total":1}' "$(cat "$STAT/data.json/data.json")"
}

are_0400_and_have_the_size_of_their_text() {
  send 'create web/x on=1'
  local each
  for each in "$STAT/web/data.json" "$MNT/statistics.json"; do
    assert_eq 400 "$(stat -c %a "$each")"
    assert_eq "$(wc -c <"$each")" "$(stat -c %s "$each")"
  done
}

a_large_text_is_read_whole_and_bounded() {
  need_python
  send 'create web/x on=1 type=array base_interval=1 scale=lin range_min=1 range_max=65000'
  "$PYTHON" -c 'import json, sys
(x,) = json.load(open(sys.argv[1]))["statistics"]
assert len(x["values"]["counts"]) == 65001' "$STAT/web/data.json"
}
