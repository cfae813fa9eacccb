# Rules: definitions for statistics that do not exist yet.

_rule() { echo "$1" >>"$MNT/rules"; }

a_rule_defines_what_comes_into_being() {
  _rule 'web/*_us type=quantiles precision=5 quantiles=50,99 on=1'
  send 'create web/latency_us' 'create web/other' 'create app/latency_us' 'web/new_us 5'
  assert_match 'name=latency_us on=1 type=quantiles .* precision=5 quantiles=50,99 .*' \
    "$(line web latency_us)"
  assert_match 'name=other on=0 type=value .*' "$(line web other)"
  assert_match 'name=latency_us on=0 type=value .*' "$(line app latency_us)"
  assert_has 'new_us count 1' "$(data web)"
}

a_rule_with_view_makes_one() {
  _rule 'web/*_us view=by_second type=history mode=range period=1000000 entries_max=300'
  send 'create web/latency_us'
  assert_match 'name=latency_us on=0 type=value .*' "$(line web latency_us)"
  assert_match 'name=latency_us_by_second of=latency_us on=1 type=history .* mode=range .*' \
    "$(line web latency_us_by_second)"
}

rules_apply_in_their_order() {
  _rule '*/x type=range'
  _rule 'web/x type=list entries_max=5 on=1'
  _rule 'we?/[xy] entries_max=7'
  send 'create web/x'
  assert_match 'name=x on=1 type=list .* entries_max=7 .*' "$(line web x)"
}

the_asterisk_does_not_cross_the_slash() {
  assert_fails_with 'Invalid argument' _rule '* type=range'
  _rule '*/x type=range'
  send 'create web/x' 'create web/xy'
  assert_match 'name=x on=0 type=range .*' "$(line web x)"
  assert_match 'name=xy on=0 type=value .*' "$(line web xy)"
}

the_file_shows_what_can_be_written_back() {
  _rule '# a comment'
  _rule 'web/a   on=1   # this one is on'
  _rule 'web/b view=v'
  assert_eq $'web/a on=1\nweb/b view=v' "$(cat "$MNT/rules")"
  assert_eq 600 "$(stat -c %a "$MNT/rules")"
  cat "$MNT/rules" >"$CASE/saved"
  cat "$CASE/saved" >"$MNT/rules"
  assert_eq "$(cat "$CASE/saved")" "$(cat "$MNT/rules")"
  echo 'web/c on=1' >"$MNT/rules"
  assert_eq 'web/c on=1' "$(cat "$MNT/rules")"
}

# _add LINE...: in one write.
_add() { printf '%s\n' "$@" >"$CASE/added" && cat "$CASE/added" >>"$MNT/rules"; }

a_wrong_line_is_refused_with_a_caret_and_the_others_stand() {
  assert_fails_with 'Invalid argument' _add 'web/a on=1' 'web/b on=maybe' 'web/c on=0'
  assert_eq $'web/a on=1\nweb/c on=0' "$(cat "$MNT/rules")"
  assert_match '.* rules:2: error: on must be 0 or 1
  Command: web/b on=maybe
                 \^' "$(errors)"
  local line
  for line in 'web on=1' 'web/x' 'web/x on' 'web/x name=y on=1' 'web/x of=y' 'web/x onn=1' \
    'web/x view=a/b' 'web/x/y on=1' 'web/x type=quantiles precision=5' \
    'web/x type=value mode=range'; do
    assert_fails_with 'Invalid argument' _rule "$line"
  done
  assert_eq $'web/a on=1\nweb/c on=0' "$(cat "$MNT/rules")"
}

# Whether the shell writes it at once or line by line.
a_replacement_that_fails_changes_nothing() {
  local was=$'web/a on=1\nweb/b on=0'
  echo "$was" >"$MNT/rules"
  assert_fails_with 'Invalid argument' \
    write_at_once "$MNT/rules" 'web/c on=1' 'web/d on=maybe' 'web/e on=1'
  assert_eq "$was" "$(cat "$MNT/rules")"
  assert_has 'rules:2: error: on must be 0 or 1; the rules stay as they were' "$(errors)"
  (
    exec 3>"$MNT/rules"
    for line in 'web/c on=1' 'web/d type=list' 'web/e on=1'; do echo "$line" >&3; done
  ) 2>"$CASE/said" || true
  assert_has 'Invalid argument' "$(cat "$CASE/said")"
  assert_eq "$was" "$(cat "$MNT/rules")"
  assert_fails_with 'Invalid argument' _rule 'web/d on=maybe'
  assert_eq "$was" "$(cat "$MNT/rules")"
  : >"$MNT/rules"
  assert_eq '' "$(cat "$MNT/rules")"
}

# One write(2), however long; cat writes what is left once more, and hears of the error.
a_replacement_with_a_line_that_is_too_long_changes_nothing() {
  local was='web/a on=1'
  echo "$was" >"$MNT/rules"
  { echo 'web/c on=1'; printf 'web/d on=1 %70000s\nweb/e on=1\n' ''; } >"$CASE/long"
  _replace() { dd if="$CASE/long" of="$MNT/rules" bs=1M; }
  assert_fails_with 'File too large' _replace
  assert_eq "$was" "$(cat "$MNT/rules")"
  assert_has 'line longer than 65536 bytes' "$(errors)"
  _replace_by_cat() { cat "$CASE/long" >"$MNT/rules"; }
  assert_fails_with 'File too large' _replace_by_cat
  assert_eq "$was" "$(cat "$MNT/rules")"
  # Good in its first 64 KiB, and too many bytes of rules in all.
  seq -f "web/%g_$(printf '%200s' '' | tr ' ' x) on=1" 600 >"$CASE/long"
  assert_fails_with 'No space left on device' _replace
  assert_eq "$was" "$(cat "$MNT/rules")"
  assert_fails_with 'No space left on device' _replace_by_cat
  assert_eq "$was" "$(cat "$MNT/rules")"
}

apply_that_would_replace_the_rules_is_refused_with_a_hint() {
  send 'create web/x'
  _rule 'web/* on=1'
  _apply_alone() { echo apply >"$MNT/rules"; }
  assert_fails_with 'Invalid argument' _apply_alone
  assert_eq 'web/* on=1' "$(cat "$MNT/rules")"
  assert_has '> replaces the rules, and there is none to apply: use >>' "$(errors)"
  assert_match 'name=x on=0 .*' "$(line web x)"
  printf 'web/* type=range\napply\n' >"$MNT/rules"
  assert_match 'name=x on=0 type=range .*' "$(line web x)"
}

# As of a statistic for each CPU, today's with labels and those of earlier versions.
a_pattern_matches_names_with_labels_and_without() {
  _rule 'timer/lateness* type=range on=1'
  send 'create timer/lateness{cpu:0}' 'create timer/lateness_cpu0' 'create timer/overruns{cpu:0}'
  assert_match 'name=lateness.cpu:0. on=1 type=range .*' "$(line timer 'lateness{cpu:0}')"
  assert_match 'name=lateness_cpu0 on=1 type=range .*' "$(line timer lateness_cpu0)"
  assert_match 'name=overruns.cpu:0. on=0 type=value .*' "$(line timer 'overruns{cpu:0}')"
}

rules_leave_the_daemon_s_own_numbers() {
  local before after
  before=$(definition tallyfs | sed 's/ data=.*//')
  _rule '*/* type=last on=0'
  _rule apply
  after=$(definition tallyfs | sed 's/ data=.*//')
  assert_eq "$before" "$after"
}

a_rule_wins_over_what_the_feeder_says_later() {
  _rule 'web/x type=range'
  send 'create web/x on=1' 'web/x 5' 'define web name=x default=1 type=list entries_max=5'
  assert_eq 'x 1 5 5.000 5' "$(data web)"
  define web 'name=x on=0'
  send 'define web name=x default=1 on=1'
  assert_match 'name=x on=0 type=range .*' "$(line web x)"
}

rules_are_not_retroactive_but_can_be_applied() {
  send 'create web/x' 'create web/y on=1'
  _rule 'web/* type=range on=1'
  assert_has 'rules: warning: what is there stays as it is, as web/x; to apply all rules to it: '\
'echo apply >> rules
  Command: web/* type=range on=1
           ^' "$(errors)"
  _rule 'web/* view=last type=last'
  assert_match 'name=x on=0 type=value .*' "$(line web x)"
  _rule apply
  echo >"$MNT/tracing/error_log"
  _add '# web/* type=last' 'web/* type=range on=1 # as it is' 'web/* view=last' 'other/* on=1'
  assert_eq '' "$(errors)"
  _add 'web/x type=last' 'web/y type=last'
  assert_eq 1 "$(grep -c 'what is there stays' <<<"$(errors)")"
  printf '%s\n' 'web/* type=range on=1' 'web/* view=last type=last' >"$MNT/rules"
  assert_match 'name=x on=1 type=range .*' "$(line web x)"
  assert_match 'name=y_last of=y on=1 type=last .*' "$(line web y_last)"
  define web 'name=y_last type=range'
  _rule apply
  assert_match 'name=y_last of=y on=1 type=last .*' "$(line web y_last)"
  assert_eq 4 "$(definition web | wc -l)"
}

a_rule_that_cannot_be_applied_leaves_the_statistic_and_is_told_once() {
  _rule 'web/* mode=range'
  send 'create web/x' 'create web/y'
  assert_match 'name=x on=0 type=value .*' "$(line web x)"
  assert_eq 1 "$(errors | grep -c 'rules, for web/x: error: mode=range is for type=history only')"
  ! errors | grep 'web/y' || fail "told twice"
}

a_rule_that_a_quota_refuses_leaves_the_statistic_and_is_told_once() {
  local own
  own=$(definition tallyfs | wc -l)
  stop_daemon
  start_daemon --uid-statistics $((own + 3)) --uid-memory 2M
  _rule 'web/* view=last type=last'
  _rule 'app/* type=raw entries_max=1000000'
  send 'create web/x on=1' 'create web/y on=1'
  assert_eq 'x x_last y' "$(definition web | sed 's/^name=\([^ ]*\).*/\1/' | paste -sd' ')"
  assert_eq 1 "$(errors | grep -c 'rules, for web/')"
  assert_has 'rules, for web/y: error: ' "$(errors)"
  rmdir "$STAT/web"
  send 'create app/x on=1' 'app/x 5'
  assert_match 'name=x on=1 type=value .*' "$(line app x)"
  assert_data app 'x 1'
  assert_has 'rules, for app/x: error: ' "$(errors)"
}

at_most_1024() {
  seq 1025 | sed 's|.*|web/x& on=1|' >"$CASE/many"
  assert_fails_with 'No space left on device' cp "$CASE/many" "$MNT/rules"
  assert_eq '' "$(cat "$MNT/rules")"
  head -1024 "$CASE/many" >"$MNT/rules"
  assert_eq 1024 "$(wc -l <"$MNT/rules")"
  assert_fails_with 'No space left on device' _rule 'web/more on=1'
}

the_file_of_the_option_is_read_at_the_start_and_at_sighup() {
  stop_daemon
  printf '%s\n' '# comment' 'web/a type=range' 'web/b on=maybe' 'web/c on=1' >"$CASE/file"
  start_daemon --rules "$CASE/file"
  assert_match ".*$CASE/file:3: on must be 0 or 1
.*  web/b on=maybe
.*        \^
.*2 rules read from $CASE/file, 2 new, 0 gone, 1 line refused" \
    "$(grep -A3 "$CASE/file:3" "$STDERR")"
  assert_eq $'web/a type=range\nweb/c on=1' "$(cat "$MNT/rules")"
  _rule 'web/d on=1'
  echo 'web/e on=1' >"$CASE/file"
  kill -HUP "$DAEMON"
  wait_until '[ "$(cat "$MNT/rules" | paste -sd+)" = "web/e on=1+web/d on=1" ]'
  wait_until 'grep -qF "1 rule read from $CASE/file, 1 new, 2 gone, 0 lines refused" "$STDERR"'
}

the_file_of_the_option_is_read_at_sighup_under_nohup_too() {
  stop_daemon
  echo 'web/a type=range' >"$CASE/file"
  trap '' HUP
  start_daemon --rules "$CASE/file"
  trap - HUP
  echo 'web/e on=1' >"$CASE/file"
  kill -HUP "$DAEMON"
  wait_until '[ "$(cat "$MNT/rules")" = "web/e on=1" ]'
}

a_rule_says_help() {
  _rule 'web/*_us help=Time%20in%20microseconds'
  send 'web/render_us 5' 'create web/query_us help=Time' 'web/hits 1'
  assert_attribute web render_us help Time%20in%20microseconds
  assert_attribute web query_us help Time%20in%20microseconds
  assert_attribute web hits help ''
}

a_rule_that_makes_a_list_makes_it_decimal() {
  _rule 'web/* type=list entries_max=9'
  _rule 'web/*_hex base=16'
  send 'web/sizes 4096' 'web/sizes_hex 4096'
  assert_data web 'sizes 4096 1' 'sizes_hex 0x1000 1'
  assert_eq 'web/* type=list entries_max=9' "$(head -1 "$MNT/rules")"
}

a_rule_says_units() {
  _rule 'web/*_us units=microseconds/requests'
  send 'web/render_us 5' 'create web/query_us units=us' 'create web/hits units=requests'
  assert_attribute web render_us units microseconds/requests
  assert_attribute web query_us units microseconds/requests
  assert_attribute web hits units requests
}

the_examples_that_are_shipped_are_right() {
  local file=$here/../../packaging/rules
  stop_daemon
  sed 's/^#\([^ ]\)/\1/' "$file" >"$CASE/file"
  start_daemon --rules "$CASE/file"
  assert_eq '' "$(grep -F "$CASE/file:" "$STDERR" || true)"
  assert_eq "$(grep -c '^#[^ ]' "$file")" "$(wc -l <"$MNT/rules")"
  send 'create block-sda/latencies_read' 'create web/latency_us' 'create room/temperature_c'
  assert_match 'name=latencies_read_range of=latencies_read on=1 type=history .*' \
    "$(line block-sda latencies_read_range)"
  assert_match 'name=temperature_c on=0 type=last .*' "$(definition room)"
  stop_daemon
  start_daemon --rules "$file"
  assert_eq '' "$(cat "$MNT/rules")"
}
