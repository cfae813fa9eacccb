# tallyctl since: what was counted and what changed since the last look.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT XDG_STATE_HOME=$CASE/state
  send 'create web/us type=range on=1' 'create web/hits on=1' 'create db/us on=1' 'web/us 5'
}
_since() { "$TALLYCTL" since --id here "$@"; }

the_first_look_says_so_and_shows_all() {
  assert_has 'the first look' "$(_since)"
  _since | head -1 | grep -q "^since $(date +%Y-%m-%d)"
}

the_second_has_what_was_counted_in_between() {
  _since >/dev/null
  send 'web/us 7' 'web/us 9' 'web/hits 1'
  _since >"$CASE/out"
  assert_eq 'web/us 2 web/hits 1' "$(awk '/^web/ { print $1, $4 }' "$CASE/out" | paste -sd' ')"
  assert_has_not 'db/us' "$(cat "$CASE/out")"
  assert_has 'no samples' "$(_since)"
}

patterns_choose_what_is_shown() {
  _since >/dev/null
  send 'web/us 7' 'db/us 1'
  assert_eq 'db/us' "$(_since db | awk '/^[a-z]*\// { print $1 }')"
}

changes_of_definitions_resets_and_removals_are_named() {
  _since >/dev/null
  define web 'name=us data=reset'
  define web 'name=hits type=last'
  send 'create web/new on=1'
  rmdir "$STAT/db"
  _since >"$CASE/out"
  assert_has 'web/us: reset' "$(cat "$CASE/out")"
  assert_match '.*web/hits: type=value .*-> type=last.*' "$(tr '\n' ' ' <"$CASE/out")"
  assert_has 'web/new: new' "$(cat "$CASE/out")"
  assert_has 'db/us: removed' "$(cat "$CASE/out")"
}

hostile_names_do_not_reach_the_terminal() {
  _since >/dev/null
  local name
  name='us{a:%1B[31m%0A%E2%80%AE</script>"x}'
  "$TALLYCTL" create "web/$name" type=range on=1
  send "web/${name/<\//<%2F} 1"
  _since >"$CASE/out"
  assert_has 'us{a:%1B[31m%0A%E2%80%AE' "$(cat "$CASE/out")"
  assert_has_not $'\e' "$(cat "$CASE/out")"
  assert_has_not $'\342\200\256' "$(cat "$CASE/out")"
}

another_start_of_the_daemon_is_said() {
  _since >/dev/null
  stop_daemon
  start_daemon
  send 'create web/us type=range on=1' 'web/us 1' 'web/us 2'
  _since >"$CASE/out"
  assert_has 'the daemon has started again' "$(cat "$CASE/out")"
  assert_eq 'web/us 2' "$(awk '/^web/ { print $1, $4 }' "$CASE/out")"
}

looks_are_kept_apart_and_private() {
  _since >/dev/null
  assert_has 'the first look' "$("$TALLYCTL" since --id other)"
  assert_eq 600 "$(stat -c %a "$CASE"/state/tallyctl/since/*-here)"
  assert_eq 2 "$(ls "$CASE/state/tallyctl/since" | wc -l)"
  echo damaged >"$(echo "$CASE"/state/tallyctl/since/*-here)"
  _since >"$CASE/out" 2>"$CASE/err"
  assert_has 'the last look is damaged' "$(cat "$CASE/err")"
  assert_has 'the first look' "$(cat "$CASE/out")"
  assert_has_not 'the first look' "$(_since)"
}

without_a_terminal_it_wants_a_name() {
  assert_fails_with '--id NAME' "$TALLYCTL" since </dev/null
  [ ! -e "$CASE/state" ]
}

programs_read_the_differences() {
  _since >/dev/null
  send 'web/us 7'
  assert_eq '[1,0,0]' "$(_since --json |
    jq -c '[.differences | sort_by(.name != "us" or .interface != "web")[] |
      select(.interface != "tallyfs" and .interface != "timer") | .samples]')"
}
