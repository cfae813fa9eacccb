# shellcheck shell=bash
# What the cases use. A case is a function; it starts with a daemon running (_set_up of its file may
# say otherwise), a command that fails unexpectedly ends it, and whatever it left is taken away.
#
# $MNT where it is mounted   $SOCK its socket   $STAT $MNT/statistics
# $CASE a directory for the case   $TALLYFS the program
# $DAEMON the process id of the daemon, which is its keeper   $SERVER of the process that serves
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
here=$(pwd)
if [ -z "${CASE:-}" ]; then
  CASE=$(mktemp -d) && chmod 755 "$CASE" || exit 1
  echo "in $CASE"
fi
TALLYFS=${TALLY_BIN:+$TALLY_BIN/}tallyfs
TALLY_SEND=${TALLY_BIN:+$TALLY_BIN/}tally-send
MNT=$CASE/mnt STAT=$CASE/mnt/statistics SOCK=$CASE/run/socket
# A case forks as few processes as it can for what is not its subject: there are a thousand cases.
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=$(command -v python3)
SETSID=''
! hash setsid 2>/dev/null || SETSID=${BASH_CMDS[setsid]}
export CASE MNT STAT SOCK TALLYFS
DAEMON='' SERVER='' DAEMONS=() STARTED=0 DRAINS_CUT=0
# How many times longer than on an idle CPU a thing may take: by the load when the case began, of
# which 3 at the most count. Beside a sanitizer no time is judged, and limits only end what hangs.
_slowness() {
  local load tasks percent cpus=${TALLY_CPUS:-$(nproc)}
  read -r load _ _ tasks _ </proc/loadavg
  percent=$((10#${load/./})) tasks=$((100 * ${tasks%/*}))
  percent=$(((tasks > percent ? tasks : percent) / cpus))
  percent=$((percent < 100 ? 100 : percent > 300 ? 300 : percent))
  [ "${TALLY_PATIENCE:-1}" = 1 ] || percent=$((TALLY_PATIENCE * 1000))
  printf -v TALLY_SLOWNESS '%d.%02d' $((percent / 100)) $((percent % 100))
}
[ -n "${TALLY_SLOWNESS:-}" ] || _slowness
export TALLY_SLOWNESS
# time_limit_us US: for what takes at most US beside an idle CPU.
time_limit_us() {
  awk -v us="$1" -v slowness="$TALLY_SLOWNESS" 'BEGIN { printf "%d", us * slowness }'
}
now_us() { echo "${EPOCHREALTIME/./}"; }

fail() { printf '%s\n' "$@" "$(_where)"; exit 1; }
skip() { echo "$*"; exit 4; }
# The lines of the case's file that are being carried out, innermost first.
_where() {
  local i
  for ((i = 1; i < ${#FUNCNAME[@]}; ++i)); do
    [ "${BASH_SOURCE[i]}" != "$file" ] || echo "  at ${file##*/}:${BASH_LINENO[i - 1]}"
  done
}
# A reason to skip, or one that fail() told, has been given already in a subshell.
unexpected() { [ "$1" -eq 4 ] && exit 4; fail "failed with $1: $2"; }

need() {
  local each
  for each; do command -v "$each" >/dev/null || skip "$each is not installed"; done
}
need_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }
need_utf8() {  # from now on, so that columns are counted
  [ -n "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null | grep UTF-8)" ] || skip 'no locale C.UTF-8'
  export LC_ALL=C.UTF-8
}
need_python() { [ -n "$PYTHON" ] || skip "python3 is not installed"; }

# ---- the daemon

# start_daemon [OPTION...]: on $MNT and $SOCK, in the foreground of its own; returns at READY.
start_daemon() {
  local said='' number=$STARTED output
  STARTED=$((STARTED + 1))
  [ -d "$MNT" ] || mkdir -p "$MNT" 2>/dev/null || true  # it may have a dead mount
  if [ -p "$CASE/never" ]; then mkfifo "$CASE/output.$number"
  else mkfifo "$CASE/output.$number" "$CASE/never"; fi
  # Apart from the case's process group, so that the time limit does not end it before it was looked
  # at.
  $SETSID "$TALLYFS" -f --socket "$SOCK" "$@" "$MNT" >"$CASE/output.$number" \
    2>"$CASE/stderr.$number" &
  _adopt $! "$CASE/stderr.$number"
  exec {output}<"$CASE/output.$number"
  read -r -t $((30 * ${TALLY_PATIENCE:-1})) said <&"$output" || true
  [ "$said" = READY ] || fail "the daemon did not say READY but '$said'" "$(cat "$STDERR")"
  SERVER=$(server_of "$DAEMON")
}
# start_daemon_for_all_users: attackers of other uids may enter the mount and send.
start_daemon_for_all_users() {
  need_root
  need_python
  start_daemon -o allow_other
  chmod 755 "$CASE" "$CASE/run"
}
# server_of PID: the server of a keeper; nothing while there is none. Without a keeper it is PID.
server_of() {
  local each name group children=()
  read -r name <"/proc/$1/comm"
  [ "$name" = tallyfs-keeper ] || { echo "$1" && return; }
  read -ra children <"/proc/$1/task/$1/children" || true  # no newline ends it
  for each in "${children[@]}"; do
    # Another child that has just been forked has that name, too, but the keeper's process group.
    read -r _ name _ _ group _ 2>/dev/null <"/proc/$each/stat" || continue
    [ "$name $group" != "(tallyfs) $each" ] || echo "$each"
  done
}
# A condition to wait for: another server than SERVER serves. A keeper that becomes another program
# has no name of its own for a moment.
serves_instead_of() {
  SERVER=$(server_of "$DAEMON")
  [[ $SERVER =~ ^[0-9]+$ && $SERVER != "$1" && $SERVER != "$DAEMON" ]]
}
_adopt() { DAEMON=$1 STDERR=${2:-}; DAEMONS+=("$1"); echo "$1" >>"$CASE/pids"; }

# stop_daemon [SIGNAL [PID]]: sends the signal; the daemon must end with 0.
stop_daemon() { kill -"${1:-TERM}" "${2:-$DAEMON}"; daemon_ends "${2:-$DAEMON}"; }
# daemon_ends [PID [STATUS]]: waits for it; it must have ended with 0, or with that.
daemon_ends() {
  local status=0
  _wait_for "${1:-$DAEMON}" || status=$?
  assert_eq "${2:-0}" $status "exit status of the daemon"
}
# freeze PID: stops a process. It returns when every thread stands still: kill returns before.
freeze() {
  kill -STOP "$1"
  wait_until '! grep -sqE "^State:[[:space:]]+[^TZ]" /proc/'"$1"'/task/*/status'
}
# kill_daemon: keeper and server, without a chance to clean up.
kill_daemon() {
  kill -KILL "$DAEMON"
  _wait_for "$DAEMON" || true
  wait_until '! kill -0 "$SERVER" 2>/dev/null'
}
_wait_for() {
  local i state='' deadline=$((SECONDS + 20 * ${TALLY_PATIENCE:-1}))
  for i in "${!DAEMONS[@]}"; do [ "${DAEMONS[i]}" != "$1" ] || unset 'DAEMONS[i]'; done
  while read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" && [ "$state" != Z ]; do
    if [ $SECONDS -gt $deadline ]; then
      echo "the daemon does not end:"
      for i in $(_family "$1"); do _threads "$i"; done
      kill -KILL "$1"
      break
    fi
    nap 0.005
  done
  wait "$1" 2>/dev/null
}
# What the threads of a process are at, of one that hangs.
_threads() {
  local task
  for task in /proc/"$1"/task/*; do
    echo "  ${task##*/} $(
      cat "$task/comm" "$task/wchan" 2>/dev/null | tr '\n' ' '
      cut -d' ' -f1 "$task/syscall" 2>/dev/null
    )"
  done
  ! command -v gdb >/dev/null ||
    gdb -p "$1" -batch -ex 'thread apply all -ascending bt 9' 2>/dev/null |
    grep -E '^(#|Thread)' | grep -vE 'futex|pthread_cond|clone3|start_thread' | cut -c1-110 || true
}

# _family PID...: these, as far as they live, and what they have started.
_family() {
  local each
  for each; do
    [ ! -d "/proc/$each" ] || { echo "$each" && _family $(cat "/proc/$each"/task/*/children); }
  done
}

# At the end of a case, however it ended: the daemons end with 0 and had nothing to complain about.
finish() {
  local status=$1 each ended
  trap - EXIT ERR
  trap '' TERM
  if [ "$status" -eq 143 ]; then
    echo 'it took too long; what it started is at (the last first)'
    for each in $(_family $(cat "$CASE/pids" 2>/dev/null) | sort -rnu | head -12); do
      _threads "$each"
    done
  fi
  for each in "${DAEMONS[@]}"; do
    kill -TERM "$each" 2>/dev/null
    ended=0
    _wait_for "$each" || ended=$?
    if [ "$ended" -ne 0 ]; then
      echo "the daemon ended with $ended"
      [ "$status" -ne 0 ] && [ "$status" -ne 4 ] || status=1
    fi
  done
  for each in "$CASE"/stderr.* "$CASE"/sanitizer.*; do
    [ -s "$each" ] && _find_text "$each" || continue
    [[ ! $FOUND =~ (ERROR: (Address|Leak)Sanitizer|runtime error:|WARNING: ThreadSanitizer) ]] ||
      { echo "$each" && status=1; }
  done
  if [ "$status" -ne 0 ] && [ "$status" -ne 4 ]; then
    for each in "$CASE"/stderr.* "$CASE"/sanitizer.*; do
      [ -s "$each" ] && echo "--- ${each##*/}" && tail -40 "$each"
    done
  fi
  exit "$status"
}

# ---- what to expect

# assert_eq WANTED GOT [WHAT]
assert_eq() {
  [ "$1" != "$2" ] || return 0
  fail "${3:-values} differ (- wanted, + got):" \
    "$(diff -U100 <(printf '%s\n' "$1") <(printf '%s\n' "$2") | tail -n +4 || true)"
}
# assert_match REGEX GOT [WHAT]: the whole of it.
assert_match() { [[ $2 =~ ^($1)$ ]] || fail "${3:-value}" "  wanted $1" "  got    $2"; }
# assert_has TEXT GOT
assert_has() { [[ $2 == *"$1"* ]] || fail "wanted '$1' in" "$2"; }
assert_has_not() { [[ $2 != *"$1"* ]] || fail "did not want '$1' in" "$2"; }
# assert_fails_with TEXT COMMAND...: it fails and says so: "Invalid argument".
assert_fails_with() {
  local wanted=$1 said
  shift
  if said=$("$@" 2>&1); then fail "succeeded, instead of '$wanted': $*"; fi
  [[ $said == *"$wanted"* ]] || fail "$*" "  wanted $wanted" "  got    $said"
}
assert_fails() { if "$@" >/dev/null 2>&1; then fail "succeeded: $*"; fi; }
# wait_until CONDITION [SECONDS]: so long at the most; beside a sanitizer at least 150 s.
wait_until() {
  local deadline=$((SECONDS + ${2:-30}))
  # Half of what a case may take, so that it is said what was waited for.
  [ "${TALLY_PATIENCE:-1}" = 1 ] || deadline=$((SECONDS + ${TALLY_CASE_SECONDS:-300} / 2))
  until eval "$1"; do
    [ $SECONDS -le $deadline ] || fail "in vain waited for: $1"
    nap 0.01
  done
}
# within SECONDS COMMAND...: ended if it takes longer; a sanitizer makes it longer.
within() { timeout $(($1 * ${TALLY_PATIENCE:-1})) "${@:2}"; }
# nap SECONDS: sleeps without a process of its own, since a wait naps a hundred times a second.
nap() {
  [ -p "$CASE/never" ] || mkfifo "$CASE/never"
  read -r -t "$1" <>"$CASE/never" || true
}
# fewer CALLS [LEAST]: how many calls a case makes that wants CALLS of them. Beside a sanitizer, one
# takes as long as many; LEAST are made all the same.
fewer() {
  local calls=$(($1 / ${TALLY_PATIENCE:-1}))
  echo $((calls > ${2:-1} ? calls : ${2:-1}))
}

# ---- statistics

# send LINE...: one datagram of text. An open shows all that was sent before, but waits for 20 ms at
# most, in which the machine may have no CPU for the daemon: of several lines it may show the first.
send() {
  printf '%s\n' "$@" >"$CASE/datagram"
  send_file "$CASE/datagram"
  [ $# -eq 1 ] || _await_intake
}
# Until an open was not cut, which drains_cut counts. A server that stands still is not waited for.
_await_intake() {
  local state='' before deadline=$((SECONDS + 30 * ${TALLY_PATIENCE:-1}))
  read -r _ _ state _ 2>/dev/null <"/proc/${SERVER:-none}/stat" || true
  [ "$state" != T ] || return 0
  while before=$DRAINS_CUT && _read_drains_cut 2>/dev/null && [ "$DRAINS_CUT" != "$before" ]; do
    [ $SECONDS -le $deadline ] || fail "each open is cut: drains_cut is $DRAINS_CUT"
  done
}
# uncut COMMAND...: what it prints once none of its opens was cut. Those of files with the kernel's
# records are where their feeder takes longer than 100 ms.
uncut() {
  local said='' before='' deadline=$((SECONDS + 30 * ${TALLY_PATIENCE:-1}))
  _read_drains_cut
  until [ "$DRAINS_CUT" = "$before" ]; do
    [ $SECONDS -le $deadline ] || fail "each open of $* is cut: drains_cut is $DRAINS_CUT"
    before=$DRAINS_CUT
    said=$("$@")
    _read_drains_cut
  done
  printf '%s\n' "$said"
}
# False where it is not counted: what writes at random may have redefined it.
_read_drains_cut() {
  local name
  while read -r name DRAINS_CUT _ && [ "$name" != drains_cut ]; do :; done <"$STAT/tallyfs/data"
  [ "$name" = drains_cut ] && [[ $DRAINS_CUT =~ ^[0-9]+$ ]]
}
# send_exactly TEXT: with the escapes of printf, and no newline that is not in it.
send_exactly() { printf "$1" >"$CASE/datagram"; send_file "$CASE/datagram"; }
send_file() { need socat; socat -u -b 400000 "OPEN:$1" "UNIX-SENDTO:$SOCK"; }

put() { echo "$1" >"$2"; }                         # put LINE FILE
define() { put "$2" "$STAT/$1/definition"; }       # define INTERFACE LINE
# write_at_once FILE LINE...: all in one write(2), which bash's own echo and printf would not do.
write_at_once() {
  local file=$1
  shift
  printf '%s\n' "$@" >"$CASE/written"
  cat "$CASE/written" >"$file"
}
# Those that begin with _find leave in $FOUND what they find, and fork no process: that would take
# longer than what most cases test.
_find_text() { FOUND=$(<"$1"); }  # _find_text FILE, without newlines at its end
_find_data() { _find_text "$STAT/$1/data"; }
_find_counts() {
  local name count found=''
  _find_data "$1" || return
  while read -r name count _; do found+=${name:+$'\n'$name${count:+ $count}}; done <<<"$FOUND"
  FOUND=${found#$'\n'}
}
_find_line() {
  local each
  _find_text "$STAT/$1/definition" || return
  while IFS= read -r each; do
    [[ $each != "name=$2 "* ]] || { FOUND=$each && return; }
  done <<<"$FOUND"
  FOUND=''
  return 1
}
_find_attribute() {
  _find_line "$1" "$2" || return
  local each words
  read -ra words <<<"$FOUND"
  FOUND=''
  for each in "${words[@]}"; do [[ $each != "$3="* ]] || FOUND=${each#*=}; done
}
_print_found() { printf '%s' "${FOUND:+$FOUND$'\n'}"; }
# In one write, which bash's own printf would not do: a reader may end before the rest.
data() { cat "$STAT/$1/data"; }
definition() { cat "$STAT/$1/definition"; }
# own NAME: a number of the daemon's own, or the last one of its line.
own() {
  local name words
  _find_data tallyfs || return
  while read -r name words; do
    [ "$name" != "$1" ] || echo "${words##* }"
  done <<<"$FOUND"
}
# counts INTERFACE: of each line the statistic and how much it has counted, whatever else is shown.
counts() { _find_counts "$1" && _print_found; }
# line INTERFACE STATISTIC: its line of the definition file; false if there is none.
line() { _find_line "$@" && _print_found; }
attribute() { _find_attribute "$@" && _print_found; }  # attribute INTERFACE STATISTIC KEY
_assert_found() {  # _assert_found WHAT [LINE...]
  local wanted
  printf -v wanted '%s\n' "${@:2}"
  assert_eq "${wanted%$'\n'}" "$FOUND" "$1"
}
# assert_data INTERFACE [LINE...]: exactly these lines
assert_data() { _find_data "$1"; _assert_found "data of $1" "${@:2}"; }
# assert_counts INTERFACE [LINE...]: the same of counts, for cases whose subject is no type.
assert_counts() { _find_counts "$1"; _assert_found "counts of $1" "${@:2}"; }
# assert_attribute INTERFACE STATISTIC KEY WANTED
assert_attribute() { FOUND='' && _find_attribute "$1" "$2" "$3"; _assert_found "$3 of $1/$2" "$4"; }
errors() { cat "$MNT/tracing/error_log"; }

# ---- what a shell cannot do

# py [ARGUMENT...] <<'EOT': a Python program; peer.py speaks the binary form.
py() { need_python; PYTHONPATH=$here "$PYTHON" - "$@"; }
as_nobody() {
  need_root
  need setpriv
  setpriv --reuid=nobody --regid=nogroup --clear-groups -- "$@"
}
# let_nobody_mount: without a daemon. Where /dev/fuse is root's alone, the case begins again, in a
# mount namespace of its own in which it is not.
let_nobody_mount() {
  need setpriv unshare fusermount3
  as_nobody test -w /dev/fuse && return
  [ -z "${TALLY_FUSE_IS_OPEN:-}" ] || skip 'nobody may not open /dev/fuse here'
  find "${CASE:?}" -mindepth 1 -delete
  mknod -m 666 "$CASE/fuse" c 10 229 2>/dev/null || skip 'no device can be made here'
  trap - EXIT ERR
  export TALLY_FUSE_IS_OPEN=yes
  exec unshare -m bash -c 'mount --bind "$CASE/fuse" /dev/fuse && exec "$@"' bash "$here/case" \
    "$file" "$name"
}
# nobodys_tallyfs [FEEDER...]: TALLYFS is then run as that user, and its feeders are there.
nobodys_tallyfs() {
  local bin=$CASE/bin each from
  from=$(dirname "$(command -v "$TALLYFS")")
  chmod 755 "$CASE"
  mkdir -p "$bin" "$MNT" "$CASE/run"
  chown nobody "$MNT" "$CASE/run"
  for each in tallyfs "$@"; do install -m 755 "$from/$each" "$bin"; done
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s" "$@"\n' \
    "$bin/tallyfs" >"$CASE/nobodys"
  chmod 755 "$CASE/nobodys"
  TALLYFS=$CASE/nobodys
}
