# Each quota of the whole daemon, of which four uids take all that they can get: root still makes
# what it needs, since a tenth is kept for it (docs/limits.md). (The quotas of each uid: bounds.sh.)

_set_up() { need_root; }
_start() {
  start_daemon "$@"
  chmod 755 "$CASE" "$CASE/run"
}
# A hundred thousand names say the same beside a sanitizer, but take minutes there.
_many() { [ "${TALLY_PATIENCE:-1}" = 1 ] || skip 'too many names for a sanitizer'; }
_is_full() { assert_has "$1 for all uids but root is reached" "$(errors)"; }

root_still_makes_interfaces() {
  _many
  _start --uid-interfaces 32768 --uid-memory 1G --memory-max 4G
  py <<'EOT'
from strangers import *
def take(uid):
    peer = Peer()
    for i in range(0, 33_000, 1000):
        peer.socket.send(b"".join(b"create of_%d_%d\n" % (uid, n) for n in range(i, i + 1000)))
    return peer.ask("")
with Strangers(take):
    assert len(os.listdir(os.environ["STAT"])) == 131_072 - 13_107
    assert Peer().ask("create roots")[0] == 0
EOT
  _is_full '117965 interfaces'
  send 'roots/a 1'
  assert_counts roots 'a 1'
}

root_still_makes_statistics() {
  _many
  _start --uid-statistics 262144 --uid-memory 1G --memory-max 4G
  py <<'EOT'
from strangers import *
def take(uid):
    peer = Peer()
    for i in range(0, 264_000, 4000):
        peer.socket.send(b"".join(b"of_%d/s%d 1\n" % (uid, n) for n in range(i, i + 4000)))
    return peer.ask("")
with Strangers(take):
    assert Peer().ask("create roots/a on=1")[0] == 0
EOT
  _is_full '943719 statistics'
  send 'roots/a 1'
  assert_data roots 'a 1'
}

_root_makes_what_is_refused_to() {  # _root_makes_what_is_refused_to COMMAND-OF-I ROOTS-COMMAND...
  py "$@" <<'EOT'
import sys
from strangers import *
with Strangers(lambda uid: asked(sys.argv[1], uid)):
    peer = Peer()
    for line in sys.argv[2:]: assert peer.ask(line)[0] == 0, (line, peer.reason)
EOT
  _is_full 'bytes of data'
}

root_still_uses_memory_for_interfaces() {
  _start --memory-max 4M --uid-memory 2M
  _root_makes_what_is_refused_to 'create of_%(uid)d_%(i)d' 'create roots' 'create roots/a on=1'
}
root_still_uses_memory_for_statistics() {
  _start --memory-max 4M --uid-memory 2M
  _root_makes_what_is_refused_to 'create of_%(uid)d/s%(i)d' 'create roots/a on=1'
  send 'roots/a 1'
  assert_data roots 'a 1'
}
root_still_uses_memory_for_data() {
  _start --memory-max 8M --uid-memory 4M
  _root_makes_what_is_refused_to 'create of_%(uid)d/s%(i)d type=raw entries_max=2000' \
    'create roots/a type=raw entries_max=5000 on=1'
}
root_still_makes_subsystems() {
  _start --memory-max 4M --uid-memory 2M
  _root_makes_what_is_refused_to 'subsystem of_%(uid)d_%(i)d' 'subsystem roots'
}
root_still_makes_lanes() {
  _start --memory-max 40M --uid-memory 16M
  _root_makes_what_is_refused_to 'lane 2097152' 'lane 2097152'
}

root_still_makes_objects() {
  _start --memory-max 4M --uid-memory 2M
  py <<'EOT'
from strangers import *
def take(uid):
    # Of those behind another's objects, there is no room for the subsystem already.
    if Peer().ask(f"subsystem of_{uid}")[0] != 0: return 0
    return asked("object of_%(uid)d/o%(i)d", uid)
with Strangers(take):
    peer = Peer()
    for line in "subsystem roots", "object roots/a": assert peer.ask(line)[0] == 0, peer.reason
EOT
  _is_full 'bytes of data'
}

root_still_makes_latency_directories() {
  _start --memory-max 32M --uid-memory 16M
  py <<'EOT'
from peer import latencies, task
from strangers import *
ONE = (1000, 0, task(1, 120, "a"))
def take(uid):
    peer = Peer()
    for i in range(1000): peer.send(latencies(f"of_{uid}_{i}", ONE))
    return peer.ask("")
with Strangers(take):
    Peer().send(latencies("roots", ONE))
    assert os.path.isdir(os.environ["MNT"] + "/tracing/latency_hist/roots"), "root makes none"
EOT
  _is_full 'bytes of data'
}

root_still_tells_of_templates() {
  _start
  py <<'EOT'
from peer import u32_sum
from strangers import *
def tell(peer, name): return peer.tell(name, ["x"], u32_sum(name, "x")[1])
def take(uid):
    peer, told = Peer(), 0
    while tell(peer, f"of_{uid}_{told}") == 0: told += 1
    return told
with Strangers(take) as strangers:
    assert strangers.taken == ["1024", "1024", "1024", str(4096 - 409 - 3 * 1024)], strangers.taken
    peer = Peer()
    assert tell(peer, "roots") == 0, peer.reason
EOT
  assert_has '3687 are in use' "$(errors)"
}

root_still_defines_events() {
  _start
  py <<'EOT'
from strangers import *
with Strangers(lambda uid: asked("event define of_%(uid)d/e%(i)d u8 lat", uid)) as strangers:
    assert strangers.taken == ["1024", "1024", "1024", "0"], strangers.taken
    peer = Peer()
    assert peer.ask("event define roots/e u8 lat")[0] == 0, peer.reason
EOT
}

# Of the 1,024 processes that are watched, whatever the soft limit of descriptors. They do nothing:
# root's program sends in their names, as it may (unix(7)), which takes less than as many programs.
root_still_has_interfaces_with_lifetime_feeder() {
  local before i
  [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 1280 ] ||
    skip 'the limit of descriptors is too low here'
  ulimit -Sn 1024
  _start
  before=$(ls "/proc/$SERVER/fd" | wc -l)
  exec 9<>"$CASE/never"
  for ((i = 0; i < 1030; ++i)); do
    read -r -u 9 &
    echo $!
  done >"$CASE/feeders"
  py "$CASE/feeders" <<'EOT'
import errno, itertools
from peer import *
feeders = map(int, open(sys.argv[1]))
peer = Peer()
def make(uid):
    """How many processes of the uid make an interface, until one is refused; its errno and reason."""
    for made in itertools.count():
        peer.sequence += 1
        asked = request(peer.sequence, f"create of_{uid}_{made} lifetime=feeder")
        sender = struct.pack("iII", next(feeders), uid, uid)
        peer.socket.sendmsg([header(peer.epoch), asked],
                            [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, sender)])
        ((_, error, _),) = peer.answers()
        if error: return made, error, peer.reason
ROOTS = 102
taken = [make(uid)[0] for uid in (1, 2, 3, 4)]
assert taken == [256, 256, 256, 1024 - ROOTS - 3 * 256], taken
assert os.path.isdir(f"{os.environ['STAT']}/of_4_0")
made, error, reason = make(0)
assert (made, error) == (ROOTS, errno.ENOSPC) and "1024 processes" in reason, (made, error, reason)
EOT
  kill -KILL $(<"$CASE/feeders")
  exec 9<&-
  wait_until '! compgen -G "$STAT/of_*" >/dev/null'
  wait_until '[ "$(ls "/proc/$SERVER/fd" | wc -l)" -eq '"$before"' ]'
  send 'create web lifetime=feeder'
}

root_still_opens_files() {
  _start -o allow_other --group 4711 --open-bytes-max 2M --uid-open-bytes 1M
  py <<'EOT'
import errno
from peer import data
from strangers import *
name = os.environ["STAT"] + "/web/data"
peer = Peer()
peer.socket.send(b"create web/a type=raw entries_max=2000 on=1\n" + b"web/a 123456789\n" * 1000)
peer.ask("")
one = os.stat(name).st_size
def take(uid):
    for opened in range(100):
        try: os.open(name, os.O_RDONLY)
        except OSError as error:
            assert error.errno == errno.ENFILE, error
            return opened
with Strangers(take, [4711]) as strangers:
    opened = sum(int(each) for each in strangers.taken)
    most = (2 << 20) - (2 << 20) // 10
    assert opened * one <= most < (opened + 1) * one, (opened, one)
    assert len(data("web")) == one
EOT
}
