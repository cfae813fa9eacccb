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
 *bash-[0-9]+ .* tracing_mark_write: two' "$(timeout 20 cat "$T/trace_pipe")"
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
assert poll.poll(10000) == [(pipe, select.POLLIN)]
first = os.read(pipe, 100)
assert first.endswith(b": one\n"), first
assert poll.poll(10000) == [(pipe, select.POLLIN)], "the rest"
assert os.read(pipe, 4096).endswith(b": two\n")
assert poll.poll(100) == [], "it has been read"
EOT
}

a_reader_that_waits_ends_with_the_daemon() {
  cat "$T/trace_pipe" 2>"$CASE/said" &
  local reader=$!
  wait_until 'grep -q fuse "/proc/'$reader'/wchan" 2>/dev/null || [ "$(cut -d" " -f1 /proc/'$reader'/syscall 2>/dev/null)" = 0 ]'
  stop_daemon
  wait "$reader" || true
}

the_buffer_is_as_large_as_somebody_says() {
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

cpus_and_processes_are_left_out_of_the_trace() {
  _define
  echo 1 >"$E/web/request/enable"
  echo hist:keys=pid >"$E/web/request/trigger"
  local all
  all=$(cat "$T/tracing_cpumask")
  assert_match '[0-9a-f,]+' "$all"
  assert_fails_with 'Invalid argument' put 0 "$T/tracing_cpumask"
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

options_that_mean_nothing_here_say_so() {
  assert_eq '1 1 0' "$(cat "$T/options/markers" "$T/options/overwrite" "$T/options/stacktrace" |
    xargs)"
  echo 0 >"$T/options/markers"
  grep -qx nomarkers "$T/trace_options"
  assert_fails_with 'Invalid argument' put hidden "$T/trace_marker"
  echo markers >"$T/trace_options"
  _mark shown
  assert_eq 'tracing_mark_write: shown' "$(_records "$T/trace")"
  echo nostacktrace >"$T/trace_options"
  echo 0 >"$T/options/record-tgid"
  assert_fails_with 'Invalid argument' put 1 "$T/options/stacktrace"
  assert_has 'stacktrace is always off here' "$(errors)"
  assert_fails_with 'Invalid argument' put nooverwrite "$T/trace_options"
  assert_has 'overwrite is always on here' "$(errors)"
  assert_fails_with 'Invalid argument' put nonsense "$T/trace_options"
  assert_eq "$(ls "$T/options" | wc -l)" "$(wc -l <"$T/trace_options")"
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
