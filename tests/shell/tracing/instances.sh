# instances/: sets of their own, made with mkdir and removed with rmdir.
T=$MNT/tracing

_define() {
  send 'event define web/request u64 lat; pid_t pid'
  wait_until '[ -d "$T/events/web/request" ]'
}

an_instance_counts_for_itself() {
  _define
  mkdir "$T/instances/foo"
  assert_eq foo "$(ls "$T/instances")"
  assert_fails_with 'File exists' mkdir "$T/instances/foo"
  [ ! -e "$T/instances/foo/instances" ] || fail 'instances in an instance'
  [ ! -e "$T/instances/foo/README" ] || fail 'README in an instance'
  echo hist:keys=pid >"$T/instances/foo/events/web/request/trigger"
  echo 1 >"$T/instances/foo/events/web/request/enable"
  send 'event web/request pid=7'
  assert_has '{ pid:          7 }' "$(cat "$T/instances/foo/events/web/request/hist")"
  assert_eq '' "$(cat "$T/events/web/request/hist")"
  assert_eq 0 "$(cat "$T/events/enable")"
  assert_has pid=7 "$(cat "$T/instances/foo/trace")"
  assert_has_not pid=7 "$(cat "$T/trace")"
  echo in_foo >"$T/instances/foo/trace_marker"
  assert_has_not in_foo "$(cat "$T/trace")"
  rmdir "$T/instances/foo"
  assert_eq '' "$(ls "$T/instances")"
  assert_fails_with 'No such file' rmdir "$T/instances/foo"
  mkdir "$T/instances/foo"
  assert_eq '' "$(cat "$T/instances/foo/events/web/request/hist")"
}

no_directories_are_made_anywhere_else() {
  assert_fails_with 'Operation not permitted' mkdir "$T/foo"
  assert_fails_with 'Operation not permitted' mkdir "$T/events/foo"
  assert_fails_with 'Operation not permitted' rmdir "$T/events/ftrace"
  assert_fails_with 'Operation not permitted' rm "$T/trace"
  assert_fails_with 'Operation not permitted' touch "$T/foo"
}

an_instance_is_busy_while_a_file_of_it_is_open() {
  mkdir "$T/instances/foo"
  exec {fd}<"$T/instances/foo/tracing_on"
  assert_fails_with 'resource busy' rmdir "$T/instances/foo"
  assert_eq 1 "$(cat <&"$fd")"
  exec {fd}<&-
  rmdir "$T/instances/foo"
}

an_instance_that_was_just_written_to_can_be_removed() {
  _define
  local i
  for ((i = 0; i < 100; ++i)); do
    mkdir "$T/instances/foo"
    echo hist:keys=pid >"$T/instances/foo/events/web/request/trigger"
    cat "$T/instances/foo/events/web/request/hist" >/dev/null
    rmdir "$T/instances/foo"
  done
}

# Clients read formats at the top, and records in an instance.
an_event_has_the_same_id_in_each_instance() {
  echo 'gone u64 us' >>"$T/synthetic_events"
  echo 'waited u64 us' >>"$T/synthetic_events"
  _define
  echo '!gone u64 us' >>"$T/synthetic_events"
  mkdir "$T/instances/foo"
  local event
  for event in web/request synthetic/waited; do
    assert_eq "$(cat "$T/events/$event/format" "$T/events/$event/id")" \
      "$(cat "$T/instances/foo/events/$event/format" "$T/instances/foo/events/$event/id")"
  done
  rmdir "$T/instances/foo"
}
