# What the tests of the ready-made feeders share. They print TAP and end with 1 if anything failed.
# Programs come from $TALLY_BIN. Whatever a test starts or makes is taken away at its end.
set -uo pipefail
export LC_ALL=C
BIN=${TALLY_BIN:?say TALLY_BIN=DIR, where tallyfs and the feeders are}
WORK=$(mktemp -d) && chmod 755 "$WORK" || exit 1
MNT=$WORK/mnt SOCK=$WORK/run/socket
mkdir "$MNT" "$WORK/run"
COUNT=0 FAILED=0 STARTED=() OUTPUTS=0

ok() { COUNT=$((COUNT + 1)); echo "ok $COUNT - $1"; }
not_ok() {
  COUNT=$((COUNT + 1)) FAILED=$((FAILED + 1))
  echo "not ok $COUNT - $1"
  shift
  printf '# %s\n' "$@"
}
check_eq() { if [ "$1" = "$2" ]; then ok "$3"; else not_ok "$3" "wanted: $1" "got:    $2"; fi; }
check() { local what=$1; shift; if "$@"; then ok "$what"; else not_ok "$what" "$*"; fi; }
skip_all() { echo "ok 1 # SKIP $1"; exit 0; }

# wait_until CONDITION: up to a minute; false if it was in vain.
wait_until() {
  local deadline=$((SECONDS + 60))
  until eval "$1" 2>/dev/null; do
    [ $SECONDS -le $deadline ] || return 1
    sleep 0.02
  done
}

# start PROGRAM ARGUMENT...: in the background; returns at its READY, its process id in $PID.
start() {
  local said='' output name
  name=$WORK/output.$((OUTPUTS += 1))
  mkfifo "$name"
  "$@" >"$name" 2>"$name.err" &
  PID=$!
  STARTED+=("$PID")
  exec {output}<"$name"
  read -r -t 30 said <&"$output" || true
  [ "$said" = READY ] && return
  not_ok "${1##*/} says READY" "it said '$said'" "$(cat "$name.err")"
  exit 1
}
# Sets $DAEMON, the keeper's process id, and $SERVER, that of the process that serves.
start_daemon() {
  start "$BIN/tallyfs" -f --socket "$SOCK" "$@" "$MNT"
  DAEMON=$PID
  find_server
}
# Of those that have the name for a moment, it alone has a process group of its own.
find_server() {
  SERVER=$(ps --ppid "$DAEMON" -o pid=,pgid=,comm= | awk '$1 == $2 && $3 == "tallyfs" { print $1 }')
}
# stop PID: as systemd would; sets $STATUS.
stop() { kill -TERM "$1"; STATUS=0; wait "$1" 2>/dev/null || STATUS=$?; forget "$1"; }
forget() {
  local i
  for i in "${!STARTED[@]}"; do [ "${STARTED[i]}" != "$1" ] || unset 'STARTED[i]'; done
}

data() { cat "$MNT/statistics/$1/data"; }
# all_of COMMAND...: what it prints once it has read all that the kernel has recorded. A read waits
# 100 ms for the feeder, and drains_cut counts where that was too short: it is done again.
all_of() {
  local cut='' deadline=$((SECONDS + 60))
  until [ "$cut" = "$(drains_cut)" ] || [ $SECONDS -gt $deadline ]; do
    cut=$(drains_cut)
    "$@" >"$WORK/all"
  done
  cat "$WORK/all"
}
drains_cut() { data tallyfs | sed -n 's/^drains_cut //p'; }
# sum INTERFACE STATISTIC: of all its totals, which stand last in each line.
sum() { data "$1" | awk -v name="$2" '$1 == name { n += $NF } END { print n + 0 }'; }

# keep_busy, be_idle: the CPUs never sleep in between. Of one that sleeps this kernel may leave out
# sched_switch events of the idle task (its own trace shows the wakeup and not the switch), and a
# virtual CPU that sleeps wakes when its host likes to: both would say nothing about what is
# measured.
BUSY=()
keep_busy() {
  local cpu
  for cpu in $(seq 0 $(($(nproc) - 1))); do
    chrt -i 0 taskset -c "$cpu" sh -c 'while :; do :; done' &
    BUSY+=($!)
    STARTED+=($!)
  done
}
be_idle() { local pid; for pid in "${BUSY[@]}"; do stop "$pid"; done; BUSY=(); }

# percentiles: of a histogram, `US COUNT` a line, `samples p50 p99`.
percentiles() {
  sort -n | awk '{ us[NR] = $1; count[NR] = $2; all += $2 }
    function at(share,   i, n) { for (i = 1; i <= NR; ++i) { n += count[i]; if (n >= share * all) return us[i] } }
    END { print all + 0, at(0.5) + 0, at(0.99) + 0 }'
}
# bound US VALUE PART: US, or that part of a value that is large already. What cyclictest adds is
# its way from the switch back to its own code: 2 to 4 us, and more on a virtual CPU.
bound() { echo $(($2 / $3 > $1 ? $2 / $3 : $1)); }
# check_p50, check_p99 P50 P99 OURS WHAT: within 5 us (p99: 10) or a quarter. Where P99 is far from
# P50 the machine, or its host, is so busy that each of the two programs has delays of its own, which
# say nothing of the other's: not checked.
check_p50() { check_percentile "$1" "$2" 5 "$1" "$3" "$4"; }
check_p99() { check_percentile "$1" "$2" 10 "$2" "$3" "$4"; }
check_percentile() {  # check_percentile P50 P99 LEAST THEIRS OURS WHAT
  if [ "$2" -gt $(($1 * 3 / 2 + 10)) ]; then
    echo "ok $((COUNT += 1)) - $6 # SKIP the machine is too busy for that: p50 $1, p99 $2 us"
  else
    check "$6" within "$(bound "$3" "$4" 4)" "$4" "$5"
  fi
}
# Clock ticks that the host has kept this machine's CPUs from running.
stolen_ticks() { awk '$1 == "cpu" { print $9 + 0 }' /proc/stat; }
# The load when the script began, without what it starts itself.
OTHERS=$(awk '{ print int($1) }' /proc/loadavg)
# check_max MAX OURS STOLEN WHAT: within 20 us or 2%. Cyclictest measures further than we do: where
# the host took the CPU away in between, or interrupts of other work came, its maximum alone grows.
check_max() {
  local bound
  bound=$(bound 20 "$1" 50)
  if [ $(($3 + OTHERS)) -gt 0 ]; then
    echo "# the host took $3 ticks, load $OTHERS: ours may be below cyclictest's"
    check "$4" [ "$2" -le $(($1 + bound)) ]
  else
    check "$4" within "$bound" "$1" "$2"
  fi
}
# within BOUND A B
within() {
  awk -v bound="$1" -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(d <= bound && d >= -bound) }'
}

clean_up_more() { :; }
clean_up() {
  local pid
  for pid in "${STARTED[@]}"; do kill -TERM "$pid" 2>/dev/null; done
  wait
  clean_up_more
  ! mountpoint -q "$MNT" || umount -l "$MNT"
  rm -rf --one-file-system "$WORK"
}
trap 'clean_up; [ $FAILED -eq 0 ] || exit 1' EXIT
trap 'exit 130' INT TERM
