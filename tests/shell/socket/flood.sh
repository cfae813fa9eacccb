# A flood from one sender hinders neither readers nor other senders.
. ./client/_probe.sh
_alone=timed

_flood() {  # floods from two processes until the case ends
  need_python
  for _ in 1 2; do
    PYTHONPATH=$here "$PYTHON" - >"$CASE/flood.out" 2>&1 <<'EOT' &
from peer import *
peer = Peer()
number = peer.make("flood/hits on=1")
datagram = header(peer.epoch) + samples(number, range(1000))
while True: peer.socket.send(datagram)
EOT
    echo $! >>"$CASE/pids"
    FLOODS+=($!)
  done
  wait_until '[ -e "$STAT/flood/data" ]'
}
FLOODS=()

_ends_in_time() {
  local start took
  start=$(now_us)
  stop_daemon
  took=$(($(now_us) - start))
  [ $took -le "$(time_limit_us 5000000)" ] || fail "it took $took us"
  kill "${FLOODS[@]}" 2>/dev/null || true
}

readers_are_answered_in_time() {
  _flood
  py <<'EOT'
from peer import *
import time
times = []
for i in range(200):
    start = time.monotonic()
    data("flood")
    times.append(time.monotonic() - start)
times.sort()
print(f"median {times[100] * 1000:.1f} ms, 95% {times[190] * 1000:.1f} ms, longest {times[-1] * 1000:.1f} ms")
assert times[190] < time_limit(1)
EOT
  kill "${FLOODS[@]}"
}

definitions_are_written_in_time() {
  local start took i
  _flood
  start=$(now_us)
  for i in {1..50}; do define flood 'on=0'; define flood 'on=1'; done
  took=$(($(now_us) - start))
  [ $took -le "$(time_limit_us 10000000)" ] || fail "it took $took us"
  kill "${FLOODS[@]}"
}

the_samples_of_a_polite_sender_all_arrive() {
  _flood
  py <<'EOT'
from peer import *
import time
peer = Peer()
number = peer.make("polite/hits on=1")
for i in range(500):
    peer.send(samples(number, [1]))
    time.sleep(0.001)
# Under a flood one open may be cut short; what was sent is there soon.
deadline = time.monotonic() + time_limit(5)
while data("polite") != "hits 500\n": assert time.monotonic() < deadline, data("polite")
EOT
  kill "${FLOODS[@]}"
}

# Two processes that fill their rings all the time, as full1 and full2 are on or off.
_full_rings() {
  command -v "$TALLY_PROBE" >/dev/null || skip 'tally-probe is not built'
  local i
  for i in 1 2; do
    printf '%s\n' "interface full$i" "statistic full$i l" 'define l list' 'start l' 'sync 5000' \
      'threads 1 l 1000000000000' >"$CASE/full$i"
    TALLY_SOCKET=$SOCK "$TALLY_PROBE" "$CASE" <"$CASE/full$i" >"$CASE/full$i.out" 2>&1 &
    echo $! >>"$CASE/pids"
    FLOODS+=($!)
  done
  wait_until '[ "$(data tallyfs | awk "\$1 == \"rings\" { print \$NF }")" = 2 ]'
}

# Beside processes that use as much of the CPUs and have nothing in their rings. How much longer
# 1,000 opens in a row take is told and has no bound here: on a busy machine most of it is the wait
# for a CPU. Unit tests by a clock of their own hold what an open may spend on rings.
a_thousand_opens_beside_full_rings_are_answered() {
  need_python
  _full_rings
  py <<'EOT'
from peer import *
import time
OPENS, BUSY = 1000, 0.004


def opens():
    start = time.monotonic()
    for _ in range(OPENS): data("polite")
    return time.monotonic() - start


def own(name):
    lines = data("tallyfs").splitlines()
    return int(next(line for line in lines if line.startswith(name + " ")).split()[-1])


def switch(on):
    for i in (1, 2):
        with open(f"{os.environ['STAT']}/full{i}/definition", "w") as file:
            file.write(f"name=l on={on}\n")


Peer().make("polite/hits on=1")
took = {0: [], 1: []}
for _ in range(2):
    for on in took:
        switch(on)
        before = own("ring_samples")
        took[on].append(opens())
        if not on and took[on][-1] > OPENS * BUSY:
            open(f"{os.environ['CASE']}/busy", "w").close()
            raise SystemExit
        taken = own("ring_samples") - before
        assert not on or taken > 10_000, taken
without, beside = min(took[0]), min(took[1])
print(f"measured: {OPENS} opens: {without:.3f} s, beside full rings {beside:.3f} s")
EOT
  kill "${FLOODS[@]}"
  [ ! -e "$CASE/busy" ] || skip 'opens wait for the CPUs on this machine'
}

it_ends_in_time() {
  _flood
  _ends_in_time
}

# Text that costs more than it is long, as much at once as a socket takes, and readers besides.
_costly_flood() {
  need_python
  send 'create flood/a type=list entries_max=100000 on=1'
  for _ in 1 2; do
    PYTHONPATH=$here "$PYTHON" - >"$CASE/flood.out" 2>&1 <<'EOT' &
from peer import *
peer = Peer()
text = b"define flood data=reset\nflood/a 1\n" * 4000
while True: peer.socket.send(text)
EOT
    FLOODS+=($!)
    while cat "$STAT/flood/data" >/dev/null 2>&1; do :; done &
    FLOODS+=($!)
  done
  printf '%s\n' "${FLOODS[@]}" >>"$CASE/pids"
}

it_ends_in_time_under_costly_datagrams_and_readers() {
  _costly_flood
  local i
  for i in {1..20}; do data flood >/dev/null; done
  _ends_in_time
}

it_ends_in_time_under_readers_of_large_texts() {
  need_python
  send 'create big/a type=raw entries_max=200000 on=1'
  py <<'EOT'
from peer import *
peer = Peer()
for i in range(40): peer.socket.send(b"big/a 1\n" * 5000)
# One open takes in only so much.
while len(data("big").splitlines()) < 200000: pass
EOT
  for _ in 1 2 3 4; do
    while stat -c %s "$STAT/big/data" >/dev/null 2>&1; do :; done &
    FLOODS+=($!)
  done
  printf '%s\n' "${FLOODS[@]}" >>"$CASE/pids"
  _ends_in_time
}
