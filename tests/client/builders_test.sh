#!/usr/bin/env bash
# libtally as a builder of feeders meets it: installed, found by pkg-config and CMake, linked shared and static, its ABI
# that of the last release; and the examples, compiled and run against a daemon.
. "$(dirname "$0")/../feeders/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "$BIN/.." && pwd)
PREFIX=$WORK/prefix
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
for each in pkg-config cmake cc c++ socat; do command -v "$each" >/dev/null || skip_all "no $each"; done

quietly() { "$@" >"$WORK/said" 2>&1 || { cat "$WORK/said"; return 1; }; }

check "it installs" quietly cmake --install "$BUILD" --prefix "$PREFIX" --component client
LIB=$PREFIX/$(cd "$PREFIX" && dirname lib*/libtally.so lib/*/libtally.so 2>/dev/null | grep -v '\*' | head -1)
export PKG_CONFIG_PATH=$LIB/pkgconfig LD_LIBRARY_PATH=$LIB
# It was configured for another prefix.
tally_config() { pkg-config "$@" tally; }

soname=$(objdump -p "$LIB/libtally.so" | awk '$1 == "SONAME" { print $2 }')
check_eq libtally.so.0 "$soname" "the SONAME is libtally.so.0"
check_eq "$(grep -ohE '\b(statistic|tally|latency)_[a-z_]+ ?\(' "$ROOT"/include/tally/{statistic,latency}.h | tr -d ' (' | grep -vxE 'statistic_(add|inc|is_on|add_at|add_batch|define_)' | sort -u)" \
  "$(nm -D --defined-only "$LIB/libtally.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)" \
  "it exports what the headers declare, and nothing else"
check_eq '' "$(nm -D --defined-only "$LIB/libtally.so" | awk '$2 != "T" && $2 != "A"')" "no data, no weak symbols"
check_eq "$("$BIN/tallyfs" --version | grep -oE '[0-9.]+$')" "$(tally_config --modversion)" "pkg-config knows the version"

if command -v abidiff >/dev/null; then
  same_abi() { abidiff --headers-dir2 "$PREFIX/include/tally" --drop-private-types --exported-interfaces-only "$1" "$LIB/libtally.so" >"$WORK/abi" 2>&1; }
  same_abi "$ROOT/tests/client/abi/libtally-0.1.xml"
  # Bit 8: incompatible. Functions may be added.
  check_eq 0 "$(($? & 11))" "the ABI is that of 0.1" || cat "$WORK/abi"
  sed "s/LOG2' value='1'/LOG2' value='2'/" "$ROOT/tests/client/abi/libtally-0.1.xml" >"$WORK/other.xml"
  same_abi "$WORK/other.xml"
  check "which it would not be with another number of an enumerator" [ $? -ne 0 ]
  sed 's/statistic_sync/statistic_gone/' "$ROOT/tests/client/abi/libtally-0.1.xml" >"$WORK/other.xml"
  same_abi "$WORK/other.xml"
  check "nor with a function less" [ $? -ne 0 ]
else
  echo "ok $((COUNT += 1)) # SKIP abidiff is not installed"
fi

# ---- compiled by everybody's means
cp -r "$ROOT/examples" "$WORK/examples" && cd "$WORK/examples" || exit 1
flags='-Wall -Wextra -Wpedantic -Wconversion -Werror'
check "the C example compiles as C11" cc -std=c11 -D_POSIX_C_SOURCE=200809L $flags feeder.c -o feeder_c $(tally_config --cflags --libs)
check "the C++ example compiles as C++20" c++ -std=c++20 $flags feeder.cpp -o feeder_cpp $(tally_config --cflags --libs)
check "the C example links statically" cc -std=gnu11 $flags feeder.c -o feeder_static $(tally_config --cflags) "$LIB/libtally.a" -lstdc++ -pthread
check_eq '' "$(ldd feeder_static | grep libtally)" "and needs no libtally.so then"
check "statistic.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ $(tally_config --cflags) - <<<'#include <tally/statistic.h>'
check "latency.h is a C header" cc -std=c99 $flags -fsyntax-only -x c $(tally_config --cflags) - <<<'#include <tally/latency.h>'
check "latency.h is a C++ header too" c++ -std=c++11 $flags -fsyntax-only -x c++ $(tally_config --cflags) - <<<'#include <tally/latency.h>'
if command -v clang++ >/dev/null; then
  check "clang takes statistic.hpp" clang++ -std=c++20 $flags -fsyntax-only $(tally_config --cflags) feeder.cpp
fi
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
rmdir "$MNT/statistics/example"
check "sums of 100 lines come from the shell example" [ "$(seq 250 | bash feeder.sh)" = '250 samples are in statistics/example/data' ]
check_eq '250 250' "$(sum example line_lengths) $(sum example lines)" "and they are counted"
rmdir "$MNT/statistics/example"
if [ -f "$ROOT/feeders/client/python/tally.py" ] && command -v python3 >/dev/null; then
  mkdir files && touch files/{a,b,c}
  export PYTHONPATH=$PREFIX/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
  check_eq '3 samples are in statistics/example/data' "$(python3 feeder.py files)" "the Python example says so"
  check_eq 3 "$(sum example sizes)" "and it is"
fi
for example in feeder.c feeder.cpp feeder.py feeder.sh; do
  check "$example has less than 40 lines" [ "$(wc -l <"$ROOT/examples/$example")" -lt 40 ]
  check "$example stands in the README as it is" python3 - "$ROOT/examples/$example" "$ROOT/README.md" <<'EOF'
import sys
sys.exit(open(sys.argv[1]).read() not in open(sys.argv[2]).read())
EOF
done
stop "$DAEMON"
check_eq 0 "$STATUS" "SIGTERM ends the daemon well"
