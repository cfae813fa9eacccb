#!/usr/bin/env bash
# tally-feed-log while there is no daemon, and where it does not come to the end of what it reads.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"

# ---- files wait for the daemon, but names do not
mkdir "$WORK/logs"
seq 200000 >"$WORK/logs/a.log"
start "$FEED" --socket "$SOCK" --from start --match '' --count waits/x "$WORK/logs/*.log"
WAITING=$PID
wait_until 'grep -q "no daemon yet" "$WORK/output.$OUTPUTS.err"'
echo new >"$WORK/logs/b.log"
check "names are looked at while files wait for the daemon" \
  wait_until 'ls -l "/proc/$WAITING/fd" | grep -q "logs/b.log"'
mv "$WORK/logs/b.log" "$WORK/logs/b.log.1"
gzip "$WORK/logs/b.log.1"

# ---- what is cut meanwhile is in its copy, which is compressed soon
seq 150000 >"$WORK/cut.log"
start "$FEED" --socket "$SOCK" --from start --match '' --count cut/x "$WORK/cut.log"
CUT=$PID
wait_until 'grep -q "no daemon yet" "$WORK/output.$OUTPUTS.err"'
cp "$WORK/cut.log" "$WORK/cut.log.1"
: >"$WORK/cut.log"
echo new >>"$WORK/cut.log"
check "the copy of a log is held open" \
  wait_until 'ls -l "/proc/$CUT/fd" | grep -q "cut.log.1"'
gzip "$WORK/cut.log.1"

# ---- what comes by a pipe is read meanwhile, beyond what libtally holds
seq 100000 | sed 's/^/piped /' >"$WORK/piped"
printf 'match! piped\n  count both/piped\nmatch\n  count both/x\n' >"$WORK/both.rules"
start bash -c 'exec "$@" <"$0"' "$WORK/piped" "$FEED" --socket "$SOCK" --from start \
  --rules "$WORK/both.rules" - "$WORK/logs/a.log"
BOTH=$PID
check "so is a pipe read" \
  wait_until 'grep -q "pos:.$(stat -c %s "$WORK/piped")$" "/proc/$BOTH/fdinfo/0"'

# ---- 300 actions of a line
{ echo match; yes '  count wide/x' | head -300; } >"$WORK/wide.rules"
seq 1000 >"$WORK/wide.log"
start "$FEED" --socket "$SOCK" --from start --rules "$WORK/wide.rules" "$WORK/wide.log"
WIDE=$PID
wait_until 'grep -q "no daemon yet" "$WORK/output.$OUTPUTS.err"'

# ---- a feeder is killed whose lines nothing has confirmed
seq 3 >"$WORK/killed.log"
KILLED=(--socket "$SOCK" --from start --positions "$WORK/killed" --match '' --count killed/x
  "$WORK/killed.log")
start "$FEED" "${KILLED[@]}"
ahead() { od -An -tu8 -j16 -N8 "$WORK/killed" | tr -d ' '; }
becomes 1 ahead
kill -KILL "$PID"
wait "$PID" 2>/dev/null
forget "$PID"

start_daemon
"$FEED" --once "${KILLED[@]}" >"$WORK/once" 2>"$WORK/said"
check_eq "3 1" "$(value killed x) $(grep -c 'with up to 1 lines that count twice' "$WORK/said")" \
  "the next one begins with them, and says how many may count twice"
# Files lose no line, also when they are gone,
becomes 200001 value waits x
# nor if they are cut, and their copies are gone,
becomes 150001 value cut x
# nor where a pipe is read, too,
becomes 200000 value both x
# nor of lines that have many samples.
becomes 300000 value wide x
stop "$WAITING"
stop "$CUT"
stop "$BOTH"
stop "$WIDE"

# ---- --once that does not come to the end
COUNTS=(--socket "$SOCK" --once --from start --match x --count ended/x)
"$FEED" "${COUNTS[@]}" - <"$WORK" >"$WORK/once" 2>"$WORK/said"
check_eq "1 1" "$? $(grep -c 'not all could be read' "$WORK/said")" \
  "--once ends with 1 after a read that failed"
python3 - "$WORK/long.log" <<'LINES'
import sys
with open(sys.argv[1], "wb") as log:
    for _ in range(64):
        log.write(b"x\n" * (4 << 20))
LINES
"$FEED" "${COUNTS[@]}" "$WORK/long.log" >"$WORK/once" 2>"$WORK/said" &
LONG=$!
wait_until '[ "$(value ended x)" -ge 1 ]'
kill "$LONG"
STATUS=0
wait "$LONG" || STATUS=$?
check_eq "1 1" "$STATUS $(grep -c 'a signal has ended it before all' "$WORK/said")" \
  "a signal ends --once amid a file"
check "before its end" [ "$(cut -d' ' -f1 "$WORK/once")" -lt $((64 * (4 << 20))) ]

# ---- --once waits ten seconds for a daemon that does not answer
kill -STOP "$SERVER"
BEGUN=$EPOCHREALTIME STATUS=0
"$FEED" "${COUNTS[@]}" - <<<x >"$WORK/once" 2>"$WORK/said" || STATUS=$?
us=$((${EPOCHREALTIME/./} - ${BEGUN/./}))
kill -CONT "$SERVER"
check_eq 1 "$STATUS" "--once ends with 1 where the daemon does not answer"
check "after $us us" [ "$us" -ge 10000000 ]

echo "1..$COUNT"
[ $FAILED -eq 0 ]
