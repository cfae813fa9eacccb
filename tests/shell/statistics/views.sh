# Views: several ways to look at the same samples at once.

_names() { definition web | sed 's/^name=\([^ ]*\).*/\1/' | paste -sd' '; }
_refuses() {  # _refuses ERROR REASON LINE
  echo >"$MNT/tracing/error_log"
  assert_fails_with "$1" define web "$3"
  assert_has "$2" "$(errors)"
}

a_view_gets_the_samples_of_its_source() {
  send 'create web/latency on=1 type=range'
  define web 'name=latency_all of=latency type=quantiles precision=8 quantiles=50'
  define web 'name=slow of=latency type=value mode=increments range_min=1000'
  send 'web/latency 10' 'web/latency 20' 'web/latency 5000'
  assert_data web 'latency 3 10 1676.667 5000' 'latency_all count 3' 'latency_all min 10' \
    'latency_all avg 1676.667' 'latency_all p50 20' 'latency_all max 5000' 'slow 1'
  assert_attribute web slow hits_out_of_range 2
}

its_line_names_its_source_behind_its_name() {
  send 'create web/x on=1 units=a/b'
  define web 'name=v of=x'
  assert_match 'name=v of=x on=1 type=value .* units=a/b' "$(line web v)"
  define web 'name=w of=x on=0 type=last'
  assert_match 'name=w of=x on=0 type=last .*' "$(line web w)"
}

a_saved_definition_makes_the_views_again() {
  send 'create web/x on=1 type=range' 'create web/y'
  define web 'name=v of=x type=list entries_max=9'
  define web 'name=w of=x type=last on=0'
  definition web | sed 's/ hits_out.*//' >"$CASE/lines"
  definition web >"$CASE/saved"
  rmdir "$STAT/web"
  send 'create web/x on=1 type=range' 'create web/y'
  cat "$CASE/saved" >"$STAT/web/definition"
  assert_eq "$(cat "$CASE/lines")" "$(definition web | sed 's/ hits_out.*//')"
  local before=$(definition web)
  cat "$STAT/web/definition" >"$CASE/saved"
  cat "$CASE/saved" >"$STAT/web/definition"
  assert_eq "$before" "$(definition web)"
}

what_cannot_be_is_refused_with_the_reason() {
  send 'create web/x on=1' 'create web/y'
  define web 'name=v of=x'
  _refuses 'Invalid argument' 'of= needs name=' 'of=x'
  _refuses 'Invalid argument' 'y is no view' 'name=y of='
  _refuses 'Invalid argument' 'y is no view' 'name=y of=x'
  _refuses 'Invalid argument' 'v is a view of x already' 'name=v of=y'
  _refuses 'Invalid argument' 'this is a view itself' 'name=n of=v'
  _refuses 'Invalid argument' 'no view of itself' 'name=n of=n'
  _refuses 'No such file or directory' 'no statistic of that name here' 'name=n of=nothing'
  _refuses 'No such file or directory' 'no statistic of that name here' 'name=n of='
  assert_eq 'x y v' "$(_names)"
}

an_empty_source_removes_it() {
  send 'create web/x on=1'
  define web 'name=v of=x'
  define web 'name=v of='
  assert_eq x "$(_names)"
}

sixteen_of_a_statistic_and_no_more() {
  local i
  send 'create web/x on=1'
  for i in $(seq 16); do define web "name=v$i of=x"; done
  _refuses 'No space left on device' 'at most 16 views' 'name=v17 of=x'
}

a_source_that_is_off_counts_nothing_itself() {
  send 'create web/x on=1'
  define web 'name=v of=x'
  define web 'name=x on=0'
  send 'web/x 1 5'
  assert_data web 'x 0' 'v 5'
  define web 'on=0'
  send 'web/x 1 5'
  assert_data web 'x 0' 'v 5'
}

the_switch_that_a_feeder_sees_is_the_union() {
  send 'create web/x on=1'
  define web 'name=v of=x'
  define web 'name=x on=0'
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.make("web/x")
switches = Switches(peer)
is_on = lambda: switches[number][0] != 0
put = lambda line: open(os.environ["STAT"] + "/web/definition", "w").write(line + "\n")
assert is_on(), "a view wants samples"
put("name=v on=0")
assert not is_on(), "no view wants samples"
put("name=v on=1")
assert is_on()
put("name=v of=")
assert not is_on(), "the view is gone"
EOT
}

samples_and_commands_for_a_view_are_refused_and_counted() {
  send 'create web/x on=1'
  define web 'name=v of=x type=range'
  local before=$(data tallyfs | sed -n 's/^rejects //p')
  send 'web/v 5'
  assert_data web 'x 0' 'v 0 0 0.000 0'
  assert_eq $((before + 1)) "$(data tallyfs | sed -n 's/^rejects //p')"
  assert_has 'takes no samples of its own' "$(errors)"
  py <<'EOT'
import errno
from peer import *
peer = Peer()
for line in ("create web/v", "attach web/v"):
    assert peer.ask(line)[0] == errno.EEXIST, line
assert peer.ask("create web/w of=x type=last")[0] == 0
assert peer.ask("create web/w of=x type=range")[0] == 0, "it is there"
assert peer.ask("create web/x of=v")[0] == errno.EEXIST
assert peer.ask("create web/y of=nothing")[0] == errno.ENOENT
EOT
  assert_match '.*name=w of=x on=1 type=last .*' "$(definition web)"
}

removing_the_source_takes_its_views_along() {
  send 'create web/x on=1' 'create web/y'
  define web 'name=v of=x'
  define web 'name=w of=y'
  send 'remove web/x'
  assert_eq 'y w' "$(_names)"
  send 'remove web/w'
  assert_eq y "$(_names)"
  send 'create web/x on=1'
  assert_eq 'y x' "$(_names)"
}

lines_without_a_name_mean_views_too() {
  send 'create web/x on=1'
  define web 'name=v of=x type=last'
  send 'web/x 5'
  define web 'data=reset on=0'
  assert_data web 'x 0'
  assert_attribute web v on 0
}

both_say_the_same_at_any_moment() {
  send 'create web/x on=1'
  define web 'name=v of=x'
  py <<'EOT'
import threading
from peer import *
stop = threading.Event()
def feed():
    peer = Peer()
    number = peer.make("web/x")
    while not stop.is_set():
        peer.send(samples(number, list(range(100))))
feeder = threading.Thread(target=feed)
feeder.start()
try:
    for _ in range(200):
        one, other = (int(line.split()[1]) for line in data("web").splitlines())
        assert one == other, (one, other)
finally:
    stop.set()
    feeder.join()
EOT
}

a_view_counts_in_the_quotas() {
  stop_daemon
  local own
  start_daemon
  own=$(definition tallyfs | wc -l)
  stop_daemon
  start_daemon --uid-statistics $((own + 3))
  send 'create web/x on=1'
  define web 'name=v of=x'
  define web 'name=w of=x'
  _refuses 'No space left on device' statistics 'name=z of=x'
  assert_eq 'x v w' "$(_names)"
  define web 'name=v of='
  define web 'name=z of=x'
  assert_eq 'x w z' "$(_names)"
}

memory_that_a_view_would_need_is_asked_for_before() {
  stop_daemon
  start_daemon --uid-memory 2M
  send 'create web/x on=1'
  _refuses 'No space left on device' bytes 'name=v of=x type=raw entries_max=1000000'
  assert_eq x "$(_names)"
  define web 'name=v of=x type=raw entries_max=100'
  _refuses 'No space left on device' bytes 'name=v entries_max=1000000'
  assert_attribute web v entries_max 100
}

rmdir_takes_views_along_and_gives_their_quota_back() {
  local i before
  before=$(definition tallyfs | wc -l)
  stop_daemon
  start_daemon --uid-statistics $((before + 3))
  for i in 1 2 3; do
    send 'create web/x on=1'
    define web 'name=v of=x'
    define web 'name=w of=x'
    rmdir "$STAT/web"
    [ ! -e "$STAT/web" ] || fail "it is there"
  done
  send 'create web/x'
  assert_eq x "$(_names)"
}
