#!/usr/bin/env bash
# Our reading of event formats and of `print fmt` beside libtraceevent's, for each event of this machine's kernel.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -x "$BIN/event_formats" ] || skip_all "built without libtraceevent-dev"

# tracefs is mounted for this test alone.
report=$WORK/report kernel=$WORK/kernel
mkdir "$kernel"
unshare -m bash -c 'mount -t tracefs nodev "$1" && exec "$2" "$1/events"' - "$kernel" "$BIN/event_formats" \
  >"$report" 2>"$report.err"
STATUS=$?
if [ ! -s "$report" ]; then skip_all "no tracefs here: $(tail -1 "$report.err")"; fi

grep '^#' "$report"
if [ $STATUS -eq 0 ]; then
  ok "fields and wordings of all events are read as libtraceevent reads them"
else
  not_ok "fields and wordings of all events are read as libtraceevent reads them" "$(head -50 "$report")"
fi
