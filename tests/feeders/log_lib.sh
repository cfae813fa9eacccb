# What the tests of tally-feed-log share, beside lib.sh.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
[ -e /dev/fuse ] || skip_all "no /dev/fuse"
FEED=$BIN/tally-feed-log LOG=$WORK/app.log
writer() { python3 "$here/log_writer.py" "$@"; }
# The value of a statistic: the last field of its first line.
value() { data "$1" 2>/dev/null | awk -v name="$2" '$1 == name { print $NF; exit }'; }
# becomes WANTED COMMAND...: the command prints it within a minute.
becomes() {
  local wanted=$1
  shift
  EXPR="\"\$($*)\" = \"$wanted\""
  wait_until "[ $EXPR ]" && ok "$* is $wanted" || not_ok "$* is $wanted" "got: $("$@")"
}
start_feeder() { start "$FEED" --socket "$SOCK" "$@"; FEEDER=$PID SAID=$WORK/output.$OUTPUTS.err; }
# What each line `took N ms` becomes.
TOOK=(--match 'took (?<ms>\d+) ms' --sample 'app/ms={ms} type=value mode=products'
  --count app/lines)
