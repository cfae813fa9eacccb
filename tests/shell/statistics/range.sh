# type=range: `name number min avg max`, three decimals, correctly rounded.

_feeds() { send "create web/x on=1 type=range" "${@/#/web\/x }"; }

shows_number_minimum_average_and_maximum() {
  _feeds 5 -3 '10 2'
  assert_data web 'x 4 -3 5.500 10'
}

number_is_the_sum_of_y() {
  _feeds '1 5000000000' '3 5000000000'
  assert_data web 'x 10000000000 1 2.000 3'
}

is_all_zeros_when_empty() {
  _feeds
  assert_data web 'x 0 0 0.000 0'
}

averages_are_rounded_not_truncated() {
  _feeds 0 0 2
  assert_data web 'x 3 0 0.667 2'
  _feeds '1 19999' '0 19998'
  send 'create near/one on=1 type=range' 'near/one 0 1' 'near/one 1 19999'
  assert_data near 'one 20000 0 1.000 1'
}

# 2006: 19999/20000 printed as 0.1000.
a_carry_goes_through_to_the_whole_part() {
  _feeds '9 1' '10 19999'
  assert_data web 'x 20000 9 10.000 10'
}

leading_zeros_of_the_fraction_are_kept() {
  _feeds 0 '0 998' 1
  assert_data web 'x 1000 0 0.001 1'
}

# 2006: negative averages were wrong.
negative_averages_are_rounded_like_positive_ones() {
  _feeds 0 0 -1
  assert_data web 'x 3 -1 -0.333 0'
  send 'web/x -1'
  assert_data web 'x 4 -1 -0.500 0'
  send 'create deep/x on=1 type=range' 'deep/x -100 2' 'deep/x -101'
  assert_data deep 'x 3 -101 -100.333 -100'
  send 'create deeper/x on=1 type=range' 'deeper/x -9 1' 'deeper/x -10 19999'
  assert_data deeper 'x 20000 -10 -10.000 -9'
}

averages_of_the_largest_numbers_are_exact() {
  _feeds '9223372036854775807 18446744073709551615'
  assert_data web \
    'x 18446744073709551615 9223372036854775807 9223372036854775807.000 9223372036854775807'
  send 'create low/x on=1 type=range' 'low/x -9223372036854775808 18446744073709551615'
  assert_data low \
    'x 18446744073709551615 -9223372036854775808 -9223372036854775808.000 -9223372036854775808'
}

samples_that_count_nothing_divide_nothing_by_zero() {
  _feeds '7 0'
  assert_match 'x 0 (0|7) 0.000 (0|7)' "$(data web)"
}
