# tallyctl on a fixed recording, without a daemon: every picture compared with tests/golden/ctl, and
# the exit statuses. TALLY_GOLDEN=write writes the pictures anew.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl
GOLDEN=$here/../golden/ctl
TYPES='hits sent us size latency depth quick last temperature per_second by_second p_by_second idle
  延迟'

_set_up() {
  need_utf8
  export TZ=UTC TERM=xterm-256color
  unset NO_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TALLY_MOUNT
}
# _picture FILE COLUMNS ARGUMENT...: what they show goes behind what FILE has already.
_picture() {
  local file=$CASE/$1 columns=$2
  shift 2
  {
    echo "\$ COLUMNS=$columns tallyctl $*"
    COLUMNS=$columns "$TALLYCTL" "$@" --from "$GOLDEN/all.jsonl" 2>&1 || echo "exit status $?"
  } >>"$file"
}
# _same FILE: as the one that is kept.
_same() {
  [ "${TALLY_GOLDEN:-}" != write ] || cp "$CASE/$1" "$GOLDEN/$1"
  assert_eq "$(cat "$GOLDEN/$1")" "$(cat "$CASE/$1")" "$1"
}
# _pictures_of COMMAND TYPE...: at three widths, in UTF-8 and ASCII.
_pictures_of() {
  local command=$1 type columns
  shift
  for columns in 60 100 200; do
    for type; do _picture "$command.$columns.utf8.txt" $columns "$command" "web/$type"; done
    for type; do
      _picture "$command.$columns.ascii.txt" $columns "$command" --ascii "web/$type"
    done
    _same "$command.$columns.utf8.txt"
    _same "$command.$columns.ascii.txt"
  done
}

show_draws_each_type() { _pictures_of show $TYPES; }
plot_draws_each_type() { _pictures_of plot $TYPES; }

heat_draws_in_all_colours() {
  local columns arguments
  for columns in 60 100 200; do
    for arguments in '--color=never' '--color=never --ascii'; do
      _picture "heat.$columns.txt" $columns heat $arguments web/latency
      _picture "heat.$columns.txt" $columns heat $arguments web/depth
      _picture "heat.$columns.txt" $columns heat $arguments --scale linear web/quick
    done
    _same "heat.$columns.txt"
  done
  _picture heat.256.txt 100 heat --color=always web/latency
  _picture heat.256.txt 100 heat --color=always --theme light web/quick
  _same heat.256.txt
  COLORTERM=truecolor _picture heat.true.txt 100 heat --color=always web/latency
  _same heat.true.txt
  TERM=xterm _picture heat.16.txt 100 heat --color=always web/latency
  _same heat.16.txt
  TERM=xterm _picture show.16.txt 100 show --color=always web/latency
  _same show.16.txt
}

each_is_drawn_in_256_and_16_colours() {
  local columns terminal file
  for terminal in xterm-256color xterm; do
    file=colours.256.txt
    [ $terminal != xterm ] || file=colours.16.txt
    for columns in 60 100 200; do
      TERM=$terminal _picture $file $columns show --color=always web web/latency
      TERM=$terminal _picture $file $columns plot --color=always web/latency
      TERM=$terminal _picture $file $columns plot --color=always web/by_second
      TERM=$terminal _picture $file $columns heat --color=always web/latency
    done
    _same $file
  done
}

show_draws_rows_and_intervals() {
  _picture rows.txt 100 ls
  _picture rows.txt 100 ls web
  _picture rows.txt 100 ls --names
  _picture rows.txt 100 show
  _picture rows.txt 100 show 'w*/l*'
  _picture rows.txt 100 show 'web/qui*'
  _picture rows.txt 100 show --every 1s web
  _picture rows.txt 100 show --every 1s --count 2 web/depth web/us
  _picture rows.txt 100 show --every 1s --total --count 1 --no-header web
  _picture rows.txt 100 show --every 2s web/depth
  _picture rows.txt 100 show --every 1s --count 3 web/per_second web/last
  _picture rows.txt 100 heat --every 2s web/latency
  _picture rows.txt 100 show --exact web/latency
  _picture rows.txt 100 show --all web/idle
  _same rows.txt
}

colours_follow_the_conventions() {
  local show=("$TALLYCTL" show web/size --from "$GOLDEN/all.jsonl")
  local escape=$'\x1b'
  assert_has_not "$escape" "$("${show[@]}")"
  assert_has "$escape[36m" "$("${show[@]}" --color=always)"
  assert_has "$escape[36m" "$(CLICOLOR_FORCE=1 "${show[@]}")"
  assert_has_not "$escape" "$(NO_COLOR=1 CLICOLOR_FORCE=1 "${show[@]}")"
  assert_has "$escape[36m" "$(NO_COLOR=1 "${show[@]}" --color=always)"
  need script
  assert_has "$escape[36m" "$(script -qec "${show[*]}" /dev/null)"
  assert_has_not "$escape[36m" "$(NO_COLOR=1 script -qec "${show[*]}" /dev/null)"
  assert_has_not "$escape[36m" "$(CLICOLOR=0 script -qec "${show[*]}" /dev/null)"
  assert_has_not "$escape[36m" "$(TERM=dumb script -qec "${show[*]}" /dev/null)"
}

names_that_the_locale_cannot_print_are_escaped() {
  local said
  said=$(LC_ALL=C "$TALLYCTL" ls --no-header web --from "$GOLDEN/all.jsonl")
  assert_has 'web/\xe5\xbb\xb6\xe8\xbf\x9f ' "$said"
  LC_ALL=C "$TALLYCTL" show 'web/延迟' --from "$GOLDEN/all.jsonl" >/dev/null
}

json_is_what_the_daemon_said_and_a_view() {
  need_python
  "$TALLYCTL" show --json web/latency web/sent --from "$GOLDEN/all.jsonl" >"$CASE/show.json"
  "$TALLYCTL" show --json --every 1s web --from "$GOLDEN/all.jsonl" >"$CASE/intervals.json"
  py "$CASE" "$GOLDEN/all.jsonl" <<'EOT'
import json, sys
shown = json.load(open(sys.argv[1] + "/show.json"))
recorded = [json.loads(line) for line in open(sys.argv[2])]
last = {s["name"]: s for s in recorded[-1]["statistics"]}
mine = {}
for interface in shown["interfaces"]:
    for statistic in interface["statistics"]: mine[statistic["name"]] = statistic
assert set(mine) == {"latency", "sent"}
for name, statistic in mine.items():
    view = statistic.pop("view")
    assert statistic == last[name], name
    if name == "latency": quantiles = {q["q"]: q for q in view["quantiles"]}
assert (quantiles[50]["low"], quantiles[50]["high"]) == (9, 16), quantiles
assert mine["sent"]["values"]["total"] == 2**66 + 3 * 1048576
intervals = [json.loads(line) for line in open(sys.argv[1] + "/intervals.json")]
assert len(intervals) == 3
views = [{s["name"]: s["view"] for s in i["interfaces"][0]["statistics"]} for i in intervals]
rates = [view["latency"]["rate"] for view in views]
assert [round(r) for r in rates] == [934, 934, 311], rates
depth = views[1]["depth"]
assert depth["samples"] == 10 and "quantiles" not in depth, depth
EOT
}

_status() {  # _status WANTED STDERR COMMAND...
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$CASE/out" 2>"$CASE/err" || status=$?
  assert_eq "$wanted" $status "exit status of $*"
  assert_has "$text" "$(cat "$CASE/err")"
  [ -z "$text" ] || assert_eq '' "$(cat "$CASE/out")" "stdout of $*"
}
faults_are_told_on_stderr_with_a_status() {
  local from=(--from "$GOLDEN/all.jsonl")
  _status 0 '' "$TALLYCTL" ls "${from[@]}"
  _status 1 "nothing is called 'web/latncy'; did you mean web/latency?" \
    "$TALLYCTL" show web/latncy "${from[@]}"
  _status 1 'did you mean web?' "$TALLYCTL" show wbe "${from[@]}"
  _status 1 'there is a command show' "$TALLYCTL" shwo "${from[@]}"
  _status 2 '(did you mean --from?)' "$TALLYCTL" show --form x
  _status 2 "is no time from 100ms" "$TALLYCTL" show --every 1ms "${from[@]}"
  _status 2 'WHAT' "$TALLYCTL" plot "${from[@]}"
  _status 1 'it cannot be opened' "$TALLYCTL" ls --from "$CASE/nothing"
  echo '{"tallyctl":"9","format":2,"interfaces":[]}' >"$CASE/newer"
  _status 1 'format 2, and this program knows formats up to 1' "$TALLYCTL" ls --from "$CASE/newer"
  mkdir "$CASE/empty"
  _status 3 'has no statistics.json: nothing is mounted there' \
    "$TALLYCTL" ls --mount "$CASE/empty"
  _status 3 'No such file' "$TALLYCTL" ls --mount "$CASE/nothing"
}

a_torn_recording_is_read_to_its_last_whole_line() {
  head -c -100 "$GOLDEN/all.jsonl" >"$CASE/torn"
  assert_has '7,500 requests' "$("$TALLYCTL" show web/hits --from "$CASE/torn")"
  assert_has '7,750 requests' "$("$TALLYCTL" show web/hits --from - <"$GOLDEN/all.jsonl")"
}

help_begins_with_examples() {
  local command
  for command in show top plot heat define ls doctor definitions apply record diff reset on off; do
    assert_match '  tallyctl .*' "$("$TALLYCTL" $command --help | sed -n 2p)" "help of $command"
  done
  assert_match 'tallyctl [0-9.]+' "$("$TALLYCTL" --version)"
}

a_closed_pipe_is_silent() {
  ("$TALLYCTL" show --from "$GOLDEN/all.jsonl" 2>"$CASE/err" || true) | true
  assert_eq '' "$(cat "$CASE/err")"
}
