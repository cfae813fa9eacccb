# Every program that reads files gets all of the text, and the text of now.

# A text that grows and shrinks, of two pages and a half.
_set_up() {
  local i
  start_daemon
  { echo 'create web/sizes on=1 type=list entries_max=1000 base=16'; for i in {1..600}; do echo \
    "web/sizes $i $i"; done; } >"$CASE/samples"
  send_file "$CASE/samples"
  wait_until '[ "$(data web | wc -l)" = 600 ]'
  for i in {600..1}; do printf 'sizes 0x%x %d\n' $i $i; done >"$CASE/expected"
  DATA=$STAT/web/data
}
_shrink() {
  define web 'data=reset'
  send 'web/sizes 255 7'
  echo 'sizes 0xff 7' >"$CASE/expected"
}
# _reads COMMAND...: what it prints is the text, also after the file became short.
_reads() {
  "$@" >"$CASE/got"; cmp "$CASE/expected" "$CASE/got"
  _shrink
  "$@" >"$CASE/got"; cmp "$CASE/expected" "$CASE/got"
}
# _copies COMMAND...: likewise, of what it makes of $DATA in $CASE/copy
_copies() {
  "$@" "$DATA" "$CASE/copy"; cmp "$CASE/expected" "$CASE/copy"
  _shrink
  rm -f "$CASE/copy"
  "$@" "$DATA" "$CASE/copy"; cmp "$CASE/expected" "$CASE/copy"
}

cat_reads_all() { _reads cat "$DATA"; }
cat_reads_a_redirected_file() { _reads sh -c 'cat <"$1"' sh "$DATA"; }
cp_copies_all() { _copies cp; }
cp_in_a_tree_copies_all() {
  cp -r "$STAT/web" "$CASE/tree" 2>/dev/null
  cmp "$CASE/expected" "$CASE/tree/data"
  cmp "$STAT/web/definition" "$CASE/tree/definition"
}
cp_looking_for_holes_copies_all() { _copies cp --sparse=always; }
dd_copies_all() {
  dd if="$DATA" bs=100 status=none | cmp - "$CASE/expected"; dd if="$DATA" bs=1M status=none |
    cmp - "$CASE/expected"
}
grep_r_finds_in_all_files() {
  assert_eq "$STAT/web/data:sizes 0x258 600" "$(grep -r '^sizes 0x258 ' "$STAT")"
  assert_eq "$STAT/web/definition" "$(grep -rl '^name=sizes' "$STAT")"
}
wc_counts() {
  assert_eq "600 1800 $(wc -c <"$CASE/expected")" "$(wc "$DATA" | awk '{print $1, $2, $3}')"
  assert_eq "$(wc -c <"$CASE/expected")" "$(wc -c <"$DATA")"
}
head_shows_the_start() {
  assert_eq 'sizes 0x258 600' "$(head -1 "$DATA")"
  assert_eq 'sizes' "$(head -c 5 "$DATA")"
}
tail_shows_the_end() {
  assert_eq 'sizes 0x1 1' "$(tail -1 "$DATA")"
  assert_eq $'x1 1' "$(tail -c 5 "$DATA")"
  assert_eq 'sizes 0x1 1' "$(tail -n +600 "$DATA")"
}
tail_f_does_not_say_truncated() {
  tail -s 0.05 -f "$DATA" >"$CASE/followed" 2>"$CASE/said" &
  local follower=$!
  wait_until '[ -s "$CASE/followed" ]'
  send 'web/sizes 100000 1'
  sleep 0.2
  send 'web/sizes 100001 1'
  sleep 0.2
  kill $follower
  assert_eq '' "$(grep -v Terminated "$CASE/said" || true)"
}
less_shows_all() { need less; _reads less -f "$DATA"; }
diff_compares() {
  need diff
  diff "$DATA" "$CASE/expected"
  _shrink
  diff "$CASE/expected" "$DATA"
}
sort_and_awk_read_all() {
  assert_eq 600 "$(sort -u "$DATA" | wc -l)"
  assert_eq 180300 "$(awk '{ sum += $3 } END { print sum }' "$DATA")"
}
while_read_reads_all() {
  local lines=0 line
  while read -r line; do lines=$((lines + 1)); done <"$DATA"
  assert_eq 600 $lines
}
mapfile_and_bash_redirection_read_all() { assert_eq "$(cat "$CASE/expected")" "$(<"$DATA")"; }
busybox_cat_reads_all() { need busybox; _reads busybox cat "$DATA"; }
busybox_cp_copies_all() { need busybox; _copies busybox cp; }
test_s_is_true_for_what_is_not_empty() {
  [ -s "$DATA" ]
  [ -s "$STAT/web/definition" ]
  define web 'data=reset'
  [ ! -s "$DATA" ]
}
find_size_and_ls_agree() {
  assert_eq "$DATA" "$(find "$STAT/web" -type f -size -20k -size +8k -name data)"
  assert_eq "$(wc -c <"$CASE/expected")" "$(ls -l "$DATA" | awk '{print $5}')"
}
tar_stores_all() {
  tar -C "$STAT" -cf "$CASE/all.tar" web
  assert_eq "$(cat "$CASE/expected")" "$(tar -xOf "$CASE/all.tar" web/data)"
}
rsync_copies_all() { need rsync; _copies rsync; }
vim_shows_all() {
  need vim
  vim -u NONE -es -n -c "w! $CASE/copy" -c 'qa!' "$DATA" </dev/null >/dev/null 2>&1 || true
  cmp "$CASE/expected" "$CASE/copy"
}
pythons_copyfile_copies_all() {
  py "$DATA" "$CASE/copy" <<'EOT'
import shutil, sys
shutil.copyfile(sys.argv[1], sys.argv[2])
EOT
  cmp "$CASE/expected" "$CASE/copy"
}
sendfile_sends_all() {
  py "$DATA" "$CASE/copy" <<'EOT'
import os, sys
source, target = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
while os.sendfile(target, source, None, 5000): pass
EOT
  cmp "$CASE/expected" "$CASE/copy"
}
splice_moves_all() {
  py "$DATA" "$CASE/copy" <<'EOT'
import os, sys
source, target = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
out, into = os.pipe()
while n := os.splice(source, into, 5000): assert os.splice(out, target, n) == n
EOT
  cmp "$CASE/expected" "$CASE/copy"
}
copy_file_range_copies_all_or_says_it_cannot() {
  py "$DATA" "$CASE/copy" <<'EOT'
import errno, os, sys
source, target = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
try:
    while os.copy_file_range(source, target, 1 << 20): pass
except OSError as error:
    assert error.errno in (errno.EXDEV, errno.EOPNOTSUPP), error
    os.sendfile(target, source, 0, 1 << 20)
EOT
  cmp "$CASE/expected" "$CASE/copy"
}
