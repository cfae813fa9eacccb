#!/usr/bin/env bash
# tally-feed-log reads the journal of systemd, in files that systemd-journal-remote has written.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/log_lib.sh"
REMOTE=/lib/systemd/systemd-journal-remote
[ -x $REMOTE ] || skip_all "NO systemd-journal-remote"
start_daemon

# ---- a position is kept of it, too
entries() {  # entries FIRST LAST
  local i
  for i in $(seq "$1" "$2"); do
    printf '%s\n' "__REALTIME_TIMESTAMP=17641660000000$i" "__MONOTONIC_TIMESTAMP=10000$i" \
      _BOOT_ID=0123456789abcdef0123456789abcdef "PRIORITY=$((i % 2))" _SYSTEMD_UNIT=app.service \
      "MESSAGE=took $i ms" ''
  done
}
journal() {
  "$FEED" --socket "$SOCK" --journal app --journal-directory "$WORK/journal" --from start --once \
    --positions "$WORK/cursor" --match 'took (?<ms>\d+) ms' \
    --sample 'journal/ms{priority:{PRIORITY}}={ms} type=value mode=products' 2>"$WORK/said"
}
mkdir "$WORK/journal"
entries 10 29 | "$REMOTE" -o "$WORK/journal/a.journal" - 2>"$WORK/remote"
check_eq '20 lines, 20 matched, 0 unmatched; 20 samples' "$(journal)" "a unit's journal is read"
entries 30 39 | "$REMOTE" -o "$WORK/journal/a.journal" - 2>"$WORK/remote"
check_eq '10 lines, 10 matched, 0 unmatched; 10 samples' "$(journal)" "and continues where it was"
journal() {  # journal ARGUMENT...: of a position of its own, what comes after the first call
  "$FEED" --socket "$SOCK" --journal app --journal-directory "$WORK/journal" --once \
    --match 'took (?<ms>\d+) ms' --count journal/later "$@" 2>"$WORK/said"
}
journal --positions "$WORK/quiet" >"$WORK/once"
entries 40 44 | "$REMOTE" -o "$WORK/journal/a.journal" - 2>"$WORK/remote"
check_eq '5 lines, 5 matched, 0 unmatched; 5 samples' "$(journal --positions "$WORK/quiet")" \
  "a feeder that has read no entry continues, too"
rm "$WORK/journal/a.journal"
entries 50 52 | "$REMOTE" -o "$WORK/journal/b.journal" - 2>"$WORK/remote"
check_eq '3 lines, 3 matched, 0 unmatched; 3 samples' "$(journal --positions "$WORK/quiet")" \
  "where its entry is gone it reads the first that there is"
check "and says so" grep -q 'does not know the position any more' "$WORK/said"
JOURNALS=$WORK/journals
mkdir "$JOURNALS"
unit() {  # unit POSITIONS ARGUMENT...: of a unit that has no entry at first
  "$FEED" --socket "$SOCK" --journal-directory "$JOURNALS" --once --match 'took' \
    --count 'journal/unit{u:{_SYSTEMD_UNIT}}' --positions "$@" 2>"$WORK/said"
}
entries 10 12 | sed 's/app.service/other.service/' |
  "$REMOTE" -o "$JOURNALS/a.journal" - 2>"$WORK/remote"
unit "$WORK/early" --journal app >"$WORK/once"
entries 20 21 | "$REMOTE" -o "$JOURNALS/a.journal" - 2>"$WORK/remote"
check_eq '2 lines, 2 matched, 0 unmatched; 2 samples' "$(unit "$WORK/early" --journal app)" \
  "the first entries of a unit come after a start that found none"
printf '%s\n' __REALTIME_TIMESTAMP=1764166000000030 __MONOTONIC_TIMESTAMP=1000030 \
  _BOOT_ID=0123456789abcdef0123456789abcdef _SYSTEMD_UNIT=app.service \
  "MESSAGE=took $(head -c 100000 /dev/zero | tr '\0' x)" '' |
  "$REMOTE" -o "$JOURNALS/a.journal" - 2>"$WORK/remote"
check_eq '1 line, 1 matched, 0 unmatched; 1 sample, 1 line cut' \
  "$(unit "$WORK/early" --journal app)" \
  "a message that is too long is cut, and counted"
check_eq '6 lines, 6 matched, 0 unmatched; 6 samples, 1 line cut' \
  "$(unit "$WORK/all" --from start)" "--journal-directory alone has the fields of all"
check_eq '360 375' "$(value journal 'ms{priority:0}') $(value journal 'ms{priority:1}')" \
  "by a field of it"

# ---- the journal, followed over kills of the feeder
FOLLOWED=$WORK/followed
mkdir "$FOLLOWED"
entries 10 12 | "$REMOTE" -o "$FOLLOWED/a.journal" - 2>"$WORK/remote"
for round in 2 3 4; do
  start_feeder --journal app --journal-directory "$FOLLOWED" --from start \
    --positions "$WORK/followed.at" --match took --count journal/followed
  entries "${round}0" "${round}4" | "$REMOTE" -o "$FOLLOWED/a.journal" - 2>"$WORK/remote"
  becomes $((3 + 5 * (round - 1) + 2 * (round - 2))) value journal followed
  kill -KILL "$FEEDER"
  wait "$FEEDER" 2>/dev/null
  forget "$FEEDER"
  entries "${round}5" "${round}6" | "$REMOTE" -o "$FOLLOWED/a.journal" - 2>"$WORK/remote"
done

echo "1..$COUNT"
[ $FAILED -eq 0 ]
