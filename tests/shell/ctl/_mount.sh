# What mount.sh and rows.sh share: a daemon with two interfaces, and the statuses of commands.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT
  local array='type=array scale=log2 base_interval=1 range_min=0 range_max=4096'
  send "create web/us $array on=1 units=microseconds/requests" 'create web/hits on=1' \
    'create db/us type=range on=1 units=microseconds/queries'
  send 'web/us 20' 'web/us 120' 'web/us 9000' 'web/hits 1' 'db/us 70'
}
_status() {  # _status WANTED STDERR COMMAND...
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$CASE/out" 2>"$CASE/err" || status=$?
  assert_eq "$wanted" $status "exit status of $*; it said: $(cat "$CASE/err")"
  assert_has "$text" "$(cat "$CASE/err")"
}
