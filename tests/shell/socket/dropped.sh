# What feeders say of samples that they dropped.

drops_are_counted_in_all_and_by_feeder() {
  py <<'EOT'
from peer import *
peer = Peer()
peer.send(dropped(12), dropped(3))
peer.send(dropped(0))
assert own("dropped") == 15
line = next(l for l in data("tallyfs").splitlines() if l.startswith("dropped_by "))
assert line == f"dropped_by {os.getpid():#x} 15", line
EOT
}

a_message_of_drops_that_is_none_is_refused() {
  py <<'EOT'
from peer import *
peer = Peer()
before = own("rejects")
peer.send(message(DROPPED, b""), message(DROPPED, bytes(16)), message(DROPPED, bytes(8), flags=1))
assert own("rejects") == before + 3
assert own("dropped") == 0
EOT
}

one_senders_claim_does_not_bring_the_count_to_its_end() {
  py <<'EOT'
from peer import *
peer = Peer()
peer.send(dropped(2**64 - 1))
peer.send(dropped(1))
assert own("dropped") == 2**48, own("dropped")
assert own("rejects") == 2 and own("saturations") == 0
line = next(l for l in data("tallyfs").splitlines() if l.startswith("dropped_by_uid "))
assert line == f"dropped_by_uid {os.getuid():#x} {2**48}", line
EOT
}
