# What a hostile sender can put into names, labels, help= and units=, on each screen of tallyctl: of
# the mount, of a recording and of a store of the past.
. ./ctl/_past.sh

NAMES=('@x' '-2+3' '+1' '<script><svg>' "a\"b'c" '$(id)`id`'
  'us{a:%1B[31m%0A%E2%80%AE%3C%2Fscript%3E,b:%3D1+1}' 'us{a:%0D%22%C2%85%E2%80%A8,b:%2Cx}')

_send_all() {
  local each units=('@u/</title>' '@u/"x' '+1' '%0A/%1B[2J')
  local help='=1%0A%1B[2J%E2%80%AE</script>%22,%0D'
  local type='on=1 type=quantiles precision=5 quantiles=50,99'
  for each in "${!NAMES[@]}"; do
    send "create evil/${NAMES[each]} $type units=${units[each % 4]} help=$help" \
      "evil/${NAMES[each]} 5"
  done
  assert_eq "${#NAMES[@]}" "$(definition evil | grep -c '^name=')"
}
# _is_harmless FILE...: each character can be printed, and turns no text around.
_is_harmless() {
  py "$@" <<'PY'
import sys
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    assert text, f"{path} is empty"
    wrong = [line for line in text.split("\n") if not line.replace("\t", "").isprintable()]
    assert not wrong, f"{path}: {wrong[0]!a}"
PY
}
# _has_no_formula FILE SEPARATOR: no cell is a formula to a spreadsheet.
_has_no_formula() {
  py "$@" <<'PY'
import csv, re, sys
path, separator = sys.argv[1:]
rows = list(csv.reader(open(path, newline=""), delimiter=separator,
                       quoting=csv.QUOTE_MINIMAL if separator == "," else csv.QUOTE_NONE))
assert len(rows) > 5 and len({len(row) for row in rows}) == 1, rows
for cell in (cell for row in rows for cell in row):
    assert re.fullmatch(r"-?[0-9.e+-]+", cell) or not re.match(r"[=+\-@\s]", cell), cell
PY
}
# _ask_all FOLDER OPTION...: what each command says of them; --last of a store, --from of a file.
_ask_all() {
  local to=$CASE/$1 each
  shift
  mkdir "$to"
  _show "$@" evil >"$to/show"
  _show "$@" 'statistics/evil/us{a:*}' >"$to/rows"
  _show "$@" --csv evil >"$to/csv"
  _show "$@" --tsv evil >"$to/tsv"
  for each in "${NAMES[@]}"; do
    _show "$@" "statistics/evil/$each"
    "$TALLYCTL" plot "$@" "statistics/evil/$each"
  done >"$to/each"
  _is_harmless "$to"/*
  _has_no_formula "$to/csv" ,
  _has_no_formula "$to/tsv" $'\t'
}

on_the_mount_and_in_recordings_they_are_harmless() {
  _send_all
  _ask_all now --every 100ms --count 2
  XDG_STATE_HOME=$CASE/state "$TALLYCTL" since --id x evil >"$CASE/now/since"
  "$TALLYCTL" ls evil >"$CASE/now/ls"
  "$TALLYCTL" definitions evil >"$CASE/now/definitions"
  "$TALLYCTL" heat --every 100ms --count 2 'evil/*' >"$CASE/now/heat"
  "$TALLYCTL" doctor >"$CASE/now/doctor" || true
  "$TALLYCTL" record --every 100ms --count 2 "$CASE/now/recording"
  _is_harmless "$CASE"/now/*
  _ask_all recorded --from "$CASE/now/recording"
}

in_a_store_they_are_harmless() {
  _record --tiers 1s:1h
  _send_all
  wait_until '[ "$(_sql "SELECT count(*) FROM series WHERE interface = \"evil\"")" = ${#NAMES[@]} ]'
  _next_second
  _next_second
  _end_recorder
  _ask_all past --last 10m
  "$TALLYCTL" heat --last 10m --store "$STORE" 'evil/*' >"$CASE/past/heat"
  _is_harmless "$CASE/past/heat"
}

rules_of_prometheus_quote_them() {
  local each
  _send_all
  for each in "${NAMES[@]}"; do
    "$TALLYCTL" check --print-rule "statistics/evil/$each p99 < 3" >>"$CASE/rules.yml"
    sed -i '/^groups:$/d' "$CASE/rules.yml"
  done
  sed -i '1i groups:' "$CASE/rules.yml"
  _is_harmless "$CASE/rules.yml"
  assert_has '\U0000202E' "$(cat "$CASE/rules.yml")"
  assert_eq "${#NAMES[@]}" "$(grep -c '^      - alert: "' "$CASE/rules.yml")"
  assert_eq '' "$(grep -vE '^groups:$|^ +(- )?[a-z]+:( "([^"\\]|\\.)*"| [a-z0-9]+)?$' \
    "$CASE/rules.yml" || true)" 'lines that are no key and value'
  if command -v promtool >/dev/null; then promtool check rules "$CASE/rules.yml"; fi
}
