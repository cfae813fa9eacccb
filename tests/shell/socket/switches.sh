# The page of switches: what feeders look at before they send.

a_switch_follows_the_statistic() {
  py <<'EOT'
from peer import *
peer = Peer()
first, second = peer.make("web/a"), peer.make("web/b on=1")
switches = Switches(peer)
def define(line):
    with open(f"{os.environ['STAT']}/web/definition", "w") as file:
        file.write(line)
def on():
    return switches[first], switches[second]
assert on() == ((0, True), (1, True)), on()
# As soon as the write has returned.
for line, wanted in (("name=a on=1", (1, 1)), ("name=b on=0", (1, 0)), ("on=0", (0, 0)), ("on=1", (1, 1)), ("name=a type=range", (1, 1))):
    define(line + "\n")
    assert on() == ((wanted[0], True), (wanted[1], True)), (line, on())
assert peer.ask("define web name=a on=0") == (0, 0)
assert switches[first] == (0, True)
third = peer.make("web/c on=1")
assert switches[third] == (1, True)
EOT
}

a_switch_of_a_statistic_that_is_gone_says_on_until_another_takes_its_place() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/a")
switches = Switches(peer)
assert switches[number] == (0, True)
with open(f"{os.environ['STAT']}/web/definition", "r+b", buffering=0) as held:
    os.rmdir(os.environ["STAT"] + "/web")
    assert switches[number] == (1, False)
    other = peer.make("other/b")
    assert other & 0xFFFFFFFF == number & 0xFFFFFFFF, "the slot is used again"
    assert switches[number] == (0, False) and switches[other] == (0, True)
    # A process with the old definition open does not reach the switch, whether its write is taken
    # or not.
    try:
        held.write(b"on=1\n")
    except OSError:
        pass
assert switches[other] == (0, True)
assert peer.ask("remove other/b") == (0, 0)
assert switches[other] == (1, False)
EOT
}

no_feeder_can_write_or_shrink_the_page() {
  py <<'EOT'
from peer import *
import fcntl
peer = Peer()
switches = Switches(peer)
def refused(do, *arguments):
    try:
        do(*arguments)
    except (OSError, ValueError):
        return True
assert refused(mmap.mmap, switches.fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
assert refused(os.write, switches.fd, b"x")
assert refused(os.ftruncate, switches.fd, 0)
assert refused(os.ftruncate, switches.fd, switches.bytes * 2)
assert refused(fcntl.fcntl, switches.fd, 1033, 0), "no more seals"  # F_ADD_SEALS
assert os.fstat(switches.fd).st_size == switches.bytes
EOT
}

a_feeder_of_another_uid_cannot_write_the_pages() {
  cat >"$CASE/try.py" <<'EOT'
from peer import *
import ctypes, fcntl
PAGE, MADV_REMOVE, PROT_WRITE = 4096, 9, 2
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
def refused(do, *arguments):
    try:
        do(*arguments)
    except (OSError, ValueError):
        return True
peer = Peer()
number = peer.make("web/a")
peer.ask("define web on=1")
for word in ("switches", "shapes"):
    error, size = peer.ask(word)
    assert error == 0, error
    page = peer.attached.pop()
    path = f"/proc/self/fd/{page}"
    assert refused(mmap.mmap, page, PAGE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    assert refused(os.pwrite, page, b"x", 0)
    for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_TRUNC, os.O_RDONLY):
        assert refused(os.open, path, flags), flags
    for mode in (0o600, 0o666):
        assert refused(os.fchmod, page, mode), mode
        assert refused(os.chmod, path, mode), mode
    assert refused(os.fchown, page, os.getuid(), -1)
    assert refused(os.truncate, path, 0) and refused(os.ftruncate, page, 0)
    assert refused(os.posix_fallocate, page, 0, 2 * size)
    assert refused(fcntl.fcntl, page, 1033, 0), "no more seals"  # F_ADD_SEALS
    address = libc.mmap(None, PAGE, mmap.PROT_READ, mmap.MAP_SHARED, page, 0)
    assert address not in (None, ctypes.c_void_p(-1).value)
    address = ctypes.c_void_p(address)
    assert libc.mprotect(address, PAGE, mmap.PROT_READ | PROT_WRITE) == -1
    assert libc.madvise(address, PAGE, MADV_REMOVE) == -1
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(address.value)
        assert refused(memory.write, b"x")
    # What the process changes in a private mapping is its own.
    private = libc.mmap(None, PAGE, mmap.PROT_READ | PROT_WRITE, mmap.MAP_PRIVATE, page, 0)
    before = ctypes.string_at(address, PAGE)
    ctypes.memset(ctypes.c_void_p(private), 0xff, PAGE)
    assert ctypes.string_at(address, PAGE) == before
EOT
  cp "$here/peer.py" "$CASE"
  chmod 666 "$SOCK"
  as_nobody env SOCK="$SOCK" "$PYTHON" "$CASE/try.py"
}

asking_for_it_costs_the_daemon_no_descriptors() {
  local before
  before=$(ls "/proc/$SERVER/fd" | wc -l)
  py <<'EOT'
from peer import *
# Some of the clients that ask never read the answer.
peers = [Peer() for _ in range(10)]
for peer in peers:
    for i in range(100):
        peer.send(request(i + 1, "switches"))
Switches(Peer())
EOT
  assert_eq "$before" "$(ls "/proc/$SERVER/fd" | wc -l)" descriptors
}

only_a_request_can_have_it() {
  send switches 'web/a 1'
  assert_counts web 'a 1'
  assert_has 'switches are for a binary request' "$(errors)"
  py <<'EOT'
from peer import *
peer = Peer()
assert peer.ask("switches please")[0] == 22 and peer.error_at == 9, (peer.reason, peer.error_at)
EOT
}
