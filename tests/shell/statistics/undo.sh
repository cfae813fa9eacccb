# What a reset or a new definition has discarded comes back for a minute.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT
  send 'create web/us on=1 type=range' 'web/us 5' 'web/us 7 2'
}

a_reset_is_undone_and_what_came_since_is_added() {
  "$TALLYCTL" reset web/us
  send 'web/us 9'
  assert_data web 'us 1 9 9.000 9'
  assert_eq '' "$("$TALLYCTL" undo web/us)"
  assert_data web 'us 4 5 7.000 9'
  assert_fails_with 'nothing to undo' "$TALLYCTL" undo web/us
}

a_definition_is_undone_and_the_loss_is_said() {
  local before=$(definition web)
  "$TALLYCTL" define web/us type=last
  send 'web/us 9'
  assert_has '1 samples that were counted since are discarded' "$("$TALLYCTL" undo web/us 2>&1)"
  assert_data web 'us 3 5 6.333 7'
  assert_eq "$before" "$(definition web)"
}

an_interface_is_undone_in_one_step() {
  send 'create web/hits on=1' 'web/hits 1'
  "$TALLYCTL" reset web
  assert_data web 'us 0 0 0.000 0' 'hits 0'
  assert_has '"undo_us":' "$(cat "$STAT/web/data.json")"
  "$TALLYCTL" undo web
  assert_data web 'us 3 5 6.333 7' 'hits 1'
  assert_has_not undo "$(cat "$STAT/web/data.json" "$STAT/web/definition")"
}

a_line_of_the_file_undoes_too() {
  "$TALLYCTL" reset web/us
  define web 'name=us undo=1'
  assert_data web 'us 3 5 6.333 7'
  assert_fails_with 'Invalid argument' define web 'name=us undo=1'
  assert_has 'nothing to undo' "$(errors)"
  assert_fails_with 'undo=1 goes with name= alone' "$TALLY_SEND" --socket "$SOCK" \
    'define web/us undo=1 on=0'
}

what_is_large_cannot_be_undone_and_says_so() {
  send 'create web/all on=1 type=list entries_max=100000' 'web/all 1'
  assert_has 'it cannot be undone' "$("$TALLYCTL" reset web/all 2>&1)"
  assert_data web 'us 3 5 6.333 7'
  assert_fails_with 'nothing to undo' "$TALLYCTL" undo web/all
}

rmdir_ends_it() {
  "$TALLYCTL" reset web/us
  rmdir "$STAT/web"
  send 'create web/us on=1 type=range'
  assert_fails_with 'nothing to undo' "$TALLYCTL" undo web/us
}

a_rule_has_no_undo() {
  assert_fails_with 'Invalid argument' bash -c 'echo "web/* undo=1" >"$1/rules"' _ "$MNT"
  assert_has 'undo= is no rule' "$(errors)"
}
