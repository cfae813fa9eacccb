# The files of what was traced and how much of it is kept: trace_pipe, buffers, CPUs, options.
T=$MNT/tracing
E=$MNT/tracing/events

_define() {
  send 'event define web/request u64 lat; pid_t pid'
  wait_until '[ -d "$E/web/request" ]'
}
_mark() { echo "$1" >"$T/trace_marker"; }
# _records FILE: without what stands before the event.
_records() { sed '/^#/d; s/.*: \([a-z_]*: \)/\1/' "$1" | xargs; }

a_pipe_gives_each_record_once_and_ends_when_tracing_is_off() {
  _mark one
  _mark two
  assert_eq 0 "$(stat -c %s "$T/trace_pipe")"
  echo 0 >"$T/tracing_on"
  assert_match ' *bash-[0-9]+ .* tracing_mark_write: one
 *bash-[0-9]+ .* tracing_mark_write: two' "$(within 20 cat "$T/trace_pipe")"
  assert_eq '' "$(_records "$T/trace")"
  assert_has 'entries-in-buffer/entries-written: 0/0' "$(cat "$T/trace")"
}

a_pipe_waits_for_records_and_can_be_interrupted() {
  cat "$T/trace_pipe" >"$CASE/pipe" &
  local reader=$!
  _mark first
  wait_until 'grep -q first "$CASE/pipe"'
  _mark second
  wait_until 'grep -q second "$CASE/pipe"'
  kill -0 "$reader"
  kill "$reader"
  wait "$reader" || true
  assert_eq 2 "$(wc -l <"$CASE/pipe")"
  # Many waiting readers do not keep others from being served.
  local i readers=()
  for ((i = 0; i < 8; ++i)); do
    cat "$T/trace_pipe" >/dev/null &
    readers+=($!)
  done
  assert_eq nop "$(cat "$T/current_tracer")"
  kill "${readers[@]}"
  wait "${readers[@]}" || true
}

a_pipe_can_be_polled_and_read_without_waiting() {
  need_python
  py "$T" <<'EOT'
import os, select, sys
from peer import PATIENCE
LONG_MS = 10_000 * PATIENCE
pipe = os.open(sys.argv[1] + "/trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
try:
    os.read(pipe, 4096)
    assert False, "there is nothing to read"
except BlockingIOError:
    pass
poll = select.poll()
poll.register(pipe, select.POLLIN)
assert poll.poll(100) == [], "nothing has happened"
marker = os.open(sys.argv[1] + "/trace_marker", os.O_WRONLY)
for word in b"one", b"two": os.write(marker, word)
assert poll.poll(LONG_MS) == [(pipe, select.POLLIN)]
first = os.read(pipe, 100)
assert first.endswith(b": one\n"), first
assert poll.poll(LONG_MS) == [(pipe, select.POLLIN)], "the rest"
assert os.read(pipe, 4096).endswith(b": two\n")
assert poll.poll(100) == [], "it has been read"
EOT
}

a_reader_that_waits_ends_with_the_daemon() {
  cat "$T/trace_pipe" 2>"$CASE/said" &
  local reader=$!
  wait_until 'grep -q fuse "/proc/'$reader'/wchan" 2>/dev/null ||
    [ "$(cut -d" " -f1 /proc/'$reader'/syscall 2>/dev/null)" = 0 ]'
  stop_daemon
  wait "$reader" || true
}

the_buffer_is_as_large_as_its_files_say() {
  local cpus
  cpus=$(ls "$T/per_cpu" | wc -l)
  assert_eq 4096 "$(cat "$T/buffer_total_size_kb")"
  assert_eq "$((4096 / cpus))" "$(cat "$T/buffer_size_kb")"
  local i
  for ((i = 0; i < 500; ++i)); do echo "mark $i"; done >"$CASE/marks"
  while read -r line; do _mark "$line"; done <"$CASE/marks"
  echo 8 >"$T/buffer_size_kb"
  assert_eq 8 "$(cat "$T/buffer_size_kb")"
  assert_eq "$((8 * cpus))" "$(cat "$T/buffer_total_size_kb")"
  assert_has 'mark 499' "$(cat "$T/trace")"
  assert_has_not ': mark 1
' "$(cat "$T/trace")"
  assert_fails_with 'Invalid argument' put 0 "$T/buffer_size_kb"
  assert_fails_with 'Invalid argument' put junk "$T/buffer_size_kb"
  assert_fails_with 'No space' put 1000000000 "$T/buffer_size_kb"
  assert_has 'KiB that a CPU may have' "$(errors)"
  echo 1024 >"$T/buffer_size_kb"
  assert_eq 1024 "$(cat "$T/buffer_size_kb")"
}

each_cpu_has_its_part_of_the_trace() {
  _define
  echo 1 >"$E/web/request/enable"
  send 'event web/request lat=7'
  _mark here
  assert_has 'lat=7' "$(cat "$T/per_cpu/cpu0/trace")"
  assert_match 'entries: 2
overrun: 0
commit overrun: 0
bytes: [0-9]+
oldest event ts: +[0-9]+\.[0-9]{6}
now ts: +[0-9]+\.[0-9]{6}
dropped events: 0
read events: 0' "$(cat "$T/per_cpu/cpu0/stats")"
  : >"$T/per_cpu/cpu0/trace"
  assert_eq '' "$(_records "$T/trace")"
}

each_cpu_has_a_pipe_and_a_part_of_the_snapshot() {
  local cpu=$T/per_cpu/cpu0
  assert_has '* Snapshot is freed *' "$(cat "$cpu/snapshot")"
  _mark kept
  echo 1 >"$T/snapshot"
  assert_match '.*: kept' "$(_records "$cpu/snapshot")"
  assert_fails_with 'Invalid argument' put 1 "$cpu/snapshot"
  assert_fails_with 'Invalid argument' put 0 "$cpu/snapshot"
  assert_has 'write into their file' "$(errors)"
  assert_fails_with 'Invalid argument' put junk "$cpu/snapshot"
  echo 2 >"$cpu/snapshot"
  assert_has '* Snapshot is allocated *' "$(cat "$cpu/snapshot")"
  _mark one
  _mark two
  assert_match '.*: one
.*: two' "$(head -2 "$cpu/trace_pipe")"
  assert_eq '' "$(_records "$T/trace")"
  py "$cpu/trace_pipe" "$T/trace_marker" <<'EOT'
import os, select, sys
from peer import PATIENCE
LONG_MS = 10_000 * PATIENCE
pipe = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
poll = select.poll()
poll.register(pipe, select.POLLIN)
assert poll.poll(0) == []
try:
    raise AssertionError(os.read(pipe, 100))
except BlockingIOError:
    pass
marker = os.open(sys.argv[2], os.O_WRONLY)
os.write(marker, b"three")
assert poll.poll(LONG_MS) == [(pipe, select.POLLIN)]
assert os.read(pipe, 4096).endswith(b": three\n")
EOT
}

cpus_and_processes_are_left_out_of_the_trace() {
  _define
  echo 1 >"$E/web/request/enable"
  echo hist:keys=pid >"$E/web/request/trigger"
  local all
  all=$(cat "$T/tracing_cpumask")
  assert_match '[0-9a-f,]+' "$all"
  echo 0 >"$T/tracing_cpumask"
  assert_match '[0,]+' "$(cat "$T/tracing_cpumask")"
  _mark nowhere
  send 'event web/request pid=7'
  assert_has 'Hits: 0' "$(cat "$E/web/request/hist")"
  assert_eq '' "$(_records "$T/trace")"
  assert_fails_with 'Invalid argument' put junk "$T/tracing_cpumask"
  echo "$all" >"$T/tracing_cpumask"
  echo 17 >"$T/set_event_notrace_pid"
  assert_eq 17 "$(cat "$T/set_event_notrace_pid")"
  _mark shown
  echo $BASHPID >"$T/set_event_notrace_pid"
  _mark hidden
  echo >"$T/set_event_notrace_pid"
  assert_eq '' "$(cat "$T/set_event_notrace_pid")"
  assert_eq 'tracing_mark_write: shown' "$(_records "$T/trace")"
  echo 1 >"$T/set_event_pid"
  send 'event web/request pid=7'
  assert_has 'Hits: 1' "$(cat "$E/web/request/hist")"
  assert_eq 'tracing_mark_write: shown' "$(_records "$T/trace")"
}

names_of_processes_are_those_of_the_trace() {
  _mark x
  assert_eq "$BASHPID bash" "$(cat "$T/saved_cmdlines")"
  sh -c "echo y >'$T/trace_marker'"
  assert_eq 2 "$(wc -l <"$T/saved_cmdlines")"
  assert_eq 128 "$(cat "$T/saved_cmdlines_size")"
  echo 1 >"$T/saved_cmdlines_size"
  assert_match '[0-9]+ sh' "$(cat "$T/saved_cmdlines")"
  assert_fails_with 'Invalid argument' put 0 "$T/saved_cmdlines_size"
}

options_change_what_is_traced_and_shown() {
  assert_eq '1 1 0' "$(cat "$T/options/markers" "$T/options/overwrite" "$T/options/stacktrace" |
    xargs)"
  echo 0 >"$T/options/markers"
  grep -qx nomarkers "$T/trace_options"
  assert_fails_with 'Invalid argument' put hidden "$T/trace_marker"
  echo markers >"$T/trace_options"
  _mark shown
  assert_eq 'tracing_mark_write: shown' "$(_records "$T/trace")"
  echo 0 >"$T/options/irq-info"
  assert_match ' *bash-[0-9]+ +\[000\] +[0-9]+\.[0-9]{6}: tracing_mark_write: shown' \
    "$(grep -v '^#' "$T/trace")"
  assert_has_not irqs-off "$(cat "$T/trace")"
  echo 0 >"$T/options/context-info"
  assert_eq '# tracer: nop
#
tracing_mark_write: shown' "$(cat "$T/trace")"
}

without_overwrite_the_oldest_records_stay() {
  local i
  echo 2 >"$T/buffer_size_kb"
  echo nooverwrite >"$T/trace_options"
  for ((i = 0; i < 200; ++i)); do _mark "mark $i"; done
  assert_has ': mark 0
' "$(cat "$T/trace")"
  assert_match 'dropped events: [1-9][0-9]*' "$(grep dropped "$T/per_cpu/cpu0/stats")"
  assert_eq 'overrun: 0' "$(grep '^overrun' "$T/per_cpu/cpu0/stats")"
  echo 0 >"$T/options/event-fork" # what is off may be switched off
  assert_fails_with 'Invalid argument' put 1 "$T/options/event-fork"
  assert_has 'event-fork needs the events sched:sched_process_fork' "$(errors)"
}

a_trace_can_pause_while_it_is_open() {
  local trace
  _mark before
  echo 1 >"$T/options/pause-on-trace"
  exec {trace}<"$T/trace"
  _mark meanwhile
  cat "$T/trace" >/dev/null
  _mark still
  exec {trace}<&-
  _mark behind
  assert_eq 'tracing_mark_write: before tracing_mark_write: behind' "$(_records "$T/trace")"
  assert_has '# records left out while it was open (options/pause-on-trace): 2
' "$(cat "$T/trace")"
  : >"$T/trace"
  _mark cleared
  assert_has_not 'left out' "$(cat "$T/trace")"
  echo 0 >"$T/options/pause-on-trace"
  exec {trace}<"$T/trace"
  _mark more
  exec {trace}<&-
  assert_eq 'tracing_mark_write: cleared tracing_mark_write: more' "$(_records "$T/trace")"
}

children_are_followed() {
  send 'event define sched/sched_process_fork pid_t parent_pid; pid_t child_pid' \
    'event define sched/sched_process_exit pid_t pid'
  wait_until '[ -d "$E/sched/sched_process_exit" ]'
  echo 7 >"$T/set_event_pid"
  echo 8 >"$T/set_event_notrace_pid"
  echo 1 >"$T/options/event-fork"
  local fork='event sched/sched_process_fork'
  send "$fork parent_pid=7 child_pid=70" "$fork parent_pid=70 child_pid=71" \
    "$fork parent_pid=8 child_pid=80" "$fork parent_pid=9 child_pid=90" \
    'event sched/sched_process_exit pid=70'
  assert_eq '7 71' "$(cat "$T/set_event_pid" | xargs)"
  assert_eq '8 80' "$(cat "$T/set_event_notrace_pid" | xargs)"
  echo 0 >"$T/options/event-fork"
  send "$fork parent_pid=7 child_pid=72"
  assert_eq '7 71' "$(cat "$T/set_event_pid" | xargs)"
}

a_raw_marker_is_shown_byte_by_byte() {
  printf '\x2a\x01\x00\x00ab\x00c' >"$T/trace_marker_raw"
  assert_match ' *bash-[0-9]+ .*: # 12a buf: 61 62 00 63' "$(grep -v '^#' "$T/trace")"
  echo hist:keys=id >"$E/ftrace/raw_data/trigger"
  printf '\x05\x00\x00\x00' >"$T/trace_marker_raw"
  assert_has '{ id:          5 } hitcount:          1' "$(cat "$E/ftrace/raw_data/hist")"
  assert_fails_with 'Invalid argument' eval 'printf abc >"$T/trace_marker_raw"'
  assert_has 'an id of 4 bytes is wanted' "$(errors)"
  echo >"$T/trace"
  head -c 4064 /dev/zero >"$T/trace_marker_raw"
  assert_eq 4060 "$(grep -v '^#' "$T/trace" | grep -o ' 00' | wc -l)"
  assert_eq 4080 "$(head -c 4096 "$T/per_cpu/cpu0/trace_pipe_raw" | od -An -tu8 -j8 -N8 | xargs)"
  assert_fails_with 'Invalid argument' eval 'head -c 4065 /dev/zero >"$T/trace_marker_raw"'
}

each_cpu_has_a_size_of_its_own() {
  local cpus last
  cpus=$(ls "$T/per_cpu" | wc -l)
  last=$T/per_cpu/cpu$((cpus - 1))/buffer_size_kb
  echo 64 >"$T/buffer_size_kb"
  assert_eq 64 "$(cat "$T/per_cpu/cpu0/buffer_size_kb")"
  echo 100 >"$T/per_cpu/cpu0/buffer_size_kb"
  assert_eq 100 "$(cat "$T/per_cpu/cpu0/buffer_size_kb")"
  assert_eq $((64 * (cpus - 1) + 100)) "$(cat "$T/buffer_total_size_kb")"
  [ "$cpus" -eq 1 ] || assert_eq "X 64" "$(cat "$T/buffer_size_kb" "$last" | xargs)"
  assert_fails_with 'Invalid argument' put 0 "$T/per_cpu/cpu0/buffer_size_kb"
  echo 32 >"$T/buffer_size_kb"
  assert_eq '32 32' "$(cat "$T/buffer_size_kb" "$T/per_cpu/cpu0/buffer_size_kb" | xargs)"
  assert_eq 4 "$(cat "$T/buffer_subbuf_size_kb")"
  echo 4 >"$T/buffer_subbuf_size_kb"
  assert_fails_with 'Invalid argument' put 8 "$T/buffer_subbuf_size_kb"
}

free_buffer_frees_at_its_end() {
  local free
  _mark here
  exec {free}>"$T/free_buffer"
  echo x >&"$free"
  assert_has here "$(cat "$T/trace")"
  exec {free}>&-
  assert_eq '' "$(_records "$T/trace")"
  assert_eq '8 1' "$(cat "$T/buffer_size_kb" "$T/tracing_on" | xargs)"
  echo 1 >"$T/options/disable_on_free"
  echo >"$T/free_buffer"
  assert_eq 0 "$(cat "$T/tracing_on")"
}

a_clock_that_is_not_there_is_refused() {
  _define
  assert_eq '[local] global mono perf' "$(cat "$T/trace_clock")"
  echo global >"$T/trace_clock"
  assert_eq 'local [global] mono perf' "$(cat "$T/trace_clock")"
  assert_fails_with 'Invalid argument' put boot "$T/trace_clock"
  echo 'hist:keys=common_timestamp:clock=mono' >"$E/web/request/trigger"
  assert_fails_with 'Invalid argument' put 'hist:keys=common_timestamp:clock=boot' \
    "$E/web/request/trigger"
  assert_has "Couldn't set trace_clock" "$(errors)"
}
