# What clients_test.sh runs while our directory lies over the kernel's: libtracefs, trace-cmd.
# Prints TAP. KERNEL_CALLS: what tracefs_calls has printed on the kernel's directory.
. "$(dirname "$0")/../feeders/lib.sh"
T=/sys/kernel/tracing
E=$T/events
cp "$(command -v bash)" "$WORK/forker"
cd "$WORK" || exit
# trace-cmd writes 1 into this switch, which a container may not.
echo 1 >"$WORK/ftrace_enabled"
[ ! -e /proc/sys/kernel/ftrace_enabled ] ||
  mount --bind "$WORK/ftrace_enabled" /proc/sys/kernel/ftrace_enabled
clean_up_more() { umount /proc/sys/kernel/ftrace_enabled 2>/dev/null; }

# --- libtracefs
echo 'a name for saved_cmdlines' >"$T/trace_marker"
"$BIN/tracefs_calls" $NAME >"$WORK/our.calls" 2>"$WORK/our.said"
check_eq '' "$(grep -v '^pass ' "$WORK/our.calls")" "each call of libtracefs passes"
[ $FAILED -eq 0 ] || sed 's/^/# /' "$WORK/our.said"
calls=$(grep -c '^pass ' "$WORK/our.calls")
check "these are 80 at least: $calls" [ "$calls" -ge 80 ]
check_eq '' "$(sed -n 's/^pass //p' "$KERNEL_CALLS" | sort -u |
  comm -12 - <(sed -n 's/^fail //p' "$WORK/our.calls" | sort -u))" \
  "what passes on the kernel's directory passes here"

# --- trace-cmd record, report
# fork: 20 tasks that are called forker. Beside them, what a program tells and a marker.
workload() {
  cat >"$WORK/workload" <<-EOT
	"$WORK/forker" -c 'for ((i = 0; i < 20; ++i)); do (exit 0); done'
	"$BIN/tally-send" 'event web/request us=7 path=/index' 'event web/request us=8 path=/'
	echo 'from a marker' >/sys/kernel/tracing/trace_marker
	EOT
}
workload
"$BIN/tally-send" 'event define web/request u64 us; char[] path'
wait_until '[ -d "$E/web/request" ]'
OTHER=$T/instances/other
mkdir "$OTHER"
echo 'comm == "forker"' >"$OTHER/events/task/task_newtask/filter"
echo 1 >"$OTHER/events/task/task_newtask/enable"
echo 1 >"$OTHER/events/web/request/enable"

# records FILE: as `trace` or `trace-cmd report -t` has them: task, CPU, us, event and its fields.
records() {
  local task='(.+-[0-9]+)' cpu='\[([0-9]+)\]' flags='([^ ]{5,6} +)?' time='([0-9]+\.[0-9]{6})[0-9]*'
  sed -nE "s/^ *$task +$cpu +$flags$time: +([a-z_]+): */\\1 \\2 \\4 \\5: /p" "$1" |
    sed -E 's/,? +/ /g; s/ $//'
}
trace-cmd record -e task:task_newtask -f 'comm == "forker"' -e web:request \
  -o "$WORK/trace.dat" bash "$WORK/workload" >"$WORK/record.said" 2>&1
check_eq 0 $? "trace-cmd record"
trace-cmd report -t -i "$WORK/trace.dat" >"$WORK/report" 2>"$WORK/report.said"
check_eq 0 $? "trace-cmd report"
records "$WORK/report" | grep -v ' print: ' >"$WORK/report.records"
cat "$OTHER/trace" >"$WORK/trace"
records "$WORK/trace" >"$WORK/trace.records"
check_eq 22 "$(wc -l <"$WORK/trace.records")" "trace has the tasks and what the program told"
check_eq "$(cat "$WORK/trace.records")" "$(cat "$WORK/report.records")" \
  "trace-cmd report has the records of trace"
check_eq 1 "$(grep -c 'print: .*from a marker' "$WORK/report")" "and the marker"
check_eq '' "$(grep -iE 'dropped|unknown|fail|could not' "$WORK/report" "$WORK/report.said")" \
  "and nothing that it cannot read"

# --- trace-cmd start, show, stat, stop, stream, -B, -R, reset
forks() { "$WORK/forker" -c "for ((i = 0; i < $1; ++i)); do (exit 0); done"; }
# tell US...: what a program tells.
tell() { for us; do "$BIN/tally-send" "event web/request us=$us path=/"; done; }
# told FILE: the us of what the program told, as the file has them.
told() { sed -nE 's/^.* request: +us=([0-9]+),? .*$/\1/p' "$1" | xargs; }
FIRST=$T/instances/first
mkdir "$FIRST"
trace-cmd start -B first -e task:task_newtask -f 'comm == "forker"' \
  -R 'stacktrace:3 if comm == "forker"' -e web:request -f 'us > 7' -R 'traceoff if us == 99' \
  >"$WORK/said" 2>&1
check_eq 0 $? "trace-cmd start -B -e -f -R"
NEWTASK=$FIRST/events/task/task_newtask
triggers() { grep -v '^#' "$NEWTASK/trigger"; }
check_eq '(comm == "forker")' "$(cat "$NEWTASK/filter")" "-f has set the filter"
check_eq 'stacktrace:count=3 if comm == "forker"' "$(triggers)" "and -R the trigger"
REQUEST=$FIRST/events/web/request
check_eq '(us > 7) traceoff:unlimited if us == 99' \
  "$(cat "$REQUEST/filter" "$REQUEST/trigger" | xargs)" "so they have for a program's event"
forks 5
tell 7 8 99 100
check_eq 0 "$(cat "$FIRST/tracing_on")" "whose trigger stops tracing"
echo 1 >"$FIRST/tracing_on"
trace-cmd stop -B first
check_eq 0 "$(cat "$FIRST/tracing_on")" "trace-cmd stop"
trace-cmd show -B first >"$WORK/shown" 2>&1
# both FILE TEXT: how many tasks and how many stacks it has.
both() { echo "$(grep -c 'task_newtask: ' "$1") $(grep -c "$2" "$1")"; }
check_eq "5 3" "$(both "$WORK/shown" '<stack trace>')" \
  "trace-cmd show has the records and the stacks"
check_eq "8 99" "$(told "$WORK/shown")" "and what the program told"
check_eq "$(cat "$FIRST/trace")" "$(cat "$WORK/shown")" "which are those of trace"
trace-cmd show -B first -c 0 >"$WORK/shown" 2>&1
check_eq "$(cat "$FIRST/per_cpu/cpu0/trace")" "$(cat "$WORK/shown")" "trace-cmd show -c has a CPU's"
trace-cmd stat -B first >"$WORK/stat" 2>&1
for event in task_newtask request; do
  check "trace-cmd stat names $event" grep -qw $event "$WORK/stat"
done

# In this trace are a marker and all that the program tells.
trace-cmd snapshot -s >"$WORK/said" 2>&1
check_eq 0 $? "trace-cmd snapshot -s"
trace-cmd snapshot >"$WORK/shown" 2>&1
check_eq "$(cat "$T/snapshot")" "$(cat "$WORK/shown")" "trace-cmd snapshot shows it"
trace-cmd snapshot -c 0 >"$WORK/shown" 2>&1
check_eq "$(cat "$T/per_cpu/cpu0/snapshot")" "$(cat "$WORK/shown")" "or one CPU's part of it"
trace-cmd snapshot -f >"$WORK/said" 2>&1
check_eq 1 "$(grep -c 'Snapshot is freed' "$T/snapshot")" "trace-cmd snapshot -f"

workload
trace-cmd record -B second -e task:task_newtask -f 'comm == "forker"' \
  -R 'stacktrace:2 if comm == "forker"' -e web:request -f 'us > 7' -o "$WORK/second.dat" \
  bash "$WORK/workload" >"$WORK/said" 2>&1
trace-cmd report -i "$WORK/second.dat" >"$WORK/report" 2>&1
check_eq "20 2" "$(both "$WORK/report" 'kernel_stack: ')" \
  "trace-cmd record -B -R has records and stacks"
check_eq 8 "$(told "$WORK/report")" "and what the program told"

# trace-cmd stops reading when the command ends, so this one waits until its marker is shown.
cat >>"$WORK/workload" <<-EOT
	for ((i = 0; i < 300; ++i)); do
	  ! grep -q 'from a marker' "$WORK/stream" || break
	  sleep 0.05
	done
EOT
stdbuf -oL trace-cmd stream -e task:task_newtask -f 'comm == "forker"' -e web:request \
  -f 'us > 7' bash "$WORK/workload" >"$WORK/stream" 2>&1
# It shows names only of tasks that the list of names had at its start.
check_eq 20 "$(grep -c -- '-[0-9]* .* task_newtask: .*comm=forker' "$WORK/stream")" \
  "trace-cmd stream shows each record once"
check_eq 8 "$(told "$WORK/stream")" "and what the program told"

echo 1 >"$T/events/task/task_newtask/enable"
trace-cmd reset -a >"$WORK/said" 2>&1
check_eq 0 $? "trace-cmd reset -a"
check_eq '0 0' "$(cat "$T/events/enable" "$FIRST/events/enable" | xargs)" "everything is off then"
check_eq none "$(cat "$NEWTASK/filter")" "without filters"
check_eq '' "$(triggers)" "and triggers"
