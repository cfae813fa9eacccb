# type=array: sum of Y per interval of X.

_makes() { send "create web/lat on=1 type=array $*"; }
_bounds() { data web | cut -d' ' -f2 | tr '\n' ' '; }

linear_bounds_go_up_to_the_first_that_reaches_range_max() {
  _makes scale=lin base_interval=10 range_min=0 range_max=30
  assert_eq '<=0 <=10 <=20 <=30 >30 ' "$(_bounds)"
  _makes scale=lin base_interval=10 range_min=0 range_max=30
  send 'create other/lat on=1 type=array scale=lin base_interval=10 range_min=-15 range_max=6'
  assert_eq '<=-15 <=-5 <=5 <=15 >15 ' "$(data other | cut -d' ' -f2 | tr '\n' ' ')"
}

log2_bounds_double_from_range_min() {
  _makes scale=log2 base_interval=1 range_min=0 range_max=16
  assert_eq '<=0 <=1 <=2 <=4 <=8 <=16 >16 ' "$(_bounds)"
}

log2_bounds_go_up_to_the_first_that_reaches_range_max() {
  _makes scale=log2 base_interval=3 range_min=100 range_max=120
  assert_eq '<=100 <=103 <=106 <=112 <=124 >124 ' "$(_bounds)"
}

one_x_makes_one_bound() {
  _makes scale=lin base_interval=5 range_min=7 range_max=7
  assert_eq '<=7 >7 ' "$(_bounds)"
}

shows_zeros_when_empty() {
  _makes scale=lin base_interval=10 range_min=0 range_max=10
  assert_data web 'lat <=0 0' 'lat <=10 0' 'lat >10 0'
}

a_sample_belongs_to_the_first_bound_that_is_not_below_it() {
  _makes scale=lin base_interval=10 range_min=0 range_max=30
  send 'web/lat 0' 'web/lat 1 2' 'web/lat 10 3' 'web/lat 11 4' 'web/lat 20 5' 'web/lat 21 6' \
    'web/lat 30 7'
  assert_data web 'lat <=0 1' 'lat <=10 5' 'lat <=20 9' 'lat <=30 13' 'lat >30 0'
  assert_attribute web lat hits_out_of_range 0
}

# 2006: put X=5 with b=10 under `<=0`.
the_linear_index_is_rounded_up() {
  _makes scale=lin base_interval=10 range_min=0 range_max=30
  send 'web/lat 5'
  assert_data web 'lat <=0 0' 'lat <=10 1' 'lat <=20 0' 'lat <=30 0' 'lat >30 0'
}

a_sample_belongs_to_the_first_log2_bound_that_is_not_below_it() {
  _makes scale=log2 base_interval=2 range_min=10 range_max=26
  send 'web/lat 10' 'web/lat 11 2' 'web/lat 12 3' 'web/lat 13 4' 'web/lat 14 5' 'web/lat 15 6' \
    'web/lat 18 7' 'web/lat 19 8' 'web/lat 26 9'
  assert_data web 'lat <=10 1' 'lat <=12 5' 'lat <=14 9' 'lat <=18 13' 'lat <=26 17' 'lat >26 0'
}

below_goes_into_the_first_above_into_the_last_and_both_are_counted() {
  _makes scale=lin base_interval=10 range_min=0 range_max=20
  send 'web/lat -1 5' 'web/lat -9223372036854775808 2' 'web/lat 21 3' \
    'web/lat 9223372036854775807 4' 'web/lat 20'
  assert_data web 'lat <=0 7' 'lat <=10 0' 'lat <=20 1' 'lat >20 7'
  assert_attribute web lat hits_out_of_range 4
}

what_stands_behind_a_bound_is_true_beyond_range_max_too() {
  _makes scale=lin base_interval=10 range_min=0 range_max=15
  send 'web/lat 15' 'web/lat 17' 'web/lat 21'
  assert_data web 'lat <=0 0' 'lat <=10 0' 'lat <=20 2' 'lat >20 1'
  assert_attribute web lat hits_out_of_range 2
}

takes_the_whole_range_of_x() {
  _makes scale=log2 base_interval=1 range_min=-9223372036854775808 range_max=9223372036854775807
  send 'web/lat -9223372036854775808 1' 'web/lat 0 2' 'web/lat 9223372036854775807 3'
  assert_eq 67 "$(data web | wc -l)"
  assert_eq 'lat <=-9223372036854775808 1' "$(data web | head -1)"
  assert_eq 'lat <=0 2' "$(data web | grep '<=0 ')"
  assert_eq 'lat <=9223372036854775808 3' "$(data web | tail -2 | head -1)"
}
