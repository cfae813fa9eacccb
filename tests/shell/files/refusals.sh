# Operations that are never permitted here are "not permitted", and never "Function not
# implemented".

_set_up() { start_daemon; send 'web/a 1'; }
# _refused TEXT COMMAND...: in every directory of the mount, where {} stands
_refused() {
  local text=$1 directory said
  shift
  for directory in "$MNT" "$STAT" "$STAT/web" "$MNT/tracing"; do
    if said=$("${@//\{\}/$directory}" 2>&1); then fail "succeeded: ${*//\{\}/$directory}"; fi
    assert_has_not 'not implemented' "$said"
    assert_has "$text" "$said"
  done
}
_py_refused() {  # _py_refused ERRNO EXPRESSION...: with STAT at hand
  local error=$1 each
  shift
  for each; do
    py "$error" "$each" <<'EOT'
import errno, fcntl, os, stat, sys
STAT, DATA = os.environ["STAT"], os.environ["STAT"] + "/web/data"
DEFINITION = os.environ["STAT"] + "/web/definition"
try:
    eval(sys.argv[2])
except OSError as error:
    assert errno.errorcode[error.errno] in sys.argv[1].split("|"), (sys.argv[2], error)
else:
    raise SystemExit("succeeded: " + sys.argv[2])
EOT
  done
}

creating_a_file() {
  _refused 'Operation not permitted' touch '{}/new'
  _refused 'Operation not permitted' cp /etc/hostname '{}/new'
}
making_a_directory() { _refused 'Operation not permitted' mkdir '{}/new'; }
making_a_fifo_or_device() { _refused 'Operation not permitted' mkfifo '{}/new'; }
making_a_symbolic_link() { _refused 'Operation not permitted' ln -s /etc/passwd '{}/new'; }
making_a_hard_link() {
  assert_fails_with 'Operation not permitted' ln "$STAT/web/data" "$STAT/web/copy"
}

renaming() {
  assert_fails_with 'Operation not permitted' mv "$STAT/web" "$STAT/www"
  assert_fails_with 'Operation not permitted' mv "$STAT/web/data" "$STAT/web/more"
  assert_fails_with 'Operation not permitted' mv "$STAT/web/data" "$STAT/web/definition"
  assert_fails_with 'Operation not permitted' mv "$STAT" "$MNT/statistiken"
  py <<'EOT'
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
a, b = (os.fsencode(os.environ["STAT"] + "/web/" + n) for n in ("data", "definition"))
for flags in (1, 2):  # RENAME_NOREPLACE onto a new name, RENAME_EXCHANGE
    assert libc.renameat2(-100, a, -100, b if flags == 2 else b + b"2", flags) == -1
    assert ctypes.get_errno() == errno.EPERM, os.strerror(ctypes.get_errno())
EOT
}

removing_files() {
  assert_fails_with 'Operation not permitted' rm -f "$STAT/web/data"
  assert_fails_with 'Operation not permitted' rm "$STAT/web/definition"
  assert_fails_with 'Operation not permitted' rm "$MNT/tracing/error_log"
  assert_counts web 'a 1'
}

removing_directories_other_than_interfaces() {
  assert_fails_with 'Operation not permitted' rmdir "$STAT"
  assert_fails_with 'Operation not permitted' rmdir "$MNT/tracing"
  assert_counts web 'a 1'
}

removing_the_daemons_own_interface() {
  assert_fails rmdir "$STAT/tallyfs"
  [ -e "$STAT/tallyfs/data" ]
}

removing_what_is_not_there_or_no_directory() {
  assert_fails_with 'No such file or directory' rmdir "$STAT/db"
  assert_fails_with 'Not a directory' rmdir "$STAT/web/data"
}

extended_attributes() {
  _py_refused 'ENOTSUP|EOPNOTSUPP' 'os.getxattr(DATA, "user.x")' \
    'os.setxattr(DEFINITION, "user.x", b"1")' \
    'os.listxattr(DATA) or os.getxattr(DATA, "security.selinux")'
  cp -a "$STAT/web/data" "$CASE/copy"
  cmp "$STAT/web/data" "$CASE/copy"
}

unusual_system_calls() {
  _py_refused 'EPERM|ENOTSUP|EOPNOTSUPP' 'os.mknod(STAT + "/new", 0o600 | stat.S_IFREG)' \
    'os.open(STAT, os.O_TMPFILE | os.O_RDWR)' \
    'os.mknod(STAT + "/new", 0o600 | stat.S_IFSOCK)'
  assert_fails_with 'not supported' fallocate -l 100 "$STAT/web/definition"
  _py_refused ENOTTY 'fcntl.ioctl(os.open(DATA, os.O_RDONLY), 0x5401, bytes(64))'
  _py_refused EINVAL 'os.readlink(DATA)'
}

locks_work() {
  need flock
  flock "$STAT/web/data" true
}

opening_a_directory_for_writing() { assert_fails_with 'Is a directory' put x "$STAT/web"; }
a_path_below_a_file() { assert_fails_with 'Not a directory' cat "$STAT/web/data/x"; }

names_of_255_bytes_are_not_found_and_longer_ones_too_long() {
  local name=$(printf '%0255d' 0)
  assert_fails_with 'No such file or directory' cat "$STAT/$name"
  assert_fails_with 'File name too long' cat "$STAT/${name}0"
  assert_fails_with 'File name too long' mkdir "$STAT/${name}0"
  assert_fails_with 'File name too long' rmdir "$STAT/${name}0"
}

a_directory_that_is_removed_and_made_again_is_never_stale() {
  py <<'EOT'
import collections, errno
from peer import *
ROUNDS = 2000
peer, directory = Peer(), os.environ["STAT"] + "/web"
pid = os.fork()
if pid == 0:
    try:
        for _ in range(ROUNDS):
            try: os.rmdir(directory)
            except FileNotFoundError: pass
            peer.socket.send(b"web/a 1\n")
        os._exit(0)
    finally: os._exit(1)
heard, status = collections.Counter(), None
while status is None:
    for call in (lambda: os.close(os.open(directory + "/data", os.O_RDONLY)),
                 lambda: os.stat(directory + "/data"), lambda: os.stat(directory),
                 lambda: os.listdir(directory)):
        try:
            call()
            heard["done"] += 1
        except OSError as error: heard[errno.errorcode[error.errno]] += 1
    ended, code = os.waitpid(pid, os.WNOHANG)
    if ended: status = code
print(dict(heard))
assert status == 0 and not set(heard) - {"done", "ENOENT"}, heard
assert counts("web") == "a 1\n", data("web")
EOT
}
