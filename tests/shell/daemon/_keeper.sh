# shellcheck shell=bash
# Servers that are replaced. Sourced by files beside this one.
# Ends the server, and returns when another one answers.
_replace_server() {
  local before=$SERVER
  kill -"${1:-KILL}" "$before"
  # Looked at once for both questions: in between there may be none.
  wait_until 'SERVER=$(server_of "$DAEMON"); [ "${SERVER:-'"$before"'}" != '"$before"' ]'
  wait_until '[ "$(_takeovers)" -gt 0 ]'
}
_takeovers() { own takeovers; }
# All that came in is in the memory of the keeper.
_is_kept() { wait_until '[ "$(own unsaved)" = 0 ]'; }
# Linux 6.9 and later send requests again.
_need_resend() {
  local major minor
  IFS=.- read -r major minor _ < <(uname -r)
  [ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 9 ]; } ||
    skip 'the kernel does not send requests again'
}
_reload() { "$TALLYFS" --reload "$MNT"; SERVER=$(server_of "$DAEMON"); }
