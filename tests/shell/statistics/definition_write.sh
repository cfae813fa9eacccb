# What may be written to the definition file, and what then happens.

_unchanged_after_refusing() {  # _unchanged_after_refusing ERROR LINE...
  local before=$(definition web; data web) line error=$1
  shift
  for line; do
    assert_fails_with "$error" define web "$line"
    assert_eq "$before" "$(definition web; data web)" "after refusing '$line'"
  done
}

attributes_change_by_themselves() {
  send 'create web/x'
  define web 'name=x range_min=3'
  define web 'name=x range_max=17'
  define web 'name=x mode=products'
  assert_match 'name=x on=0 type=value range_min=3 range_max=17 mode=products .*' \
    "$(definition web)"
}

attributes_change_together_in_any_order() {
  send 'create web/x'
  define web '  period=1000  mode=range	entries_max=5 on=1 type=history name=x range_max=0x7f'
  assert_match 'name=x on=1 type=history range_min=-9223372036854775808 range_max=127 entries_max=5 mode=range period=1000 .*' "$(definition web)"
}

numbers_are_decimal_or_hexadecimal() {
  send 'create web/x type=list entries_max=1'
  define web 'name=x entries_max=0x10 range_min=-0x10 range_max=0xFF'
  assert_match '.* range_min=-16 range_max=255 entries_max=16 .*' "$(definition web)"
}

junk_is_ignored() {
  send 'create web/x units=old'
  local before=$(definition web)
  define web 'name=x foo=bar nonsense =5 hits_out_of_range=99 hits_missed=7 started=[1.0] stopped=abc data=[0.1] data=xyz'
  assert_eq "$before" "$(definition web)"
  define web 'junk name=x foo=1 on=1 # on'
  assert_attribute web x on 1
}

a_misspelt_name_does_not_change_all_statistics() {
  send 'create web/x on=1' 'create web/y on=1' 'web/x 5'
  _unchanged_after_refusing 'Invalid argument' 'nmae=x data=reset' 'data=reset nmae=x' 'x on=0' \
    '# on=0' 'on=0 =5'
  assert_has "no key=value, '#': a line without name= is for all statistics" "$(errors)"
  send 'define web nmae=x data=reset'
  assert_has 'Command: define web nmae=x data=reset' "$(errors)"
  assert_data web 'x 1' 'y 0'
}

a_line_may_name_the_statistic_with_its_interface() {
  send 'create web/x' 'create web/y' 'create db/x'
  define web 'web/x on=1'
  assert_attribute web x on 1
  assert_attribute web y on 0
  define web 'name=web/y on=1'
  assert_attribute web y on 1
  assert_eq '' "$(errors)"
  _unchanged_after_refusing 'Invalid argument' 'db/x on=0' 'on=0 web/x' 'on=0 name=db/x'
  assert_has 'this line is for web: write it to statistics/db/definition, or send: define db/x'\
' KEY=VALUE
  Command: on=0 name=db/x
                ^' "$(errors)"
  assert_attribute db x on 0
}

a_misspelt_key_is_ignored_and_told_in_the_error_log() {
  send 'create web/x'
  define web 'name=x entrys_max=5 on=1'
  assert_attribute web x on 1
  assert_match '.* statistics/web: warning: there is no such key, and it was ignored
  Command: name=x entrys_max=5 on=1
                  \^' "$(errors)"
  echo >"$MNT/tracing/error_log"
  cat "$STAT/web/definition" >"$CASE/saved"
  cat "$CASE/saved" >"$STAT/web/definition"
  assert_eq '' "$(errors)"
}

attributes_of_other_types_are_junk_of_this_one() {
  send 'create web/x type=range'
  define web 'name=x entries_max=5 period=10 base_interval=3'
  assert_match 'name=x on=0 type=range range_min=-9223372036854775808 range_max=9223372036854775807 hits_out_of_range=.*' "$(definition web)"
  assert_match '.* statistics/web: warning: entries_max is for other types, and it was ignored
  Command: name=x entries_max=5 period=10 base_interval=3
                  \^' "$(errors)"
}

a_value_that_does_not_parse_refuses_the_whole_line() {
  send 'create web/x on=1' 'web/x 5'
  _unchanged_after_refusing 'Invalid argument' 'name=x range_min=3 range_max=many' \
    'name=x on=0 mode=sideways' \
    'name=x on=2' 'name=x on=' 'name=x on=yes' 'name=x type=valu' 'name=x range_min=1.5' \
      'name=x range_min=0x' \
    'name=x range_min=9223372036854775808' 'name=x range_max=-9223372036854775809' \
      'name=x range_min=1e3' 'name=x range_min=+' \
    'data=reset on=7' 'range_min=x'
}

bounds_are_refused_one_step_beyond() {
  send 'create web/x on=1 type=list entries_max=5' 'web/x 5'
  _unchanged_after_refusing 'Invalid argument' 'name=x entries_max=0' 'name=x entries_max=1048577' \
    'name=x entries_max=-1' \
    'name=x entries_max=18446744073709551617' 'name=x range_min=5 range_max=4' \
    'name=x type=history mode=range period=0 entries_max=5' \
      'name=x type=history mode=range period=-1 entries_max=5' \
    'name=x type=array base_interval=0 scale=lin range_min=0 range_max=9' \
      'name=x type=array base_interval=-1 scale=lin range_min=0 range_max=9'
}

bounds_are_accepted_at_their_ends() {
  send 'create web/x on=1'
  define web 'name=x type=list entries_max=1'
  define web 'name=x entries_max=1048576'
  define web 'name=x type=history mode=increments entries_max=1048576 period=1'
  define web 'name=x type=raw entries_max=1048576'
  define web 'name=x range_min=4 range_max=4'
  define web 'name=x type=array base_interval=1 scale=lin'
}

an_array_has_at_most_65536_intervals() {
  send 'create web/x type=array base_interval=1 scale=lin range_min=0 range_max=65534'
  assert_eq 65536 "$(data web | wc -l)"
  _unchanged_after_refusing 'Invalid argument' 'name=x range_max=65536' \
    'name=x range_max=9223372036854775807' \
    'name=x range_min=-9223372036854775808 range_max=9223372036854775807'
  define web 'name=x base_interval=2 range_max=131000'
  define web 'name=x range_min=-9223372036854775808 range_max=9223372036854775807 scale=log2'
}

a_type_needs_all_its_attributes() {
  send 'create web/x on=1' 'web/x 5'
  _unchanged_after_refusing 'Invalid argument' 'name=x type=value' 'name=x type=list' \
    'name=x type=array scale=lin' \
    'name=x type=array base_interval=4' 'name=x type=history entries_max=5 mode=range' \
      'name=x type=history entries_max=5 period=10' \
    'name=x type=history mode=range period=10' 'name=x type=raw'
  define web 'name=x type=range'
}

mode_range_is_for_histories_only() {
  send 'create web/x'
  _unchanged_after_refusing 'Invalid argument' 'name=x mode=range' 'name=x type=value mode=range'
}

an_unknown_statistic_is_not_found() {
  send 'create web/x'
  _unchanged_after_refusing 'No such file or directory' 'name=y on=1' 'name=X range_min=3'
}

more_than_the_memory_ceiling_is_refused() {
  stop_daemon
  start_daemon --memory-max 1M
  send 'create web/x on=1 type=list entries_max=10' 'web/x 5'
  _unchanged_after_refusing 'No space left on device' 'name=x entries_max=1048576' \
    'name=x type=raw entries_max=1000000'
  define web 'name=x entries_max=100'
}

of_several_lines_in_one_write_the_good_ones_take_effect() {
  send 'create web/a' 'create web/b' 'create web/c'
  assert_fails_with 'No such file or directory' write_at_once "$STAT/web/definition" 'name=a on=1' \
    'name=nobody on=1' 'name=b on=maybe' 'name=c on=1'
  assert_eq '1 0 1' "$(definition web | sed 's/.* on=\(.\) .*/\1/' | paste -sd' ')"
  assert_fails_with 'Invalid argument' write_at_once "$STAT/web/definition" 'name=b on=maybe' \
    'name=nobody on=1' 'name=b on=1'
  assert_attribute web b on 1
}

a_last_line_without_newline_is_applied_when_the_file_is_closed() {
  send 'create web/x'
  printf 'name=x on=1' >"$STAT/web/definition"
  assert_attribute web x on 1
  printf 'name=x range_min=1\nname=x on=0' >"$STAT/web/definition"
  assert_match 'name=x on=0 type=value range_min=1 .*' "$(definition web)"
}

an_error_in_a_last_line_without_newline_is_told_by_close() {
  send 'create web/x'
  py <<'EOT'
import errno, os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
os.write(fd, b"name=x on=2")
try:
    os.close(fd)
    raise SystemExit("close() succeeded")
except OSError as error:
    assert error.errno == errno.EINVAL, error
EOT
}

a_line_cut_by_two_writes_is_one_line() {
  send 'create web/x'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
for piece in (b"name=x ran", b"ge_min=1", b"2 on=", b"1\nname=x range", b"_max=13\n"):
    assert os.write(fd, piece) == len(piece)
os.close(fd)
EOT
  assert_match 'name=x on=1 type=value range_min=12 range_max=13 .*' "$(definition web)"
}

each_line_takes_effect_with_its_write_not_with_close() {
  send 'create web/x'
  exec 9>"$STAT/web/definition"
  echo 'name=x on=1' >&9
  assert_attribute web x on 1
  echo 'name=x on=0' >&9
  assert_attribute web x on 0
  exec 9>&-
}

what_was_read_can_be_written_back_and_changes_nothing() {
  send 'create web/v on=1' 'create web/r on=1 type=range range_min=0 range_max=9' \
    'create web/l on=1 type=list entries_max=1' \
    'create web/a type=array base_interval=1 scale=log2 range_min=0 range_max=9' \
      'create web/w on=1 type=raw entries_max=4 units=x/y'
  send 'web/v 5' 'web/r 5' 'web/r 50' 'web/l 1' 'web/l 2' 'web/a 3' 'web/w 4'
  definition web >"$CASE/saved"
  data web >"$CASE/data"
  local modified=$(stat -c %.9Y "$STAT/web/data")
  cat "$CASE/saved" >"$STAT/web/definition"
  assert_eq "$(cat "$CASE/saved")" "$(definition web)"
  assert_eq "$(cat "$CASE/data")" "$(data web)"
  cp "$CASE/saved" "$STAT/web/definition"
  assert_eq "$(cat "$CASE/saved")" "$(definition web)"
  assert_eq "$modified" "$(stat -c %.9Y "$STAT/web/data")" mtime
}

a_saved_definition_of_more_than_64_kib_can_be_written_back() {
  local i
  for i in {1..600}; do echo "create web/statistic_$i on=1 range_min=$i"; done >"$CASE/create"
  send_file "$CASE/create"
  wait_until '[ "$(definition web | wc -l)" = 600 ]'
  definition web >"$CASE/saved"
  [ "$(wc -c <"$CASE/saved")" -gt 100000 ] || fail 'not large'
  define web 'on=0 range_min=0'
  cat "$CASE/saved" >"$STAT/web/definition"
  assert_eq 600 "$(definition web | grep -c ' on=1 ')"
  assert_eq "$(cut -d' ' -f1,2,4 "$CASE/saved")" "$(definition web | cut -d' ' -f1,2,4)"
  sed -i 's/on=1/on=0/' "$CASE/saved"
  dd if="$CASE/saved" of="$STAT/web/definition" bs=1M status=none
  assert_eq 600 "$(definition web | grep -c ' on=0 ')"
  dd if="$CASE/create" of="$CASE/odd" bs=1 count=0 status=none
  sed -i 's/on=0/on=1/' "$CASE/saved"
  dd if="$CASE/saved" of="$STAT/web/definition" bs=777 status=none
  assert_eq 600 "$(definition web | grep -c ' on=1 ')"
}

without_a_name_a_line_is_for_all_statistics() {
  send 'create web/a' 'create web/b on=1 type=list entries_max=3' 'web/b 4'
  define web 'on=1'
  assert_eq 2 "$(definition web | grep -c ' on=1 ')"
  define web 'data=reset'
  assert_data web 'a 0'
  define web 'on=0'
  assert_eq 2 "$(definition web | grep -c ' on=0 ')"
  define web 'type=history mode=range period=1000000 entries_max=1024'
  assert_eq 2 \
    "$(definition web | grep -c 'type=history .* entries_max=1024 mode=range period=1000000 ')"
}

a_line_for_all_that_does_not_suit_one_changes_none() {
  send 'create web/a' 'create web/b range_min=100' 'create web/c'
  _unchanged_after_refusing 'Invalid argument' 'range_max=50 on=1'
}

all_are_switched_in_one_atomic_step() {
  send 'create web/first' 'create web/last'
  py <<'EOT'
# A feeder that never stops feeds both, one after the other, in a datagram each; from whenever they
# are on to whenever they are off, the first is ahead by one at most.
import threading
from peer import *
peer = Peer()
first, last = peer.make("web/first"), peer.make("web/last")
done = False
def feed():
    while not done:
        peer.send(samples(first, [1], 0))
        peer.send(samples(last, [1], 0))
feeder = threading.Thread(target=feed)
feeder.start()
try:
    for i in range(60):
        with open(os.environ["STAT"] + "/web/definition", "w") as file: file.write("on=1 data=reset\n")
        with open(os.environ["STAT"] + "/web/definition", "w") as file: file.write("on=0\n")
        a, b = (int(line.split()[1]) for line in data("web").splitlines())
        assert abs(a - b) <= 1, (a, b)
finally:
    done = True
    feeder.join()
EOT
}

writing_without_privilege_is_refused() {
  need_root
  stop_daemon
  start_daemon -o allow_other
  send 'create web/x'
  assert_fails_with 'Permission denied' as_nobody bash -c "echo on=1 >$STAT/web/definition"
  assert_fails_with 'Permission denied' as_nobody cat "$STAT/web/data"
  assert_attribute web x on 0
}
