# Two mounts and another tool with probes of the same names: each sees and removes its own alone.
# The second mount is in a PID namespace of its own, where its processes have numbers of others.
_alone=yes  # orphans are those of all mounts of the machine
. ./tracing/_probes.sh
GROUP=group$$
LINE="p:$GROUP/child $TARGET:make_child"

_set_up() {
  need_root
  start_daemon -o tracefs
  [ -e "$P" ] || skip "no uprobes here"
  cp "$(command -v bash)" "$TARGET"
}
# _start_apart FIRST: the second mount, whose daemon is process FIRST of its namespace.
_start_apart() {
  mkdir "$CASE/mnt2" "$CASE/run2"
  unshare --pid --fork --kill-child --mount-proc bash -c \
    'echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
    "${@:2}" & wait' - "$1" "$(command -v "$TALLYFS")" -f --socket "$CASE/run2/socket" -o tracefs \
    "$CASE/mnt2" >"$CASE/second" 2>&1 &
  APART=$!
  echo "$APART" >>"$CASE/pids"
  wait_until 'grep -qx READY "$CASE/second"'
}
# _apart COMMAND: in the directory tracing/ of the second mount.
_apart() {
  nsenter --mount --target "$(pgrep -P "$APART")" bash -c 'cd "$1/tracing" && eval "$2"' - \
    "$CASE/mnt2" "$1"
}
_end_apart() {
  _apart 'cd / && umount '"$CASE/mnt2"
  wait "$APART"
}
_apart_hits() { _apart "sed -n 's/^    Hits: //p' events/$GROUP/child/hist" | tail -1; }
_own_hits() { _hits "$T/events/$GROUP/child"; }

mounts_and_another_tool_do_not_meet() {
  [ -w /proc/sys/kernel/ns_last_pid ] || skip "no ns_last_pid here"
  _start_apart 4000
  local place
  echo "$LINE" >>"$P"
  place=$(sed 's/^[^ ]* //' "$P")
  _apart "echo '$LINE' >>uprobe_events"
  _append "p:$GROUP/child $place"
  assert_eq 3 "$(_ours | wc -l)"
  assert_eq "p:$GROUP/child $place" "$(cat "$P")"
  assert_eq "p:$GROUP/child $place" "$(_apart 'cat uprobe_events')"
  echo 'hist:keys=common_comm' >"$T/events/$GROUP/child/trigger"
  _apart "echo hist:keys=common_comm >events/$GROUP/child/trigger"
  _call 100
  _reaches 100 "of the first" _own_hits
  _reaches 100 "of the second" _apart_hits
  # Each one's goes, and nothing else.
  _apart "echo '!hist:keys=common_comm' >events/$GROUP/child/trigger; : >uprobe_events"
  wait_until '[ "$(_ours | wc -l)" -eq 2 ]'
  _call 100
  _reaches 200 "of the first" _own_hits
  echo '!hist:keys=common_comm' >"$T/events/$GROUP/child/trigger"
  echo "-:$GROUP/child" >>"$P"
  wait_until '[ "$(_ours | wc -l)" -eq 1 ]'
  assert_match "p:$GROUP/child .*" "$(_ours)"
  _append "-:$GROUP/child"
  _end_apart
}

# The daemon's threads have numbers that are other processes' in the kernel's events.
hits_of_a_process_with_the_number_of_a_daemons_thread_count() {
  [ -w /proc/sys/kernel/ns_last_pid ] || skip "no ns_last_pid here"
  mkfifo "$CASE/go"
  "$TARGET" -c 'read -r <"$0"; for ((i = 0; i < 100; ++i)); do (:); done; read -r <"$0"' \
    "$CASE/go" &
  local target=$!
  echo "$target" >>"$CASE/pids"
  _start_apart $((target - 8))
  _apart "[ -d /proc/$target ]" || fail "no thread has that number"
  _apart "echo '$LINE' >>uprobe_events"
  _apart "echo hist:keys=common_pid >events/$GROUP/child/trigger"
  echo >"$CASE/go"
  _reaches 100 "hits" _apart_hits
  assert_has "{ common_pid: $(printf %10d "$target") } hitcount:        100" \
    "$(_apart "cat events/$GROUP/child/hist")"
  assert_has 'in a PID namespace of its own tallyfs counts its own work' "$(cat "$CASE/second")"
  echo >"$CASE/go"
  wait "$target"
  _apart "echo '!hist:keys=common_pid' >events/$GROUP/child/trigger"
  _end_apart
}

# As the threads of a process that is killed hold it: for a moment after it has gone.
a_group_whose_lock_is_free_after_the_start_goes() {
  need_python
  local number=$$ place
  echo "$LINE" >>"$P"
  place=$(sed 's/^[^ ]* //' "$P")
  mkfifo "$CASE/hold"
  _real "exec '$PYTHON' -c '
import fcntl, os, struct
F_OFD_SETLK = 37
locks = os.open(\"instances\", os.O_RDONLY)
fcntl.fcntl(locks, F_OFD_SETLK, struct.pack(\"hhqqi\", fcntl.F_RDLCK, 0, $number, 1, 0))
print(\"held\", flush=True)
open(\"$CASE/hold\").read()'" >"$CASE/held" &
  local holder=$!
  echo "$holder" >>"$CASE/pids"
  wait_until 'grep -qx held "$CASE/held"'
  _append "p:tallyfs_4194305_$number/left $place"
  stop_daemon
  start_daemon -o tracefs
  wait_until '[ -d "$T/events/task" ]'
  assert_match "p:tallyfs_4194305_$number/left .*" "$(_ours)"
  : >"$CASE/hold"
  wait "$holder"
  wait_until '[ -z "$(_ours)" ]'
}
