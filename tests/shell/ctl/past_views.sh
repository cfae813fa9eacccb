# Views in a store: their past is read like that of any statistic, though most of it is their
# source's alone.

. ./ctl/_past.sh

# Views that the store has of their source, of a quantiles statistic, and some that it has not.
_make_views() {
  define web 'name=copy of=us'
  define web 'name=span of=us type=range'
  define web 'name=sum of=us type=value mode=products'
  define web 'name=slow of=us type=quantiles precision=5 quantiles=50,99 range_min=501'
  define web 'name=bins of=us type=array scale=log2 base_interval=1 range_min=0 range_max=1024'
  define web 'name=percentiles of=hits type=quantiles precision=5 quantiles=50'
}
# _send N: so many samples of web/us, and a hit.
_send() {
  local i
  for ((i = 1; i <= $1; ++i)); do echo "web/us $((i * 37 % 1000 + 1))"; done >"$CASE/samples"
  send_file "$CASE/samples"
  send 'web/hits 7'
}
# _derived: the views of which the store has points in their source's blocks alone, by name. While
# nothing is counted slow is one of them.
_derived() {
  _sql "SELECT DISTINCT name FROM derived JOIN series ON id = series WHERE name <> 'slow'
    ORDER BY name" | tr '\n' ' '
}
# _values VIEW [OPTION...]: of the mount or of a span, but for records, which a span has if they
# were broken in it.
_values() {
  _show --json "${@:2}" "web/$1" |
    jq -c '.interfaces[0].statistics[0] | [.samples, (.values | del(.min, .max, .quantiles))]'
}

_gaps() { _sql "SELECT count(*) FROM fact WHERE reason = 'the recorder did not run'"; }
# _record_again: after a time that is longer than a point, which is a gap.
_record_again() {
  _next_second
  _next_second
  _next_second
  _record
  wait_until '[ "$(_gaps)" = 1 ]'
}

a_view_has_the_past_that_it_counted() {
  local each
  _make_views
  _record
  _send 200
  _end_recorder
  for each in copy span sum slow bins percentiles; do
    assert_eq "$(_values "$each")" "$(_values "$each" --last 10m)" "$each of mount and store"
  done
  assert_eq "$(_values copy --last 10m)" "$(_values us --last 10m)"
  assert_eq 'copy span sum ' "$(_derived)"
  assert_eq "$("$TALLYCTL" heat --json --last 10m web/us | jq -c '.statistics[0].view.samples')" \
    "$("$TALLYCTL" heat --json --last 10m web/copy | jq -c '.statistics[0].view.samples')"
  assert_has '*' "$("$TALLYCTL" plot --ascii --last 1m web/span)"
}

# It was made when its source had a past, was off for some time, and lost its data once: what it
# counted itself is what is shown.
a_view_that_counts_otherwise_has_its_own_past() {
  _record
  _send 100
  _next_second
  _next_second
  define web 'name=copy of=us'
  define web 'name=span of=us type=range'
  _next_second
  _next_second
  _send 30
  _next_second
  _next_second
  define web 'name=copy on=0'
  _next_second
  _next_second
  _send 50
  # A reset and a definition discard what the recorder has not read yet.
  wait_until '[ "$(_total span 2>/dev/null)" = 80 ]'
  define web 'name=copy on=1'
  define web 'name=span data=reset'
  _next_second
  _next_second
  _send 20
  wait_until '[ "$(_total span 2>/dev/null)" = 100 ]'
  define web 'name=us type=range'
  _next_second
  _next_second
  _send 10
  _end_recorder
  assert_eq 60 "$(_total copy)"
  assert_eq 110 "$(_total span)"
  assert_eq 10 "$(_total us)" 'samples of the source as it is defined now'
  assert_has 'web/span: reset' "$(_show --last 10m web)"
}

a_kill_of_the_recorder_leaves_views_as_they_were() {
  local each
  _make_views
  _record
  _send 40
  wait_until '[ "$(_total copy 2>/dev/null)" = 40 ]' 25
  kill -KILL "$RECORDER"
  wait "$RECORDER" 2>/dev/null || true
  assert_eq 'copy span sum ' "$(_derived)"
  assert_eq 40 "$(_total span)"
  _record_again
  _send 5
  _end_recorder
  assert_eq 45 "$(_total us)"
  for each in copy span sum bins; do assert_eq 45 "$(_total "$each")" "$each"; done
  assert_eq ok "$(_sql 'PRAGMA integrity_check')"
}

# A store of format 2 has no views of its sources.
a_store_of_format_2_is_read_and_recorded_into() {
  _record
  _send 10
  _end_recorder
  sqlite3 "$STORE/past.sqlite" 'DROP TABLE derived; PRAGMA user_version=2'
  assert_eq 10 "$(_total us)"
  _make_views
  _record_again
  _send 5
  _end_recorder
  assert_eq 3 "$(_sql 'PRAGMA user_version')"
  assert_eq 15 "$(_total us)"
  assert_eq 5 "$(_total copy)"
  # The records of the others are not those of the source, which began earlier.
  assert_has 'sum ' "$(_derived)"
  sqlite3 "$STORE/past.sqlite" 'PRAGMA user_version=4'
  assert_fails_with 'format 4' _show --last 5m
  assert_fails_with 'format 4' "$TALLYCTL" record --store "$STORE"
}
