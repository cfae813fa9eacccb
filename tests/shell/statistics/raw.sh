# type=raw: the newest samples themselves.

_makes() { send "create web/r on=1 type=raw entries_max=${1:-100}"; }
_without_time() { data web | sed 's/\[[0-9]*\.[0-9]\{6\}\] //'; }

shows_time_serial_x_and_y_oldest_first() {
  _makes
  send 'web/r 5 2' 'web/r -3'
  send 'web/r 9223372036854775807 18446744073709551615'
  assert_eq 'r 0 5 2
r 1 -3 1
r 2 9223372036854775807 18446744073709551615' "$(_without_time)"
}

prints_nothing_when_empty() {
  _makes
  assert_eq '' "$(data web)"
}

keeps_the_newest_entries_max() {
  _makes 3
  send 'web/r 10' 'web/r 11' 'web/r 12' 'web/r 13' 'web/r 14'
  assert_eq 'r 2 12 1
r 3 13 1
r 4 14 1' "$(_without_time)"
}

serials_start_at_0_at_reset() {
  _makes 3
  send 'web/r 10' 'web/r 11'
  define web 'name=r data=reset'
  send 'web/r 12'
  assert_eq 'r 0 12 1' "$(_without_time)"
}

out_of_range_takes_no_serial() {
  send 'create web/r on=1 type=raw entries_max=9 range_min=0 range_max=5'
  send 'web/r 1' 'web/r 6' 'web/r 2'
  assert_eq 'r 0 1 1
r 1 2 1' "$(_without_time)"
}

a_sample_without_time_gets_the_time_of_its_arrival() {
  _makes
  py <<'EOT'
import re, time
from peer import *
peer = Peer()
before = time.monotonic_ns() // 1000
peer.send(samples(peer.make("web/r"), [1]))
text = data("web")
after = time.monotonic_ns() // 1000
stamp = int(re.match(r"r \[(\d+\.\d{6})\] 0 1 1\n$", text)[1].replace(".", ""))
assert before <= stamp <= after, (before, stamp, after)
EOT
}

a_time_that_came_with_the_sample_is_shown() {
  _makes
  py <<'EOT'
from peer import *
import time
peer = Peer()
number = peer.make("web/r")
now = time.monotonic_ns()
peer.send(samples(number, [(7, now)], WITH_TIME), samples(number, [(8, 3, now + 1_000_000_000_000)], WITH_TIME | WITH_Y))
text = data("web").splitlines()
after = time.monotonic_ns()
shown = lambda ns: f"[{ns // 10**9}.{ns // 1000 % 10**6:06}]"
assert text[0] == f"r {shown(now)} 0 7 1", text
# A time later than the arrival counts as that.
assert text[1].endswith(" 1 8 3"), text
came_us = int(text[1].split()[1].strip("[]").replace(".", ""))
assert now // 1000 <= came_us <= after // 1000, (now, text, after)
EOT
}
