# How the daemon is started, and what it says.

_set_up() { mkdir -p "$MNT"; }
# Starts it in the background, as mount(8) would; returns when it does.
_background() {
  ASAN_OPTIONS="${ASAN_OPTIONS:-}:log_path=$CASE/sanitizer" \
    TSAN_OPTIONS="${TSAN_OPTIONS:-}:log_path=$CASE/sanitizer" "$@" 2>"$CASE/said"
  _note
}
# Its process is the one that has $MNT in its command line.
_note() {
  pgrep -f -- " $MNT( |\$)" >>"$CASE/pids" || true
  SERVER=$(pgrep -f -n -- " $MNT( |\$)" || true)  # the keeper is older
}
_mounted() { awk -v point="$MNT" '$2 == point { print $1, $3 }' /proc/mounts; }
# The directory is the last that goes.
_unmount() { fusermount3 -u "$MNT"; wait_until '[ ! -e "${SOCK%/*}" ]'; }

says_ready_when_tree_and_socket_are_usable() {
  start_daemon
  send 'web/a 1'
  assert_counts web 'a 1'
}

says_nothing_but_ready_on_stdout() {
  start_daemon
  stop_daemon
  assert_eq '' "$(cat <&10 2>/dev/null)"
}

returns_in_the_background_only_when_usable() {
  local i
  for i in 1 2 3; do
    _background "$TALLYFS" --socket "$SOCK" "$MNT"
    send 'web/a 1'
    assert_counts web 'a 1'
    _unmount
  done
}

in_the_background_it_lets_go_of_terminal_and_directory() {
  # A pipe that another process keeps open would keep cat waiting.
  (_background "$TALLYFS" --socket "$SOCK" "$MNT") | within 10 cat
  local pid
  while read -r pid; do assert_eq / "$(readlink "/proc/$pid/cwd")"; done <"$CASE/pids"
  _unmount
}

in_the_background_the_file_of_rules_may_be_relative_and_its_faults_are_told() {
  printf '%s\n' 'web/a type=range' 'web/b on=maybe' >"$CASE/file"
  cd "$CASE"
  _background "$TALLYFS" --socket "$SOCK" --rules file "$MNT"
  assert_eq "tallyfs: $CASE/file:2: on must be 0 or 1
tallyfs:   web/b on=maybe
tallyfs:         ^" "$(cat "$CASE/said")"
  assert_eq 'web/a type=range' "$(cat "$MNT/rules")"
  assert_has "--rules $CASE/file:2: error: on must be 0 or 1" "$(errors)"
  echo 'web/e on=1' >"$CASE/file"
  kill -HUP "$(pgrep -f -o -- " $MNT( |\$)")"
  wait_until '[ "$(cat "$MNT/rules")" = "web/e on=1" ]'
  "$TALLYFS" --reload "$MNT"
  echo 'web/f on=1' >"$CASE/file"
  kill -HUP "$(pgrep -f -o -- " $MNT( |\$)")"
  wait_until '[ "$(cat "$MNT/rules")" = "web/f on=1" ]'
  _unmount
}

in_the_background_a_failure_is_told_and_shown_in_the_status() {
  touch "$CASE/file"
  assert_fails_with 'file: ' "$TALLYFS" --socket "$SOCK" "$CASE/file"
  assert_fails_with 'No such file or directory' "$TALLYFS" --socket "$SOCK" "$CASE/nowhere"
  assert_fails_with "$CASE/file/socket" "$TALLYFS" --socket "$CASE/file/socket" "$MNT"
  assert_eq '' "$(_mounted)"
}

takes_source_and_mount_point_as_mount_helpers_do() {
  _background "$TALLYFS" numbers "$MNT" -o "rw,nosuid,socket=$SOCK"
  assert_eq 'numbers fuse.tallyfs' "$(_mounted)"
  send 'web/a 1'
  assert_counts web 'a 1'
  _unmount
}

# mount(8) finds programs in the system's directories only, so the one to test is named by its path.
mount_8_mounts_it() {
  need_root
  need mount mount.fuse3
  _background mount -t fuse -o "socket=$SOCK,nofail,noatime" "$TALLYFS#numbers" "$MNT"
  assert_match 'numbers fuse\.?.*' "$(_mounted)"
  send 'web/a 1'
  assert_counts web 'a 1'
  umount "$MNT"
  wait_until '[ ! -e "$SOCK" ]'
}

the_mount_helper_of_fuse_mounts_it_by_type() {
  need mount.fuse3
  PATH=$(dirname "$TALLYFS"):$PATH _background mount.fuse3 numbers "$MNT" -o "rw,socket=$SOCK" \
    -t fuse.tallyfs
  assert_eq 'numbers fuse.tallyfs' "$(_mounted)"
  send 'web/a 1'
  assert_counts web 'a 1'
  _unmount
}

options_of_fstab_that_mean_nothing_are_ignored() {
  start_daemon \
    -o rw,dev,suid,exec,nofail,noauto,_netdev,x-systemd.automount,x-gvfs-hide,user,users,defaults
}

fsname_and_subtype_can_be_chosen() {
  start_daemon -o fsname=numbers,subtype=counter
  assert_eq 'numbers fuse.counter' "$(_mounted)"
}

fsname_and_subtype_are_tallyfs_by_default() {
  start_daemon
  assert_eq 'tallyfs fuse.tallyfs' "$(_mounted)"
}

an_unknown_option_is_named() {
  assert_fails_with 'frobnicate' "$TALLYFS" -f --socket "$SOCK" --frobnicate "$MNT"
  assert_fails_with "unknown mount option 'frobnicate=7'" "$TALLYFS" -f --socket "$SOCK" \
    -o rw,frobnicate=7 "$MNT"
  assert_fails_with 'log-level' "$TALLYFS" -f --socket "$SOCK" --log-level loud "$MNT"
  assert_fails_with 'memory-max' "$TALLYFS" -f --socket "$SOCK" --memory-max much "$MNT"
  assert_fails "$TALLYFS"
  assert_eq '' "$(_mounted)"
}

help_shows_the_options() {
  local option
  "$TALLYFS" --help >"$CASE/help"
  for option in MOUNTPOINT -f --socket --log-level --help --version -o --memory-max; do
    grep -q -e "$option" "$CASE/help" || fail "no $option in" "$(cat "$CASE/help")"
  done
}

version_is_shown() { assert_match 'tallyfs [0-9]+\.[0-9]+\.[0-9]+.*' "$("$TALLYFS" --version)"; }

log_level_decides_what_is_logged() {
  start_daemon --log-level err
  stop_daemon
  assert_eq '' "$(cat "$STDERR")"
}

systemd_is_told_ready_when_it_is_usable() {
  py "$TALLYFS" "$CASE/notify" <<'EOT'
import os, signal, socket, subprocess, sys
from peer import PATIENCE
tallyfs, path = sys.argv[1:]
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(path)
notify.settimeout(20 * PATIENCE)
daemon = subprocess.Popen([tallyfs, "-f", "--socket", os.environ["SOCK"], os.environ["MNT"]],
                          env=dict(os.environ, NOTIFY_SOCKET=path), stdout=subprocess.DEVNULL)
open(os.environ["CASE"] + "/pids", "a").write(f"{daemon.pid}\n")
def told():
    while (text := notify.recv(4096).decode()).startswith("FDSTORE"):
        pass  # what it keeps there
    return text.split("\n")
assert "READY=1" in told()
assert os.path.ismount(os.environ["MNT"])
feeder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
feeder.sendto(b"web/a 1\n", os.environ["SOCK"])
assert open(os.environ["STAT"] + "/web/data").read() == "a 1 1 1.000 1\n"
daemon.send_signal(signal.SIGTERM)
assert "STOPPING=1" in told()
assert daemon.wait(20 * PATIENCE) == 0
EOT
}

a_socket_passed_by_systemd_is_used_and_left_alone() {
  py "$TALLYFS" "$CASE/passed" <<'EOT'
import os, signal, socket, subprocess, sys
from peer import PATIENCE
tallyfs, path = sys.argv[1:]
passed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
passed.bind(path)
feeder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
feeder.sendto(b"web/early 1\n", path)  # as may happen while systemd holds it
# LISTEN_PID must be the daemon's own id, so a shell that becomes it sets it.
command = 'exec 3<&"$1"; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$2" -f --socket "$3" "$4"'
daemon = subprocess.Popen(["bash", "-c", command, "bash", str(passed.fileno()), tallyfs, os.environ["SOCK"], os.environ["MNT"]],
                          pass_fds=[passed.fileno()], stdout=subprocess.PIPE)
open(os.environ["CASE"] + "/pids", "a").write(f"{daemon.pid}\n")
assert daemon.stdout.readline() == b"READY\n"
feeder.sendto(b"web/late 1\n", path)
assert open(os.environ["STAT"] + "/web/data").read() == "early 1 1 1.000 1\nlate 1 1 1.000 1\n"
assert not os.path.exists(os.environ["SOCK"]), "it made one of its own too"
daemon.send_signal(signal.SIGTERM)
assert daemon.wait(20 * PATIENCE) == 0
assert os.path.exists(path), "it removed a socket that is not its own"
EOT
}

a_netlink_socket_passed_by_systemd_tells_of_unread_answers() {
  need_root
  chmod 755 "$CASE"
  py "$TALLYFS" "$CASE/passed" <<'EOT'
import os, signal, socket, subprocess, sys
from peer import *
tallyfs, path = sys.argv[1:]
os.environ["SOCK"], own_socket = path, os.environ["SOCK"]
passed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
passed.bind(path)
os.chmod(path, 0o666)
NETLINK_SOCK_DIAG = 4
diag = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
# In a network namespace of its own the daemon cannot ask by itself.
command = 'exec 4<&"$2" 3<&"$1"; export LISTEN_PID=$$ LISTEN_FDS=2; exec "$3" -f --socket "$4" "$5"'
fds = [passed.fileno(), diag.fileno()]
daemon = subprocess.Popen(["unshare", "-n", "bash", "-c", command, "bash", *map(str, fds), tallyfs,
                           own_socket, os.environ["MNT"]], pass_fds=fds, stdout=subprocess.PIPE)
open(os.environ["CASE"] + "/pids", "a").write(f"{daemon.pid}\n")
assert daemon.stdout.readline() == b"READY\n"
pid = os.fork()
if pid == 0:
    try:
        os.setgid(65534)
        os.setuid(65534)
        deaf = [Peer() for _ in range(150)]
        for _ in range(40):
            for peer in deaf:
                try: peer.send(*(request(i, "attach none/none" + "x" * 200) for i in range(20)))
                except OSError: pass
        os._exit(0)
    finally: os._exit(1)
os.waitpid(pid, 0)
polite = Peer()
assert polite.ask("create polite/a on=1")[0] == 0
assert own("answers_over_share") > 0, "no uid was held to a share"
daemon.send_signal(signal.SIGTERM)
assert daemon.wait(20 * PATIENCE) == 0
EOT
}

what_is_passed_must_be_a_datagram_socket() {
  py "$TALLYFS" "$CASE/passed" <<'EOT'
import os, socket, subprocess, sys
from peer import PATIENCE
tallyfs, path = sys.argv[1:]
passed = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
passed.bind(path)
command = 'exec 3<&"$1"; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$2" -f --socket "$3" "$4"'
done = subprocess.run(["bash", "-c", command, "bash", str(passed.fileno()), tallyfs, os.environ["SOCK"], os.environ["MNT"]],
                      pass_fds=[passed.fileno()], capture_output=True, timeout=20 * PATIENCE)
assert done.returncode != 0 and b"DGRAM" in done.stderr, done
EOT
}

only_one_socket_can_be_passed() {
  _refused 1 'systemd passed 2 sockets; one ListenDatagram= is wanted' \
    bash -c 'LISTEN_PID=$$ LISTEN_FDS=2 exec "$@"' bash "$TALLYFS" -f "$MNT" 3</dev/null 4</dev/null
}

# A socket that systemd made before has what the setting was then.
a_queue_that_is_not_as_long_as_wished_is_told() {
  py "$TALLYFS" "$CASE/passed" "$(($(cat /proc/sys/net/unix/max_dgram_qlen) + 1))" >"$CASE/told" \
    <<'EOT'
import os, signal, socket, subprocess, sys
from peer import PATIENCE
tallyfs, path, longer = sys.argv[1:]
passed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
passed.bind(path)
command = 'exec 3<&"$1"; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$2" -f --queue-length "$3" "$4"'
for wanted in longer, str(int(longer) - 1):
    daemon = subprocess.Popen(["bash", "-c", command, "bash", str(passed.fileno()), tallyfs, wanted, os.environ["MNT"]],
                              pass_fds=[passed.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    open(os.environ["CASE"] + "/pids", "a").write(f"{daemon.pid}\n")
    assert daemon.stdout.readline() == "READY\n"
    daemon.send_signal(signal.SIGTERM)
    said = daemon.communicate(timeout=20 * PATIENCE)[1]
    print(wanted, [line for line in said.split("\n") if "queue" in line])
EOT
  local was longer
  was=$(cat /proc/sys/net/unix/max_dgram_qlen)
  longer=$((was + 1))
  assert_match "$longer \\['.* the socket.s queue holds as many datagrams as net.unix.max_dgram_qlen said when it was made \\($was now\\), not $longer: feeders will wait .*'\\]
$was \\[\\]" "$(tr '"' "'" <"$CASE/told")"
}

the_systems_queue_length_is_put_back() {
  need_root
  need unshare
  # In a network namespace of its own, so that no other process changes the setting meanwhile.
  TALLYFS=$TALLYFS unshare -n bash -c '
    setting=/proc/sys/net/unix/max_dgram_qlen
    [ -w $setting ] || exit 4
    echo 23 >$setting
    "$TALLYFS" --socket "$SOCK" "$MNT" || exit 1
    [ "$(cat $setting)" = 23 ] || { echo "left at $(cat $setting)"; exit 1; }
    exit 0
  ' || { local status=$?; [ $status -eq 4 ] && skip 'max_dgram_qlen cannot be set'; fail "failed with $status"; }
  _note
  # More than 23 fit into the queue, while the server takes none out.
  SERVER=$SERVER py <<'EOT'
import os, signal, socket
from peer import freeze
pid = int(os.environ["SERVER"])
feeder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
feeder.connect(os.environ["SOCK"])
feeder.setblocking(False)
freeze(pid)
try:
    for i in range(100): feeder.send(b"web/a 1\n")
finally:
    os.kill(pid, signal.SIGCONT)
assert open(os.environ["STAT"] + "/web/data").read() == "a 100 1 1.000 1\n"
EOT
  _unmount
}

a_user_without_privilege_can_run_it() {
  need_root
  let_nobody_mount
  [ -u "$(command -v fusermount3)" ] || skip 'fusermount3 is not setuid'
  local bin=$CASE/bin runtime=$CASE/runtime
  mkdir "$bin" "$runtime"
  cp "$TALLYFS" "$bin"
  rmdir "$MNT" && mkdir "$MNT"
  chown nobody "$MNT" "$runtime"
  chmod 700 "$runtime"
  XDG_RUNTIME_DIR=$runtime as_nobody "$bin/tallyfs" "$MNT"
  _note
  SOCK=$runtime/tallyfs/socket
  [ -S "$SOCK" ] || fail 'no socket in XDG_RUNTIME_DIR'
  as_nobody bash -c "echo 'web/a 1' | socat -u - UNIX-SENDTO:$SOCK"
  assert_eq 'a 1 1 1.000 1' "$(as_nobody cat "$STAT/web/data")"
  as_nobody bash -c "echo on=0 >$STAT/web/definition"
  assert_eq "$(id -u nobody) 600" "$(as_nobody stat -c '%u %a' "$STAT/web/definition")"
  as_nobody fusermount3 -u "$MNT"
  wait_until '[ ! -e "$SOCK" ]'
}

a_user_without_xdg_runtime_dir_is_told() {
  need_root
  mkdir "$CASE/bin"
  cp "$TALLYFS" "$CASE/bin"
  chown nobody "$MNT"
  assert_fails_with XDG_RUNTIME_DIR as_nobody env -u XDG_RUNTIME_DIR "$CASE/bin/tallyfs" -f "$MNT"
}

a_mount_point_that_has_one_already_is_refused() {
  start_daemon
  local status=0
  "$TALLYFS" -f --socket "$CASE/other" "$MNT" 2>"$CASE/said" || status=$?
  assert_eq 1 $status 'exit status'
  assert_has 'has a tallyfs mounted on it already' "$(cat "$CASE/said")"
  [ ! -e "$CASE/other" ] || fail 'a socket is left'
}

# refused STATUS TEXT COMMAND...: it ends with that status, says that, and leaves no socket.
_refused() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" 2>"$CASE/said" || status=$?
  assert_eq "$wanted" $status 'exit status'
  assert_has "$text" "$(cat "$CASE/said")"
  [ ! -e "$SOCK" ] || fail 'a socket is left'
}

too_little_memory_for_its_own_numbers_is_refused() {
  _refused 2 memory-max "$TALLYFS" -f --socket "$SOCK" --memory-max 100 "$MNT"
}

a_mount_point_that_cannot_be_found_is_told() {
  ln -s loop "$CASE/loop"
  _refused 1 'cannot mount on' "$TALLYFS" -f --socket "$SOCK" "$CASE/loop/x"
  _refused 1 "No such file or directory; mkdir -p $CASE/nowhere" \
    "$TALLYFS" -f --socket "$SOCK" "$CASE/nowhere"
  _refused 2 'an empty directory: mkdir -p /run/tallyfs/mnt; tallyfs /run/tallyfs/mnt' \
    "$TALLYFS" -f --socket "$SOCK"
  echo >"$CASE/file"
  _refused 1 "$CASE/file: not a directory; name an empty one" \
    "$TALLYFS" -f --socket "$SOCK" "$CASE/file"
}

a_mount_that_is_refused_says_what_it_takes() {
  need_root
  let_nobody_mount
  _refused 1 "cannot mount on $MNT: Operation not permitted; it takes CAP_SYS_ADMIN" \
    setpriv --bounding-set -sys_admin "$TALLYFS" -f --socket "$SOCK" "$MNT"
  mkdir -m 777 "$CASE/bin"
  cp "$TALLYFS" "$CASE/bin"
  _refused 1 'cannot mount on /: Operation not permitted; name a directory that you own' \
    as_nobody "$CASE/bin/tallyfs" -f --socket "$CASE/bin/socket" /
}

a_device_that_is_not_open_to_the_user_is_told() {
  need_root
  need unshare fusermount3
  mknod -m 600 "$CASE/fuse" c 10 229 2>/dev/null || skip 'no device can be made here'
  mkdir -m 777 "$CASE/bin"
  cp "$TALLYFS" "$CASE/bin"
  _with_a_closed_device() {
    unshare -m bash -c 'mount --bind "$0" /dev/fuse && exec "$@"' "$CASE/fuse" \
      setpriv --reuid=nobody --regid=nogroup --clear-groups -- "$@"
  }
  _refused 1 'Permission denied; /dev/fuse is not open to you: as root, chmod 0666 /dev/fuse' \
    _with_a_closed_device "$CASE/bin/tallyfs" -f --socket "$CASE/bin/socket" "$CASE/bin"
}

a_start_says_what_to_do_before_it_works() {
  _refused 1 "mkdir -p $CASE/no" "$TALLYFS" -f --socket "$SOCK" --state "$CASE/no/state" "$MNT"
  _refused 1 "--rules: $CASE/rules cannot be read: No such file or directory" \
    "$TALLYFS" -f --socket "$SOCK" --rules "$CASE/rules" "$MNT"
  _refused 2 'needs -o allow_other' "$TALLYFS" -f --socket "$SOCK" --group no-such-group "$MNT"
  assert_has no-such-group "$(sed "s,.*; ,," "$CASE/said")"
  _refused 2 '--write-group: needs -o allow_other' \
    "$TALLYFS" -f --socket "$SOCK" --write-group no-such-group "$MNT"
  assert_has "--write-group: there is no group 'no-such-group'" "$(sed "s,.*; ,," "$CASE/said")"
}
