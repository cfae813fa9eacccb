#!/usr/bin/env bash
# tally-feed-log without a daemon: what --check says of lines, which rules and files are refused,
# and what the shipped formats make of lines (log_programs_test.sh has those of real programs).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"

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
check_eq '1 line, 0 matched, 1 unmatched, 0 refused' "$(tail -1 "$WORK/checked")" \
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

refused "a word of other tools is refused with the right one" 2 \
  "a sum of X is mode=products, a sum of Y is mode=increments" \
  --sample 'app/us=1 type=value mode=sum' "$LOG"
echo '# nothing yet' >"$WORK/wrong.rules"
said=$("$FEED" --rules "$WORK/wrong.rules" "$LOG" 2>&1)
check_eq "2 tally-feed-log: $WORK/wrong.rules: there is no rule: match PATTERN" "$? $said" \
  "rules without a rule are refused by the name of their file"
check_eq '    app/took 0.001500 seconds' "$(echo 'took 1.5ms' | "$FEED" --match 'took (?<t>\S+)' \
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
check_eq 'postgresql/messages{level:error} 1' "$(does postgresql \
  '2026-11-26 12:00:00.123 UTC [9-1] me@db ERROR:  relation "x" does not exist at character 15')" \
  "PostgreSQL: an error"
check_eq 'postgresql/duration 500 microseconds' "$(does postgresql \
  'Nov 26 14:30:00 host postgres[7]: [3-1] LOG:  duration: 0.500 ms')" \
  "PostgreSQL: a duration by syslog"
check_eq 'postgresql/duration 500 microseconds' "$(does postgresql \
  '2026-11-26 14:30:00 UTC [77]: LOG:  duration: 0.500 ms')" "PostgreSQL: a prefix with a colon"
check_eq 'postgresql/duration 700 microseconds' "$(does postgresql \
  '2026-11-26 14:30:00 UTC:10.0.0.7(5000):me@db:[77]:LOG:  duration: 0.700 ms')" \
  "PostgreSQL: a prefix of colons"
check_eq 'postgresql/messages{level:fatal} 1' "$(does postgresql \
  '2026-11-26 14:30:00 UTC [77]: FATAL:  the database system is starting up')" \
  "PostgreSQL: an error behind a colon"
forged='duration: 99999.000 ms  statement: SELECT'
check_eq 'postgresql/messages{level:error} 1' "$(does postgresql \
  "2026-11-26 UTC [1] ERROR:  invalid input syntax for type integer: \"x LOG:  $forged\"")" \
  "PostgreSQL: a value forges no duration"
check_eq 'postgresql/messages{level:error} 1' "$(does postgresql \
  "2026-11-26 UTC [1] ERROR:  invalid input syntax for type integer: \"x  $forged\"")" \
  "PostgreSQL: also without a severity"
check_eq '' "$(does postgresql "2026-11-26 UTC [1] STATEMENT:  select ' PANIC:  '")" \
  "PostgreSQL: a statement forges no panic"
check_eq '' "$(does postgresql $'\t[1] LOG:  '"$forged")" "PostgreSQL: nor does its second line"
check_eq 'nginx/upstream_latency 0.140000 seconds
nginx/requests{status:200} 1
nginx/latency{route:%2Fx,status:200} 0.143000 seconds
nginx/bytes 9 bytes' "$(does nginx \
  '::1 - - [26/Nov/2026:14:30:00 +0000] "GET /x?q HTTP/1.1" 200 9 "-" "curl" 0.143 0.140')" \
  "nginx: a request of an upstream"
check_eq 'json/lines{level:info} 1' "$(does json '{"level":"INFO"}')" "JSON"
check_eq 'json/lines{level:caf%E9} 1' "$(does json $'{"level":"caf\xe9"}')" "JSON that is not UTF-8"
check_eq 'logfmt/lines{level:warn} 1' "$(does logfmt 'level=warn msg="a b"')" "logfmt"
{
  awk 'BEGIN { for (i = 0; i < 1500; ++i) printf "rare %c%c%c\n", 97 + i % 26, 97 + i / 26 % 26,
    97 + i / 676 }'
  yes 'a frequent kind' | head -n 200
} >"$WORK/kinds"
"$FEED" --check --match nothing --count x/y "$WORK/kinds" >"$WORK/said"
check "a frequent kind is shown behind many rare ones" grep -qx '  200 like a frequent kind' \
  "$WORK/said"

# ---- requests that are none
checked() { "$FEED" --format "$1" --check | grep -o "$1/requests{[^ ]* 1\|[0-9]* unmatched"; }
AT='::1 - - [26/Nov/2026:14:30:00 +0000]'
F=nginx/requests
check_eq "$F{status:400} 1 $F{status:400} 1 $F{status:200} 1 0 unmatched" \
  "$(printf '%s\n' "$AT \"\" 400 0 \"-\" \"-\" 0.000" \
    "$AT \"\\x16\\x03\\x01\" 400 157 \"-\" \"-\"" \
    "$AT \"GET /x HTTP/1.1\" 200 9 \"-\" \"curl\" 0.1" |
    checked nginx | xargs)" "nginx: lines without a request count by status"
F=apache/requests
check_eq "$F{status:408} 1 $F{status:400} 1 $F{status:200} 1 0 unmatched" \
  "$(printf '%s\n' "$AT \"-\" 408 - \"-\" \"-\"" "$AT \"\\x16\\\"\\x03\" 400 157 \"-\" \"-\" 31" \
    "$AT \"GET /x HTTP/1.1\" 200 9 \"-\" \"curl\" 31" |
    checked apache | xargs)" "Apache: so do theirs"

# ---- rules of a pipe, and without an end
timeout 10 "$FEED" --socket "$WORK/none" --once --rules <(printf 'match x\n  count a/b\n') - \
  >"$WORK/said" 2>&1 < <(echo x)
check_eq 1 "$(grep -c '^1 line, 1 matched' "$WORK/said")" "rules may come from a pipe"
said=$(ulimit -v 300000 && timeout 10 "$FEED" --rules /dev/zero --check </dev/null 2>&1)
check_eq "2 1" "$? $(grep -c 'more than 1 MiB' <<<"$said")" "rules without an end are refused"
said=$("$FEED" --format nginx --match x --count a/b "$LOG" 2>&1)
check_eq "2 1" "$? $(grep -c 'only one of --rules, --format and --match' <<<"$said")" \
  "so are several sources of rules"
said=$("$FEED" --format ngnix --check </dev/null 2>&1)
check_eq "2 tally-feed-log: --format: there is no format 'ngnix'; did you mean nginx" "$? $said" \
  "a wrong format is refused with the one that is meant"
check_eq 1 "$("$FEED" --format zzzzzz --check </dev/null 2>&1 |
  grep -c 'there are apache, .*sshd')" "or with all"
mkdir -p "$WORK/away/bin"
cp "$FEED" "$WORK/away/bin/feed"
said=$("$WORK/away/bin/feed" --format nginx --check </dev/null 2>&1)
check_eq "2 1" "$? $(grep -c "there are no formats in $WORK/away/share/tallyfs/logs, which is" \
  <<<"$said")" "where the formats are missing it says where they are looked for"
said=$("$FEED" --match '(?<x>.)' --count 'a/{x|zzzzzzzz}' "$LOG" 2>&1)
check_eq "2 1" "$? $(grep -c "no filter 'zzzzzzzz'; there are .*route" <<<"$said")" \
  "a refusal lists the filters"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
