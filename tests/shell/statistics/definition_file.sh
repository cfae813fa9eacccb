# What the definition file shows.

_stamp='\[[0-9]+\.[0-9]{6}\]'
_tail="hits_out_of_range=0 data=$_stamp started=$_stamp stopped=$_stamp units=a/b"
_shows() {  # _shows DEFINITION EXPECTED-FROM-TYPE-ON
  send "create web/x $1 range_min=0 range_max=100 units=a/b"
  assert_match "name=x on=0 $2 $_tail" "$(definition web)"
}

of_a_value_in_increments_mode() {
  _shows 'type=value mode=increments' 'type=value range_min=0 range_max=100 mode=increments'
}
of_a_value_in_products_mode() {
  _shows 'type=value mode=products' 'type=value range_min=0 range_max=100 mode=products'
}
of_a_range() { _shows 'type=range' 'type=range range_min=0 range_max=100'; }
of_a_list() {
  _shows 'entries_max=8 type=list' \
    'type=list range_min=0 range_max=100 entries_max=8 hits_missed=0 base=10'
}
of_a_linear_array() {
  _shows 'type=array scale=lin base_interval=0xA' \
    'type=array range_min=0 range_max=100 base_interval=10 scale=lin'
}
of_a_log2_array() {
  _shows 'type=array base_interval=1 scale=log2' \
    'type=array range_min=0 range_max=100 base_interval=1 scale=log2'
}
of_a_history() {
  _shows 'type=history period=1000000 mode=range entries_max=128' \
    'type=history range_min=0 range_max=100 entries_max=128 mode=range period=1000000'
}
of_a_raw() { _shows 'type=raw entries_max=9' 'type=raw range_min=0 range_max=100 entries_max=9'; }

has_one_line_per_statistic_in_the_order_of_creation() {
  send 'create web/zebra' 'create web/ant on=1' 'web/middle 1'
  assert_eq 'name=zebra name=ant name=middle' \
    "$(cut -d' ' -f1 "$STAT/web/definition" | paste -sd' ')"
  assert_eq 3 "$(wc -l <"$STAT/web/definition")"
}

shows_time_as_monotonic_seconds_without_padding() {
  local before stamp after
  need_python
  before=$("$PYTHON" -c 'import time; print(int(time.monotonic()))')
  send 'create web/x'
  stamp=$(attribute web x data)
  after=$("$PYTHON" -c 'import time; print(int(time.monotonic()))')
  assert_match '\[[1-9][0-9]*\.[0-9]{6}\]' "$stamp"
  stamp=${stamp#[}
  [ "${stamp%.*}" -ge "$before" ] && [ "${stamp%.*}" -le "$after" ] ||
    fail "$stamp is not between $before and $after"
}

of_an_interface_without_statistics_is_empty() {
  send 'create web'
  assert_eq '' "$(definition web)$(data web)"
}
