# tallyctl probe without probes: lists of programs need no mount, and all else says what is missing.
TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() { start_daemon; export TALLY_MOUNT=$MNT; }

functions_of_a_program_are_listed() {
  local said
  said=$("$TALLYCTL" probe list "$(command -v bash)" 'make_ch*')
  assert_match 'make_child +0x[0-9a-f]+ +(cheap|dear|\?)' "$(grep make_child <<<"$said")"
  assert_eq "$said" "$("$TALLYCTL" probe list "$$" 'make_ch*')" "by the process"
}

# What a terminal would obey is neither in messages nor in lists.
names_do_not_control_the_terminal() {
  local said status=0
  said=$("$TALLYCTL" probe list "$CASE/"$'a\e]0;x' 2>&1) || status=$?
  assert_eq 1 "$status"
  assert_has 'a\x1b]0;x is not there' "$said"
  assert_has_not $'\e' "$said"
  sed 's/make_child/make\x1bchild/g' "$(command -v bash)" >"$CASE/evil"
  assert_has 'make_command' "$("$TALLYCTL" probe list "$CASE/evil" 'make_c*')"
  assert_fails_with 'no such function' "$TALLYCTL" probe list "$CASE/evil" 'make?child'
}

# Columns are not as wide as the longest name of a program.
lists_in_pipes_are_lines() {
  local said
  said=$("$TALLYCTL" probe list "$(command -v bash)")
  assert_match '[^ ]+ +0x[0-9a-f]+ +(cheap|dear|\?)( .*)?' "$(head -1 <<<"$said")"
  [ "$(awk '{ print length }' <<<"$said" | sort -n | head -1)" -lt 70 ] || fail "wide" "$said"
}

a_mount_without_probes_says_what_to_do() {
  local status=0
  "$TALLYCTL" probe count bash make_child --for 1s 2>"$CASE/err" || status=$?
  assert_eq 3 "$status"
  assert_match '.*(no uprobes \(CONFIG|no tracefs is mounted|tallyfs -o tracefs).*' \
    "$(cat "$CASE/err")"
  assert_has 'tallyctl probe cost' "$("$TALLYCTL" probe --help)"
}

# In its debug file, or packed into the program by xz.
functions_of_a_stripped_program_are_listed() {
  local each
  for each in "${CC:-cc}" objcopy nm xz; do
    command -v "$each" >/dev/null || skip "NO $each HERE: INSTALL gcc, binutils, xz-utils"
  done
  cd "$CASE"
  echo 'static __attribute__((noinline)) int hidden(int x) { __asm__ volatile(""); return x; }
    int main(void) { return hidden(1) - hidden(1); }' >program.c
  "${CC:-cc}" -O1 -Wl,--build-id -o program program.c
  objcopy --only-keep-debug program program.debug
  nm -P program | awk '$2 == "t" { print $1 }' >names
  objcopy -S --keep-symbols=names program.debug packed
  xz packed
  objcopy --strip-all program stripped
  assert_fails_with 'it is stripped' "$TALLYCTL" probe list "$PWD/stripped" hidden
  objcopy --add-gnu-debuglink=program.debug stripped linked
  assert_match 'hidden +0x[0-9a-f]+ .*' "$("$TALLYCTL" probe list "$PWD/linked" hidden)"
  ldd "$(command -v "$TALLYCTL")" | grep -q liblzma ||
    skip "NO liblzma: .gnu_debugdata IS NOT READ"
  objcopy --add-section .gnu_debugdata=packed.xz stripped program
  assert_match 'hidden +0x[0-9a-f]+ .*' "$("$TALLYCTL" probe list "$PWD/program" hidden)"
}
