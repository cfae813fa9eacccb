# A reload: the program on disk goes on in the keeper's process, with the mount and all totals.
# Longer than most: it has each thing that goes on, and each way in which a reload is refused.
. ./daemon/_keeper.sh

_nothing_is_left() {
  assert_eq '' "$(awk -v point="$MNT" '$2 == point' /proc/mounts)" 'mounts'
  [ ! -e "$SOCK" ] || fail 'the socket is left'
  [ ! -e "$SOCK.lock" ] || fail 'its lock is left'
}
# Runs a copy of the program, which a case may replace.
_start_copy() {
  mkdir "$CASE/bin"
  cp "$(command -v "$TALLYFS")" "$CASE/bin/tallyfs"
  stop_daemon
  TALLYFS=$CASE/bin/tallyfs start_daemon "$@"
}
_put_in_place() { chmod 755 "$1" && mv "$1" "$CASE/bin/tallyfs"; }

everything_goes_on_and_the_process_too() {
  local mount before=$SERVER keeper=$DAEMON
  mount=$(mountpoint -d "$MNT")
  send 'create web/us on=1 type=range' 'web/us 5' 'web/us 7' 'web/n 1'
  assert_data web 'us 2 5 6.000 7' 'n 1 1 1.000 1'
  _reload
  [ "$SERVER" != "$before" ] || fail 'the server is the same'
  kill -0 "$keeper"
  assert_eq "$mount" "$(mountpoint -d "$MNT")" 'the mount'
  assert_data web 'us 2 5 6.000 7' 'n 1 1 1.000 1'
  send 'web/us 9' 'web/n 1'
  assert_data web 'us 3 5 7.000 9' 'n 2 1 1.000 1'
  assert_eq 0 "$(own takeovers)"
  wait_until 'grep -q "reload: this is version" "$STDERR"'
  stop_daemon
  _nothing_is_left
}

# What was read of the server is held for a moment, in which another caller's reload replaces it.
beside_another_reload_it_finds_the_new_server() {
  need strace
  local before=$SERVER tracer
  (
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 exec strace -f -qq -o "$CASE/calls" \
      -P "$MNT/statistics.json" -e trace=close -e inject=close:delay_enter=1000000:when=1 \
      "$TALLYFS" --reload "$MNT" 2>"$CASE/refusal"
  ) &
  tracer=$!
  wait_until 'grep -qs close "$CASE/calls" || ! kill -0 '$tracer' 2>/dev/null'
  kill -0 $tracer 2>/dev/null || skip "strace may not trace: $(cat "$CASE/refusal")"
  kill -USR2 "$DAEMON"
  wait_until "serves_instead_of $before"
  wait $tracer || fail "$(cat "$CASE/refusal")"
  assert_eq 0 "$(own takeovers)"
  SERVER=$(server_of "$DAEMON")
}

_inodes() { find "$MNT" ! -path "$STAT/tallyfs/*" -printf '%i %P\n' | sort; }

every_name_keeps_its_inode_number() {
  local before
  send 'web/us 5' 'db/n 1' 'event define web/done u64 us'
  wait_until '[ -d "$MNT/tracing/events/web/done" ]'
  mkdir "$MNT/tracing/instances/mine"
  send 'remove db'
  wait_until '[ ! -e "$STAT/db" ]'
  before=$(_inodes)
  assert_has ' tracing/instances/mine/events/web/done/trigger' "$before"
  _reload
  assert_eq "$before" "$(_inodes)" 'numbers and names'
  # A new one has a new number.
  send 'db/n 1'
  wait_until '[ -e "$STAT/db" ]'
  assert_has_not "$(stat -c %i "$STAT/db") " "$before"
}

a_working_directory_stays() {
  send 'web/us 5'
  (
    cd "$STAT/web"
    assert_eq 'us 1 5 5.000 5' "$(cat data)"
    _reload
    assert_eq "$STAT/web" "$(/bin/pwd)"
    assert_eq 'us 1 5 5.000 5' "$(cat data)"
    assert_has web "$(ls ..)"
  )
}

a_listing_goes_on() {
  need_python
  local i
  for i in {1..2000}; do echo "many$i/x 1"; done >"$CASE/lines"
  send_file "$CASE/lines"
  wait_until '[ -e "$STAT/many2000" ]'
  py <<'PY'
import ctypes, os, subprocess
# os.scandir() reads ahead: getdents() itself, with a buffer for a few names.
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(os.environ["STAT"], os.O_RDONLY | os.O_DIRECTORY)
buffer, names, reloaded = ctypes.create_string_buffer(1024), [], 0
while (size := libc.syscall(61 if os.uname().machine == "aarch64" else 217, fd, buffer, 1024)) > 0:
    at = 0
    while at < size:
        length = int.from_bytes(buffer.raw[at + 16:at + 18], "little")
        names.append(buffer.raw[at + 19:at + length].split(b"\0")[0].decode())
        at += length
    if len(names) > 1000 * (reloaded + 1) - 500 and reloaded < 2:
        reloaded += 1
        subprocess.run([os.environ["TALLYFS"], "--reload", os.environ["MNT"]], check=True)
assert size == 0, os.strerror(ctypes.get_errno())
assert reloaded == 2
wanted = [".", "..", "tallyfs"] + [f"many{i}" for i in range(1, 2001)]
assert sorted(names) == sorted(wanted), len(names)
PY
  SERVER=$(server_of "$DAEMON")
}

an_open_file_goes_on_with_the_text_that_it_had() {
  local file whole read rest
  send 'web/us 5' 'db/n 1'
  assert_counts db 'n 1'
  whole=$(cat "$STAT/web/definition")
  exec {file}<"$STAT/web/definition" {removed}<"$STAT/db/data"
  IFS= read -r -N 5 -u "$file" read
  send 'web/other 1' 'remove db'
  wait_until '[ ! -e "$STAT/db" ]'
  _reload
  _reload
  rest=$(cat <&"$file")
  assert_eq "$whole" "$read$rest"
  assert_eq 'n 1 1 1.000 1' "$(cat <&"$removed")" 'of a file that was removed'
  exec {file}<&- {removed}<&-
  assert_has other "$(cat "$STAT/web/definition")"
}

# Each close(2) of the file ends its last line, also that of a child: so the one that reloads is
# there before.
a_line_that_was_begun_is_carried_out_once() {
  need_python
  py <<'PY'
import os, subprocess
reload = 'while read -r _; do "$TALLYFS" --reload "$MNT" && echo reloaded; done'
with subprocess.Popen(["sh", "-c", reload], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sh:
    rules = os.open(os.environ["MNT"] + "/rules", os.O_WRONLY | os.O_APPEND)
    for piece in (b"one/* on=1\ntwo/* o", b"n=1\nthree/", b"* on=1"):
        os.write(rules, piece)
        sh.stdin.write(b"\n")
        sh.stdin.flush()
        assert sh.stdout.readline() == b"reloaded\n"
    os.close(rules)
    sh.stdin.close()
PY
  SERVER=$(server_of "$DAEMON")
  assert_eq $'one/* on=1\ntwo/* on=1\nthree/* on=1' "$(cat "$MNT/rules")"
}

a_writer_of_a_file_that_is_gone_is_told() {
  local definition
  send 'web/us 5'
  assert_counts web 'us 1'
  exec {definition}>>"$STAT/web/definition"
  send 'remove web'
  wait_until '[ ! -e "$STAT/web" ]'
  _reload
  assert_fails_with 'Stale file handle' eval 'echo name=us on=0 >&"$definition"'
  exec {definition}>&-
}

open_files_count_as_before() {
  local first second third fourth
  stop_daemon
  start_daemon --uid-open-files 4
  send 'web/us 5'
  assert_counts web 'us 1'
  exec {first}<"$STAT/web/data" {second}<"$STAT/web/data" {third}<"$STAT/web/data"
  _reload
  # What --reload has read is closed by now, but the kernel tells of the end a moment later.
  wait_until 'exec {fourth}<"$STAT/web/data"'
  assert_fails_with 'Too many open files in system' cat "$STAT/web/data"
  exec {second}<&-
  wait_until 'cat "$STAT/web/data" >/dev/null 2>&1'
  exec {first}<&- {third}<&- {fourth}<&-
}

# It waits before and after.
a_blocked_reader_of_trace_pipe_goes_on() {
  cat "$MNT/tracing/trace_pipe" >"$CASE/piped" &
  local reader=$!
  wait_until 'grep -q S "/proc/'$reader'/stat"'
  echo one >"$MNT/tracing/trace_marker"
  wait_until 'grep -q one "$CASE/piped"'
  _reload
  echo two >"$MNT/tracing/trace_marker"
  wait_until 'grep -q two "$CASE/piped"'
  _reload
  echo three >"$MNT/tracing/trace_marker"
  wait_until 'grep -q three "$CASE/piped"'
  assert_eq 3 "$(wc -l <"$CASE/piped")"
  kill $reader
  wait $reader || true
}

nothing_fails_under_many_reloads() {
  need_python
  "$PYTHON" "$here/reloads.py" "$MNT" "$SOCK" "$TALLYFS" "${TALLY_RELOADS:-$(fewer 10 3)}"
  SERVER=$(server_of "$DAEMON")
}

events_triggers_and_histograms_go_on() {
  send 'event define web/done u64 us'
  wait_until '[ -d "$MNT/tracing/events/web/done" ]'
  echo 'hist:keys=us' >"$MNT/tracing/events/web/done/trigger"
  send 'event web/done us=7'
  assert_has 'Hits: 1' "$(cat "$MNT/tracing/events/web/done/hist")"
  _reload
  send 'event web/done us=7'
  assert_has 'Hits: 2' "$(cat "$MNT/tracing/events/web/done/hist")"
}

no_line_that_is_sent_meanwhile_is_lost() {
  need_python
  py <<'PY' &
import os, socket, time
feed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sent = 0
while not os.path.exists(os.environ["CASE"] + "/enough"):
    feed.sendto(b"web/a 1\n", os.environ["SOCK"])
    sent += 1
with open(os.environ["CASE"] + "/sent", "w") as file: print(sent, file=file)
PY
  local feeder=$! i
  wait_until '[ -e "$STAT/web" ]'
  for i in 1 2 3 4 5 6 7 8 9 10; do _reload; done
  touch "$CASE/enough"
  wait $feeder
  assert_eq "a $(cat "$CASE/sent")" "$(uncut counts web)" 'counts of web'
  assert_eq 0 "$(own takeovers)"
}

the_program_on_disk_serves_then() {
  _start_copy
  send 'web/a 1'
  cp "$CASE/bin/tallyfs" "$CASE/newer"
  _put_in_place "$CASE/newer"
  assert_has deleted "$(readlink "/proc/$SERVER/exe")"
  "$CASE/bin/tallyfs" --reload "$MNT"
  SERVER=$(server_of "$DAEMON")
  assert_eq "$CASE/bin/tallyfs" "$(readlink "/proc/$SERVER/exe")"
  assert_eq "$CASE/bin/tallyfs" "$(readlink "/proc/$DAEMON/exe")"
  assert_counts web 'a 1'
}

_refusals() { grep -c 'the program on disk refuses: ' "$STDERR" || true; }
# _refused PROGRAM REASON: put in place, it is refused for this reason.
_refused() {
  local before
  before=$(_refusals)
  _put_in_place "$1"
  kill -USR2 "$DAEMON"
  wait_until '[ "$(_refusals)" -gt '"$before"' ]' 30
  assert_has "refuses: $2; this one goes on" "$(tail -1 "$STDERR")"
}

a_program_that_refuses_leaves_the_old_one_serving() {
  local before
  _start_copy
  before=$SERVER
  send 'web/a 1'
  printf '#!/bin/sh\nexit 3\n' >"$CASE/broken"
  _refused "$CASE/broken" 'it ended with status 3'
  printf '#!/bin/sh\nkill -SEGV $$\n' >"$CASE/broken"
  _refused "$CASE/broken" 'it was ended by SIGSEGV'
  echo nonsense >"$CASE/broken"
  _refused "$CASE/broken" 'it cannot be executed: Exec format error'
  assert_eq "$before" "$(server_of "$DAEMON")"
  send 'web/a 1'
  assert_counts web 'a 2'
}

a_program_that_is_no_tallyfs_leaves_the_old_one_serving() {
  local before reason='it is no tallyfs that can go on: it ended with status 0'
  reason+=' and did not answer'
  _start_copy
  before=$SERVER
  send 'web/a 1'
  cp /bin/true "$CASE/other"
  _refused "$CASE/other" "$reason"
  printf '#!/bin/sh\necho tallyfs 0.2.0\n' >"$CASE/other"
  _refused "$CASE/other" "$reason"
  printf '#!/bin/sh\nsleep 1000\ntrue\n' >"$CASE/other"
  _refused "$CASE/other" 'it did not answer in time, and was killed'
  assert_eq "$before" "$(server_of "$DAEMON")"
  assert_eq "$before" "$(cat "/proc/$DAEMON/task/$DAEMON/children" | xargs)" 'children'
  assert_counts web 'a 1'
  assert_has_not 'handing over' "$(cat "$STDERR")"
}

a_refused_reload_is_told_at_once() {
  local began=$SECONDS
  _start_copy
  printf '#!/bin/sh\necho "tallyfs: not\ttoday" >&2\necho more >&2\nexit 3\n' >"$CASE/broken"
  _put_in_place "$CASE/broken"
  assert_eq 0 "$(own reloads_refused)"
  assert_fails_with \
    'tallyfs: the program on disk refuses: it ended with status 3: not?today; the old one goes on' \
    "$TALLYFS" --reload "$MNT"
  [ $((SECONDS - began)) -lt $((20 * ${TALLY_PATIENCE:-1})) ] || fail 'it waited'
  assert_eq 1 "$(own reloads_refused)"
  assert_has 'reload: error: the program on disk refuses: it ended with status 3: not?today' \
    "$(cat "$MNT/tracing/error_log")"
}

views_of_its_own_numbers_stay() {
  local before
  echo 'name=at_a_time of=batch_ns type=range' >>"$STAT/tallyfs/definition"
  before=$(cat "$STAT/tallyfs/definition")
  _reload
  assert_eq "$before" "$(cat "$STAT/tallyfs/definition")"
  send 'web/a 1'
  assert_has at_a_time "$(cat "$STAT/tallyfs/data")"
}

# What the keeper has told the program that goes on now, but with another format.
a_program_that_cannot_read_what_is_left_refuses() {
  local told
  need_root
  _reload
  told=$(tr '\0' '\n' <"/proc/$DAEMON/environ" | sed -n 's/^TALLYFS_INHERITANCE=//p')
  told=${told/#3 0/3 1}
  assert_has ' 35:2' "$told"
  TALLYFS_INHERITANCE=${told/ 35:2/ 35:7} \
    assert_fails_with 'this version does not read (kind:format 35:7)' "$TALLYFS" -f "$MNT"
}

a_reload_that_is_refused_says_why() {
  local group=tally-reload$$
  need_root
  need groupadd groupdel
  groupadd "$group" || skip 'no group can be made'
  stop_daemon
  start_daemon -o allow_other --group "$group"
  groupdel "$group"
  assert_fails_with "there is no group '$group'" "$TALLYFS" --reload "$MNT"
  assert_eq "$SERVER" "$(server_of "$DAEMON")"
}

a_server_that_is_killed_afterwards_is_replaced() {
  local before i
  for i in 1 2; do
    _reload
    before=$SERVER
    kill -KILL "$SERVER"
    wait_until '[ "$(own takeovers 2>/dev/null)" = '$i' ]'
    [ "$(server_of "$DAEMON")" != "$before" ]
  done
  send 'web/a 1'
  assert_counts web 'a 1'
}

with_state_the_directory_stays_locked_and_is_written() {
  stop_daemon
  start_daemon --state "$CASE/state"
  send 'web/a 1'
  assert_counts web 'a 1'
  _reload
  mkdir "$CASE/other"
  assert_fails_with 'is in use by another daemon' \
    "$TALLYFS" -f --socket "$CASE/run/other" --state "$CASE/state" "$CASE/other"
  send 'web/a 1'
  assert_counts web 'a 2'
  stop_daemon
  start_daemon --state "$CASE/state"
  assert_counts web 'a 2'
}

refused_lines_of_rules_are_printed_and_the_new_server_serves() {
  stop_daemon
  cd "$CASE"
  echo 'web/* type=list entries_max=9' >rules
  start_daemon --rules rules
  printf '%s\n' 'web/* type=range' 'web/b types=list' >rules
  local before each
  before=$(server_of "$DAEMON")
  _reload_without_rules
  SERVER=$(server_of "$DAEMON")
  [ "$SERVER" != "$before" ] || fail 'the server is the old one'
  assert_eq 'web/* type=range' "$(cat "$MNT/rules")"
  # Of the next reload, not of the last one.
  _reload_without_rules
  assert_eq 1 "$(grep -c types= "$CASE/said")"
  for each in 1 2 3 4 5; do echo "web/b$each nonsense" >>rules; done
  _reload_without_rules
  assert_eq 4 "$(grep -c Command: "$CASE/said")"
  assert_has '; lines refused besides: 2, see the log' "$(cat "$CASE/said")"
  sed -i '2,$d' rules
  _reload
}
# With the refused line of rules, as it stands in error_log.
_reload_without_rules() {
  local status=0
  (cd / && "$TALLYFS" --reload "$MNT") 2>"$CASE/said" || status=$?
  assert_eq 4 $status
  assert_has "--rules $CASE/rules:2: error: there is no key 'types'; did you mean type?" \
    "$(cat "$CASE/said")"
  assert_has $'  Command: web/b types=list\n                 ^' "$(cat "$CASE/said")"
  assert_has 'the new server runs, but without the lines of --rules above' "$(cat "$CASE/said")"
}

# Its working directory is the root.
refused_lines_of_rules_are_printed_of_a_daemon_in_the_background() {
  stop_daemon
  cd "$CASE"
  echo 'web/* type=list entries_max=9' >rules
  "$TALLYFS" --socket "$SOCK" --rules rules "$MNT"
  SERVER=$(pgrep -f -n -- " $MNT( |\$)")
  printf '%s\n' 'web/* type=range' 'web/b types=list' >rules
  _reload_without_rules
  fusermount3 -u "$MNT"
}

rules_are_read_anew() {
  stop_daemon
  echo 'web/* type=range on=1' >"$CASE/rules"
  start_daemon --rules "$CASE/rules"
  echo 'web/* type=list entries_max=10 on=1' >"$CASE/rules"
  _reload
  send 'web/a 1'
  assert_data web 'a 1 1'
}

as_another_user_too() {
  need_root
  stop_daemon
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 start_daemon --run-as nobody
  send 'web/a 1'
  assert_counts web 'a 1'
  _reload
  assert_eq 65534 "$(stat -c %u "/proc/$SERVER")"
  assert_eq 0000000000000000 "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$SERVER/status")"
  assert_eq '0 0' "$(stat -c '%u %g' "$STAT/web/data")"
  assert_counts web 'a 1'
  stop_daemon
  wait_until '[ ! -e "$SOCK" ]'
  _nothing_is_left
}

root_has_the_same_rights_as_before() {
  need_root
  local before
  before=$(grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs):' "/proc/$SERVER/status")
  _reload
  assert_has $'CapInh:\t0000000000000000\nCapPrm:\t0000000000200002' "$before"
  assert_eq "$before" \
    "$(grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs):' "/proc/$SERVER/status")"
}

in_the_background_it_is_reloaded_too() {
  stop_daemon
  within 20 "$TALLYFS" --socket "$SOCK" "$MNT" | cat
  DAEMON=$(pgrep -o -f -x -- "$TALLYFS --socket $SOCK $MNT")
  echo "$DAEMON" >>"$CASE/pids"
  send 'web/a 1'
  _reload
  echo "$SERVER" >>"$CASE/pids"
  assert_counts web 'a 1'
  kill -TERM "$DAEMON"
  wait_until '[ ! -e "$SOCK.lock" ]'
  _nothing_is_left
}

with_auto_unmount_the_mount_stays() {
  local mount
  stop_daemon
  start_daemon -o auto_unmount
  mount=$(awk -v point="$MNT" '$5 == point { print $1, $3 }' /proc/self/mountinfo)
  _reload
  assert_eq "$mount" "$(awk -v point="$MNT" '$5 == point { print $1, $3 }' /proc/self/mountinfo)"
  stop_daemon
  _nothing_is_left
}

an_unmount_afterwards_ends_it() {
  need_root
  _reload
  umount "$MNT"
  daemon_ends
  _nothing_is_left
}

rules_that_cannot_be_read_refuse_it() {
  stop_daemon
  echo 'web/* type=list entries_max=9' >"$CASE/rules"
  start_daemon --rules "$CASE/rules"
  mv "$CASE/rules" "$CASE/away"
  assert_fails_with "$CASE/rules cannot be read: No such file or directory; the old one goes on" \
    "$TALLYFS" --reload "$MNT"
  assert_has "$CASE/rules cannot be read: No such file or directory" "$(cat "$STDERR")"
  assert_eq "$SERVER" "$(server_of "$DAEMON")"
  mv "$CASE/away" "$CASE/rules"
  _reload
  assert_has "1 rule read from $CASE/rules, 0 lines refused" "$(cat "$STDERR")"
  send 'web/a 5'
  assert_data web 'a 5 1'
}

a_server_that_does_not_answer_is_named_in_time() {
  local before=$SERVER
  freeze "$SERVER"
  assert_fails_with "process $SERVER, does not answer" within 60 "$TALLYFS" --reload "$MNT"
  kill -CONT "$SERVER"
  send 'web/a 1'
  assert_counts web 'a 1'
  assert_eq "$before" "$(server_of "$DAEMON")"
  assert_has_not 'handing over' "$(cat "$STDERR")"
}

without_a_keeper_or_a_mount_it_says_so() {
  stop_daemon
  assert_fails_with "cannot reload $MNT: no tallyfs is mounted there" "$TALLYFS" --reload "$MNT"
  start_daemon --no-keeper
  assert_fails_with 'has no keeper' "$TALLYFS" --reload "$MNT"
  kill_daemon
  assert_fails_with 'still has the mount of a daemon that died' "$TALLYFS" --reload "$MNT"
}

without_rights_it_says_so() {
  need_root
  assert_fails_with 'only root, or the user that mounted it, may read' \
    as_nobody "$TALLYFS" --reload "$MNT"
  stop_daemon
  start_daemon -o allow_other
  assert_fails_with 'only root, or the user that mounted it, may read' \
    as_nobody "$TALLYFS" --reload "$MNT"
}

other_options_are_refused() {
  local each
  for each in --tracefs --rules=x --state=x -f '-o ro'; do
    # shellcheck disable=SC2086  # of two words
    assert_fails_with 'not beside --reload' "$TALLYFS" --reload $each "$MNT"
  done
  assert_eq "$SERVER" "$(server_of "$DAEMON")" 'the server'
}

# Two of six readers of a uid are served at a time.
requests_that_wait_for_the_turn_of_their_uid_go_on() {
  need_root
  stop_daemon
  start_daemon -o allow_other,metrics_readable
  py <<'EOP'
import subprocess
from peer import *
from raw_lanes import *
path, peer = os.environ["MNT"] + "/metrics/tallyfs.prom", Peer()
for i in range(20):
    peer.make(f"m/s{i} on=1 type=array scale=lin base_interval=1 range_min=0 range_max=65000")
wanted = len(open(path).read())


def read(ready):
    for turn in range(20):
        assert len(open(path).read()) >= wanted
        if turn == 0: ready()


with Children() as children:
    for _ in range(6): children.start(read)
    for _ in range(3):
        subprocess.run([os.environ["TALLYFS"], "--reload", os.environ["MNT"]], check=True)
    while children.pids: assert os.waitpid(children.pids.pop(), 0)[1] == 0
EOP
  assert_eq 0 "$(own takeovers)"
}
