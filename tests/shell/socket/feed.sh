# The uids that may feed an interface: feed=any, or feed=owner.
. ./client/_probe.sh
. ./client/_lane.sh

_set_up() {
  need_root
  start_daemon -o allow_other
  chmod 755 "$CASE" "$CASE/run"
}
_send() { "$TALLY_SEND" --socket "$SOCK" "$@"; }
# A copy of a program, and a script that runs it with uid 65534.
_as_nobody() {
  mkdir -p "$CASE/bin"
  install -m 755 "$(command -v "$1")" "$CASE/bin"
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s" "$@"\n' \
    "$CASE/bin/${1##*/}" >"$CASE/bin/nobodys-${1##*/}"
  chmod 755 "$CASE/bin/nobodys-${1##*/}"
}
_nobody_sends() {
  [ -x "$CASE/bin/nobodys-tally-send" ] || _as_nobody "$TALLY_SEND"
  "$CASE/bin/nobodys-tally-send" --socket "$SOCK" "$@"
}
_json() {
  grep -o "\"interface\":\"$1\".*" "$MNT/statistics.json" | grep -o '"uid":[^}]*' | head -n1
}

samples_and_requests_of_others_are_refused() {
  local rejects
  _send 'create web feed=owner' 'create web/hits on=1' 'web/hits 1'
  assert_eq '"uid":0,"feed":"owner"' "$(_json web)"
  assert_has '"uid":0,"feed":"owner","statistics":' "$(cat "$STAT/web/data.json")"
  rejects=$(own rejects)
  assert_fails_with 'the interface belongs to uid 0; only it or root may feed it (feed=owner)' \
    _nobody_sends 'web/hits 5'
  assert_fails_with 'may feed it (feed=owner)' _nobody_sends 'create web/hits'
  assert_fails_with 'may feed it (feed=owner)' _nobody_sends 'attach web/hits'
  assert_fails_with 'belongs to uid 0' _nobody_sends 'create web/other'
  assert_fails_with 'belongs to uid 0' _nobody_sends 'define web feed=any'
  assert_counts web 'hits 1'
  assert_eq $((rejects + 5)) "$(own rejects)" rejects
  # Others' interfaces are fed as before, in the same datagram, too.
  printf 'nobodys/a 1\nweb/hits 7\nnobodys/a 1\n' >"$CASE/lines"
  assert_fails_with '(feed=owner)' _nobody_sends <"$CASE/lines"
  assert_counts nobodys 'a 2'
  assert_counts web 'hits 1'
}

root_and_the_owner_feed_and_the_owner_decides() {
  _nobody_sends 'create web feed=owner' 'create web/hits on=1' 'web/hits 1'
  assert_eq '"uid":65534,"feed":"owner"' "$(_json web)"
  _send 'web/hits 2'
  assert_counts web 'hits 2'
  _nobody_sends 'define web feed=any'
  assert_eq '"uid":65534,"feed":"any"' "$(_json web)"
  _send 'define web feed=owner'
  assert_has 'feed=any and stays so' "$(_send 'create nobodys' 'create nobodys feed=owner' 2>&1)"
  assert_has 'feed=owner and stays so; to change it: define web feed=any' \
    "$(_nobody_sends 'create web feed=any' 2>&1)"
  assert_eq '"uid":65534,"feed":"owner"' "$(_json web)"
}

# refuse TEXT LINE
_refuses() { assert_fails_with "$1" _send "$2"; }

feed_is_of_the_interface_alone() {
  _send 'create web/hits on=1'
  _refuses 'feed must be any or owner' 'define web feed=all'
  _refuses 'feed must be any or owner' 'create new feed=all'
  _refuses 'feed is given twice' 'create new feed=any feed=any'
  _refuses 'feed is of the interface' 'define web/hits feed=owner'
  _refuses 'feed is of the interface' 'define web feed=owner on=1'
  _refuses 'feed is of the interface' 'create web/a feed=owner'
  _refuses 'feed is of the interface' 'create web/v of=hits feed=owner'
  _refuses "the daemon's own numbers" 'define tallyfs feed=any'
  assert_fails_with 'Invalid argument' define web 'name=hits feed=owner'
  assert_fails_with 'Invalid argument' put 'web/* feed=owner' "$MNT/rules"
  assert_eq '"uid":0,"feed":"any"' "$(_json web)"
  assert_eq hits "$(definition web | cut -d' ' -f1 | cut -d= -f2)"
}

what_cells_of_others_hold_counts_until_then() {
  _as_nobody "$TALLY_PROBE"
  _send 'create web/hits on=1'
  TALLY_PROBE=$CASE/bin/nobodys-tally-probe start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000'
  wait_until '_in_cells hits'
  local before rejects
  before=$(data web | cut -d' ' -f2)
  ok 'inc hits 3'
  _send 'define web feed=owner'
  assert_counts web "hits $((before + 3))"
  rejects=$(own rejects)
  ok 'inc hits 4'
  assert_counts web "hits $((before + 3))"
  # What they add then is counted as refused.
  wait_until '[ "$(own rejects)" = $((rejects + 4)) ]'
  _send 'web/hits 1'
  assert_counts web "hits $((before + 4))"
  # Another look, after the end of the feeder, finds no more, and all that was refused.
  ok 'inc hits 5'
  end_probe
  wait_until '[ "$(own lanes)" = 0 ]'
  assert_counts web "hits $((before + 4))"
  wait_until '[ "$(own rejects)" = $((rejects + 9)) ]'
  TALLY_PROBE=$CASE/bin/nobodys-tally-probe start_probe
  ok 'interface web' 'statistic web hits'
  tell 'sync 5000'
  assert_has EPERM "$SAID"
}

records_in_rings_of_others_count_until_then() {
  _as_nobody "$TALLY_PROBE"
  _send 'create web/last type=last on=1' 'create web/hits on=1' \
    'create web/v of=hits'
  TALLY_PROBE=$CASE/bin/nobodys-tally-probe start_probe
  ok 'interface web' 'statistic web hits' 'sync 5000'
  ok 'inc hits 1' 'sync 5000'
  wait_until 'ok "inc hits 1" "sync 5000"; [ "$(own ring_samples)" -gt 0 ]'
  ok 'inc hits 5'
  _send 'define web feed=owner'
  local before rejects
  before=$(counts web) rejects=$(own rejects)
  ok 'inc hits 4' 'sync 5000'
  assert_eq "$before" "$(counts web)"
  [ "$(own rejects)" -gt "$rejects" ] || fail 'the samples were not counted as refused'
}

it_is_kept_by_the_state_and_in_a_reload() {
  stop_daemon
  start_daemon -o allow_other --state "$CASE/state"
  chmod 755 "$CASE" "$CASE/run"
  _nobody_sends 'create web feed=owner' 'create web/hits on=1' 'web/hits 1'
  _send 'create open/a on=1'
  stop_daemon
  start_daemon -o allow_other --state "$CASE/state"
  assert_eq '"uid":65534,"feed":"owner"' "$(_json web)"
  assert_eq '"uid":0,"feed":"any"' "$(_json open)"
  "$TALLYFS" --reload "$MNT"
  SERVER=$(server_of "$DAEMON")
  assert_eq '"uid":65534,"feed":"owner"' "$(_json web)"
  assert_counts web 'hits 1'
}

a_library_makes_it_so_and_tallyctl_lists_and_changes_it() {
  local ctl=${TALLY_BIN:+$TALLY_BIN/}tallyctl
  _as_nobody "$TALLY_PROBE"
  TALLY_PROBE=$CASE/bin/nobodys-tally-probe start_probe
  ok 'interface web owner' 'statistic web hits' 'start hits' 'inc hits 2' 'sync 5000'
  _send 'create open'
  assert_eq 'web 1 1 2 65534 owner,open 0 0 0 0 any' "$("$ctl" ls -l --mount "$MNT" --no-header |
    grep -v tallyfs | awk '{ $1 = $1 } 1' | paste -sd,)"
  "$ctl" define --mount "$MNT" web feed=any
  assert_eq '"uid":65534,"feed":"any"' "$(_json web)"
  "$ctl" create --mount "$MNT" other feed=owner
  assert_eq '"uid":0,"feed":"owner"' "$(_json other)"
  assert_fails_with 'feed must be any or owner' "$ctl" define --mount "$MNT" web feed=none
}
