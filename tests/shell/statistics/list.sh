# type=list: sum of Y per X.

_makes() { send "create web/sizes on=1 type=list entries_max=${1:-100} base=16"; }

sums_y_per_x_in_hexadecimal() {
  _makes
  send 'web/sizes 4096 3' 'web/sizes 0x2000' 'web/sizes 4096'
  assert_data web 'sizes 0x1000 4' 'sizes 0x2000 1'
}

orders_by_the_largest_total_then_by_the_smallest_x() {
  _makes
  send 'web/sizes 30 2' 'web/sizes 10 2' 'web/sizes 20 2' 'web/sizes 5 1' 'web/sizes 99 7'
  assert_data web 'sizes 0x63 7' 'sizes 0xa 2' 'sizes 0x14 2' 'sizes 0x1e 2' 'sizes 0x5 1'
}

negative_x_are_smaller_than_positive_ones() {
  _makes
  send 'web/sizes 1' 'web/sizes -1'
  assert_data web 'sizes 0xffffffffffffffff 1' 'sizes 0x1 1'
}

prints_nothing_when_empty() {
  _makes
  assert_eq '' "$(data web)"
  assert_eq 0 "$(stat -c %s "$STAT/web/data")"
}

a_new_x_when_full_counts_in_hits_missed_once_whatever_its_y() {
  _makes 2
  send 'web/sizes 1' 'web/sizes 2' 'web/sizes 3 50' 'web/sizes 4' 'web/sizes 2'
  assert_data web 'sizes 0x2 2' 'sizes 0x1 1'
  assert_attribute web sizes hits_missed 2
}

out_of_range_is_counted_and_takes_no_entry() {
  send 'create web/sizes on=1 type=list entries_max=1 base=16 range_min=10 range_max=20'
  send 'web/sizes 9 5' 'web/sizes 21' 'web/sizes 10' 'web/sizes 20'
  assert_data web 'sizes 0xa 1'
  assert_attribute web sizes hits_out_of_range 2
  assert_attribute web sizes hits_missed 1
}

reset_clears_entries_and_hits_missed() {
  _makes 1
  send 'web/sizes 1' 'web/sizes 2'
  define web 'name=sizes data=reset'
  assert_attribute web sizes hits_missed 0
  send 'web/sizes 2'
  assert_data web 'sizes 0x2 1'
}

a_list_that_a_person_makes_is_decimal() {
  send 'create web/sizes on=1 type=list entries_max=9' 'web/sizes 4096 3' 'web/sizes -1'
  assert_data web 'sizes 4096 3' 'sizes -1 1'
  assert_match '.* entries_max=9 hits_missed=0 base=10 hits_out_of_range=0 .*' "$(line web sizes)"
  assert_has '"hits_missed":0,"base":10,' "$(cat "$STAT/web/data.json")"
  assert_has '"x":[4096,-1]' "$(cat "$STAT/web/data.json")"
}

a_list_of_the_definition_file_is_hexadecimal() {
  send 'create web/sizes on=1'
  define web 'name=sizes type=list entries_max=9'
  send 'web/sizes 4096'
  assert_data web 'sizes 0x1000 1'
  assert_attribute web sizes base ''
}

another_base_keeps_the_data() {
  send 'create web/sizes on=1 type=list entries_max=9' 'web/sizes 4096'
  local since=$(attribute web sizes data)
  define web 'name=sizes base=16'
  assert_data web 'sizes 0x1000 1'
  send 'define web/sizes base=10'
  assert_data web 'sizes 4096 1'
  send 'define web/sizes type=list entries_max=9'
  assert_data web 'sizes 4096 1'
  define web 'name=sizes type=list entries_max=9'
  assert_data web 'sizes 0x1000 1'
  send 'define web/sizes type=list entries_max=9'
  assert_data web 'sizes 0x1000 1'
  assert_attribute web sizes data "$since"
}

a_base_that_is_none_is_refused() {
  local base
  send 'create web/sizes on=1 type=list entries_max=9' 'create web/us on=1 type=range'
  for base in 8 2 0 266 ten ''; do
    assert_fails_with 'Invalid argument' define web "name=sizes base=$base"
    assert_has 'base must be 10 or 16' "$(errors | tail -3)"
  done
  assert_fails_with 'base is for type=list' "$TALLY_SEND" --socket "$SOCK" 'define web/us base=10'
  assert_attribute web sizes base 10
}

a_create_line_with_another_base_says_so() {
  send 'create web/sizes type=list entries_max=9' 'create web/sizes type=list entries_max=9'
  assert_eq '' "$(errors)"
  assert_has 'it exists with base=10 and stays so; to change it: define web/sizes' \
    "$("$TALLY_SEND" --socket "$SOCK" 'create web/sizes type=list entries_max=9 base=16' 2>&1)"
}

a_view_shows_the_base_of_its_own() {
  send 'create web/us on=1 type=range' 'create web/all of=us type=list entries_max=9'
  define web 'name=hex of=us type=list entries_max=9'
  send 'web/us 255'
  assert_data web 'us 1 255 255.000 255' 'all 255 1' 'hex 0xff 1'
}
