# tallyctl doctor: each fault that a machine, a mount or a daemon can have is made on purpose, and
# is found, with what to do. Those that only a kernel or hours can make are in
# tests/unit/ctl/doctor_test.cpp. Longer than most: it has a case for each fault.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() { start_daemon; export TALLY_MOUNT=$MNT; }
# _finds LEVEL CHECK TEXT [ADVICE]: a line of doctor, which ends with 1.
_finds() {
  local said status=0
  said=$("$TALLYCTL" doctor 2>&1) || status=$?
  assert_eq 1 $status "exit status of doctor, which said: $said"
  [[ $said =~ (^|$'\n')$1\ *$2\ [^$'\n']*"$3"[^$'\n']*$'\n'\ *do:\ [^$'\n']*"${4:-}" ]] ||
    fail "doctor does not find '$1 $2 ... $3 ... do: ... ${4:-}' in" "$said"
}

all_is_well() {
  local said
  send 'web/hits 1'
  # A queue may be short, without root; the clock may be slow; other mounts may have faults.
  said=$("$TALLYCTL" doctor) ||
    assert_eq '' "$(grep '^FAIL' <<<"$said" | grep -v '^FAIL  mount ' || true)"
  assert_has "ok    mount        $MNT, tallyfs " "$said"
  assert_has 'no fault was counted since the start' "$said"
  assert_has "$SOCK, held, may be written" "$said"
  assert_has 'this user may read, and change' "$said"
  need jq
  ("$TALLYCTL" doctor --json || true) | jq -e '.checks | length > 10' >/dev/null
}

every_count_of_the_daemon_is_known() {
  local name
  for name in $(definition tallyfs | sed -n 's/^name=\([^ ]*\) .*type=value.*/\1/p'); do
    strings -a "$TALLYCTL" 2>/dev/null | grep -qx "$name" || grep -qa "$name" \
      "$(command -v "$TALLYCTL")" || fail "$name of statistics/tallyfs is unknown to doctor"
  done
}

what_a_feeder_of_logs_could_not_take() {
  local each
  for each in log/{overflowed,unread,missed} statsd/overflowed; do
    send "create tally-feed-$each on=1"
  done
  send 'tally-feed-log/overflowed 1 3' 'tally-feed-log/unread 1 20' 'tally-feed-statsd/overflowed 1'
  send 'tally-feed-log/missed 1 2'
  _finds WARN overflowed 'tally-feed-log: 3 samples went to NAME{*}' 'fewer values of its labels'
  _finds WARN overflowed 'tally-feed-statsd: 1 sample went to NAME{*}' 'series-per-name-max'
  _finds WARN unread 'tally-feed-log: 20 bytes of logs were cut off' 'rotate by rename'
  _finds WARN missed 'tally-feed-log: 2 logs were rotated before' 'delaycompress'
}

a_server_that_was_replaced() {
  kill -KILL "$SERVER"
  wait_until 'grep -qx "takeovers 1" "$STAT/tallyfs/data"'
  _finds WARN takeovers '1 server ended unexpectedly' 'log says why'
}

the_age_of_the_saved_state() {
  stop_daemon
  start_daemon --state "$CASE/state" --state-period 1
  send 'web/a 1'
  wait_until 'grep -q "^state_bytes " "$STAT/tallyfs/data"'
  assert_match 'ok    state +saved [0-9.]+ ?[a-z]+ ago, [0-9,]+ bytes' \
    "$("$TALLYCTL" doctor | grep ' state ' || true)"
  rm -r "$CASE/state"
  send 'web/a 1'
  wait_until 'grep -q "^state_failures [1-9]" "$STAT/tallyfs/data"'
  _finds WARN state 'the last try failed' 'log says why'
  mkdir -m 700 "$CASE/state"  # so that the last try succeeds
}

memory_of_a_lane_that_no_feeder_writes_so() {
  py <<'EOT'
import fcntl
from peer import *
peer = Peer()
number = peer.make("web/a on=1 type=range")
error, lane = peer.ask("lane 2097152")
assert error == 0, os.strerror(error)
memory = mmap.mmap(peer.attached[0], 2097152)
fcntl.fcntl(peer.attached[0], 1033, 16)  # F_ADD_SEALS, F_SEAL_FUTURE_WRITE
# The index of its first thread would lie beyond its end.
struct.pack_into("<IIQ", memory, 4096, 1, 0, 64 << 32 | 0xFFFFF000)
struct.pack_into("<Q", memory, 16, 1)
peer.sequence += 1
peer.send(message(13, struct.pack("<IIQQ", peer.sequence, 0, lane, number)))
((_, error, _),) = peer.answers()
assert error == 0, os.strerror(error)
assert data("web") == "a 0 0 0.000 0\n", data("web")
assert own("lane_bad") >= 1, data("tallyfs")
EOT
  _finds WARN lane_bad 'memory that feeders count in held what no feeder writes' 'errors names'
  local fault='this is not what a feeder writes: an index is not within the file'
  grep -q "lane pid [0-9]* uid [0-9]*: error: $fault" "$MNT/tracing/error_log" || fail 'no fault'
  fault+=': read [0-9]*, allowed [0-9]*, era 0'
  grep -q "lane pid [0-9]* uid [0-9]*: $fault (a lane file, at 4294963200)" "$CASE"/stderr.* ||
    fail 'no fault in the log'
}

lines_that_are_refused() {
  send 'garbage'
  _finds WARN rejects 'the newest: socket pid' 'tallyctl errors'
}

long_lines_are_divided_at_words() {
  need script
  send 'garbage'
  local said joined
  said=$(script -qec "stty cols 60; $TALLYCTL doctor --color=never" /dev/null | tr -d '\r' || true)
  assert_eq '' "$(grep -E '^.{61}' <<<"$said" || true)"
  joined=$(tr -s ' \n' ' ' <<<"$said")
  assert_has 'do: tallyctl errors has the last ones, with their senders and reasons' "$joined"
  assert_has "ok mount $MNT, tallyfs " "$joined"
}

a_dead_mount_that_was_not_meant() {
  mkdir "$CASE/other"
  "$TALLYFS" -f --no-keeper --socket "$CASE/other.socket" "$CASE/other" >"$CASE/ready" 2>&1 &
  local other=$!
  wait_until 'grep -q READY "$CASE/ready"'
  kill -KILL $other
  wait $other || true
  send 'web/hits 1'
  assert_has_not 'dead mount' "$("$TALLYCTL" doctor --mount "$MNT/" || true)"
  assert_has "dead mount   $CASE/other: its daemon is gone" \
    "$(TALLY_MOUNT='' "$TALLYCTL" doctor || true)"
  fusermount3 -u -z "$CASE/other" || umount -l "$CASE/other"
}

datagrams_that_are_too_long_or_carry_descriptors() {
  py <<'EOT'
from peer import *
peer = Peer()
SO_SNDBUFFORCE = 32
option = SO_SNDBUFFORCE if os.geteuid() == 0 else socket.SO_SNDBUF
peer.socket.setsockopt(socket.SOL_SOCKET, option, 1 << 21)
out, into = os.pipe()
try:
    peer.socket.send(b"\n" * 262145)
    socket.send_fds(peer.socket, [b"web/hits 1\n"], [into])
except OSError as error:
    print(f"the sender may not: {error}")
    raise SystemExit(4)
EOT
  _finds WARN truncated '1 datagram was too long' '256 KiB'
  _finds WARN fds_refused '1 datagram carried file descriptors'
}

answers_that_are_not_read() {
  py <<'EOT'
import time
from peer import *
peer = Peer()
for i in range(20000): peer.send(request(1, "web/hits 1"))
deadline = time.monotonic() + time_limit(5)
while counts("web") != "hits 20000\n": assert time.monotonic() < deadline, data("web")
EOT
  _finds WARN answers_dropped 'answers did not reach their feeders' 'read the answers'
}

samples_that_were_dropped_and_by_which_process() {
  py <<'EOT' >"$CASE/pid"
from peer import *
Peer().send(dropped(1204))
data("tallyfs")
print(os.getpid())
EOT
  _finds WARN dropped "1,204 samples were dropped by feeders that could not send them" held_max
  assert_has "by pid $(cat "$CASE/pid") (ended) 1,204" "$("$TALLYCTL" doctor || true)"
}

a_counter_at_the_end_of_its_type() {
  send 'create web/hits on=1' 'web/hits 1 18446744073709551615' 'web/hits 1 1'
  data web >/dev/null
  _finds WARN saturations '1 counter stands at the end of its type' 'tallyctl reset'
}

opens_beyond_a_quota() {
  local fds=() fd i
  stop_daemon
  start_daemon --uid-open-files 5
  send 'web/a 1'
  for i in {1..5}; do
    exec {fd}<"$STAT/web/data"
    fds+=("$fd")
  done
  assert_fails cat "$STAT/web/data"
  for fd in "${fds[@]}"; do exec {fd}<&-; done
  wait_until 'data web >/dev/null 2>&1'
  _finds WARN opens_refused ' refused by a quota' '--uid-open-files'
}

an_open_that_could_not_wait_for_all() {
  need_root
  SERVER=$SERVER py <<'EOT'
import signal
from peer import *
server, sent = int(os.environ["SERVER"]), 0
peer = Peer()
peer.make("web/a on=1 type=list entries_max=100000")
text = b"".join(b"web/a %d\n" % n for n in range(15000))
peer.socket.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)
freeze(server)
try:
    peer.socket.setblocking(False)
    while sent < 300: peer.socket.send(text); sent += 1
except BlockingIOError: pass
finally: os.kill(server, signal.SIGCONT)
data("web")
if own("drains_cut") == 0:
    print(f"no open was cut short, of {sent} datagrams")
    raise SystemExit(4)
EOT
  _finds WARN drains_cut ' showed what was there before' 'daemon is behind'
}

# Of a process of its own, which has cost nothing before, and a few at a time: the daemon works
# through all of them, after the case has ended, too.
commands_that_cost_much() {
  py <<'EOT'
from peer import *
peer = Peer()
for i in range(0, 50_000, 2000):
    peer.socket.send(b"".join(b"create large/s%d\n" % n for n in range(i, i + 2000)))
assert peer.ask("attach large/s49999")[0] == 0
EOT
  py <<'EOT'
from peer import *
import time
peer = Peer()
flips = b"".join(b"define large on=%d\n" % (n % 2) for n in range(10))
before, deadline = own("put_off"), time.monotonic() + time_limit(60)
while own("put_off") == before:
    assert time.monotonic() < deadline
    peer.socket.send(flips)
EOT
  wait_until '"$TALLYCTL" ls >/dev/null 2>&1' 60
  _finds WARN put_off ' waited behind others' 'less often'
}

answers_beyond_the_share_of_a_user() {
  need_root
  chmod 755 "$CASE" "$CASE/run"
  py <<'EOT'
from peer import *
import time
pid = os.fork()
if pid == 0:
    os.setgid(65534)
    os.setuid(65534)
    deaf = [Peer() for _ in range(150)]
    many = [request(i + 1, "create web/size type=list") for i in range(100)]
    for peer in deaf:
        for _ in range(4): peer.send(*many)
    Peer().send(request(1, "deaf/done 1"))
    time.sleep(600)
    os._exit(0)
deadline = time.monotonic() + time_limit(60)
while not os.path.exists(os.environ["STAT"] + "/deaf"): assert time.monotonic() < deadline
os.kill(pid, 9)
os.waitpid(pid, 0)
assert own("answers_over_share") > 0
EOT
  _finds WARN answers_over_share 'were not sent to a uid that reads none'
}

records_of_the_kernel_that_are_lost() {
  need_root
  stop_daemon
  start_daemon -o tracefs
  local event=$MNT/tracing/events/task/task_newtask
  [ -d "$event" ] || skip 'no kernel events here'
  echo 1 >"$event/enable"
  # What it had read is gone with it; another takes its place.
  kill -9 "$(pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1)"
  wait_until 'data tallyfs | grep -q "^events_lost [1-9]"'
  _finds WARN events_lost ' lost before ' 'buffer_size_kb'
}

the_kernel_s_feeder_that_has_ended() {
  need_root
  stop_daemon
  mkdir "$CASE/alone"
  cp "$(command -v "$TALLYFS")" "$CASE/alone/tallyfs"  # which finds no feeder beside it
  TALLYFS=$CASE/alone/tallyfs start_daemon -o tracefs
  _finds FAIL tracefs 'wanted, but its feeder has ended' 'mount as root with -o tracefs'
}

a_library_of_another_version() {
  need cc
  echo 'const char* tally_version(void) { return "0.0.9"; }' >"$CASE/tally.c"
  cc -shared -fPIC -o "$CASE/libtally.so.0" "$CASE/tally.c"
  export LD_LIBRARY_PATH=$CASE${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  _finds WARN versions ', libtally 0.0.9' 'from one release'
}

a_program_that_was_replaced() {
  stop_daemon
  cp "$TALLYFS" "$CASE/tallyfs"
  TALLYFS=$CASE/tallyfs start_daemon
  rm "$CASE/tallyfs"
  _finds WARN program 'runs a program that was replaced since' 'tallyfs --reload MOUNTPOINT'
}

a_short_queue() {
  stop_daemon
  start_daemon --queue-length 10
  _finds WARN queue '10 datagrams: senders wait early' max_dgram_qlen
}

a_socket_that_is_gone_or_of_another_daemon() {
  rm "$SOCK"
  _finds FAIL socket 'No such file or directory' 'restart the daemon'
  need_python
  "$PYTHON" -c '
import socket, sys, time
held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
held.bind(sys.argv[1])
print("bound", flush=True)
time.sleep(600)' "$SOCK" >"$CASE/bound" &
  local other=$!
  wait_until 'grep -q bound "$CASE/bound"'
  _finds FAIL socket 'is held by another process than this daemon' 'two daemons'
  kill $other
  wait $other || true
  _finds FAIL socket 'no process holds it' 'restart the daemon'
  rm "$SOCK"
}

a_tally_socket_of_another_daemon() {
  ln "$SOCK" "$CASE/same"
  assert_has_not 'TALLY_SOCKET' "$(TALLY_SOCKET=$CASE/same "$TALLYCTL" doctor 2>&1 || true)"
  export TALLY_SOCKET=$CASE/other
  _finds WARN socket "\$TALLY_SOCKET is $CASE/other, which is not there" 'do not feed this daemon'
  touch "$CASE/other"
  _finds WARN socket "\$TALLY_SOCKET is $CASE/other, which is not this daemon's" "set it to"
}

a_daemon_that_is_stopped() {
  freeze "$SERVER"
  local said status=0
  said=$("$TALLYCTL" doctor 2>&1) || status=$?
  kill -CONT "$SERVER"
  assert_eq 3 $status
  assert_has "$MNT: its daemon does not answer" "$said"
}

a_dead_mount() {
  kill_daemon
  local said status=0
  said=$("$TALLYCTL" doctor 2>&1) || status=$?
  assert_eq 3 $status
  assert_match ".*WARN +dead mount +$MNT: its daemon is gone.*do: fusermount3 -u -z $MNT.*" \
    "$(tr '\n' ' ' <<<"$said")"
}

a_subtree_is_not_the_whole() {
  stop_daemon
  start_daemon --subtree tracing
  local said status=0
  said=$("$TALLYCTL" doctor 2>&1) || status=$?
  assert_eq 3 $status
  assert_has 'has no statistics.json' "$said"
  assert_has 'mount the whole tree, without --subtree' "$said"
}

a_mount_that_is_closed_to_this_user() {
  need_root
  chmod 755 "$CASE"
  local said status=0
  said=$(as_nobody env TALLY_MOUNT="$MNT" "$(command -v "$TALLYCTL")" doctor 2>&1) || status=$?
  [ $status -ne 126 ] || skip 'nobody may not run tallyctl here'
  assert_eq 3 $status
  assert_has "$MNT: closed to this user, as it has no allow_other" "$said"
}

what_a_state_lacked() {
  stop_daemon
  start_daemon --state "$CASE/state" --state-period 3600
  send 'create large/x type=raw entries_max=100000'
  wait_until '[ -e "$STAT/large" ]'
  stop_daemon
  start_daemon --state "$CASE/state" --state-period 3600 --uid-memory 1M
  _finds WARN state_left_out '1 object of a state was left out at the start' 'state.incomplete'
}

a_state_file_that_cannot_be_written() {
  need_root
  mkdir "$CASE/state"
  mount -t tmpfs -o size=256k,mode=700 state "$CASE/state" || skip 'no tmpfs can be mounted'
  stop_daemon
  start_daemon --state "$CASE/state" --state-period 1
  cat /dev/zero >"$CASE/state/ballast" 2>/dev/null || true
  send 'web/a 1'
  wait_until 'data tallyfs | grep -q "^state_failures [1-9]"'
  _finds WARN state_failures ' of --state could not be written' 'room and rights'
  rm "$CASE/state/ballast"  # so that the last try succeeds
  stop_daemon
  umount "$CASE/state"
}

# They were saved, or came with an older tally-feed-timer that has been replaced.
timers_of_an_earlier_feeder() {
  local array='type=array scale=log2 base_interval=1 range_min=0 range_max=1048576' advice
  need jq
  send "create timer/lateness_cpu0 on=1 $array" 'timer/lateness_cpu0 7' \
    'create timer/overruns_cpu0 on=1' \
    'define timer name=lateness_cpu0_percentiles of=lateness_cpu0 type=quantiles on=1' \
    'create timer/lateness{cpu:0} on=1'
  advice=$("$TALLYCTL" --mount "$MNT" doctor --json |
    jq -r '.checks[] | select(.check == "timer") | .level, .text, .do') || true
  assert_eq 'ok' "${advice%%$'\n'*}"
  assert_has 'timer/lateness_cpu0 and 1 more have no feeder since CPUs are labels' "$advice"
  assert_has 'lateness_cpu0 ' "$(data timer)"
  # What it says to type removes them, and leaves what is fed now.
  tally-send() { "${TALLYCTL%ctl}-send" --socket "$SOCK" "$@"; }
  eval "${advice#*to remove them: }"
  assert_eq 'name=lateness{cpu:0}' "$(definition timer | sed -n 's/^\(name=[^ ]*\) .*/\1/p')"
  assert_has_not ' timer ' "$("$TALLYCTL" doctor || true)"
}
