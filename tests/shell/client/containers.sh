# Feeders in other network, mount, PID and user namespaces, as a container puts them there: all that
# they send arrives, and they are answered over channels (core/wire/FORMAT.md).
. ./client/_probe.sh

ALL=(--net --mount --pid --fork --user --map-root-user)

_need_namespaces() {
  need unshare
  unshare "${ALL[@]}" true 2>/dev/null || skip 'there are no namespaces here'
}
# _start_probe_apart [OPTION...]: the probe in namespaces of its own; all of them without an option.
_start_probe_apart() {
  _need_namespaces
  [ $# -gt 0 ] || set -- "${ALL[@]}"
  printf '#!/bin/sh\nexec unshare %s -- "%s" "$@"\n' "$*" "$(command -v "$TALLY_PROBE")" \
    >"$CASE/apart"
  chmod 755 "$CASE/apart"
  TALLY_PROBE=$CASE/apart start_probe
}
_reload() { "$TALLYFS" --reload "$MNT"; SERVER=$(server_of "$DAEMON"); }

tally_send_is_answered_wherever_it_runs() {
  _need_namespaces
  local each
  for each in --net --mount '--pid --fork' '--user --map-root-user' '--net --user' "${ALL[*]}"; do
    # shellcheck disable=SC2086
    TALLY_SOCKET=$SOCK unshare $each -- "$TALLY_SEND" 'create web/hits on=1' 'web/hits 1' ||
      fail "with $each"
    # shellcheck disable=SC2086
    TALLY_SOCKET=$SOCK assert_fails_with 'entries_max' unshare $each -- "$TALLY_SEND" \
      'create web/x type=list entries_max=0'
  done
  assert_eq 6 "$(counts web | awk '$1 == "hits" { print $2 }')"
  assert_eq 0 "$(own answers_dropped)"
  wait_until '[ "$(own channels)" = 0 ]'
}

many_lines_of_a_pipe_are_all_answered_there() {
  _need_namespaces
  seq 1 20000 | sed 's/^/web\/n /' |
    TALLY_SOCKET=$SOCK unshare "${ALL[@]}" -- "$TALLY_SEND" || fail "ended with $?"
  assert_eq 'n 20000' "$(counts web)"
}

a_feeder_on_libtally_registers_there_and_counts_in_cells() {
  _start_probe_apart
  ok 'interface web' 'statistic web a' 'start a' 'inc a 100' 'sync 5000'
  assert_counts web 'a 100'
  wait_until 'in_cells a'
  assert_eq 1 "$(own channels)" channels
  # What is switched is seen at once, as the page came.
  define web 'name=a on=0'
  said 0 'on a'
  end_probe
  wait_until '[ "$(own channels) $(own lanes)" = "0 0" ]'
}

an_interface_with_the_lifetime_of_a_feeder_goes_with_it() {
  _start_probe_apart
  ok 'interface web feeder' 'statistic web a' 'start a' 'inc a 10' 'sync 5000'
  assert_counts web 'a 10'
  end_probe
  wait_until '! [ -e "$STAT/web" ]'
}

# By itself, without a request of the program's.
_has_a_new_channel() { wait_until '[ "$(own channels)" = 1 ]'; }

after_a_reload_answers_arrive_again_and_nothing_is_lost() {
  local i
  _start_probe_apart
  ok 'interface web' 'statistic web a' 'start a' 'sync 5000'
  for i in 1 2 3; do
    _reload
    _has_a_new_channel
    ok 'inc a 100' "statistic web s$i" "start s$i" "inc s$i 1" 'sync 10000'
    assert_eq "a $((i * 100))" "$(counts web | grep '^a ')"
    assert_eq "s$i 1" "$(counts web | grep "^s$i ")"
  done
  assert_eq '0 0' "$(count_of lost) $(count_of dropped)"
  assert_balanced
}

after_a_kill_answers_arrive_again() {
  local before=$SERVER
  _start_probe_apart
  ok 'interface web' 'statistic web a' 'start a' 'sync 5000'
  kill -KILL "$SERVER"
  wait_until "serves_instead_of $before"
  _has_a_new_channel
  ok 'sync 10000' 'statistic web b' 'start b' 'inc b 100' 'sync 10000'
  assert_eq 'b 100' "$(counts web | grep '^b ')"
}

another_daemon_is_found_and_answers() {
  _start_probe_apart
  ok 'interface web' 'statistic web a' 'start a' 'inc a 1' 'sync 5000'
  stop_daemon
  start_daemon
  ok 'inc a 5' 'sync 10000'
  assert_counts web 'a 5'
}

a_forked_child_has_a_channel_of_its_own() {
  _start_probe_apart
  tell may-fork
  [ "$SAID" = yes ] || skip 'the probe may not fork'
  ok 'interface web' 'statistic web a' 'start a' 'inc a 1' 'sync 5000'
  said 0 'fork a 10 20'
  ok 'sync 5000'
  assert_counts web 'a 31'
  wait_until '[ "$(own channels)" = 1 ]'
  ok become-child
  ok 'inc a 9' 'sync 5000'
  assert_counts web 'a 40'
}

a_feeder_whose_descriptors_are_closed_is_answered_again() {
  _start_probe_apart
  ok 'interface web' 'statistic web a' 'start a' 'inc a 1' 'sync 5000'
  tell close-fds
  ok 'inc a 5' 'statistic web b' 'start b' 'inc b 1' 'sync 10000'
  assert_has 'b 1' "$(counts web)"
}

_need_package() {
  need_python
  PACKAGE=$(dirname "$(command -v "$TALLYFS")")/../python
  PYTHONPATH=$PACKAGE "$PYTHON" -c 'import tally' 2>/dev/null || skip 'no package tally'
}

# As a setuid program has them, and a server that takes on the uids of its users.
programs_with_two_uids_are_answered_there() {
  need_root
  need setpriv
  _need_namespaces
  local each
  for each in '--ruid=65534 --euid=0' '--ruid=0 --euid=65534'; do
    # The environment says nothing to a program with more rights than its caller.
    # shellcheck disable=SC2086
    assert_fails_with 'entries_max' unshare --net -- setpriv $each --clear-groups -- \
      "$TALLY_SEND" --socket "$SOCK" 'create web/x type=list entries_max=0'
  done
  assert_eq 0 "$(own fds_refused)"
  wait_until '[ "$(own channels)" = 0 ]'
}

a_feeder_with_two_uids_counts_in_cells_there() {
  need_root
  _need_namespaces
  _need_package
  TALLY_SOCKET=$SOCK PYTHONPATH=$PACKAGE unshare --net -- "$PYTHON" - <<'PY'
import os, tally
os.setresuid(65534, 0, 0)
hits = tally.Interface("web").statistic("hits", "calls")
hits.start()
tally.statistic_sync(10000)
for effective in 65534, 0:
    os.seteuid(effective)
    for i in range(1000):
        hits.inc(i)
    tally.statistic_sync(10000)
os.setresuid(0, 0, 0)
with open(os.environ["MNT"] + "/statistics/tallyfs/data") as data:
    own = {words[0]: words[-1] for words in map(str.split, data)}
assert (own["channels"], own["lanes"]) == ("1", "1"), own
PY
  assert_counts web 'hits 2000'
}

a_feeder_in_python_registers_there() {
  _need_namespaces
  _need_package
  TALLY_SOCKET=$SOCK PYTHONPATH=$PACKAGE unshare "${ALL[@]}" -- "$PYTHON" - <<'PY'
import tally
hits = tally.Interface("web").statistic("hits", "calls")
hits.start()
for i in range(1000):
    hits.inc(i)
tally.statistic_sync(10000)
PY
  assert_counts web 'hits 1000'
}

# Those of before sent no channel.
a_library_without_a_channel_is_answered_at_its_address() {
  py <<'PY'
from peer import *
peer = Peer()
assert peer.ask("create web") == (0, 0)
assert own("datagrams") >= 1
assert not [l for l in data("tallyfs").splitlines() if l.startswith("channels ")]
PY
}

# Those of examples/, built as their users do.
programs_in_c_and_cpp_count_all_there() {
  _need_namespaces
  need cc c++
  [ -z "${TALLY_PATIENCE:-}" ] || skip 'the library has a sanitizer'
  local root=$here/../.. library
  library=$(dirname "$(command -v "$TALLYFS")")/../lib
  [ -e "$library/libtally.so" ] || skip 'no libtally to link with'
  cc -I"$root/include" "$root/examples/feeder.c" -o "$CASE/in-c" -L"$library" -ltally
  c++ -std=c++20 -I"$root/include" "$root/examples/feeder.cpp" -o "$CASE/in-cpp" \
    -L"$library" -ltally
  local each
  for each in in-c in-cpp; do
    TALLY_SOCKET=$SOCK LD_LIBRARY_PATH=$library unshare "${ALL[@]}" -- "$CASE/$each" ||
      fail "$each ended with $?"
  done
  local name
  for name in latency_ns sorting_us; do
    assert_eq 1000 "$(data example | awk -v name=$name '$1 == name { n += $NF } END { print n }')" \
      "$name"
  done
}
