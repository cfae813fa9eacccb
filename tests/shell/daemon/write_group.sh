# What a member of --write-group may, and what is left to root and the mounting user.

_set_up() {
  need_root
  need setpriv
}
_start() {
  start_daemon -o allow_other "$@"
  chmod 755 "$CASE" "$CASE/run"
  mkdir -p "$CASE/bin"
  install -m 755 "$(command -v "$TALLY_SEND")" "$CASE/bin"
}
# _as GROUPS COMMAND...: as a user of no groups but these
_as() {
  local groups=$1
  shift
  setpriv --reuid=65534 --regid=65534 --groups="$groups" -- "$@"
}
_put_as() { _as "$1" bash -c 'printf "%s\n" "$1" >"$2"' bash "$2" "$3"; }
_sends() { local groups=$1; shift; _as "$groups" "$CASE/bin/tally-send" --socket "$SOCK" "$@"; }

# _changes_all GROUPS: of statistics/, stats/, rules and error_log
_changes_all() {
  send 'create web/a on=1 type=range' 'web/a 3' 'subsystem tcp'
  _put_as "$1" 'strict=1 name=a data=reset' "$STAT/web/definition"
  assert_counts web 'a 0'
  _put_as "$1" 'strict=1 name=a undo=1' "$STAT/web/definition"
  assert_counts web 'a 1'
  _put_as "$1" 'web/c type=range' "$MNT/rules"
  assert_has 'web/c type=range' "$(cat "$MNT/rules")"
  _put_as "$1" 'nonsense=1' "$STAT/web/definition" 2>/dev/null && fail 'it was taken'
  [ -n "$(errors)" ] || fail 'no error'
  _as "$1" bash -c ": >'$MNT/tracing/error_log'"
  assert_eq '' "$(errors)"
  # The file itself judges: there is no template of that name.
  assert_fails_with 'No such process' _put_as "$1" 'T=50' "$MNT/stats/tcp/sample_rates"
  : >"$MNT/tracing/error_log"
  _as "$1" rmdir "$STAT/web" "$MNT/stats/tcp"
  assert_eq tallyfs "$(ls "$STAT")"
}

one_group_that_reads_and_writes_may_all() {
  _start --group 4711 --write-group 4711
  _changes_all 4711
}

of_two_groups_readers_read_and_writers_write() {
  local each
  _start --group 4711 --write-group 4712
  send 'create web/a on=1' 'subsystem tcp'
  for each in statistics/web/definition rules stats/tcp/sample_rates tracing/error_log; do
    _as 4711 cat "$MNT/$each" >/dev/null
    assert_fails_with 'Permission denied' _put_as 4711 'name=a on=0' "$MNT/$each"
    assert_fails_with 'Permission denied' _as 4711 truncate -s 0 "$MNT/$each"
    assert_fails_with 'Permission denied' _put_as 4713 'name=a on=0' "$MNT/$each"
  done
  for each in statistics/web stats/tcp; do
    assert_fails_with 'Permission denied' _as 4711 rmdir "$MNT/$each"
    assert_fails_with 'Permission denied' _as 4713 rmdir "$MNT/$each"
  done
  assert_fails_with 'Permission denied' _as 4712 ls "$STAT"
  assert_attribute web a on 1
  _changes_all 4711,4712
}

# As the Debian package's daemon, of whose group the readers are.
readers_of_the_daemons_own_group_write_nothing() {
  local each
  printf '#!/bin/sh\nexec setpriv --regid=4711 --clear-groups "%s" "$@"\n' \
    "$(command -v "$TALLYFS")" >"$CASE/tallyfs"
  chmod 755 "$CASE/tallyfs"
  TALLYFS=$CASE/tallyfs
  _start --group 4711
  send 'create web/a on=1'
  assert_eq 4711 "$(stat -c %g "$MNT/tracing/free_buffer")"
  for each in tracing/{free_buffer,trace_marker,trace_marker_raw,tracing_on} rules \
    statistics/web/definition; do
    assert_fails_with 'Permission denied' _put_as 4711 1 "$MNT/$each"
  done
  # Reading it takes the records away.
  assert_fails_with 'Permission denied' _as 4711 head -c 1 "$MNT/tracing/trace_pipe"
  assert_eq 'a 0' "$(_as 4711 cat "$STAT/web/data")"
  _as 4711 ls "$MNT/tracing" >/dev/null
}

a_write_group_alone_may_all_too() {
  _start --write-group 4712
  _changes_all 4712
}

by_the_socket_a_member_creates_defines_and_removes() {
  local refusal='or a member of --write-group'
  _start --write-group 4712
  send 'create web/a on=1' 'web/a 1'
  assert_fails_with "$refusal" _sends 4711 'create web/b'
  assert_fails_with "$refusal" _sends 4711 'define web/a on=0'
  assert_fails_with "$refusal" _sends 4711 'define web feed=owner'
  assert_fails_with "$refusal" _sends 4711 'remove web/a'
  _sends 4712 'create web/b on=1' 'define web/a on=0' 'define web feed=owner'
  assert_eq $'a 0\nb 1' "$(definition web | sed 's/name=\([ab]\) on=\([01]\).*/\1 \2/')"
  # It changes how samples are counted, and adds none.
  assert_fails_with 'may feed it (feed=owner)' _sends 4712 'web/b 1'
  assert_counts web 'a 1' 'b 0'
  _sends 4712 'remove web'
  assert_eq tallyfs "$(ls "$STAT")"
}

without_a_write_group_there_is_none_by_the_socket() {
  _start --group 4711
  send 'create web/a on=1'
  assert_fails_with 'belongs to uid 0; only it or root may change' _sends 4711,0 'remove web/a'
}

triggers_of_programs_events_name_no_event_of_the_kernel() {
  local trigger=$MNT/tracing/events/app/req/trigger kernel=$MNT/tracing/events/ftrace/print
  local refusal='--write-group has those of programs' each
  _start --write-group 4712
  send 'event define app/req u64 lat; pid_t pid' 'event define app/done pid_t pid'
  echo 'slow u64 lat; pid_t pid' >"$MNT/tracing/synthetic_events"
  echo 'hist:keys=ip:ts=common_timestamp' >"$kernel/trigger"
  _put_as 4712 'hist:keys=pid:t0=lat' "$trigger"
  _put_as 4712 'lat > 5' "${trigger%/*}/filter"
  _put_as 4712 'hist:keys=lat' "$MNT/tracing/events/synthetic/slow/trigger"
  _put_as 4712 'hist:keys=pid:l=$t0:onmatch(app.req).slow($l,pid)' \
    "$MNT/tracing/events/app/done/trigger"
  assert_has 'hist:keys=pid' "$(_as 4712 cat "$trigger")"
  assert_eq 'lat > 5' "$(cat "${trigger%/*}/filter")"
  for each in 'hist:keys=lat:onmatch(ftrace.print).slow(lat,pid)' \
    'hist:keys=pid:l=lat-$ts' 'hist:keys=pid:l=lat-ftrace.print.$ts' \
    'enable_event:ftrace:print' '!enable_event:ftrace:print'; do
    : >"$MNT/tracing/error_log"
    assert_fails_with 'Operation not permitted' _as 4712 bash -c "echo '$each' >>'$trigger'"
    assert_has "$refusal" "$(errors)"
    assert_has_not ftrace "$(cat "$trigger")"
  done
  for each in "$kernel/trigger" "${trigger%/*}/enable" \
    "$MNT/tracing"/{set_event,synthetic_events,dynamic_events,trace,tracing_on}; do
    assert_fails_with 'Permission denied' _put_as 4712 1 "$each"
  done
  assert_fails_with 'Permission denied' _as 4712 mkdir "$MNT/tracing/instances/mine"
  assert_fails_with 'Permission denied' _put_as 4711 'hist:keys=lat' "$trigger"
  # Root's trigger with an event of the kernel stays.
  echo 'hist:keys=pid:l=lat:onmatch(ftrace.print).slow($l,pid)' >>"$trigger"
  each=$(grep onmatch "$trigger" | sed 's/ \[active\]//')
  assert_fails_with 'Operation not permitted' _as 4712 bash -c "echo '!$each' >>'$trigger'"
  assert_has onmatch "$(cat "$trigger")"
  echo 'hist:keys=lat' >>"$trigger"
  _as 4712 bash -c ": >'$trigger'"
  assert_has onmatch "$(cat "$trigger")"
  assert_has_not keys=lat: "$(cat "$trigger")"
}

texts_and_names_of_triggers_are_no_events() {
  local trigger=$MNT/tracing/events/app/req/trigger each shown
  _start --write-group 4712
  send 'event define app/req u64 lat; char text[16]'
  for each in 'hist:keys=lat if text == "ftrace.print"' 'hist:keys=lat:name=ftrace.print' \
    'traceoff if text == "ftrace:print"'; do
    _put_as 4712 "$each" "$trigger"
    shown=$(grep -v '^#' "$trigger" | sed 's/ \[active\]//')
    assert_has ftrace "$shown"
    # A member removes them by the line that is shown, and by O_TRUNC.
    _as 4712 bash -c 'echo "!$1" >>"$2"' bash "$shown" "$trigger"
    assert_has_not ftrace "$(cat "$trigger")"
    echo "$each" >"$trigger"
    _as 4712 bash -c ": >'$trigger'"
    assert_has_not ftrace "$(cat "$trigger")"
  done
  # A command that would do nothing is refused all the same where it names an event of the kernel.
  for each in '!hist:keys=lat:l=lat-ftrace.print.$ts' '!enable_event:ftrace:print' \
    '!hist:keys=lat:l=lat-ftrace.print.$ts:sort=lat.descending'; do
    assert_fails_with 'Operation not permitted' _as 4712 bash -c 'echo "$1" >>"$2"' bash "$each" \
      "$trigger"
  done
}

in_an_instance_they_are_not_for_the_group() {
  _start --write-group 4712
  send 'event define app/req u64 lat'
  mkdir "$MNT/tracing/instances/i"
  assert_fails_with 'Permission denied' _put_as 4712 'hist:keys=lat' \
    "$MNT/tracing/instances/i/events/app/req/trigger"
  assert_fails_with 'Permission denied' _as 4712 \
    bash -c ": >'$MNT/tracing/instances/i/error_log'"
}
