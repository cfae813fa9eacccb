# The tracing directory as scripts meet it that were written for the kernel's: names, modes, texts,
# what may be written.
T=$MNT/tracing
E=$MNT/tracing/events

_define() {
  send 'event define web/request u64 lat; pid_t pid; char comm[16]'
  wait_until '[ -d "$E/web/request" ]'
}
_request() { send "event web/request $*"; }

the_files_are_those_of_the_kernels_directory() {
  local each
  for each in README available_events available_tracers buffer_percent buffer_size_kb \
    buffer_subbuf_size_kb printk_formats saved_tgids \
    buffer_total_size_kb current_tracer dynamic_events error_log events free_buffer instances \
    options set_event options/markers options/function-trace per_cpu/cpu0/buffer_size_kb \
    per_cpu/cpu0/{snapshot,snapshot_raw,stats,trace,trace_pipe,trace_pipe_raw} \
    saved_cmdlines saved_cmdlines_size \
    set_event_notrace_pid set_event_pid snapshot synthetic_events timestamp_mode trace \
    trace_clock trace_marker trace_marker_raw trace_options trace_pipe tracing_cpumask \
    tracing_on events/enable; do
    [ -e "$T/$each" ] || fail "no $each"
  done
  _define
  assert_eq 'enable filter request' "$(ls "$E/web" | xargs)"
  assert_eq 'enable filter format hist hist.json id trigger' "$(ls "$E/web/request" | xargs)"
  assert_eq '440 640 220' \
    "$(stat -c %a "$E/web/request/hist" "$E/web/request/trigger" "$T/trace_marker" | xargs)"
  assert_eq nop "$(cat "$T/current_tracer")"
  echo nop >"$T/current_tracer"
  assert_fails_with 'Invalid argument' put function "$T/current_tracer"
  assert_eq web:request "$(cat "$T/available_events")"
  assert_has 'onchange(var)' "$(cat "$T/README")"
  assert_eq 1 "$(cat "$T/tracing_on")"
  assert_has '[local]' "$(cat "$T/trace_clock")"
  echo mono >"$T/trace_clock"
}

# As in the kernel's: a pipe that is empty is nothing to search in, and grep says so.
grep_ends_and_misses_nothing_but_the_pipes() {
  local status=0
  _define
  echo 1 >"$E/web/request/enable"
  _request lat=3 pid=1 comm=needle
  wait_until 'grep -q needle "$T/trace"'
  within 60 grep -rl needle "$T" >"$CASE/found" 2>"$CASE/said" || status=$?
  assert_eq 2 $status
  assert_has "$T/trace" "$(cat "$CASE/found")"
  # The first pipe that it reads has the event; the others are empty then, or wait for more.
  sed -i -E '/\/(trace_pipe|trace_pipe_raw|snapshot_raw): Resource temp/d' "$CASE/said"
  assert_eq '' "$(cat "$CASE/said")"
}

directories_are_found_by_find_and_grep_without_having_been_looked_into() {
  _define
  assert_eq "$(printf "$E/%s/trigger " ftrace/{kernel_stack,print,raw_data} web/request | xargs)" \
    "$(find "$T" -name trigger | sort | xargs)"
  assert_eq 4 "$(grep -rl 'Available triggers' "$E" | wc -l)"
  assert_eq "$E/web/request/hist" "$(echo "$E"/*/request/hist)"
}

each_file_says_how_long_it_is() {
  _define
  echo hist:keys=pid >"$E/web/request/trigger"
  _request pid=7 lat=3
  local each
  for each in "$E"/web/request/* "$T/README" "$T/trace" "$T/set_event" "$T/error_log" \
    "$T/trace_clock"; do
    assert_eq "$(stat -c %s "$each")" "$(wc -c <"$each")" "$each"
  done
}

what_is_no_number_for_the_file_is_refused() {
  _define
  printf '01\n' >"$E/web/request/enable"
  assert_eq 1 "$(cat "$E/web/request/enable")"
  printf ' 0' >"$E/web/request/enable"
  assert_eq 0 "$(cat "$E/web/request/enable")"
  assert_fails_with 'Invalid argument' put 2 "$E/web/request/enable"
  assert_fails_with 'Invalid argument' put 0x1 "$E/web/enable"
  assert_fails_with 'Invalid argument' put 4194304 "$T/set_event_pid"
  assert_eq '' "$(cat "$T/set_event_pid")"
}

asking_for_an_event_of_the_kernels_says_how_to_have_it() {
  assert_fails_with 'Invalid argument' put sched:sched_switch "$T/set_event"
  assert_has 'No such event (the kernel'"'"'s are there with tallyfs -o tracefs)' "$(errors)"
}

an_event_is_traced_while_it_is_enabled() {
  _define
  assert_eq 0 "$(cat "$E/web/request/enable")"
  _request lat=1
  echo 1 >"$E/web/request/enable"
  _request 'lat=2 pid=7 comm="a b"'
  assert_eq 'web:request' "$(cat "$T/set_event")"
  assert_eq '1 1 1' "$(cat "$E/web/request/enable" "$E/web/enable" "$E/enable" | xargs)"
  assert_match \
    ' *<\.\.\.>-[0-9]+ +\[000\] \.\.\.\.\. +[0-9]+\.[0-9]{6}: request: lat=2 pid=7 comm=a b' \
    "$(grep -v '^#' "$T/trace")"
  assert_has 'entries-in-buffer/entries-written: 1/1' "$(cat "$T/trace")"
  echo 0 >"$T/tracing_on"
  _request lat=3
  assert_has_not lat=3 "$(cat "$T/trace")"
  echo 1 >"$T/tracing_on"
  echo >"$T/trace"
  assert_eq '' "$(grep -v '^#' "$T/trace" || true)"
  echo 'pid == 9 && lat > 3' >"$E/web/request/filter"
  assert_eq 'pid == 9 && lat > 3' "$(cat "$E/web/request/filter")"
  _request lat=4 pid=8
  _request lat=5 pid=9
  assert_eq 1 "$(grep -c 'lat=5' "$T/trace")"
  assert_has_not lat=4 "$(cat "$T/trace")"
  echo 0 >"$E/web/request/filter"
  assert_eq none "$(cat "$E/web/request/filter")"
  echo '!web:request' >>"$T/set_event"
  assert_eq 0 "$(cat "$E/enable")"
  assert_fails_with 'Invalid argument' put web:nothing "$T/set_event"
  assert_fails_with 'Invalid argument' put 'junk == 3' "$E/web/request/filter"
}

opening_with_truncation_does_what_the_kernel_does() {
  _define
  cd "$T"
  echo hist:keys=pid >events/web/request/trigger
  echo hist:keys=lat >>events/web/request/trigger
  assert_eq 2 "$(grep -c ^hist: events/web/request/trigger)"
  echo hist:keys=comm >events/web/request/trigger
  assert_eq 1 "$(grep -c ^hist: events/web/request/trigger)"
  echo >events/web/request/trigger
  assert_has 'Available triggers' "$(cat events/web/request/trigger)"
  echo web:request >set_event
  : >set_event
  assert_eq '' "$(cat set_event)"
  echo 17 >set_event_pid
  echo 18 >>set_event_pid
  assert_eq '17 18' "$(xargs <set_event_pid)"
  echo >set_event_pid
  assert_eq '' "$(cat set_event_pid)"
  echo junk >synthetic_events && fail 'junk was taken'
  assert_has 'synthetic_events: error:' "$(cat error_log)"
  echo >error_log
  assert_eq '' "$(cat error_log)"
  cd /
}

each_write_is_one_command_without_a_newline_too() {
  need_python
  _define
  py "$T" <<'EOT'
import os, sys
on = os.open(sys.argv[1] + "/tracing_on", os.O_WRONLY)
marker = os.open(sys.argv[1] + "/trace_marker", os.O_WRONLY)
trace = lambda: [line for line in open(sys.argv[1] + "/trace") if line[0] != "#"]
os.write(marker, b"first")
os.write(marker, b"two\nlines")
assert len(trace()) == 3, trace()
os.write(on, b"0")
os.write(marker, b"third")
os.write(on, b"1")
assert len(trace()) == 3, trace()
trigger = os.open(sys.argv[1] + "/events/web/request/trigger", os.O_WRONLY | os.O_APPEND)
os.write(trigger, b"hist:keys=pid")
os.write(trigger, b"hist:keys=lat")
assert open(sys.argv[1] + "/events/web/request/trigger").read().count("hist:") == 2
EOT
}

a_command_may_go_on_behind_a_backslash() {
  _define
  echo 'hist:keys=pid:\
        vals=lat:\
        sort=lat' >>"$E/web/request/trigger"
  assert_eq 'hist:keys=pid:vals=hitcount,lat:sort=lat:size=2048 [active]' \
    "$(cat "$E/web/request/trigger")"
}

what_is_refused_stands_in_the_error_log_as_the_kernel_has_it() {
  _define
  assert_fails_with 'Invalid argument' put hist:keys=pid:vals=junk "$E/web/request/trigger"
  assert_match '\[[0-9]+\.[0-9]{6}\] hist:web:request: error: Couldn'"'"'t find field
  Command: hist:keys=pid:vals=junk
                              \^' "$(cat "$T/error_log")"
  echo hist:keys=pid >>"$E/web/request/trigger"
  assert_fails_with 'File exists' bash -c 'echo hist:keys=pid >>"$1"' - "$E/web/request/trigger"
  assert_fails_with 'No such file' bash -c 'echo hist:keys=lat:clear >>"$1"' - \
    "$E/web/request/trigger"
  assert_fails_with 'Permission denied' bash -c 'echo x >"$1"' - "$E/web/request/format"
  # What is not there is removed without a word.
  echo '!hist:keys=comm' >>"$E/web/request/trigger"
}

markers_are_events() {
  echo 'hist:keys=common_pid' >"$E/ftrace/print/trigger"
  echo 'hello, world' >"$T/trace_marker"
  assert_match ".*-$BASHPID .*: tracing_mark_write: hello, world" "$(grep -v '^#' "$T/trace")"
  assert_has 'Hits: 1' "$(cat "$E/ftrace/print/hist")"
  assert_fails_with 'Permission denied' as_nobody cat "$T/trace_marker"
}

a_marker_is_shown_as_it_was_written() {
  need_python
  py "$T" <<'EOT'
import os, sys
marker = os.open(sys.argv[1] + "/trace_marker", os.O_WRONLY)
def shown(text, taken=None):
    open(sys.argv[1] + "/trace", "w").close()
    assert os.write(marker, text) == (len(text) if taken is None else taken), len(text)
    return open(sys.argv[1] + "/trace", "rb").read().split(b": tracing_mark_write: ")[1]
assert shown(b"one\n") == b"one\n"
assert shown(b"two\nlines") == b"two\nlines\n"
assert shown(b"x" * 4054) == b"x" * 4054 + b"\n"
assert shown(b"x" * 10000, taken=4054) == b"x" * 4054 + b"\n", "what it took of it"
EOT
}

a_snapshot_is_what_was_traced_until_then() {
  assert_has 'Snapshot is freed' "$(cat "$T/snapshot")"
  echo before >"$T/trace_marker"
  echo 1 >"$T/snapshot"
  echo after >"$T/trace_marker"
  assert_has before "$(cat "$T/snapshot")"
  assert_has_not after "$(cat "$T/snapshot")"
  assert_has_not before "$(cat "$T/trace")"
  echo 2 >"$T/snapshot"
  assert_has 'Snapshot is allocated' "$(cat "$T/snapshot")"
  echo 0 >"$T/snapshot"
  assert_has 'Snapshot is freed' "$(cat "$T/snapshot")"
}

poll_waits_for_hits() {
  need_python
  _define
  echo hist:keys=pid >"$E/web/request/trigger"
  py "$E/web/request/hist" "$T" <<'EOT'
import os, select, socket, sys
from peer import PATIENCE
LONG_MS = 10_000 * PATIENCE
fd = os.open(sys.argv[1], os.O_RDONLY)
feed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
feed.connect(os.environ["SOCK"])
poll = select.poll()
poll.register(fd, select.POLLIN)
assert b"Hits: 0\n" in os.read(fd, 65536)
assert poll.poll(100) == [], "nothing has happened"
feed.send(b"event web/request pid=7")
assert poll.poll(LONG_MS) == [(fd, select.POLLIN)]
os.lseek(fd, 0, os.SEEK_SET)
assert b"Hits: 1\n" in os.read(fd, 65536)
assert poll.poll(100) == [], "it has been read"
# POLLPRI needs no read in between, and shows each news once.
urgent = select.poll()
urgent.register(fd, select.POLLPRI)
assert urgent.poll(100) == []
for i in range(3):
    feed.send(b"event web/request pid=7")
    assert urgent.poll(LONG_MS) == [(fd, select.POLLPRI)]
    assert urgent.poll(100) == [], "it has been shown"
assert poll.poll(LONG_MS) == [(fd, select.POLLIN)], "it has not been read"
os.lseek(fd, 0, os.SEEK_SET)
assert b"Hits: 4\n" in os.read(fd, 65536)
other = os.open(sys.argv[2] + "/trace", os.O_RDONLY)
poll.register(other, select.POLLIN)
assert poll.poll(1000) == [(other, select.POLLIN)], "other files are readable always"
EOT
}
