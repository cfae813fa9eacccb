# What one gets from the data file.

shows_statistics_in_the_order_of_their_creation() {
  send 'web/zebra 1' 'create web/ant type=range' 'web/middle 1 5' 'web/zebra 1'
  assert_data web 'zebra 2 1 1.000 1' 'ant 0 0 0.000 0' 'middle 5 1 1.000 1'
}

a_handle_keeps_showing_the_moment_of_its_open() {
  send 'create web/a on=1' 'create web/b on=1' 'web/a 1' 'web/b 1'
  py <<'EOT'
from peer import *
peer = Peer()
a, b = (peer.ask("attach web/" + name)[1] for name in "ab")
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
text = b""
while True:
    peer.send(samples(a, [1]), samples(b, [1]))
    assert data("web") != "a 1\nb 1\n"
    byte = os.read(fd, 1)
    if not byte: break
    text += byte
assert text == b"a 1\nb 1\n", text
EOT
}

a_small_buffer_gets_the_same_text_as_a_large_one() {
  local i
  for i in {1..300}; do echo "web/statistic_$i $i $i"; done >"$CASE/samples"
  send_file "$CASE/samples"
  wait_until '[ "$(data web | wc -l)" = 300 ]'
  data web >"$CASE/large"
  dd if="$STAT/web/data" bs=7 status=none | cmp - "$CASE/large"
  dd if="$STAT/web/data" bs=4097 status=none | cmp - "$CASE/large"
  dd if="$STAT/web/data" bs=1M status=none | cmp - "$CASE/large"
}

two_statistics_are_never_from_two_moments() {
  py <<'EOT'
# first and last are fed in turns, so first is never behind, nor ahead by more than one.
import threading
from peer import *
peer = Peer()
first, last = peer.make("web/first on=1"), peer.make("web/last on=1")
done = False
def feed():
    while not done:
        peer.send(samples(first, [1]))
        peer.send(samples(last, [1]))
feeder = threading.Thread(target=feed)
feeder.start()
try:
    for i in range(300):
        a, b = (int(line.split()[1]) for line in data("web").splitlines())
        assert 0 <= a - b <= 1, (a, b)
finally:
    done = True
    feeder.join()
EOT
}
