# create, define, remove and attach, and their permissions.

_own() { sed -n "s/^$1 //p" "$STAT/tallyfs/data"; }
_as_nobody() {
  need socat
  printf '%s\n' "$@" >"$CASE/nobodys"
  chmod 644 "$CASE/nobodys"
  as_nobody socat -u "OPEN:$CASE/nobodys" "UNIX-SENDTO:$SOCK"
  _await_intake
}

create_makes_a_statistic_that_is_off() {
  send 'create web/lat type=array base_interval=1 scale=log2 range_min=0 range_max=4 units=us'
  assert_match 'name=lat on=0 type=array .* units=us' "$(definition web)"
}

create_with_on_makes_one_that_is_on() { send 'create web/a on=1'; assert_attribute web a on 1; }

create_makes_an_empty_interface() {
  send 'create web'
  assert_eq 'data data.json definition' "$(ls "$STAT/web" | paste -sd' ')"
  send 'create web' 'create web/a' 'create web'
  assert_match 'name=a .*' "$(definition web)"
}

create_leaves_what_is_there_as_it_is() {
  send 'web/a 1'
  send 'create web/a type=list entries_max=5' 'create web/a on=0'
  assert_match 'name=a on=1 type=range .*' "$(definition web)"
  assert_data web 'a 1 1 1.000 1'
  assert_eq 0 "$(_own rejects)"
}

define_is_a_line_written_into_the_definition() {
  send 'web/a 1' 'web/b 1'
  send 'define web name=a type=list entries_max=5' 'define web on=0'
  assert_match 'name=a on=0 type=list .*' "$(line web a)"
  assert_match 'name=b on=0 type=range .*' "$(line web b)"
}

remove_removes_a_statistic() {
  send 'web/a 1' 'web/b 1' 'remove web/a'
  assert_counts web 'b 1'
  assert_eq 1 "$(definition web | wc -l)"
}

remove_removes_an_interface() {
  send 'web/a 1' 'db/b 1' 'remove web'
  assert_eq 'db tallyfs' "$(ls "$STAT" | paste -sd' ')"
}

lines_take_effect_in_their_order() {
  send 'web/a 1' 'web/a 1' 'remove web/a' 'web/a 1' 'define web on=0' 'web/a 1'
  assert_counts web 'a 1'
}

attach_changes_nothing() {
  send 'web/a 1'
  local before=$(definition web; data web)
  send 'attach web/a'
  assert_eq "$before" "$(definition web; data web)"
}

the_caret_stands_under_the_token_of_a_command() {
  send 'create web/a range_min=5 type=wrong on=1'
  assert_eq '  Command: create web/a range_min=5 type=wrong on=1
                                    ^' "$(errors | tail -2)"
  send 'define nowhere on=1'
  assert_eq '  Command: define nowhere on=1
                  ^' "$(errors | tail -2)"
}

no_feeder_feeds_creates_in_or_removes_the_daemons_own_interface() {
  send 'tallyfs/datagrams 1 1000000' 'tallyfs/new 1' 'create tallyfs/new' 'remove tallyfs' \
    'remove tallyfs/samples'
  assert_eq 5 "$(_own rejects)"
  [ "$(_own datagrams)" -lt 10 ] || fail 'fed'
  [ -n "$(_own samples)" ] || fail 'removed'
  assert_has_not new "$(definition tallyfs)"
}

others_may_feed_and_create_interfaces() {
  _as_nobody 'web/a 1' 'create db/b on=1' 'db/b 3'
  assert_counts web 'a 1'
  assert_counts db 'b 1'
}

others_may_feed_what_is_there() {
  send 'web/a 1'
  _as_nobody 'web/a 1'
  assert_counts web 'a 2'
}

others_may_not_define_or_remove_what_is_not_theirs() {
  send 'web/a 1'
  _as_nobody 'define web on=0' 'remove web/a' 'remove web' 'define tallyfs on=0'
  assert_eq 4 "$(_own rejects)"
  assert_attribute web a on 1
  assert_counts web 'a 1'
  assert_has "uid $(id -u nobody):" "$(errors)"
}

others_may_not_add_to_an_interface_that_is_not_theirs() {
  send 'web/a 1'
  _as_nobody 'web/b 1' 'create web/c'
  assert_eq 2 "$(_own rejects)"
  assert_counts web 'a 1'
}

the_creator_may_define_and_remove() {
  _as_nobody 'web/a 1' 'web/b 1' 'define web name=a on=0' 'remove web/b'
  assert_eq 0 "$(_own rejects)"
  assert_match 'name=a on=0 .*' "$(definition web)"
  _as_nobody 'remove web'
  assert_eq tallyfs "$(ls "$STAT")"
}

root_may_define_and_remove_what_others_created() {
  _as_nobody 'web/a 1' 'db/a 1'
  send 'define web on=0' 'remove db'
  assert_attribute web a on 0
  assert_eq 'tallyfs web' "$(ls "$STAT" | paste -sd' ')"
}
