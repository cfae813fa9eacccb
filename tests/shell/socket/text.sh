# The text form of core/wire/FORMAT.md.

_own() { sed -n "s/^$1 //p" "$STAT/tallyfs/data"; }
_rejects() { # _rejects LINE...: each is refused, and nothing comes of it
  local line before
  for line; do
    before=$(_own rejects)
    send "$line"
    assert_eq $((before + 1)) "$(_own rejects)" "rejects after '$line'"
  done
  assert_eq tallyfs "$(ls "$STAT" | grep -v -x -e web)"
}

a_sample_is_a_name_x_and_y() {
  send 'create web/r on=1 type=raw entries_max=9'
  send 'web/r 1750 3' 'web/r -5' 'web/r 0x10 0x20' 'web/r -0x10' \
    'web/r 9223372036854775807 18446744073709551615' 'web/r -9223372036854775808'
  assert_eq '1750 3
-5 1
16 32
-16 1
9223372036854775807 18446744073709551615
-9223372036854775808 1' "$(data web | cut -d' ' -f4,5)"
}

echo_into_socat_is_all_it_takes() {
  need socat
  echo 'web/latency_us 1750' | socat - "UNIX-SENDTO:$SOCK"
  assert_counts web 'latency_us 1'
}

an_unknown_name_comes_into_being_on_and_of_type_range() {
  send 'h/temp 42' 'h/temp -7 3'
  assert_match 'name=temp on=1 type=range .*' "$(definition h)"
  assert_data h 'temp 4 -7 5.250 42'
}

what_a_program_creates_is_of_type_value() {
  send 'create web/hits on=1' 'web/hits 9 2'
  assert_match 'name=hits on=1 type=value .* mode=increments .*' "$(definition web)"
  assert_data web 'hits 2'
  py <<'EOT'
from peer import *
peer = Peer()
peer.send(samples(peer.make("web/misses on=1"), [1, 2]))
assert "name=misses on=1 type=value " in open(os.environ["STAT"] + "/web/definition").read()
EOT
}

a_rule_makes_a_counter_of_what_a_sample_names() {
  echo '*/hits type=value mode=increments' >"$MNT/rules"
  send 'web/hits 9 2' 'web/temp 9 2'
  assert_data web 'hits 2' 'temp 2 9 9.000 9'
}

blank_lines_and_white_space_say_nothing() {
  send_exactly '\n\n  \t \n  web/a\t 1   2  \n\n'
  assert_counts web 'a 2'
  assert_eq 0 "$(_own rejects)"
}

crlf_is_tolerated() {
  send_exactly 'web/a 1\r\nweb/a 1 4\r\n\r\n'
  assert_counts web 'a 5'
  assert_eq 0 "$(_own rejects)"
}

the_last_newline_may_be_missing() {
  send_exactly 'web/a 1\nweb/a 1'
  assert_counts web 'a 2'
}

an_empty_datagram_says_nothing() {
  py <<'EOT'
from peer import *
Peer().socket.send(b"")
assert own("datagrams") >= 1 and own("rejects") == 0
EOT
}

many_lines_fit_into_one_datagram() {
  local i
  for i in {1..9000}; do echo "web/statistic_$((i % 10)) $i"; done >"$CASE/samples"
  send_file "$CASE/samples"
  wait_until '[ "$(_own samples)" = 9000 ]'
  assert_eq "$(for i in 1 2 3 4 5 6 7 8 9 0; do echo "statistic_$i 900"; done)" "$(counts web)"
  assert_eq 1 "$(_own datagrams)"
}

garbage_is_counted_and_the_lines_around_it_take_effect() {
  send 'web/a 1' 'what is this' 'web/a 1' 'web/a' 'web/a one' 'web/a 1'
  assert_counts web 'a 3'
  assert_eq 3 "$(_own rejects)"
  assert_eq 3 "$(_own samples)"
}

garbage_is_logged_with_its_sender() {
  send 'web/a 1' 'web/a 1 minus-one'
  local log
  mapfile -t log < <(errors)
  assert_match "\[[0-9]+\.[0-9]{6}\] .*pid [0-9]+ uid $(id -u): error: .+" "${log[0]}"
  assert_eq '  Command: web/a 1 minus-one' "${log[1]}"
  assert_eq '                   ^' "${log[2]}"
}

the_logged_pid_is_that_of_the_sender() {
  py <<'EOT'
from peer import *
Peer().socket.send(b"garbage")
log = open(os.environ["MNT"] + "/tracing/error_log").read()
assert f"pid {os.getpid()} " in log, log
EOT
}

a_flood_of_garbage_does_not_push_out_what_an_administrator_mistyped() {
  local i
  send 'web/a 1'
  assert_fails define web 'name=a on=mistyped'
  for i in {1..20}; do send "garbage $i"; done
  assert_has 'on=mistyped' "$(errors)"
  assert_has 'garbage 20' "$(errors)"
}

each_line_of_a_flood_counts_and_the_first_are_shown() {
  send 'web/a 1'
  local i
  {
    for i in {1..4}; do echo "first $i"; done
    for i in {1..1000}; do
      printf '%s\n' "word$i" "web/a ${i}ms" "web/a $i.5" "web/a=$i 1" "web.a:$i|c" "web/a $i"
    done
  } >"$CASE/lines"
  send_file "$CASE/lines"
  wait_until '[ "$(_own rejects)" = 5004 ]'
  assert_counts web 'a 1001'
  cp "$MNT/errors.json" "$CASE/errors"
  assert_eq "$(for i in {1..4}; do echo "\"text\":\"first $i\""; done)" \
    "$(grep -o '"text":"[^"]*"' "$CASE/errors" | head -4)"
  # Four at most in each second that the flood has lasted.
  assert_match '.*"reported":([4-9]|[1-9][0-9]),"dropped":0,.*' "$(<"$CASE/errors")"
}

what_is_no_sample_is_refused() {
  send 'web/a 1'
  _rejects 'web/a x' 'web/a 1.5' 'web/a 1 -1' 'web/a 9223372036854775808' \
    'web/a -9223372036854775809' 'web/a 1 18446744073709551616' \
    'web/a 0x' 'web/a 0xg' 'web/a 1 2 3' 'web/a --5' 'web/a 1e3' '/a 1' 'new/ 1' 'new/a/b 1' \
      'new/a=b 1' './a 1' '../a 1' 'new/.. 1'
  assert_counts web 'a 1'
}

what_is_no_command_is_refused() {
  send 'web/a 1'
  _rejects 'hello' 'create' 'remove' 'define' 'CREATE new/a' 'create new/a type=list' \
    'create new/a on=2' 'create new/a range_min=5 range_max=4' \
    'remove new' 'remove web/new' 'define new on=1' 'define web on=2' 'define web name=new on=1' \
      'attach web/new'
  assert_counts web 'a 1'
}

a_line_with_a_bar_is_reserved() { _rejects 'web/a 1|c' 'web.a:1|c' 'web/a|b 1' 'create web/a|b'; }

a_nul_byte_is_no_name() {
  py <<'EOT'
from peer import *
Peer().socket.send(b"new/a\0b 1\nnew\0/a 1\n\0\nweb/a 1\0\n")
assert os.listdir(os.environ["STAT"]) == ["tallyfs"], os.listdir(os.environ["STAT"])
EOT
}

random_bytes_do_no_harm() {
  py <<'EOT'
from peer import *
import random
seed = random.randrange(1 << 32)
print("seed", seed)
random.seed(seed)
peer = Peer()
for i in range(2000):
    start = random.choice([b"", b"", MAGIC, header(), header(0, 1) + struct.pack("<HHI", random.randrange(5), random.randrange(5), random.randrange(64))])
    peer.socket.send(start + random.randbytes(random.randrange(200)))
peer.send(request(1, "create sound/and_safe"))
while not any(answer[:2] == (1, 0) for answer in peer.answers()): pass
assert "sound" in os.listdir(os.environ["STAT"])
EOT
}

own_numbers_are_on_show() {
  send 'web/a 1' 'create web/b' 'nonsense'
  assert_eq '1 1 1 1' "$(_own datagrams) $(_own samples) $(_own commands) $(_own rejects)"
  assert_match '[0-9]+ .*' "$(_own open_files)"
  grep -q '^batch_ns <=' "$STAT/tallyfs/data"
}

own_numbers_can_be_defined_like_others() {
  define tallyfs 'name=samples on=0'
  send 'web/a 1'
  assert_eq 0 "$(_own samples)"
  define tallyfs 'data=reset on=1'
  send 'web/a 1'
  assert_eq 1 "$(_own samples)"
}
