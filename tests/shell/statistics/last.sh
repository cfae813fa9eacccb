# type=last: a gauge.

shows_nothing_before_the_first_and_then_the_newest() {
  send 'create web/t on=1 type=last'
  assert_eq '' "$(data web)"
  send 'web/t 20 5' 'web/t -3'
  assert_match 't \[[0-9]+\.[0-9]{6}\] -3' "$(data web)"
}

the_range_filter_applies() {
  send 'create web/t on=1 type=last range_max=10'
  send 'web/t 5' 'web/t 11'
  assert_match 't \[[0-9.]*\] 5' "$(data web)"
  assert_attribute web t hits_out_of_range 1
}

a_reset_forgets_it() {
  send 'create web/t on=1 type=last' 'web/t 5'
  define web 'name=t data=reset'
  assert_eq '' "$(data web)"
}
