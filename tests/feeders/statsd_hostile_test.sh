#!/usr/bin/env bash
# tally-feed-statsd under senders that mean no good: its memory stays below its bound, the bound
# that was reached is counted, and other senders are served.
. "$(dirname "$0")/statsd_lib.sh"

# The sum of many{...}.
many_in_all() { data statsd | awk '/^many\{/ { n += $NF } END { print n + 0 }'; }
# others_are_served WHILE: by each listener.
SERVED=0
others_are_served() {
  SERVED=$((SERVED + 4))
  unixgram 'others:1|c'
  udp 'others:1|c'
  printf 'others:1|c\n' | socat -u - "TCP4:127.0.0.1:$TCP_PORT"
  printf 'others:1|c\n' | socat -u - "UNIX-CONNECT:$STREAM"
  becomes "$SERVED" value statsd others
  check_memory "$1"
}
# begin NAME COUNT WORD: a sender of streams, which holds its connections until end_senders, once it
# has said the word.
mkfifo "$WORK/end"
begin() {
  send "$1" "$STREAM" "$2" <"$WORK/end" >"$WORK/said" &
  SENDER=$!
  exec {end}>"$WORK/end"
  check "$2 connections: $1" wait_until '[ "$(cat "$WORK/said")" = '"$3"' ]'
}
end_senders() {
  exec {end}>&-
  wait "$SENDER"
}

start_daemon
start_feeder --listen udp:127.0.0.1:0 --listen tcp:127.0.0.1:0 --listen "unixgram:$DGRAM" \
  --listen "unix:$STREAM"

# ---- connections
begin idle 260 4
becomes 4 own connections_closed
others_are_served "256 idle connections"
becomes 5 own connections_closed
end_senders

# Of users with a part each: one connection that is idle longest, beside many of another user.
if [ ${#AS_USER[@]} -ne 0 ] && [ -x /usr/bin/python3 ]; then
  begin keep kept open
  mkfifo "$WORK/end.others"
  setpriv --reuid=65533 --regid=65533 --clear-groups -- \
    /usr/bin/python3 -c "$(cat "$here/statsd_sender.py")" idle "$STREAM" 300 \
    <"$WORK/end.others" >/dev/null {end}>&- &
  others=$!
  exec {end_others}>"$WORK/end.others"
  becomes 50 own connections_closed
  end_senders
  becomes 1 value statsd kept
  exec {end_others}>&-
  wait "$others"
fi

begin slow 250 half
others_are_served "250 half lines"
end_senders
becomes 250 value statsd slow

# Incomplete frames may take 16 MiB for all connections together.
closed=$(own connections_closed)
begin hoard 256 sent
check "the frames are not held all" wait_until '[ "$(own connections_closed)" -gt "$closed" ]'
others_are_served "256 incomplete frames"
end_senders

# ---- what is sent
send noise "unixgram:$DGRAM" $RANDOM
send noise "$UDP" $RANDOM
others_are_served "random bytes"

many=1000000
[ -z "${TALLY_SANITIZED:-}" ] || many=60000
send series "unixgram:$DGRAM" $many
others_are_served "$many series"
becomes "$many" many_in_all
check_eq $((many - 1000)) "$(value statsd 'many{*}')" "those beyond 1,000 tag sets are at many{*}"
becomes $((many - 1000)) own overflowed

send names "unixgram:$DGRAM" 20000
others_are_served "20,000 names"
check "names beyond 5,000 are refused" wait_until "[ \"\$(own 'refused{reason:name}')\" -gt 14000 ]"
becomes 0 unaccounted
stop "$FEEDER"
check_eq 0 "$STATUS" "it ends well"
