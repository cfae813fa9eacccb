#!/usr/bin/env bash
# tally-feed-log with many rules, hostile lines, and what comes by pipes. TALLY_PATHS has more
# different paths.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"
PATHS=${TALLY_PATHS:-3000}
start_daemon

# ---- 1,000 rules, and lines that make RE2 use its memory
for i in $(seq 1000); do
  printf 'match [ab]a[ab]{%d}c(?<n>%d?[0-9]*)\n' $((i % 4 + 12)) $((i % 10))
  echo '  count many/rules{n:{n}}'
done >"$WORK/many.rules"
python3 - >"$WORK/many.log" <<'LINES'
import random
draw = random.Random(1)
for number in range(5):
    print("".join(draw.choices("ab", k=3000)) + "c" + str(number))
LINES
kib=$(python3 - "$FEED" --socket "$SOCK" --once --from start --rules "$WORK/many.rules" \
  "$WORK/many.log" <<'RUN'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
RUN
)
check "1,000 rules take $((kib / 1024)) MiB, the unit allows 256 while two of them live" \
  [ "$kib" -le $((128 << 10)) ]

# ---- a signal ends what waits for a pipe
mkfifo "$WORK/pipe"
exec {pipe}<>"$WORK/pipe"
"$FEED" --socket "$SOCK" --match x --count piped/x --once - <"$WORK/pipe" >"$WORK/once" \
  2>/dev/null &
PIPED=$!
echo x >&"$pipe"
becomes 1 value piped x
kill -TERM "$PIPED"
check "a signal ends the wait for a pipe" wait_until '! kill -0 "$PIPED"'
exec {pipe}>&-

# ---- by a pipe, the page's fields of JSON, and hostile lines
printf '{"t":{"s":0.25},"r":"/a/7"}\nnot json\n{"t":{"s":"x"},"r":"/a/8"}\n' |
  "$FEED" --socket "$SOCK" --json --once --sample 'json/s{r:{.r|route}}={.t.s} decimals=3' - \
    >"$WORK/once" 2>/dev/null
check_eq '3 lines, 2 matched, 1 unmatched; 1 sample, 2 refused' "$(cat "$WORK/once")" \
  "JSON by a pipe; what is none is refused"
check_eq 'json' "$(ls "$MNT/statistics" | grep '^json')" "its number is there"
python3 - "$PATHS" >"$WORK/hostile.log" <<'LINES'
import sys
out = sys.stdout.buffer
out.write(b"took 1 ms " + b"x" * 10_000_000 + b"\n")
out.write(b"took 2 ms \0\x1b[2J\xff\n")
out.write(b"a" * 60000 + b"!\n")
for number in range(int(sys.argv[1])):
    out.write(b"path /%d/\x1b%d took 3 ms\n" % (number, number))
LINES
"$FEED" --socket "$SOCK" --from start --once --match '((a*)*b)*(?<path>/\S+)? ?took (?<ms>\d+)' \
  --sample 'hostile/ms{p:{path}}={ms}' --count 'hostile/all' "$WORK/hostile.log" >"$WORK/once" \
  2>/dev/null
said="$((PATHS + 3)) lines, $((PATHS + 2)) matched, 1 unmatched; $((2 * PATHS + 2)) samples"
check_eq "$said, 2 absent, $((PATHS - 1000)) overflowed, 1 line cut" "$(cat "$WORK/once")" \
  "$PATHS paths and other hostile lines are counted, and bounded"
check_eq '' "$(data hostile | grep -a $'[\x01-\x09\x0b-\x1f]')" \
  "no control byte comes into the tree"
mkfifo "$WORK/fifo"
timeout 20 "$FEED" --socket "$SOCK" --match x --count a/b --once "$WORK/fifo" \
  >"$WORK/once" 2>"$WORK/said"
check_eq "1 1" "$? $(grep -c 'no regular file' "$WORK/said")" \
  "a FIFO is refused, and waits for no writer"

# ---- a log where others may write is swapped for a link to what they may not read
echo secret >"$WORK/secret.log"
mkdir -m 1777 "$WORK/shared"
SHARED=(--from start --match '^(?<word>[a-z]+)$' --count 'shared/lines{w:{word}}')
start_feeder "${SHARED[@]}" "$WORK/shared/*.log"
for i in $(seq 300); do
  echo own >"$WORK/shared/new"
  mv "$WORK/shared/new" "$WORK/shared/x.log"
  ln -s "$WORK/secret.log" "$WORK/shared/link"
  mv "$WORK/shared/link" "$WORK/shared/x.log"
done
echo last >"$WORK/shared/last.log"
becomes 1 value shared 'lines{w:last}'
check_eq '' "$(value shared 'lines{w:secret}')" "a link that others put there is not followed"
check "the log says so" grep -q 'x.log: a symbolic link where others may write' "$SAID"
stop "$FEEDER"
"$FEED" --socket "$SOCK" --once "${SHARED[@]}" "$WORK/shared/x.log" >"$WORK/once" 2>&1
check_eq 1 "$(value shared 'lines{w:secret}')" "one that a person names is"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
