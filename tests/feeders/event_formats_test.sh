#!/usr/bin/env bash
# Our reading of event formats and of `print fmt` beside libtraceevent's, for each event of this
# machine's kernel.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -x "$BIN/event_formats" ] || skip_all "built without libtraceevent-dev"
KERNEL=$WORK/kernel REPORT=$WORK/report
mkdir "$KERNEL"
# in_tracefs COMMAND...: while tracefs is mounted for the command alone.
in_tracefs() {
  unshare -m bash -c 'mount -t tracefs nodev "$1" && shift && exec "$@"' - "$KERNEL" "$@"
}
in_tracefs test -d "$KERNEL/events" 2>"$WORK/refused" ||
  skip_all "no tracefs here: $(tail -1 "$WORK/refused")"

in_tracefs "$BIN/event_formats" "$KERNEL/events" >"$REPORT" 2>&1
status=$?
grep '^#' "$REPORT"
check_eq "0 1" "$status $(grep -c '^# .* events, .* wordings compared' "$REPORT")" \
  "fields and wordings of all events are read as libtraceevent reads them"
[ $FAILED -eq 0 ] || grep -v '^#' "$REPORT" | head -50 | cut -c1-1000 | sed 's/^/# /'
