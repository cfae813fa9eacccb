# tallyctl probe, on the uprobes of this kernel: functions of programs that know nothing of it are
# counted and timed, and nothing is left when the command ends, however it ends.
#
# Longer than most: each case is a run of the command, and all share what starts and ends one.
_alone=yes
. ./tracing/_probes.sh
TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  need_root
  start_daemon -o tracefs
  command -v "$TALLYCTL" >/dev/null || skip "TALLYCTL IS NOT BUILT"
  [ -e "$P" ] || skip "NO UPROBES HERE: tallyctl probe IS NOT TRIED"
  export TALLY_MOUNT=$MNT
  cp "$(command -v bash)" "$TARGET"
  # It times functions of its own file, which no other process is to time meanwhile.
  cp "$(command -v "$TALLYCTL")" "$CASE/tallyctl"
  TALLYCTL=$CASE/tallyctl
}
# _start_probing COMMAND...: its PID is PROBING, and what it says is in $CASE/said.
_start_probing() {
  rm -f "$CASE/complained"
  "$TALLYCTL" probe "$@" >"$CASE/said" 2>"$CASE/complained" &
  PROBING=$!
  wait_until '_is_on || ! kill -0 '"$PROBING"
}
_is_on() { grep -qs ' are probed' "$CASE/complained"; }
_end_probing() {  # _end_probing SIGNAL STATUS
  local status=0
  kill -"$1" "$PROBING"
  wait "$PROBING" || status=$?
  assert_eq "$2" "$status" "exit status; it said: $(cat "$CASE/complained")"
}
_nothing_is_left() {
  wait_until '[ -z "$(cat "$P" "$T/dynamic_events")" ] && [ -z "$(ls "$T/instances")" ]'
}
_program() {  # of C, from the standard input, as $PROGRAM
  local compiler=${1:-${CC:-cc}}
  command -v "$compiler" >/dev/null || skip "NO COMPILER HERE: $compiler"
  PROGRAM=$CASE/program$$
  "$compiler" -x "${2:-c}" -O1 -g -o "$PROGRAM" -
}
# How many calls have begun and returned. Without --by there are FLOOR of empty functions, too.
FLOOR=1000
_timed() { _hits "$T/instances/tallyctl_$PROBING/events/synthetic/tallyctl_$PROBING"; }
# _of FUNCTION KEY: a number of $CASE/said, which is JSON.
_of() {
  py "$CASE/said" "$1" "$2" <<'EOF'
import json, sys
said = json.load(open(sys.argv[1]))
print([each[sys.argv[3]] for each in said["functions"] if each["function"] == sys.argv[2]][0])
EOF
}

calls_of_functions_are_counted() {
  need_python
  _start_probing count --json "$TARGET" make_child 'execute_comm*'
  _call 25
  _reaches 25 "in the histogram" _hits_of_make_child
  _end_probing TERM 0
  assert_eq 25 "$(_of make_child calls)"
  [ "$(_of execute_command calls)" -ge 25 ] || fail "fewer than forks" "$(cat "$CASE/said")"
  _nothing_is_left
}
# Functions are numbered by their places.
_hits_of_make_child() {
  local number
  number=$(sed -n "s/.*:0x0*$(_offset_of make_child) f=.\([0-9]*\):u32/\1/p" "$P")
  sed -n "s/{ f: *$number } hitcount: *//p" \
    "$T/instances/tallyctl_$PROBING/events/tallyctl_$PROBING/calls/hist"
}
_offset_of() { _offset_in "$TARGET" "$1"; }
_offset_in() {
  "$TALLYCTL" probe list "$1" "$2" | awk -v name="$2" '$1 == name { print substr($2, 3) }'
}

# The program measures itself while it is probed.
latencies_are_those_that_the_program_measures() {
  need_python
  _program <<'EOF'
#include <stdio.h>
#include <time.h>
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
__attribute__((noinline)) static void spin(long ns) {
  const long end = now() + ns;
  while (now() < end) continue;
}
int main(void) {
  long sum = 0;
  for (int i = 0; i < 200; ++i) {
    const long begin = now();
    spin(10000 + i % 100 * 10000);
    sum += now() - begin;
  }
  printf("%ld\n", sum);
  return 0;
}
EOF
  local own total
  _start_probing latency --json "$PROGRAM" spin
  own=$("$PROGRAM")
  wait_until '[ "$(_timed)" -ge $((200 + FLOOR)) ]'
  _end_probing TERM 0
  assert_eq 200 "$(_of spin calls)"
  total=$(_of spin total_ns)
  # The program's sum has what the entry and the way back cost, too: on an idle machine 2 us.
  [ "$total" -le "$own" ] || fail "$total ns are more than the $own ns that it took itself"
  [ "$total" -ge 100000000 ] || fail "$total ns are less than it spun"
  [ "$(_of spin p50_ns)" -ge 490000 ] || fail "p50" "$(cat "$CASE/said")"
  _nothing_is_left
}

# Of calls within each other the innermost is timed, or each by its place on the stack.
calls_within_calls_are_timed() {
  need_python
  _program <<'EOF'
__attribute__((noinline)) int nested(int n) {
  volatile int kept = n;
  return n <= 1 ? 1 : kept * nested(n - 1);
}
int main(void) {
  for (int i = 0; i < 10; ++i) nested(6);
  return 0;
}
EOF
  _start_probing latency --json --recursive "$PROGRAM" nested
  "$PROGRAM"
  wait_until '[ "$(_timed)" -ge $((60 + FLOOR)) ]'
  _end_probing TERM 0
  assert_eq 60 "$(_of nested calls)"
  assert_has_not 'not timed' "$(cat "$CASE/complained")"
  _start_probing latency --json "$PROGRAM" nested
  "$PROGRAM"
  wait_until '[ "$(_timed)" -ge $((10 + FLOOR)) ]'
  _end_probing TERM 0
  assert_eq 10 "$(_of nested calls)"
  assert_has '50 calls are not timed' "$(cat "$CASE/complained")"
  _nothing_is_left
}

# All are one event with a place for each. TALLY_FUNCTIONS: how many (200; 1,024 in a long run).
many_functions_are_counted_and_none_is_left() {
  need_python
  local functions=${TALLY_FUNCTIONS:-200} end began i
  {
    echo '#define F(n) __attribute__((noinline)) void f##n(void) { __asm__ volatile("nop"); }'
    for ((i = 1; i <= functions; ++i)); do echo "F($i)"; done
    echo 'int main(void) {'
    for ((i = 1; i <= functions; ++i)); do echo "f$i(); f$i();"; done
    echo 'return 0; }'
  } >"$CASE/functions.c"
  _program <"$CASE/functions.c"
  for end in TERM KILL; do
    _start_probing count --json "$PROGRAM" 'f[0-9]*'
    "$PROGRAM"
    wait_until '[ "$(_hits_of_all)" -ge $((2 * '"$functions"')) ]'
    began=$(now_us)
    _end_probing $end $([ $end = TERM ] && echo 0 || echo 137)
    _nothing_is_left
    wait_until '[ -z "$(_real "cat uprobe_events" | grep "'"$PROGRAM"'")" ]'
    echo "measured: $functions places were gone $((($(now_us) - began) / 1000)) ms after SIG$end"
    [ $(($(now_us) - began)) -le "$(time_limit_us 15000000)" ] || fail "later than 15 s"
    "$PROGRAM" || fail "the program ended with $?"
    [ $end = KILL ] || assert_eq $((2 * functions)) "$(_calls_of_all)"
  done
}
_hits_of_all() { _hits "$T/instances/tallyctl_$PROBING/events/tallyctl_$PROBING/calls"; }

# TALLY_PROBES: how many (20; 100 in a long run).
many_probes_that_are_on_go_with_their_daemon() {
  local probes=${TALLY_PROBES:-20} began i supervisor
  for ((i = 1; i <= probes; ++i)); do echo "p:many/c$i $TARGET:make_child"; done >>"$P"
  echo 1 >"$T/events/many/enable"
  _call 2
  for i in 1 "$probes"; do _reaches 2 "each" grep -c ": c$i: (" "$T/trace"; done
  supervisor=$(ps -o ppid= -p "$(pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1)")
  began=$(now_us)
  stop_daemon
  wait_until '! kill -0 '"$supervisor"' 2>/dev/null'
  assert_eq '' "$(_ours)"
  echo "measured: $probes probes that were on were gone $((($(now_us) - began) / 1000)) ms after it"
  [ $(($(now_us) - began)) -le "$(time_limit_us 15000000)" ] || fail "later than 15 s"
  _call 2
}

an_argument_may_be_a_row() {
  _program <<'EOF'
__attribute__((noinline)) void take(int x) { __asm__ volatile("" ::"r"(x)); }
int main(void) {
  for (int i = 0; i < 30; ++i) take(i % 3);
  return 0;
}
EOF
  _start_probing latency "$PROGRAM" take --by 'x=$arg1'
  "$PROGRAM"
  wait_until '[ "$(_timed)" -ge 30 ]'
  _end_probing TERM 0
  assert_eq 'take 0 10 take 1 10 take 2 10' \
    "$(awk '$1 == "take" { print $1, $2, $3 }' "$CASE/said" | sort | paste -sd' ')"
  _nothing_is_left
}

an_argument_may_be_negative() {
  _program <<'EOF'
__attribute__((noinline)) void take(int x) { __asm__ volatile("" ::"r"(x)); }
int main(void) {
  for (int i = 0; i < 3; ++i) take(-1);
  return 0;
}
EOF
  _start_probing latency "$PROGRAM" take --by 'x=$arg1:s32'
  "$PROGRAM"
  wait_until '[ "$(_timed)" -ge 3 ]'
  _end_probing TERM 0
  assert_eq 'take -1 3' "$(awk '$1 == "take" { print $1, $2, $3 }' "$CASE/said")"
}

# Lines with arguments name the function: both places would be in both rows.
arguments_of_functions_of_one_name_are_refused() {
  command -v "${CC:-cc}" >/dev/null || skip "NO COMPILER HERE: ${CC:-cc}"
  local i
  for i in 1 2; do
    cat >"$CASE/$i.c" <<EOF
static void __attribute__((noinline)) twin(int x) { __asm__ volatile("" ::"r"(x)); }
void call$i(void);
void call$i(void) { twin($i); }
EOF
  done
  echo 'void call1(void); void call2(void); int main(void) { call1(); call2(); return 0; }' \
    >"$CASE/main.c"
  PROGRAM=$CASE/program$$
  "${CC:-cc}" -O1 -o "$PROGRAM" "$CASE"/[12].c "$CASE/main.c"
  assert_fails_with 'several places' \
    "$TALLYCTL" probe latency "$PROGRAM" twin --by 'x=$arg1' --for 1s
  "$TALLYCTL" probe latency "$PROGRAM" twin --for 1s >/dev/null
}

# Exceptions pass functions of C libraries, too.
returns_are_refused_where_the_process_has_exceptions() {
  _program "${CXX:-c++}" c++ <<'EOF'
#include <iostream>
int main() { std::cout << std::cin.get() << std::endl; }
EOF
  local pid
  mkfifo "$CASE/in"
  "$PROGRAM" <"$CASE/in" >/dev/null &
  pid=$!
  exec 7>"$CASE/in"
  wait_until 'grep -qs libstdc++ /proc/'"$pid"'/maps'
  assert_fails_with 'has exceptions' \
    "$TALLYCTL" probe latency libc.so.6 read --pid "$pid" --for 1s
  assert_fails_with 'two processes are named' \
    "$TALLYCTL" probe count "$pid" main --pid "$$" --for 1s
  exec 7>&-
  wait "$pid"
}

# Their processes have the same number, in PID namespaces of their own.
commands_of_two_containers_do_not_meet() {
  unshare -pf true 2>/dev/null || skip "NO PID NAMESPACES HERE"
  local first second
  rm -f "$CASE/complained"
  unshare -pf "$TALLYCTL" probe count "$TARGET" make_child >"$CASE/said" 2>"$CASE/complained" &
  first=$!
  wait_until _is_on
  unshare -pf "$TALLYCTL" probe count "$TARGET" make_child >"$CASE/said2" 2>"$CASE/complained2" &
  second=$!
  wait_until 'grep -qs " are probed" "$CASE/complained2"'
  assert_eq 'tallyctl_1/calls tallyctl_1_2/calls' \
    "$("$TALLYCTL" probe ls | awk 'NR > 1 { print $1 }' | xargs)"
  assert_has_not 'has ended' "$("$TALLYCTL" probe ls)"
  kill -TERM $(cat /proc/{$first,$second}/task/*/children)
  wait "$first" "$second"
  _nothing_is_left
}

only_a_process_is_counted_that_is_named() {
  need_python
  _program <<'EOF'
#include <unistd.h>
__attribute__((noinline)) void take(int x) { __asm__ volatile("" ::"r"(x)); }
int main(void) {
  char c;
  while (read(0, &c, 1) == 1) take(c);
  return 0;
}
EOF
  local pid
  mkfifo "$CASE/in"
  "$PROGRAM" <"$CASE/in" &
  pid=$!
  exec 7>"$CASE/in"
  _start_probing count --json "$pid" take 7>&-
  head -c 20 /dev/zero | "$PROGRAM"
  head -c 5 /dev/zero >&7
  exec 7>&-
  wait "$pid"
  wait_until '[ "$(_hits "$T/instances/tallyctl_$PROBING/events/tallyctl_$PROBING/calls")" -ge 5 ]'
  _end_probing TERM 0
  assert_eq 5 "$(_of take calls)"
}

_tables() { wc -l <"$CASE/said"; }
_calls_of_all() {  # of $CASE/said, which has a table each line
  py "$CASE/said" <<'EOF'
import json, sys
tables = [json.loads(line) for line in open(sys.argv[1])]
print(sum(each["calls"] for table in tables for each in table["functions"]))
EOF
}

# The last table has what came since the one before.
tables_come_by_the_interval_and_at_the_end() {
  need_python
  "$TALLYCTL" probe count --json --every 1s --for 1s "$TARGET" make_child >"$CASE/said"
  [ "$(_tables)" -ge 1 ] || fail "no table"
  "$TALLYCTL" probe count --json --for 1s "$TARGET" make_child >"$CASE/said"
  assert_eq 1 "$(_tables)" "without intervals"
  "$TALLYCTL" probe count --json --every 100ms --count 2 "$TARGET" make_child >"$CASE/said"
  assert_eq 2 "$(_tables)" "so many are wanted"
  "$TALLYCTL" probe count --json --count 1 "$TARGET" make_child >"$CASE/said"
  assert_eq 1 "$(_tables)" "after a second"
  _start_probing count --json --every 1h "$TARGET" make_child
  _call 7
  _reaches 7 "in the histogram" _hits_of_make_child
  _end_probing TERM 0
  assert_eq 7 "$(_calls_of_all)"
  _nothing_is_left
}

# As nohup has it: the command goes on.
an_ignored_signal_stays_ignored() {
  local tables
  trap '' HUP
  _start_probing count --json --every 100ms "$TARGET" make_child
  trap - HUP
  kill -HUP "$PROBING"
  tables=$(_tables)
  wait_until '[ "$(_tables)" -ge '$((tables + 3))' ]'
  _end_probing TERM 0
  _nothing_is_left
}

what_stays_is_removed_by_its_name() {
  local name
  _start_probing count --stay "$TARGET" make_child
  name=tallyctl_$PROBING
  _end_probing TERM 0
  assert_has "$name/calls" "$("$TALLYCTL" probe ls)"
  "$TALLYCTL" probe rm "$name"
  _nothing_is_left
  assert_fails_with 'no such probes' "$TALLYCTL" probe rm "$name"
  assert_fails "$TALLYCTL" probe rm tallyctl_typo
}

# The command does its guardian's work, if that was killed.
a_killed_guardian_leaves_nothing() {
  _start_probing count "$TARGET" make_child
  kill -KILL "$(_family "$PROBING" | tail -1)"
  _end_probing TERM 0
  _nothing_is_left
  _start_probing count --stay "$TARGET" make_child
  kill -KILL "$(_family "$PROBING" | tail -1)"
  _end_probing TERM 0
  "$TALLYCTL" probe rm "tallyctl_$PROBING"
  _nothing_is_left
}

# The guardian sees the end of a command that was killed.
a_kill_leaves_nothing() {
  _start_probing latency "$TARGET" 'make_*' 'execute_*'
  [ "$(wc -l <"$P")" -gt 2 ] || fail "it has no probes"
  _end_probing KILL 137
  _nothing_is_left
  _call 3
}

# After a kill of the guardian, too, something is left, and a command names it.
what_is_left_over_is_listed_and_removed() {
  local name
  _start_probing count "$TARGET" make_child
  name=tallyctl_$PROBING
  kill -KILL "$(_family "$PROBING" | tail -1)"
  kill -KILL "$PROBING"
  wait "$PROBING" || true
  assert_match "$name/calls +entry +1 +0 +$TARGET +its command has ended: tallyctl probe rm $name" \
    "$("$TALLYCTL" probe ls | grep calls)"
  "$TALLYCTL" probe rm "$name"
  _nothing_is_left
}

# Its group is one that no supervisor has locked.
what_a_killed_mount_has_left_is_named() {
  local group=tallyfs_$$_4711
  "$TALLYCTL" probe add "$TARGET" make_child --name child >/dev/null
  assert_has_not ' of a killed tallyfs' "$("$TALLYCTL" probe ls)"
  _append "$(_ours | sed "s|^p:[^ ]*|p:$group/child_1|")"
  assert_has "$group: of a killed tallyfs: tally-feed-tracefs --remove-orphans" \
    "$("$TALLYCTL" probe ls)"
  assert_has "{\"event\":\"$group/\",\"program\":null," "$("$TALLYCTL" probe ls --json)"
  assert_has '"orphan":true,"note":"of a killed tallyfs: ' "$("$TALLYCTL" probe ls --json)"
  assert_match ".*WARN +probes +1 \\($group\\) left in the kernel .* do: tally-feed-tracefs .*" \
    "$(("$TALLYCTL" doctor || true) | tr -s ' \n' ' ')"
  "${TALLY_BIN:+$TALLY_BIN/}tally-feed-tracefs" --remove-orphans
  assert_has_not "$group" "$("$TALLYCTL" probe ls)"
  "$TALLYCTL" probe rm child
}

probes_are_added_listed_and_removed() {
  local event=$T/events/uprobes/child
  assert_eq "$event" "$("$TALLYCTL" probe add "$TARGET" make_child --name child)"
  assert_eq "$T/events/uprobes/r_${TARGET##*/}_make_child" \
    "$("$TALLYCTL" probe add "$TARGET" make_child --return)"
  assert_match "uprobes/child +entry +1 +0 +$TARGET" \
    "$("$TALLYCTL" probe ls | grep -m1 child)"
  echo 'hist:keys=common_comm' >"$event/trigger"
  _call 4
  _reaches 4 "forks" _hits "$event"
  assert_match "uprobes/child +entry +1 +4 +$TARGET" \
    "$("$TALLYCTL" probe ls | grep -m1 child)"
  assert_fails_with 'in use' "$TALLYCTL" probe rm child
  "$TALLYCTL" probe rm --force child
  "$TALLYCTL" probe rm "r_${TARGET##*/}_make_child"
  wait_until '[ "$("$TALLYCTL" probe ls)" = "no probes" ]'
}

# The kernel has it as long as it records another event.
a_probe_that_is_leaving_is_named() {
  echo 1 >"$E/enable"
  "$TALLYCTL" probe add "$TARGET" make_child --name child >/dev/null
  echo 1 >"$T/events/uprobes/child/enable"
  _call 3
  "$TALLYCTL" probe rm --force child
  assert_match "child +- +1 +3 +$TARGET +leaving: .*" "$("$TALLYCTL" probe ls | grep child)"
  assert_has '"event":"child",' "$("$TALLYCTL" probe ls --json)"
  assert_has '"leaving":true,' "$("$TALLYCTL" probe ls --json)"
  assert_match ".* probes +1 \(child\) leaving: they were removed.*" \
    "$(("$TALLYCTL" doctor || true) | tr -s ' \n' ' ')"
  assert_fails_with 'no such probe' "$TALLYCTL" probe rm child
  echo 0 >"$E/enable"
  wait_until '[ "$("$TALLYCTL" probe ls)" = "no probes" ]'
}

# _build TEXT [NAME]: work(), or NAME(), has other code before it in each build.
_build() {
  _program <<EOF
#include <stdlib.h>
$1
__attribute__((noinline)) void ${2:-work}(int n) { __asm__ volatile("" ::"r"(n)); }
int main(int argc, char **argv) {
  for (int i = atoi(argv[argc - 1]); i > 0; --i) ${2:-work}(i);
  return 0;
}
EOF
}
_note_of() { "$TALLYCTL" probe ls | sed -n "s|^uprobes/$1 .*$PROGRAM *||p"; }

# The kernel's probe stays with the file that was there, and what is set on it stays with its name.
a_probe_of_a_program_that_was_replaced_is_renewed() {
  local event=$T/events/uprobes/work before
  mkdir "$T/instances/other"
  _build 'int unused;'
  "$TALLYCTL" probe add "$PROGRAM" work 'n=$arg1:s32' --name work >/dev/null
  echo 'hist:keys=common_comm:vals=n.max' >"$event/trigger"
  echo 1 >"$T/instances/other/events/uprobes/work/enable"
  "$PROGRAM" 5
  _reaches 5 "of the first build" _hits "$event"
  assert_eq '' "$(_note_of work)"
  before=$(grep -o ':0x[0-9a-f]*' "$P")
  mv "$PROGRAM" "$PROGRAM.old" # as a package manager does: another file has the name
  _build 'void other(void) { volatile int i = 0; while (i < 9) i += 2; while (i > 3) i -= 4; }'
  "$PROGRAM" 3
  assert_eq 'stale: tallyctl probe renew uprobes/work' "$(_note_of work)"
  assert_has '"stale":true' "$("$TALLYCTL" probe ls --json)"
  assert_match '.*WARN +probes +1 \(uprobes/work\) stale: .* do: tallyctl probe renew NAME.*' \
    "$(("$TALLYCTL" doctor || true) | tr -s ' \n' ' ')"
  assert_eq 5 "$(_hits "$event")" "the new file is not probed"
  "$TALLYCTL" probe renew work
  assert_eq '' "$(_note_of work)"
  assert_has_not "$before" "$(cat "$P")"
  "$PROGRAM" 9
  "$PROGRAM.old" 4
  _reaches 14 "of both builds" _hits "$event"
  assert_match '.* hitcount: +14 +n.max: +9' "$(grep -m1 '^{' "$event/hist")"
  _reaches 9 "of the new event" grep -c ': work: (' "$T/instances/other/trace"
  # Nothing changes if the function has gone.
  mv "$PROGRAM" "$PROGRAM.old"
  _build 'int unused;' labour
  assert_fails_with 'no function work' "$TALLYCTL" probe renew uprobes/work
  assert_eq 'stale: tallyctl probe renew uprobes/work' "$(_note_of work)"
  "$PROGRAM.old" 2
  _reaches 16 "of the old probe" _hits "$event"
  assert_fails_with 'no such probe' "$TALLYCTL" probe renew nothing
}

# A pattern is added as an offset, which in the new file may be in the midst of an instruction.
a_probe_by_offset_is_not_renewed_in_another_file() {
  local event=$T/events/uprobes/work
  _build 'int unused;'
  "$TALLYCTL" probe add "$PROGRAM" 'wor?' --name work >/dev/null
  echo 'hist:keys=common_comm' >"$event/trigger"
  "$PROGRAM" 5
  _reaches 5 "of the first build" _hits "$event"
  "$TALLYCTL" probe renew work
  mv "$PROGRAM" "$PROGRAM.old"
  _build 'void other(void) { volatile int i = 0; while (i < 9) i += 2; while (i > 3) i -= 4; }'
  assert_eq 'stale: tallyctl probe rm uprobes/work, then add it again' "$(_note_of work)"
  assert_fails_with 'the offset is of the file that was there' "$TALLYCTL" probe renew work
  "$PROGRAM.old" 2
  _reaches 7 "of the old probe" _hits "$event"
  "$TALLYCTL" probe rm --force work
}

a_group_is_removed_with_what_is_set_on_it() {
  "$TALLYCTL" probe add "$TARGET" make_child --name ours/one >/dev/null
  "$TALLYCTL" probe add "$TARGET" execute_command --name ours/two >/dev/null
  "$TALLYCTL" probe add "$TARGET" make_child --name others/one >/dev/null
  echo 'hist:keys=common_comm' >"$T/events/ours/one/trigger"
  mkdir "$T/instances/x"
  echo 1 >"$T/instances/x/events/ours/two/enable"
  assert_fails_with 'in use' "$TALLYCTL" probe rm ours/
  "$TALLYCTL" probe rm --force ours/
  rmdir "$T/instances/x"
  wait_until '[ "$("$TALLYCTL" probe ls | sed "1d; s/ .*//")" = others/one ]'
  "$TALLYCTL" probe rm others/one
}

the_cost_of_a_hit_is_measured() {
  need_python
  "$TALLYCTL" probe cost --json >"$CASE/costs"
  py "$CASE/costs" <<'EOF'
import json, sys
costs = {each["probe"]: each for each in json.load(open(sys.argv[1]))["costs"]}
assert {"emulated", "stepped", "return_emulated", "entry_and_return"} <= set(costs), costs
for each in costs.values():
    # What a slow feeder cannot take is lost.
    assert 0 < each["hits"] <= each["calls"] == 45000, each
    assert each["hit_ns"] > each["bare_ns"], each
EOF
  _nothing_is_left
}

# The functions that both call would count for both.
a_cost_is_not_measured_beside_a_latency() {
  _start_probing latency "$TARGET" make_child
  assert_fails_with 'another tallyctl' "$TALLYCTL" probe cost
  _end_probing TERM 0
}

# A probed return takes the place of the return address, which exceptions and longjmp look for.
returns_are_refused_where_they_would_end_the_program() {
  _program "${CXX:-c++}" c++ <<'EOF'
__attribute__((noinline)) int thrower(int x) { if (x > 0) throw x; return x; }
int main() {
  try { thrower(1); } catch (int) { return 0; }
  return 1;
}
EOF
  assert_fails_with 'has exceptions' "$TALLYCTL" probe latency "$PROGRAM" 'thrower' --for 1s
  assert_fails_with 'has exceptions' "$TALLYCTL" probe add "$PROGRAM" 'thrower(int)' --return
  assert_fails_with 'make the program crash' "$TALLYCTL" probe latency libc.so.6 vfork --for 1s
  assert_fails_with 'has exceptions' "$TALLYCTL" probe add "$PROGRAM" 'thrower(int)%return'
  assert_fails_with 'has exceptions' "$TALLYCTL" probe add "$PROGRAM" 0x1234 --return
  assert_fails_with 'has exceptions' "$TALLYCTL" probe add "$PROGRAM" 0x1234%return
  assert_fails_with 'nothing follows' "$TALLYCTL" probe add "$PROGRAM" 'thrower%return(0x10)'
  assert_fails_with 'no function is known' "$TALLYCTL" probe add "$TARGET" 0x1 --return
  assert_fails_with 'make the program crash' \
    "$TALLYCTL" probe add libc.so.6 "0x$(_offset_in libc.so.6 vfork)" --return
  assert_eq '' "$(cat "$P")"
  _start_probing count "$PROGRAM" 'thrower'
  "$PROGRAM" || fail "the program ended with $?"
  _end_probing TERM 0
}

refusals_say_what_to_do() {
  assert_fails_with 'did you mean make_child?' "$TALLYCTL" probe count "$TARGET" make_chilt
  assert_fails_with 'no program nothing-here in $PATH' "$TALLYCTL" probe count nothing-here f
  "$TARGET" -c 'read -r <>"$0"' "$CASE/never" &
  local running=$!
  echo "$running" >>"$CASE/pids"
  wait_until '[ /proc/'"$running"'/exe -ef "$TARGET" ]'
  assert_fails_with "in \$PATH; process $running runs $TARGET: name one of these two" \
    "$TALLYCTL" probe count "${TARGET##*/}" f
  kill "$running"
  assert_fails_with 'not ELF' "$TALLYCTL" probe list /etc/passwd
  assert_fails_with 'chosen at run time' "$TALLYCTL" probe count libc.so.6 memcpy
  assert_fails_with 'tallyctl probe --help' "$TALLYCTL" probe
  assert_fails_with 'at most 4093 bytes' "$TALLYCTL" probe latency --for 1s \
    --by "$(printf 'x%.0s' {1..20000})=\$arg1" "$TARGET" make_child
  _nothing_is_left
}
