# Feeders that do at random what may disturb cells and rings, beside a daemon that is redefined,
# reloaded, killed and started again. Whatever happens, nothing that libtally writes may look to the
# daemon like what no feeder writes. TALLY_LOAD_SECONDS: for how long. TALLY_SEED: repeats a run.
_set_up() { :; }

_random() { RANDOM_NOW=$(((RANDOM_NOW * 1103515245 + 12345) & 0x7fffffff)); }
# _below NUMBER: in $DRAWN.
_below() { _random; DRAWN=$(((RANDOM_NOW >> 8) % $1)); }

_types=('type=value mode=increments' 'type=value mode=products'
  'type=range range_min=-1000 range_max=1000'
  'type=array range_min=-1000 range_max=1000 base_interval=100 scale=lin'
  'type=array range_min=0 range_max=1000 base_interval=10 scale=log2' 'type=list entries_max=100'
  'type=last' 'data=reset' 'on=1' 'range_max=900')

# Each of its programs begins again when it has ended.
_feed() {
  local seed=$1
  exec 2>"$CASE/stderr.feed"
  while [ ! -e "$CASE/ends" ]; do
    TALLY_SOCKET=$SOCK timeout -s KILL 30 "$LOAD" "$seed" 2 >>"$CASE/stderr.load" 2>&1 || true
    seed=$(((seed * 69069 + 1) & 0x7fffffff))
  done
}

# A write may fail: the interface is not there yet, or the daemon is not.
_disturb() {
  local of
  _below 40
  case $DRAWN in
    0)
      SERVER=$(server_of "$DAEMON")
      kill_daemon
      umount -l "$MNT" 2>/dev/null || fusermount3 -u -z "$MNT"
      start_daemon
      ;;
    1 | 2) "$TALLYFS" --reload "$MNT" 2>>"$CASE/reloads" || true ;;
    3) rmdir "$STAT/web" 2>/dev/null || true ;;
    4 | 5 | 6 | 7) cat "$STAT/statistics.json" "$STAT/web/data.json" >/dev/null 2>&1 || true ;;
    8 | 9) cat "$MNT"/metrics/* >/dev/null 2>&1 || true ;;
    *)
      _below 10
      of=$DRAWN
      _below ${#_types[@]}
      { echo "name=s$of ${_types[DRAWN]}" >"$STAT/web/definition"; } 2>/dev/null || true
      cat "$STAT/web/data" >/dev/null 2>&1 || true
      ;;
  esac
}

nothing_that_feeders_write_looks_like_a_fault() {
  local seed=${TALLY_SEED:-$RANDOM$RANDOM} i feeders=()
  local LOAD=${TALLY_BIN:+$TALLY_BIN/}tally-lane-load
  command -v "$LOAD" >/dev/null || skip 'tally-lane-load is not built'
  echo "TALLY_SEED=$seed"
  RANDOM_NOW=$((seed & 0x7fffffff))
  start_daemon
  for ((i = 0; i < 3; ++i)); do
    (cd "$CASE" && trap - EXIT ERR && _feed $((seed + i))) &
    feeders+=($!)
    echo $! >>"$CASE/pids"
  done
  local until=$((SECONDS + ${TALLY_LOAD_SECONDS:-10}))
  while [ $SECONDS -lt $until ]; do _disturb; done
  : >"$CASE/ends"
  wait "${feeders[@]}"
  cat "$STAT/web/data" >/dev/null 2>&1 || true
  if grep -h 'not what a feeder writes' "$CASE"/stderr.*; then fail "TALLY_SEED=$seed"; fi
  [[ $'\n'$(data tallyfs) == *$'\nlane_bad 0\n'* ]] || fail "$(data tallyfs)" "$(errors)"
  data tallyfs | sed -n 's/^\(cells_merged .*\)/measured: \1/p'
}
