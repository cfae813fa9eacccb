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

# ---- kill -9 of the daemon: what is lost with it is counted, as an upper bound
: >"$WORK/lost.log"
start_feeder --match took --count lost/lines "$WORK/lost.log"
took() { seq "$1" | sed 's/.*/took & ms/' >>"$WORK/lost.log"; }
took 1000
becomes 1000 value lost lines
find_server
kill -KILL "$SERVER"
took 10
accounted() { echo $(($(value lost lines) + $(value tally-feed-log lost))); }
check "all lines are counted, or at most lost" wait_until '[ "$(accounted)" -ge 1010 ]'
echo "# measured: a kill of the daemon lost $((1010 - $(value lost lines))) of 1,010 lines"
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
