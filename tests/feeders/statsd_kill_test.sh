#!/usr/bin/env bash
# kill -9 under load, of tally-feed-statsd, of the server of tallyfs, and of tallyfs with its
# keeper: totals afterwards account for every metric that the feeder has taken.
. "$(dirname "$0")/statsd_lib.sh"

# ---- the feeder. What it has received and not counted yet is lost: 64 datagrams at most.
start_daemon
python3 "$here/statsd_kills.py" "$MNT" "$WORK/run/handed.socket" 4 \
  "${AS_USER[@]}" "$FEEDER_BIN" --socket "$SOCK" >"$WORK/kills" 2>"$WORK/kills.err"
check_eq 0 $? "4 feeders are killed, and others go on"
for lost in $(head -n -1 "$WORK/kills"); do
  check "a kill lost $lost datagrams, of 64" [ "$lost" -ge 0 -a "$lost" -le 64 ]
done
check_eq "$(tail -n 1 "$WORK/kills")" "$(value statsd killed)" "the others are in the tree"
stop "$DAEMON"

# ---- the server, and then all of tallyfs, by datagrams and by a stream
mkdir -m 700 "$WORK/state"
start_daemon --state "$WORK/state" --state-period 1
start_feeder --listen "unixgram:$DGRAM" --listen "unix:$STREAM"
saves() { data tallyfs | awk '$1 == "state_us" { print $2 + 0; exit }'; }
# Waits until two more files are written: the second one has all that is in the tree now.
wait_for_save() {
  local before
  before=$(saves)
  check "what was sent before $1 is saved" \
    wait_until 'unixgram "unrelated:1|c"; [ "$(saves)" -ge '"$((before + 2))"' ]'
}
# Once a marker arrives, the feeder knows the daemon of now, and its statistics are registered.
wait_for_feeder() {
  MARKER=marker.$2
  check "the feeder finds the next one after $1" \
    wait_until 'unixgram "$MARKER:1|c"; [ "$(value statsd-marker "$MARKER")" ]'
}
# feed COUNT: of both, and returns when the feeder has taken it.
feed() {
  send flood "unixgram:$DGRAM" "$1" killed
  send lines "$STREAM" "$1" streamed
}
# round NAME NUMBER KILL...: what was saved before the kill and what is sent after it is counted,
# each metric once; of what is sent meanwhile at most all is.
round() {
  local name=$1 number=$2 killed streamed steady senders
  shift 2
  feed 2000
  becomes $((KILLED + 2000)) value statsd killed
  becomes $((STREAMED + 2000)) value statsd streamed
  wait_for_save "$name"
  killed=$(value statsd killed) streamed=$(value statsd streamed)
  send steady "unixgram:$DGRAM" 1 killed >"$WORK/steady" &
  senders=$!
  send lines "$STREAM" 20000 streamed &
  senders="$senders $!"
  check "there is load" wait_until '[ "$(value statsd killed)" -gt '"$killed"' ]'
  "$@"
  wait $senders
  wait_for_feeder "$name" "$number"
  KILLED=$(value statsd killed) STREAMED=$(value statsd streamed)
  steady=$(cat "$WORK/steady")
  check "$name: $KILLED datagrams, of $killed to $((killed + steady))" \
    [ "$KILLED" -ge "$killed" -a "$KILLED" -le $((killed + steady)) ]
  check "$name: $STREAMED lines of streams, of $streamed to $((streamed + 20000))" \
    [ "$STREAMED" -ge "$streamed" -a "$STREAMED" -le $((streamed + 20000)) ]
  feed 2000
  becomes $((KILLED + 2000)) value statsd killed
  becomes $((STREAMED + 2000)) value statsd streamed
  KILLED=$((KILLED + 2000)) STREAMED=$((STREAMED + 2000))
}
KILLED=0 STREAMED=0
kill_server() { kill -KILL "$SERVER"; }
kill_all() {
  find_server
  kill -KILL "$DAEMON"
  wait "$DAEMON"
  forget "$DAEMON"
  wait_until '[ ! -e /proc/$SERVER/exe ]'
  umount -l "$MNT" 2>/dev/null || fusermount3 -u -z "$MNT"
  start_daemon --state "$WORK/state" --state-period 1
}
round "a kill of the server" 1 kill_server
check_eq 1 "$(value tallyfs takeovers)" "the keeper has replaced it"
round "a kill of tallyfs" 2 kill_all
stop "$FEEDER"
check_eq '' "$(grep -o '[0-9]* samples were dropped' "$LOG")" "none was dropped"
