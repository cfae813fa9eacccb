#!/usr/bin/env bash
# libtally as a builder of feeders meets it: installed, found by pkg-config and CMake, linked shared
# and static, its ABI that of the last release; and the examples, compiled and run against a daemon.
. "$(dirname "$0")/../feeders/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "$BIN/.." && pwd)
PREFIX=$WORK/prefix
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
for each in pkg-config cmake cc c++ socat; do command -v "$each" >/dev/null ||
  skip_all "no $each"; done

quietly() { "$@" >"$WORK/said" 2>&1 || { cat "$WORK/said"; return 1; }; }

check "it installs" quietly cmake --install "$BUILD" --prefix "$PREFIX" --component client
LIB=$PREFIX/$(cd "$PREFIX" && dirname lib*/libtally.so lib/*/libtally.so 2>/dev/null |
  grep -v '\*' | head -1)
export PKG_CONFIG_PATH=$LIB/pkgconfig LD_LIBRARY_PATH=$LIB
# It was configured for another prefix.
tally_config() { pkg-config "$@" tally; }

soname=$(objdump -p "$LIB/libtally.so" | awk '$1 == "SONAME" { print $2 }')
check_eq libtally.so.0 "$soname" "the SONAME is libtally.so.0"
# The functions between TALLY_EXPORT and semicolon.
declared() { awk '/^TALLY_EXPORT/ { on = 1 } on { text = text " " $0 } on && /;/ { print text; on = 0; text = "" }' "$ROOT"/include/tally/{statistic,clock,stats,publish,latency,event,sbuf}.h | sed -nE 's/^[^(]* \**([a-z0-9_]+)\(.*/\1/p' | sort -u; }
check_eq "$(declared)" \
  "$(nm -D --defined-only "$LIB/libtally.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' |
    sort)" \
  "it exports what the headers declare, and nothing else"
check_eq tally_clock_counter \
  "$(nm -D --defined-only "$LIB/libtally.so" |
  awk '$2 != "T" && $2 != "A" { sub(/@.*/, "", $3); print $3 }')" \
  "no data but the word that get_cycles() looks at, no weak symbols"
check_eq '' "$(tally_config --cflags --libs | tr ' ' '\n' | grep -F /..)" \
  "pkg-config prints plain paths"
check_eq "$("$BIN/tallyfs" --version | grep -oE '[0-9.]+$')" "$(tally_config --modversion)" \
  "pkg-config knows the version"

if command -v abidiff >/dev/null; then
  same_abi() {
    abidiff --headers-dir2 "$PREFIX/include/tally" --drop-private-types --exported-interfaces-only \
      "$1" "$LIB/libtally.so" >"$WORK/abi" 2>&1
  }
  same_abi "$ROOT/tests/client/abi/libtally-0.1.xml"
  # Bit 8: incompatible. Functions may be added.
  check_eq 0 "$(($? & 11))" "the ABI is that of 0.1" || cat "$WORK/abi"
  sed "s/LOG2' value='1'/LOG2' value='2'/" "$ROOT/tests/client/abi/libtally-0.1.xml" \
    >"$WORK/other.xml"
  same_abi "$WORK/other.xml"
  check "which it would not be with another number of an enumerator" [ $? -ne 0 ]
  sed 's/statistic_sync/statistic_gone/' "$ROOT/tests/client/abi/libtally-0.1.xml" \
    >"$WORK/other.xml"
  same_abi "$WORK/other.xml"
  check "nor with a function less" [ $? -ne 0 ]
elif [ -n "${CI:-}" ]; then
  check "abidiff is installed, without which CI would compare nothing" false
else
  echo "ok $((COUNT += 1)) # SKIP abidiff is not installed"
fi

# ---- compiled by everybody's means
cp -r "$ROOT/examples" "$WORK/examples" && cd "$WORK/examples" || exit 1
flags='-Wall -Wextra -Wpedantic -Wconversion -Werror'
check "the C example compiles as C11" cc -std=c11 -D_POSIX_C_SOURCE=200809L $flags feeder.c \
  -o feeder_c $(tally_config --cflags --libs)
check "the C++ example compiles as C++20" c++ -std=c++20 $flags feeder.cpp -o feeder_cpp \
  $(tally_config --cflags --libs)
check "the C example links statically" cc -std=gnu11 $flags feeder.c -o feeder_static \
  $(tally_config --cflags) "$LIB/libtally.a" -lstdc++ -pthread
check_eq '' "$(ldd feeder_static | grep libtally)" "and needs no libtally.so then"
check "statistic.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ \
  $(tally_config --cflags) - <<<'#include <tally/statistic.h>'
check "latency.h is a C header" cc -std=c99 $flags -fsyntax-only -x c $(tally_config --cflags) - \
  <<<'#include <tally/latency.h>'
check "latency.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ \
  $(tally_config --cflags) - <<<'#include <tally/latency.h>'
check "stats.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ \
  $(tally_config --cflags) - <<<'#include <tally/stats.h>'
check "event.h is a C header" cc -std=c99 $flags -fsyntax-only -x c $(tally_config --cflags) - \
  <<<'#include <tally/event.h>'
check "event.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ \
  $(tally_config --cflags) - <<<'#include <tally/event.h>'
check "publish.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ \
  $(tally_config --cflags) - <<<'#include <tally/publish.h>'
cp "$ROOT/tests/client/freebsd_stats.c" .
check "a program for FreeBSD's stats(3) compiles" cc -std=gnu11 -Wall -Wextra -Werror \
  freebsd_stats.c -o freebsd_stats $(tally_config --cflags --libs)
check_eq 0 "$(./freebsd_stats)" "and finds what it expects"
cp "$ROOT/tests/client/freebsd_header.c" .
strictly="-pedantic -Wall -Wextra -Werror -I$PREFIX/include"
check "what such programs use beyond the manual page compiles as C99" \
  cc -std=c99 $strictly freebsd_header.c -o freebsd_header $(tally_config --libs)
check_eq 0 "$(./freebsd_header)" "and is what they expect"
check "and as C++17" c++ -std=c++17 $strictly -x c++ freebsd_header.c -o freebsd_header_cpp \
  -x none $(tally_config --libs)
check_eq 0 "$(./freebsd_header_cpp)" "with the same numbers"
check "it links statically" cc -std=gnu11 freebsd_stats.c -o freebsd_stats_static \
  $(tally_config --cflags) "$LIB/libtally.a" -lstdc++ -lm -pthread
check_eq 0 "$(./freebsd_stats_static)" "and runs as well"
if command -v clang++ >/dev/null; then
  check "clang compiles it" clang -std=gnu11 -Wall -Wextra -Werror freebsd_stats.c \
    -o freebsd_stats_clang $(tally_config --cflags --libs)
  check "clang takes statistic.hpp" clang++ -std=c++20 $flags -fsyntax-only \
    $(tally_config --cflags) feeder.cpp
fi
# ---- the clock, switched off where it is compiled
cat >clock.c <<'EOF'
/* Every call of clock.h. */
#include <stdio.h>
#include <tally/clock.h>
static uint64_t read_nothing(void *context) { return (void)context, 0; }
int main(void) {
  const cycles_t begun = get_cycles();
  fast_timestamp_t stamp;
  struct timeval time = {0, 0};
  struct timespec exact = {0, 0};
  uint64_t error_ns = 0;
  struct tally_clock_status status;
  const struct tally_clock_driver driver = {sizeof driver, "nothing", 32, 1000000, read_nothing, NULL};
  int errors = set_cyc2ns_scale(2000) == 12345;
  store_fast_timestamp(&stamp);
  errors += fast_timestamp_to_timeval(&stamp, &time, &error_ns) != 0;
  errors += fast_timestamp_to_timespec(&stamp, &exact, NULL) != 0;
  errors += tally_clock_start_upkeep(1000) != 0;
  tally_clock_upkeep();
  tally_clock_stop_upkeep();
  errors += tally_clock_register(&driver) != 0;
  errors += tally_clock_select("auto") != 0;
  errors += tally_clock_get_status(&status, sizeof status) != 0;
  const cycles_t cycles = get_cycles() - begun;
  printf("%d errors, %d\n", errors, sched_clock() > 0 && cycles_to_nsec(cycles) > 0 && cycles_to_usec(cycles) < 4000000);
  tally_clock_set(TALLY_CLOCK_OFF);
  return 0;
}
EOF
clock_symbols='get_cycles|sched_clock|cycles_to_|cyc2ns|fast_timestamp|tally_clock|CycleClock|Timeline|WideCounter|UpkeepThread'
check "a C program has all of clock.h" cc -std=gnu11 $flags clock.c -o clock_on \
  $(tally_config --cflags --libs)
check_eq '0 errors, 1' "$(./clock_on)" "and a time"
check "which is a C++ header too" c++ -std=c++11 $flags -x c++ clock.c -o clock_cpp -x none \
  $(tally_config --cflags --libs)
for standard in c89 c99 c11; do
  for option in -DTALLY_CLOCK=1 -DTALLY_CLOCK=0; do
    check "clock.h is a $standard header, with $option" cc "-std=$standard" -pedantic -Wall \
      -Wextra -Werror "$option" -fsyntax-only -x c "-I$PREFIX/include" - \
      <<<'#include <tally/clock.h>'
  done
done
check "with TALLY_CLOCK=0 it needs no library" cc -std=c11 -D_GNU_SOURCE $flags -DTALLY_CLOCK=0 \
  "-I$PREFIX/include" clock.c -o clock_off
check_eq '6 errors, 0' "$(./clock_off)" "has no time"
check_eq '' "$(nm clock_off | grep -E "$clock_symbols")" "and calls nothing"
# What is asked is whether it compiles and what it refers to, not how fast it is.
check "built without the clock," quietly cmake -S "$ROOT" -B "$WORK/without" -G Ninja \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
  -DTALLYFS_CLOCK=OFF -DTALLYFS_TESTS=OFF
# The clock is in the library, which the daemon and the feeders share; tallyctl has none of it. All
# of them, with TALLY_CLOCKLESS=yes, are as much to compile as the product.
clockless=(tally tally_static)
[ "${TALLY_CLOCKLESS:-}" != yes ] ||
  clockless+=(tallyfs tally-send tally-feed-{block,statsd,tcp,timer,tracefs})
check "${clockless[*]} are made" quietly cmake --build "$WORK/without" --target "${clockless[@]}"
check_eq '' "$(find "$WORK/without" -type f \( -name '*.o' -o -name '*.so*' -o -path '*/bin/*' \) \
  -exec nm -C {} + 2>/dev/null | grep -E "$clock_symbols")" "and nothing has a symbol of it"
check "which its tally.pc tells" grep -q -- '-DTALLY_CLOCK=0' \
  "$WORK/without/feeders/client/tally.pc.in"

# targets_without OPTION...: what is built without, of programs and their unit tests.
targets_without() {
  local names='tally[^:]*|unit_(block|feed_text|log|statsd|tcp|display|ctl|web)'
  cmake -S "$ROOT" -B "$WORK/parts" -G Ninja "${@/#/-DTALLYFS_}" >configured 2>&1 &&
    ninja -C "$WORK/parts" -t targets all | sed -nE "s#^bin/($names):.*#\\1#p" | sort
}
targets_without TOOLS=ON EXPORTERS=ON FEEDERS=ON >all
grep -vE 'ctl$' all >expected
check_eq "$(cat expected)" "$(targets_without TOOLS=OFF)" "one option leaves out tallyctl alone"
grep -vE '(-web|_web)$' all >expected
check_eq "$(cat expected)" "$(targets_without TOOLS=ON EXPORTERS=OFF)" "one tally-web"
grep -vE '(block|text|log|statsd|tcp|timer)$' all >expected
check_eq "$(cat expected)" "$(targets_without EXPORTERS=ON FEEDERS=OFF)" \
  "and one the ready-made feeders"
grep -vE '(ctl|web|display|block|text|log|statsd|tcp|timer)$' all >expected
check_eq "$(cat expected)" "$(targets_without TOOLS=OFF EXPORTERS=OFF FEEDERS=OFF)" \
  "and all three all of it"
check "the daemon is among what is left" grep -qx tallyfs expected

mkdir cmake && cat >cmake/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(feeders C)
find_package(tally 0.1 REQUIRED)
add_executable(shared ../feeder.c)
target_link_libraries(shared tally::tally)
add_executable(static ../feeder.c)
target_link_libraries(static tally::static)
EOF
check "CMake finds the package" quietly cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$PREFIX"
check "and builds both ways" quietly cmake --build cmake/build

# ---- run
start_daemon
export TALLY_SOCKET=$SOCK
said='1000 samples each are in statistics/example/data'
for program in ./feeder_c ./feeder_static ./cmake/build/shared ./cmake/build/static; do
  check_eq "$said" "$($program)" "$program says that all is counted"
  check_eq '1000 1000' "$(sum example latency_ns) $(sum example length)" "and it is"
  rmdir "$MNT/statistics/example"
done
check_eq '1000 samples are in statistics/example/data' "$(./feeder_cpp)" "the C++ example says so"
check_eq 1000 "$(sum example sorting_us)" "and it is"
check "and says what it counts" grep -q ' help=How%20many%20numbers%20were%20sorted$' \
  "$MNT/statistics/example/definition"
rmdir "$MNT/statistics/example"
check "sums of 100 lines come from the shell example" [ "$(seq 250 | bash feeder.sh)" = \
  '250 samples are in statistics/example/data' ]
check_eq '250 250' "$(sum example line_lengths) $(sum example lines)" "and they are counted"
rmdir "$MNT/statistics/example"
if [ -e "$BIN/../python/interpreter" ]; then
  mkdir files && touch files/{a,b,c}
  export PYTHONPATH=$PREFIX/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
  python=$(cat "$BIN/../python/interpreter")
  check_eq '3 samples are in statistics/example/data' "$("$python" feeder.py files)" \
    "the Python example says so"
  check_eq 3 "$(sum example sizes)" "and it is"
else
  skip "the Python example says so" "THE PACKAGE tally OF PYTHON IS NOT BUILT: python3-dev"
fi
for page in c cpp python/py shell/sh go node/js; do
  example=feeder.${page#*/} page=docs/feeding-${page%/*}.md
  check "$example has less than 40 lines" [ "$(wc -l <"$ROOT/examples/$example")" -lt 40 ]
  check "$example stands in $page as it is" python3 - "$ROOT/examples/$example" "$ROOT/$page" \
    <<'EOF'
import sys
sys.exit(open(sys.argv[1]).read() not in open(sys.argv[2]).read())
EOF
done
stop "$DAEMON"
check_eq 0 "$STATUS" "SIGTERM ends the daemon well"
