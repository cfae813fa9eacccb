# tally-send, and what plain shells send with: bash with socat, and nc.
# Longer than most: it has all that a daemon, a socket or a line can be, and what is told of it.

_send() { "$TALLY_SEND" --socket "$SOCK" "$@"; }
# _expect STATUS COMMAND...: it ends with this status; what it says goes into $SAID.
_expect() {
  local wanted=$1 status=0
  shift
  SAID=$("$@" 2>&1) || status=$?
  assert_eq "$wanted" $status "exit status of $* ($SAID)"
}
_lines() { seq "$1" | sed "s,.*,$2,"; } # _lines NUMBER LINE
# _refuses LINE MESSAGE [CARET]: these and the line indented are what it says.
_refuses() {
  _expect 1 _send "$1"
  assert_eq "tally-send: line 1: $2"$'\n'"  $1${3:+$'\n'  $3}" "$SAID"
}

arguments_are_lines() {
  _expect 0 _send 'web/a 1' 'web/a 5 2' 'create web/b on=1 type=range' 'web/b -7' 'attach web/b'
  assert_eq '' "$SAID"
  assert_data web 'a 3 1 3.667 5' 'b 1 -7 -7.000 -7'
  _expect 0 _send 'define web name=a on=0' 'remove web/b'
  assert_match 'name=a on=0 .*' "$(definition web)"
}

without_arguments_it_reads_stdin() {
  printf 'web/a 1\nweb/a 2\n' | _send
  assert_counts web 'a 2'
  echo 'web/a 1' | _send -
  assert_counts web 'a 3'
}

a_dash_is_stdin_between_arguments() {
  echo 'web/raw 2' | _send 'create web/raw on=1 type=raw entries_max=9' 'web/raw 1' - 'web/raw 3'
  assert_eq '1 2 3' "$(data web | cut -d' ' -f4 | paste -sd' ')"
}

an_empty_stdin_is_no_fault() { _expect 0 _send </dev/null; assert_eq '' "$SAID"; }

a_stdin_that_cannot_be_read_ends_it_with_1() {
  _expect 1 _send 'web/a 1' - <"$CASE"
  assert_eq 'tally-send: cannot read stdin: Is a directory' "$SAID"
  assert_counts web 'a 1'
}

the_last_line_may_lack_its_newline() { printf 'web/a 1\nweb/a 1' | _send; assert_counts web 'a 2'; }

blank_lines_and_comments_are_skipped_and_counted_as_lines() {
  printf '# samples\n\n \t\nweb/a 1\r\n  # more\nwrong\n' >"$CASE/lines"
  _expect 1 _send <"$CASE/lines"
  assert_has 'line 6: ' "$SAID"
  _expect 1 _send '' '# no' wrong
  assert_has 'line 3: ' "$SAID"
  assert_counts web 'a 1'
}

each_kind_of_error_is_told_with_a_caret() {
  _refuses 'hello' 'neither INTERFACE/STATISTIC nor a command (create, define, remove, attach, subsystem, object, rates, withdraw, event, latency) (Invalid argument)' '^'
  _refuses 'web/a one' 'X is not a signed 64-bit number (Invalid argument)' '      ^'
  _refuses 'web/a 1,5' \
    'X has no comma: a decimal is 1.5, a thousand is 1000 (Invalid argument)' '      ^'
  _refuses 'web/a 1 -1' 'Y is not an unsigned 64-bit number (Invalid argument)' '        ^'
  _refuses 'web/a' "the number is missing: a sample is 'web/us 12' (Invalid argument)" '     ^'
  _refuses 'web/a 12ms' 'X has no unit: 12 instead of 12ms; units= names it (Invalid argument)' \
    '      ^'
  _refuses 'web/a 0xg' 'X is not a signed 64-bit number (Invalid argument)' '      ^'
  _refuses 'web/a:5|c' "a line with a '|' is one of StatsD, which tally-feed-statsd takes \
(UDP port 8125) (Invalid argument)" '       ^'
  _refuses 'define web on=1' 'no such interface (No such file or directory)' '       ^'
  _send 'web/a 1'
  _expect 1 _send 'define web name=a type=lisp'
  assert_eq \
    "tally-send: line 1: type must be value, range, list, array, history, raw, quantiles or last; \
did you mean list? (Invalid argument)
  define web name=a type=lisp
                    ^" "$SAID"
}

a_sender_without_the_right_is_told_so() {
  _send 'web/a 1'
  chmod 666 "$SOCK"
  as_nobody "$TALLY_SEND" --socket "$SOCK" 'web/a 1'
  _expect 1 as_nobody "$TALLY_SEND" --socket "$SOCK" 'remove web/a'
  assert_has '(Operation not permitted)' "$SAID"
  chmod 600 "$SOCK"
  _expect 3 as_nobody "$TALLY_SEND" --socket "$SOCK" 'web/a 1'
  assert_has 'Permission denied' "$SAID"
  assert_has 'users that may write to the socket may send; see tallyfs --socket-mode' "$SAID"
  assert_counts web 'a 2'
}

lines_around_a_refused_one_are_sent() {
  _expect 1 _send 'web/a 1' wrong 'web/a 1' 'web/a x' 'web/a 1'
  assert_eq 'line 2 line 4' "$(grep -o 'line [0-9]*' <<<"$SAID" | paste -sd' ')"
  assert_counts web 'a 3'
}

an_argument_with_newlines_is_many_lines() {
  _expect 1 _send $'web/a 1\nwrong\nweb/a 1' 'wrong too'
  assert_eq 'line 2 line 4' "$(grep -o 'line [0-9]*' <<<"$SAID" | paste -sd' ')"
  assert_counts web 'a 2'
}

the_caret_counts_characters_not_bytes() {
  _send 'größe/läuft 1'
  assert_counts größe 'läuft 1'
  _refuses 'größe/läuft eins' 'X is not a signed 64-bit number (Invalid argument)' '            ^'
}

what_could_steer_a_terminal_is_escaped() {
  _expect 1 _send $'web/\e[31m x'
  assert_eq "  web/\\x1b[31m x"$'\n'"               ^" "$(tail -n +2 <<<"$SAID")"
}

a_very_long_line_is_not_sent_and_said_to_be_too_long() {
  { echo 'web/a 1'; printf 'create web/b %0300000d\n' 0; printf '#%0300000d\n' 0; echo \
    'web/a 1'; } >"$CASE/lines"
  _expect 1 _send <"$CASE/lines"
  assert_has 'tally-send: line 2: longer than 4096 bytes, and not sent' "$SAID"
  assert_has '  create web/b 000' "$SAID"
  assert_eq 2 "$(wc -l <<<"$SAID")"
  [ ${#SAID} -lt 2000 ] || fail 'all of it was shown'
  assert_counts web 'a 2'
}

a_line_may_have_4096_bytes() {
  local line
  printf -v line 'web/a 1%4089s' ''
  _expect 0 _send "$line"
  _expect 1 _send "$line "
  assert_counts web 'a 1'
}

the_part_of_a_long_line_with_the_fault_is_shown() {
  local line
  printf -v line 'create web/a hits_missed=%02000d type=lisp %01000d=0' 0 0
  _expect 1 _send "$line"
  local text caret
  { read -r; IFS= read -r text; IFS= read -r caret; } <<<"$SAID"
  assert_eq type=lisp "${text:$((${#caret} - 1)):9}"
  [ ${#text} -lt 600 ] || fail "shown: ${#text} characters"
}

quiet_tells_by_the_exit_status_only() {
  _expect 1 _send --quiet wrong 'web/a 1'
  assert_eq '' "$SAID"
  _expect 3 "$TALLY_SEND" -q --socket "$CASE/nowhere" 'web/a 1'
  assert_eq '' "$SAID"
  assert_counts web 'a 1'
}

wrong_usage_ends_with_2() {
  _expect 2 _send --bogus 'web/a 1'
  _expect 2 _send --timeout-ms soon 'web/a 1'
  _expect 2 _send --timeout-ms 0 'web/a 1'
  _expect 0 _send --help
  assert_has 'Exit status' "$SAID"
  _expect 0 _send --version
}

no_daemon_ends_with_3_and_says_what_to_do() {
  _expect 3 "$TALLY_SEND" --socket "$CASE/nowhere" 'web/a 1'
  assert_eq "tally-send: no daemon at $CASE/nowhere: is tallyfs running? --socket or TALLY_SOCKET says where" "$SAID"
  kill_daemon
  _expect 3 _send 'web/a 1'
  assert_has "no daemon at $SOCK" "$SAID"
  _expect 3 env -u XDG_RUNTIME_DIR TALLY_SOCKET="$(printf '%0200d' 1)" "$TALLY_SEND" x
  assert_has 'too long' "$SAID"
}

the_environment_says_where_the_socket_is() {
  TALLY_SOCKET=$SOCK "$TALLY_SEND" 'web/a 1'
  TALLY_SOCKET=$CASE/nowhere _send 'web/a 1'
  assert_counts web 'a 2'
}

a_stopped_daemon_ends_it_with_3_in_time() {
  local begun=${EPOCHREALTIME/./} took
  freeze "$SERVER"
  _expect 3 _send --timeout-ms 400 'web/a 1'
  took=$((${EPOCHREALTIME/./} - begun))
  _expect 3 _send --timeout-ms 400 < <(_lines 100000 'web/a 1' 2>/dev/null)
  kill -CONT "$SERVER"
  assert_has "the daemon at $SOCK does not answer for 400 ms: is it stopped, overloaded, or in another network namespace (then samples count all the same)? --timeout-ms waits longer" "$SAID"
  assert_has 'line 1,' "$SAID"
  [ $took -ge 400000 ] || fail "it waited $took us only"
  _send 'other/a 1'
  assert_counts other 'a 1'
}

a_daemon_that_goes_on_in_time_is_waited_for() {
  freeze "$SERVER"
  _lines 5000 'web/a 1' | _send --timeout-ms 30000 &
  sleep 0.7
  kill -CONT "$SERVER"
  wait $!
  assert_counts web 'a 5000'
}

a_daemon_that_ends_meanwhile_is_noticed() {
  local status=0 feed sender
  mkfifo "$CASE/feed"
  "$TALLY_SEND" --socket "$SOCK" <"$CASE/feed" 2>"$CASE/told" &
  sender=$!
  exec {feed}>"$CASE/feed"
  echo 'web/a 1' >&$feed
  wait_until 'grep -q "^a 1" "$STAT/web/data" 2>/dev/null'
  kill_daemon
  echo 'web/a 1' >&$feed
  wait $sender || status=$?
  assert_eq 3 $status
  assert_eq "tally-send: the daemon at $SOCK has ended; no answer to line 2, nor to any after it" \
    "$(cat "$CASE/told")"
}

what_a_pipe_has_so_far_is_sent_at_once() {
  local feed sender
  mkfifo "$CASE/feed"
  "$TALLY_SEND" --socket "$SOCK" <"$CASE/feed" 2>"$CASE/told" &
  sender=$!
  exec {feed}>"$CASE/feed"
  echo 'web/a 1' >&$feed
  wait_until 'grep -q "^a 1" "$STAT/web/data" 2>/dev/null'
  echo wrong >&$feed
  wait_until 'grep -q "line 2: neither" "$CASE/told"'
  printf 'web/' >&$feed
  printf 'a 1\n' >&$feed
  wait_until 'grep -q "^a 2" "$STAT/web/data"'
  exec {feed}>&-
  wait $sender || assert_eq 1 $?
}

a_hundred_thousand_lines_are_all_counted() {
  seq 100000 | sed 's,.*,web/s_& &,;s,s_[0-9]*\([0-9]\) ,s_\1 ,' | _send
  assert_eq "$(for i in 1 2 3 4 5 6 7 8 9 0; do echo "s_$i 10000"; done)" "$(counts web)"
}

many_refusals_are_all_told() {
  local i
  for i in {1..20000}; do echo 'web/a 1'; echo "web/a number-$i"; done >"$CASE/lines"
  _expect 1 _send <"$CASE/lines"
  assert_eq "$(seq 2 2 40000)" \
    "$(sed -n 's/^tally-send: line \([0-9]*\): X is not.*/\1/p' <<<"$SAID")"
  assert_counts web 'a 20000'
}

many_long_lines_are_all_counted() {
  local line
  printf -v line 'web/a 1%3000s' ''
  _lines 2000 "$line" | _send
  assert_counts web 'a 2000'
}

many_at_once_get_their_own_answers() {
  local i senders=()
  for i in 1 2 3 4; do
    _lines 5000 'web/a 1' | _send --timeout-ms 20000 &
    senders+=($!)
  done
  for i in "${senders[@]}"; do wait "$i"; done
  assert_counts web 'a 20000'
}

# A daemon that answers the odd lines only.
a_lost_answer_is_told() {
  need_python
  PYTHONPATH=$here "$PYTHON" - "$CASE/forgetful" <<'EOT' &
from peer import *
import sys
daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
daemon.bind(sys.argv[1])
while True:
    data, sender = daemon.recvfrom(65536)
    at, answers = 16, b""
    while at < len(data):
        kind, flags, length, sequence, size = struct.unpack_from("<HHIII", data, at)
        text = data[at + 16:at + 16 + size].decode()
        if text == "" or text[-1] in "13":
            answers += message(ANSWER, struct.pack("<IIQ", sequence, 0, 0))
        at += 8 + length
    if answers: daemon.sendto(header(1) + answers, sender)
EOT
  local forgetful=$!
  echo $forgetful >>"$CASE/pids"
  wait_until '[ -S "$CASE/forgetful" ]'
  _expect 1 "$TALLY_SEND" --socket "$CASE/forgetful" 'web/a 1' 'web/a 2' 'web/a 3' 'web/a 4'
  kill "$forgetful"
  assert_eq 'tally-send: line 2: its answer was lost, whether it took effect is not known
  web/a 2
tally-send: line 4: its answer was lost, whether it took effect is not known
  web/a 4' "$SAID"
}

# By a daemon whose queue is full when tally-send would ask whether it answers at all.
a_lost_answer_is_told_by_a_daemon_that_was_busy() {
  need_python
  PYTHONPATH=$here "$PYTHON" - "$CASE/busy" <<'EOT' &
from peer import *
import sys, time
daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
daemon.bind(sys.argv[1])
daemon.recvfrom(65536)
other = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
try:
    while True: other.sendto(b"", sys.argv[1])
except BlockingIOError: pass
time.sleep(0.6)  # beyond the first time it asks
while True:
    data, sender = daemon.recvfrom(65536)
    if not data: continue
    sequence, = struct.unpack_from("<I", data, 24)
    daemon.sendto(header(1) + message(ANSWER, struct.pack("<IIQ", sequence, 0, 0)), sender)
EOT
  local busy=$!
  echo $busy >>"$CASE/pids"
  wait_until '[ -S "$CASE/busy" ]'
  _expect 1 "$TALLY_SEND" --socket "$CASE/busy" --timeout-ms 20000 'web/a 1'
  kill "$busy"
  assert_eq 'tally-send: line 1: its answer was lost, whether it took effect is not known
  web/a 1' "$SAID"
}

a_reader_of_stderr_that_goes_away_ends_it() {
  _lines 100000 wrong >"$CASE/lines"
  { "$TALLY_SEND" --socket "$SOCK" <"$CASE/lines" 2>&1 || echo $? >"$CASE/status"; } |
    head -1 >"$CASE/told"
  assert_eq 141 "$(cat "$CASE/status")"
}

# ---- without it

socat_sends_lines() {
  need socat
  echo 'web/a 1' | socat -u - "UNIX-SENDTO:$SOCK"
  socat -u - "UNIX-SENDTO:$SOCK" <<<$'web/a 1\nweb/a 1 3'
  assert_counts web 'a 5'
}

# With -b 65536, as much as a pipe holds: a backlog of more than socat's 8192 bytes would be cut
# inside a line.
a_loop_of_echos_into_one_socat_is_counted() {
  need socat
  local i
  for i in {1..3000}; do echo "web/a $i"; done | socat -u -b 65536 - "UNIX-SENDTO:$SOCK"
  assert_eq 'a 3000' "$(uncut counts web)" 'counts of web'
}

_need_nc() {
  local help
  need nc
  help=$(nc -h 2>&1) || true
  [[ $help == *-*U*u* ]] || skip 'nc is not that of netcat-openbsd'
}

# -q0: nc ends with its stdin. (-w0 ends as soon as stdin has nothing ready, and loses what comes
# later.)
nc_sends_lines() {
  _need_nc
  echo 'web/a 1' | nc -uU -q0 "$SOCK"
  nc -U -u -q0 "$SOCK" <<<$'web/a 1\nweb/a 1 3'
  { echo 'web/a 1'; sleep 0.2; echo 'web/a 1'; } | nc -uU -q0 "$SOCK"
  assert_counts web 'a 7'
}

nc_sends_what_is_ready_with_w0() {
  _need_nc
  nc -uU -w0 "$SOCK" <<<'web/a 1'
  assert_counts web 'a 1'
}

# Together less than the 16384 bytes at which nc would cut a backlog.
a_loop_of_echos_into_one_nc_is_counted() {
  _need_nc
  local i
  for i in {1..1000}; do echo "web/a $i"; done | nc -uU -q0 "$SOCK"
  assert_eq 'a 1000' "$(uncut counts web)" 'counts of web'
}

what_is_wrong_on_the_command_line_is_told_under_its_name() {
  _expect 2 _send --nonsense
  assert_match 'tally-send: .*' "$(head -1 <<<"$SAID")"
  _expect 2 _send --quiet --verbose
}

verbose_says_which_daemon_is_sent_to() {
  _expect 0 _send --verbose 'web/a 1'
  assert_eq "tally-send: to $SOCK" "$SAID"
}

# ---- of a user without a daemon of their own

_user_socket() { echo "$CASE/runtime/tallyfs/socket"; }
# _send_as_nobody RUN ...: where RUN is the system's /run/tallyfs.
_send_as_nobody() {
  XDG_RUNTIME_DIR=$CASE/runtime unshare -m --propagation private bash -c '
    mount -t tmpfs tmpfs /mnt && mkdir /mnt/tallyfs && mount --bind "$1" /mnt/tallyfs && mount --rbind /mnt /run &&
      shift && exec env -u TALLY_SOCKET setpriv --reuid=nobody --regid=nogroup --clear-groups -- "$@"' sh "$1" "$TALLY_SEND" "${@:2}"
}
_need_a_system() {
  need_root
  need setpriv unshare
  unshare -m true 2>/dev/null || skip 'there are no mount namespaces here'
  mkdir "$CASE/runtime" "$CASE/runtime/tallyfs"
  chmod 666 "$SOCK"
}

without_a_daemon_of_his_own_a_user_sends_to_the_systems() {
  _need_a_system
  _expect 0 _send_as_nobody "$CASE/run" 'web/a 1'
  assert_eq '' "$SAID"
  assert_counts web 'a 1'
}

whose_daemon_refused_a_line_is_told_once_where_it_is_not_the_users() {
  _need_a_system
  local whose="tally-send: to /run/tallyfs/socket, the system's daemon, as there is none at $(_user_socket)"
  _expect 1 _send_as_nobody "$CASE/run" 'web/a 1' 'web/a' 'attach web/none'
  assert_eq "$whose
tally-send: line 2: the number is missing: a sample is 'web/us 12' (Invalid argument)
  web/a
       ^
tally-send: line 3: no such statistic (No such file or directory)
  attach web/none
         ^" "$SAID"
  _expect 0 _send_as_nobody "$CASE/run" --verbose 'web/a 1'
  assert_eq "$whose" "$SAID"
  _expect 1 _send_as_nobody "$CASE/run" --quiet wrong
  assert_eq '' "$SAID"
}

where_neither_runs_both_are_named() {
  _need_a_system
  mkdir "$CASE/nobody_here"
  _expect 3 _send_as_nobody "$CASE/nobody_here" 'web/a 1'
  assert_eq "tally-send: no daemon at $(_user_socket) or /run/tallyfs/socket: is tallyfs running? --socket or TALLY_SOCKET says where" "$SAID"
}

# ---- --wait

# _send_waiting: in the background, its standard input is $FEED, its pid $WAITING; what it says
# comes to $CASE/told.
_send_waiting() {
  mkfifo "$CASE/feed"
  "$TALLY_SEND" --wait --socket "$SOCK" "$@" <"$CASE/feed" 2>"$CASE/told" &
  WAITING=$!
  exec {FEED}>"$CASE/feed"
}
_end_of_input() { exec {FEED}>&-; }
# _all_is_kept: until tally-send has read its standard input, and its reader waits for more.
_all_is_kept() { wait_until '[ "$(_unread)" = 0 ] && grep -q pipe /proc/"$WAITING"/task/*/wchan'; }
_unread() {
  "$PYTHON" - "$CASE/feed" <<'EOT'
import array, fcntl, os, sys, termios
unread = array.array("i", [0])
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK), termios.FIONREAD, unread)
print(unread[0])
EOT
}
_told() { grep -qF -- "$1" "$CASE/told"; }

wait_begins_before_the_daemon() {
  need_python
  stop_daemon
  _send_waiting
  _lines 20000 'web/a 1' >&$FEED
  wait_until '_told "waiting: no daemon at $SOCK"'
  _all_is_kept
  _end_of_input
  start_daemon
  wait $WAITING
  assert_counts web 'a 20000'
  _told "connected to $SOCK, 20000 lines were kept" || fail "$(cat "$CASE/told")"
}

# Each line counts once: those before the end of the daemon there, all others in the next one.
wait_goes_on_with_the_next_daemon() {
  _send_waiting
  echo 'web/a 1' >&$FEED
  wait_until '[ -e "$STAT/web" ]'
  kill_daemon
  _lines 30000 'web/a 1' >&$FEED
  wait_until '_told "waiting: no daemon"'
  _told "the daemon at $SOCK has ended" || fail "$(cat "$CASE/told")"
  _end_of_input
  umount -l "$MNT" 2>/dev/null || fusermount3 -u -z "$MNT"
  start_daemon
  wait $WAITING
  assert_counts web 'a 30000'
}

wait_keeps_on_reading_while_the_daemon_is_silent() {
  _send_waiting --timeout-ms 200
  freeze "$SERVER"
  _lines 100000 'web/a 1' >&$FEED
  wait_until '_told "does not answer for 200 ms"'
  _end_of_input
  kill -CONT "$SERVER"
  wait $WAITING
  assert_counts web 'a 100000'
}

wait_drops_and_counts_what_its_memory_has_no_room_for() {
  stop_daemon
  _send_waiting
  # 7 bytes and 64 of each: 236,298 of them in 16 MiB.
  _lines 236300 'web/a 1' >&$FEED
  _end_of_input
  wait_until '_told "line 236299 is dropped, and more will be: 16 MiB of lines wait"'
  start_daemon
  local status=0
  wait $WAITING || status=$?
  assert_eq 1 $status
  _told '2 lines were dropped' || fail "$(cat "$CASE/told")"
  assert_counts web 'a 236298'
}

wait_says_at_a_signal_what_it_did_not_send() {
  need_python
  stop_daemon
  _send_waiting
  _lines 300 'web/a 1' >&$FEED
  wait_until '_told waiting'
  _all_is_kept
  wait_until '[ "$(wc -l <"$CASE/told")" -eq 1 ] && kill -TERM $WAITING'
  local status=0
  wait $WAITING || status=$?
  assert_eq 143 $status
  _told 'ended by a signal: 300 lines were not sent' || fail "$(cat "$CASE/told")"
}

wait_does_not_wait_where_that_does_not_help() {
  _expect 3 env TALLY_SOCKET="$(printf '%0200d' 1)" "$TALLY_SEND" --wait x
  assert_has 'too long' "$SAID"
  _expect 1 _send --wait 'web/a 1' wrong
  assert_counts web 'a 1'
}
