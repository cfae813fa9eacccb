# tallyctl show --changed: what behaves most unlike before, from a recording of a real mount into
# which faults are put.

TALLYCTL=${TALLY_BIN:+$TALLY_BIN/}tallyctl

_set_up() {
  [ "${TALLY_PATIENCE:-1}" = 1 ] || skip 'the pace of 24 s is tested, which a sanitizer cannot keep'
  start_daemon
  export TALLY_MOUNT=$MNT TZ=UTC
  send 'create web/us units=microseconds/requests on=1' 'create web/hits on=1' 'create db/hits on=1'
  define web 'name=us type=quantiles precision=5 quantiles=50,99'
}
# _feed SECONDS FAULT: each tenth of a second samples of three statistics, and for the last SECONDS
# of 24 web/us is slower x6, and web/hits silent, if FAULT is 1. Prints when that begins, and into
# $CASE/late by how many seconds a tenth was late at most.
_feed() {
  py "$TALLY_SEND" "$SOCK" "$@" <<'EOT'
import os, subprocess, sys, time
send, socket, seconds, fault = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4] == "1"
feeder = subprocess.Popen([send, "--socket", socket], stdin=subprocess.PIPE, text=True)
start, whole = time.monotonic(), 24.0
said, late = False, 0
for tick in range(int(whole * 10)):
    time.sleep(max(0, start + tick / 10 - time.monotonic()))  # the pace is what is tested
    late = max(late, time.monotonic() - start - tick / 10)
    is_faulty = fault and tick / 10 >= whole - seconds
    if is_faulty and not said:
        said = True
        print(time.time(), flush=True)
    lines = [f"web/us {(1000 + 37 * i) * (6 if is_faulty else 1)}" for i in range(8)]
    lines += [] if is_faulty else ["web/hits 1"] * 10
    lines += ["db/hits 1"] * 5
    feeder.stdin.write("\n".join(lines) + "\n")
    feeder.stdin.flush()
feeder.stdin.close()
with open(os.environ["CASE"] + "/late", "w") as file: print(late, file=file)
sys.exit(feeder.wait())
EOT
}
# _record SECONDS FAULT: into $CASE/recording; when the fault began into $CASE/began.
_record() {
  local recorder
  "$TALLYCTL" record --every 100ms "$CASE/recording" &
  recorder=$!
  wait_until 'grep -qs "\"interface\":\"db\"" "$CASE/recording"'
  _feed "$@" >"$CASE/began"
  kill -INT $recorder
  wait $recorder
}

what_became_slower_and_what_fell_silent_come_first() {
  _record 4 1
  "$TALLYCTL" show --changed 6s web db --ascii --from "$CASE/recording" >"$CASE/out"
  assert_has 'unusual: the last 6.00s compared with' "$(sed 1q "$CASE/out")"
  # The oldest of three spans before is known where the recorder began early enough.
  assert_match '[23] of 9 spans before are known: a score of 11 is unusual' \
    "$(sed -n 2p "$CASE/out")"
  assert_eq 'web/hits web/us' \
    "$(sed -n 4,5p "$CASE/out" | awk '{ print $1 }' | sort | paste -sd' ')"
  # Buckets of a quarter of an octave tell 1.26 and 7.55 ms no nearer, and the first tenth of a
  # second of the fault has some samples of before.
  assert_match \
    'web/us .* slower x(5\.[4-9]|6(\.[0-5])?), p99 1\.[1-4]ms -> [6-8]\.[0-9]ms .*' \
    "$(grep '^web/us' "$CASE/out")"
  assert_match 'web/hits .* silent, before [0-9]+/s .*' "$(grep '^web/hits' "$CASE/out")"
  "$TALLYCTL" show --changed 6s web db --json --from "$CASE/recording" >"$CASE/json"
  py "$CASE/json" "$CASE/began" "$CASE/late" <<'EOT'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
began, late = (float(open(each).read()) for each in sys.argv[2:])
assert {rows[0]["statistics"][0], rows[1]["statistics"][0]} == {"us", "hits"}, rows
for row in rows[:2]:
    # Where the machine had no time for a tenth or more, rates change by themselves.
    assert row["unusual"] or row["channel"] == "rate" and late > 0.1, (row, late)
    assert abs(row["since_us"] / 1e6 - began) < 2, (row, began)
EOT
  # A pattern chooses.
  assert_has_not 'web/hits' "$("$TALLYCTL" show --changed 6s 'web/us' --from "$CASE/recording")"
}

where_nothing_changed_nothing_is_unusual() {
  _record 4 0
  assert_has 'nothing unusual: the last 6.00s compared with' \
    "$("$TALLYCTL" show --changed 6s web db --from "$CASE/recording")"
}

_refused() {  # _refused TEXT ARGUMENT...
  local text=$1 status=0
  shift
  "$TALLYCTL" show "$@" --from "$CASE/recording" 2>"$CASE/err" || status=$?
  assert_eq 2 $status "of show $*"
  assert_has "$text" "$(cat "$CASE/err")"
}

too_little_past_is_said_and_nothing_ranked() {
  local said
  send 'web/us 7'
  "$TALLYCTL" record --every 100ms --count 3 "$CASE/recording"
  said=$("$TALLYCTL" show --changed --from "$CASE/recording")
  assert_eq 'too little past: 0 spans of baseline; nothing is ranked below two' "$said"
  _refused 'a span of --changed is 6s at least' --changed 1s
  _refused 'excludes' --changed --every 1s web
  assert_has '"too_little_past":' "$("$TALLYCTL" show --changed --json --from "$CASE/recording")"
}

a_mount_is_read_for_three_spans() {
  send 'web/us 7'
  "$TALLYCTL" show --changed 6s web >"$CASE/out" 2>"$CASE/err"
  assert_has 'reads the mount for 18 s' "$(cat "$CASE/err")"
  assert_has 'the last 6.00s compared with the 12 s before, of 2 statistics' "$(cat "$CASE/out")"
  assert_has '; show --changed --from RECORDING ranks at once' "$(cat "$CASE/err")"
}

a_store_is_named_where_a_mount_is_read() {
  mkdir "$CASE/store"
  touch "$CASE/store/past.sqlite"
  TALLY_STORE=$CASE/store timeout 1 "$TALLYCTL" show --changed >"$CASE/out" 2>"$CASE/err" || true
  assert_has '; show --changed --last 1m asks the store, and ranks at once' "$(cat "$CASE/err")"
}
