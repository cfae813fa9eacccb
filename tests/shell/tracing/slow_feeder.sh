# How long writes wait for a feeder of the kernel's events that takes long, or does not answer.
# _slow_feeder.py plays it.
T=$MNT/tracing
E=$T/events/played

_set_up() {
  need_root
  need_python
  mkdir "$CASE/bin"
  cp "$TALLYFS" "$CASE/bin/tallyfs"
  sed "1s|.*|#!$PYTHON|" "$here/tracing/_slow_feeder.py" >"$CASE/bin/tally-feed-tracefs"
  chmod 755 "$CASE/bin/tally-feed-tracefs"
  _mood answers
  TALLYFS=$CASE/bin/tallyfs
  start_daemon -o tracefs
  wait_until '[ -d "$E/other" ]'
}
_mood() { echo "$1" >"$CASE/bin/new_mood" && mv "$CASE/bin/new_mood" "$CASE/bin/mood"; }
_feeder() { pgrep -f "tally-feed-tracefs --socket $SOCK" | head -1; }
# _write EVENT: in the background. WRITE is its process, which prints its errno, or `done`, after it
# has left in took.EVENT how many microseconds the write alone has taken.
_write() {
  rm -f "$CASE/result.$1"
  "$PYTHON" - "$E/$1/trigger" "$CASE/took.$1" >"$CASE/result.$1" <<'EOT' &
import ctypes, errno, os, signal, sys, time
# Python's own write begins again after EINTR.
signal.signal(signal.SIGINT, lambda *_: None)
file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
text = b"hist:keys=number\n"
libc = ctypes.CDLL(None, use_errno=True)
start = time.monotonic()
done = libc.write(file, text, len(text)) == len(text)
said = "done" if done else errno.errorcode[ctypes.get_errno()]
took = time.monotonic() - start
with open(sys.argv[2], "w") as out: out.write(str(round(took * 1e6)))
print(said)
EOT
  WRITE=$!
  echo "$WRITE" >>"$CASE/pids"
}
_waits() { grep -q vfs_write "/proc/$1/stack"; }
_begin_write() { _write "$1" && wait_until "_waits $WRITE"; }
_result() {
  local result=$CASE/result.${1:-one}
  wait_until "[ -s '$result' ]"
  cat "$result"
}
# _within SECONDS COMMAND...: takes no longer than that.
_within() {
  local start=$EPOCHREALTIME
  "${@:2}" || return
  awk -v most="$1" -v slowness="${TALLY_SLOWNESS:-1}" -v start="$start" -v end="$EPOCHREALTIME" \
    'BEGIN { exit end - start > most * slowness }' ||
    fail "${*:2} took from $start to $EPOCHREALTIME"
}

a_write_waits_for_a_feeder_that_is_at_work() {
  local until
  _mood computes
  _begin_write one
  until=$(($(now_us) + 2000000)) # twice as long as for one that sleeps
  wait_until "! _waits $WRITE || [ \$(now_us) -ge $until ]"
  _waits "$WRITE" || fail "it has ended with $(_result)"
  _mood answers
  assert_eq done "$(_result)"
  assert_has 'hist:keys=number' "$(cat "$E/one/trigger")"
}

a_write_waits_no_longer_than_ten_seconds() {
  _mood computes
  _write one
  _within 15 _result >"$CASE/said"
  assert_eq ETIMEDOUT "$(cat "$CASE/said")"
  _mood answers
  assert_has_not 'hist:' "$(cat "$E/one/trigger")"
}

one_that_sleeps_is_given_up_after_a_second() {
  _mood sleeps
  _write one
  _within 4 _result >"$CASE/said"
  assert_eq ETIMEDOUT "$(cat "$CASE/said")"
}

a_stopped_one_is_not_waited_for() {
  local took
  freeze "$(_feeder)"
  _write one
  assert_eq ETIMEDOUT "$(_result)"
  took=$(cat "$CASE/took.one")
  [ "$took" -lt "$(time_limit_us 900000)" ] || fail "it was waited for: $took us"
  kill -CONT "$(_feeder)"
  _write one
  assert_eq done "$(_result)"
}

one_that_ends_is_not_waited_for() {
  _mood computes
  _begin_write one
  kill -KILL "$(_feeder)"
  _within 3 _result >"$CASE/said"
  assert_eq ENODEV "$(cat "$CASE/said")"
}

what_needs_no_answer_does_not_wait_behind_a_write() {
  send 'event define web/request u64 us'
  wait_until '[ -d "$T/events/web/request" ]'
  _mood computes
  _begin_write one
  _within 3 bash -c 'echo hist:keys=us >"$1"' - "$T/events/web/request/trigger"
  _within 3 bash -c 'echo 1 >"$1"' - "$T/options/fields"
  _within 3 cat "$T/events/web/request/hist" >"$CASE/said"
  _within 3 cat "$T/trace" >"$CASE/said"
  _within 3 cat "$E/other/trigger" >"$CASE/said"
  _waits "$WRITE" || fail "it has ended with $(_result)"
  _mood answers
  assert_eq done "$(_result)"
}

several_writes_wait_each_for_its_own_answer() {
  local first
  _mood computes
  _begin_write one
  first=$WRITE
  _begin_write other
  kill -INT "$WRITE"
  assert_eq EINTR "$(_result other)"
  _waits "$first" || fail "it has ended, too"
  _mood answers
  WRITE=$first
  assert_eq done "$(_result)"
  assert_has_not 'hist:' "$(cat "$E/other/trigger")"
}

a_signal_a_reload_and_the_end_interrupt_it() {
  _mood computes
  _begin_write one
  kill -INT "$WRITE"
  assert_eq EINTR "$(_result)"
  _begin_write one
  _within 5 "$TALLYFS" --reload "$MNT"
  assert_eq EINTR "$(_result)"
  _mood answers
  SERVER=$(server_of "$DAEMON")
  wait_until 'grep -q "\"tracefs\":\"on\"" "$MNT/statistics.json"'
  _mood computes
  _begin_write one
  kill "$DAEMON"
  _within 5 _result >"$CASE/said"
  assert_eq EINTR "$(cat "$CASE/said")"
  daemon_ends
}
