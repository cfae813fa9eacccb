#!/usr/bin/env bash
# tally-feed-statsd, by real sockets: what senders sent, and what stands in the tree.
. "$(dirname "$0")/statsd_lib.sh"

# total, largest INTERFACE STATISTIC: the number of samples of a timer or histogram, and their
# largest.
largest() { data "$1" 2>/dev/null | awk -v n="$2" '$1 == n && $2 == "max" { print $3 }'; }
total() { data "$1" 2>/dev/null | awk -v n="$2" '$1 == n && $2 == "count" { print $3 }'; }

# ---- without a daemon
checked=$(printf '%s\n' 'page.views:1|c|@0.1|#b,a:1' 'a:1:x|ms' 'u:x|s' 'u:y|s' 'g:1.23456789|g' \
  'old:1|c|T1' '_sc|db|2|m:slow' |
  "$FEEDER_BIN" --check)
check_eq 1 $? "--check ends with 1 if a line is refused"
check_eq '  page.views:1|c|@0.1|#b,a:1
  statsd-page/page.views{a:1,b} c 1x10
  a:1:x|ms
      ^ refused, value: it is no decimal number
  u:x|s
  statsd/u s 1x1
  u:y|s
  statsd/u s 1x1
  g:1.23456789|g
  statsd/g g 1235x1
  rounded to 3 decimals
  old:1|c|T1
  statsd/old c 1x1
  its time is before the machine'"'"'s start: counted now
  _sc|db|2|m:slow
  statsd~checks/db g 2x1
  event statsd/check slow' "$checked" "and prints what each does"
"$FEEDER_BIN" --listen udp:0.0.0.0:0 2>"$WORK/said"
check_eq 2 $? "to listen for others needs --allow"
check "which it says" grep -q 'needs --allow' "$WORK/said"

# ---- the listeners
start_daemon
start_feeder --listen udp:127.0.0.1:0 --listen tcp:127.0.0.1:0 --listen "unixgram:$DGRAM" \
  --listen "unix:$STREAM" --set-window 1
udp 'page.views:1|c\npage.views:2|c|@0.1|#country:fr\nload:320|ms\nusers:a|s\nusers:b|s\n'
becomes 1 value statsd-page page.views
becomes 20 value statsd-page 'page.views{country:fr}'
becomes 320000 largest statsd load
udp 'temp:5|g\ntemp:-2|g'
becomes 3.000 value statsd temp
unixgram 'temp:-2|g'
becomes -2.000 value statsd temp
becomes 2 value statsd users
# On a stream of lines a sign is a change, as python3-statsd sends it; in frames it is the value.
printf 'signs:3|g\nsigns:+2|g\nsigns:-0.5|g\n' | socat -u - "UNIX-CONNECT:$STREAM"
becomes 4.500 value statsd signs
printf 'signs:-1|g|c:in-4026531835\n' | socat -u - "UNIX-CONNECT:$STREAM"
becomes -1.000 value statsd signs
printf '\24\0\0\0signs:3|g\nsigns:+2|g' | socat -u - "UNIX-CONNECT:$STREAM"
becomes 2.000 value statsd signs
udp 'later:a|s'
becomes 1 value statsd later
check_eq 2 "$(value statsd users)" "a set keeps the number of its last window with values"
send frames "$STREAM"
becomes 250 value statsd framed
printf 'lines:1|c\nlines:2|c' | socat -u - "UNIX-CONNECT:$STREAM"
becomes 3 value statsd lines
printf 'tcp:4|c\ntcp:5|c' | socat -u - "TCP4:127.0.0.1:$TCP_PORT"
becomes 9 value statsd tcp
unixgram '_e{5,4}:title|text|t:error\n_sc|db up|2|#env:dev'
becomes 1 value statsd 'events{alert:error}'
becomes 2 value statsd~checks 'db%20up{env:dev}'
check "the events are there" [ -d "$MNT/tracing/events/statsd/check" ]

# ---- what is refused, and what is too long
udp 'bad:1:x|c'
becomes 1 own 'refused{reason:value}'
check "the log says which address sent it, and where it is wrong" \
  wait_until 'grep -q "127.0.0.1:[0-9]*: value: it is no decimal number: bad:1: -->x|c" "$LOG"'
printf '\0\0\2\0abc' | socat -u - "UNIX-CONNECT:$STREAM"
becomes 1 own truncated
python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20); s.connect(sys.argv[1])
s.send(b"long:1|c\n" * 8000)' "$DGRAM"
becomes 2 own truncated
check_eq '' "$(value statsd long)" "nothing is taken of a packet that was cut"

becomes 0 unaccounted

stop "$FEEDER"
check_eq 0 "$STATUS" "SIGTERM ends the feeder well"
check "and removes its sockets" [ ! -e "$DGRAM" -a ! -e "$STREAM" -a ! -e "$DGRAM.lock" ]

# ---- overload: every datagram is taken, or counted as dropped by the kernel
start_feeder --listen udp:127.0.0.1:0 --rcvbuf 16k
packets=$(own packets) drops=$(own kernel_drops)
kill -STOP "$FEEDER"
send flood "$UDP" 3000
kill -CONT "$FEEDER"
arrived() { echo $(($(own packets) - packets + $(own kernel_drops) - drops)); }
becomes 3000 arrived
check "some were dropped" [ "$(own kernel_drops)" -gt 0 ]
# The feeder counts a packet before the daemon has what was in it.
becomes $(($(own packets) - packets)) value statsd flood
stop "$FEEDER"

# ---- ten thousand new series at once, of which each gets samples before the daemon knows it
start_feeder --listen "unixgram:$DGRAM"
send burst "unixgram:$DGRAM" 10000 20
burst_in_all() { data statsd-burst | awk '/^burst/ { n += $NF; ++series } END { print n, series }'; }
becomes "200000 10000" burst_in_all
stop "$FEEDER"
check_eq '' "$(grep -o '[0-9]* samples were dropped' "$LOG")" "none of a burst's is dropped"

# ---- other machines, by a network of its own
if unshare -n ip link set lo up 2>/dev/null; then
  start unshare -n sh -c 'ip link set lo up && ip addr add 192.0.2.1/32 dev lo && exec "$@"' - \
    "${AS_USER[@]}" "$FEEDER_BIN" --socket "$SOCK" --listen udp:0.0.0.0:8125 \
    --allow 198.51.100.0/24
  nsenter -t "$PID" -n python3 "$here/statsd_sender.py" flood udp:192.0.2.1:8125 5
  nsenter -t "$PID" -n python3 "$here/statsd_sender.py" flood udp:127.0.0.1:8125 1
  # Answers of the daemon do not come into that network: the log has it.
  check "what --allow does not name is denied" \
    wait_until 'grep -q "192.0.2.1:[0-9]* is not allowed (--allow)" "$WORK/output.$OUTPUTS.err"'
  stop "$PID"
else
  echo "ok $((COUNT += 1)) - what --allow does not name is denied # SKIP no network namespaces"
fi

# ---- a feeder that is started anew has what was sent meanwhile, by the socket that is handed on
mkfifo "$WORK/end"
python3 "$here/statsd_sender.py" activate "$WORK/run/held.socket" 20000 \
  "${AS_USER[@]}" "$FEEDER_BIN" --socket "$SOCK" <"$WORK/end" >"$WORK/sent" 2>"$WORK/activated" &
exec {end}>"$WORK/end"
check "20,000 are sent while it is started anew twice" \
  wait_until '[ "$(cat "$WORK/sent")" = 20000 ]'
becomes 20000 value statsd activated
exec {end}>&-
wait $! || not_ok "it ends well" "$(cat "$WORK/activated")"

# ---- a daemon that is started anew
stop "$DAEMON"
mkdir -m 700 "$WORK/state"
start_daemon --state "$WORK/state"
start_feeder --listen "unixgram:$DGRAM"
send steady "unixgram:$DGRAM" 1 >"$WORK/sent" &
sender=$!
check "it is fed" wait_until '[ "$(value statsd steady)" -gt 100 ]'
stop "$DAEMON"
start_daemon --state "$WORK/state"
wait $sender
sent=$(cat "$WORK/sent")
stop "$FEEDER"
# What was on the way when the daemon went is counted, too: samples of both statistics.
unsure=$(sed -n 's/.* \([0-9]*\) samples were on the way.*/\1/p' "$LOG")
counted=$(value statsd steady)
check "all of $sent are in the tree ($counted), but what was on the way (${unsure:-0})" \
  [ "$counted" -le "$sent" -a "$((counted + ${unsure:-0}))" -ge "$sent" ]
check_eq '' "$(grep -o '[0-9]* samples were dropped' "$LOG")" "none was dropped"
