#!/usr/bin/env bash
# tally-feed-log, on real files and a real mount: what programs wrote, and what stands in the tree.
# Longer than most: one daemon and its tree serve all cases. TALLY_LINES, TALLY_ROTATIONS and
# TALLY_KILLS prolong it, as `tests/run long` does.
LINES_READ=${TALLY_LINES:-100000} ROTATIONS=${TALLY_ROTATIONS:-20} KILLS=${TALLY_KILLS:-20}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
FEED=$BIN/tally-feed-log LOG=$WORK/app.log
DATA=$MNT/statistics/tally-feed-log/data
writer() { python3 "$here/log_writer.py" "$@"; }
# The value of a statistic: the last field of its first line.
value() { data "$1" 2>/dev/null | awk -v name="$2" '$1 == name { print $NF; exit }'; }
becomes() {
  local wanted=$1
  shift
  EXPR="\"\$($*)\" = \"$wanted\""
  wait_until "[ $EXPR ]" && ok "$* is $wanted" || not_ok "$* is $wanted" "got: $("$@")"
}
start_feeder() { start "$FEED" --socket "$SOCK" "$@"; FEEDER=$PID SAID=$WORK/output.$OUTPUTS.err; }
# What each line `took N ms` becomes.
TOOK=(--match 'took (?<ms>\d+) ms' --sample 'app/ms={ms} type=value mode=products'
  --count app/lines)

# ---- without a daemon
printf '%s\n' 'took 12.5 ms' 'took long ms' 'GET /cart/17?x=1 200' 'hello 1' 'hello 2' >"$LOG"
cat >"$WORK/app.rules" <<'RULES'
# what the application writes
match took (?<ms>\S+) ms
  sample app/us = {ms}*1000 units=microseconds/queries
match! GET (?<path>\S+) (?<status>\d+)
  count app/requests{status:{status|class},route:{path|route}}
RULES
"$FEED" --rules "$WORK/app.rules" --check <"$LOG" >"$WORK/checked"
check_eq 1 $? "--check ends with 1 if something is refused"
check_eq 'took 12.5 ms
  line 2: match took (?<ms>\S+) ms
    app/us 12500 microseconds
took long ms
  line 2: match took (?<ms>\S+) ms
     ^ refused, value: this is no decimal number
GET /cart/17?x=1 200
  line 4: match GET (?<path>\S+) (?<status>\d+)
    app/requests{route:%2Fcart%2F*,status:2xx} 1
hello 1
hello 2
no rule takes:
  2 like hello 1
5 lines, 3 matched, 2 unmatched, 1 refused' "$(cat "$WORK/checked")" "and says what each line does"
cp "$LOG" "$WORK/app.log.1"
check_eq '10 lines, 6 matched, 4 unmatched, 2 refused' \
  "$("$FEED" --rules "$WORK/app.rules" --check "$WORK/app.log*" | tail -1)" \
  "--check finds the files of a pattern"
rm "$WORK/app.log.1"
check_eq '10 lines, 6 matched, 4 unmatched, 2 refused' \
  "$("$FEED" --rules "$WORK/app.rules" --check - "$LOG" <"$LOG" | tail -1)" \
  "and reads the standard input beside a file"
(ulimit -v 300000 && head -c 500M /dev/zero | "$FEED" --rules "$WORK/app.rules" --check) \
  >"$WORK/checked" 2>&1
check_eq '1 lines, 0 matched, 1 unmatched, 0 refused' "$(tail -1 "$WORK/checked")" \
  "a line without an end takes no memory"
timeout 10 "$FEED" --rules "$WORK/app.rules" --check /dev/zero >"$WORK/checked" 2>&1
check_eq "1 1" "$? $(grep -c 'no regular file' "$WORK/checked")" "a device is no log to --check"
said=$("$FEED" --rules "$WORK/app.rules" --check --journal app 2>&1)
check_eq "2 tally-feed-log: --check reads FILE or the standard input, not --journal" "$? $said" \
  "nor is the journal"
sed 's/status|class/status|clas/' "$WORK/app.rules" >"$WORK/wrong.rules"
said=$("$FEED" --rules "$WORK/wrong.rules" "$LOG" 2>&1)
check_eq "2 tally-feed-log: $WORK/wrong.rules, line 5: there is no filter 'clas'; did you mean class
    count app/requests{status:{status|clas},route:{path|route}}
                                      ^" "$? $said" "a wrong rule has its line and a caret"
"$FEED" --match x --count a/b --once "$LOG" --socket "$WORK/none" --positions "$LOG" 2>/dev/null
check_eq 1 $? "a log is no file of positions"
check_eq 5 "$(wc -l <"$LOG")" "and stays as it is"
# refused WHAT STATUS TEXT ARGUMENT...: how it ends, and what it says.
refused() {
  local what=$1 status=$2 text=$3
  shift 3
  timeout 10 "$FEED" --socket "$WORK/none" --match x --count a/b "$@" >"$WORK/said" 2>&1 </dev/null
  check_eq "$status 1" "$? $(grep -c -- "$text" "$WORK/said")" "$what"
}
gzip -c "$LOG" >"$LOG.gz"
refused "a compressed file is refused, with the way out" 2 \
  "app.log.gz: compressed files are not read; zcat $LOG.gz | tally-feed-log --once ... -" "$LOG.gz"
refused "so is a directory" 2 "$WORK: this is a directory; a pattern finds the logs in it" "$WORK"
refused "also by --check" 2 "this is a directory" --check "$WORK"
said=$("$FEED" --rules "$WORK" "$LOG" 2>&1)
check_eq "2 tally-feed-log: --rules: $WORK is a directory" "$? $said" "and by --rules"
printf 'match )x\n' >"$WORK/wrong.rules"
said=$("$FEED" --rules "$WORK/wrong.rules" "$LOG" 2>&1)
check_eq "2 tally-feed-log: $WORK/wrong.rules, line 1: a ) has no (
  match )x
        ^" "$? $said" "a parenthesis has its place"

echo '# nothing yet' >"$WORK/wrong.rules"
said=$("$FEED" --rules "$WORK/wrong.rules" "$LOG" 2>&1)
check_eq "2 tally-feed-log: $WORK/wrong.rules: there is no rule: match PATTERN" "$? $said" \
  "rules without a rule are refused by the name of their file"
check_eq '    app/took 1500 microseconds' "$(echo 'took 1.5ms' | "$FEED" --match 'took (?<t>\S+)' \
  --sample 'app/took={t|duration}' --check | sed -n 3p)" "a duration is not rounded to seconds"

# ends_soon TEXT FILE [STDIN]: with --once and without a daemon, SIGTERM ends it once it says TEXT.
ends_soon() {
  local begun
  "$FEED" --socket "$WORK/none" --once --from start "${TOOK[@]}" "$2" <"${3:-/dev/null}" \
    >/dev/null 2>"$WORK/said" &
  wait_until "grep -q '$1' '$WORK/said'"
  begun=$SECONDS
  kill "$!"
  wait "$!"
  check_eq 1 $? "--once without a daemon ends with 1 at a signal: $1"
  check "and at once" [ $((SECONDS - begun)) -le 5 ]
}
seq 60000 | sed 's/$/ took 3 ms/' >"$WORK/many"
ends_soon 'no daemon yet' "$WORK/many"
ends_soon 'Is a directory' - "$WORK"
begun=$SECONDS
"$FEED" --socket "$WORK/none" --once --from start "${TOOK[@]}" "$LOG" >"$WORK/said" 2>&1
check_eq 1 $? "--once without a daemon ends with 1"
check "in less than the ten seconds of a daemon that is slow" [ $((SECONDS - begun)) -le 8 ]

# ---- the formats, with lines that programs have written (log_programs_test.sh has more of them)
does() {  # does FORMAT LINE: what comes of the line
  printf '%s\n' "$2" | "$FEED" --format "$1" --check | sed -n 's/^    //p'
}
check_eq 'sshd/logins{method:password,result:failed} 1' "$(does sshd \
  'sshd[7]: Failed password for invalid user a b from 192.0.2.1 port 22 ssh2')" "sshd: a failure"
check_eq 'sshd/logins{method:publickey,result:accepted} 1' "$(does sshd \
  'sshd[7]: Accepted publickey for root from ::1 port 5 ssh2: ED25519')" "sshd: a login"
check_eq 'sshd/logins{method:password,result:failed} 1' "$(does sshd \
  'Nov 26 14:30:00 host sshd[7]: Failed password for root from 192.0.2.1 port 22 ssh2')" \
  "sshd: a failure of auth.log"
forged='Accepted password for root from 192.0.2.1 port 22 ssh2'
check_eq 'sshd/logins{method:none,result:failed} 1' "$(does sshd "Nov 26 14:30:00 host sshd[7]: \
Failed none for invalid user x sshd[1]: $forged from 192.0.2.9 port 1 ssh2")" \
  "sshd: the name of a user forges no login"
check_eq '' "$(does sshd "Nov 26 14:30:00 host cron[7]: (sshd[1]: $forged)")" \
  "sshd: nor does another program"
check_eq 'sshd/logins{method:password,result:failed} 4' "$(does sshd 'Nov 26 14:30:00 h sshd[7]: '\
'message repeated 4 times: [ Failed password for root from 192.0.2.1 port 22 ssh2]')" \
  "sshd: failures that rsyslog has counted"
check_eq 'kernel/oom_kills{command:a%20b} 1' "$(does kernel \
  'kernel: Out of memory: Killed process 12 (a b) total-vm:1kB')" "the kernel: out of memory"
check_eq 'kernel/io_errors{device:sda} 1' "$(does kernel \
  '[1.2] I/O error, dev sda, sector 5 op 0x0:(READ)')" "the kernel: an I/O error"
while IFS='|' read -r type line; do
  check_eq "kernel/filesystem_errors{type:$type} 1" "$(does kernel "kernel: [1.2] $line")" \
    "the kernel: ${line%% (*}"
done <<'LINES'
ext4-fs|EXT4-fs error (device sda1): ext4_lookup:1: inode #2: comm ls: deleted inode
btrfs|BTRFS error (device sda1): bdev /dev/sda1 errs: wr 1, rd 0
btrfs|BTRFS: error (device sda1) in btrfs_commit:1: errno=-5 IO failure
xfs|XFS (sda1): metadata I/O error in "xfs_trans_read_buf_map" at daddr 0x1 len 8 error 5
xfs|XFS (sda1): Metadata corruption detected at xfs_inode_buf_verify+0x1
LINES
check_eq '' "$(does kernel 'kernel: EXT4-fs (sda1): error count since last fsck: 4')" \
  "the kernel: what it remembers of old errors counts not again"
check_eq 'postgresql/duration 12345 microseconds
postgresql/duration_by{verb:select} 12345 microseconds' "$(does postgresql \
  '2026-11-26 UTC [1] LOG:  duration: 12.345 ms  statement: SELECT 1;')" "PostgreSQL: a statement"
check_eq 'nginx/requests{status:200} 1
nginx/latency{route:%2Fx,status:200} 143000 microseconds
nginx/bytes 9 bytes
nginx/upstream_latency 140000 microseconds' "$(does nginx \
  '::1 - - [26/Nov/2026:14:30:00 +0000] "GET /x?q HTTP/1.1" 200 9 "-" "curl" 0.143 0.140')" \
  "nginx: a request of an upstream"
check_eq 'json/lines{level:info} 1' "$(does json '{"level":"INFO"}')" "JSON"
check_eq 'json/lines{level:caf%E9} 1' "$(does json $'{"level":"caf\xe9"}')" "JSON that is not UTF-8"
check_eq 'logfmt/lines{level:warn} 1' "$(does logfmt 'level=warn msg="a b"')" "logfmt"

# ---- exactly what awk counts, of random lines
start_daemon
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
mkfifo "$WORK/"$'fifo\e[2J.log'
check_eq '' "$(once "$WORK/"$'fifo*.log' | grep $'\e')" "no control byte of a name comes to the log"
check_eq 1 "$(once "$WORK/fifo*.log" | grep -c 'fifo.x1b\[2J.log: this is no regular')" \
  "which has the name"
rm "$WORK/"fifo*
echo 'took 0.00250000000000000000000000001 ms' >"$WORK/long.log"
"$FEED" --socket "$SOCK" --once --from start --match 'took (?<ms>\S+)' \
  --sample 'long/us={ms}*1000 type=value mode=products' "$WORK/long.log" >"$WORK/once" 2>&1
check_eq '3 1 lines, 1 matched, 0 unmatched; 1 samples, 1 rounded' \
  "$(value long us) $(grep matched "$WORK/once")" "a number of any length is rounded exactly"

printf '%s x\n' 2001-01-01T00:00:00+0000 2100-01-01T00:00:00+0000 "$(date -u +%FT%T%z)" no \
  >"$WORK/timed.log"
"$FEED" --socket "$SOCK" --once --from start --time %Y-%m-%dT%H:%M:%S%z \
  --match '^(?<time>\S+) x' --count timed/x "$WORK/timed.log" >"$WORK/once" 2>"$WORK/said"
check_eq '4 lines, 4 matched, 0 unmatched; 4 samples, 3 undated' "$(cat "$WORK/once")" \
  "times that are old, to come, or none are undated"
check "which the log says" grep -q '3 lines count as of now: their time is older' "$WORK/said"
seq 200000 | sed 's/$/ x/' >"$WORK/held.log"
"$FEED" --socket "$WORK/none" --once --match x --count a/b - <"$WORK/held.log" >"$WORK/once" \
  2>"$WORK/said" &
DROPPING=$!
wait_until 'grep -q "pos:.$(stat -c %s "$WORK/held.log")$" /proc/$DROPPING/fdinfo/0'
kill "$DROPPING"
wait "$DROPPING"
check_eq 1 "$?" "the standard input without a daemon ends with 1"
check "and says what was dropped" grep -Eq 'samples, [0-9]+ dropped$' "$WORK/once"

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

# ---- rotations under a writer
: >"$LOG"
start_feeder "${TOOK[@]}" "$LOG"
read -r lines total rotations < <(writer write "$LOG" $((ROTATIONS * 1000)) 20000 create)
becomes "$lines" value app lines
check_eq "$total" "$(value app ms)" "$rotations renames lose nothing"
echo "# measured: $rotations renames under $lines lines"
becomes $((rotations + 1)) value tally-feed-log rotations
read -r more sum cuts < <(writer write "$LOG" 10000 50000 truncate "$DATA")
becomes $((lines + more)) value app lines
check_eq "$((total + sum))" "$(value app ms)" \
  "$cuts truncations lose nothing that the file has"
becomes $((cuts + 1)) value tally-feed-log truncations
lines=$((lines + more))
rm "$LOG".*
read -r more copied copies < <(writer write "$LOG" $((ROTATIONS * 1000)) 20000 copytruncate)
becomes $((lines + more)) value app lines
check_eq "$((total + sum + copied)) 0" "$(value app ms) $(value tally-feed-log unread)" \
  "$copies copies and cuts lose nothing, also where the copy alone has it"
echo "# measured: $copies copies and cuts under $more lines"
lines=$((lines + more)) sum=$((sum + copied))
rm "$LOG".*

# ---- reloads of the daemon meanwhile
writer write "$LOG" 20000 10000 none >"$WORK/wrote" &
WRITER=$!
for i in 1 2 3; do
  "$BIN/tallyfs" --reload "$MNT" >"$WORK/reload" 2>&1 ||
    not_ok "reload $i" "$(cat "$WORK/reload")"
done
wait "$WRITER"
becomes $((lines + 20000)) value app lines
check_eq "$((total + sum + $(cut -d' ' -f2 "$WORK/wrote")))" "$(value app ms)" \
  "reloads lose nothing and count nothing twice"

# ---- new rules, wrong ones and right ones
stop "$FEEDER"
cp "$WORK/app.rules" "$WORK/live.rules"
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

# ---- kill -9 with positions, while files rotate; each line has a number of its own
kills() {  # kills HOW: by which the log rotates
  local log=$WORK/killed-$1.log lines twice exact lost more
  : >"$log"
  read -r lines twice exact < <(writer kill "$log" $((KILLS * 2000)) 20000 "$1" "$KILLS" "$DATA" \
    "$FEED" --socket "$SOCK" --positions "$WORK/positions-$1" --match 'took (?<ms>\d+) ms' \
    --sample "killed-$1/ms={ms} type=list entries_max=1000000" --count "killed-$1/lines" "$log")
  data "killed-$1" | writer twice "$lines" >"$WORK/killed"
  read -r lost more <"$WORK/killed"
  echo "# measured: $KILLS kills, $1: of $lines lines $lost lost, $more twice of $twice that may"
  check_eq 0 "$lost" "$1: of $lines lines none is lost by kills"
  check "$more count twice, of $twice that may" [ "$more" -ge 0 -a "$more" -le "$twice" ]
  check "$exact starts said that one line at most counts twice" [ "$exact" -ge 1 ]
}
kills create
kills copytruncate

# ---- SIGTERM amid lines whose new series go by the socket: what was sent is confirmed first
for i in $(seq 900); do echo "name$i took 3 ms"; done >"$WORK/ended.log"
ENDED=(--positions "$WORK/ended" --from start --match '(?<n>\w+) took' --count ended/lines
  --count 'ended/by{n:{n}}' "$WORK/ended.log")
start "$FEED" --socket "$SOCK" "${ENDED[@]}"
wait_until '[ "$(value ended lines)" -ge 1 ]'
stop "$PID"
"$FEED" --socket "$SOCK" --once "${ENDED[@]}" >/dev/null 2>&1
check_eq 900 "$(value ended lines)" "SIGTERM makes no line count twice"

# ---- the journal, of which a position is kept, too
REMOTE=/lib/systemd/systemd-journal-remote
if [ -x $REMOTE ]; then
  entries() {  # entries FIRST LAST
    local i
    for i in $(seq "$1" "$2"); do
      printf '%s\n' "__REALTIME_TIMESTAMP=17641660000000$i" "__MONOTONIC_TIMESTAMP=10000$i" \
        _BOOT_ID=0123456789abcdef0123456789abcdef "PRIORITY=$((i % 2))" _SYSTEMD_UNIT=app.service \
        "MESSAGE=took $i ms" ''
    done
  }
  journal() {
    "$FEED" --socket "$SOCK" --journal app --journal-directory "$WORK/journal" --from start --once \
      --positions "$WORK/cursor" --match 'took (?<ms>\d+) ms' \
      --sample 'journal/ms{priority:{PRIORITY}}={ms} type=value mode=products' 2>"$WORK/said"
  }
  mkdir "$WORK/journal"
  entries 10 29 | "$REMOTE" -o "$WORK/journal/a.journal" - 2>"$WORK/remote"
  check_eq '20 lines, 20 matched, 0 unmatched; 20 samples' "$(journal)" "a unit's journal is read"
  entries 30 39 | "$REMOTE" -o "$WORK/journal/a.journal" - 2>"$WORK/remote"
  check_eq '10 lines, 10 matched, 0 unmatched; 10 samples' "$(journal)" "and continues where it was"
  journal() {  # journal ARGUMENT...: of a position of its own, what comes after the first call
    "$FEED" --socket "$SOCK" --journal app --journal-directory "$WORK/journal" --once \
      --match 'took (?<ms>\d+) ms' --count journal/later "$@" 2>"$WORK/said"
  }
  journal --positions "$WORK/quiet" >"$WORK/once"
  entries 40 44 | "$REMOTE" -o "$WORK/journal/a.journal" - 2>"$WORK/remote"
  check_eq '5 lines, 5 matched, 0 unmatched; 5 samples' "$(journal --positions "$WORK/quiet")" \
    "a feeder that has read no entry continues, too"
  rm "$WORK/journal/a.journal"
  entries 50 52 | "$REMOTE" -o "$WORK/journal/b.journal" - 2>"$WORK/remote"
  check_eq '3 lines, 3 matched, 0 unmatched; 3 samples' "$(journal --positions "$WORK/quiet")" \
    "where its entry is gone it reads the first that there is"
  check "and says so" grep -q 'does not know the position any more' "$WORK/said"
  JOURNALS=$WORK/journals
  mkdir "$JOURNALS"
  unit() {  # unit POSITIONS ARGUMENT...: of a unit that has no entry at first
    "$FEED" --socket "$SOCK" --journal-directory "$JOURNALS" --once --match 'took' \
      --count 'journal/unit{u:{_SYSTEMD_UNIT}}' --positions "$@" 2>"$WORK/said"
  }
  entries 10 12 | sed 's/app.service/other.service/' |
    "$REMOTE" -o "$JOURNALS/a.journal" - 2>"$WORK/remote"
  unit "$WORK/early" --journal app >"$WORK/once"
  entries 20 21 | "$REMOTE" -o "$JOURNALS/a.journal" - 2>"$WORK/remote"
  check_eq '2 lines, 2 matched, 0 unmatched; 2 samples' "$(unit "$WORK/early" --journal app)" \
    "the first entries of a unit come after a start that found none"
  printf '%s\n' __REALTIME_TIMESTAMP=1764166000000030 __MONOTONIC_TIMESTAMP=1000030 \
    _BOOT_ID=0123456789abcdef0123456789abcdef _SYSTEMD_UNIT=app.service \
    "MESSAGE=took $(head -c 100000 /dev/zero | tr '\0' x)" '' |
    "$REMOTE" -o "$JOURNALS/a.journal" - 2>"$WORK/remote"
  check_eq '1 lines, 1 matched, 0 unmatched; 1 samples, 1 lines cut' "$(unit "$WORK/early" --journal app)" \
    "a message that is too long is cut, and counted"
  check_eq '6 lines, 6 matched, 0 unmatched; 6 samples, 1 lines cut' \
    "$(unit "$WORK/all" --from start)" "--journal-directory alone has the fields of all"
  check_eq '360 375' "$(value journal 'ms{priority:0}') $(value journal 'ms{priority:1}')" \
    "by a field of it"
else
  echo "ok $((COUNT += 1)) - a unit's journal is read # SKIP NO systemd-journal-remote"
fi

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
check_eq '3 lines, 2 matched, 1 unmatched; 1 samples, 2 refused' "$(cat "$WORK/once")" \
  "JSON by a pipe; what is none is refused"
check_eq 'json' "$(ls "$MNT/statistics" | grep '^json')" "its number is there"
python3 - >"$WORK/hostile.log" <<'LINES'
import sys
out = sys.stdout.buffer
out.write(b"took 1 ms " + b"x" * 10_000_000 + b"\n")
out.write(b"took 2 ms \0\x1b[2J\xff\n")
out.write(b"a" * 60000 + b"!\n")
for number in range(3000):
    out.write(b"path /%d/\x1b%d took 3 ms\n" % (number, number))
LINES
"$FEED" --socket "$SOCK" --from start --once --match '((a*)*b)*(?<path>/\S+)? ?took (?<ms>\d+)' \
  --sample 'hostile/ms{p:{path}}={ms}' --count 'hostile/all' "$WORK/hostile.log" >"$WORK/once" \
  2>/dev/null
said='3003 lines, 3002 matched, 1 unmatched; 6002 samples'
check_eq "$said, 2 absent, 2000 overflowed, 1 lines cut" "$(cat "$WORK/once")" \
  "hostile lines are counted, and bounded"
check_eq '' "$(data hostile | grep -a $'[\x01-\x09\x0b-\x1f]')" \
  "no control byte comes into the tree"
mkfifo "$WORK/fifo"
timeout 20 "$FEED" --socket "$SOCK" --match x --count a/b --once "$WORK/fifo" \
  >"$WORK/once" 2>"$WORK/said"
check_eq "1 1" "$? $(grep -c 'no regular file' "$WORK/said")" \
  "a FIFO is refused, and waits for no writer"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
