# errors.json and tallyctl errors: what was refused at all doors, with the wall clock.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  start_daemon
  export TALLY_MOUNT=$MNT
}

a_refusal_has_its_time_its_reason_and_a_caret() {
  assert_has 'nothing was refused since 20' "$("$TALLYCTL" errors)"
  send 'create web/us on=1'
  define web 'name=us type=lisp' 2>/dev/null || true
  send 'web/us 1.5'
  wait_until '[ "$(jq .reported "$MNT/errors.json")" = 2 ]'
  "$TALLYCTL" errors >"$CASE/out"
  assert_match "$(date +%Y-%m-%d) ..:..:..  statistics/web: error: type must be value, .*" \
    "$(head -1 "$CASE/out")"
  assert_eq '  name=us type=lisp
          ^' "$(sed -n 2,3p "$CASE/out")"
  assert_match '.*  socket pid [0-9]* uid [0-9]*: error: whole numbers only.*' \
    "$(sed -n 4p "$CASE/out")"
  assert_eq '"mount" "socket"' "$(jq -c '.errors[].door' "$MNT/errors.json" | paste -sd' ')"
  assert_eq "$(id -u)" "$(jq '.errors[0].uid' "$MNT/errors.json")"
}

more_are_kept_than_in_error_log() {
  for i in $(seq 40); do echo "web/us wrong$i"; done >"$CASE/lines"
  while read -r line; do send "$line"; done <"$CASE/lines"
  wait_until '[ "$(jq .reported "$MNT/errors.json")" = 40 ]'
  assert_eq 40 "$("$TALLYCTL" errors | grep -c 'web/us wrong')"
  assert_eq 4 "$(grep -c 'web/us wrong' "$MNT/tracing/error_log")"
}

those_that_follow_are_shown_once() {
  send 'web/us before'
  "$TALLYCTL" errors -f --every 100ms >"$CASE/out" &
  local follower=$!
  wait_until 'grep -q before "$CASE/out"'
  send 'web/us after'
  wait_until 'grep -q after "$CASE/out"'
  send 'web/us last'
  wait_until 'grep -q last "$CASE/out"'
  kill $follower
  assert_eq '1 1 1' "$(for word in before after last; do grep -c "us $word" "$CASE/out"; done |
    paste -sd' ')"
}

a_hostile_text_controls_no_terminal() {
  printf 'web/us \033[2J\033]0;x\007\n' | socat -u - "UNIX-SENDTO:$SOCK"
  wait_until '[ "$(jq .reported "$MNT/errors.json")" = 1 ]'
  assert_has '\x1b[2J' "$("$TALLYCTL" errors)"
  assert_has_not $'\033' "$("$TALLYCTL" errors)"
}

hostile_texts_of_all_doors_control_no_terminal() {
  local line
  send 'create web/us on=1'
  for line in 'create web/\033[31m types=range' 'create web/us units=\342\200\256' \
    'define web/us \302\233m=1' 'create w\233/us on=1' 'define web/us help=\177%%0a'; do
    # shellcheck disable=SC2059  # it is the format
    printf "$line\n" | socat -u - "UNIX-SENDTO:$SOCK"
  done
  printf 'name=us type=\033]0;x\007\n' 2>/dev/null >"$STAT/web/definition" || true
  printf 'w\033/us o\342\200\256n=1\n' 2>/dev/null >"$MNT/rules" || true
  wait_until '[ "$(jq .reported "$MNT/errors.json")" = 7 ]'
  LC_ALL=C.UTF-8 "$TALLYCTL" errors >"$CASE/out"
  assert_eq 21 "$(wc -l <"$CASE/out")" 'a reason, the line and the caret of each'
  py <<'EOT'
import os
for line in open(os.environ["CASE"] + "/out", encoding="utf-8"):
    assert line.rstrip("\n").isprintable(), line
EOT
  assert_has '\xe2\x80\xae' "$(cat "$CASE/out")"
}

the_caret_stands_below_its_word() {
  send 'create web/漢 types=range'
  wait_until '[ "$(jq .reported "$MNT/errors.json")" = 1 ]'
  assert_eq "there is no key 'types'; did you mean type?
  create web/漢 types=range
                ^" "$(LC_ALL=C.UTF-8 "$TALLYCTL" errors | sed '1s/.*error: //')"
  assert_eq '  create web/\xe6\xbc\xa2 types=range
                          ^' "$("$TALLYCTL" errors | sed 1d)"
}

the_group_reads_it_and_nobody_else() {
  need_root
  stop_daemon
  start_daemon -o allow_other --group nogroup
  assert_eq '440 nogroup' "$(stat -c '%a %G' "$MNT/errors.json")"
}

what_a_user_causes_is_of_that_user() {
  need_root
  stop_daemon
  start_daemon -o allow_other
  chmod 755 "$CASE" "$CASE/run"
  printf "create hers/a.b on=1\ncreate hers/a_b on=1\n" >"$CASE/datagram"
  as_nobody socat -u "OPEN:$CASE/datagram" "UNIX-SENDTO:$SOCK"
  wait_until '[ -e "$STAT/hers/data" ]'
  cat "$MNT/metrics/tallyfs.prom" >/dev/null
  assert_eq "[\"socket\",$(id -u nobody),\"metrics\"]" \
    "$(jq -c '.errors[] | [.door, .uid, .where]' "$MNT/errors.json")"
}

programs_read_rows() {
  need_python
  send 'create web/us on=1' 'create a/us on=1'
  define web 'name=us type="lisp",漢' 2>/dev/null || true
  define a 'name=us type=lisp' 2>/dev/null || true
  printf 'web/us 1\t\0335\n' | socat -u - "UNIX-SENDTO:$SOCK"
  wait_until '[ "$(jq .reported "$MNT/errors.json")" = 3 ]'
  "$TALLYCTL" errors --csv >"$CASE/rows.csv"
  py <<'EOT'
import csv, os
first, _, third = csv.DictReader(open(os.environ["CASE"] + "/rows.csv", newline=""))
assert [first[key] for key in ("kind", "door", "where", "text")] == \
    ["error", "mount", "statistics/web", 'name=us type="lisp",漢'], first
assert (first["uid"], first["column"]) == (str(os.getuid()), "8"), first
assert float(first["time"]) > 1.7e9 and first["reason"].startswith("type must be"), first
assert third["door"] == "socket" and "\\x1b5" in third["text"], third
EOT
  assert_eq 'statistics/a statistics/web' "$("$TALLYCTL" errors --tsv --no-header --sort name |
    cut -f5 | grep ^stat | paste -sd' ')"
  # The newest are those of --top, in the order of time, or sorted.
  assert_has_not 'statistics/' "$("$TALLYCTL" errors --top 1)"
  assert_has_not 'statistics/web' "$("$TALLYCTL" errors --top 2)"
  assert_eq '["statistics/a","error"]' \
    "$("$TALLYCTL" errors --json --top 2 | jq -c '.rows[0] | [.where, .kind]')"
  assert_eq 'socket mount' "$("$TALLYCTL" errors --tsv --no-header --sort name --top 2 |
    cut -f3 | paste -sd' ')"
  assert_fails_with 'not of -f' "$TALLYCTL" errors -f --sort name
}
