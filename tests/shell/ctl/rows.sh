# Which rows tallyctl show shows, in which order, and rows for other programs.

. ./ctl/_mount.sh

rows_are_chosen_and_sorted() {
  send 'create web/slow type=array scale=log2 base_interval=1 range_min=0 range_max=4096 on=1' \
    'web/slow 3000' 'create a/none on=1'
  _names() { "$TALLYCTL" show --no-header "$@" | awk '{ printf "%s ", $1 }'; }
  assert_eq 'db/us web/hits web/slow web/us ' "$(_names --sort name web db)"
  # A range has no percentiles, and a number without a unit comes behind all times.
  assert_eq 'web/us web/slow ' "$(_names --sort p50 web db)"
  assert_eq 'web/us ' "$(_names --sort samples --top 1 web db)"
  assert_eq 'db/us ' "$(_names --nonzero a db)"
  _status 2 "'p98' is none of name, samples, rate, p50, p99, max or change" \
    "$TALLYCTL" show --sort p98
  _status 2 'tracing/trace has no rows to sort or export' "$TALLYCTL" show --csv tracing/trace
  _status 2 '--changed goes with --sort change or name' "$TALLYCTL" show --sort max --changed
}

rows_are_json_with_what_a_row_has() {
  send 'create a/none on=1'
  "$TALLYCTL" show --json --sort samples --top 2 web db/us >"$CASE/rows.json"
  assert_eq '["web/us",3,"db/us",1]' \
    "$(jq -c '[.rows[] | .interface + "/" + .statistic, .samples]' "$CASE/rows.json")"
  assert_eq '9.1e-05 null' "$(jq -r '.rows[0] | "\(.p50) \(.total)"' "$CASE/rows.json")"
  "$TALLYCTL" show --json --nonzero web/hits >"$CASE/rows.json"
  assert_eq '["value","",null]' "$(jq -c '.rows[0] | [.type, .unit, .p99]' "$CASE/rows.json")"
}

rows_for_programs_are_plain_numbers() {
  need_python
  "$TALLYCTL" show --csv web/us web/hits db/us >"$CASE/rows.csv"
  "$PYTHON" - "$CASE/rows.csv" <<'EOP'
import csv, sys
us, hits, db = csv.DictReader(open(sys.argv[1], newline=""))
assert [us[key] for key in ("interface", "statistic", "unit", "samples")] == \
    ["web", "us", "seconds", "3"]
assert us["p50"] == "9.1e-05" and us["max"] == us["total"] == "", us
assert (hits["type"], hits["total"], hits["unit"]) == ("value", "1", ""), hits
assert (db["min"], db["avg"], db["max"], db["total"]) == ("7e-05",) * 4, db
assert us["count"] == "3" and float(us["rate"]) > 0 and float(us["time"]) > 1.7e9
EOP
  # What a spreadsheet would take for a formula is quoted.
  local first
  for first in + - @; do send "create ${first}x/${first}y on=1 units=${first}u"; done
  "$TALLYCTL" show --csv --no-header statistics/+x statistics/-x statistics/@x >"$CASE/rows.csv"
  assert_eq "'+x,'+y '-x,'-y '@x,'@y" "$(cut -d, -f2,3 "$CASE/rows.csv" | paste -sd' ')"
  assert_has_not ',+u' "$(cat "$CASE/rows.csv")"
  "$TALLYCTL" show --tsv --no-header statistics/+x statistics/-x statistics/@x >"$CASE/rows.tsv"
  assert_eq "'+x '+y '-x '-y '@x '@y" "$(cut -f2,3 "$CASE/rows.tsv" | tr '\t' ' ' | paste -sd' ')"
  assert_eq 'statistic' "$("$TALLYCTL" show --tsv web/us | head -1 | cut -f3)"
  # The header comes once.
  assert_eq 3 "$("$TALLYCTL" show --csv --every 100ms --count 2 web/hits | wc -l)"
}
