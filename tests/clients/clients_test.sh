#!/usr/bin/env bash
# libtracefs and trace-cmd, as Debian has them, on our tracing directory as on the kernel's. Ours
# lies on top of the real one, in a mount namespace of the client's own.
. "$(dirname "$0")/../feeders/lib.sh"

[ -e /dev/fuse ] || skip_all "no /dev/fuse"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"
[ -x "$BIN/tracefs_calls" ] || skip_all "built without libtracefs-dev"

T=$MNT/tracing
E=$T/events
NAME=tally_clients
TALLY_SEND=$BIN/tally-send
cp "$(command -v bash)" "$WORK/forker"
# trace-cmd writes 1 into this switch, which a container may not.
echo 1 >"$WORK/ftrace_enabled"

# under DIR COMMAND...: with DIR, if it is not empty, on top of the kernel's tracing directory.
under() {
  unshare -m bash -c '
    grep -q "^[^ ]* /sys/kernel/tracing tracefs " /proc/mounts ||
      mount -t tracefs nodev /sys/kernel/tracing || exit
    [ -z "$1" ] || mount --bind "$1" /sys/kernel/tracing || exit
    [ ! -e /proc/sys/kernel/ftrace_enabled ] || mount --bind "$2" /proc/sys/kernel/ftrace_enabled
    cd "$3" && shift 3 && exec "$@"' - "$1" "$WORK/ftrace_enabled" "$WORK" "${@:2}"
}
ours() { timeout 60 "${TRACER[@]}" bash -c "$(declare -f under); under \"\$@\"" - "$T" "$@"; }
TRACER=(env WORK="$WORK")
clean_up_more() { rmdir "/sys/kernel/tracing/instances/$NAME" 2>/dev/null; }

under '' test -d /sys/kernel/tracing/events 2>"$WORK/refused" ||
  skip_all "no tracefs here: $(tail -1 "$WORK/refused")"
start_daemon -o tracefs
[ -d "$E/task/task_newtask" ] || skip_all "no kernel events here"

# --- libtracefs
# Some options cannot be changed here (docs/tracing-differences.md), and those of tracers are missing.
OPTIONS='^[a-z]* tracefs_option_\(enable\|disable\)('
echo 'a name for saved_cmdlines' >"$T/trace_marker"
under '' "$BIN/tracefs_calls" $NAME >"$WORK/kernel.calls" 2>"$WORK/kernel.said"
ours "$BIN/tracefs_calls" $NAME >"$WORK/our.calls" 2>"$WORK/our.said"
check_eq '' "$(grep -v '^pass ' "$WORK/our.calls" | grep -v "$OPTIONS")" "each call of libtracefs passes"
[ $FAILED -eq 0 ] || sed 's/^/# /' "$WORK/our.said"
check "these are 80 at least: $(grep -c '^pass ' "$WORK/our.calls")" [ "$(grep -c '^pass ' "$WORK/our.calls")" -ge 80 ]
check_eq '' "$(sed -n 's/^pass //p' "$WORK/kernel.calls" | sort -u |
  comm -12 - <(grep -v "$OPTIONS" "$WORK/our.calls" | sed -n 's/^fail //p' | sort -u))" \
  "what passes on the kernel's directory passes here"

# --- trace-cmd record, report
# fork: 20 tasks that are called forker. Beside them, what a program tells and a marker.
workload() {
  cat >"$WORK/workload" <<-EOT
	"$WORK/forker" -c 'for ((i = 0; i < 20; ++i)); do (exit 0); done'
	"$TALLY_SEND" --socket "$SOCK" 'event web/request us=7 path=/index' 'event web/request us=8 path=/'
	echo 'from a marker' >/sys/kernel/tracing/trace_marker
	EOT
}
workload
"$TALLY_SEND" --socket "$SOCK" 'event define web/request u64 us; char[] path'
wait_until '[ -d "$E/web/request" ]'
OTHER=$T/instances/other
mkdir "$OTHER"
echo 'comm == "forker"' >"$OTHER/events/task/task_newtask/filter"
echo 1 >"$OTHER/events/task/task_newtask/enable"
echo 1 >"$OTHER/events/web/request/enable"

# records FILE: as `trace` or `trace-cmd report -t` has them: task, CPU, us, event and its fields.
records() {
  sed -nE 's/^ *(.+-[0-9]+) +\[([0-9]+)\] +([^ ]{5,6} +)?([0-9]+\.[0-9]{6})[0-9]*: +([a-z_]+): */\1 \2 \4 \5: /p' "$1" |
    sed -E 's/,? +/ /g; s/ $//'
}
ours trace-cmd record -e task:task_newtask -f 'comm == "forker"' -e web:request -o "$WORK/trace.dat" \
  bash "$WORK/workload" >"$WORK/record.said" 2>&1
check_eq 0 $? "trace-cmd record"
ours trace-cmd report -t -i "$WORK/trace.dat" >"$WORK/report" 2>"$WORK/report.said"
check_eq 0 $? "trace-cmd report"
records "$WORK/report" | grep -v ' print: ' >"$WORK/report.records"
cat "$OTHER/trace" >"$WORK/trace"
records "$WORK/trace" >"$WORK/trace.records"
check_eq 22 "$(wc -l <"$WORK/trace.records")" "trace has the tasks and what the program told"
check_eq "$(cat "$WORK/trace.records")" "$(cat "$WORK/report.records")" "trace-cmd report has the records of trace"
check_eq 1 "$(grep -c 'print: .*from a marker' "$WORK/report")" "and the marker"
check_eq '' "$(grep -iE 'dropped|unknown|fail|could not' "$WORK/report" "$WORK/report.said")" "and nothing that it cannot read"

# --- trace-cmd start, show, stat, stop, stream, -B, -R, reset
forks() { "$WORK/forker" -c "for ((i = 0; i < $1; ++i)); do (exit 0); done"; }
FIRST=$T/instances/first
mkdir "$FIRST"
ours trace-cmd start -B first -e task:task_newtask -f 'comm == "forker"' \
  -R 'stacktrace:3 if comm == "forker"' >"$WORK/said" 2>&1
check_eq 0 $? "trace-cmd start -B -e -f -R"
check_eq '(comm == "forker")' "$(cat "$FIRST/events/task/task_newtask/filter")" "-f has set the filter"
check_eq 'stacktrace:count=3 if comm == "forker"' "$(grep -v '^#' "$FIRST/events/task/task_newtask/trigger")" \
  "and -R the trigger"
forks 5
ours trace-cmd stop -B first
check_eq 0 "$(cat "$FIRST/tracing_on")" "trace-cmd stop"
ours trace-cmd show -B first >"$WORK/shown" 2>&1
check_eq "5 3" "$(grep -c 'task_newtask: ' "$WORK/shown") $(grep -c '<stack trace>' "$WORK/shown")" \
  "trace-cmd show has the records and the stacks"
check_eq "$(cat "$FIRST/trace")" "$(cat "$WORK/shown")" "which are those of trace"
ours trace-cmd stat -B first >"$WORK/stat" 2>&1
check "trace-cmd stat names the event" grep -qw task_newtask "$WORK/stat"

ours trace-cmd record -B second -e task:task_newtask -f 'comm == "forker"' \
  -R 'stacktrace:2 if comm == "forker"' -o "$WORK/second.dat" "$WORK/forker" -c \
  'for ((i = 0; i < 4; ++i)); do (exit 0); done' >"$WORK/said" 2>&1
ours trace-cmd report -i "$WORK/second.dat" >"$WORK/report" 2>&1
check_eq "4 2" "$(grep -c 'task_newtask: ' "$WORK/report") $(grep -c 'kernel_stack: ' "$WORK/report")" \
  "trace-cmd record -B -R has records and stacks"

ours trace-cmd stream -e task:task_newtask -f 'comm == "forker"' "$WORK/forker" -c \
  'for ((i = 0; i < 6; ++i)); do (exit 0); done' >"$WORK/stream" 2>&1
check_eq 6 "$(grep -c 'forker-[0-9]* .* task_newtask: ' "$WORK/stream")" "trace-cmd stream shows each record once"

echo 1 >"$T/events/task/task_newtask/enable"
ours trace-cmd reset >"$WORK/said" 2>&1
check_eq 0 $? "trace-cmd reset"
check_eq '0 0' "$(cat "$T/events/enable" "$FIRST/events/enable" | xargs)" "everything is off then"
check_eq none "$(cat "$FIRST/events/task/task_newtask/filter")" "without filters"
check_eq '' "$(grep -v '^#' "$FIRST/events/task/task_newtask/trigger")" "and triggers"
