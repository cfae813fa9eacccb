# Whatever a user writes into lanes, others' opens, requests and numbers are as if there were none.
# Others may wait 100 ms longer at the 99th percentile than beside as many busy loops.
# Longer than most: an attack is a program of its own.
_alone=timed

_set_up() { start_daemon_for_all_users; }
# Under a sanitizer the calls of the case itself may have used up its uid's allowance: its samples
# are shown later then, as limits.md says.
_still_right() {
  send 'after/a 1' 'after/a 2'
  wait_until '[ "$(counts after 2>/dev/null)" = "a 2" ]' 1
  "$TALLYFS" --reload "$MNT"
  assert_counts after 'a 2'
  stop_daemon
}

# Each end adds up what the ended process has counted, and nothing else.
feeders_that_end_beside_many_cells_stop_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm = Calm(Peer())


def attack(children):
    children.start(crowd)
    children.start(end_again_and_again)


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(2))
await_lanes(0)
EOP
  _still_right
}

a_reload_and_an_end_beside_an_attack_are_soon_done() {
  send 'calm/a 7'
  SERVER=$SERVER py <<'EOP' &
from hostile import *
from peer import *
from raw_lanes import *
with Children() as children:
    children.start(crowd)
    children.start(end_again_and_again)
    with open(os.environ["CASE"] + "/attacks", "w") as file: print(os.getpid(), file=file)
    signal.pause()
EOP
  local i
  wait_until '[ -s "$CASE/attacks" ]'
  for i in 1 2 3; do
    nap 0.2
    "$TALLYFS" --reload "$MNT"
    assert_counts calm 'a 1'
  done
  stop_daemon
  kill "$(cat "$CASE/attacks")"  # the others end with it
  wait || true
}

a_reset_beside_many_cells_stops_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, LANES, IDS = Calm(Peer()), 48, 128


def reset_again_and_again(ready):
    peer = Peer()
    numbers = [peer.make(f"hostile/{name} on=1") for name in "abc"]
    era = Shapes(peer).era(numbers[0])
    lanes = [Lane(peer) for _ in range(LANES)]
    for i, lane in enumerate(lanes):
        lane.fill(numbers[i % 3], era, IDS, 160, 160 if i % 8 == 0 else 1)
        lane.bind(*[numbers[i % 3]] * IDS)
    ready()
    while True:
        peer.ask("define hostile data=reset")
        time.sleep(0.05)


def attack(children):
    children.start(reset_again_and_again)


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(1))
EOP
  _still_right
}

# Sizes are asked for again and again, or a file is opened, of which each look costs much: by eight
# processes, as many as the daemon has threads that serve. The control looks at as few cells as most
# programs have. Medians are compared, as all opens waited.
looks_at_cells_that_change_all_the_time_stop_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, LOOKERS = Calm(Peer()), 8


def change_all_the_time(entries):
    def run(ready):
        peer = Peer()
        number = peer.make("hostile/a on=1")
        era = Shapes(peer).era(number)
        lanes = [Lane(peer, 2) for _ in range(40)]
        for lane in lanes:
            lane.fill(number, era, 8, entries, entries)
            lane.bind(*[number] * 8)
        ready()
        while True:
            for lane in lanes: lane.changed()
            time.sleep(0.001)
    return run


def look_again_and_again(look):
    path = os.environ["STAT"] + "/hostile/data"
    def run(ready):
        ready()
        while True: look(path)
    return run


def read(path):
    with open(path) as file: file.read()


for look in os.stat, read:
    def begin(entries):
        def start(children):
            await_lanes(0)
            children.start(change_all_the_time(entries))
            for _ in range(LOOKERS): children.start(look_again_and_again(look))
        return start
    assert_others_wait_no_longer(calm, max(2.5, SECONDS / 4), begin(ENTRIES), begin(1), share=.5)
EOP
  _still_right
}

# A thousand sums of data and of samples, of programs that end beside one that goes on, and beside
# cells that count for nothing but take their time.
samples_of_programs_that_end_count_once() {
  SERVER=$SERVER py <<'EOP'
import json, select
from hostile import *
from peer import *
from raw_lanes import *
STATISTICS, ROUNDS = 20, 50
peer = Peer()
numbers = [peer.make(f"web/s{i} on=1") for i in range(STATISTICS)]
era = Shapes(peer).era(numbers[0])


def begin(peer):
    lane = Lane(peer, 2)
    lane.fill(numbers, era, STATISTICS, 1)
    lane.bind(*numbers)
    return lane


def go_on(ready):
    """Adds to all, from the order to go to the order to stop."""
    lane, added = begin(Peer()), 1
    ready()
    while os.read(orders, 1):
        while not select.select([orders], [], [], 0)[0]:
            for _ in range(100):
                for id in range(STATISTICS): lane.add(1, id)
            added += 100
        os.read(orders, 1)
        os.write(report, struct.pack("<Q", added))


def crowd(ready):
    lanes = [Lane(Peer()) for _ in range(4)]
    for lane in lanes:
        lane.fill(numbers, era + 1, STATISTICS, 200, 200)
        lane.bind(*numbers)
    ready()
    signal.pause()


def come_and_go(ready):
    begin(Peer())
    ready()


(orders, order), (reports, report) = os.pipe(), os.pipe()
wrong = 0
with Children() as children, Children(65533) as strangers:
    children.start(go_on)
    strangers.start(crowd)
    for ended in range(1, ROUNDS + 1):
        os.write(order, b"g")
        with Children() as others: others.start(come_and_go)
        while lanes() != 5: pass
        os.write(order, b"s")
        (added,) = struct.unpack("<Q", os.read(reports, 8))
        with open(os.environ["STAT"] + "/web/data.json") as file: shown = json.load(file)
        for each in shown["statistics"]: wrong += each["samples"] != added + ended
        wrong += data("web") != "".join(f"s{i} {added + ended}\n" for i in range(STATISTICS))
    print(f"{wrong} of {ROUNDS * STATISTICS} sums of {added} samples are wrong")
assert wrong == 0
EOP
  _still_right
}

a_users_cells_do_not_hide_the_numbers_of_another() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
victim = Peer()
a, b = (victim.make(f"victim/{name} on=1") for name in "ab")
shapes = Shapes(victim)


def begin(number):
    lane = Lane(victim, 2)
    lane.fill(number, shapes.era(number), 1, 1)
    lane.bind(number)
    return lane


def value(name):
    return int(next(l for l in data("victim").splitlines() if l.startswith(name + " ")).split()[1])


def crowd(ready):
    """More places than are read for one open."""
    peer = Peer()
    number = peer.ask("attach victim/a")[1]
    for _ in range(8):
        lane = Lane(peer)
        lane.fill(number, shapes.era(number), 32, 600, 600)
        lane.bind(*[number] * 32)
    ready()
    signal.pause()


def change_all_the_time(ready):
    """More looks for places than one open takes."""
    peer = Peer()
    number = peer.ask("attach victim/a")[1]
    lanes = [Lane(peer) for _ in range(4)]
    for lane in lanes:
        lane.fill(number, shapes.era(number), 60, ENTRIES)
        lane.bind(*[number] * 60)
    ready()
    while True:
        for lane in lanes: lane.changed()


# The first cell has 1 from the start.
counted, own = {"b": 1}, 1
before = begin(b)
assert value("b") == 1
for attack in crowd, change_all_the_time:
    with Children() as children:
        children.start(attack)
        # In the end all places are found, and read for each open.
        for _ in range(15): data("victim")
        for _ in range(20):
            before.add(1)
            counted["b"] += 1
            assert value("b") == counted["b"], (attack.__name__, data("victim"), counted)
        for _ in range(10):
            begin(b)
            counted["b"] += 1
            assert value("b") == counted["b"], (attack.__name__, "anew", data("victim"), counted)
    own += 10
    await_lanes(own)
EOP
  _still_right
}

# Each look at a page that was punched is a page fault, and one beside the punching waits for it. A
# kernel that lets the feeder do it is none that the daemon reads such a lane on.
holes_that_are_punched_all_the_time_stop_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, UIDS, LANES, LOOKERS = Calm(Peer()), range(60000, 60004), 20, 4
fallocate = ctypes.CDLL(None, use_errno=True).fallocate
fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
PUNCH_AND_KEEP_SIZE = 3
FIRST = HEAP_AT + 8192 - HEAP_AT % 4096


def punch(ready):
    peer = Peer()
    number = peer.make(f"hostile{os.getuid()}/a on=1")
    lanes = [Lane(peer, seals=False) for _ in range(LANES)]
    for lane in lanes:
        pages = range(FIRST, lane.bytes - 4096, 4096)
        lane.memory[HEAP_AT:HEAP_AT + 4 * len(pages)] = struct.pack(f"<{len(pages)}I", *pages)
        lane.memory[ENTRIES_AT:ENTRIES_AT + 64 * len(pages)] = b"".join(
            struct.pack("<IIQ48x", 1, 0, 1 << 32 | HEAP_AT + 4 * i) for i in range(len(pages)))
        lane.changed()
        try: lane.seal()
        except OSError: pass
        lane.bind(number)
    ready()
    while True:
        for lane in lanes:
            fallocate(lane.fd, PUNCH_AND_KEEP_SIZE, FIRST, lane.bytes - FIRST)


def attack(children):
    for uid in UIDS:
        children.uid = uid
        children.start(punch)
        for _ in range(30): data(f"hostile{uid}")
    for i in range(LOOKERS):
        children.uid = UIDS[i % len(UIDS)]
        children.start(ask_for_sizes(f"hostile{children.uid}"))


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(len(UIDS) + LOOKERS))
EOP
  _still_right
}

# They are added up at each look.
what_was_read_of_cells_that_nothing_names_any_more_stops_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, UIDS, LANES, IDS, LOOKERS = Calm(Peer()), range(60000, 60004), 12, 20, 4
(orders, order), (reports, report) = os.pipe(), os.pipe()


def forget_all(ready):
    peer = Peer()
    number = peer.ask("attach calm/a")[1]
    era = Shapes(peer).era(number)
    lanes = [Lane(peer) for _ in range(LANES)]
    for lane in lanes:
        lane.fill(number, era, IDS, ENTRIES, ENTRIES)
        lane.bind(*[number] * IDS)
    ready()
    os.read(orders, 1)
    for lane in lanes:
        for i in range(ENTRIES): lane.words[ENTRIES_AT // 8 + 8 * i + 1] = 0
        lane.changed()
    os.write(report, b"f")
    signal.pause()


def attack(children):
    for i, uid in enumerate(UIDS):
        children.uid = uid
        children.start(forget_all)
        deadline = time.monotonic() + time_limit(60)
        while data("calm") != f"a {(i + 1) * LANES * IDS * ENTRIES}\n":
            assert time.monotonic() < deadline, data("calm")
        os.write(order, b"f")
        os.read(reports, 1)
    for _ in range(30): data("calm")
    for _ in range(LOOKERS): children.start(ask_for_sizes("calm"))


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(LOOKERS))
EOP
  _still_right
}

rings_that_are_looked_for_all_the_time_stop_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, UIDS, LANES, LOOKERS = Calm(Peer()), range(60000, 60008), 40, 4
RING_BYTES, DOORBELL = 65536, 14
orders, order = os.pipe()


def change_all_the_time(moves):
    def run(ready):
        peer = Peer()
        number = peer.make(f"hostile{os.getuid()}/a on=1 type=list entries_max=100")
        shown = peer.ask("attach calm/a")[1]
        lanes = [Lane(peer, 2) for _ in range(LANES)]
        for lane in lanes:
            assert peer.ask(f"tails {lane.number}")[0] == 0, peer.reason
            peer.attached.clear()
            lane.bind(number, shown)
            for i in range(ENTRIES): lane.words[ENTRIES_AT // 8 + 8 * i] = 1
            lane.words[ENTRIES_AT // 8 + 2] = RING_BYTES << 32 | HEAP_AT
            lane.changed()
        ready()
        bells = header(peer.epoch) + b"".join(
            message(DOORBELL, struct.pack("<Q", lane.number)) for lane in lanes)
        os.read(orders, 1)
        while True:
            if moves:
                for lane in lanes: lane.changed()
                peer.socket.send(bells)
            else: time.sleep(0.001)
    return run


def ask_for_names(ready):
    ready()
    i = 0
    while True:
        i += 1
        try: os.stat(f"{os.environ['STAT']}/nothing{i}")
        except OSError: pass


def begin(moves):
    def start(children):
        await_lanes(0)
        for uid in UIDS:
            children.uid = uid
            children.start(change_all_the_time(moves))
        os.write(order, b"b" * len(UIDS))  # no process waits beside an attack until it is one
        for _ in range(LOOKERS): children.start(ask_for_names)
    return start


assert_others_wait_no_longer(calm, SECONDS / 2, begin(True), begin(False))
EOP
  _still_right
}

# Each cell is a page for itself, so that a look at it has the processor walk its page tables, and
# one id has a thousand of them. Sizes are asked for of the file that shows them.
cells_one_to_a_page_stop_nobody() {
  SERVER=$SERVER py <<'EOP'
from hostile import *
from peer import *
from raw_lanes import *
calm, UIDS, LANES, LOOKERS = Calm(Peer()), range(60000, 60006), 20, 4
FIRST = HEAP_AT + 8192 - HEAP_AT % 4096


def spread(ready):
    peer = Peer()
    number = peer.ask("attach calm/a")[1]
    lanes = [Lane(peer) for _ in range(LANES)]
    for lane in lanes:
        pages = range(FIRST, lane.bytes - 4096, 4096)
        for at in pages: lane.memory[at + 2048] = 1
        lane.memory[HEAP_AT:HEAP_AT + 4 * len(pages)] = struct.pack(f"<{len(pages)}I", *pages)
        lane.memory[ENTRIES_AT:ENTRIES_AT + 64 * len(pages)] = b"".join(
            struct.pack("<IIQ48x", 1, 0, 1 << 32 | HEAP_AT + 4 * i) for i in range(len(pages)))
        lane.changed()
        lane.bind(number)
    ready()
    while True: pass


def attack(children):
    for uid in UIDS:
        children.uid = uid
        children.start(spread)
    for _ in range(30): data("calm")
    for _ in range(LOOKERS): children.start(ask_for_sizes("calm"))


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(len(UIDS) + LOOKERS))
EOP
  _still_right
}

cells_of_hundreds_of_uids_of_a_user_namespace_stop_nobody() {
  SERVER=$SERVER py <<'EOP'
import resource
from hostile import *
from peer import *
from raw_lanes import *
calm, UIDS, LOOKERS = Calm(Peer()), 300, 4


def bind_as_many_uids(ready):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    peer = PeerOfUid()
    number = peer.ask("attach calm/a")[1]
    era = Shapes(peer).era(number)
    lanes = []
    for uid in range(1, UIDS + 1):
        peer.uid = uid
        lanes.append(Lane(peer, 2))
        lanes[-1].fill(number, era, 1, ENTRIES, ENTRIES)
        lanes[-1].bind(number)
    ready()
    signal.pause()


def attack(children):
    children.uid = 0
    children.start(as_root_of_many_uids(bind_as_many_uids))
    for _ in range(30): data("calm")
    children.uid = 65533
    for _ in range(LOOKERS): children.start(ask_for_sizes("calm"))


assert_others_wait_no_longer(calm, SECONDS / 2, attack, busy_loops(LOOKERS))
EOP
  _still_right
}
