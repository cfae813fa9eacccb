# A server that is killed at any moment loses no sample of statistics/: the journal has what was not
# saved.

_set_up() { need pgrep; }
. ./daemon/_keeper.sh

# The socket's queue and the journal have what send() has accepted.
no_sample_of_the_socket_is_lost() {
  start_daemon
  send 'create web/n on=1 type=value mode=increments'
  local round line sent=0
  line=$(printf 'web/n 1\nweb/us 7\n%.0s' {1..40})
  for round in {1..12}; do
    send "$line" "$line" "$line"
    sent=$((sent + 120))
    _replace_server
  done
  assert_data web "n $sent" "us $sent 7 7.000 7"
  assert_eq 0 "$(own poisoned)"
}

# Saved in the middle of what is sent, as each write to a definition saves the statistic.
what_was_saved_is_not_counted_twice() {
  start_daemon
  send 'create web/us on=1 type=list entries_max=9' 'create web/other on=1 type=range'
  local round
  for round in {1..8}; do
    send 'web/us 5' 'web/other 3'
    define web "name=us units=bytes/samples$round"
    send 'web/us 6' 'web/other 4'
    _replace_server
  done
  assert_data web 'us 5 8' 'us 6 8' 'other 16 3 3.500 4'
}

what_was_removed_does_not_come_back() {
  start_daemon
  send 'web/gone 1' 'web/stays 2' 'away/n 3'
  assert_counts away 'n 1'
  send 'remove web/gone'
  rmdir "$STAT/away"
  _replace_server
  assert_data web 'stays 1 2 2.000 2'
  assert_eq 'tallyfs web' "$(ls "$STAT" | paste -sd' ')"
  send 'web/gone 9'
  _replace_server
  assert_data web 'stays 1 2 2.000 2' 'gone 1 9 9.000 9'
}

what_a_reset_has_discarded_does_not_come_back() {
  start_daemon
  send 'web/us 1' 'web/us 2'
  assert_counts web 'us 2'
  define web 'name=us data=reset'
  send 'web/us 5'
  _replace_server
  assert_data web 'us 1 5 5.000 5'
}

a_reload_and_then_a_kill_lose_and_double_nothing() {
  start_daemon
  send 'web/us 1' 'web/us 2'
  _reload
  send 'web/us 3'
  _replace_server
  send 'web/us 4'
  assert_data web 'us 4 1 2.500 4'
}

without_a_journal_a_killed_server_goes_on_from_the_last_save() {
  start_daemon --journal-bytes 0
  send 'web/us 5'
  assert_data web 'us 1 5 5.000 5'
  _is_kept
  _replace_server
  assert_data web 'us 1 5 5.000 5'
  assert_has_not 'journal:' "$(cat "$STDERR")"
}
