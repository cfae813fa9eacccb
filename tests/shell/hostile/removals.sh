# What a user has made by the ten thousand goes within a second, which others wait at most.
_alone=yes

_set_up() { start_daemon_for_all_users; }
# _goes HOW NAME LINES COUNT: a process makes COUNT things by LINES, as Python, does HOW, and ends.
# NAME of the mount goes with them. Others wait for no more than a second meanwhile.
_goes() {
  SERVER=$SERVER py "$(fewer "$4" 2000)" "$MNT/$2" <<EOP
import sys
from hostile import *
from peer import *
from raw_lanes import *
COUNT, NAME = int(sys.argv[1]), sys.argv[2]
calm, going = Calm(Peer()), os.pipe()


def make(ready):
    peer = Peer()
    lines = $3
    for i in range(0, len(lines), 2000):
        peer.socket.send("\n".join(lines[i:i + 2000]).encode() + b"\n")
        peer.ask("attach calm/a")
    assert os.path.exists(NAME), "not all were made"
    ready()
    os.read(going[0], 1)
    $1


with Children() as children:
    children.start(make)
    os.write(going[1], b"g")
    longest, is_there = 0, True
    while is_there:
        begun = time.monotonic()
        is_there = os.path.exists(NAME)
        longest = max(longest, time.monotonic() - begun, *calm.once()[:2])
    slow = slowness()
print(f"measured: {COUNT} went, others waited {longest * 1e3:.0f} ms")
assert longest < time_limit(1) * max(1, slow), longest
EOP
  stop_daemon
}

a_subsystem_of_many_objects_that_is_withdrawn() {
  _goes 'assert peer.ask("withdraw sub")[0] == 0' stats/sub \
    '["subsystem sub"] + [f"object sub/o{i}" for i in range(COUNT)]' 100000
}

many_objects_of_a_process_that_ends() {
  _goes 'pass' stats/sub/o0 \
    '["subsystem sub"] + [f"object sub/o{i} lifetime=feeder" for i in range(COUNT)]' 100000
}

many_interfaces_of_a_process_that_ends() {
  ls "$MNT"/metrics/* >/dev/null  # their directories are made at the first look
  _goes 'pass' statistics/x0 '[f"create x{i} lifetime=feeder" for i in range(COUNT)]' 40000
}
