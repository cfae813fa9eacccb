# Opens, truncations, offsets and closes of what is written.

_set_up() { start_daemon; send 'create web/a' 'create web/b'; DEFINITION=$STAT/web/definition; }
_is() {
  assert_eq "$1" "$(definition web | sed 's/.* on=\(.\) .*/\1/' | paste -sd' ')" "on= of a and b"
}

echo_makes_a_transaction_and_clears_nothing() {
  echo 'name=a on=1' >"$DEFINITION"
  _is '1 0'
  : >"$DEFINITION"
  _is '1 0'
}

truncating_clears_nothing() {
  local before=$(definition web; send 'web/b 1'; data web)
  truncate -s 0 "$DEFINITION"
  py <<'EOT'
import os
path = os.environ["STAT"] + "/web/definition"
os.truncate(path, 0)
fd = os.open(path, os.O_RDWR | os.O_TRUNC)
os.ftruncate(fd, 0)
os.close(fd)
EOT
  assert_eq "$before" "$(definition web; data web)"
}

truncating_starts_an_empty_transaction() {
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
os.write(fd, b"name=a on=1")
os.ftruncate(fd, 0)
os.pwrite(fd, b"name=b on=1\n", 0)
os.close(fd)
EOT
  _is '0 1'
}

appending_works_whatever_the_offset() {
  echo 'name=a on=1' >>"$DEFINITION"
  _is '1 0'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY | os.O_APPEND)
for piece in (b"name=b o", b"n=1\n", b"name=a on=0\n"): os.write(fd, piece)
os.close(fd)
EOT
  _is '0 1'
}

several_writes_of_one_handle_follow_each_other() {
  { echo 'name=a on=1'; echo 'name=b on=1'; echo 'name=a on=0'; } >"$DEFINITION"
  _is '0 1'
}

an_offset_that_does_not_follow_is_refused() {
  py <<'EOT'
import errno, os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
assert os.pwrite(fd, b"name=a on=1\n", 0) == 12
for offset in (1, 11, 13, 4096, 1 << 40):
    try:
        os.pwrite(fd, b"name=b on=1\n", offset)
        raise SystemExit(f"taken at {offset}")
    except OSError as error:
        assert error.errno == errno.EINVAL, error
assert os.pwrite(fd, b"name=a on=0\n", 12) == 12
assert os.pwrite(fd, b"name=a on=1\n", 0) == 12
os.close(fd)
EOT
  _is '1 0'
}

after_a_refused_line_the_next_ones_are_taken() {
  {
    echo 'name=a on=1'
    echo 'name=nobody on=1' 2>/dev/null || true
    echo 'name=b on=1'
  } >"$DEFINITION"
  _is '1 1'
}

# The kernel cuts a write at 64 KiB, and does not say why a later piece was refused.
an_error_behind_the_first_64_kib_of_a_write_is_told() {
  local i
  for i in 65500 65520 65522 65526 65528 65540 65600; do
    { yes '' | head -c $i; echo 'name=a on=1'; echo 'name=b on=3'; echo 'name=b on=1'; } \
      >"$CASE/text" || true
    define web 'on=0'
    : >"$MNT/tracing/error_log"
    assert_fails_with 'Invalid argument' dd if="$CASE/text" of="$DEFINITION" bs=1M status=none
    _is '1 1'
    assert_eq 1 "$(errors | grep -c error:)" "errors told, the first being at $i"
  done
}

flushing_with_nothing_pending_does_nothing() {
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
for i in range(3): os.close(os.dup(fd))
os.write(fd, b"name=a ")
os.write(fd, b"on=1\n")
os.close(os.dup(fd))
os.close(fd)
EOT
  _is '1 0'
}

a_line_without_end_is_refused_at_64_kib() {
  py <<'EOT'
import errno, os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
def write(data):
    while data: data = data[os.write(fd, data):]
try:
    write(b"name=a on=1 " + b"x" * 70000)
    write(b"y" * 70000)
    raise SystemExit("taken")
except OSError as error:
    assert error.errno == errno.EFBIG, error
try: os.close(fd)
except OSError: pass
with open(os.environ["STAT"] + "/web/definition", "wb", buffering=0) as file:
    file.write(b"name=b on=1\n")
EOT
  _is '0 1'
}

a_line_of_nearly_64_kib_is_taken() {
  py <<'EOT'
import os
with open(os.environ["STAT"] + "/web/definition", "wb", buffering=0) as file:
    assert file.write(b"name=a " + b"x" * 65000 + b" on=1\n")
EOT
  _is '1 0'
}

blank_lines_change_nothing() {
  printf '\n\n  \n\t\n\n' >"$DEFINITION"
  _is '0 0'
}

crlf_is_tolerated() {
  printf 'name=a on=1\r\n' >"$DEFINITION"
  _is '1 0'
}

fsync_and_fdatasync_succeed() {
  sync "$DEFINITION"
  sync -d "$STAT/web/data"
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
os.write(fd, b"on=1\n")
os.fsync(fd); os.fdatasync(fd); os.close(fd)
directory = os.open(os.environ["STAT"], os.O_RDONLY)
os.fsync(directory)
EOT
  _is '1 1'
}

touching_a_file_succeeds() {
  touch "$DEFINITION" "$STAT/web/data" "$STAT/web" "$STAT" "$MNT"
  touch -d yesterday "$DEFINITION"
}

chmod_and_chown_are_not_permitted() {
  assert_fails_with 'Operation not permitted' chmod 644 "$DEFINITION"
  assert_fails_with 'Operation not permitted' chmod 777 "$STAT/web"
  assert_fails_with 'Operation not permitted' chown 12345 "$DEFINITION"
  assert_fails_with 'Operation not permitted' chgrp 12345 "$STAT"
  assert_eq '600 400' "$(stat -c %a "$DEFINITION" "$STAT/web/data" | paste -sd' ')"
}

data_cannot_be_written_not_even_by_root() {
  assert_fails_with 'Permission denied' put 'web/a 1' "$STAT/web/data"
  assert_fails_with 'Permission denied' truncate -s 0 "$STAT/web/data"
  assert_fails_with 'Permission denied' dd of="$STAT/web/data" if=/dev/null conv=notrunc \
    oflag=append status=none
  py <<'EOT'
import errno, os
for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_TRUNC):
    try:
        os.open(os.environ["STAT"] + "/web/data", flags)
        raise SystemExit(f"opened with {flags:o}")
    except OSError as error:
        assert error.errno == errno.EACCES, error
EOT
}

tee_dd_sed_and_python_can_write() {
  echo 'name=a on=1' | tee "$DEFINITION" >/dev/null
  _is '1 0'
  echo 'name=a on=0' | dd of="$DEFINITION" status=none
  _is '0 0'
  echo 'name=a on=1' | dd of="$DEFINITION" conv=notrunc status=none
  _is '1 0'
  definition web | sed 's/on=0/on=1/' >"$CASE/edited"
  cp "$CASE/edited" "$DEFINITION"
  _is '1 1'
  py "$DEFINITION" <<'EOT'
import sys
with open(sys.argv[1], "w") as file: file.write("on=0")
EOT
  _is '0 0'
}

vim_can_edit_it() {
  need vim
  vim -u NONE -es -n -c '%s/ on=0 / on=1 /' -c 'wq!' "$DEFINITION" </dev/null >"$CASE/vim" 2>&1 ||
    fail "$(cat "$CASE/vim")"
  _is '1 1'
}

# With a swap file, a backup and all else that it has by default.
vim_says_that_a_line_is_refused() {
  need vim
  local before said status=0
  before=$(definition web)
  said=$(HOME=$CASE vim -u NONE -es -V1 -c '%s/ on=0 / on=2 /' -c 'w' -c 'cquit' "$DEFINITION" \
    2>&1 </dev/null) || status=$?
  [ $status -ne 0 ] || fail "vim took it: $said"
  assert_has 'E514: Write error (file system full?)' "$said"
  assert_eq "$before" "$(definition web)"
  assert_has 'on must be 0 or 1' "$(errors)"
  HOME=$CASE vim -u NONE -es -V1 -c '%s/ on=0 / on=1 /' -c 'wq' "$DEFINITION" </dev/null \
    >"$CASE/vim" 2>&1 || fail "$(cat "$CASE/vim")"
  _is '1 1'
}

sed_i_is_not_permitted_and_what_docs_say_instead_works() {
  local sed instead
  instead=$(sed -n 's/^  `\(sed [^`]*\)`.$/\1/p' "$here/../../docs/files.md")
  [ -n "$instead" ] || skip 'no docs here'
  for sed in sed 'busybox sed'; do
    command -v "${sed% *}" >/dev/null || continue
    assert_fails_with 'Operation not permitted' $sed -i 's/on=0/on=1/' "$DEFINITION"
    assert_eq '' "$(errors)"
    _is '0 0'
  done
  (cd "$STAT/web" && eval "${instead//\/tmp\/d/$CASE/d}")
  _is '1 1'
}

ed_says_that_a_line_is_refused() {
  need ed
  local said status=0
  said=$(printf '%s\n' 'H' '1s/on=0/on=2/' 'w' 'Q' | ed -s "$DEFINITION" 2>&1) || status=$?
  [ $status -ne 0 ] || fail "ed took it: $said"
  _is '0 0'
  printf '%s\n' ',s/on=0/on=1/' 'w' 'q' | ed -s "$DEFINITION"
  _is '1 1'
}

busybox_vi_and_ed_style_rewrites_work() {
  need busybox
  busybox sed 's/on=0/on=1/' "$DEFINITION" >"$CASE/edited"
  busybox cp "$CASE/edited" "$DEFINITION"
  _is '1 1'
}

the_rest_of_a_line_that_was_too_long_is_no_line() {
  define web 'on=1'
  (printf 'name=a '; head -c 70000 /dev/zero | tr '\0' ' '; echo on=0) >"$DEFINITION" 2>/dev/null ||
    true
  _is '1 1'
  py <<'EOT' || true
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_WRONLY)
text = b"name=a" + b" " * 70000 + b"on=0\n"
for _ in range(5):
    try: text = text[os.write(fd, text):]
    except OSError: pass
EOT
  _is '1 1'
}
