#!/usr/bin/env bash
# The clock on ARM64, with the driver cntvct: cross-compiled by Debian's compiler, run by its
# emulator.
. "$(dirname "$0")/../feeders/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
GTEST=/usr/src/googletest/googletest
CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ RUN=qemu-aarch64-static
if [ "$(uname -m)" = aarch64 ]; then CC=cc CXX=c++ RUN=env; fi
for each in $CXX $RUN; do command -v $each >/dev/null ||
  skip_all "CNTVCT IS NOT TESTED: no $each (packaging/install-packages test)"; done
[ -d $GTEST ] || skip_all "CNTVCT IS NOT TESTED: no sources of GoogleTest in $GTEST (googletest)"

quietly() { "$@" >"$WORK/said" 2>&1 || { tail -60 "$WORK/said"; return 1; }; }
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-missing-field-initializers -Werror'
flags="-std=c++20 -pthread -I$ROOT -I$ROOT/include $warnings"
mkdir "$WORK/objects" && cd "$WORK/objects" || exit 1
# As the presets do: a room's files at a time, which spares reading the headers again and again.
together() { printf '#include "%s"\n' "$@"; }
together "$ROOT"/feeders/clock/*.cpp >clock.cpp
together "$ROOT"/tests/unit/clock/*.cpp >tests.cpp
$CXX -std=c++20 -pthread -isystem $GTEST/include -I$GTEST -c $GTEST/src/gtest-all.cc \
  $GTEST/src/gtest_main.cc >gtest.said 2>&1 &
gtest=$!
$CXX $flags -O1 -DTALLY_SOURCE_DIR="\"$ROOT\"" -isystem $GTEST/include -c tests.cpp >tests.said \
  2>&1 &
tests=$!
check "the clock compiles" quietly $CXX $flags -O2 -c clock.cpp
quietly $CXX $flags -O2 -c "$ROOT/core/base/clock.cpp" -o base_clock.o
check "get_cycles() is one instruction beside a look at a word" \
  bash -c "printf '#include <tally/clock.h>\ncycles_t read(void) { return get_cycles(); }\n' | $CC -std=c11 -D_GNU_SOURCE -O2 -I$ROOT/include -x c -S -o - - | grep -q cntvct_el0"
compiled() { wait "$1" || { cat "$2"; return 1; }; }
check "GoogleTest compiles" compiled $gtest gtest.said
check "its tests compile" compiled $tests tests.said
check "and link" quietly $CXX -pthread -static -o unit_clock tests.o clock.o base_clock.o \
  gtest-all.o gtest_main.o

# Emulated, an instruction may take longer than the microsecond that this one allows.
hard='-ClockTest.TellsMonotonicWithinAMicrosecond'
[ $RUN != env ] || hard='*'
check "and pass, with cntvct" quietly timeout 300 $RUN ./unit_clock --gtest_filter="$hard"
echo "# $(grep -E '^\[  PASSED|tests ran' "$WORK/said" | tail -1)"
check "and with CLOCK_MONOTONIC" quietly env TALLY_CLOCK=monotonic timeout 300 $RUN ./unit_clock \
  --gtest_filter="$hard"
