# What test suites and tools do before and after their work: they put the directory back to its
# first state, by what they read from it.
T=$MNT/tracing
E=$MNT/tracing/events

_define() {
  send 'event define web/begin u64 id' 'event define web/end u64 id; pid_t pid'
  wait_until '[ -d "$E/web/end" ]'
}

# Each line that a file of triggers shows is written back with a '!'. Variables in use keep a
# trigger until the one that uses them is gone.
_remove_triggers() {
  local file line again=yes
  while [ "$again" ]; do
    again=''
    for file in "$T"/events/*/*/trigger; do
      while IFS= read -r line; do
        [[ $line == '#'* ]] || echo "!$line" >>"$file" 2>/dev/null || again=yes
      done <"$file"
    done
  done
}
_set_options_back() {
  local option
  while IFS= read -r option; do echo "$option" >"$T/trace_options"; done <"$CASE/options"
}
_reset() {
  local file
  echo nop >"$T/current_tracer"
  echo 0 >"$T/events/enable"
  _remove_triggers
  for file in "$T"/events/*/filter "$T"/events/*/*/filter; do
    [ "$(grep -v '^#' "$file")" = none ] || echo 0 >"$file" 2>/dev/null || true
  done
  for file in dynamic_events synthetic_events set_event set_event_pid set_event_notrace_pid \
    error_log trace; do
    echo >"$T/$file"
  done
  echo 0 >"$T/snapshot"
  _set_options_back
  echo 1 >"$T/options/pause-on-trace"
  echo 1 >"$T/tracing_on"
}
_is_reset() {
  assert_eq 0 "$(cat "$T/events/enable")"
  assert_eq '# Available triggers:' "$(cat "$E"/*/*/trigger | sort -u | grep -v '^# traceon')"
  assert_eq none "$(cat "$E"/*/*/filter | sort -u)"
  assert_eq '' "$(cd "$T" && cat synthetic_events dynamic_events set_event set_event_pid \
    set_event_notrace_pid error_log)"
  assert_eq '' "$(grep -v '^#' "$T/trace" || true)"
  assert_has 'Snapshot is freed' "$(cat "$T/snapshot")"
  assert_eq '' "$(ls "$T/instances")"
}

a_reset_undoes_what_scripts_set() {
  local i
  _define
  cat "$T/trace_options" >"$CASE/options"
  for i in 1 2; do
    _reset
    _is_reset
    echo 'waited u64 us; u64 id' >>"$T/synthetic_events"
    echo 'hist:keys=id:ts=common_timestamp.usecs' >>"$E/web/begin/trigger"
    echo 'hist:keys=id:us=common_timestamp.usecs-$ts:onmatch(web.begin).waited($us,id)' \
      >>"$E/web/end/trigger"
    echo 'hist:keys=us:name=all' >>"$E/synthetic/waited/trigger"
    echo 'snapshot:1 if pid == 3' >>"$E/web/end/trigger"
    echo 'enable_event:web:end:2' >>"$E/web/begin/trigger"
    echo 'id == 1' >"$E/web/begin/filter"
    echo 'id < 9' >"$E/web/filter"
    echo web:begin >>"$T/set_event"
    echo "$BASHPID" >"$T/set_event_pid"
    echo 3 >"$T/set_event_notrace_pid"
    echo 1 >"$T/snapshot"
    echo 0 >"$T/options/record-cmd"
    send 'event web/begin id=1' 'event web/end id=1'
    assert_has 'Hits: 1' "$(cat "$E/synthetic/waited/hist")"
    assert_fails_with 'Invalid argument' put 'hist:keys=junk' "$E/web/end/trigger"
    [ -s "$T/error_log" ] || fail 'nothing in error_log'
  done
  _reset
  _is_reset
  assert_eq 1 "$(cat "$T/options/record-cmd")"
}

all_options_can_be_saved_and_set_back() {
  local option value
  for option in "$T"/options/*; do
    # Only with the kernel's events.
    [ "${option##*/}" != event-fork ] || continue
    value=$(cat "$option")
    echo $((1 - value)) >"$option"
    assert_eq $((1 - value)) "$(cat "$option")" "$option"
    echo "$value" >"$option"
    assert_eq "$value" "$(cat "$option")" "$option"
  done
  assert_eq "$(ls "$T/options" | wc -l)" "$(wc -l <"$T/trace_options")"
  assert_fails_with 'Invalid argument' put 2 "$T/options/hex"
  assert_fails_with 'Invalid argument' put nonsense "$T/trace_options"
}
