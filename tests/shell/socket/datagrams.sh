# Size, descriptors, senders of datagrams.

a_datagram_of_256_kib_is_taken() {
  py <<'EOT'
from peer import *
import time
peer = Peer()
peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
number = peer.make("web/hits on=1")
line = b"web/text 1\n"
text = line * ((262144 - 12) // len(line))
text += b" " * (262144 - len(text))
peer.socket.send(text)
count = (262144 - 32) // 8
peer.send(samples(number, range(count)))
# An open waits for so much only as long as a flood may hold it up.
expected = f"hits {count}\ntext {(262144 - 12) // len(line)}\n"
deadline = time.monotonic() + time_limit(5)
while counts("web") != expected: assert time.monotonic() < deadline, data("web")
assert own("truncated") == 0
EOT
}

of_a_longer_one_nothing_is_taken_and_it_is_counted() {
  py <<'EOT'
from peer import *
peer = Peer()
SO_SNDBUFFORCE = 32
peer.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE if os.geteuid() == 0 else socket.SO_SNDBUF, 1 << 21)
number = peer.make("web/hits on=1")
try:
    peer.socket.send(b"web/hits 1\n" * 23832)
    peer.socket.send(b"\n" * 262145)
    peer.send(samples(number, range((262144 - 32) // 8 + 1)))
except OSError as error:
    print(f"the sender may not: {error}")
    raise SystemExit(4)
assert data("web") == "hits 0\n" and own("truncated") == 3, (data("web"), own("truncated"))
peer.socket.send(b"web/hits 1\n")
assert data("web") == "hits 1\n"
EOT
}

descriptors_that_a_sender_attaches_are_refused_and_do_not_stay() {
  SERVER=$SERVER py <<'EOT'
from peer import *
from channels import hung_up
import time
peer = Peer()
number = peer.make("web/hits on=1")
descriptors = lambda: len(os.listdir(f"/proc/{os.environ['SERVER']}/fd"))
out, into = os.pipe()
# The first one takes a pipe to the process that closes them, which stays.
socket.send_fds(peer.socket, [b"web/hits 1\n"], [into])
data("web")
before = descriptors()
sent = 1
for i in range(50):
    for fds in ([into], [into] * 200):
        socket.send_fds(peer.socket, [b"web/hits 1\n"], fds)
        sent += 1
data("web")
deadline = time.monotonic() + 30 * PATIENCE
while descriptors() > before: assert time.monotonic() < deadline, (before, descriptors())
os.close(into)
assert hung_up(out), "a process still holds it"
assert own("fds_refused") == sent, own("fds_refused")
EOT
}

# The daemon looks up where the answer goes. Of its own mount it would ask itself.
the_path_of_an_answer_may_lead_into_the_mount() {
  send 'create web/hits type=value on=1'
  py <<'EOT'
from peer import *
directory, moved = os.environ["CASE"] + "/d", os.environ["CASE"] + "/moved"
os.mkdir(directory)
peer = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
peer.bind(directory + "/data")
peer.connect(os.environ["SOCK"])
os.rename(directory, moved)
os.symlink(os.environ["STAT"] + "/web", directory)
peer.send(header(0) + request(1, "attach web/hits"))
peer.send(b"web/hits 1\n")
EOT
  assert_counts web 'hits 1'
  "$TALLYFS" --reload "$MNT"
  assert_counts web 'hits 1'
}

senders_may_come_and_go() {
  py <<'EOT'
from peer import *
for i in range(300):
    peer = Peer(bound=i % 2 == 0)
    peer.send(request(1, "web/hits 1"))
    peer.socket.close()
assert Peer().ask("") == (0, 0)  # one open takes in only so much
assert counts("web") == "hits 300\n", data("web")
EOT
}

answers_that_are_not_taken_are_dropped_and_counted() {
  py <<'EOT'
from peer import *
import time
peer = Peer()
# Until they fill what the daemon may have on its way, 4 MiB (the kernel doubles it).
for i in range(20000): peer.send(request(1, "web/hits 1"))
deadline = time.monotonic() + time_limit(5)
while counts("web") != "hits 20000\n": assert time.monotonic() < deadline, data("web")
assert own("answers_dropped") > 0
EOT
}

one_that_does_not_take_its_answers_hinders_no_others() {
  py <<'EOT'
from peer import *
greedy, polite = Peer(), Peer()
for i in range(1000): greedy.send(request(1, "web/hits 1"))
polite.make("db/hits")
EOT
}

a_sender_is_known_by_its_credentials() {
  send 'garbage'
  assert_has "uid $(id -u):" "$(errors)"
}
