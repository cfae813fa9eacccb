# What the tests of tally-feed-statsd share, beside lib.sh.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
has() { command -v "$1" >/dev/null; }
has python3 && has socat || skip_all "needs python3 and socat"
send() { python3 "$here/statsd_sender.py" "$@"; }

# start_feeder OPTION...: its process id in $FEEDER, its addresses in $UDP and $TCP_PORT.
DGRAM=$WORK/run/dsd.socket STREAM=$WORK/run/stream.socket
start_feeder() {
  start "${AS_USER[@]}" "$FEEDER_BIN" --socket "$SOCK" --socket-mode 0777 "$@"
  FEEDER=$PID LOG=$WORK/output.$OUTPUTS.err
  UDP=$(grep -o 'udp:127.0.0.1:[0-9]*' "$LOG" | head -1)
  TCP_PORT=$(grep -o 'tcp:127.0.0.1:[0-9]*' "$LOG" | head -1 | cut -d: -f3)
}
# As another user if we are root.
AS_USER=() FEEDER_BIN=$BIN/tally-feed-statsd
if [ "$(id -u)" -eq 0 ] && has setpriv; then
  AS_USER=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
  install -m 755 "$FEEDER_BIN" "$WORK/tally-feed-statsd" && FEEDER_BIN=$WORK/tally-feed-statsd
  chmod 777 "$WORK/run"
fi
# udp TEXT: one datagram, with the escapes of printf.
udp() { printf '%b' "$1" | socat -u - "UDP4-SENDTO:${UDP#udp:}"; }
unixgram() { printf '%b' "$1" | socat -u - "UNIX-SENDTO:$DGRAM"; }
# The value of a statistic: the last field of its first line.
value() { data "$1" 2>/dev/null | awk -v name="$2" '$1 == name { print $NF; exit }'; }
own() { value tally-feed-statsd "$1"; }
# becomes WANTED COMMAND...: the command prints it within a minute.
becomes() {
  local wanted=$1
  shift
  EXPR="\"\$($*)\" = \"$wanted\""
  wait_until "[ $EXPR ]" && ok "$* is $wanted" || not_ok "$* is $wanted" "got: $("$@")"
}
# The lines that are neither taken nor refused, in one look: the feeder goes on counting.
unaccounted() {
  data tally-feed-statsd | awk '$1 == "lines" { n += $NF }
    $1 ~ /^(metrics|events|checks|refused.*)$/ { n -= $NF } END { print n + 0 }'
}
# check_memory WHAT: the feeder has 64 MiB at most. Not with a sanitizer's own memory.
check_memory() {
  local peak
  peak=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$FEEDER/status")
  [ -n "${TALLY_SANITIZED:-}" ] ||
    check "$1: it had 64 MiB at most ($peak KiB)" [ "$peak" -le 65536 ]
}
