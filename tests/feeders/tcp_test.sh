#!/usr/bin/env bash
# tally-feed-tcp, as an unprivileged user if root: a real transfer over the loopback, against what
# ss says of it.
. "$(dirname "$0")/lib.sh"

command -v ss >/dev/null || skip_all "ss is not installed"
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
as_nobody=()
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
  install -m 755 "$BIN/tally-feed-tcp" "$WORK/tally-feed-tcp" && BIN_OF_NOBODY=$WORK
fi
STATS=$MNT/stats/tcp

# Sends 64 MiB in bursts, says its ports, and then keeps the connection until it is told to end.
cat >"$WORK/transfer.py" <<'EOT'
import socket, sys, threading, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
taken, _ = server.accept()
def drain():
    while taken.recv(1 << 20):
        pass
threading.Thread(target=drain, daemon=True).start()
print(client.getsockname()[1], server.getsockname()[1], flush=True)
for _ in range(16):
    client.sendall(bytes(4 << 20))
    time.sleep(0.03)
print("sent", flush=True)
sys.stdin.read(1)
EOT
mkfifo "$WORK/tell" "$WORK/hear"
start_transfer() {
  python3 "$WORK/transfer.py" <"$WORK/tell" >"$WORK/hear" &
  TRANSFER=$!
  STARTED+=("$TRANSFER")
  exec 7>"$WORK/tell" 8<"$WORK/hear"
  read -r -t 20 CLIENT SERVER <&8
  OBJECT=127.0.0.1:$CLIENT-127.0.0.1:$SERVER
}
end_transfer() { exec 7>&-; wait "$TRANSFER"; forget "$TRANSFER"; exec 8<&-; }

# of OBJECT EXPRESSION: of its JSON, in Python, with `vois`.
of() { python3 -c 'import json, sys; vois = {k: v["stats"] for k, v in json.load(open(sys.argv[1]))["vois"].items()}; print('"$2"')' "$STATS/$1.json"; }
# Sums and so on of a VOI. Those that no sample has changed are null: the worst then.
number() { of "$1" "(vois['$2']['$3'] or {'val': 0})['val']"; }
_in_buckets() { echo "sum(b['cnt'] for b in (vois['$1']['HIST'] or {'bkts': []})['bkts'])"; }
samples() { of "$1" "$(_in_buckets "$2")"; }
between() { awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN { exit !(low <= x && x <= high) }'; }

start_daemon
start "${as_nobody[@]}" "${BIN_OF_NOBODY:-$BIN}/tally-feed-tcp" --socket "$SOCK" --period-ms 20
FEEDER=$PID
start_transfer
check "a connection has an object" wait_until '[ -s "$STATS/$OBJECT.json" ]'
check "TCP_DEFAULT is among the templates" grep -q '"TCP_DEFAULT":[0-9]' "$MNT/stats/templates"
check "its rate is what the feeder began with" grep -qE '^"TCP_DEFAULT":[0-9]+=100$' \
  "$STATS/sample_rates"
read -r -t 20 _ <&8
said=$(ss -tin "sport = :$CLIENT and dport = :$SERVER" | tail -1)
# Of what does not change any more while nothing is sent, at least one sample is taken in after ss.
seen=$(samples "$OBJECT" SND_CWND)
check "it is sampled while its file is read" wait_until \
  '[ "$(samples "$OBJECT" SND_CWND)" -ge $((seen + 3)) ]'
field() { grep -oE "\b$1[: ][0-9.]+" <<<"$said" | head -1 | grep -oE '[0-9.]+$'; }
retransmits=$(grep -oE 'retrans:[0-9]+/[0-9]+' <<<"$said" | cut -d/ -f2)
check_eq "${retransmits:-0}" "$(number "$OBJECT" RETRANS SUM)" \
  "segments that were sent again are those of ss"
rtt_us=$(awk -v ms="$(field rtt)" 'BEGIN { printf "%.0f", ms * 1000 }')
echo "# ss: rtt $rtt_us us, cwnd $(field cwnd), retransmits ${retransmits:-0}, delivery $(grep -oE \
  'delivery_rate [0-9.]+[A-Za-z]+' <<<"$said")"
check "the round-trip time of ss is between least and largest" between \
  "$(number "$OBJECT" RTT_US MIN)" "$rtt_us" "$(number "$OBJECT" RTT_US MAX)"
check "so is the congestion window" between "$(number "$OBJECT" SND_CWND MIN)" "$(field cwnd)" \
  "$(number "$OBJECT" SND_CWND MAX)"
# Shown with three or more digits, in bits: 43.7Gbps.
rate=$(grep -oE 'delivery_rate [0-9.]+[GMK]?bps' <<<"$said" |
  sed -E 's/.* //; s/bps//; s/G/e9/; s/M/e6/; s/K/e3/')
check "so is the delivery rate, as far as ss shows it" \
  between "$(number "$OBJECT" DELIVERY_RATE MIN | awk '{ print $1 * 8 * 0.99 }')" "${rate:-0}" \
    "$(number "$OBJECT" DELIVERY_RATE MAX | awk '{ print $1 * 8 * 1.01 }')"
check_eq True "$(of "$OBJECT" "$(_in_buckets RTT_US) == sum(c['cnt'] for c in vois['RTT_US']['TDGST']['ctds'])")" "histogram and t-digest have the same samples"
check "the other end is a connection, too" [ -s "$STATS/127.0.0.1:$SERVER-127.0.0.1:$CLIENT" ]
total=$(samples total SND_CWND)
check "the total has the samples of both" wait_until \
  '[ "$(samples total SND_CWND)" -ge $((total + 2)) ]'

# of_statistics KEY: of the percentiles in statistics/tcp/data, as it was read.
of_statistics() { sed -n "s/^round_trips_percentiles $1 //p" "$WORK/data"; }
cat "$MNT/statistics/tcp/data" >"$WORK/data"
check "statistics/tcp has the round-trip time of ss between least and largest, too" between \
  "$(of_statistics min)" "$rtt_us" "$(of_statistics max)"
check_eq "$(of_statistics count)" \
  "$(awk '/^round_trips [<>]/ { sum += $3 } END { print sum }' "$WORK/data")" \
  "its percentiles have the samples of its histogram"
check "a view has every second of the last minutes" grep -q \
  '^name=round_trips_by_second of=round_trips on=1 type=history' "$MNT/statistics/tcp/definition"

echo 'TCP_DEFAULT=0' >"$STATS/sample_rates"
check "no connection has an object when the rates choose none" \
  wait_until '[ "$(ls "$STATS" | tr "\n" " ")" = "sample_rates total total.json " ]'
echo 'TCP_DEFAULT=100' >"$STATS/sample_rates"
check "and each has again when they choose all, without a restart" wait_until \
  '[ -s "$STATS/$OBJECT" ]'
end_transfer
check "an object goes with its connection" wait_until '! [ -e "$STATS/$OBJECT" ]'
stop "$FEEDER"
check_eq 0 "$STATUS" "SIGTERM ends the feeder well"
check_eq "sample_rates total total.json" "$(ls "$STATS" | tr '\n' ' ' | sed 's/ $//')" \
  "its objects go with it, the total stays"
start "${as_nobody[@]}" "${BIN_OF_NOBODY:-$BIN}/tally-feed-tcp" --socket "$SOCK" --period-ms 20 \
  --rates TCP_DEFAULT=50
FEEDER=$PID
start_transfer
check "rates that a user has written hold for the next feeder, too" wait_until \
  '[ -e "$STATS/$OBJECT" ]'
check "so they are shown" grep -qE '=100$' "$STATS/sample_rates"
kill -9 "$FEEDER"
wait "$FEEDER" 2>/dev/null
forget "$FEEDER"
check "of a feeder that is killed no connection stays" wait_until \
  '[ "$(ls "$STATS" | tr "\n" " ")" = "sample_rates total total.json " ]'
end_transfer
"$BIN/tally-feed-tcp" --rates 'NOPE=1' --socket "$SOCK" >"$WORK/said" 2>&1
check_eq 2 $? "wrong rates are wrong usage"
check "and it says which" grep -q "sample rates 'NOPE=1'" "$WORK/said"
stop "$DAEMON"
check_eq 0 "$STATUS" "SIGTERM ends the daemon well"
