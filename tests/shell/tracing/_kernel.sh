# For cases on an event of this kernel: each fork is a record of it.
T=$MNT/tracing
E=$T/events/task/task_newtask

_start_with_kernel() {  # _start_with_kernel [OPTION...]
  start_daemon -o tracefs "$@"
  [ -d "$E" ] || skip "no kernel events here"
  cp "$(command -v bash)" "$CASE/$FORKER"
}
# The name of the shell that forks, which no other process has.
FORKER=fork$$
# _instance_of NAME FEEDER: the name of the feeder's instance, which has the ids of its owner.
_instance_of() {
  tr '\0' '\n' <"/proc/$2/cmdline" | awk -v name="$1" '
    $0 == "--owner" { getline owner }
    $0 == "--probe-group" { getline number; owner = number "-" owner }
    END { print "tallyfs-" name "-" owner }'
}
_fork() { "$CASE/$FORKER" -c "for ((i = 0; i < $1; ++i)); do (:); done"; }  # _fork TIMES
_hits() { sed -n 's/^    Hits: //p' "${1:-$E}/hist" | tail -1; }  # _hits [EVENT]
# _reaches WANTED WHAT COMMAND...: it prints this number, and no more, once all records have come: a
# read waits for the feeder for 100 ms only.
_reaches() {
  local wanted=$1 what=$2
  REACHING=("${@:3}")
  wait_until '[ "$("${REACHING[@]}")" -ge '"$wanted"' ] 2>/dev/null'
  assert_eq "$wanted" "$("${REACHING[@]}")" "$what"
}
