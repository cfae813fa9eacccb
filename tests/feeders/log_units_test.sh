#!/usr/bin/env bash
# tally-feed-log restarts with rules whose samples have other decimals or units than those of a
# statistic that is there: samples of two scales are never added up.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"

# counts DECIMALS [NAME]: what a run of the feeder counts of one line, in so many decimals.
counts() {
  "$FEED" --socket "$SOCK" --once --from start --match 'took (?<s>\S+) s' \
    --sample "scale/${2:-time}={s} decimals=$1 units=seconds/queries type=value mode=products" \
    "$LOG" 2>"$WORK/said"
}
COUNTED='1 line, 1 matched, 0 unmatched; 1 sample'
REFUSED="$COUNTED, 1 dropped"
tallyctl() {
  PATH=$BIN:$PATH TALLY_SOCKET=$SOCK command tallyctl --mount "$MNT" "$@" >"$WORK/ctl" 2>&1 ||
    not_ok "tallyctl $*" "$(cat "$WORK/ctl")"
}

echo 'took 2 s' >"$LOG"
mkdir -m 700 "$WORK/state"
start_daemon --state "$WORK/state"
check_eq "$COUNTED 0" "$(counts 3) $?" "a rule with decimals=3 counts"
check_eq "$REFUSED 1" "$(counts 6) $?" "one with decimals=6 is refused, and ends with 1"
check_eq 2.000 "$(value scale time)" "the sum has no samples of another scale"
check "the log says which they are, and what to do" grep -q "refused scale/time: its samples have \
units=seconds/queries decimals=3, to which samples with units=seconds/queries decimals=6 do not add \
up: remove it with tallyctl rm, or take another name" "$WORK/said"
check_eq 1 "$(value tally-feed-log dropped)" "the refused sample is counted"
check_eq "$COUNTED 0" "$(counts 6 other) $?" "another name counts"

# ---- units that a user gives it are for people
tallyctl define scale/time units=hours/people
check_eq "$COUNTED 0" "$(counts 3) $?" "a user's units change nothing of what is sent"
check_eq "$REFUSED 1" "$(counts 6) $?" "nor of what is refused"
stop "$DAEMON"
start_daemon --state "$WORK/state"
check_eq "$COUNTED 0" "$(counts 3) $?" "also after a restart of the daemon"
check_eq "$REFUSED 1" "$(counts 6) $?" "which knows what the samples have"
"$BIN/tallyfs" --reload "$MNT" >"$WORK/reload" 2>&1 || not_ok "reload" "$(cat "$WORK/reload")"
check_eq "$REFUSED 1" "$(counts 6) $?" "and after a reload"
check_eq 6.000 "$(value scale time)" "all runs with decimals=3 are in the sum"

# ---- what to do
tallyctl rm scale/time
check_eq "$COUNTED 0" "$(counts 6) $?" "once removed it begins with the new decimals"
check_eq 2.000000 "$(value scale time)" "and has them alone"

# ---- decimals= makes another scale of milliseconds, too
echo 'took 12.5ms' >"$WORK/one.log"
milliseconds() {  # milliseconds NAME WORDS: what a run counts of that line, which it may refuse
  "$FEED" --socket "$SOCK" --once --from start --match 'took (?<t>(?<ms>[\d.]+)ms)' \
    --sample "scale/$1=$2" "$WORK/one.log" 2>"$WORK/said"
  echo "$?"
}
while IFS='|' read -r name first second; do
  check_eq "$COUNTED" "$(milliseconds "$name" "$first" | head -1 | sed 's/, 1 rounded//')" \
    "$name: the first run counts"
  before=$(data scale | grep "^$name ")
  check_eq "$(printf '%s\n1' "$REFUSED")" "$(milliseconds "$name" "$second")" \
    "$name: another scale is refused"
  check_eq "$before" "$(data scale | grep "^$name ")" "$name: nothing was added up"
done <<'RUNS'
thousandths|{ms} units=milliseconds/requests|{ms} decimals=3 units=milliseconds/requests
millionths|{ms}*0.001 decimals=6 units=seconds/requests|{ms} decimals=6 units=milliseconds/requests
minutes|{ms} units=milliseconds/requests|{ms} decimals=3 units=minutes/requests
RUNS
WORDS='decimals=3 units=milliseconds/requests'
check_eq "$COUNTED 0" "$(milliseconds duration "{t|duration} $WORDS" | xargs)" \
  "a duration in milliseconds with decimals counts"
check_eq 12.500 "$(value scale duration)" "as it is said"
check_eq "$COUNTED 0" "$(milliseconds duration "{ms} $WORDS" | xargs)" \
  "as a number of milliseconds with decimals does"

# ---- what a user has created says nothing of samples
tallyctl create scale/made type=value mode=products units=people/n decimals=6
check_eq "$REFUSED 1" "$(counts 3 made) $?" "a statistic of a user's keeps its decimals"
check "the log says which it has" grep -q "scale/made: it has decimals=6, to which" "$WORK/said"
check_eq "$COUNTED 0" "$(counts 6 made) $?" "and takes what comes first in them"
check_eq "$REFUSED 1" "$(counts 3 made) $?" "and nothing else then"

echo "1..$COUNT"
[ $FAILED -eq 0 ]
