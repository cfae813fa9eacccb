# --state: what is there after a restart, and what a daemon does with files that it cannot use.
# Longer than most: it has each way in which the directory, its files and the disk refuse.

_set_up() { :; }
# Saves at the end alone, if no case takes an hour.
_start() { start_daemon --state "$CASE/state" --state-period 3600 "$@"; }
_start_that_saves_often() { start_daemon --state "$CASE/state" --state-period 1 "$@"; }
# The directory's files of state, the newest last.
_files() { ls "$CASE/state" | sed -n 's/^state\.\([0-9]*\)$/\1/p' | sort -n; }
_newest() { echo "$CASE/state/state.$(_files | tail -1)"; }
_own() { data tallyfs | sed -n "s/^$1 //p"; }
_feed() {
  send 'create web/hits on=1' 'create web/slow of=hits type=range range_min=100' \
    'create web/latency on=1 type=array base_interval=10 scale=log2 range_min=0 range_max=1000' \
    'create web/sizes type=list entries_max=4 on=1' 'create web/off' \
    'create web/p type=quantiles precision=5 quantiles=50,99 on=1' \
    'create web/range type=range on=1 units=us/requests' 'create web/now type=last on=1' \
    'create web/seconds type=history mode=increments period=1000000 entries_max=9 on=1'
  local each
  for each in hits latency sizes p range now seconds; do send "web/$each 5 2" "web/$each 700"; done
  echo 'disk/* type=last' >>"$MNT/rules"
  define web 'name=sizes entries_max=3'
}
_without_history() { grep -v '^seconds '; }

a_restart_keeps_definitions_views_rules_and_totals() {
  _start
  _feed
  local before definitions
  before=$(data web | _without_history) definitions=$(definition web)
  stop_daemon
  _start
  assert_eq "$before" "$(data web | _without_history)"
  assert_eq "$definitions" "$(definition web)"
  assert_eq 'disk/* type=last' "$(cat "$MNT/rules")"
  assert_has "loaded 2 objects from $CASE/state/state." "$(cat "$STDERR")"
  send 'web/hits 1' 'web/slow 1' 'disk/new 4'
  assert_has $'hits 4\nslow 1 ' "$(data web)"
  assert_attribute disk new type last
}

a_restart_keeps_help() {
  _start
  send 'create web/us on=1 help=Time%20of%20a%20request' 'create web/slow of=us help=The%20slow'
  stop_daemon
  _start
  assert_attribute web us help Time%20of%20a%20request
  assert_attribute web slow help The%20slow
}

a_restart_keeps_the_base_of_lists() {
  _start
  send 'create web/ten on=1 type=list entries_max=9' 'web/ten 255'
  send 'create web/hex on=1 type=list entries_max=9 base=16' 'web/hex 255'
  stop_daemon
  _start
  assert_data web 'ten 255 1' 'hex 0xff 1'
}

an_unmount_saves_too() {
  need fusermount3
  _start
  send 'web/a 3'
  fusermount3 -u "$MNT"
  daemon_ends
  _start
  assert_counts web 'a 1'
}

samples_that_wait_in_the_socket_are_saved() {
  _start
  send 'web/a 1'
  assert_counts web 'a 1'
  freeze "$SERVER"
  send 'web/a 1' 'web/a 1'
  stop_daemon  # which continues the server
  _start
  assert_counts web 'a 3'
}

the_owner_is_kept() {
  need_root
  _start -o allow_other
  as_nobody "$TALLY_SEND" --socket "$SOCK" 'create web/a on=1'
  send 'root/a 1'
  stop_daemon
  _start -o allow_other
  as_nobody "$TALLY_SEND" --socket "$SOCK" 'define web name=a type=range'
  assert_fails_with 'belongs to uid 0' as_nobody "$TALLY_SEND" --socket "$SOCK" 'define root on=0'
}

a_kill_keeps_what_the_last_file_has() {
  _start_that_saves_often
  send 'web/a 1' 'web/a 1'
  assert_counts web 'a 2'
  wait_until 'grep -qs web "$(_newest)"'
  kill_daemon
  _start -o auto_unmount
  assert_counts web 'a 2'
}

it_writes_only_what_has_changed() {
  _start
  send 'web/a 1'
  stop_daemon
  local before
  before=$(_files)
  _start
  assert_counts web 'a 1'
  stop_daemon
  assert_eq "$before" "$(_files)"
}

the_last_three_files_are_kept() {
  _start_that_saves_often
  local i first
  send 'web/a 1'
  wait_until '[ "$(_files)" ]'
  first=$(_files | head -1)
  for i in 1 2 3 4; do
    send 'web/a 1'
    wait_until '[ "$(_files | tail -1)" -ge '$((first + i))' ]'
  done
  wait_until '[ "$(_files | wc -l)" = 3 ]'
  wait_until '[ ! -e "$CASE/state/state.tmp" ]'  # it may try once more
  assert_match 'state_bytes \[[0-9.]+\] [0-9]+' "$(data tallyfs | grep '^state_bytes ')"
  assert_match '[0-9]+ [0-9]+ [0-9.]+ [0-9]+' "$(_own state_us)"
  assert_eq 0 "$(_own state_failures)"
}

of_broken_files_the_newest_whole_one_is_loaded() {
  _start
  send 'web/a 1'
  stop_daemon
  _start
  send 'web/a 1'
  stop_daemon
  local broken
  broken=$(_newest)
  truncate -s -1 "$broken"
  _start
  assert_counts web 'a 1'
  assert_has "$broken is not whole: " "$(cat "$STDERR")"
  cmp "$broken" "$CASE/state/state.incomplete"
}

of_the_only_one_what_is_whole_is_loaded() {
  _start
  send 'web/a 1' 'disk/busy 1'
  stop_daemon
  need_python
  py "$(_newest)" <<'EOT'
import sys
with open(sys.argv[1], "r+b") as file:
    state = file.read()
    file.seek(state.index(b"busy"))
    file.write(b"lazy")
EOT
  _start
  assert_eq $'tallyfs\nweb' "$(ls "$STAT")"
  assert_counts web 'a 1'
  assert_match "the object 'disk' of kind 1 at byte [0-9]+ has wrong bytes" \
    "$(grep -o "the object 'disk' .*" "$STDERR" | sort -u)"
  assert_has 'loaded 1 object from' "$(cat "$STDERR")"
}

files_that_are_none_do_not_keep_it_from_starting() {
  mkdir -m 700 "$CASE/state"
  echo nonsense >"$CASE/state/state.1"
  : >"$CASE/state/state.2"
  ln -s /etc/passwd "$CASE/state/state.3"
  mkdir "$CASE/state/state.4"
  mkfifo "$CASE/state/state.5"
  ln -s /etc/passwd "$CASE/state/state.tmp"
  _start
  send 'web/a 1'
  stop_daemon
  assert_has 'state.1: this is no state of tallyfs' "$(cat "$STDERR")"
  assert_has 'state.3: Too many levels of symbolic links' "$(cat "$STDERR")"
  assert_has "nothing could be loaded from $CASE/state" "$(cat "$STDERR")"
  _start
  assert_counts web 'a 1'
}

what_does_not_fit_is_left_out_and_told() {
  _start
  send 'create small/a on=1' 'create large/x type=raw entries_max=100000' 'small/a 1'
  stop_daemon
  _start --uid-memory 1M
  assert_data small 'a 1'
  assert_has "state.1: interface 'large' is left out: " "$(cat "$STDERR")"
  assert_eq 1 "$(_own state_left_out)"
  [ -e "$CASE/state/state.incomplete" ] || fail 'no state.incomplete'
  assert_match ".*] state: error: interface 'large' is left out: .*; state.incomplete has them
.*Command: $CASE/state/state.1
.*" "$(errors)"
}

a_second_daemon_is_refused() {
  _start
  mkdir "$CASE/other"
  assert_fails_with "--state: $CASE/state is in use by another daemon" within 20 "$TALLYFS" \
    --state "$CASE/state" --socket "$CASE/other.socket" "$CASE/other"
  send 'web/a 1'
  assert_counts web 'a 1'
  kill_daemon
  _start -o auto_unmount
}

the_directory_is_for_the_daemon_alone() {
  mkdir -m 755 "$CASE/state"
  mkdir "$MNT"
  local start=(within 20 "$TALLYFS" --socket "$SOCK" --state)
  assert_fails_with "$CASE/state has the mode 755; it must be 700: chmod 700 $CASE/state" \
    "${start[@]}" "$CASE/state" "$MNT"
  chmod 500 "$CASE/state"
  assert_fails_with "--state: $CASE/state has the mode 500; it must be 700" "${start[@]}" \
    "$CASE/state" "$MNT"
  chmod 700 "$CASE/state"
  ln -s state "$CASE/link"
  assert_fails_with "--state: $CASE/link: Not a directory" "${start[@]}" "$CASE/link" "$MNT"
  assert_fails_with "--state: $CASE/link: Not a directory" "${start[@]}" "$CASE/link/" "$MNT"
  assert_fails_with "--state: $CASE/no/where: No such file" "${start[@]}" "$CASE/no/where" "$MNT"
  : >"$CASE/file"
  assert_fails_with "--state: $CASE/file: Not a directory" "${start[@]}" "$CASE/file" "$MNT"
  if [ "$(id -u)" -eq 0 ]; then
    chown nobody "$CASE/state"
    assert_fails_with 'belongs to uid 65534; the daemon has 0' "${start[@]}" "$CASE/state" "$MNT"
  fi
}

with_run_as_it_belongs_to_that_user() {
  need_root
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
  _start_that_saves_often --run-as nobody
  assert_eq 'nobody 700' "$(stat -c '%U %a' "$CASE/state")"
  send 'web/a 1'
  assert_counts web 'a 1'
  wait_until 'grep -qs web "$(_newest)"'
  assert_eq 'nobody 600' "$(stat -c '%U %a' "$(_newest)")"
  send 'web/a 1'
  stop_daemon
  _start --run-as nobody
  assert_counts web 'a 2'
  stop_daemon
  mkdir -p "$MNT"
  assert_fails_with 'belongs to uid 65534; the daemon has 0' within 20 "$TALLYFS" --socket \
    "$SOCK" --state "$CASE/state" "$MNT"
}

# _restarted_with WANTED: once more, and web has this.
_restarted_with() {
  stop_daemon
  _start
  assert_counts web "$1"
}

a_read_only_directory_is_told_at_the_start_and_may_become_another() {
  need_root
  mkdir "$CASE/state"
  mount -t tmpfs -o mode=700 state "$CASE/state" || skip 'no tmpfs can be mounted'
  _start
  send 'web/a 1'
  stop_daemon
  local kept
  kept=$(sha256sum "$(_newest)")
  mount -o remount,ro "$CASE/state"
  assert_fails_with "--state: $CASE/state/below: Read-only file system" within 20 "$TALLYFS" \
    --socket "$SOCK" --state "$CASE/state/below" "$MNT"
  _start_that_saves_often
  assert_has "warning: --state: $CASE/state cannot be written: Read-only file system" \
    "$(cat "$STDERR")"
  send 'web/a 1'
  wait_until '[ "$(_own state_failures)" -ge 1 ]'
  assert_has "state: not saved: $CASE/state/state.tmp: Read-only file system" "$(cat "$STDERR")"
  assert_eq "$kept" "$(sha256sum "$(_newest)")"
  mount -o remount,rw "$CASE/state"
  wait_until 'grep -q "state: saved again" "$STDERR"'
  _restarted_with 'a 2'
  stop_daemon
  umount "$CASE/state"
}

# What the daemon has saved is removed, and it has tried once more.
# The daemon may save into it meanwhile.
_remove_the_directory() { wait_until 'rm -r "$CASE/state" 2>"$CASE/left"'; }
_save_and_lose_the_directory() {
  _start_that_saves_often
  send 'web/a 1'
  wait_until 'grep -qs web "$(_newest)"'
  _remove_the_directory
  send 'web/a 1'
  wait_until '[ "$(_own state_failures)" -ge 1 ]'
}

a_directory_that_is_removed_is_told_and_may_be_made_again() {
  _save_and_lose_the_directory
  assert_has "$CASE/state was removed: made again, with the mode 700, it gets the state" \
    "$(cat "$STDERR")"
  mkdir -m 755 "$CASE/state"
  wait_until '[ "$(_own state_failures)" -ge 3 ]'
  assert_eq '' "$(_files)"
  chmod 700 "$CASE/state"
  wait_until 'grep -q "state: saved again" "$STDERR"'
  _restarted_with 'a 2'
}

a_directory_that_is_removed_while_nothing_changes_is_told_too() {
  _start
  send 'web/a 1'
  stop_daemon
  _start_that_saves_often
  _remove_the_directory
  wait_until '[ "$(_own state_failures)" -ge 1 ]'
  assert_has "$CASE/state was removed: made again, with the mode 700, it gets the state" \
    "$(cat "$STDERR")"
  mkdir -m 700 "$CASE/state"
  wait_until 'grep -q "state: saved again" "$STDERR"'
  rm "$(_newest)"
  wait_until '[ "$(_files)" ]'
  _restarted_with 'a 1'
}

# Its keeper has the descriptor of the one that was removed.
a_server_that_replaces_another_finds_the_directory_that_was_made_again() {
  local before
  _start_that_saves_often
  send 'web/a 1'
  wait_until 'grep -qs web "$(_newest)"'
  _remove_the_directory
  # Before there is a directory again, into which it saves at any moment.
  send 'web/a 1'
  assert_counts web 'a 2'
  mkdir -m 700 "$CASE/state"
  wait_until 'grep -qs web "$(_newest)"'
  before=$SERVER
  kill -KILL "$SERVER"
  wait_until 'SERVER=$(server_of "$DAEMON") && [ "$SERVER" ] && [ "$SERVER" != '"$before"' ]'
  assert_counts web 'a 2'
  "$TALLYFS" --reload "$MNT"
  SERVER=$(server_of "$DAEMON")
  send 'web/a 1'
  _restarted_with 'a 3'
}

what_cannot_be_saved_at_the_end_is_told_once_more() {
  _save_and_lose_the_directory
  kill "$DAEMON"
  daemon_ends "$DAEMON" 3
  assert_eq 2 "$(grep -c "state: not saved: $CASE/state was removed" "$STDERR")"
  assert_eq 1 "$(grep -c 'state: that was the last try: what the newest file lacks is lost' \
    "$STDERR")"
}

what_cannot_be_saved_at_an_unmount_is_told() {
  need fusermount3
  _start --no-keeper
  send 'web/a 1'
  assert_counts web 'a 1'
  _remove_the_directory
  fusermount3 -u "$MNT"
  daemon_ends "$DAEMON" 3
  assert_eq 1 "$(grep -c 'state: that was the last try' "$STDERR")"
}

what_it_may_not_read_it_neither_starts_with_nor_removes() {
  need_root
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
  _start
  send 'web/a 1'
  stop_daemon
  chown nobody "$CASE/state"
  assert_fails_with "$CASE/state/state.1 is not for uid 65534 to read, which the daemon has" \
    within 20 "$TALLYFS" -f --run-as nobody --socket "$SOCK" --state "$CASE/state" "$MNT"
  assert_eq 1 "$(_files)"
  # The newest is the daemon's own, and the one before is not.
  install -m 600 -o nobody "$CASE/state/state.1" "$CASE/state/state.2"
  _start_that_saves_often --run-as nobody
  assert_counts web 'a 1'
  local last
  for last in 3 4 5 6; do
    send 'web/a 1'
    wait_until '[ -e "$CASE/state/state.'$last'" ]'
  done
  stop_daemon
  assert_eq 1 "$(_files | head -1)"
  chown -R nobody "$CASE/state"
  _start --run-as nobody
  assert_counts web 'a 5'
}

the_time_of_the_newest_file_is_shown() {
  local before saved
  before=$(date +%s)
  _start
  assert_eq '' "$(_own state_saved_s)"
  send 'web/a 1'
  stop_daemon
  _start
  saved=$(_own state_saved_s)
  saved=${saved#* }
  [ "$saved" -ge "$before" ] && [ "$saved" -le "$(date +%s)" ] || fail "$before and $saved"
  assert_eq "$(stat -c %s "$(_newest)")" "$(_own state_bytes | sed 's/.* //')"
}

a_full_disk_is_counted_and_told_once_and_the_old_file_stays() {
  need_root
  mkdir "$CASE/state"
  mount -t tmpfs -o size=256k,mode=700 state "$CASE/state" || skip 'no tmpfs can be mounted'
  _start_that_saves_often
  send 'web/a 1'
  wait_until 'grep -qs web "$(_newest)"'
  local kept
  kept=$(_newest)
  cp "$kept" "$CASE/kept"
  cat /dev/zero >"$CASE/state/ballast" 2>/dev/null || true
  send 'web/a 1'
  wait_until '[ "$(_own state_failures)" -ge 2 ]'
  cmp "$CASE/kept" "$kept"
  wait_until '[ ! -e "$CASE/state/state.tmp" ]'  # it may try once more
  assert_eq 1 "$(grep -c 'state: not saved: .*No space left on device' "$STDERR")"
  rm "$CASE/state/ballast"
  wait_until 'grep -q "state: saved again" "$STDERR"'
  stop_daemon
  _start
  assert_counts web 'a 2'
  stop_daemon
  umount "$CASE/state"
}

of_another_boot_data_have_the_time_of_the_wall_clock() {
  need jq
  need_python
  _start
  send 'create web/a on=1' 'web/a 3'
  local times='.statistics[0] | .data_us, .data_realtime_us' before
  before=$(jq "$times" "$STAT/web/data.json" | tail -1)
  [ "$before" -gt 0 ] || fail 'no time of the wall clock'
  stop_daemon
  py "$CASE/state/state.1" <<'EOT'
import pathlib, sys
from state_file import of_another_boot
file = pathlib.Path(sys.argv[1])
file.write_bytes(of_another_boot(file.read_bytes()))
EOT
  _start
  assert_has 'by another boot' "$(cat "$STDERR")"
  assert_data web 'a 1'
  assert_eq $'0\n'"$before" "$(jq "$times" "$STAT/web/data.json")"
}
