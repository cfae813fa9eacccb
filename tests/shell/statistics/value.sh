# type=value: one total.

increments_mode_sums_y() {
  send 'create web/hits on=1' 'web/hits 1750 3' 'web/hits 9' 'web/hits -4 2'
  assert_data web 'hits 6'
}

products_mode_sums_x_times_y_with_its_sign() {
  send 'create web/bytes on=1 type=value mode=products' 'web/bytes 100 3' 'web/bytes -7 2' \
    'web/bytes 5 0'
  assert_data web 'bytes 286'
  send 'web/bytes -1000'
  assert_data web 'bytes -714'
}

is_zero_when_empty() {
  send 'create web/hits on=1' 'create web/bytes on=1 type=value mode=products'
  assert_data web 'hits 0' 'bytes 0'
}

increments_never_wrap() {
  send 'create web/hits on=1' 'web/hits 0 18446744073709551615'
  assert_data web 'hits 18446744073709551615'
  send 'web/hits 0 18446744073709551615'
  assert_match '18446744073709551615|36893488147419103230' "$(data web | cut -d' ' -f2)"
}

products_hold_more_than_64_bits() {
  send 'create web/up on=1 type=value mode=products' \
    'create web/down on=1 type=value mode=products' \
    'web/up 9223372036854775807 18446744073709551615' \
      'web/down -9223372036854775808 18446744073709551615'
  assert_data web 'up 170141183460469231704017187605319778305' \
    'down -170141183460469231722463931679029329920'
}

products_saturate_in_both_directions_and_the_log_says_so() {
  send 'create web/up on=1 type=value mode=products' 'create web/down on=1 type=value mode=products'
  for _ in 1 2 3; do
    send 'web/up 9223372036854775807 18446744073709551615' \
      'web/down -9223372036854775808 18446744073709551615'
  done
  assert_data web 'up 170141183460469231731687303715884105727' \
    'down -170141183460469231731687303715884105728'
  # The intake logs when it is done with what it had, readers first.
  wait_until "grep -qE 'satur|end of its type' '$STDERR'"
}
