#!/usr/bin/env bash
# The clock on ARM64, with the driver cntvct: cross-compiled by Debian's compiler, run by its emulator.
. "$(dirname "$0")/../feeders/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
GTEST=/usr/src/googletest/googletest
CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ RUN=qemu-aarch64-static
if [ "$(uname -m)" = aarch64 ]; then CC=cc CXX=c++ RUN=env; fi
for each in $CXX $RUN; do command -v $each >/dev/null || skip_all "CNTVCT IS NOT TESTED: no $each (packaging/install-packages test)"; done
[ -d $GTEST ] || skip_all "CNTVCT IS NOT TESTED: no sources of GoogleTest in $GTEST (googletest)"

quietly() { "$@" >"$WORK/said" 2>&1 || { tail -60 "$WORK/said"; return 1; }; }
flags="-std=c++20 -O2 -pthread -I$ROOT -I$ROOT/include -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-missing-field-initializers -Werror"
mkdir "$WORK/objects" && cd "$WORK/objects" || exit 1
check "the clock compiles" quietly $CXX $flags -c "$ROOT"/feeders/clock/*.cpp
check "get_cycles() is one instruction beside a look at a word" \
  bash -c "printf '#include <tally/clock.h>\ncycles_t read(void) { return get_cycles(); }\n' | $CC -std=c11 -D_GNU_SOURCE -O2 -I$ROOT/include -x c -S -o - - | grep -q cntvct_el0"
check "its tests compile" quietly $CXX $flags -DTALLY_SOURCE_DIR="\"$ROOT\"" -isystem $GTEST/include -I$GTEST -static -o unit_clock \
  "$ROOT"/tests/unit/clock/*.cpp ./*.o $GTEST/src/gtest-all.cc $GTEST/src/gtest_main.cc

# Emulated, an instruction may take longer than the microsecond that this one allows.
hard='-ClockTest.TellsMonotonicWithinAMicrosecond'
[ $RUN != env ] || hard='*'
check "and pass, with cntvct" quietly timeout 300 $RUN ./unit_clock --gtest_filter="$hard"
echo "# $(grep -E '^\[  PASSED|tests ran' "$WORK/said" | tail -1)"
check "and with CLOCK_MONOTONIC" quietly env TALLY_CLOCK=monotonic timeout 300 $RUN ./unit_clock --gtest_filter="$hard"
