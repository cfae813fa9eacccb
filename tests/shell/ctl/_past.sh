# What past.sh and recorder.sh share: a daemon, a mount and a store of each case's own.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  need sqlite3
  [[ $("$TALLYCTL" show --last 1s 2>&1) != *TALLYFS_PAST=OFF* ]] || skip 'built without a store'
  start_daemon
  STORE=$CASE/store
  export TALLY_MOUNT=$MNT TALLY_STORE=$STORE TZ=UTC
  RECORDER=''
  send 'create web/us type=quantiles precision=5 quantiles=50,99 units=microseconds/requests on=1' \
    'create web/hits on=1' 'create web/depth type=last on=1' 'create db/us type=range on=1'
}
# _record [OPTION...]: in the background; returns when the first moment was read.
_record() {
  "$TALLYCTL" record --store "$STORE" "$@" 2>>"$CASE/recorder" &
  RECORDER=$!
  echo "$RECORDER" >>"$CASE/pids"
  wait_until '[ "$(_sql "SELECT count(*) FROM series")" != "" ]'
  wait_until '[ "$(_sql "SELECT count(*) FROM series")" -gt 4 ]'
}
_sql() { sqlite3 "file:$STORE/past.sqlite?mode=ro" "$1" 2>/dev/null || true; }
# _end_recorder: as systemd ends it; what it has is written.
_end_recorder() {
  kill -TERM "$RECORDER"
  wait "$RECORDER" || fail "the recorder ended with $?" "$(cat "$CASE/recorder")"
}
_show() { "$TALLYCTL" show "$@"; }
_total() { _show --json --last 10m "web/$1" | jq -r '.interfaces[0].statistics[0] | .samples'; }
# _moments [OPTION...]: what heat draws of web/us, as a list of {us, at, samples}.
_moments() {
  "$TALLYCTL" heat --json --last 10m "$@" web/us | jq -s 'map({us: .realtime_us,
    at: (.realtime_us / 1000000 | strftime("%F %T")), samples: .statistics[0].view.samples})'
}
_next_second() {
  local second=${EPOCHREALTIME%.*}
  wait_until "[ \${EPOCHREALTIME%.*} != $second ]"
}
