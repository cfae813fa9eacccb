# What the daemon may still do once it is mounted.

_set_up() { need_root; }
# LeakSanitizer cannot look into a process that has changed its user.
_start_as() {
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 start_daemon --run-as "$@"
  _watchdogs_are_set_up
}
_status() {
  awk -v key="$1:" '$1 == key { $1 = ""; print substr($0, 2) }' "/proc/${2:-$SERVER}/status"
}
# Of keeper and server.
_tasks_status() {
  cat "/proc/$DAEMON"/task/*/status "/proc/$SERVER"/task/*/status |
    awk -v key="$1:" '$1 == key { $1 = ""; print substr($0, 2) }' | sort -u
}
_watchdog() { pgrep -P "$DAEMON" tallyfs-unmount; }
_both_watchdogs() { pgrep -P "$DAEMON" 'tallyfs-(unmount|spare)'; }
# The daemon does not wait until they have dropped their rights.
_ready_watchdogs() {
  local each
  for each in $(_both_watchdogs); do _status NoNewPrivs "$each"; done | grep -c 1
}
_watchdogs_are_set_up() { wait_until '[ "$(_ready_watchdogs)" -eq 2 ]'; }
_nothing_is_left() {
  assert_eq '' "$(awk -v point="$MNT" '$2 == point' /proc/mounts)" 'mounts'
  [ ! -e "$SOCK" ] || fail 'the socket is left'
  [ ! -e "$SOCK.lock" ] || fail 'its lock is left'
  [ ! -e "${SOCK%/*}" ] || fail 'its directory is left'
}
_capabilities_are() {
  local set
  for set in CapPrm CapEff; do assert_eq "$1" "$(_tasks_status $set)" $set; done
}
_it_works() {
  send 'web/a 1' 'web/a 5'
  assert_counts web 'a 2'
  define web 'name=a type=list entries_max=9'
  send 'web/a 3'
  assert_data web 'a 0x3 1'
  assert_fails_with 'Invalid argument' define web 'name=a type=lisp'
  assert_has lisp "$(errors)"
  rmdir "$STAT/web"
}

run_as_changes_the_user_of_all_its_threads() {
  _start_as nobody
  assert_eq '65534 65534 65534 65534' "$(_tasks_status Uid)" Uid
  assert_eq '65534 65534 65534 65534' "$(_tasks_status Gid)" Gid
  assert_eq '' "$(_tasks_status Groups)" Groups
  assert_eq 1 "$(_tasks_status NoNewPrivs)" NoNewPrivs
  _capabilities_are 0000000000000000
  assert_eq 0000000000000000 "$(_tasks_status CapBnd)" CapBnd
  assert_eq 0000000000000000 "$(_tasks_status CapAmb)" CapAmb
}

run_as_takes_numbers_and_a_group() {
  _start_as 4711:4712
  assert_eq '4711 4711 4711 4711' "$(_status Uid)"
  assert_eq '4712 4712 4712 4712' "$(_status Gid)"
}

run_as_works_in_fstab() {
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 start_daemon -o rw,run_as=nobody:daemon
  assert_eq "65534 $(getent group daemon | cut -d: -f3)" \
    "$(_status Uid | cut -d' ' -f1) $(_status Gid | cut -d' ' -f1)"
}

as_another_user_everything_works_and_nothing_is_left() {
  _start_as nobody
  _it_works
  stop_daemon
  _nothing_is_left
  _start_as nobody
  _it_works
  stop_daemon
  _nothing_is_left
}

in_the_background_too() {
  mkdir -p "$MNT"
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 within 20 "$TALLYFS" --run-as nobody --socket \
    "$SOCK" "$MNT" | cat
  pgrep -f -- " $MNT( |\$)" >>"$CASE/pids"
  # The keeper and its server.
  assert_eq 2 "$(pgrep -c -u nobody -f -- " $MNT( |\$)")"
  _it_works
  kill "$(pgrep -o -u nobody -f -- " $MNT( |\$)")"
  wait_until '[ ! -e "${SOCK%/*}" ]'
  _nothing_is_left
}

the_files_still_belong_to_the_mounting_user() {
  _start_as nobody -o allow_other
  send 'web/a 1'
  assert_eq '0 0' "$(stat -c '%u %g' "$STAT/web/data")"
  assert_fails as_nobody cat "$STAT/web/data"
  assert_eq web "$(as_nobody ls "$STAT" | grep -x web)"
}

its_own_uid_is_a_sender_like_others() {
  need socat
  _start_as nobody
  send 'web/a 1'
  echo 'remove web' | as_nobody socat -u - "UNIX-SENDTO:$SOCK"
  assert_counts web 'a 1'
  assert_has 'uid' "$(errors)"
}

an_unmount_from_outside_ends_it_as_another_user() {
  _start_as nobody
  umount "$MNT"
  daemon_ends
  _nothing_is_left
}

sigterm_ends_it_as_another_user_while_the_mount_is_in_use() {
  _start_as nobody
  send 'web/a 1'
  exec 9<"$STAT/web/data"
  stop_daemon
  exec 9<&-
  _nothing_is_left
}

killed_as_another_user_it_leaves_nothing_either() {
  _start_as nobody
  kill_daemon
  wait_until '[ ! -e "${SOCK%/*}" ]'
  _nothing_is_left
}

its_watchdog_keeps_to_its_own_mount() {
  _start_as nobody
  mount -t tmpfs over "$MNT"
  stop_daemon
  assert_eq tmpfs "$(stat -f -c %T "$MNT")"
  umount "$MNT"
  umount -l "$MNT"
}

its_watchdog_has_two_capabilities_and_no_descriptors() {
  _start_as nobody
  local watchdog
  watchdog=$(_watchdog)
  assert_eq 0000000000200002 "$(_status CapEff "$watchdog")" 'CAP_SYS_ADMIN, CAP_DAC_OVERRIDE'
  assert_eq 0000000000000000 "$(_status CapBnd "$watchdog")"
  assert_eq 1 "$(_status NoNewPrivs "$watchdog")"
  assert_eq '' "$(find "/proc/$watchdog/fd" -lname '*fuse*' -o -lname 'socket:*')"
  kill -TERM "$watchdog"
  kill -INT "$watchdog"
  stop_daemon
  _nothing_is_left
}

a_killed_watchdog_has_a_spare() {
  local name
  for name in tallyfs-unmount tallyfs-spare; do
    _start_as nobody
    kill -KILL "$(pgrep -P "$DAEMON" $name)"
    stop_daemon
    _nothing_is_left
  done
}

a_socket_of_systemds_is_left_alone_by_the_spare_too() {
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 py "$TALLYFS" "$CASE/passed" <<'EOT'
import subprocess
from peer import *
tallyfs, path = sys.argv[1:]
sock, mnt = os.environ["SOCK"], os.environ["MNT"]
os.makedirs(mnt, exist_ok=True)
passed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
passed.bind(path)
command = 'exec 3<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
argv = [tallyfs, "-f", "--run-as", "nobody", "--socket", sock, mnt]
def helpers(daemon):
    pids = open(f"/proc/{daemon}/task/{daemon}/children").read().split()
    return {open(f"/proc/{pid}/comm").read().strip(): int(pid) for pid in pids}
def is_set_up(pid): return "NoNewPrivs:\t1" in open(f"/proc/{pid}/status").read()
def helper(daemon, name):
    """Once it has its name and has dropped its rights."""
    while name not in (there := helpers(daemon)) or not is_set_up(there[name]): pass
    return there[name]
for name in "tallyfs-unmount", "tallyfs-spare":
    daemon = subprocess.Popen(["bash", "-c", command, "bash", str(passed.fileno()), *argv],
                              pass_fds=[passed.fileno()], stdout=subprocess.PIPE)
    open(os.environ["CASE"] + "/pids", "a").write(f"{daemon.pid}\n")
    assert daemon.stdout.readline() == b"READY\n"
    os.kill(helper(daemon.pid, name), signal.SIGKILL)
    Peer(path).socket.send(b"web/a 1\n")
    assert counts("web") == "a 1\n"
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(20 * PATIENCE) == 0, name
    assert f" {mnt} " not in open("/proc/mounts").read(), name
    assert os.path.exists(path), f"{name}: the socket is not its own"
    for left in sock, sock + ".lock", path + ".lock": assert not os.path.exists(left), (name, left)
EOT
}

the_spare_leaves_alone_what_the_next_daemon_made() {
  _start_as nobody
  local spare
  spare=$(pgrep -P "$DAEMON" tallyfs-spare)
  freeze "$spare"
  kill_daemon
  wait_until '[ ! -e "${SOCK%/*}" ]'
  start_daemon
  kill -CONT "$spare"
  wait_until '! kill -0 '"$spare"' 2>/dev/null'
  _it_works
}

# As a service with User= and AmbientCapabilities=CAP_SYS_ADMIN.
by_a_capability_alone_it_mounts_and_serves_without() {
  let_nobody_mount
  nobodys_tallyfs
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups %s "%s" "$@"\n' \
    '--inh-caps=+sys_admin --ambient-caps=+sys_admin' "$CASE/bin/tallyfs" >"$CASE/capable"
  chmod 755 "$CASE/capable"
  local TALLYFS=$CASE/capable
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 start_daemon -o allow_other
  _watchdogs_are_set_up
  assert_eq '65534 65534 65534 65534' "$(_tasks_status Uid)" Uid
  _capabilities_are 0000000000000000
  assert_eq 1 "$(_tasks_status NoNewPrivs)" NoNewPrivs
  assert_eq 0000000000200000 "$(_status CapEff "$(_watchdog)")" 'CAP_SYS_ADMIN'
  _it_works
  stop_daemon
  assert_eq '' "$(awk -v point="$MNT" '$2 == point' /proc/mounts)" 'mounts'
  [ ! -e "$SOCK" ] && [ ! -e "$SOCK.lock" ] || fail 'the socket or its lock is left'
}

every_watchdog_has_two_capabilities_and_no_others() {
  _start_as nobody
  local each
  for each in $(_both_watchdogs); do
    assert_eq 0000000000200002 "$(_status CapPrm "$each")" 'CAP_SYS_ADMIN, CAP_DAC_OVERRIDE'
    assert_eq 0000000000000000 "$(_status CapBnd "$each")"
    assert_eq 1 "$(_status NoNewPrivs "$each")"
  done
}

as_root_it_keeps_what_unmounts_and_what_answers() {
  start_daemon
  assert_eq '0 0 0 0' "$(_tasks_status Uid)"
  _capabilities_are 0000000000200002
  assert_eq 0000000000000000 "$(_tasks_status CapBnd)" CapBnd
  assert_eq 1 "$(_tasks_status NoNewPrivs)" NoNewPrivs
  _it_works
  stop_daemon
  _nothing_is_left
}

without_capabilities_it_answers_feeders_all_the_same() {
  _start_as nobody
  assert_fails_with 'no such interface' "$TALLY_SEND" --socket "$SOCK" 'define web on=1'
  as_nobody test -x "$TALLY_SEND" || skip 'nobody may not run tally-send here'
  as_nobody "$TALLY_SEND" --socket "$SOCK" 'web/a 1'
}

a_user_that_does_not_exist_is_refused() {
  mkdir -p "$MNT"
  assert_fails_with "no user 'nosuchuser'" "$TALLYFS" -f --run-as nosuchuser --socket "$SOCK" "$MNT"
  assert_fails_with "no group 'nosuchgroup'" "$TALLYFS" -f --run-as nobody:nosuchgroup --socket \
    "$SOCK" "$MNT"
  assert_fails_with 'uid 4711 has no account' "$TALLYFS" -f --run-as 4711 --socket "$SOCK" "$MNT"
  assert_fails_with 'only root can become another user (--run-as)' as_nobody \
    "$(_copy_for_nobody)" -f --run-as daemon --socket "$CASE/nobodys" "$MNT"
  _nothing_is_left
}
_copy_for_nobody() { cp "$TALLYFS" "$CASE/tallyfs" && echo "$CASE/tallyfs"; }

a_mount_that_fails_leaves_nothing_with_a_watchdog_either() {
  mkdir -p "$MNT"
  assert_fails "$TALLYFS" -f --run-as nobody --socket "$SOCK" -o context=nonsense "$MNT"
  _nothing_is_left
}

# ---- --group and --write-group

# modes_of PATH...: mode and group of each
_modes_of() { local each; for each; do stat -c '%a %g' "$MNT/$each"; done | paste -sd, ; }
# as_member GID COMMAND...: as a user of no group but this
_as_member() {
  local gid=$1
  shift
  setpriv --reuid=nobody --regid=nogroup --groups="$gid" -- "$@"
}

without_groups_the_modes_are_the_owners() {
  start_daemon -o allow_other
  send 'web/a 1'
  assert_eq '755 0,400 0,600 0,755 0,640 0' \
    "$(_modes_of statistics statistics/web/{data,definition} stats tracing/error_log)"
}

a_group_reads_and_does_not_write() {
  start_daemon -o allow_other --group 4711
  send 'web/a 1'
  assert_eq '755 0,750 4711,755 0,440 4711,640 4711,750 4711,440 4711,755 0,640 4711,640 0' \
    "$(_modes_of . statistics statistics/web statistics/web/{data,definition} stats \
      stats/templates \
      tracing tracing/error_log tracing/trace)"
  assert_eq 'a 1 1 1.000 1' "$(_as_member 4711 cat "$STAT/web/data")"
  assert_has 'name=a on=1' "$(_as_member 4711 cat "$STAT/web/definition")"
  assert_eq '' "$(_as_member 4711 cat "$MNT/tracing/error_log")"
  assert_fails_with 'Permission denied' _as_member 4711 bash -c "echo on=0 >$STAT/web/definition"
  assert_fails_with 'Permission denied' _as_member 4711 cat "$MNT/tracing/trace"
  assert_fails_with 'Permission denied' _as_member 4712 ls "$STAT"
  assert_fails_with 'Permission denied' _as_member 4712 cat "$MNT/rules"
  assert_eq 'errors.json metrics rules stats tracing' \
    "$(_as_member 4712 ls "$MNT" | grep -v statistics | paste -sd' ')"
  assert_fails_with 'Operation not permitted' chmod 0644 "$STAT/web/data"
  chmod 0440 "$STAT/web/data"
}

a_write_group_changes_definitions() {
  start_daemon -o allow_other,group=4711,write_group=4712
  send 'web/a 1'
  assert_eq '440 4711,660 4711,660 4711' \
    "$(_modes_of statistics/web/{data,definition} tracing/error_log)"
  _as_member 4711,4712 bash -c "echo data=reset >$STAT/web/definition"
  assert_eq 'a 0 0 0.000 0' "$(_as_member 4711,4712 cat "$STAT/web/data")"
  assert_fails_with 'Permission denied' _as_member 4711 bash -c "echo on=0 >$STAT/web/definition"
  assert_fails_with 'Permission denied' _as_member 4712 bash -c "echo on=0 >$STAT/web/definition"
}

groups_need_allow_other_and_must_exist() {
  local option status=0
  mkdir -p "$MNT"
  for option in --group --write-group; do
    assert_fails_with 'needs -o allow_other' "$TALLYFS" -f "$option" daemon --socket "$SOCK" "$MNT"
    "$TALLYFS" -f "$option" daemon --socket "$SOCK" "$MNT" 2>/dev/null || status=$?
    assert_eq 2 "$status" "status of $option without allow_other"
    assert_fails_with "there is no group 'no such'" \
      "$TALLYFS" -f -o allow_other "$option" 'no such' --socket "$SOCK" "$MNT"
  done
}

# The keeper mounts, unmounts and executes the next program.
# A container has filters of its own.
a_filter_is_on_every_thread_of_the_server_alone() {
  local around of_threads
  around=$(_status Seccomp_filters self)
  [ -n "$around" ] || skip 'this kernel does not count filters'
  start_daemon
  of_threads=$(cat "/proc/$SERVER"/task/*/status |
    awk '$1 == "Seccomp:" || $1 == "Seccomp_filters:" { print $1, $2 }' | sort -u)
  assert_eq $'Seccomp: 2\nSeccomp_filters: '$((around + 1)) "$of_threads" 'of the server'
  assert_eq "$around" "$(_status Seccomp_filters "$DAEMON")" 'of the keeper'
  _it_works
}
