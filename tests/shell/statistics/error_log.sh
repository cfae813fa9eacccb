# tracing/error_log: why a write was refused.

# The log has one entry for LINE of interface web, with the caret under TOKEN.
_tells() {  # _tells LINE TOKEN
  local log before command caret
  mapfile -t log < <(errors | tail -3)
  assert_match '\[[0-9]+\.[0-9]{6}\] statistics/web: error: .+' "${log[0]}"
  assert_eq "  Command: $1" "${log[1]}"
  before=${log[1]%%"$2"*}
  assert_eq "$(printf '%*s^' "${#before}" '')" "${log[2]}" "caret under '$2' of '$1'"
}
_refuse() { assert_fails define web "$1"; _tells "$1" "$2"; }

is_empty_at_first() { assert_eq '' "$(errors)"; }

shows_time_place_reason_line_and_a_caret_under_the_token() {
  send 'create web/hits'
  _refuse 'name=hits range_min=3 range_max=many on=1' 'range_max=many'
  _refuse 'on=2' 'on=2'
  _refuse '   name=hits   type=foo' 'type=foo'
}

points_at_the_token_whatever_the_error() {
  send 'create web/hits'
  _refuse 'on=1 name=misses' 'name=misses'
  _refuse 'name=hits type=list on=1' 'type=list'
  _refuse 'name=hits entries_max=0' 'entries_max=0'
  _refuse 'name=hits type=history mode=range period=0 entries_max=5' 'period=0'
  _refuse 'name=hits mode=range' 'mode=range'
  _refuse 'name=hits range_max=5 range_min=9' 'range_min=9'
}

counts_columns_in_characters() {
  send 'create web/hits'
  local LC_ALL=C.UTF-8
  _refuse 'größe=→ name=hits on=5' 'on=5'
}

says_nothing_of_lines_that_took_effect() {
  send 'create web/hits'
  assert_fails write_at_once "$STAT/web/definition" 'name=hits on=1' 'name=hits on=3' \
    'name=hits on=0'
  assert_eq 1 "$(errors | grep -c error:)"
  _tells 'name=hits on=3' 'on=3'
}

tells_of_a_last_line_without_newline() {
  send 'create web/hits'
  printf 'name=hits on=7' >"$STAT/web/definition" || true
  _tells 'name=hits on=7' 'on=7'
}

warns_of_units_that_a_later_create_says() {
  send 'create web/us on=1 units=microseconds/requests' 'create web/us on=1' \
    'create web/us units=microseconds/requests'
  assert_eq '' "$(errors)"
  send 'create  web/us  on=1 units=seconds/requests'
  wait_until '[ -n "$(errors)" ]'
  assert_has ': warning: it exists with units=microseconds/requests and stays so; to change it: '\
'define web/us on=1 units=seconds/requests' "$(errors | head -1)"
  assert_attribute web us units microseconds/requests
}

keeps_the_last_8() {
  local i
  send 'create web/hits'
  for i in {1..11}; do assert_fails define web "name=hits on=x$i"; done
  assert_eq 8 "$(errors | grep -c error:)"
  assert_eq 'on=x4' "$(errors | grep -o 'on=x[0-9]*' | head -1)"
  _tells 'name=hits on=x11' 'on=x11'
}

is_cleared_by_writing() {
  send 'create web/hits'
  assert_fails define web 'on=5'
  echo >"$MNT/tracing/error_log"
  assert_eq '' "$(errors)"
}

cannot_be_forged() {
  send 'create web/hits'
  py <<'EOT'
import os
try:
    with open(os.environ["STAT"] + "/web/definition", "wb", buffering=0) as file:
        file.write(b"on=9 \x1b[31m\r[1.0] statistics/db: error: forged\xff\n")
except OSError: pass
log = open(os.environ["MNT"] + "/tracing/error_log", "rb").read()
assert b"\x1b" not in log and b"\r" not in log and b"\xff" not in log, log
assert log.count(b"\n") == 3, log
log.decode()
EOT
}
