#!/usr/bin/env bash
# tally-feed-log, on real files and a real mount: what programs wrote, and what is in the tree.
# TALLY_LINES prolongs it.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"
LINES_READ=${TALLY_LINES:-100000}
start_daemon
echo hello >"$LOG"

# ---- exactly what awk counts, of random lines
writer lines "$LINES_READ" "${TALLY_SEED:-7}" >"$WORK/access.log"
"$FEED" --socket "$SOCK" --format nginx --from start --once "$WORK/access.log" >"$WORK/once" \
  2>"$WORK/once.err" || not_ok "--once ends well" "$(cat "$WORK/once.err")"
check_eq "$LINES_READ lines, $LINES_READ matched, 0 unmatched; $((LINES_READ * 3)) samples" \
  "$(cat "$WORK/once")" \
  "--once prints what it counted"
cat >"$WORK/exact.rules" <<'RULES'
match (?<status>\d{3}) (?<bytes>\d+) .* (?<seconds>[\d.]+)$
  sample exact/time{status:{status}} = {seconds}*1000000 type=value mode=products
  sample exact/bytes{status:{status}} = {bytes} type=value mode=products
  count exact/requests{status:{status}}
RULES
"$FEED" --socket "$SOCK" --rules "$WORK/exact.rules" --from start --once "$WORK/access.log" \
  >"$WORK/once" 2>"$WORK/once.err" || not_ok "--once ends well" "$(cat "$WORK/once.err")"
check_eq "$(awk '{ n[$9]++; b[$9] += $10; us[$9] += int($NF * 1000000 + 0.5) }
  END { for (s in n) {
    printf "time{status:%s} %.0f\nbytes{status:%s} %.0f\n", s, us[s], s, b[s]
    printf "requests{status:%s} %d\n", s, n[s] } }' "$WORK/access.log" | sort)" \
  "$(data exact | sort)" "sums by status are those of awk"
bytes=$(data nginx | awk '$1 == "bytes" { n += $NF } END { print n }')
check_eq "$LINES_READ" "$bytes" "each line is in one bucket of bytes"
check_eq '' "$(data nginx | grep 'items%2F[0-9]')" "routes have no numbers"
show() { "$BIN/tallyctl" --mount "$MNT" show "$@" 2>&1; }
check_eq 1 "$(show 'nginx/latency{*' | grep -c '^nginx/latency{route:/cart,status:200}')" \
  "tallyctl shows routes as they are read"
check_eq 1 "$(show 'nginx/latency{route:/cart,status:200}' | grep -c '^nginx/lat.* quantiles')" \
  "and finds them so"

# ---- what --once does not find, it says
once() {  # once ARGUMENT...: what it says, and how it ends
  "$FEED" --socket "$SOCK" --once --match x --count once/x "$@" 2>&1 >"$WORK/once"
  echo "$?"
}
check_eq 1 "$(once "$WORK/none*.log" | tail -1)" "a pattern that finds nothing ends with 1"
check_eq 1 "$(once "$WORK/none*.log" | grep -c "found no log: $WORK/none\*.log")" "and is named"
check_eq 1 "$(once "$LOG" | grep -c 'reads what is there already with --from start')" \
  "--once at the end of a file says how to read what is there"
echo '::1 - - [26/Nov/2026:14:30:00 +0000] "GET /x HTTP/1.1" 200 9 "-" "curl"' >"$WORK/plain.log"
PLAIN=(--socket "$SOCK" --once --from start --format nginx "$WORK/plain.log")
"$FEED" "${PLAIN[@]}" >"$WORK/once" 2>"$WORK/said"
check_eq '1 line, 1 matched, 0 unmatched; 2 samples, 1 absent' "$(cat "$WORK/once")" \
  "a log without request times counts requests"
check_eq '' "$(cat "$WORK/said")" "and says nothing else, as cron wants it, unless it is asked"
"$FEED" "${PLAIN[@]}" --log-level info >"$WORK/once" 2>"$WORK/said"
check "and says what is missing" grep -q '1 samples are absent: lines have no such' "$WORK/said"
mkfifo "$WORK/"$'fifo\e[2J.log'
check_eq '' "$(once "$WORK/"$'fifo*.log' | grep $'\e')" "no control byte of a name comes to the log"
check_eq 1 "$(once "$WORK/fifo*.log" | grep -c 'fifo.x1b\[2J.log: this is no regular')" \
  "which has the name"
rm "$WORK/"fifo*
echo 'took 0.00250000000000000000000000001 ms' >"$WORK/long.log"
"$FEED" --socket "$SOCK" --once --from start --match 'took (?<ms>\S+)' \
  --sample 'long/us={ms}*1000 type=value mode=products' "$WORK/long.log" >"$WORK/once" 2>&1
check_eq '3 1 line, 1 matched, 0 unmatched; 1 sample, 1 rounded' \
  "$(value long us) $(grep matched "$WORK/once")" "a number of any length is rounded exactly"

printf '%s x\n' 2001-01-01T00:00:00+0000 2100-01-01T00:00:00+0000 "$(date -u +%FT%T%z)" no \
  >"$WORK/timed.log"
"$FEED" --socket "$SOCK" --once --from start --time %Y-%m-%dT%H:%M:%S%z \
  --match '^(?<time>\S+) x' --count timed/x "$WORK/timed.log" >"$WORK/once" 2>"$WORK/said"
check_eq '4 lines, 4 matched, 0 unmatched; 4 samples, 3 undated' "$(cat "$WORK/once")" \
  "times that are old, to come, or none are undated"
check "which the log says" grep -q '3 lines count as of now: their time is older' "$WORK/said"
mkfifo "$WORK/slow"
"$FEED" --socket "$SOCK" --once --time %Y-%m-%dT%H:%M:%S%z --match '^(?<time>\S+) y' \
  --count timed/y - <"$WORK/slow" >"$WORK/once" 2>"$WORK/said" &
SLOW=$!
exec {SLOW_INPUT}>"$WORK/slow"
echo "$(date -u +%FT%T%z) y" >&"$SLOW_INPUT"
becomes 1 value timed y
BEGUN=$EPOCHSECONDS
wait_until '[ $EPOCHSECONDS -ge $((BEGUN + 3)) ]'
echo "$(date -u +%FT%T%z) y" >&"$SLOW_INPUT"
exec {SLOW_INPUT}>&-
wait "$SLOW"
check_eq '2 lines, 2 matched, 0 unmatched; 2 samples' "$(cat "$WORK/once")" \
  "lines that a pipe brings seconds after the start have their times"
seq 200000 | sed 's/$/ x/' >"$WORK/held.log"
"$FEED" --socket "$WORK/none" --once --match x --count a/b - <"$WORK/held.log" >"$WORK/once" \
  2>"$WORK/said" &
DROPPING=$!
wait_until 'grep -q "pos:.$(stat -c %s "$WORK/held.log")$" /proc/$DROPPING/fdinfo/0'
kill "$DROPPING"
wait "$DROPPING"
check_eq 1 "$?" "the standard input without a daemon ends with 1"
check "and says what was dropped" grep -Eq 'samples, [0-9]+ dropped$' "$WORK/once"

# ---- 1,000 statistics of a name, 16,000 of all
seq 0 16999 | awk '{ print "name" int($1 / 1000), $1 % 1000 }' >"$WORK/series.log"
"$FEED" --socket "$SOCK" --once --from start --match '^(?<name>\w+) (?<n>\d+)$' \
  --count 'series/{name}{n:{n}}' "$WORK/series.log" >"$WORK/once" 2>"$WORK/said"
check_eq '17000 lines, 17000 matched, 0 unmatched; 17000 samples, 1000 overflowed' \
  "$(cat "$WORK/once")" "16,000 statistics have room, and samples of others go to NAME{*}"

# ---- positions
KEPT=(--socket "$SOCK" --once --positions "$WORK/kept" --match x --count kept/x)
echo x >"$WORK/kept.log"
"$FEED" "${KEPT[@]}" --from start "$WORK/kept.log" >"$WORK/once" 2>&1
check_eq 1 "$(value kept x)" "a file with positions counts"
size=$(stat -c %s "$WORK/kept")
truncate -s 0 "$WORK/kept" && truncate -s "$size" "$WORK/kept"
"$FEED" "${KEPT[@]}" --from start "$WORK/kept.log" >"$WORK/once" 2>"$WORK/said"
check_eq "0 1 2" "$? $(grep -c 'has zero bytes alone' "$WORK/said") $(value kept x)" \
  "positions that a crash has blanked begin again, which is said"
echo x2 >>"$WORK/kept.log"
cp "$WORK/kept.log" "$WORK/kept.log.1"
echo x3 >"$WORK/kept.log"
"$FEED" "${KEPT[@]}" "$WORK/kept.log" >"$WORK/once" 2>"$WORK/said"
check_eq "4 1" "$(value kept x) $(value tally-feed-log truncations)" \
  "what was copied and cut while no feeder ran counts once"

# ---- positions come to the disk while lines come, once a second at most
if command -v strace >/dev/null; then
  # -D: the feeder is the process that is started.
  start strace -D -f -qq -e trace=msync -o "$WORK/synced" "$FEED" --socket "$SOCK" \
    --positions "$WORK/synced.at" --match x --count synced/x "$WORK/synced.log"
  BEGUN=$EPOCHREALTIME
  syncs() { grep -c 'msync(.*MS_SYNC) *= 0' "$WORK/synced"; }
  has_synced() { echo x >>"$WORK/synced.log" && [ "$(syncs)" -ge 4 ]; }
  check "positions are synced to the disk while lines come" wait_until has_synced
  times=$(syncs)
  us=$((${EPOCHREALTIME/./} - ${BEGUN/./}))
  check "at most once a second: $times in $us us" [ "$us" -ge $(((times - 1) * 1000000)) ]
  stop "$PID"
else
  echo "ok $((COUNT += 1)) - positions come to the disk # SKIP strace IS NOT INSTALLED"
fi

# ---- new rules, wrong ones and right ones
cat >"$WORK/live.rules" <<'RULES'
match took (?<ms>\S+) ms
  sample app/us = {ms}*1000 units=microseconds/queries
RULES
start_feeder --rules "$WORK/live.rules" "$LOG"
echo 'took 1 ms' >>"$LOG"
becomes 1000 value app us
echo 'took long ms' >>"$LOG"
check "the log says what was refused, and where" \
  wait_until 'grep -q "app.log: value: this is no decimal number: took  *-->long ms" "$SAID"'
echo 'match took' >"$WORK/live.rules"
kill -HUP "$FEEDER"
check "wrong rules are told, with their line" \
  wait_until 'grep -q "the rules stay as they were: .*line 1: the rule above has no action" "$SAID"'
echo 'took 2 ms' >>"$LOG"
largest() { data app | awk '$1 == "us" { print $NF }'; }
becomes 2000 largest
printf 'match took\n  count app/again\n' >"$WORK/live.rules"
kill -HUP "$FEEDER"
check "right ones are read" wait_until 'grep -q "the rules were read again" "$SAID"'
echo 'took 3 ms' >>"$LOG"
becomes 1 value app again
printf 'match took\n  count app/again decimals=3\n' >"$WORK/live.rules"
kill -HUP "$FEEDER"
check "rules that would mix two scales are refused" \
  wait_until 'grep -q "line 2: samples of this name have decimals=0 already" "$SAID"'
printf 'match took\n  sample app/again = 1 units=milliseconds/queries\n' >"$WORK/live.rules"
kill -HUP "$FEEDER"
check "also where their units alone differ" \
  wait_until 'grep -q "line 2: samples of this name have no units already" "$SAID"'
echo 'took 4 ms' >>"$LOG"
becomes 2 value app again
"$BIN/tallyctl" --mount "$MNT" rm app/again
for i in $(seq 7); do echo 'took 5 ms' >>"$LOG"; done
becomes 7 value app again
# It looks at its files once a second: six wakes take two seconds at least.
switches() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$FEEDER/status"; }
wakes_seldom() {
  local until=$(($(switches) + 6)) begun=$EPOCHREALTIME
  wait_until "[ \$(switches) -ge $until ]"
  [ $(((${EPOCHREALTIME/./} - ${begun/./}) / 1000000)) -ge 2 ]
}
check "without new lines it sleeps" wait_until wakes_seldom
stop "$FEEDER"
check_eq 0 "$STATUS" "SIGTERM ends the feeder well"
# The shortest of three: the machine may be busy. A look at all files would come after a second.
ends_at_once() {
  local begun
  for _ in 1 2 3; do
    start_feeder --rules "$WORK/live.rules" "$LOG"
    wait_until wakes_seldom
    begun=$EPOCHREALTIME
    stop "$FEEDER"
    [ $(((${EPOCHREALTIME/./} - ${begun/./}) / 1000)) -ge 700 ] || return 0
  done
  return 1
}
check "and at once if it is idle" ends_at_once

# ---- its own numbers are those of the page
own=$(sed 's/^name=\([^ {]*\).*/\1/' "$MNT/statistics/tally-feed-log/definition" | sort -u)
page=$(sed -n '/^| statistic | counts |/,/^$/s/^| \(`[^|]*\) |.*/\1/p' "$here/../../docs/logs.md" |
  grep -o '`[a-z_][a-z_]*' | tr -d '`' | sort -u)
check_eq "$page" "$own" "docs/logs.md names all of its own numbers"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
