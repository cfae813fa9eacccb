#!/usr/bin/env bash
# Events of tally-feed-log: each line that comes while a trigger is set is in its histogram.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"
start_daemon
EVENT=$MNT/tracing/events/logged/line
hits() { awk '$1 == "Hits:" { print $2 }' "$EVENT/hist"; }
cat >"$WORK/events.rules" <<'RULES'
match took (?<ms>\d+) ms
  event logged/line ms={ms}*1
  count logged/lines
RULES

# A trigger keeps the event in the tree when no program has it.
: >"$LOG"
start_feeder --rules "$WORK/events.rules" "$LOG"
check "the event comes into the tree" wait_until '[ -d "$EVENT" ]'
echo 'hist:keys=ms' >"$EVENT/trigger"
stop "$FEEDER"
for i in $(seq 5); do echo "took $i ms"; done >"$WORK/few.log"
"$FEED" --socket "$SOCK" --rules "$WORK/events.rules" --from start --once "$WORK/few.log" \
  >"$WORK/once" 2>&1
becomes 5 hits
"$FEED" --socket "$SOCK" --rules "$WORK/events.rules" --once - <"$WORK/few.log" >"$WORK/once" 2>&1
becomes 10 hits
seq 50000 | sed 's/.*/took & ms/;s/took .*\(..\) ms/took \1 ms/' >"$WORK/many.log"
"$FEED" --socket "$SOCK" --rules "$WORK/events.rules" --from start --once "$WORK/many.log" \
  >"$WORK/once" 2>&1
becomes 50010 hits

# ---- a field without a factor is a text of 63 bytes at most
printf 'match ^by (?<name>.*)$\n  event logged/text name={name}\n' >"$WORK/text.rules"
TEXT=$MNT/tracing/events/logged/text
start_feeder --rules "$WORK/text.rules" "$LOG"
check "an event with a text comes into the tree" wait_until '[ -d "$TEXT" ]'
echo 'hist:keys=name' >"$TEXT/trigger"
stop "$FEEDER"
printf -v long '%80s' ''
long=${long// /x}
printf 'by %s\n' "$long" short >"$WORK/text.log"
"$FEED" --socket "$SOCK" --rules "$WORK/text.rules" --from start --once "$WORK/text.log" \
  >"$WORK/once" 2>&1
names() { sed -n 's/^{ name: \([a-z]*\) *}.*/\1/p' "$TEXT/hist" | sort | xargs; }
becomes "short ${long:0:63}" names

# ---- rules that are read again while lines come
start_feeder --rules "$WORK/events.rules" "$LOG"
counted=$(hits) before=$(value logged lines)
read_again() { [ "$(grep -c "the rules were read again" "$SAID")" -ge "$1" ]; }
writer write "$LOG" 20000 10000 none >"$WORK/wrote" &
WRITER=$!
reloads=0
while kill -0 "$WRITER" 2>/dev/null; do
  kill -HUP "$FEEDER"
  wait_until "read_again $((reloads += 1))" || break
done
wait "$WRITER"
check "rules are read again $reloads times" [ "$reloads" -ge 3 ]
becomes $((before + 20000)) value logged lines
becomes "$((counted + 20000))" hits
stop "$FEEDER"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
