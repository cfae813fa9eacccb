# uprobe_events on this kernel: a function of a program that knows nothing of it is counted.
# Longer than most: lines, hits, and what outlives a feeder or a server share one program.
_alone=yes  # orphans are those of all mounts of the machine
. ./tracing/_probes.sh

_set_up() {
  need_root
  need_python
  start_daemon -o tracefs
  [ -e "$P" ] || skip "no uprobes here"
  cp "$(command -v bash)" "$TARGET"
  CHILD=$(_offset make_child)
  COMMAND=$(_offset execute_command)
}

# _offset SYMBOL: where a function of TARGET lies in the file.
_offset() {
  py "$TARGET" "$1" <<'EOT'
import struct, sys
data = open(sys.argv[1], "rb").read()
name = sys.argv[2].encode()
programs, sections = struct.unpack_from("<QQ", data, 32)
program_size, program_count, section_size, section_count = struct.unpack_from("<HHHH", data, 54)
headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * section_size)
           for i in range(section_count)]
for header in headers:
    if header[1] not in (2, 11):
        continue
    strings = headers[header[6]]
    for at in range(header[4], header[4] + header[5], 24):
        name_at, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        begin = strings[4] + name_at
        if data[begin:data.index(b"\0", begin)] != name:
            continue
        for i in range(program_count):
            kind, flags, offset, address, _, _, size = struct.unpack_from(
                "<IIQQQQQ", data, programs + i * program_size)
            if kind == 1 and flags & 1 and address <= value < address + size:
                print(hex(value - address + offset))
                sys.exit()
sys.exit("no such function")
EOT
}
_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
_supervisor() { ps -o ppid= -p "$(_feeder)" | tr -d ' '; }

a_function_of_an_unmodified_program_is_counted() {
  local event=$T/events/uprobes/child
  echo "p:child $TARGET:$CHILD" >>"$P"
  assert_match "p:uprobes/child $TARGET:0x0*${CHILD#0x}" "$(cat "$P")"
  assert_eq 'name: child' "$(head -1 "$event/format")"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 25
  _reaches 25 "one for each fork" _hits "$event"
  assert_has "common_comm: ${TARGET##*/}" "$(cat "$event/hist")"
  echo '!hist:keys=common_comm' >"$event/trigger"
  echo 1 >"$event/enable"
  _call 3
  _reaches 3 "in the trace, by the name that it was given" grep -c ': child: (' "$T/trace"
}

arguments_and_returns_are_fields_like_others() {
  echo "r:back $TARGET:$CHILD pid=\$retval:s32" >>"$P"
  echo 'hist:keys=common_pid:vals=pid.max if pid > 0' >"$T/events/uprobes/back/trigger"
  _call 7
  _reaches 7 "the parent's returns alone" _hits "$T/events/uprobes/back"
}

# In a copy of libc, which one program alone has.
each_hit_of_a_hot_function_counts() {
  local libc event=$T/events/uprobes/alloc
  libc=$(sed -n 's/.* \(\/.*\/libc\.so\.6\)$/\1/p' /proc/self/maps | head -1)
  [ -n "$libc" ] || skip "no libc.so.6 here"
  mkdir "$CASE/lib"
  cp "$libc" "$CASE/lib/libc.so.6"
  TARGET=$CASE/lib/libc.so.6
  echo "p:alloc $TARGET:$(_offset malloc) size=%di:u64" >>"$P"
  echo 'hist:keys=common_pid.execname:vals=size.p99,size.max' >"$event/trigger"
  LD_LIBRARY_PATH=$CASE/lib "$CASE/target$$" -c 'for ((i = 0; i < 2000; ++i)); do a[i]=$i; done'
  local all
  all=$(_real 'cat uprobe_profile' | awk -v of="$TARGET" '$1 == of { print $3 }')
  [ "$all" -ge 2000 ] || fail "malloc was called $all times"
  _reaches "$all" "as the kernel has counted" _hits "$event"
  assert_match '.*size.p99: +[0-9]+  size.max: +[0-9]+' "$(grep -m1 '^{' "$event/hist")"
}

# By the names that they were given, and without the other tool's, which the kernel has by the same
# name.
the_profile_counts_hits_of_each_place() {
  local event=$T/events/uprobes/both group=foreign$$
  _append "p:$group/both_1 $TARGET:$CHILD"
  printf '%s\n' "p:both $TARGET:$COMMAND" "p:both $TARGET:$CHILD" "p:off $TARGET:$CHILD" >>"$P"
  echo 'hist:keys=__probe_ip' >"$event/trigger"
  _call 9
  wait_until '[ "$(_hits '"$event"')" -eq "$(_profile "$TARGET")" ]'
  assert_eq "$TARGET both $(($(_hits "$event") - 9)) $TARGET both 9 $TARGET off 0" \
    "$(awk '{ $1 = $1; print }' "$T/uprobe_profile" | paste -sd' ')"
  assert_eq "$(_real 'cat uprobe_profile' | grep -m1 " both_1 .* 9$" | sed 's/both_1/both  /')" \
    "$(sed -n 2p "$T/uprobe_profile")"
  _append "-:$group/both_1"
}

# The kernel's probe stays with the file that was there.
a_program_that_is_replaced_makes_its_probe_stale() {
  echo "p:child $TARGET:$CHILD" >>"$P"
  _call 0
  assert_has "\"line\":\"p:child $TARGET:$CHILD\"" "$(cat "$T/probes.json")"
  assert_has '"hits":0,"stale":false' "$(cat "$T/probes.json")"
  cp "$TARGET" "$CASE/new" && mv "$CASE/new" "$TARGET"
  assert_has '"hits":0,"stale":true' "$(cat "$T/probes.json")"
  local server=$SERVER
  "$TALLYFS" --reload "$MNT"
  wait_until 'serves_instead_of '"$server"
  wait_until 'grep -q "\"hits\":0,\"stale\":true" "$T/probes.json"'
}

# As cp does, which leaves the file its number.
a_program_that_is_written_over_makes_its_probe_stale() {
  echo "p:child $TARGET:$CHILD" >>"$P"
  _call 0
  assert_has '"hits":0,"stale":false' "$(cat "$T/probes.json")"
  cp "$TARGET" "$CASE/new" && cat "$CASE/new" >"$TARGET"
  assert_has '"hits":0,"stale":true' "$(cat "$T/probes.json")"
}

a_place_is_added_while_the_probe_is_off() {
  echo "p:both $TARGET:$CHILD" >>"$P"
  echo "p:both $TARGET:$COMMAND" >>"$P"
  assert_eq 2 "$(grep -c '^p:uprobes/both ' "$P")"
  assert_fails_with 'File exists' bash -c 'echo "$1" >>"$2"' - "p:both $TARGET:$CHILD" "$P"
  echo 'hist:keys=__probe_ip' >"$T/events/uprobes/both/trigger"
  _call 4
  wait_until '[ "$(_entries both)" -ge 2 ]'
  assert_fails_with 'Device or resource busy' bash -c 'echo "$1" >>"$2"' - \
    "p:both $TARGET:$CHILD" "$P"
}
_entries() { sed -n 's/^    Entries: //p' "$T/events/uprobes/$1/hist" | tail -1; }

a_probe_goes_when_nothing_is_set_on_it() {
  local event=$T/events/mine/child
  printf '%s\n' "p:mine/child $TARGET:$CHILD" "p:mine/other $TARGET:$COMMAND" >>"$P"
  echo 'hist:keys=common_pid' >"$event/trigger"
  assert_fails_with 'Device or resource busy' bash -c 'echo "-:child" >>"$1"' - "$P"
  assert_fails_with 'Device or resource busy' bash -c ': >"$1"' - "$P"
  assert_eq 2 "$(wc -l <"$P")" "all stay"
  echo '!hist:keys=common_pid' >"$event/trigger"
  echo '-:child' >>"$P"
  [ ! -d "$event" ] || fail "the event is still there"
  assert_has other "$(cat "$P")"
  : >"$P"
  assert_eq '' "$(cat "$P")"
  wait_until '[ -z "$(_ours)" ]'
}

dynamic_events_lists_probes_and_takes_their_lines() {
  local event=$T/events/uprobes/child
  printf '%s\n' "p:child $TARGET:$CHILD" 's:lat u64 us' >>"$T/dynamic_events"
  assert_match "s:synthetic/lat.*p:uprobes/child $TARGET:0x0*${CHILD#0x}" \
    "$(tr '\n' ' ' <"$T/dynamic_events" | sed 's/ $//')"
  assert_eq "$(cat "$P")" "$(tail -1 "$T/dynamic_events")"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 3
  _reaches 3 "one for each fork" _hits "$event"
  assert_fails_with 'Device or resource busy' bash -c ': >"$1"' - "$T/dynamic_events"
  echo '!hist:keys=common_comm' >"$event/trigger"
  : >"$T/dynamic_events"
  assert_eq '' "$(cat "$P" "$T/dynamic_events")"
}

a_kernel_without_kprobes_says_so() {
  [ ! -e /sys/bus/event_source/devices/kprobe ] || skip "this kernel has kprobes"
  [ ! -e "$T/kprobe_events" ] || fail "kprobe_events is there"
  assert_fails_with 'Invalid argument' bash -c 'echo "p:reads vfs_read" >>"$1"' - \
    "$T/dynamic_events"
  assert_eq '[T] probe: error: this kernel has no kprobes (CONFIG_KPROBE_EVENTS)' \
    "$(_log "$T/error_log" | head -1)"
}

# Which kinds this kernel has is what it says itself, in a group of the test.
lines_of_other_kinds_are_made_or_say_that_the_kernel_has_none() {
  local kind place name option
  while read -r kind place name option; do
    if _real "echo '$kind:trial$$/x $place' >>dynamic_events" 2>/dev/null; then
      _real "echo '-:trial$$/x' >>dynamic_events"
      echo "$kind:mine/a $place" >>"$T/dynamic_events"
      assert_eq "$kind:mine/a $place" "$(cat "$T/dynamic_events")"
      echo 'hist:keys=common_pid' >"$T/events/mine/a/trigger"
      wait_until '[ "$(_hits "$T/events/mine/a")" -gt 0 ]'
      echo '!hist:keys=common_pid' >"$T/events/mine/a/trigger"
      echo '-:mine/a' >>"$T/dynamic_events"
    else
      assert_fails_with 'Invalid argument' bash -c 'echo "$1" >>"$2"' - "$kind:a $place" \
        "$T/dynamic_events"
      assert_eq "[T] probe: error: this kernel has no $name (CONFIG_$option)" \
        "$(_log "$T/error_log" | head -1)"
    fi
  done <<'EOT'
e sched.sched_switch eprobes EPROBE_EVENTS
f vfs_read fprobes FPROBE_EVENTS
t sched_switch tprobes FPROBE_EVENTS
EOT
}

functions_of_the_kernel_are_counted() {
  local event=$T/events/kprobes/reads
  [ -e "$T/kprobe_events" ] || skip "no kprobes here"
  echo 'p:reads vfs_read bytes=$arg3' >>"$T/kprobe_events"
  assert_eq 'p:kprobes/reads vfs_read bytes=$arg3' "$(cat "$T/kprobe_events")"
  assert_eq '' "$(cat "$P")"
  echo 'hist:keys=bytes if bytes == 517' >"$event/trigger"
  dd if=/dev/zero of=/dev/null bs=517 count=1000 2>/dev/null
  _reaches 1000 "one for each read" _hits "$event"
  assert_match ' *reads +[0-9]+ +0' "$(cat "$T/kprobe_profile")"
}

# The kernel empties the buffers in which a probe was on when it is removed.
a_removal_takes_no_record_of_other_events() {
  cp "$TARGET" "$CASE/$FORKER"
  echo "p:child $TARGET:$CHILD" >>"$P"
  echo 1 | tee "$E/enable" >"$T/events/uprobes/child/enable"
  _call 3
  echo 0 >"$T/events/uprobes/child/enable"
  _fork 20
  echo '-:child' >>"$P"
  assert_eq '' "$(cat "$P")"
  assert_eq 1 "$(_ours | wc -l)" "it is leaving"
  assert_match '.*"leaving":.."event":"child","target":"program",.*"hits":3}]}]}' \
    "$(cat "$T/probes.json")"
  _fork 20
  _reaches 40 "before and after" grep -c "comm=$FORKER" "$T/trace"
  assert_has_not 'records lost' "$(head -20 "$T/trace")"
  echo "p:child $TARGET:$COMMAND" >>"$P"
  assert_eq 2 "$(_ours | wc -l)" "its name was free"
  echo 0 >"$E/enable"
  wait_until '[ "$(_ours | wc -l)" -eq 1 ]'
  assert_has "${COMMAND#0x}" "$(_ours)"
}

other_tools_probes_are_never_touched() {
  local group=foreign$$
  _append "p:$group/child $TARGET:$CHILD"
  [ ! -d "$T/events/$group" ] || fail "it is offered"
  assert_eq '' "$(cat "$P")"
  echo "p:$group/child $TARGET:$CHILD" >>"$P"
  : >"$P"
  stop_daemon
  assert_match "p:$group/child .*" "$(_ours)"
  _append "-:$group/child"
}

refusals_are_the_kernels_with_its_caret() {
  local line
  : >"$CASE/kernel" && : >"$CASE/here"
  while read -r line; do
    line=${line//FILE/$TARGET}
    _real 'echo "'"${line//\$/\\\$}"'" >>uprobe_events; tail -3 error_log' 2>/dev/null |
      sed 's/^\[[^]]*\]/[T]/' >>"$CASE/kernel" || true
    assert_fails bash -c 'echo "$1" >>"$2"' - "$line" "$P"
    _log "$T/error_log" >>"$CASE/here"
  done <<'EOT'
p:1a/b FILE:0x1000
p:x/1b FILE:0x1000
p: FILE:0x1000
p:/b FILE:0x1000
p:x/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa FILE:0x1000
p:x/c /nothere:0x10
p:x/c FILE:0x10zz
p:x/c FILE:0x1000 x=%zz
p:x/c FILE:0x1000 x=%di:u99
p:x/c FILE:0x1000 x=%di x=%si
p:x/c FILE:0x1000 common_pid=%di
p:x/c FILE:0x1000 y=%di x=
p:x/c FILE:0x1000 x=$nothing
p:x/c FILE:0x1000 x=+0(%di
p:x/c FILE:0x1000 x=%di:string[
p:x/c FILE:0x1000 x=%di:u8[0]
p:x/c FILE:0x1000 x=%di:u8[65]
p:x/c FILE:0x1000 x=%di:b40@0/32
p:x/c FILE:0x1000 x=%di:b1@2
p:x/c FILE:0x1000 x=@zz
p:x/c FILE:0x1000 x=@+zz
p:x/c FILE:0x1000 x=$stackz
p:x/c FILE:0x1000 x=$retval
p:x/c FILE:0x1000 x=$commm
p:x/c FILE:0x1000 x=$arg1
p:x/c FILE:0x1000 1x=%di
p:x/c FILE:0x1000 x-y=%di
p:x/c FILE:0x1000 =%di
p:x/c FILE:0x1000 x=zz(%di)
p:x/c FILE:0x1000 x=+0(%di))
p:x/c FILE:0x1000 x=+0%di
p:x/c FILE:0x1000 x=+0(+0(%di)
p:x/c FILE:0x1000 x=+0(%zz)
p:x/c FILE:0x1000 x=%di:
p:x/c FILE:0x1000 x=%di y=%si:string z=%dx
p:x/c FILE:0x1000 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=%di
p:x/c FILE:0x1000(zz)
p:x/c FILE:0x1000(0x10
p:x/c FILE:0x1000(0x10)x
p:x/c FILE:0x1000%ret
p:x/c /dev/null:0x1000
p:x/c /tmp:0x1000
EOT
  # If a kernel takes one of them.
  _append '-:x/c' 2>/dev/null || true
  assert_eq "$(cat "$CASE/kernel")" "$(cat "$CASE/here")"
  assert_eq '' "$(cat "$P")"
}

a_return_may_be_said_behind_the_place() {
  echo "p:back $TARGET:$CHILD%return pid=\$retval:s32" >>"$P"
  assert_match "r:uprobes/back $TARGET:0x0*${CHILD#0x} pid=.*" "$(cat "$P")"
  echo 'hist:keys=common_pid:vals=pid.max if pid > 0' >"$T/events/uprobes/back/trigger"
  _call 7
  _reaches 7 "the parent's returns alone" _hits "$T/events/uprobes/back"
}

# The write gives up, since the feeder is stopped, and the kernel has the place all the same.
a_place_that_is_made_too_late_is_listed() {
  local feeder
  feeder=$(_feeder)
  echo "p:both $TARGET:$CHILD" >>"$P"
  kill -STOP "$feeder"
  assert_fails_with 'timed out' bash -c 'echo "$1" >>"$2"' - "p:both $TARGET:$COMMAND" "$P"
  kill -CONT "$feeder"
  wait_until '[ "$(wc -l <"$P")" -eq 2 ]'
  assert_eq 2 "$(_ours | wc -l)"
  echo 'hist:keys=__probe_ip' >"$T/events/uprobes/both/trigger"
  _call 4
  wait_until '[ "$(_entries both)" -ge 2 ]'
}

# The kernel takes any offset in a line, and looks at the file when the probe is turned on.
an_offset_beyond_the_file_is_refused_by_the_first_trigger() {
  local bytes far
  bytes=$(stat -c %s "$TARGET")
  far=$(printf '0x%016x' $((bytes + 1)))
  echo "p:far $TARGET:$far" >>"$P"
  assert_fails_with 'Invalid argument' bash -c 'echo hist:keys=common_pid >"$1"' - \
    "$T/events/uprobes/far/trigger"
  assert_has "$TARGET:$far is beyond the end of the file, which has $bytes bytes" \
    "$(_log "$T/error_log" | head -1)"
  assert_eq '' "$(sed '/^#/d' "$T/events/uprobes/far/trigger")"
  assert_fails_with 'Invalid argument' bash -c 'echo 1 >"$1"' - "$T/events/uprobes/far/enable"
  echo '-:far' >>"$P"
}

refusals_of_our_own_say_what_is_wrong() {
  local line
  for line in "x:a $TARGET:0x10" "p5:a $TARGET:0x10" 'p:a' 'p:a bin/bash:0x10' "p:a $TARGET" \
    '-:nothere' "p:sched/sched_switch $TARGET:0x10" \
    'e:a sched.sched_switch'; do
    assert_fails bash -c 'echo "$1" >>"$2"' - "$line" "$P"
    assert_has "probe: error: " "$(_log "$T/error_log")"
    assert_has "  Command: $line" "$(_log "$T/error_log")"
  done
}

probes_count_on_when_their_feeder_or_their_server_is_killed() {
  local event=$T/events/uprobes/child feeder server=$SERVER before
  echo "p:child $TARGET:$CHILD" >>"$P"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 5
  _reaches 5 "before" _hits "$event"
  feeder=$(_feeder)
  kill -KILL "$feeder"
  _call 6
  wait_until '[ -n "$(_feeder)" ] && [ "$(_feeder)" != '"$feeder"' ]'
  _call 7
  _reaches 18 "the kernel records on while there is no feeder" _hits "$event"
  assert_eq 1 "$(_ours | wc -l)" "the real probe was kept"
  feeder=$(_feeder)
  kill -KILL "$SERVER"
  wait_until 'serves_instead_of '"$server"
  assert_has child "$(cat "$P")"
  wait_until '[ -n "$(_feeder)" ] && [ "$(_feeder)" != '"$feeder"' ]'
  # What the server had not saved yet is lost; the rest counts on.
  before=$(_hits "$event")
  wait_until '_call 1; [ "$(_hits "'"$event"'")" -gt '"$before"' ]'
  before=$(_hits "$event")
  _call 8
  _reaches $((before + 8)) "of the new server" _hits "$event"
  assert_eq 1 "$(_ours | wc -l)" "and kept again"
}

probes_stay_through_a_reload() {
  local event=$T/events/uprobes/child server=$SERVER
  echo "r:child $TARGET:$CHILD" >>"$P"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 5
  "$TALLYFS" --reload "$MNT"
  wait_until 'serves_instead_of '"$server"
  assert_match "r:uprobes/child $TARGET:0x.*" "$(cat "$P")"
  _call 7
  # Both the parent and the child return, and none of it is lost.
  _reaches 24 "before and after the reload" _hits "$event"
  assert_eq '' "$(cat "$T/error_log")"
  assert_eq 1 "$(_ours | wc -l)"
}

# The next feeder is told of them some at a time, while the kernel has records of all.
hits_of_many_probes_count_over_a_reload() {
  local feeder reload i
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip "A NEW FEEDER TAKES LONGER THAN A SERVER WAITS FOR IT HERE"
  feeder=$(_feeder)
  for ((i = 1; i <= 80; ++i)); do echo "p:many/c$i $TARGET:$CHILD"; done >>"$P"
  for ((i = 1; i <= 80; ++i)); do
    echo 'hist:keys=common_comm' >"$T/events/many/c$i/trigger"
  done
  _call 5
  "$TALLYFS" --reload "$MNT" &
  reload=$!
  while kill -0 "$feeder" 2>/dev/null && kill -0 "$reload" 2>/dev/null; do _call 2; done
  _call 50
  wait "$reload"
  wait_until '[ -n "$(_feeder)" ] && [ "$(_feeder)" != '"$feeder"' ]'
  _call 5
  wait_until '[ "$(_many_hits)" -eq "$(_profile "$TARGET")" ]'
  assert_eq '' "$(cat "$T/error_log")"
  for ((i = 1; i <= 80; ++i)); do
    echo '!hist:keys=common_comm' >"$T/events/many/c$i/trigger"
  done
}
_many_hits() {
  awk '/^    Hits: / { sum += $2 } END { print sum + 0 }' "$T"/events/many/*/hist
}

# It is a probe of its own, and what is leaving yet does not count for it.
a_name_is_free_after_a_reload_too() {
  local event=$T/events/uprobes/child server=$SERVER
  echo 1 >"$E/enable"
  echo "p:child $TARGET:$COMMAND" >>"$P"
  echo 1 >"$event/enable"
  echo 0 >"$event/enable"
  echo '-:child' >>"$P"
  assert_eq 1 "$(_ours | wc -l)" "it is leaving"
  "$TALLYFS" --reload "$MNT"
  wait_until 'serves_instead_of '"$server"
  wait_until 'grep -q "\"tracefs\":\"on\"" "$MNT/statistics.json"' # the new feeder is there
  echo "p:child $TARGET:$CHILD" >>"$P"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 6
  _reaches 6 "of the new place alone" _hits "$event"
  assert_match "p:uprobes/child $TARGET:0x0*${CHILD#0x}" "$(cat "$P")"
  echo 0 >"$E/enable"
}

a_state_keeps_probes_and_what_is_set_on_them() {
  local event=$T/events/uprobes/child
  stop_daemon
  mkdir -m 700 "$CASE/state"
  start_daemon -o tracefs --state "$CASE/state"
  echo "p:child $TARGET:$CHILD" >>"$P"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 4
  _reaches 4 "before" _hits "$event"
  stop_daemon
  wait_until '[ -z "$(_ours)" ]'
  start_daemon -o tracefs --state "$CASE/state"
  assert_match "p:uprobes/child $TARGET:0x.*" "$(cat "$P")"
  wait_until '_call 1; [ "$(_hits "'"$event"'")" -gt 4 ]'
  assert_eq 1 "$(_ours | wc -l)"
}

nothing_is_left_at_the_end() {
  echo "p:child $TARGET:$CHILD" >>"$P"
  echo "p:off $TARGET:$COMMAND" >>"$P"
  echo 1 >"$T/events/uprobes/child/enable"
  _call 2
  assert_eq 2 "$(_ours | wc -l)"
  local supervisor
  supervisor=$(_supervisor)
  stop_daemon
  wait_until '! kill -0 '"$supervisor"' 2>/dev/null'
  assert_eq '' "$(_ours)"
  _call 1
}

# Each feeder that starts removes what is left over, also those of tests that run beside sanitizers.
_alone_on_the_machine() {
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip "FEEDERS OF OTHER TESTS WOULD REMOVE WHAT IS LEFT OVER"
}

# The kernel removes no more of a group once it has met one that is on.
of_a_group_that_is_left_over_only_what_is_in_use_stays() {
  _alone_on_the_machine
  local family group name=other$$
  printf '%s\n' "p:a $TARGET:$CHILD" "p:b $TARGET:$COMMAND" "p:c $TARGET:$CHILD" >>"$P"
  group=$(_ours | sed -n '1s/^p:\([^/]*\).*/\1/p')
  _real "mkdir instances/$name; echo 1 >instances/$name/events/$group/a_1/enable"
  family=$(_family "$DAEMON" "$(_supervisor)" | sort -u | tr '\n' ' ')
  kill -KILL $family
  _wait_for "$DAEMON" || true
  wait_until '! kill -0 '"$family"' 2>/dev/null'
  assert_fails "${TALLY_BIN:+$TALLY_BIN/}tally-feed-tracefs" --remove-orphans
  assert_match "p:$group/a_1 .*" "$(_ours)"
  assert_eq 1 "$(_ours | wc -l)" "of three"
  _real "echo 0 >instances/$name/events/$group/a_1/enable; rmdir instances/$name"
  "${TALLY_BIN:+$TALLY_BIN/}tally-feed-tracefs" --remove-orphans 2>/dev/null
  assert_eq '' "$(_ours)"
}

what_is_left_over_after_a_kill_of_all_goes_and_nothing_else_does() {
  _alone_on_the_machine
  local alive=$CASE/alive$$ family
  echo "p:child $TARGET:$CHILD" >>"$P"
  echo 1 >"$T/events/uprobes/child/enable"
  family=$(_family "$DAEMON" "$(_supervisor)" | sort -u | tr '\n' ' ')
  # Another mount, which lives.
  cp "$TARGET" "$alive"
  mkdir "$CASE/mnt2"
  "$TALLYFS" -f --socket "$CASE/run/socket2" -o tracefs "$CASE/mnt2" >"$CASE/second" 2>&1 &
  local second=$!
  echo "$second" >>"$CASE/pids"
  wait_until 'grep -qx READY "$CASE/second"'
  echo "p:alive $alive:$CHILD" >>"$CASE/mnt2/tracing/uprobe_events"
  kill -KILL $family
  _wait_for "$DAEMON" || true
  wait_until '! kill -0 '"$family"' 2>/dev/null'
  assert_eq 1 "$(_ours | wc -l)" "left over"
  "${TALLY_BIN:+$TALLY_BIN/}tally-feed-tracefs" --remove-orphans 2>/dev/null
  assert_eq '' "$(_ours)"
  assert_eq 1 "$(_real 'cat uprobe_events' | grep -c "$alive")" "of the mount that lives"
  kill -TERM "$second"
  wait "$second"
  wait_until '! _real "cat uprobe_events" | grep -q "'"$alive"'"'
}
