# Whatever a user does on the mount, nothing hangs, and the next cat is right.
# TALLY_SEED=N repeats a case; TALLY_HOSTILE_SECONDS says how long those go on that draw (10).
_alone=timed

# _still_right: what is sent is counted, what is written is in force, and as much can be opened as ever.
_still_right() {
  send 'after/a 1' 'after/a 2'
  assert_counts after 'a 2'
  define after 'name=a type=list entries_max=2'
  send 'after/a 255' 'after/a 255'
  assert_data after 'a 0xff 2'
  assert_fails_with 'Invalid argument' define after 'name=a type=lisp'
  assert_has 'type must be value' "$(errors)"
  rmdir "$STAT/after"
}

system_calls_with_random_arguments() {
  stop_daemon
  start_daemon --uid-open-files 200
  SERVER=$SERVER py <<'EOT'
import subprocess, sys
from hostile import *
from peer import *
peer, before = Peer(), descriptors()
peer.socket.send(b"web/a 1\ncreate web/b type=array base_interval=1 scale=lin range_min=0 range_max=3000 on=1\ndb/b 1\n")
path = os.environ["PYTHONPATH"] + "/syscalls.py"
subprocess.run([sys.executable, path], env={**os.environ, "TALLY_SEED": str(SEED)}, check=True)
peer.socket.send(b"still/a 1\n")
name = os.environ["STAT"] + "/still/data"
# All that were open are closed: as many as at first can be opened. A release comes after its
# close().
fds, deadline = [], time.monotonic() + time_limit(10)
while len(fds) < 200:
    try: fds.append(os.open(name, os.O_RDONLY))
    except OSError: assert time.monotonic() < deadline, f"only {len(fds)} can be opened"
for fd in fds: assert os.read(fd, 100) == b"a 1 1 1.000 1\n"
for fd in fds: os.close(fd)
assert descriptors() == before, (before, descriptors())
EOT
  _still_right
}

a_thousand_handles_show_a_thousand_moments() {
  SERVER=$SERVER py <<'EOT'
import resource
from hostile import *
from peer import *
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2048), hard))
peer, before, fds = Peer(), descriptors(), []
for i in range(1000):
    peer.socket.send(b"web/a 1\n")
    fds.append(os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY))
assert descriptors() == before, "the daemon's descriptors"
rng = random.Random(SEED)
for i in rng.sample(range(1000), 1000):
    assert os.read(fds[i], 100) == b"a %d 1 1.000 1\n" % (i + 1), i
for fd in fds: os.close(fd)
assert counts("web") == "a 1000\n"
EOT
  _still_right
}

a_gigabyte_without_a_newline() {
  send 'web/a 1'
  SERVER=$SERVER py <<'EOT'
import errno
from hostile import *
from peer import *
start, refused = resident_mib(), 0
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY | os.O_APPEND)
block = b"x" * (1 << 20)
for i in range(1024):
    rest = block
    while rest:
        try: rest = rest[os.write(fd, rest):]
        except OSError as error:
            assert error.errno == errno.EFBIG, error
            refused += 1
            break
assert refused >= 1023, refused
# What ends the line ends the refusal; the next line counts.
try: os.write(fd, b"\n")
except OSError as error: assert error.errno == errno.EFBIG, error
assert os.write(fd, b"name=a on=0\n") == 12
os.close(fd)
assert " on=0 " in open(os.environ["STAT"] + "/web/definition").read()
assert_resident_below(start + 8)
EOT
  _still_right
}

deep_reads_at_odd_offsets() {
  SERVER=$SERVER py <<'EOT'
from hostile import *
from peer import *
peer, rng = Peer(), random.Random(SEED)
peer.socket.send(b"create big/a type=raw entries_max=50000 on=1\n")
for i in range(10): peer.socket.send(b"".join(b"big/a %d\n" % n for n in range(i * 5000, (i + 1) * 5000)))
# Under load one open may see less than all.
while len(data("big").splitlines()) < 50_000: pass
fd = os.open(os.environ["STAT"] + "/big/data", os.O_RDONLY)
text = open(os.environ["STAT"] + "/big/data", "rb").read()
assert os.fstat(fd).st_size == len(text)
peer.socket.send(b"big/a 7\n")
for i in range(3000):
    offset = rng.choice([rng.randrange(len(text)), len(text) - rng.randrange(100), 4096 * rng.randrange(500) + rng.choice([-1, 0, 1]),
                         len(text) + rng.randrange(1 << 20), 1 << 62, 1 << 31, (1 << 32) + 1])
    size = rng.choice([1, 2, 4095, 4097, 131_071, 131_073, 1 << 20, rng.randrange(1, 300_000)])
    offset = max(0, offset)
    assert os.pread(fd, size, offset) == text[offset:offset + size], (offset, size)
assert data("big").endswith(" 50000 7 1\n"), data("big")[-100:]
EOT
  _still_right
}

strangers_open_nothing_and_change_nothing_where_all_may_look() {
  need_root
  need_python
  stop_daemon
  start_daemon -o allow_other
  send 'web/a 1' \
    'create web/b type=array base_interval=1 scale=lin range_min=0 range_max=3000 on=1' 'db/b 1'
  local before
  before=$(definition web)
  chmod 755 "$CASE" "$CASE/run"
  mkdir "$CASE/stranger"
  cp "$here"/{syscalls,hostile,peer}.py "$CASE/stranger"
  chown -R nobody "$CASE/stranger"
  TALLY_STRANGER=yes SERVER=$SERVER CASE=$CASE/stranger PYTHONPATH=$CASE/stranger as_nobody \
    "$PYTHON" "$CASE/stranger/syscalls.py"
  assert_eq "$before" "$(definition web)" 'the definition'
  assert_has 'db' "$(ls "$STAT")"
  as_nobody ls "$STAT" >"$CASE/listed"
  assert_has 'web' "$(cat "$CASE/listed")"
  assert_fails_with 'Permission denied' as_nobody cat "$STAT/web/data"
  # What the caller may not open is not rendered for its size.
  [ "$(stat -c %s "$MNT/tracing/trace")" -gt 0 ]
  assert_eq '0 0' "$(as_nobody stat -c %s "$MNT/tracing/trace" "$STAT/web/data" | xargs)"
  _still_right
}

# _beside_lookers WHAT: others wait no longer while more processes of a uid than the daemon has
# threads that serve do WHAT to a file of metrics/ all the time. It shows empty arrays of 65,001
# intervals, which take long and come to a short text.
_beside_lookers() {
  stop_daemon
  start_daemon -o allow_other,metrics_readable
  SERVER=$SERVER WHAT=$1 py "$(fewer 450 20)" <<'EOP'
import sys
from hostile import *
from peer import *
from raw_lanes import *
ARRAYS, LOOKERS, UID = int(sys.argv[1]), 10, 60000
look_at = {"stat": os.stat, "read": lambda path: open(path).read()}[os.environ["WHAT"]]


def make(ready):
    peer = Peer()
    for i in range(ARRAYS):
        peer.make(f"m/s{i} on=1 type=array scale=lin base_interval=1 range_min=0 range_max=65000")
    ready()
    signal.pause()


def look(ready):
    ready()
    while True: look_at(os.environ["MNT"] + "/metrics/tallyfs.prom")


def attack(children):
    children.uid = UID
    for _ in range(LOOKERS): children.start(look)


with Children(UID) as keep:
    keep.start(make)
    assert_others_wait_no_longer(Narrow(Peer()), SECONDS / 2, attack, busy_loops(LOOKERS))
EOP
  _still_right
}

sizes_of_metrics_that_are_asked_for_all_the_time_stop_nobody() { _beside_lookers stat; }

metrics_that_are_read_all_the_time_stop_nobody() { _beside_lookers read; }
