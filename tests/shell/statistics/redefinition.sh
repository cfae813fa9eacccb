# A redefinition discards data only if it really changes something.

_filled() {  # _filled DEFINITION: three samples, of which one is out of range
  send "create web/x on=1 range_min=0 range_max=100 $1" 'web/x 5' 'web/x 7' 'web/x -1'
  assert_attribute web x hits_out_of_range 1
}
_keeps() {  # _keeps LINE
  local data=$(data web) since=$(attribute web x data) hits=$(attribute web x hits_out_of_range)
  define web "$1"
  assert_eq "$data" "$(data web)" "data after '$1'"
  assert_attribute web x data "$since"
  assert_attribute web x hits_out_of_range "$hits"
}
_discards() {  # _discards LINE: data and hits, but not on
  local empty=$2 since=$(attribute web x data)
  define web "$1"
  assert_eq "$empty" "$(data web)" "data after '$1'"
  assert_attribute web x hits_out_of_range 0
  assert_attribute web x on 1
  [ "$(attribute web x data)" != "$since" ] || fail "data= did not change with '$1'"
}

the_same_type_and_attributes_keep_it() {
  _filled 'type=list entries_max=9 base=16'
  _keeps 'name=x type=list entries_max=9'
  _keeps 'name=x entries_max=0x9 range_min=0'
}

a_changed_type_discards_it() {
  _filled 'type=list entries_max=9 base=16'
  _discards 'name=x type=range' 'x 0 0 0.000 0'
}

a_changed_attribute_discards_it() {
  _filled 'type=list entries_max=9 base=16'
  _discards 'name=x entries_max=10' ''
}

a_changed_mode_discards_it() {
  _filled 'type=value mode=increments'
  _discards 'name=x mode=products' 'x 0'
}

a_changed_range_keeps_the_data_of_most_types() {
  _filled 'type=value mode=increments'
  _keeps 'name=x range_min=6 range_max=8'
  define web 'name=x type=list entries_max=9'
  send 'web/x 6' 'web/x 7'
  _keeps 'name=x range_min=7'
  send 'web/x 6' 'web/x 7'
  assert_data web 'x 0x7 2' 'x 0x6 1'
}

a_changed_range_discards_the_data_of_an_array() {
  _filled 'type=array base_interval=50 scale=lin'
  _keeps 'name=x range_max=100 scale=lin'
  _discards 'name=x range_max=50' 'x <=0 0
x <=50 0
x >50 0'
}

it_keeps_off_what_is_off() {
  send 'create web/x'
  define web 'name=x type=range'
  assert_attribute web x on 0
}

# 2006: `on=0` together with a redefinition left it on.
off_together_with_a_redefinition_is_off() {
  _filled 'type=value mode=increments'
  define web 'name=x on=0 type=list entries_max=4'
  assert_attribute web x on 0
  define web 'name=x on=1 type=range'
  assert_attribute web x on 1
}

reset_together_with_a_redefinition_does_both() {
  _filled 'type=value mode=increments'
  define web 'name=x data=reset range_max=50 on=0'
  assert_match \
    'name=x on=0 type=value range_min=0 range_max=50 mode=increments hits_out_of_range=0 .*' \
    "$(definition web)"
  assert_data web 'x 0'
}

it_leaves_the_other_statistics_alone() {
  _filled 'type=value mode=increments'
  send 'web/y 3 3'
  _discards 'name=x mode=products' 'x 0
y 3 3 3.000 3'
}

units_are_set_and_cleared_and_keep_the_data() {
  _filled 'type=range'
  _keeps 'name=x units=microseconds/requests'
  assert_attribute web x units microseconds/requests
  _keeps 'name=x units='
  assert_attribute web x units microseconds/requests
  send 'define web/x units=bytes/requests'
  assert_attribute web x units bytes/requests
  _keeps 'name=x units=-'
  assert_attribute web x units ''
  assert_eq '' "$(errors)"
}

units_of_another_factor_discard_percentiles() {
  _filled 'type=quantiles precision=5 quantiles=50 units=microseconds/requests'
  _keeps 'name=x units=microseconds/queries'
  assert_attribute web x units microseconds/queries
  local since=$(attribute web x data)
  define web 'name=x units=milliseconds/queries'
  assert_eq 'x count 0' "$(data web | head -1)"
  [ "$(attribute web x data)" != "$since" ] || fail 'data= did not change'
}

units_of_a_source_are_those_of_its_views_until_they_have_others() {
  send 'create web/us on=1 units=us/requests' 'create web/same of=us type=last' \
    'create web/other of=us type=range units=bytes'
  define web 'name=us units=microseconds/requests'
  assert_eq 'microseconds/requests microseconds/requests bytes' \
    "$(for each in us same other; do attribute web $each units; done | paste -sd' ')"
}

units_that_a_user_has_set_stay_when_the_feeder_comes_back() {
  py <<'EOT'
from peer import *
peer = Peer()
peer.make("web/hits on=1 units=requests")
with open(os.environ["STAT"] + "/web/definition", "w") as file: file.write("name=hits units=pages\n")
peer.make("web/hits on=1 units=requests")
EOT
  assert_attribute web hits units pages
  assert_eq '' "$(errors)"
}

help_is_one_word_at_the_end_of_the_line() {
  send 'create web/us on=1 units=us/requests help=Time%20of%20a%20request' 'create web/hits'
  assert_match '.* units=us/requests help=Time%20of%20a%20request' "$(line web us)"
  assert_match '.* units=' "$(line web hits)"
  assert_has ',"help":"Time%20of%20a%20request","data_realtime_us"' "$(cat "$STAT/web/data.json")"
  send 'web/us 5'
  define web 'name=us help=100%25=all'
  assert_match '.* help=100%25=all' "$(line web us)"
  assert_data web 'us 1' 'hits 0'
  define web 'name=us help='
  assert_attribute web us help '100%25=all'
  define web 'name=us help=-'
  assert_match '.* units=us/requests' "$(line web us)"
}

help_that_is_no_word_is_refused() {
  local help
  send 'create web/us help=Time'
  for help in 100% a%2 a%2g 'a"b' "$(printf '%0256d' 0)"; do
    assert_fails_with 'Invalid argument' define web "name=us help=$help"
    assert_has 'help must be one word of at most 255 bytes' "$(errors | tail -3)"
  done
  assert_fails_with "'of' is no key=value" \
    "$TALLY_SEND" --socket "$SOCK" 'define web/us help=Time of'
  assert_attribute web us help Time
}

a_create_line_with_other_help_says_so() {
  send 'create web/us help=Time' 'create web/us help=Time'
  assert_eq '' "$(errors)"
  assert_has 'it exists with help=Time and stays so; to change it: define web/us help=Delay' \
    "$("$TALLY_SEND" --socket "$SOCK" 'create web/us help=Delay' 2>&1)"
}
