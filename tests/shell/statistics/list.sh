# type=list: sum of Y per X.

_makes() { send "create web/sizes on=1 type=list entries_max=${1:-100}"; }

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
  send 'create web/sizes on=1 type=list entries_max=1 range_min=10 range_max=20'
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
