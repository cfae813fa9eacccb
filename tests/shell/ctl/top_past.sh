# tallyctl top of a store: it plays, seeks and changes its speed.

. ./ctl/_past.sh
. ./ctl/_tmux.sh

_sql_write() { sqlite3 "$STORE/past.sqlite" "$1"; }
# _minutes N: the store has what was recorded in each of N minutes before, too.
_minutes() {
  _sql_write "WITH RECURSIVE n(k) AS (SELECT 1 UNION SELECT k+1 FROM n
    WHERE k<$1) INSERT INTO block SELECT NULL, tier, begin_us-60000000*k, end_us-60000000*k,
    first_series, last_series, data FROM block, n"
}
# The second of the day that is shown.
_at() {
  date -u -d "1970-01-01 $(_screen | sed -nE 's/.*\] .* at ([0-9:]{8}) .*/\1/p')" +%s
}
_at_is() { [ "$(_at 2>/dev/null)" "$1" "$2" ] 2>/dev/null; }

a_store_is_played_and_sought_in() {
  _need_terminal
  _record
  local i begin
  for i in 1 2 3 4; do
    send 'web/hits 1' 'web/hits 1'
    _next_second
  done
  _end_recorder
  _minutes 20
  # Without midnight within.
  [ "$(date +%H)" != 00 ] || skip 'the day is too young'
  _open 140 30
  _keys "TALLY_STORE=$STORE TZ=UTC $TALLYCTL top --last 21m" Enter
  _sees ' x1 '
  _sees "$STORE"
  _sees 'web'
  _keys Space
  _sees 'paused'
  begin=$(_at)
  _keys t
  wait_until "_at_is -ge $((begin + 55))"
  _keys t t t
  wait_until "_at_is -ge $((begin + 235))"
  _keys T
  wait_until "_at_is -lt $((begin + 235))"
  # No further than the begin.
  for i in 1 2 3 4 5 6 7 8; do _keys T; done
  wait_until "_at_is -le $((begin + 5))"
  _keys '>'
  _sees ' x2 '
  _keys '<' '<'
  _sees ' x1 '
  _keys Space
  _sees_not 'paused'
  wait_until "_at_is -ge $((begin + 60))"
  _keys q
  _sees_not ' x1 '
  _close
}

interfaces_are_shown_beside_their_rates_in_another_span() {
  _need_terminal
  _record
  send 'web/hits 1' 'web/hits 1'
  _next_second
  _end_recorder
  _minutes 9
  [ "$(date +%H)" != 00 ] || skip 'the day is too young'
  local minute
  minute=$(date -u -d '-5 min' +%H:%M)
  assert_fails_with '--vs before needs a span' "$TALLYCTL" top --vs before
  assert_fails_with 'nothing of the span' "$TALLYCTL" top --vs 2001-01-01T12:00+1m
  _open 140 30
  # On the mount nothing is sent now.
  _keys "TALLY_STORE=$STORE TALLY_MOUNT=$MNT TZ=UTC $TALLYCTL top --vs $minute" Enter
  _sees ' VS INTERFACE'
  _sees " $minute:00 to "
  wait_until "_screen | grep -qE ' silent +web '"
  _keys s s
  _sees 'VS▼'
  _keys s
  _sees 'RATE▼'
  _keys q
  _sees_not 'before: '
  _keys "clear; TALLY_STORE=$STORE TZ=UTC $TALLYCTL top --at $minute --vs before" Enter
  _sees ' x1  before: '
  _keys q
  _sees_not ' x1 '
  _close
}

# _records_seconds LINE...: a store of four seconds, in each of which the lines were sent.
_records_seconds() {
  local i
  _record
  for i in 1 2 3 4; do
    send "$@"
    _next_second
  done
  _end_recorder
}

a_map_on_a_mount_begins_with_the_store() {
  _need_terminal
  _records_seconds 'web/us 500' 'web/us 900'
  _open 140 30
  # Nothing is sent any more: what the map has is of the store.
  _keys "NO_COLOR=1 TALLY_STORE=$STORE TALLY_MOUNT=$MNT $TALLYCTL top" Enter
  _sees 'INTERFACE'
  _keys / web Enter
  wait_until "_screen | grep -q '│[^│]*[░▒▓█]'"
  _sees 'counts 1 '
  _keys q
  _sees_not 'INTERFACE'
  # Of another mount than that of the service no store is known.
  _keys "clear; env -u TALLY_STORE NO_COLOR=1 TALLY_MOUNT=$MNT $TALLYCTL top" Enter
  _sees 'INTERFACE'
  _keys / web Enter
  _sees 'web/us  quantiles'
  _sees '└──'
  _sees 'no past is recorded: tallyctl record --store DIR'
  assert_eq '' "$(_screen | grep '│[^│]*[░▒▓█]' || true)"
  _keys q
  _sees_not 'INTERFACE'
  _keys "clear; TALLY_STORE=$CASE/none NO_COLOR=1 TALLY_MOUNT=$MNT $TALLYCTL top" Enter
  _sees 'INTERFACE'
  _keys / web Enter
  _sees 'no past is recorded in '
  _keys q
  _sees_not 'INTERFACE'
  mkdir "$CASE/damaged"
  echo damaged >"$CASE/damaged/past.sqlite"
  _keys "clear; TALLY_STORE=$CASE/damaged TALLY_MOUNT=$MNT $TALLYCTL top" Enter
  _sees 'no past of the map: '
  _keys q
  _sees_not 'INTERFACE'
  _close
}

# The reader reads a past once: a paused screen must not lose it.
a_paused_map_has_its_past() {
  _need_terminal
  send 'create web/late_us type=quantiles precision=5 quantiles=50,99 on=1'
  _records_seconds 'web/us 500' 'web/late_us 900'
  _open 140 30
  _keys "NO_COLOR=1 TALLY_STORE=$STORE TALLY_MOUNT=$MNT $TALLYCTL top" Enter
  _sees 'INTERFACE'
  _keys / web Enter
  _sees 'web/us  quantiles'
  wait_until "_screen | grep -q '│[^│]*[░▒▓█]'"
  _keys Space
  _sees 'paused'
  # The one before the first is the last.
  _keys Left
  _sees 'web/late_us  quantiles'
  wait_until "_screen | grep -q '│[^│]*[░▒▓█]'"
  _sees 'paused'
  _keys q
  _sees_not 'INTERFACE'
  _close
}

damaged_blocks_are_named() {
  _need_terminal
  # Without midnight within.
  [ "$(date +%H)" != 00 ] || skip 'the day is too young'
  _record
  send 'web/hits 1'
  _next_second
  _end_recorder
  _minutes 9
  _sql_write "UPDATE block SET data=substr(data, 1, length(data) - 3) WHERE id IN
    (SELECT id FROM block WHERE tier=0 ORDER BY begin_us LIMIT 3)"
  _open 140 30
  _keys "TALLY_STORE=$STORE TZ=UTC $TALLYCTL top --last 21m" Enter
  _sees 'damaged in the store'
  _keys q
  _sees_not 'damaged in the store'
  # Beside the other span, in whose time nothing is damaged.
  _keys "clear; TALLY_STORE=$STORE TZ=UTC $TALLYCTL top --last 21m --vs $(
    date -u -d '-5 min' +%H:%M)" Enter
  wait_until "_screen | grep -q 'compared with: .*damaged in the store'"
  _keys q
  _sees_not 'compared with: '
  _close
}

a_mount_and_a_recording_are_not_sought_in() {
  need tmux
  export LC_ALL=C.UTF-8
  unset TMUX NO_COLOR
  _open 140 30
  _keys "TALLY_MOUNT=$MNT $TALLYCTL top" Enter
  _sees 'INTERFACE'
  _keys t
  _sees 'only a store is sought in'
  _keys '>'
  _sees 'a mount has one speed'
  _keys q
  _close
  assert_fails_with '--from of a recording' "$TALLYCTL" top --last 5m --from x
  assert_fails_with '--store needs the time' "$TALLYCTL" top --store "$STORE"
}
