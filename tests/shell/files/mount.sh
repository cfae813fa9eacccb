# What the mount looks like.

_set_up() { :; }
_options() { awk -v point="$MNT" '$2 == point { print $4 }' /proc/mounts; }

has_the_default_options() {
  local option
  start_daemon
  for option in nosuid nodev noexec default_permissions; do
    assert_has ",$option," ",$(_options),"
  done
  assert_has_not allow_other "$(_options)"
}

keeps_them_whatever_is_asked_for() {
  local option
  start_daemon -o suid,dev,exec
  for option in nosuid nodev noexec default_permissions; do
    assert_has ",$option," ",$(_options),"
  done
}

allow_other_comes_on_request() {
  need_root
  start_daemon -o allow_other
  assert_has ',allow_other' "$(_options)"
  assert_has 'statistics' "$(as_nobody ls "$MNT")"
}

without_it_others_see_nothing() {
  need_root
  start_daemon
  assert_fails as_nobody ls "$MNT"
}

files_have_the_modes_of_the_seed_and_belong_to_the_mounting_user() {
  start_daemon
  send 'web/a 1'
  assert_eq "755 $(id -u) $(id -g) directory" "$(stat -c '%a %u %g %F' "$STAT/web")"
  assert_eq "600 $(id -u) $(id -g) regular file" "$(stat -c '%a %u %g %F' "$STAT/web/definition")"
  assert_match "400 $(id -u) $(id -g) regular (empty )?file" \
    "$(stat -c '%a %u %g %F' "$STAT/web/data")"
}

has_the_directories_of_the_design() {
  start_daemon
  assert_eq 'errors.json metrics rules statistics statistics.json tracing' \
    "$(ls "$MNT" | grep -v '^stats$' | paste -sd' ')"
  assert_eq tallyfs "$(ls "$STAT")"
  [ -f "$MNT/tracing/error_log" ]
}

df_and_statfs_say_zeros() {
  start_daemon
  df "$MNT" >/dev/null
  (cd "$MNT" && df . >/dev/null)
  assert_eq '0 0 0 0 0' "$(stat -f -c '%b %f %a %c %d' "$MNT")"
  df -i "$MNT" >/dev/null
}

times_are_of_this_day() {
  local file
  start_daemon
  for file in "$MNT" "$STAT" "$MNT/tracing/error_log" "$STAT/tallyfs/data"; do
    [ $(($(date +%s) - $(stat -c %Y "$file"))) -lt 100 ] || fail "$file is of $(stat -c %y "$file")"
  done
}

find_and_du_and_ls_walk_it() {
  start_daemon
  send 'web/a 1'
  find "$MNT" -type f >/dev/null
  du -a "$MNT" >/dev/null
  ls -laR "$MNT" >/dev/null
}

a_slow_reader_hinders_no_other() {
  start_daemon
  send 'web/a 1'
  exec 8<"$STAT/web/data" 9>"$STAT/web/definition"
  define web 'on=0'
  send 'web/a 1' 'web/b 1'
  assert_counts web 'a 1' 'b 1'
  assert_eq 'a 1 1 1.000 1' "$(cat <&8)"
  exec 8<&- 9>&-
}

# Otherwise any user could keep the daemon rendering.
a_user_that_may_not_read_a_file_does_not_learn_its_size() {
  need_root
  start_daemon -o allow_other
  send 'web/hits 1'
  assert_eq 17 "$(stat -c %s "$MNT/statistics/web/data")"
  assert_eq 0 "$(as_nobody stat -c %s "$MNT/statistics/web/data")"
}
