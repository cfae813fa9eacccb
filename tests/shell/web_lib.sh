# shellcheck shell=bash
# tally-web in a case: start_web, then $WEB is its address without a slash, $TOKEN the header.
TALLY_WEB=${TALLY_BIN:+$TALLY_BIN/}tally-web

# start_web [OPTION...]: on any free port, unless an option says otherwise.
start_web() {
  local said='' url='' output
  local listen=(--listen 127.0.0.1:0)
  [[ " $* " != *' --listen '* ]] || listen=()
  rm -f "$CASE/web.output"
  mkfifo "$CASE/web.output"
  "$TALLY_WEB" --mount "$MNT" "${listen[@]}" "$@" >"$CASE/web.output" 2>>"$CASE/stderr.web" &
  WEB_PID=$!
  echo "$WEB_PID" >>"$CASE/pids"
  exec {output}<"$CASE/web.output"
  read -r -t $((30 * ${TALLY_PATIENCE:-1})) said <&"$output" || true
  [ "$said" = READY ] || fail "tally-web did not say READY but '$said'" "$(cat "$CASE/stderr.web")"
  read -r url _ <&"$output"
  exec {output}<&-
  WEB=${url%/}
  TOKEN="Authorization: Bearer $(cat "$CASE/run/web-token")"
}
stop_web() {
  local status=0
  kill -TERM "$WEB_PID"
  wait "$WEB_PID" || status=$?
  assert_eq 0 $status "exit status of tally-web"
}
http_status() { curl -s -o "$CASE/answer" -w '%{http_code}' "$@"; }
api() { curl -s -H "$TOKEN" "$WEB/api/1/$1"; }
