# A reload with -o tracefs: the files of the kernel's events stay, while their feeder starts anew.
_alone=yes # others would fork
. ./tracing/_kernel.sh
. ./daemon/_keeper.sh

_set_up() {
  need_root
  _start_with_kernel
}
_is_back() { wait_until 'grep -q "\"tracefs\":\"on\"" "$MNT/statistics.json"'; }

# Of an event on which something is set, of others, and of a directory of tracing/.
_files() {
  local event
  for event in "$E" "$T/events/sched/sched_switch" "$T/instances/mine/events/task/task_newtask"; do
    printf '%s\n' "$event"/{format,id,hist,hist.json,trigger,enable,filter}
  done
  printf '%s\n' "$T/events/sched/enable" "$T/available_events"
}
_read_all_the_time() {
  local files
  readarray -t files < <(_files)
  while [ ! -e "$CASE/enough" ]; do
    cat "${files[@]}" >"$CASE/texts" 2>>"$CASE/errors" || echo "cat: $?" >>"$CASE/errors"
    ls "$T/events/sched" >>"$CASE/texts" 2>>"$CASE/errors" || echo "ls: $?" >>"$CASE/errors"
    echo >>"$CASE/reads"
  done
}
_reads() { cat "$CASE/reads" 2>/dev/null | wc -l; }

readers_of_the_kernels_events_meet_no_error() {
  local reader i last=0
  mkdir "$T/instances/mine"
  echo 'hist:keys=common_comm' >"$E/trigger"
  _read_all_the_time &
  reader=$!
  # The second one comes while the feeder of the first is on its way.
  for i in 1 2 3 4; do
    wait_until '[ "$(_reads)" -gt '"$last"' ]'
    _reload
    last=$(_reads)
    [ $((i % 2)) -eq 1 ] || _is_back
  done
  wait_until '[ "$(_reads)" -gt '$((last + 1))' ]'
  touch "$CASE/enough"
  wait $reader
  assert_eq '' "$(cat "$CASE/errors")"
  assert_has 'sched:sched_switch' "$(cat "$T/available_events")"
}

the_names_of_the_kernels_events_keep_their_inode_numbers() {
  local before
  before=$(stat -c '%i %n' $(_files | grep -v mine) "$T/events/sched")
  _reload
  assert_eq "$before" "$(stat -c '%i %n' $(_files | grep -v mine) "$T/events/sched")"
  _is_back
  assert_eq "$before" "$(stat -c '%i %n' $(_files | grep -v mine) "$T/events/sched")"
}

# The kernel records while there is no feeder.
a_trigger_on_an_event_of_the_kernel_counts_all_the_time() {
  local forks
  echo "hist:keys=common_comm if comm == \"$FORKER\"" >"$E/trigger"
  _fork 300 &
  forks=$!
  _reload
  _fork 20
  wait $forks
  wait_until '[ "$(_hits)" -ge 320 ]'
  assert_eq 320 "$(_hits)"
}

# It waits for the feeder, which records the event when the write has returned.
a_write_that_needs_the_feeder_is_carried_out() {
  local trigger
  exec {trigger}>>"$E/trigger"
  _reload
  echo "hist:keys=common_comm if comm == \"$FORKER\"" >&"$trigger"
  exec {trigger}>&-
  _fork 20
  wait_until '[ "$(_hits)" -ge 20 ]'  # a read waits for the feeder for 100 ms only
  assert_eq 20 "$(_hits)"
}

# The feeder does not come, as the process that starts it is stopped.
a_write_that_waits_for_the_feeder_holds_up_no_reload() {
  local feeder supervisor write
  feeder=$(pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1)
  supervisor=$(ps -o ppid= -p "$feeder" | tr -d ' ')
  freeze "$supervisor"
  _reload
  bash -c 'echo 1 >"$0"' "$E/enable" 2>"$CASE/refused" &
  write=$!
  wait_until 'grep -q vfs_write /proc/'"$write"'/stack'
  _reload
  assert_fails wait $write
  assert_has 'No such device' "$(cat "$CASE/refused")"
  kill -CONT "$supervisor"
  _is_back
  assert_eq 0 "$(cat "$E/enable")"
  echo 1 >"$E/enable"
}

an_instance_with_an_open_file_of_the_kernel_stays_in_use() {
  local trigger instance=$T/instances/mine
  mkdir "$instance"
  exec {trigger}<"$instance/events/task/task_newtask/trigger"
  _reload
  assert_fails_with 'Device or resource busy' rmdir "$instance"
  _is_back
  assert_fails_with 'Device or resource busy' rmdir "$instance"
  exec {trigger}<&-
  wait_until 'rmdir "$instance"'
}
