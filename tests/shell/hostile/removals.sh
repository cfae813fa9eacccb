# What a user has made by the ten thousand changes and goes in steps, between which others are
# served: they wait 100 ms longer at the 99th percentile than beside as many busy loops, until it is
# gone.
_alone=timed

_set_up() { start_daemon_for_all_users; }
# _goes HOW NAMES LINES COUNT [BY_ROOT]: a process makes COUNT things by LINES, as Python, and does
# HOW; then root does BY_ROOT. NAMES are some of what goes, of the mount, as Python.
_goes() {
  SERVER=$SERVER py "$(fewer "$4" 2000)" <<EOP
import sys
from hostile import *
from peer import *
from raw_lanes import *
COUNT, MNT = int(sys.argv[1]), os.environ["MNT"]
NAMES = [f"{MNT}/{name}" for name in $2]
going = os.pipe()


def make(ready):
    peer = Peer()
    lines = $3
    for i in range(0, len(lines), 2000):
        peer.socket.send("\n".join(lines[i:i + 2000]).encode() + b"\n")
        peer.ask("attach calm/a")
    assert all(os.path.exists(name) for name in NAMES), "not all were made"
    ready()
    os.read(going[0], 1)
    peer.socket.settimeout(60 * PATIENCE)
    $1
    signal.pause()


def remove(ready):
    ready()
    ${5:-pass}


def attack(children):
    children.start(make)
    os.write(going[1], b"g")
    children.uid = 0
    children.start(remove)


def goes_on(): return any(os.path.exists(name) for name in NAMES)


assert_others_wait_no_longer(Narrow(Peer()), 2, attack, busy_loops(1), goes_on=goes_on)
EOP
}

a_subsystem_of_many_objects_that_is_withdrawn() {
  _goes 'assert peer.ask("withdraw sub")[0] == 0' '["stats/sub"]' \
    '["subsystem sub"] + [f"object sub/o{i}" for i in range(COUNT)]' 130000
  stop_daemon
}

an_interface_of_many_statistics_that_is_removed() {
  _goes 'assert peer.ask("remove m")[0] == 0' '["statistics/m"]' \
    '[f"m/s{i} 1" for i in range(COUNT)]' 262000
  stop_daemon
}

lines_for_all_statistics_of_a_large_interface() {
  _goes 'assert all(peer.ask(f"define m {each}")[0] == 0 for each in ["data=reset", "on=0"] * 4
               + ["type=last", "on=1 data=reset"]) and peer.ask("remove m")[0] == 0' \
    '["statistics/m"]' '[f"m/s{i} 1" for i in range(COUNT)]' 262000
  stop_daemon
}

a_directory_of_many_that_root_removes() {
  _goes 'pass' '["statistics/m"]' '[f"m/s{i} 1" for i in range(COUNT)]' 262000 'os.rmdir(NAMES[0])'
  stop_daemon
}

many_objects_of_a_process_that_ends() {
  _goes 'os._exit(0)' '[f"stats/sub/o{i * COUNT // 50}" for i in range(50)]' \
    '["subsystem sub"] + [f"object sub/o{i} lifetime=feeder" for i in range(COUNT)]' 100000
  wait_until '[ "$(ls "$MNT/stats/sub")" = sample_rates ]'
  stop_daemon
}

many_interfaces_of_a_process_that_ends() {
  ls "$MNT"/metrics/* >/dev/null  # their directories are made at the first look
  _goes 'os._exit(0)' '[f"statistics/x{i * COUNT // 50}" for i in range(50)]' \
    '[f"create x{i} lifetime=feeder" for i in range(COUNT)]' 60000
  wait_until '[ "$(ls "$MNT/statistics")" = "calm
tallyfs" ]'
  stop_daemon
}

many_events_of_a_process_that_ends() {
  _goes 'os._exit(0)' '[f"tracing/events/x/e{i * 19}" for i in range(50)]' \
    '[f"event define x/e{i} lifetime=feeder u64 a" for i in range(min(COUNT, 1000))]' 1000
  stop_daemon
}
