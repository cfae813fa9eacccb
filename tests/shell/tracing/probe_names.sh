# Places by name in uprobe_events: functions and markers of programs that know nothing of it.
_alone=yes
. ./tracing/_probes.sh

_set_up() {
  need_root
  start_daemon -o tracefs
  [ -e "$P" ] || skip "no uprobes here"
  cp "$(command -v bash)" "$TARGET"
}
_event() { echo "$T/events/uprobes/$1"; }
_program() {  # _program LANGUAGE: of the text on the standard input, as $PROGRAM
  local compiler=${CC:-cc}
  [ "$1" = c ] || compiler=${CXX:-c++}
  command -v "$compiler" >/dev/null || skip "NO COMPILER HERE: $compiler"
  PROGRAM=$CASE/program$$
  "$compiler" -x "$1" -O1 -g -o "$PROGRAM" -
}
# _refused LINE REASON CARET: with this reason, a pattern, and the caret under this part of it.
_refused() {
  local before=${1%%"$3"*}
  assert_fails bash -c 'echo "$1" >>"$2"' - "$1" "$P"
  assert_match "\[T\] probe: error: $2" "$(_log "$T/error_log" | head -1)"
  assert_eq "  Command: $1
$(printf '%*s^' $((11 + ${#before})) '')" "$(_log "$T/error_log" | tail -2)"
}

# In a copy of libc, which one program alone has.
each_call_of_malloc_counts() {
  local libc all
  libc=$(sed -n 's/.* \(\/.*\/libc\.so\.6\)$/\1/p' /proc/self/maps | head -1)
  [ -n "$libc" ] || skip "no libc.so.6 here"
  mkdir "$CASE/lib"
  cp "$libc" "$CASE/lib/libc.so.6"
  libc=$CASE/lib/libc.so.6
  echo "p:alloc $libc:malloc size=\$arg1" >>"$P"
  assert_match "p:uprobes/alloc $libc:0x[0-9a-f]+ size=%.*:u64" "$(cat "$P")"
  echo 'hist:keys=common_pid.execname:vals=size.p99,size.max' >"$(_event alloc)/trigger"
  LD_LIBRARY_PATH=$CASE/lib "$TARGET" -c 'for ((i = 0; i < 2000; ++i)); do a[i]=$i; done'
  all=$(_profile "$libc")
  [ "$all" -ge 2000 ] || fail "malloc was called $all times"
  _reaches "$all" "as the kernel has counted" _hits "$(_event alloc)"
  # Which variants there are is known where the debug file of libc is.
  _refused "p:a $libc:memcpy" "memcpy is chosen at run time(: name one of __memcpy_.*)?" memcpy
  _refused "p:a $libc:mallok" "no function mallok.*; did you mean malloc\?" mallok
}

# A file that no other mount namespace has, as a container's.
a_program_of_a_container_is_probed_through_its_process() {
  local path container
  mkdir "$CASE/inner"
  mkfifo "$CASE/go"
  unshare -m bash -c 'mount -t tmpfs none "$1" && cp "$2" "$1/program" &&
    exec "$1/program" -c "$3" - "$4"' - "$CASE/inner" "$TARGET" \
    'read -r _ <"$1"; for i in 1 2 3; do (:); done; read -r _ <"$1"' "$CASE/go" &
  container=$!
  echo "$container" >>"$CASE/pids"
  path=/proc/$container/root$CASE/inner/program
  wait_until '[ /proc/'"$container"'/exe -ef '"$path"' ]'
  [ ! -e "$CASE/inner/program" ] || fail "the file is here, too"
  echo "p:child $path:make_child" >>"$P"
  assert_has events/uprobes/again \
    "$("$TALLY_BIN/tallyctl" --mount "$MNT" probe add "$container" make_child --name again)"
  assert_has " $path:0x" "$(grep again "$P")"
  echo 'hist:keys=common_comm' >"$(_event child)/trigger"
  echo >"$CASE/go"
  _reaches 3 "children in the container" _hits "$(_event child)"
  assert_match '.*"line":"p:child .*"hits":3,"stale":null.*' "$(cat "$T/probes.json")"
  echo >"$CASE/go"
  wait "$container"
}

# As root in a container may be. This shell has the right.
without_the_right_to_follow_another_process_it_says_what_to_write() {
  need setpriv
  local path=/proc/$$/root$TARGET
  stop_daemon
  printf '#!/bin/sh\nexec setpriv --bounding-set=-sys_ptrace %s "$@"\n' "$TALLYFS" >"$CASE/less"
  chmod 755 "$CASE/less"
  TALLYFS=$CASE/less start_daemon -o tracefs
  _refused "p:a $path:make_child" \
    "cannot open $path: Permission denied: write the path that the host has" /proc
}

a_name_is_enough_for_an_event_and_its_return() {
  echo "p $TARGET:make_child" >>"$P"
  echo "r $TARGET:make_child pid=\$retval:s32" >>"$P"
  echo 'hist:keys=common_comm' >"$(_event "p_${TARGET##*/}_make_child")/trigger"
  echo 'hist:keys=common_pid:vals=pid.max if pid > 0' \
    >"$(_event "r_${TARGET##*/}_make_child")/trigger"
  _call 7
  _reaches 7 "entries" _hits "$(_event "p_${TARGET##*/}_make_child")"
  _reaches 7 "the parent's returns" _hits "$(_event "r_${TARGET##*/}_make_child")"
  local lines
  echo '!hist:keys=common_comm' >"$(_event "p_${TARGET##*/}_make_child")/trigger"
  echo '!hist:keys=common_pid:vals=pid.max if pid > 0' \
    >"$(_event "r_${TARGET##*/}_make_child")/trigger"
  lines=$(cat "$P")
  : >"$P"
  echo "$lines" >>"$P"
  assert_eq "$lines" "$(cat "$P")" "what is read may be written again"
}

static_functions_strings_and_seven_arguments_are_there() {
  _program c <<'EOT'
static __attribute__((noinline, noclone)) long add(int a, int b, int c, int d, int e, int f, int g,
                                                   const char* name) {
  __asm__ volatile("" ::"r"(name) : "memory");
  return a + b + c + d + e + f + g;
}
int main(int argc, char** argv) {
  long sum = 0;
  for (int i = 0; i < 5; ++i) sum += add(i, 2, 3, 4, 5, 6, 7, argv[argc - 1]);
  return sum == 0;
}
EOT
  echo "p:add $PROGRAM:add first=\$arg1:s32 last=\$arg7:s32 name=+0(\$arg8):string" >>"$P"
  echo 'hist:keys=name,last:vals=first.max' >"$(_event add)/trigger"
  "$PROGRAM" hello
  _reaches 5 "calls" _hits "$(_event add)"
  assert_match '\{ name: hello *, last: +7 \} hitcount: +5 +first.max: +4' \
    "$(grep -m1 '^{' "$(_event add)/hist")"
  strip "$PROGRAM" 2>/dev/null || skip "NO strip HERE"
  _refused "p:b $PROGRAM:add" "no function add \(the file is stripped\)" add
}

functions_of_cxx_are_named_without_their_parameters() {
  _program c++ <<'EOT'
namespace web {
struct Cache {
  __attribute__((noinline)) int get(int key) const { asm volatile(""); return key + size; }
  int size = 1;
};
__attribute__((noinline)) int twice(int x) { asm volatile(""); return x * 2; }
__attribute__((noinline)) double twice(double x) { asm volatile(""); return x * 2; }
}
int main(int argc, char**) {
  volatile int sum = 0;
  const web::Cache cache;
  for (int i = 0; i < 6; ++i) sum += cache.get(i) + web::twice(argc);
  return web::twice(1.5 * sum) == 0;
}
EOT
  echo "p:get $PROGRAM:web::Cache::get key=\$arg2:s32" >>"$P"
  echo "p $PROGRAM:web::twice" >>"$P"
  assert_eq 2 "$(grep -c "_web__twice " "$P")" "a place for each"
  echo 'hist:keys=common_comm:vals=key.max' >"$(_event get)/trigger"
  echo 'hist:keys=__probe_ip' >"$(_event "p_${PROGRAM##*/}_web__twice")/trigger"
  "$PROGRAM"
  _reaches 6 "calls" _hits "$(_event get)"
  assert_match '.* key.max: +5' "$(grep -m1 '^{' "$(_event get)/hist")"
  _reaches 7 "of both" _hits "$(_event "p_${PROGRAM##*/}_web__twice")"
}

a_stripped_program_has_the_names_of_its_debug_file() {
  command -v objcopy >/dev/null || skip "NO objcopy HERE: INSTALL binutils"
  _program c <<'EOT'
static __attribute__((noinline, noclone)) int hidden(int x) { __asm__ volatile(""); return x; }
int main(void) { return hidden(1) - hidden(1); }
EOT
  (cd "$CASE" && objcopy --only-keep-debug "$PROGRAM" program.debug &&
    objcopy --strip-all --add-gnu-debuglink=program.debug "$PROGRAM")
  echo "p:hidden $PROGRAM:hidden x=\$arg1:s32" >>"$P"
  echo 'hist:keys=x' >"$(_event hidden)/trigger"
  "$PROGRAM"
  _reaches 2 "calls" _hits "$(_event hidden)"
}

# The line that is typed at a terminal is what readline() returns.
what_is_typed_into_an_unmodified_bash_is_seen() {
  need_python
  if ! echo "r:line $TARGET:readline line=+0(\$retval):string" >>"$P" 2>/dev/null; then
    skip "this bash has no readline of its own: $(_log "$T/error_log" | head -1)"
  fi
  echo 'hist:keys=line' >"$(_event line)/trigger"
  py "$TARGET" <<'EOT'
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.environ["PS1"] = "ready>"
    os.execv(sys.argv[1], [sys.argv[1], "--norc", "--noprofile", "-i"])
said = b""
for line in (b": one", b": two words", b"exit"):
    while b"ready>" not in said:
        said += os.read(terminal, 4096)
    said = b""
    os.write(terminal, line + b"\n")
try:
    while os.read(terminal, 4096):
        pass
except OSError:
    pass
os.waitpid(child, 0)
EOT
  _reaches 3 "lines" _hits "$(_event line)"
  assert_eq ': one|: two words|exit' \
    "$(sed -nE 's/^\{ line: (.*[^ ]) *\} hitcount: +1$/\1/p' "$(_event line)/hist" |
      sort | paste -sd'|')"
}

# Arguments of Go are in registers of its own; returns would crash it.
entries_of_a_go_program_count() {
  command -v go >/dev/null || skip "NO go HERE"
  mkdir "$CASE/go"
  PROGRAM=$CASE/go/program$$
  cat >"$CASE/go/main.go" <<'EOT'
package main

import "fmt"

//go:noinline
func work(n int, name string) int { return n + len(name) }

func main() {
	sum := 0
	done := make(chan int)
	for i := 1; i <= 4; i++ {
		go func(i int) {
			s := 0
			for k := 0; k < 100; k++ {
				s += work(i, "name")
			}
			done <- s
		}(i)
	}
	for i := 0; i < 4; i++ {
		sum += <-done
	}
	fmt.Println(sum)
}
EOT
  (cd "$CASE/go" && HOME=$CASE GOCACHE=${TALLY_GOCACHE:-$CASE/go/cache} GO111MODULE=off \
    go build -o "$PROGRAM" main.go) || skip "go builds nothing here"
  echo "p:work $PROGRAM:main.work n=\$arg1:s64 length=\$arg3:s64" >>"$P"
  echo 'hist:keys=n:vals=length.max' >"$(_event work)/trigger"
  assert_eq 2600 "$("$PROGRAM")" "it is unharmed"
  _reaches 400 "calls of all goroutines" _hits "$(_event work)"
  assert_eq 'n: 1 100 4 n: 2 100 4 n: 3 100 4 n: 4 100 4' \
    "$(sed -nE 's/^\{ (n: +[0-9]+) \} hitcount: +([0-9]+) +length.max: +([0-9]+)/\1 \2 \3/p' \
      "$(_event work)/hist" | tr -s ' ' | sort | paste -sd' ')"
  _refused "r:back $PROGRAM:main.work" '.*makes Go programs crash.*' main.work
}

# Each import of Python is one hit of its marker, and one line of -X importtime.
markers_of_an_unmodified_python_count() {
  need_python
  local python=$CASE/python$$ lines
  cp "$("$PYTHON" -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$python"
  if ! echo "p:import $python:python:import__find__load__start name=+0(\$arg1):ustring" >>"$P"; then
    skip "this Python has no markers: $(_log "$T/error_log" | head -1)"
  fi
  assert_match "p:uprobes/import $python:0x[0-9a-f]+\(0x[0-9a-f]+\) name=\+0\(%.*\):ustring" \
    "$(cat "$P")"
  echo 'hist:keys=name' >"$(_event import)/trigger"
  lines=$("$python" -X importtime -c 'import json' 2>&1 >/dev/null | grep -c '^import time: *[0-9]')
  _reaches "$lines" "imports" _hits "$(_event import)"
  assert_has 'name: json.decoder' "$(cat "$(_event import)/hist")"
  echo "p:done $python:python:import__find__load__done" >>"$P"
  assert_match "p:uprobes/done .* arg1=.*:u64 arg2=.*:s32" "$(grep /done "$P")"
  _refused "p:b $python:python:import" "no marker python:import" python:import
}

refusals_say_why_and_where() {
  _refused "p:a $TARGET:make_chilt" "no function make_chilt.*; did you mean make_child\?" make_chilt
  _refused "p:a $TARGET:make_child+0x100000  x=%di" "make_child has [0-9]+ bytes" "make_child+"
  _refused "p:a $TARGET:fork" "fork is in another file" fork
  _refused "p:a /nowhere/x:f" "cannot open /nowhere/x: No such file or directory" /nowhere
  _refused "p:a /proc/self/mem:f" "no program: the file is not ELF" /proc
  _refused "p:a $MNT/tracing/trace:f" "$MNT/tracing/trace is a file of tallyfs" "$MNT"
  _refused "p:a $TARGET:make_child%return x=\$arg1" \
    "a return has no arguments: .retval is there" "\$arg1"
  _refused "p:a $TARGET:make_child(int)" "a function's name stands without its parameters" "(int)"
  assert_eq '' "$(cat "$P")"
  # The kernel's own refusal, under what was written.
  local line="p:a  $TARGET:make_child   x=%zz"
  assert_fails bash -c 'echo "$1" >>"$2"' - "$line" "$P"
  assert_eq "[T] trace_uprobe: error: Invalid register name
  Command: $line
$(printf '%*s^' $((11 + ${#line} - 3)) '')" "$(_log "$T/error_log")"
}

# Of a program with a function that gets other code before it in a later build.
_build() {
  _program c <<EOT
#include <stdlib.h>
$1
__attribute__((noinline)) void work(int n) { __asm__ volatile("" ::"r"(n)); }
int main(int argc, char **argv) {
  for (int i = atoi(argv[argc - 1]); i > 0; --i) work(i);
  return 0;
}
EOT
}

a_state_finds_names_again_in_another_build() {
  local event before
  event=$(_event work)
  stop_daemon
  mkdir -m 700 "$CASE/state"
  start_daemon -o tracefs --state "$CASE/state"
  _build '__attribute__((noinline)) void gone(void) { __asm__ volatile(""); }'
  printf '%s\n' "p:work $PROGRAM:work n=\$arg1:s32" "p:gone $PROGRAM:gone" >>"$P"
  echo 'hist:keys=common_comm:vals=n.max' >"$event/trigger"
  echo 'hist:keys=common_comm' >"$(_event gone)/trigger"
  "$PROGRAM" 5
  _reaches 5 "of the first build" _hits "$event"
  before=$(grep -o ':0x[0-9a-f]*' "$P" | head -1)
  stop_daemon
  _build 'void other(void) { volatile int i = 0; while (i < 9) i += 2; while (i > 3) i -= 4; }'
  start_daemon -o tracefs --state "$CASE/state"
  wait_until 'grep -q "^p:uprobes/work .*:0x" "$P"'
  assert_has_not "$before" "$(cat "$P")"
  wait_until '"$PROGRAM" 1; [ "$(_hits "'"$event"'")" -gt 5 ]'
  before=$(_hits "$event")
  "$PROGRAM" 9
  _reaches $((before + 9)) "of the second build" _hits "$event"
  assert_has "p:gone $PROGRAM:gone" "$(cat "$P")"
  wait_until 'grep -q "probe: error: no function gone" "$T/error_log"'
  echo '!hist:keys=common_comm' >"$(_event gone)/trigger"
  echo '-:gone' >>"$P"
  assert_has_not gone "$(cat "$P")"
}
