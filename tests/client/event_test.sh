#!/usr/bin/env bash
# event.h and tally.Event against a real daemon: events of programs in tracing/events, before,
# during and after its life.
. "$(dirname "$0")/../feeders/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
E=$MNT/tracing/events
[ -e /dev/fuse ] || skip_all "no /dev/fuse"

coproc PROBE { TALLY_SOCKET=$SOCK exec "$BIN/event_probe"; }
probe=$PROBE_PID
ask() { echo "$1" >&"${PROBE[1]}"; }
hear() { read -r -t 30 -u "${PROBE[0]}" "$1"; }
clean_up_more() { kill "$probe" 2>/dev/null; }
hits() { sed -n 's/^    Hits: //p' "$1/hist"; }

hear said
check_eq "registered 0" "$said" "a program registers its event without a daemon"
ask "write 3"
hear said
check_eq "written 0" "$said" "whose records are not wanted"
ask again
hear said
check_eq "again -17 kept" "$said" "a second time is refused, and leaves the handle alone"
ask none
hear said
check_eq "none 0 -22" "$said" "without a handle there is no demand"
start_daemon
ask sync
hear said
check_eq "synced 0" "$said" "a daemon that comes later hears of it"
check_eq $'\tfield:u64 lat;\toffset:8;\tsize:8;\tsigned:0;' "$(grep 'lat;' "$E/web/done/format")" \
  "it is in tracing/events"
ask "write 3"
hear said
check_eq "written 0" "$said" "while nothing is set on it nothing is written"

echo 'hist:keys=path,comm:vals=lat:sort=path' >"$E/web/done/trigger"
ask "write 1000"
hear said
ask sync
hear synced
check_eq "written 1000 synced 0" "$said $synced" "with a trigger all is"
check_eq "/even probe 500 249500 /odd probe 500 250000" \
  "$(sed -nE \
    's/^\{ path: (\S+) +, comm: (\S+) +\} hitcount: +([0-9]+)  lat: +([0-9]+)$/\1 \2 \3 \4/p' \
    "$E/web/done/hist" | xargs)" \
  "and is counted by its fields"
echo 'hist:keys=common_comm,common_pid' >"$E/web/done/trigger"
wait_until 'ask "write 1"; hear said; ask sync; hear synced; grep -q event_probe "$E/web/done/hist"'
check "the writer's name and number are told" grep -Eq \
  "common_comm: event_probe +, common_pid: +$probe " "$E/web/done/hist"
before=$(hits "$E/web/done")
for i in 1 2 3; do ask "write 100000"; hear said; done
ask sync
hear said
dropped=$(data tallyfs | awk '$1 == "dropped" { print $2 + 0 }')
check_eq $((before + 300000)) $(($(hits "$E/web/done") + dropped)) \
  "what is not counted was dropped, and said so ($dropped)"
ask time
hear said
echo "# $said"
echo >"$E/web/done/trigger"
ask time
hear said
echo "# $said"

stop "$DAEMON"
start_daemon
wait_until '[ -d "$E/web/done" ]'
check "a daemon that is started again hears of it by itself" [ -d "$E/web/done" ]
echo 'hist:keys=comm' >"$E/web/done/trigger"
wait_until 'ask "write 5"; hear said; [ "$said" = "written 5" ]'
ask sync
hear said
check_eq 5 "$(hits "$E/web/done")" "and is told of its records"

kill -9 "$probe"
wait_until '[ ! -s "$E/web/done/hist" ] || grep -q "Hits: 5" "$E/web/done/hist"'
check "an event with a trigger outlives its program" [ -d "$E/web/done" ]
