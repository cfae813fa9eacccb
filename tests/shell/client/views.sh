# statistic_create_view() of libtally, against a real daemon.
. "$(dirname "${BASH_SOURCE[0]}")/_probe.sh"

_line() { line web "$1" | sed 's/ range_min.*//'; }

a_program_makes_views_of_its_statistics() {
  web_hits
  ok 'view hits last' 'define last last' 'view hits off' 'stop off' 'inc hits 5' 'sync 5000'
  assert_match 'hits 5
last \[[0-9.]+\] 4
off 0' "$(data web)"
  assert_eq 'name=last of=hits on=1 type=last' "$(_line last)"
  assert_eq 'name=off of=hits on=0 type=value' "$(_line off)"
  ok 'reset last' 'start off' 'inc hits 3' 'sync 5000'
  assert_match 'hits 8
last \[[0-9.]+\] 2
off 3' "$(data web)"
  ok 'remove last' 'sync 5000'
  assert_data web 'hits 8' 'off 3'
  end_probe
}

a_view_of_a_source_that_is_off_has_all_since_its_creation() {
  start_probe
  ok 'interface web' 'statistic web hits' 'inc hits 3' 'view hits v' 'inc hits 5' 'stop hits' \
    'inc hits 5' 'sync 5000'
  assert_data web 'hits 0' 'v 10'
  ok 'start hits' 'inc hits 1' 'stop hits' 'inc hits 2' 'sync 5000'
  assert_data web 'hits 1' 'v 13'
  end_probe
}

a_view_of_a_source_that_the_daemon_knows_has_all_since_its_creation() {
  start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000'
  said 0 'on hits'
  ok 'view hits v' 'inc hits 5' 'sync 5000'
  assert_data web 'hits 0' 'v 5'
  ok 'start hits' 'sync 5000' 'inc hits 7' 'view hits w' 'inc hits 2' 'sync 5000'
  assert_data web 'hits 9' 'v 14' 'w 2'
  end_probe
}

samples_given_to_a_view_are_ignored_and_hold_nothing_back() {
  web_hits
  ok 'view hits v' 'inc v 1' 'inc hits 100' 'start v' 'inc v 7' 'sync 5000' 'inc v 3' 'sync 5000'
  said 0 'on v'
  assert_data web 'hits 100' 'v 100'
  assert_eq 100 "$(count_of confirmed)"
  assert_eq 0 "$(count_of held)"
  assert_balanced
  end_probe
}

what_can_have_no_view_is_refused_and_can_be_fed_all_the_same() {
  web_hits
  ok 'view hits v'
  said EINVAL 'view v w'
  said EEXIST 'view hits v'
  said EEXIST 'view hits hits'
  said EINVAL 'view hits a/b'
  said EINVAL 'view nothing w'
  ok 'inc hits 2' 'sync 5000'
  assert_data web 'hits 2' 'v 2'
  end_probe
}

# By whatever program, and as users have defined them.
a_program_that_comes_back_finds_its_views() {
  web_hits
  ok 'view hits v' 'define v last' 'inc hits 5' 'sync 5000'
  end_probe
  define web 'name=v type=range'
  define web 'name=v on=0'
  web_hits
  ok 'view hits v' 'define v last' 'sync 5000' 'start v' 'inc hits 2' 'sync 5000'
  assert_eq 'name=v of=hits on=0 type=range' "$(_line v)"
  assert_data web 'hits 7' 'v 0 0 0.000 0'
  end_probe
}

what_is_removed_in_the_tree_takes_its_views_along_for_good() {
  web_hits
  ok 'view hits v' 'inc hits 1' 'sync 5000'
  rmdir "$STAT/web"
  # The program finds out within a second.
  wait_until 'tell "inc hits 1"; tell "sync 5000"; [ -e "$STAT/web/definition" ]'
  assert_eq 'name=hits on=1 type=value' "$(definition web | sed 's/ range_min.*//')"
  end_probe
}

a_rule_wins_over_what_the_program_says_later() {
  echo 'web/hits type=range' >>"$MNT/rules"
  start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000' 'define hits list' 'start hits' 'inc hits 2' \
    'sync 5000'
  assert_eq 'name=hits on=1 type=range' "$(_line hits)"
  define web 'name=hits on=0'
  define web 'name=hits type=value mode=increments'
  ok 'define hits list' 'sync 5000'
  assert_eq 'name=hits on=0 type=value' "$(_line hits)"
  end_probe
}
