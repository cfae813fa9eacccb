# Blobs that a program publishes with libtally, and sample rates that reach it. The probe is
# tests/client/stats_probe.c.
. ./client/_probe.sh

_blobs() { data tallyfs | sed -n 's/^blobs //p'; }
_json() { cat "$MNT/stats/$1.json"; }

the_first_blob_is_shown_with_its_names() {
  start_stats_probe
  ok 'template T 2' 'blob b T' 'update b 7' 'publish web total b' 'sync 5000'
  assert_match '"T":[0-9]+' "$(cat "$MNT/stats/templates")"
  assert_match '\{"tplname":"T","tplhash":[0-9]+,"vois":\{"x0":\{"stats":\{"SUM":\{"errs":0,"val":7\},"MAX":\{"errs":0,"val":7\}\}\},"x1":.*' "$(_json web/total)"
  assert_has 'voistatdata: 7' "$(cat "$MNT/stats/web/total")"
}

nothing_is_published_without_demand() {
  start_stats_probe
  ok 'template T' 'blob b T' 'publish web total b' 'sync 5000'
  local i before
  before=$(_blobs)
  for i in {1..20}; do ok 'update b 1' 'publish web total b'; done
  assert_eq "$before" "$(_blobs)" "blobs taken in"
  cat "$MNT/stats/web/total" >"$CASE/text"
  ok 'update b 1' 'publish web total b'
  assert_eq $((before + 1)) "$(_blobs)" "blobs taken in, of one that was asked for"
  assert_has '"val":21' "$(_json web/total)"
}

the_last_blob_is_shown_after_a_sync_and_after_the_end() {
  start_stats_probe
  ok 'template T' 'blob b T' 'publish web total b' 'sync 5000'
  local i before
  before=$(_blobs)
  for i in {1..20}; do ok 'update b 1' 'publish web total b'; done
  ok 'sync 5000' 'sync 5000'
  assert_eq $((before + 1)) "$(_blobs)" "blobs taken in"
  assert_has '"val":20' "$(_json web/total)"
  end_probe
  at_an_end _publish_20 end_probe '_has 20 web/other$N && _has 20 web/held$N'
}
_publish_20() {
  start_stats_probe
  ok 'template T' 'blob b T' "publish web other$N b" "object web held$N" \
    "publish-object web/held$N b" 'sync 5000'
  for i in {1..20}; do ok 'update b 1' "publish web other$N b" "publish-object web/held$N b"; done
  ok "last web/held$N b"
}
_has() { [[ $(_json "$2" 2>&1) == *"\"val\":$1"* ]]; }  # _has VALUE OBJECT

null_pointers_are_refused() {
  start_stats_probe
  ok 'template T' 'blob b T' 'nulls b'
}

a_feeder_may_publish_always() {
  start_stats_probe
  ok 'template T' 'blob b T' 'object web total always' 'publish-object web/total b' 'sync 5000'
  local i
  for i in {1..5}; do ok 'update b 1' 'publish-object web/total b'; done
  assert_eq 6 "$(_blobs)"
  assert_has '"val":5' "$(_json web/total)"
}

an_object_goes_when_its_feeder_removes_it() {
  start_stats_probe
  ok 'template T' 'blob b T' 'publish web a b' 'publish web c b' 'object web d' \
    'publish-object web/d b' 'sync 5000'
  assert_eq 'a a.json c c.json d d.json sample_rates' \
    "$(ls "$MNT/stats/web" | tr '\n' ' ' | sed 's/ $//')"
  ok 'withdraw web a' 'remove web/d' 'sync 5000'
  assert_eq 'c c.json sample_rates' "$(ls "$MNT/stats/web" | tr '\n' ' ' | sed 's/ $//')"
  said ENOENT 'withdraw web a'
  ok 'publish web a b' 'sync 5000'
  assert_has '"tplname":"T"' "$(_json web/a)"
  ok 'withdraw web' 'sync 5000'
  assert_eq templates "$(ls "$MNT/stats")"
}

what_a_user_removes_stays_away_until_it_is_made_anew() {
  start_stats_probe
  ok 'template T' 'blob b T' 'publish web total b' 'sync 5000'
  cat "$MNT/stats/web/total" >"$CASE/text"
  rm "$MNT/stats/web/total"
  said ENOENT 'publish web total b'
  assert_eq sample_rates "$(ls "$MNT/stats/web")"
  ok 'withdraw web total' 'publish web total b' 'sync 5000'
  assert_has '"tplname":"T"' "$(_json web/total)"
}

rates_reach_a_feeder_without_a_restart() {
  start_stats_probe
  ok 'template A' 'template B' 'follow web A 10' 'sync 5000'
  said 'A=10' rates
  assert_match '"A":[0-9]+=10' "$(cat "$MNT/stats/web/sample_rates")"
  echo 'A=0,B=100' >"$MNT/stats/web/sample_rates"
  _has_rates() { tell rates; [ "$SAID" = "$1" ]; }
  wait_until '_has_rates "A=0 B=100"'
  said 1000 'roll 1000'
  said 1 'seed conn-1'
  echo >"$MNT/stats/web/sample_rates"
  wait_until '_has_rates ""'
  said 0 'roll 1000'
  said -1 'seed conn-1'
  assert_fails_with 'No such process' put 'C=1' "$MNT/stats/web/sample_rates"
}

rates_in_force_reach_a_feeder_that_comes_later() {
  start_stats_probe
  ok 'template A' 'follow web A 10' 'sync 5000'
  echo 'A=77' >"$MNT/stats/web/sample_rates"
  end_probe
  start_stats_probe
  ok 'template A' 'follow web A 10' 'sync 5000'
  _has_rates() { tell rates; [ "$SAID" = "$1" ]; }
  wait_until '_has_rates "A=77"'
}

rates_for_a_name_hold_after_an_upgrade() {
  start_stats_probe
  ok 'template A' 'follow web A 10' 'sync 5000'
  local before
  before=$(cat "$MNT/stats/templates")
  echo 'A=77' >"$MNT/stats/web/sample_rates"
  end_probe
  start_stats_probe
  ok 'template A 2' 'follow web A 10' 'sync 5000'
  _has_rates() { tell rates; [ "$SAID" = "$1" ]; }
  wait_until '_has_rates "A=77"'
  [ "$before" != "$(cat "$MNT/stats/templates")" ] || fail "the old template is listed: $before"
  assert_eq "$(cat "$MNT/stats/templates")=77" "$(cat "$MNT/stats/web/sample_rates")"
  echo "$before=5" >"$MNT/stats/web/sample_rates"
  wait_until '_has_rates ""'
  assert_has 'stats/web: warning: no running feeder has this template' "$(errors)"
}

rates_that_a_feeder_refuses_stand_in_the_error_log() {
  start_stats_probe
  ok 'template A' 'follow web A 10' 'refuse 28' 'sync 5000'
  echo 'A=77' >"$MNT/stats/web/sample_rates"
  _is_told() { errors | grep -q 'does not take these rates: No space left on device'; }
  wait_until '_is_told'
  assert_has "stats/web: error: process $PROBE does not take" "$(errors)"
  said 'A=10' rates
}

another_daemon_gets_all_of_it_anew() {
  start_stats_probe
  ok 'template A' 'follow web A 10' 'blob b A' 'update b 3' 'publish web total b' 'sync 5000'
  echo 'A=20' >"$MNT/stats/web/sample_rates"
  _has_rates() { tell rates; [ "$SAID" = "$1" ]; }
  wait_until '_has_rates "A=20"'
  stop_daemon
  tell 'publish web total b'
  start_daemon
  # A publication at the least, once it has been heard of.
  _published() { tell 'publish web total b'; [ -s "$MNT/stats/web/total" ]; } 2>/dev/null
  wait_until '_published'
  assert_has '"val":3' "$(_json web/total)"
  assert_match '"A":[0-9]+=20' "$(cat "$MNT/stats/web/sample_rates")"
}

a_daemon_that_comes_late_gets_the_last_blob() {
  stop_daemon
  start_stats_probe
  ok 'template T' 'blob b T' 'publish web total b' 'update b 5' 'publish web total b'
  start_daemon
  wait_until '[ -s "$MNT/stats/web/total" ]'
  assert_has '"val":5' "$(_json web/total)"
}

a_program_that_ends_at_once_leaves_its_blob() {
  at_an_end 'start_stats_probe; ok "template T" "blob b T" "update b 5" "publish web total$N b"' \
    end_probe '_has 5 web/total$N'
}

a_child_publishes_for_itself() {
  start_stats_probe
  ok 'template T' 'blob b T' 'publish web total b' 'sync 5000' 'become-child' 'update b 9' \
    'publish web mine b' 'sync 5000'
  assert_has '"val":9' "$(_json web/mine)"
}

an_object_is_of_one_process_as_long_as_that_runs() {
  start_stats_probe
  ok 'template T' 'blob b T' 'update b 7' 'publish web total b' 'sync 5000' 'become-child' \
    'update b 2'
  _refused() { tell 'publish web total b'; [ "$SAID" = EEXIST ]; }
  cat "$MNT/stats/web/total" >"$CASE/text"
  wait_until '_refused'
  assert_has '"val":7' "$(_json web/total)"
  ok 'publish web mine b' 'withdraw web' 'sync 5000'
  assert_eq 'sample_rates total total.json' "$(ls "$MNT/stats/web" | tr '\n' ' ' | sed 's/ $//')"
}

what_goes_with_its_feeder_goes_when_that_is_killed() {
  start_stats_probe
  ok 'template T' 'blob b T' 'object web a feeder' 'object web b' 'publish-object web/a b' \
    'publish-object web/b b' 'sync 5000'
  assert_eq 'a a.json b b.json sample_rates' "$(ls "$MNT/stats/web" | tr '\n' ' ' | sed 's/ $//')"
  kill -9 "$PROBE"
  wait_until '! [ -e "$MNT/stats/web/a" ]'
  assert_eq 'b b.json sample_rates' "$(ls "$MNT/stats/web" | tr '\n' ' ' | sed 's/ $//')"
}

rates_of_a_feeder_replace_its_earlier_ones() {
  start_stats_probe
  ok 'template A' 'follow web A 10' 'sync 5000'
  end_probe
  start_stats_probe
  ok 'template A' 'follow web A 20' 'sync 5000'
  assert_match '"A":[0-9]+=20' "$(cat "$MNT/stats/web/sample_rates")"
}

a_subsystem_that_is_withdrawn_leaves_handles_to_the_program() {
  start_stats_probe
  ok 'template T' 'blob b T' 'object web a' 'publish-object web/a b' 'sync 5000'
  said ENOENT 'withdraw web a'
  ok 'withdraw web'
  said ENOENT 'publish-object web/a b'
  ok 'remove web/a' 'object web a' 'publish-object web/a b' 'sync 5000'
  assert_has '"tplname":"T"' "$(_json web/a)"
}

bad_names_and_blobs_are_told_at_once() {
  start_stats_probe
  ok 'template T' 'blob b T'
  said EINVAL 'publish web sample_rates b'
  said EINVAL 'publish templates a b'
  said EINVAL 'publish web a.json b'
  said EINVAL 'publish we=b a b'
  said EINVAL 'publish web a none'
  said EEXIST 'template T'
  ok 'object web a'
  said EEXIST 'object web a'
}
