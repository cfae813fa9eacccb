#!/usr/bin/env bash
# Clients of StatsD and DogStatsD as Debian has them, unmodified: what each sent, and what is in the
# tree, by count. None is lost, but what the kernel says that it dropped.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../feeders/lib.sh"
[ -e /dev/fuse ] || skip_all "no /dev/fuse"

start_daemon
DGRAM=$WORK/run/dsd.socket STREAM=$WORK/run/stream.socket
start "$BIN/tally-feed-statsd" --socket "$SOCK" --set-window 1 --listen udp:127.0.0.1:0 \
  --listen tcp:127.0.0.1:0 --listen "unixgram:$DGRAM" --listen "unix:$STREAM"
LOG=$WORK/output.$OUTPUTS.err
UDP=$(sed -n 's/.*udp:127.0.0.1:\([0-9]*\),.*/\1/p' "$LOG")
TCP=$(sed -n 's/.*tcp:127.0.0.1:\([0-9]*\)$/\1/p' "$LOG")

# sees INTERFACE WANTED...: the lines of its data, without times; a timer's by count and maximum.
sees() {
  local interface=statsd-$1
  shift
  WANTED=$(printf '%s\n' "$@" | sort) SEEN_OF=$interface
  wait_until '[ "$(seen)" = "$WANTED" ]'
  check_eq "$WANTED" "$(seen)" "$interface"
}
seen() {
  data "$SEEN_OF" | awk '$2 == "min" || $2 == "avg" || $2 ~ /^p[0-9]/ { next }
    { sub(/ \[[0-9.]*\]/, ""); print }' | sort
}
dropped() { data tally-feed-statsd | awk '$1 == "kernel_drops" { print $2 }'; }
# run NAME COMMAND...: a client; false if it is not installed.
run() {
  local name=$1
  shift
  "$@" >"$WORK/client" 2>&1 && ok "$name ends well" ||
    not_ok "$name ends well" "$(cat "$WORK/client")"
}
skip() { echo "ok $((COUNT += 1)) - $1 # SKIP $1 is not installed"; }
timer() { printf '%s\n' "$1 count $2" "$1 max $3"; }

if /usr/bin/python3 -c 'import statsd' 2>/dev/null; then
  run python3-statsd /usr/bin/python3 "$here/statsd/pystatsd.py" 127.0.0.1 "$UDP" "$TCP" "$STREAM"
  for name in ps_udp ps_tcp; do
    sees $name "$name.hits 190" "$name.sampled 5" "$name.level 39.500" "$name.below -5.000" \
      "$(timer $name.wait 3 320000)" "$name.users 1" "$name.piped 200"
  done
  # On a Unix stream of lines a sign changes the value, as on UDP.
  sees ps_unix "ps_unix.hits 190" "ps_unix.sampled 5" "ps_unix.level 39.500" \
    "ps_unix.below -5.000" "$(timer ps_unix.wait 3 320000)" "ps_unix.users 1" "ps_unix.piped 200"
else
  skip python3-statsd
fi
if /usr/bin/python3 -c 'import aiodogstatsd' 2>/dev/null; then
  run python3-aiodogstatsd /usr/bin/python3 "$here/statsd/dogstatsd.py" 127.0.0.1 "$UDP"
  sees aio "aio.hits{code:200,env:test} 200" "aio.level{env:test} 42.500" \
    "$(timer 'aio.wait{env:test}' 3 320000)" "$(timer 'aio.size{env:test}' 1 0.250000)" \
    "$(timer 'aio.spread{env:test}' 1 7.000000)"
else
  skip python3-aiodogstatsd
fi
if ruby -e 'require "statsd"' 2>/dev/null; then
  run ruby-statsd ruby "$here/statsd/client.rb" 127.0.0.1 "$UDP"
  sees ruby "ruby.hits 200" "ruby.Some.Level 42.500" "$(timer ruby.wait 3 320000)" \
    "ruby.users 1" "ruby.piped 200"
else
  skip ruby-statsd
fi
if perl -MNet::Statsd -e 1 2>/dev/null; then
  run libnet-statsd-perl perl "$here/statsd/client.pl" 127.0.0.1 "$UDP"
  sees perl "perl.hits 200" "perl.level 42.500" "$(timer perl.wait 3 320000)"
else
  skip libnet-statsd-perl
fi
if [ -d /usr/share/nodejs/lynx ]; then
  run node-lynx env NODE_PATH=/usr/share/nodejs node "$here/statsd/client.js" 127.0.0.1 "$UDP"
  sees lynx "lynx.hits 200" "lynx.level 42.500" "$(timer lynx.wait 3 320000)" "lynx.users 1"
else
  skip node-lynx
fi
if [ -d /usr/share/gocode/src/github.com/DataDog/datadog-go ]; then
  run "Go's clients" env GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS=-buildvcs=false \
    go run "$here/statsd/client.go" "127.0.0.1:$UDP" "$DGRAM"
  for name in go_udp go_unix; do
    sees $name "$name.hits{code:200,env:test} 200" "$name.level{env:test} -42.500" \
      "$(timer "$name.wait{env:test}" 3 320000)" "$(timer "$name.size{env:test}" 1 0.250000)" \
      "$(timer "$name.spread{env:test}" 1 7.000000)" "$name.users{env:test} 1"
  done
  sees alex "alex.hits 200" "alex.level 42.000" "$(timer alex.wait 3 320000)"
  check_eq 2 "$(sum statsd 'events{alert:info}')" "two events came"
else
  skip golang-github-datadog-datadog-go-dev
fi
check_eq 0 "$(dropped)" "the kernel dropped none"
check_eq '' "$(data tally-feed-statsd | awk '$1 ~ /^refused/ && $2 != 0')" "none was refused"
stop "$PID"
check_eq 0 "$STATUS" "SIGTERM ends the feeder well"
