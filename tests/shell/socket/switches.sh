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

nobody_can_write_or_shrink_the_page() {
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
  assert_data web 'a 1'
  assert_has 'switches are for a binary request' "$(errors)"
  py <<'EOT'
from peer import *
peer = Peer()
assert peer.ask("switches please")[0] == 22 and peer.error_at == 9, (peer.reason, peer.error_at)
EOT
}
