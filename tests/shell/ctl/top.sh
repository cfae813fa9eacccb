# tallyctl top in a terminal, which tmux is: its keys, and that the terminal comes back as it was.

. ./ctl/_tmux.sh

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl
GOLDEN=$here/../golden/ctl

_set_up() {
  _need_terminal
  export TZ=UTC
  unset TALLY_MOUNT
}
# What a program may leave behind.
_state() {
  _keys "stty -a >$CASE/stty.now; echo do''ne" Enter
  _sees 'done'
  _keys clear Enter
  _sees_not 'done'
  _tmux display -p '#{alternate_on} #{mouse_any_flag} #{cursor_flag}'
  cat "$CASE/stty.now"
}
_start() { _keys "$TALLYCTL top --from $GOLDEN/all.jsonl" Enter; _sees 'INTERFACE'; }

keys_do_as_help_says() {
  _open 140 30
  _start
  _sees 'web'
  _sees 'LAST MINUTE'
  _sees 'web/latency'
  _keys '?'
  _sees 'sort by rate or by name'
  _keys Escape
  _sees 'LAST MINUTE'
  _keys Enter
  _sees_not 'LAST MINUTE'
  _sees 'p50'
  _keys b
  _sees '┤'
  _keys Tab
  _sees 'web/depth'
  _keys Escape
  _sees 'LAST MINUTE'
  _keys s
  _sees 'INTERFACE▼'
  _keys s
  _sees 'RATE▼'
  _keys / time
  _sees 'filter: time'
  _sees_not ' web  '
  _keys Enter
  _sees_not 'filter:'
  _sees 'timer'
  _keys Escape
  _sees ' web'
  _keys Space
  _sees 'paused'
  _keys Space
  _sees_not 'paused'
  _keys e
  _sees '  2s'
  _keys d
  _sees 'a recording does not change'
  _keys q
  _sees 'ready>'
  _sees_not 'LAST MINUTE'
  _close
}

# The list at its last moment, filtered, beside tests/golden/ctl/top.80x24.txt.
it_fits_eighty_by_twenty_four() {
  _open 80 24
  _keys "cd $GOLDEN; clear; TZ=UTC $TALLYCTL top --from all.jsonl" Enter
  _sees 'LAST MINUTE'
  _keys / web Enter
  _sees 'filter web'
  _sees '03:10:07'
  wait_until '[ "$(_screen)" = "$(cat "$GOLDEN/top.80x24.txt")" ]'
  _keys q
  _sees_not 'LAST MINUTE'
  _close
}

a_recording_is_drawn_with_its_own_period() {
  _open 140 30
  # Recorded each ten seconds, the last two missed, and played four times a second.
  sed 's/"every_us":1000000/"every_us":10000000/; s/"time_us":\([0-9][0-9]*\)/"time_us":\10/g' \
    "$GOLDEN/all.jsonl" >"$CASE/slow.jsonl"
  _keys "$TALLYCTL top --every 250ms --from $CASE/slow.jsonl" Enter
  _sees 'web/latency'
  _sees '│ //'
  _sees_not '///'
  _keys q
  _sees 'ready>'
  _close
}

a_small_window_is_told_and_a_larger_one_drawn() {
  _open 50 10
  _keys "$TALLYCTL top --from $GOLDEN/all.jsonl" Enter
  _sees 'The window is too small.'
  _tmux resize-window -x 60 -y 12
  _sees 'LAST MINUTE'
  _tmux resize-window -x 120 -y 24
  _sees 'web/latency'
  _keys q
  _sees 'ready>'
  _close
}

colours_and_shades() {
  _open 140 30
  _start
  wait_until "_screen -e | grep -q '38;5;'"
  # A cell without counts has no colours of its own, neither black.
  assert_has_not '48;5;0m' "$(_screen -e)"
  assert_has_not '[40m' "$(_screen -e)"
  assert_has_not '38;5;0m' "$(_screen -e)"
  _keys q
  _sees 'ready>'
  _keys "NO_COLOR=1 $TALLYCTL top --from $GOLDEN/all.jsonl" Enter
  wait_until "_screen | grep -q '[░▒▓█]'"
  assert_has_not '38;5;' "$(_screen -e)"
  _keys q
  _sees 'ready>'
  _close
}

the_terminal_comes_back_after_every_signal() {
  local signal before
  _open 100 24
  before=$(_state)
  for signal in q INT TERM HUP QUIT SEGV ABRT; do
    _start
    wait_until "[ \"\$(_tmux display -p '#{alternate_on}')\" = 1 ]"
    if [ $signal = q ]; then
      _keys q
    else
      kill -"$signal" "$(pgrep -P "$(_tmux display -p '#{pane_pid}')" tallyctl)"
    fi
    wait_until "[ \"\$(_tmux display -p '#{pane_current_command}')\" = sh ]"
    wait_until "[ \"\$(_tmux display -p '#{alternate_on}')\" = 0 ]"
    _keys clear Enter
    assert_eq "$before" "$(_state)" "the terminal after $signal"
  done
  _close
}

the_terminal_comes_back_while_it_is_stopped() {
  local before
  _open 100 24
  before=$(_state)
  _start
  _keys C-z
  wait_until "[ \"\$(_tmux display -p '#{alternate_on}')\" = 0 ]"
  _keys clear Enter
  assert_eq "$before" "$(_state)" 'the terminal while top is stopped'
  _keys fg Enter
  _sees 'LAST MINUTE'
  assert_eq 1 "$(_tmux display -p '#{alternate_on}')"
  _keys q
  wait_until "[ \"\$(_tmux display -p '#{alternate_on}')\" = 0 ]"
  _keys clear Enter
  assert_eq "$before" "$(_state)" 'the terminal after top'
  _close
}

without_a_terminal_it_says_so() {
  local said status=0
  said=$("$TALLYCTL" top --from "$GOLDEN/all.jsonl" 2>&1) || status=$?
  assert_eq "2 tallyctl: top needs a terminal; show --every 1s needs none" "$status $said"
}

a_terminal_without_a_cursor_is_refused() {
  need script
  local said status=0 no='tallyctl: this terminal shows no pictures (TERM=dumb);'
  said=$(TERM=dumb script -qec "$TALLYCTL top --from $GOLDEN/all.jsonl" /dev/null) || status=$?
  assert_eq "2 $no show --every 1s needs none" "$status ${said%$'\r'}"
  local heat="$TALLYCTL heat --from $GOLDEN/all.jsonl web/latency" status=0
  said=$(TERM=dumb script -qec "$heat" /dev/null) || status=$?
  assert_eq "2 $no heat --ascii draws with letters" "$status ${said%$'\r'}"
  # Not below the times of a span either.
  said=$(TERM=dumb script -qec "$TALLYCTL heat --last 5m --vs before web/latency" /dev/null) || :
  assert_eq "$no heat --ascii draws with letters" "${said%$'\r'}"
  assert_has '2 intervals missed' "$(TERM=dumb script -qec "$heat --ascii" /dev/null)"
  assert_has '2 intervals missed' "$(TERM=dumb $heat)"
}

# ---- on a mount

_mounted() {
  start_daemon
  export TALLY_MOUNT=$MNT
  local array='type=array scale=log2 base_interval=1 range_min=0 range_max=4096'
  send "create web/us $array on=1 units=microseconds/requests" 'create db/hits on=1'
  send 'web/us 20' 'web/us 120' 'db/hits 1'
}
# _feeds: samples for web, until the case ends.
_feeds() {
  while [ -e "$CASE/feeds" ]; do send 'web/us 20' 'web/us 120' || true; done
}

what_is_changed_there_takes_effect() {
  _mounted
  _open 140 30
  _keys "$TALLYCTL top --every 250ms" Enter
  _sees 'LAST MINUTE'
  _keys / web Enter
  _sees 'web/us  array'
  _keys o
  wait_until '[ "$(attribute web us on)" = 0 ]'
  _sees ' off '
  _keys o
  wait_until '[ "$(attribute web us on)" = 1 ]'
  _sees_not ' off '
  _keys r
  _sees 'discard the data of web/us? y/n'
  _keys n
  _sees_not 'discard'
  assert_has '<=32 1' "$(data web)"
  _keys r
  _sees 'discard the data of web/us? y/n'
  _keys y
  wait_until 'data web | grep -q "<=32 0"'
  _keys d
  _sees 'name=us on=1 type=array'
  _keys ' lisp' Enter
  _sees 'write it?'
  _keys y
  _sees 'refused, nothing changed'
  _sees '^'
  _keys Escape
  _sees_not 'refused'
  _keys q
  _sees_not 'LAST MINUTE'
  _close
}

it_stays_at_its_first_row_while_the_order_changes() {
  _mounted
  local i rows=()
  for i in 11 12 13 14 15 16 17 18 19 20; do
    send "create b$i/hits on=1"
    rows+=("b$i/hits 1" "b$i/hits 1")
  done
  for i in 1 2 3 4 5 6 7 8 9; do rows+=('b20/hits 1'); done
  send 'create first/hits on=1'
  : >"$CASE/feeds"
  while [ -e "$CASE/feeds" ]; do send 'first/hits 1' || true; done &
  local feeder=$!
  _open 90 13
  _keys "$TALLYCTL top --every 250ms" Enter
  wait_until '_screen | grep -q "^>.* first "'
  rm "$CASE/feeds"
  wait $feeder
  : >"$CASE/feeds"
  while [ -e "$CASE/feeds" ]; do send "${rows[@]}" || true; done &
  feeder=$!
  # Nine rows, and now it is none of them.
  _sees_not ' first '
  wait_until '_screen | sed -n 3,4p | grep -q " b20 "'
  rm "$CASE/feeds"
  wait $feeder
  _keys q
  _sees_not 'LAST MINUTE'
  _close
}

it_goes_on_when_things_go() {
  _mounted
  _open 140 30
  : >"$CASE/feeds"
  _feeds &
  local feeder=$!
  _keys "$TALLYCTL top --every 250ms" Enter
  _sees ' db '
  rmdir "$STAT/db"
  _sees_not ' db '
  _keys / db
  _sees 'nothing matches'
  _keys Escape
  _keys / web Enter
  _sees 'web/us  array'
  _sees '│'
  rm "$CASE/feeds"
  wait $feeder
  rmdir "$STAT/web"
  _sees_not 'web/us  array'
  _keys Escape
  freeze "$SERVER"
  _sees 'does not answer'
  _keys '?'
  _sees 'sort by rate or by name'
  _keys Escape
  kill -CONT "$SERVER"
  _sees_not 'does not answer'
  stop_daemon
  _sees 'has no statistics.json'
  start_daemon
  send 'new/hits 1'
  _sees 'new'
  _keys q
  _sees_not 'LAST MINUTE'
  _close
}
