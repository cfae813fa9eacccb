#!/usr/bin/env bash
# The list of system calls in tallyfs(1) against a daemon that is fed, read, defined and listed.
. "$(dirname "$0")/../feeders/lib.sh"
PROJECT=$(cd "$(dirname "$0")/../.." && pwd)
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
for each in strace socat; do command -v $each >/dev/null || skip_all "$each is not installed"; done
become=()
[ "$(id -u)" -ne 0 ] || become=(--run-as nobody)
start_daemon "${become[@]}" --state "$WORK/state" --state-period 1
export TALLY_SOCKET=$SOCK

strace -f -qq -o "$WORK/calls" -p "$SERVER" 2>"$WORK/strace.err" &
tracer=$!
STARTED+=("$tracer")
wait_until '! grep -q "^TracerPid:[[:space:]]*0$" /proc/$SERVER/task/*/status' ||
  skip_all "strace cannot look into the daemon: $(head -1 "$WORK/strace.err")"
for i in 1 2 3; do printf 'web/a %d\n' 1 2 3 | socat -u - "UNIX-SENDTO:$SOCK"; done
"$BIN/tally-send" 'web/b 7' 'create gone/x type=raw entries_max=1000' \
  'create short lifetime=feeder' 'define web on=1'
! "$BIN/tally-send" -q 'define nowhere on=1'
yes 'web/a 1' | head -c 100000 | socat -u -b 60000 - "UNIX-SENDTO:$SOCK"
echo 'name=a type=raw entries_max=100000' >"$MNT/statistics/web/definition"
! { echo nonsense=1 type=lisp >"$MNT/statistics/web/definition"; } 2>/dev/null
for i in 1 2 3 4; do cat "$MNT"/statistics/*/* "$MNT/tracing/error_log" >/dev/null & \
  readers+=($!); done
wait "${readers[@]}"
ls -lR "$MNT" >/dev/null
df "$MNT" >/dev/null
rmdir "$MNT/statistics/gone"
newest_state() { ls "$WORK/state" | sed -n 's/^state\.\([0-9]*\)$/\1/p' | sort -n | tail -1; }
seen=$(newest_state)
printf 'web/a 1\n' | socat -u - "UNIX-SENDTO:$SOCK"
wait_until '[ "$(newest_state)" -gt "${seen:-0}" ]'
kill -INT "$tracer"
wait "$tracer"
forget "$tracer"

# What strace interrupts the kernel goes on with by a call that no program makes.
used=$(sed 's/^[0-9]* *//' "$WORK/calls" | grep -oE '^[a-z_0-9]+\(' | tr -d '(' |
  grep -vx restart_syscall | sort -u)
listed=$(sed -n '/^In steady state/,/^\.SH/p' "$PROJECT/packaging/man/tallyfs.1" |
  grep -oE '[a-z_0-9]+' | sort -u)
check "it used some: $(echo $used)" [ "$(wc -l <<<"$used")" -ge 5 ]
check_eq '' "$(comm -23 <(echo "$used") <(echo "$listed"))" "tallyfs(1) lists all that it used"
stop "$DAEMON"
check_eq 0 "$STATUS" "SIGTERM ends the daemon well"
