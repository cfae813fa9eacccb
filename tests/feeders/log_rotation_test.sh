#!/usr/bin/env bash
# tally-feed-log reads logs that are renamed, cut and copied under a writer, while daemons are
# reloaded, and feeders killed: no line is lost. TALLY_ROTATIONS and TALLY_KILLS prolong it.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"
ROTATIONS=${TALLY_ROTATIONS:-20} KILLS=${TALLY_KILLS:-20}
DATA=$MNT/statistics/tally-feed-log/data
start_daemon

# ---- rotations under a writer
: >"$LOG"
start_feeder "${TOOK[@]}" "$LOG"
read -r lines total rotations < <(writer write "$LOG" $((ROTATIONS * 1000)) 20000 create)
becomes "$lines" value app lines
check_eq "$total" "$(value app ms)" "$rotations renames lose nothing"
echo "# measured: $rotations renames under $lines lines"
becomes "$rotations" value tally-feed-log rotations
read -r more sum cuts < <(writer write "$LOG" 10000 50000 truncate "$DATA")
becomes $((lines + more)) value app lines
check_eq "$((total + sum))" "$(value app ms)" \
  "$cuts truncations lose nothing that the file has"
becomes "$cuts" value tally-feed-log truncations
lines=$((lines + more))
rm "$LOG".*
read -r more copied copies < <(writer write "$LOG" $((ROTATIONS * 1000)) 20000 copytruncate)
becomes $((lines + more)) value app lines
check_eq "$((total + sum + copied)) 0" "$(value app ms) $(value tally-feed-log unread)" \
  "$copies copies and cuts lose nothing, also where the copy alone has it"
echo "# measured: $copies copies and cuts under $more lines"
lines=$((lines + more)) sum=$((sum + copied))
rm "$LOG".*
read -r more copied copies < <(writer write "$LOG" 5000 20000 copywrite "$DATA")
becomes $((lines + more)) value app lines
check_eq "$((total + sum + copied))" "$(value app ms)" \
  "$copies copies that were made before the last lines count nothing twice"
lines=$((lines + more)) sum=$((sum + copied))
rm "$LOG".*

# ---- reloads of the daemon meanwhile
reload_all() {
  local i
  for i in 1 2 3; do "$BIN/tallyfs" --reload "$MNT" >"$WORK/reload" 2>&1 || return 1; done
}
writer write "$LOG" 20000 10000 none >"$WORK/wrote" &
WRITER=$!
check "the daemon is reloaded three times" reload_all
wait "$WRITER"
becomes $((lines + 20000)) value app lines
check_eq "$((total + sum + $(cut -d' ' -f2 "$WORK/wrote")))" "$(value app ms)" \
  "reloads lose nothing and count nothing twice"

# ---- kill -9 with positions, while files rotate and the daemon is reloaded
# Each line has a number of its own.
kills() {  # kills HOW: by which the log rotates
  local log=$WORK/killed-$1.log lines twice exact lost more reloads
  : >"$log"
  reload_all &
  reloads=$!
  read -r lines twice exact < <(writer kill "$log" $((KILLS * 2000)) 20000 "$1" "$KILLS" "$DATA" \
    "$FEED" --socket "$SOCK" --positions "$WORK/positions-$1" --match 'took (?<ms>\d+) ms' \
    --sample "killed-$1/ms={ms} type=list entries_max=1000000" --count "killed-$1/lines" "$log")
  check "$1: the daemon is reloaded meanwhile" wait "$reloads"
  data "killed-$1" | writer twice "$lines" >"$WORK/killed"
  read -r lost more <"$WORK/killed"
  echo "# measured: $KILLS kills, $1: of $lines lines $lost lost, $more twice of $twice that may"
  check_eq 0 "$lost" "$1: of $lines lines none is lost by kills"
  check "$more count twice, of $twice that may" [ "$more" -ge 0 -a "$more" -le "$twice" ]
  check "$exact starts said that one line at most counts twice" [ "$exact" -ge 1 ]
}
kills create
kills copytruncate

# ---- kill -9 of the daemon with its keeper: what is lost is counted, as an upper bound
: >"$WORK/lost.log"
start_feeder --match '(?<what>took|late)' --count lost/lines --count 'lost/by{what:{what}}' \
  "$WORK/lost.log"
took() { seq "$1" | sed 's/.*/took & ms/' >>"$WORK/lost.log"; }
# Of what a daemon has taken from the socket, `lost` knows nothing. It counts those samples.
is_in_cells() {
  local lines samples
  lines=$(value lost lines) samples=$(value tallyfs samples)
  took 1
  until [ "$(value lost lines)" -gt "${lines:-0}" ]; do :; done
  [ "$(value tallyfs samples)" = "$samples" ]
}
took 1
becomes 1 value lost lines
check "lines are counted in cells" wait_until is_in_cells
begun=$(value lost lines)
took 1000
becomes $((begun + 1000)) value lost lines
find_server
kill -KILL "$DAEMON"
wait "$DAEMON"
forget "$DAEMON"
wait_until '[ ! -e /proc/$SERVER/exe ]'
umount -l "$MNT" 2>/dev/null || fusermount3 -u -z "$MNT"
start_daemon
took 10
accounted() { echo $(($(value lost lines) + $(value tally-feed-log lost))); }
check "all lines are counted, or at most lost" wait_until '[ "$(accounted)" -ge 1010 ]'

# ---- kill -9 of the server: what came since its last save may be lost, as `takeovers` says
# All may have been lost until now, for want of a number of the new daemon's.
is_counted_again() {
  local lines
  lines=$(value lost lines)
  took 1
  [ "$(value lost lines)" -gt "${lines:-0}" ]
}
check "lines are counted again" wait_until is_counted_again
begun=$(value lost lines)
took 1000
check "a thousand lines are counted" wait_until '[ "$(value lost lines)" -ge $((begun + 1000)) ]'
all=$(($(value lost lines) + 10))
find_server
kill -KILL "$SERVER"
seq -f 'late %.0f' 10 >>"$WORK/lost.log"
becomes 10 value lost 'by{what:late}'
becomes 1 value tallyfs takeovers
left=$(value lost lines)
check "no line counts twice" [ "$left" -le "$all" ]
echo "# measured: a kill of the server left $left of at most $all lines"
stop "$FEEDER"

# ---- SIGTERM amid lines whose new series go by the socket: what was sent is confirmed first
for i in $(seq 900); do echo "name$i took 3 ms"; done >"$WORK/ended.log"
ENDED=(--positions "$WORK/ended" --from start --match '(?<n>\w+) took' --count ended/lines
  --count 'ended/by{n:{n}}' "$WORK/ended.log")
start "$FEED" --socket "$SOCK" "${ENDED[@]}"
wait_until '[ "$(value ended lines)" -ge 1 ]'
stop "$PID"
"$FEED" --socket "$SOCK" --once "${ENDED[@]}" >/dev/null 2>&1
check_eq 900 "$(value ended lines)" "SIGTERM makes no line count twice"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
