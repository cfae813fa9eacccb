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

interfaces_and_statistics_are_listed_in_an_order() {
  send 'create a/none on=1'
  _names() { "$TALLYCTL" ls --names "$@" | grep -v tallyfs | paste -sd' '; }
  assert_eq 'web db a' "$(_names --sort samples)"
  assert_eq 'web/us db/us' "$(_names --sort samples --top 2 web db)"
  assert_eq 'db/us' "$(_names --nonzero a db)"
  assert_eq 'web/us db/us' "$("$TALLYCTL" ls --no-header --sort samples --top 2 web db |
    awk '{ print $1 }' | paste -sd' ')"
  "$TALLYCTL" ls --tsv --nonzero --sort name | grep -v '^tallyfs' >"$CASE/rows.tsv"
  assert_eq "interface statistics on samples uid feed
db 1 1 1 $(id -u) any
web 2 2 4 $(id -u) any" "$(tr '\t' ' ' <"$CASE/rows.tsv")"
  assert_eq '["web",4,"any"]' "$("$TALLYCTL" ls --json --sort samples |
    jq -c '.rows[] | select(.interface == "web") | [.interface, .samples, .feed]')"
  assert_eq "$("$TALLYCTL" show --csv web | cut -d, -f2-8)" \
    "$("$TALLYCTL" ls --csv web | cut -d, -f2-8)"
  _status 2 'interfaces are sorted by name or samples' "$TALLYCTL" ls --sort p99
  _status 2 '--sort change compares two spans' "$TALLYCTL" ls --sort change web
  _status 2 'stats/tcp has no rows to sort or export' "$TALLYCTL" ls --csv stats/tcp
}

differences_are_sorted_and_exported() {
  send 'create a/none on=1'
  "$TALLYCTL" record --count 1 "$CASE/before"
  send 'web/us 20' 'web/us 30' 'db/us 50' 'create web/new on=1'
  # The daemon's own statistics count as well.
  assert_eq 'web/us db/us' "$("$TALLYCTL" diff --sort samples --nonzero "$CASE/before" now |
    awk '/^(web|db)\/[a-z]* / { print $1 }' | paste -sd' ')"
  "$TALLYCTL" diff --csv --sort samples --nonzero "$CASE/before" now \
    >"$CASE/rows.csv" 2>"$CASE/err"
  assert_eq 'interface,statistic,samples,count web,us,2,2 db,us,1,1' \
    "$(tr -d '\r' <"$CASE/rows.csv" | cut -d, -f2,3,7,8 | grep -v tallyfs | paste -sd' ')"
  assert_has 'web/new: only in B' "$(cat "$CASE/err")"
  assert_eq '["a",0]' "$("$TALLYCTL" diff --json --sort name --top 1 "$CASE/before" now \
    2>/dev/null | jq -c '[.rows[] | .interface, .samples]')"
  _status 2 '--sort change compares two spans' "$TALLYCTL" diff --sort change "$CASE/before" now
  # The status is of all rows, not of the chosen ones.
  _status 1 '' "$TALLYCTL" diff --exit-code --sort name --top 1 "$CASE/before" now
}

a_look_is_sorted_and_exported() {
  export XDG_STATE_HOME=$CASE/state
  _since() { "$TALLYCTL" since --id here "$@"; }
  _since >/dev/null
  send 'db/us 50' 'web/us 20' 'web/us 30'
  _since --sort samples --top 1 >"$CASE/out"
  assert_eq 'web/us' "$(awk '/^(web|db)/ { print $1 }' "$CASE/out")"
  send 'db/us 50' 'web/us 20' 'web/us 30'
  define web 'name=hits data=reset'
  _since --csv --sort samples >"$CASE/rows.csv" 2>"$CASE/err"
  assert_eq 'interface,statistic,samples web,us,2 db,us,1' \
    "$(tr -d '\r' <"$CASE/rows.csv" | cut -d, -f2,3,7 | grep -v tallyfs | paste -sd' ')"
  grep -qE 'since [0-9]{4}-[0-9]{2}-[0-9]{2}' "$CASE/err"
  assert_has 'web/hits: reset' "$(cat "$CASE/err")"
  send 'db/us 50'
  assert_eq '["db",1]' "$(_since --json --nonzero 2>/dev/null |
    jq -c '[.rows[] | select(.interface == "db") | .interface, .samples]')"
  _status 2 '--sort change compares two spans' _since --sort change
}
