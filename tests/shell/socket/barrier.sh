# A sample whose send() returned before an open() is in the text of that open.

cat_sees_what_was_sent_before_each_time() {
  local i
  need socat
  for i in {1..50}; do
    send 'web/hits 1'
    assert_counts web "hits $i"
  done
}

open_sees_what_was_sent_before_5000_times() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
for i in range(1, 5001):
    peer.send(samples(number, [1]))
    assert data("web") == f"hits {i}\n", i
EOT
}

open_sees_a_whole_queue() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits on=1")
total = 0
for i in range(100):
    cut = own("drains_cut")
    for j in range(40): peer.send(samples(number, [1] * 10))
    total += 400
    text = data("web")
    assert text == f"hits {total}\n" or own("drains_cut") > cut, (i, text)
EOT
}

ls_sees_a_new_interface() {
  local i
  for i in {1..50}; do
    send "interface_$i/a 1"
    assert_has "interface_$i
" "$(ls "$STAT")
"
  done
}

a_new_interface_can_be_opened_at_once() {
  local i
  for i in {1..50}; do
    [ ! -e "$STAT/interface_$i" ]
    send "interface_$i/a 1"
    assert_counts "interface_$i" 'a 1'
  done
}

a_definition_sees_a_new_statistic() {
  local i
  for i in {1..50}; do
    send "create web/a_$i"
    assert_eq $i "$(definition web | wc -l)"
  done
}

stat_sees_the_size_and_time_of_what_was_sent() {
  py <<'EOT'
from peer import *
peer = Peer()
peer.make("web/l on=1 type=list entries_max=5000")
number = peer.ask("attach web/l")[1]
path = os.environ["STAT"] + "/web/data"
last = os.stat(path)
for i in range(1000):
    peer.send(samples(number, [i]))
    now = os.stat(path)
    assert now.st_size > last.st_size and now.st_mtime_ns > last.st_mtime_ns, i
    last = now
EOT
}

a_definition_that_was_written_is_in_force_for_samples_sent_after() {
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/hits")
path = os.environ["STAT"] + "/web/definition"
for i in range(200):
    with open(path, "w") as file: file.write("on=1\n")
    peer.send(samples(number, [1]))
    with open(path, "w") as file: file.write("on=0\n")
    peer.send(samples(number, [1]))
    assert data("web") == f"hits {i + 1}\n", (i, data("web"))
EOT
}
