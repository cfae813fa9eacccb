# Markers (USDT): each form of argument that compilers write, in programs that may be anywhere in
# memory and in those that may not, and counters that programs ask whether a marker is wanted.
_alone=yes
. ./tracing/_probes.sh
TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  need_root
  command -v "${CC:-cc}" >/dev/null || skip "NO COMPILER HERE: ${CC:-cc}"
  start_daemon -o tracefs
  [ -e "$P" ] || skip "no uprobes here"
}
_event() { echo "$T/events/uprobes/$1"; }
# _compile COMPILER [OPTION...]: as $PROGRAM, with the notes that sys/sdt.h writes.
_compile() {
  PROGRAM=$CASE/program$$
  "$@" -x c -O1 -o "$PROGRAM" - <<'EOF'
#include <stdio.h>
#define MARK(name, semaphore, arguments, ...)                                                   \
  __asm__ volatile(                                                                             \
      "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                         \
      ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                 \
      "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n"                         \
      ".asciz \"forms\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n994: .balign 4\n"       \
      ".popsection\n.ifndef _.stapsdt.base\n"                                                   \
      ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                   \
      ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                \
      ".size _.stapsdt.base,1\n.popsection\n.endif\n" __VA_ARGS__)
unsigned short shared_semaphore __attribute__((section(".probes")));
unsigned short own_semaphore __attribute__((section(".probes")));
int global[8];
__attribute__((noinline)) void one(int n) {
  volatile long stacked = 100 + n;
  const signed char small = (signed char)-n;
  const long big = n * 1000000000L;
  global[3] = 1000 + n;
#if defined(__x86_64__)
  MARK("word", "0", "-4@%[n] -1@%[s] 8@%[l]", ::[n] "r"(n), [s] "r"(small), [l] "r"(big));
  MARK("memory", "0", "8@%[m] -4@%[g]", ::[m] "m"(stacked), [g] "m"(global[3]));
  MARK("data", "0", "-4@global+12(%%rip)", :::"memory");
  MARK("high", "0", "1@%%ah", ::"a"((n + 7) << 8));
  MARK("indexed", "0", "4@(%%rsi,%%rdi,4) -4@%[n]", ::"S"(global), "D"(3L), [n] "r"(n));
  MARK("constant", "0", "-4@$-5 4@$77", ::);
#else
  MARK("word", "0", "-4@%w[n] -4@%w[s] 8@%[l]", ::[n] "r"(n), [s] "r"(small), [l] "r"(big));
  MARK("memory", "0", "8@%[m]", ::[m] "m"(stacked));
  MARK("indexed", "0", "4@[x0, x1] -4@%w[n]", ::[n] "r"(n));
  MARK("constant", "0", "-4@-5 4@77", ::);
#endif
  MARK("shared", "shared_semaphore", "", ::);
}
__attribute__((noinline)) void two(void) {
  MARK("shared", "shared_semaphore", "", ::);
  MARK("own", "own_semaphore", "", ::);
}
int main(void) {
  for (int i = 1; i <= 3; ++i) one(i), two();
  printf("%d %d\n", shared_semaphore, own_semaphore);
  return 0;
}
EOF
}
# _values MARKER: what was fetched, a line for each hit, sorted.
_values() {
  sed -nE 's/^\{ (.*) \} hitcount: +1$/\1/p' "$(_event "forms_$1")/hist" | tr -s ' ' | sort
}
_watch() {  # _watch MARKER KEYS
  echo "p $PROGRAM:forms:$1" >>"$P"
  echo "hist:keys=$2" >"$(_event "forms_$1")/trigger"
}
_try_forms() {
  [ "$(uname -m)" = x86_64 ] || skip "the values are those of x86-64"
  _watch word arg1,arg2,arg3
  _watch memory arg1,arg2
  _watch data arg1
  _watch high arg1
  _watch constant arg1,arg2
  _watch indexed arg2
  assert_eq '0 0' "$("$PROGRAM")" "counters of others"
  _reaches 3 "hits of the last one" _hits "$(_event forms_constant)"
  # Keys are shown without a sign, as in the kernel.
  assert_eq "$(printf 'arg1: %u, arg2: %u, arg3: %u000000000\n' 1 -1 1 2 -2 2 3 -3 3)" \
    "$(_values word)"
  assert_eq "$(printf 'arg1: %d, arg2: %d\n' 101 1001 102 1002 103 1003)" "$(_values memory)"
  assert_eq "$(printf 'arg1: %d\n' 10 8 9)" "$(_values high)"
  assert_eq "$(printf 'arg1: %d\n' 1001 1002 1003)" "$(_values data)"
  assert_eq "$(printf 'arg2: %d\n' 1 2 3)" "$(_values indexed)"
  assert_match "\{ arg1: $(printf '%u' -5), arg2: +77 \} hitcount: +3" \
    "$(grep -m1 '^{' "$(_event forms_constant)/hist")"
  assert_has_not arg1 "$(grep forms_indexed "$P")"
  assert_fails bash -c 'echo "$1" >>"$2"' - "p:x $PROGRAM:forms:indexed a=\$arg1" "$P"
  assert_eq '[T] probe: error: argument 1 of the marker cannot be fetched' \
    "$(_log "$T/error_log" | head -1)"
}

each_form_of_argument_is_fetched() {
  _compile "${CC:-cc}" -fPIE -pie
  _try_forms
}

each_form_is_fetched_in_a_program_with_its_own_addresses() {
  _compile "${CC:-cc}" -no-pie
  _try_forms
}

# Two places that share a counter are two for it.
counters_say_which_markers_are_wanted() {
  local pie
  for pie in -pie -no-pie; do
    rm -f "$CASE/program$$"
    _compile "${CC:-cc}" $pie
    assert_eq '0 0' "$("$PROGRAM")"
    _watch shared __probe_ip
    assert_eq '2 0' "$("$PROGRAM")" "$pie"
    _reaches 6 "hits of both places" _hits "$(_event forms_shared)"
    _watch own __probe_ip
    assert_eq '2 1' "$("$PROGRAM")" "$pie"
    _reaches 3 "hits of one place" _hits "$(_event forms_own)"
    # The counter is the place's: another user of the place without it is refused.
    assert_fails bash -c 'echo "$1" >>"$2"' - \
      "p:x $(sed -nE 's|^p:uprobes/forms_own ([^(]*)\(.*|\1|p' "$P")" "$P"
    assert_has 'probe: error: another probe is at this place, with the counter (0x' \
      "$(_log "$T/error_log" | head -1)"
    assert_eq "$(printf '%*s^' 15 '')" "$(_log "$T/error_log" | tail -1)" "under the place"
    echo '!hist:keys=__probe_ip' >"$(_event forms_shared)/trigger"
    echo '!hist:keys=__probe_ip' >"$(_event forms_own)/trigger"
    assert_eq '0 0' "$("$PROGRAM")" "$pie, after the end"
    : >"$P"
  done
}

# It is read, not run.
markers_of_aarch64_are_read() {
  command -v aarch64-linux-gnu-gcc >/dev/null || skip "NO COMPILER FOR aarch64 HERE"
  command -v "$TALLYCTL" >/dev/null || skip "TALLYCTL IS NOT BUILT"
  _compile aarch64-linux-gnu-gcc
  assert_eq 'forms:constant 1 -4@-5 4@77' \
    "$("$TALLYCTL" probe list "$PROGRAM" 'forms:con*' | awk '{ $1 = $1; print }')"
  local event
  for event in word memory constant indexed shared own; do
    echo "p $PROGRAM:forms:$event" >>"$P"
  done 2>/dev/null || true
  # Registers of aarch64 are none of this kernel's, which says so of what we have written.
  [ "$(uname -m)" != x86_64 ] || assert_has 'Invalid register name' "$(_log "$T/error_log")"
}

# In a copy of libstdc++, which one program alone has.
exceptions_of_an_unmodified_libstdcxx_count() {
  local lib
  command -v "${CXX:-c++}" >/dev/null || skip "NO COMPILER HERE: ${CXX:-c++}"
  PROGRAM=$CASE/thrower$$
  "${CXX:-c++}" -x c++ -O1 -o "$PROGRAM" - <<'EOF'
int main() {
  int caught = 0;
  for (int i = 0; i < 7; ++i) {
    try {
      throw i;
    } catch (int) {
      ++caught;
    }
  }
  return caught != 7;
}
EOF
  lib=$(ldd "$PROGRAM" | awk '/libstdc\+\+/ { print $3 }')
  mkdir "$CASE/lib"
  cp "$lib" "$CASE/lib/libstdc++.so.6"
  if ! echo "p $CASE/lib/libstdc++.so.6:libstdcxx:throw" >>"$P" 2>/dev/null; then
    skip "this libstdc++ has no markers: $(_log "$T/error_log" | head -1)"
  fi
  echo "p $CASE/lib/libstdc++.so.6:libstdcxx:catch" >>"$P"
  echo 'hist:keys=common_comm' >"$(_event libstdcxx_throw)/trigger"
  echo 'hist:keys=common_comm' >"$(_event libstdcxx_catch)/trigger"
  LD_LIBRARY_PATH=$CASE/lib "$PROGRAM"
  _reaches 7 "throws" _hits "$(_event libstdcxx_throw)"
  _reaches 7 "catches" _hits "$(_event libstdcxx_catch)"
}
