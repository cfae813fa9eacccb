# tracing/latency_hist as scripts meet it: names, modes, formats, reset, and what programs feed.
HIST=$MNT/tracing/latency_hist
CPUS=$(($(sed 's/.*[-,]//' /sys/devices/system/cpu/possible) + 1))

# feed NAME MICROSECONDS...: latencies on CPU 0 of the task 7, "rt", of priority 80
_feed() {
  py "$@" <<'EOT'
from peer import *
Peer().send(latencies(sys.argv[1], *[(int(us) * 1000, 0, task(7, 19, "rt")) for us in sys.argv[2:]]))
EOT
}
# The reset script of the manual.
_reset_all() {
  bash -c '
TRACINGDIR='"$MNT/tracing"'
HISTDIR=$TRACINGDIR/latency_hist

if test -d $HISTDIR
then
  cd $HISTDIR
  for i in `find . | grep /reset$`
  do
    echo 1 >$i
  done
fi
'
}

the_directories_are_those_of_the_manual() {
  assert_eq \
    "$(printf '%s\n' enable irqsoff missed_timer_offsets preemptirqsoff preemptoff timerandwakeup \
    wakeup)" "$(ls "$HIST")"
  assert_eq "$(printf '%s\n' missed_timer_offsets preemptirqsoff timerandwakeup wakeup)" \
    "$(ls "$HIST/enable")"
  assert_eq "$CPUS" "$(find "$HIST/wakeup/sharedprio" -name 'CPU*' | wc -l)"
  assert_eq "$CPUS" "$(find "$HIST/missed_timer_offsets" -name 'max_latency-CPU*' | wc -l)"
}

modes_are_those_of_the_manual() {
  assert_eq 444 "$(stat -c %a "$HIST/wakeup/CPU0")"
  assert_eq 444 "$(stat -c %a "$HIST/wakeup/max_latency-CPU0")"
  assert_eq 644 "$(stat -c %a "$HIST/wakeup/reset")"
  assert_eq 644 "$(stat -c %a "$HIST/wakeup/pid")"
  assert_eq 644 "$(stat -c %a "$HIST/enable/wakeup")"
  assert_fails_with 'Permission denied' put 1 "$HIST/wakeup/CPU0"
}

an_empty_histogram_says_so_and_has_all_rows() {
  assert_eq '#Minimum latency: <undef>
#Average latency: <undef>
#Maximum latency: <undef>
#There are 0 samples lower than 0 microseconds.
#There are 0 samples greater or equal than 10240 microseconds.
#usecs	         samples' "$(grep -v ' 0$' "$HIST/preemptoff/CPU0")"
  assert_eq 10247 "$(wc -l <"$HIST/preemptoff/CPU0")"
  assert_eq "$(stat -c %s "$HIST/preemptoff/CPU0")" "$(wc -c <"$HIST/preemptoff/CPU0")"
  assert_eq '(none)' "$(cat "$HIST/wakeup/max_latency-CPU0")"
}

a_program_has_a_directory_of_its_own() {
  _feed my_section 3 3 25 10240
  assert_eq '#Minimum latency: 3 microseconds
#Average latency: 2567 microseconds
#Maximum latency: 10240 microseconds
#Total samples: 4
#There are 0 samples lower than 0 microseconds.
#There are 1 samples greater or equal than 10240 microseconds.
#usecs	         samples
     3	               2
    25	               1' "$(grep -v ' 0$' "$HIST/my_section/CPU0")"
  assert_eq '7 80 10240 rt' "$(cat "$HIST/my_section/max_latency-CPU0")"
  assert_eq 'samples 4 min 3 avg 2567.750 p50 3 p90 10240 p99 10240 p99.9 10240 p99.99 10240 max 10240' \
    "$(head -9 "$HIST/my_section/summary" | xargs)"
  assert_eq 'lost 0 unmatched 0 bounded 0 CPU0 samples 4 bounded 0 unmatched 0 lost 0' \
    "$(tail -n +10 "$HIST/my_section/summary" | xargs)"
  assert_eq 'my_section <=4 2
my_section <=32 1
my_section >8192 1' "$(grep -v ' 0$' "$HIST/my_section/data")"
  assert_eq 'CPU0 7 80 10240 rt' "$(head -1 "$HIST/my_section/top")"
  rmdir "$HIST/my_section"
  assert_fails test -e "$HIST/my_section"
}

data_json_says_what_data_says() {
  _feed my_section 3 3 25 10240 -2
  py "$HIST/my_section" <<'EOF'
import pathlib, sys
from data_json import data_of, parse
directory = pathlib.Path(sys.argv[1])
read = lambda: parse((directory / "data.json").read_text())
text = (directory / "data").read_text()
first = read()
assert first["interface"] == "my_section" and len(first["epoch"]) == 16
assert data_of(first) == text, text
statistic, = first["statistics"]
assert (statistic["samples"], statistic["on"], statistic["units"]) == (
    5, 1, "microseconds/samples"), statistic
assert (statistic["values"]["below"], statistic["values"]["above"]) == (1, 1), statistic
assert statistic["hits_out_of_range"] == 2, statistic
assert read()["serial"] == first["serial"]
(directory / "reset").write_text("\n")
after = read()
statistic, = after["statistics"]
assert after["serial"] > first["serial"] and statistic["samples"] == 5, statistic
assert statistic["data_us"] > first["statistics"][0]["data_us"], statistic
assert sum(statistic["values"]["counts"]) == 0, statistic
EOF
}

the_manuals_own_script_resets_all() {
  _feed one 3
  _feed two 4
  _reset_all
  for each in one two; do assert_eq '#Total samples: 0' "$(sed -n 4p "$HIST/$each/CPU0")"; done
}

reset_takes_any_write_and_clears_its_directory_only() {
  _feed one 3
  _feed two 4
  echo >"$HIST/one/reset"
  assert_eq '(none)' "$(cat "$HIST/one/max_latency-CPU0")"
  assert_eq '7 80 4 rt' "$(cat "$HIST/two/max_latency-CPU0")"
  printf x >"$HIST/two/reset"
  assert_eq '(none)' "$(cat "$HIST/two/max_latency-CPU0")"
}

a_reader_freezes_nothing() {
  _feed one 3
  exec 7<"$HIST/one/CPU0"
  read -r <&7
  _feed one 4
  assert_eq '#Total samples: 2' "$(sed -n 4p "$HIST/one/CPU0")"
  assert_eq '#Total samples: 1' "$(sed -n 3p <&7)"
}

snapshot_reset_returns_what_it_clears() {
  _feed one 3 9
  local before after
  ls -l "$HIST/one/snapshot_reset" >/dev/null
  assert_eq 600 "$(stat -c %a "$HIST/one/snapshot_reset")"
  before=$(cat "$HIST/one/CPU0")
  after=$(cat "$HIST/one/snapshot_reset")
  assert_has '#samples 2' "$after"
  assert_eq "$before" "$(sed '1,/^#CPU0$/d' <<<"$after")"
  assert_eq 'samples 0' "$(head -1 "$HIST/one/summary")"
}

an_open_of_snapshot_reset_clears_whatever_is_read_of_it() {
  _feed one 3 9
  : <"$HIST/one/snapshot_reset"
  assert_eq 'samples 0' "$(head -1 "$HIST/one/summary")"
  assert_eq '' "$(cat "$HIST/one/top")"
  assert_eq '(none)' "$(cat "$HIST/one/max_latency-CPU0")"
}

no_latency_is_lost_or_shown_twice_between_snapshots() {
  py <<'EOT'
from peer import *
import threading
path = os.environ["MNT"] + "/tracing/latency_hist/one/snapshot_reset"
def feed():
    peer = Peer()
    for _ in range(2000):
        peer.send(latencies("one", *[(1000, 0, task(1, 120, "a"))] * 5))
    peer.ask("")  # the answer shows that all before it was taken in
Peer().send(latencies("one"))
feeder = threading.Thread(target=feed)
feeder.start()
total = 0
def take():
    with open(path) as file:
        return int(file.readline().split()[1])
while feeder.is_alive():
    total += take()
feeder.join()
total += take()
assert total == 10000, total
EOT
}

maxima_are_kept_by_intervals() {
  _feed one 3
  put 'period=100000' "$HIST/one/maxima"
  _feed one 5
  # Intervals may have ended before the sample came.
  wait_until 'grep -qE "^CPU0 \[[0-9]+\.[0-9]{6}\] 1 5 5\.000 5$" "$HIST/one/maxima"'
  wait_until '[ "$(grep -c "^CPU0 " "$HIST/one/maxima")" -ge 3 ]'
  assert_eq 1 "$(grep -vc ' 0 0 0.000 0$' "$HIST/one/maxima")"
  assert_fails_with 'Invalid argument' put 'entries_max=0' "$HIST/one/maxima"
  assert_has 'entries_max must be 1 to 2016' "$(errors)"
}

enabling_without_the_kernels_events_says_why() {
  assert_fails_with 'No such device' put 1 "$HIST/enable/wakeup"
  assert_has 'tracing/latency_hist/enable: error: the kernel'"'"'s events are not read: tallyfs runs without -o tracefs' "$(errors)"
  assert_eq 0 "$(cat "$HIST/enable/wakeup")"
  put 0 "$HIST/enable/wakeup"
  assert_fails_with 'Invalid argument' put on "$HIST/enable/wakeup"
  assert_fails_with 'Invalid argument' put 1 "$HIST/enable/timerandwakeup"
  assert_has 'timerandwakeup needs wakeup and missed_timer_offsets on' "$(errors)"
}

a_pid_is_a_number() {
  put 4711 "$HIST/wakeup/pid"
  assert_eq 4711 "$(cat "$HIST/wakeup/pid")"
  assert_fails_with 'Invalid argument' put -1 "$HIST/wakeup/pid"
  assert_fails_with 'Invalid argument' put 0x10 "$HIST/wakeup/pid"
  assert_eq 4711 "$(cat "$HIST/wakeup/pid")"
}

each_write_is_a_command_without_a_newline_too() {
  need_python
  py "$HIST" <<'EOT'
import errno, os, sys
def write(path, text):
    file = os.open(sys.argv[1] + path, os.O_WRONLY)
    try:
        os.write(file, text)
        return 0
    except OSError as error:
        return error.errno
    finally:
        os.close(file)
assert write("/wakeup/pid", b"47") == 0
assert open(sys.argv[1] + "/wakeup/pid").read() == "47\n"
assert write("/wakeup/pid", b"junk") == errno.EINVAL
assert write("/enable/wakeup", b"junk") == errno.EINVAL
assert write("/enable/timerandwakeup", b"1") == errno.EINVAL
assert write("/wakeup/reset", b"x") == 0
EOT
}

the_kernels_directories_stay() {
  assert_fails_with 'Device or resource busy' rmdir "$HIST/wakeup"
  assert_fails_with 'Operation not permitted' rmdir "$HIST/wakeup/sharedprio"
}

strangers_cannot_forge_the_kernels_events() {
  need_root
  chmod 711 "$CASE" "$CASE/run"
  as_nobody env SOCK="$SOCK" STAT="$STAT" PYTHONPATH="$here" "$PYTHON" - <<'EOT'
from peer import *
Peer().send(kernel_events(bytes(88)))
EOT
  assert_has 'events come from root or the daemon' "$(errors)"
}

a_line_of_text_is_a_latency_too() {
  send 'latency my_section ns=25999 cpu=0 pid=4711 prio=80 comm=worker' \
    'latency my_section cpu=0 ns=3000'
  assert_eq '4711 80 25 worker' "$(cat "$HIST/my_section/max_latency-CPU0")"
  assert_eq "CPU0 4711 80 25 worker
CPU0 0 -21 3 " "$(cat "$HIST/my_section/top")"
}

the_first_feeder_of_a_directory_resets_and_removes_it() {
  "$TALLY_SEND" --socket "$SOCK" 'latency one ns=3000 cpu=0' 'latency one reset'
  assert_eq 'samples 0' "$(head -1 "$HIST/one/summary")"
  "$TALLY_SEND" --socket "$SOCK" 'latency one remove'
  # The kernel is told of it when it has been done.
  wait_until '! [ -e "$HIST/one" ]'
  assert_fails_with 'there is no such directory' "$TALLY_SEND" --socket "$SOCK" 'latency one remove'
}

a_directory_belongs_to_the_uid_that_fed_it_first() {
  need_root
  chmod 711 "$CASE" "$CASE/run"
  install -m 755 "$(command -v "$TALLY_SEND")" "$CASE/tally-send"
  local theirs=(as_nobody "$CASE/tally-send" --socket "$SOCK")
  "$TALLY_SEND" --socket "$SOCK" 'latency ours ns=3000 cpu=0'
  assert_fails_with 'the directory belongs to uid 0' "${theirs[@]}" 'latency ours ns=1 cpu=0'
  assert_fails_with 'the directory belongs to uid 0' "${theirs[@]}" 'latency ours reset'
  assert_fails_with 'the directory belongs to uid 0' "${theirs[@]}" 'latency ours remove'
  assert_eq 'samples 1' "$(head -1 "$HIST/ours/summary")"
  "${theirs[@]}" 'latency theirs ns=3000 cpu=0' 'latency theirs ns=3000 cpu=0'
  "$TALLY_SEND" --socket "$SOCK" 'latency theirs ns=3000 cpu=0'
  assert_eq 'samples 3' "$(head -1 "$HIST/theirs/summary")"
}

tally_send_says_what_is_wrong_with_a_latency() {
  "$TALLY_SEND" --socket "$SOCK" 'latency one ns=3000 cpu=0'
  assert_eq 'samples 1' "$(head -1 "$HIST/one/summary")"
  assert_fails_with 'cpu is not the number of a CPU' "$TALLY_SEND" --socket "$SOCK" \
    'latency one ns=1 cpu=all'
  assert_fails_with 'a latency on a CPU that there is not' "$TALLY_SEND" --socket "$SOCK" \
    "latency one ns=1 cpu=$CPUS"
  assert_fails_with "$(printf '  latency wakeup ns=1 cpu=0\n          ^')" "$TALLY_SEND" --socket \
    "$SOCK" 'latency wakeup ns=1 cpu=0'
  assert_has "these latencies are the kernel's" "$(errors)"
  assert_eq 'samples 1' "$(head -1 "$HIST/one/summary")"
}

a_commands_name_is_shown_in_full() {
  send 'latency one ns=1 cpu=0 comm=fifteen_bytes__'
  assert_eq '0 -21 0 fifteen_bytes__' "$(cat "$HIST/one/max_latency-CPU0")"
}

latencies_on_a_cpu_that_there_is_not_are_refused() {
  py <<EOT
from peer import *
Peer().send(latencies("one", (1000, $CPUS, task(1, 120, "a")), (1000, 0, task(1, 120, "a"))))
EOT
  assert_has 'a latency on a CPU that there is not' "$(errors)"
  assert_eq 'samples 1' "$(head -1 "$HIST/one/summary")"
}

a_uid_has_a_bounded_number_of_directories() {
  stop_daemon
  start_daemon --uid-memory 1M
  _feed one 1
  _feed two 1
  _feed three 1
  _feed four 1
  assert_has 'socket pid' "$(errors)"
  assert_fails test -e "$HIST/four"
}
