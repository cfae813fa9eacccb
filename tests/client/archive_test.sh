#!/usr/bin/env bash
# The names that libtally shows to the linker, in the archive and in the shared library: those of
# libtally.map alone, so that a program may have any others. A clock brings no sockets along.
. "$(dirname "$0")/../feeders/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
LIB=$(cd "$BIN/../lib" && pwd)
for each in cc nm; do command -v "$each" >/dev/null || skip_all "no $each"; done
nm -C "$LIB/libtally.a" 2>/dev/null | grep -q '__asan\|__tsan' && skip_all "a sanitizer's library"

# Without those of clock.h where the library is built without it.
public=$(sed -nE 's/^ +([a-z_0-9]+);$/\1/p' "$ROOT/feeders/client/libtally.map" | sort)
visible() {
  nm -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' |
    grep -v '^LIBTALLY_' | sort
}
check_eq "$public" "$(visible "$LIB/libtally.a")" \
  "the archive shows the names of libtally.map and no others"
check_eq "$public" "$(visible -D "$LIB/libtally.so")" "so does the shared library"
check_eq '' "$(nm -u -C "$LIB/libtally.a" 2>/dev/null | grep tallyfs::)" \
  "the archive lacks nothing of its own"

# The child of a fork() that comes while another thread initializes such a variable waits for ever.
check_eq '' "$(nm -u "$LIB/libtally.a" "$LIB/libtally.so" 2>/dev/null | grep guard_acquire)" \
  "no variable that is static in a function is initialized behind a lock"

# link SOURCE OPTION...: a program in C with the archive.
link() {
  local text=$1
  shift
  cc -std=gnu11 -Wall -Wextra -Werror -x c "-I$ROOT/include" - -o "$WORK/program" -x none \
    "$@" "$LIB/libtally.a" -lstdc++ -lm -pthread <<<"$text"
}
sockets() {
  nm -D "$WORK/program" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
    grep -xE 'socket|connect|send|sendto|recvmsg'
}

check "a program with a clock links" link '#include <tally/clock.h>
int main(void) { return sched_clock() == 0; }'
check "and runs" "$WORK/program"
check_eq '' "$(sockets)" "without sockets"
check "a program with all of it links" link '#include <tally/clock.h>
#include <tally/statistic.h>
int main(void) {
  struct statistic_interface *interface;
  return sched_clock() == 0 || statistic_create_interface(&interface, "a b", 0) == 0;
}'
check "and runs" "$WORK/program"
check "that has sockets" [ -n "$(sockets)" ]
check "a program has any name that is not public" link '#include <tally/statistic.h>
int path_of(int x); int path_of(int x) { return x; }
int main(void) { statistic_flush(); return path_of(0); }'
exit $((FAILED != 0))
