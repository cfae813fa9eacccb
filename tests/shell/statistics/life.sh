# How a statistic begins, is switched on and off, is reset, and ends.

_stamp='\[[0-9]+\.[0-9]{6}\]'

one_that_a_feeder_creates_is_off_and_has_the_defaults() {
  send 'create web/hits'
  assert_match "name=hits on=0 type=value range_min=-9223372036854775808 range_max=9223372036854775807 mode=increments hits_out_of_range=0 data=$_stamp started=$_stamp stopped=$_stamp units=" \
    "$(definition web)"
  send 'web/hits 1'
  assert_data web 'hits 0'
}

one_that_a_sample_named_is_on_at_once() {
  send 'web/hits 1'
  assert_match "name=hits on=1 type=range range_min=-9223372036854775808 range_max=9223372036854775807 hits_out_of_range=0 data=$_stamp started=$_stamp stopped=$_stamp units=" \
    "$(definition web)"
  assert_data web 'hits 1 1 1.000 1'
}

data_started_and_stopped_begin_as_the_time_of_creation() {
  py <<'EOT'
from peer import *
import re, time
before = time.monotonic_ns() // 1000
Peer().make("web/hits")
after = time.monotonic_ns() // 1000
text = open(os.environ["STAT"] + "/web/definition").read()
stamps = [int(re.search(key + r"=\[(\d+\.\d{6})\]", text)[1].replace(".", "")) for key in ("data", "started", "stopped")]
assert len(set(stamps)) == 1 and before <= stamps[0] <= after, (before, stamps, after)
EOT
}

a_feeder_may_supply_other_defaults() {
  send 'create web/lat on=1 type=list entries_max=7 range_min=-5 range_max=0x10 units=us/requests'
  assert_match "name=lat on=1 type=list range_min=-5 range_max=16 entries_max=7 hits_missed=0 base=10 hits_out_of_range=0 data=$_stamp started=$_stamp stopped=$_stamp units=us/requests" \
    "$(definition web)"
}

on_and_off_start_and_stop_counting() {
  send 'create web/hits'
  define web 'name=hits on=1'
  send 'web/hits 1'
  define web 'name=hits on=0'
  send 'web/hits 1'
  assert_data web 'hits 1'
  define web 'name=hits on=1'
  send 'web/hits 1'
  assert_data web 'hits 2'
}

on_sets_started_and_off_sets_stopped_and_nothing_else() {
  local data started stopped
  send 'create web/hits'
  data=$(attribute web hits data) started=$(attribute web hits started) \
    stopped=$(attribute web hits stopped)
  define web 'name=hits on=1'
  [ "$(attribute web hits started)" != "$started" ] || fail 'started did not change'
  assert_attribute web hits stopped "$stopped"
  started=$(attribute web hits started)
  define web 'name=hits on=0'
  [ "$(attribute web hits stopped)" != "$stopped" ] || fail 'stopped did not change'
  assert_attribute web hits started "$started"
  assert_attribute web hits data "$data"
}

on_when_on_and_off_when_off_change_nothing() {
  local before modified
  send 'create web/off' 'create web/on on=1' 'web/on 1'
  before=$(definition web) modified=$(stat -c %.9Y "$STAT/web/definition")
  define web 'name=on on=1'
  define web 'name=off on=0'
  assert_eq "$before" "$(definition web)"
  assert_eq "$modified" "$(stat -c %.9Y "$STAT/web/definition")" mtime
}

reset_clears_data_and_hits_and_sets_data() {
  local data
  send 'create web/x on=1 type=list entries_max=1 range_min=0 range_max=9' 'web/x 1' 'web/x 2' \
    'web/x 10'
  assert_attribute web x hits_missed 1
  assert_attribute web x hits_out_of_range 1
  data=$(attribute web x data)
  define web 'name=x data=reset'
  assert_eq '' "$(data web)"
  assert_attribute web x hits_missed 0
  assert_attribute web x hits_out_of_range 0
  [ "$(attribute web x data)" != "$data" ] || fail 'data= did not change'
}

reset_leaves_on_and_off_alone() {
  local started stopped
  send 'create web/off' 'create web/on on=1'
  started=$(attribute web on started) stopped=$(attribute web off stopped)
  define web 'data=reset'
  assert_attribute web off on 0
  assert_attribute web on on 1
  assert_attribute web on started "$started"
  assert_attribute web off stopped "$stopped"
}

a_feeders_death_removes_nothing() {
  py <<'EOT'
from peer import *
peer = Peer()
peer.send(samples(peer.make("web/hits on=1"), [1, 2]))
EOT
  assert_data web 'hits 2'
}

rmdir_removes_the_interface_with_all_of_it() {
  send 'web/hits 1' 'web/misses 1' 'db/hits 0 7'
  rmdir "$STAT/web"
  [ ! -e "$STAT/web" ] || fail 'still there'
  assert_counts db 'hits 7'
  send 'web/hits 5 5'
  assert_counts web 'hits 5'
}

the_filter_is_inclusive_at_both_ends_and_drops_and_counts() {
  send 'create web/x on=1 range_min=-2 range_max=3'
  send 'web/x -3 100' 'web/x -2' 'web/x 0 2' 'web/x 3 4' 'web/x 4 100' 'web/x 5'
  assert_data web 'x 7'
  assert_attribute web x hits_out_of_range 3
}

while_off_nothing_counts_not_even_hits() {
  send 'create web/x range_min=0 range_max=1' 'web/x 5' 'web/x 0'
  assert_data web 'x 0'
  assert_attribute web x hits_out_of_range 0
}

a_removed_one_is_not_brought_back_by_samples_sent_before() {
  py <<'EOT'
from peer import *
peer = Peer()
path = os.environ["STAT"] + "/web"
for i in range(200):
    peer.socket.send(b"web/hits 1")
    os.listdir(path)
    for _ in range(20): peer.socket.send(b"web/hits 1")
    os.rmdir(path)
    assert not os.path.exists(path), i
EOT
}
