#!/usr/bin/env bash
# tally-feed-block against a disk of which we know every request: a loop device of our own.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root, for tracefs and a loop device"
# tracefs INSTANCES...: runs a command in its directory; in a namespace, so that no mount is left.
tracefs() {
  unshare -m sh -c 'mount -t tracefs tracefs "$0" && cd "$0" && eval "$1"' "$WORK/run" "$1"
}
instances() { tracefs 'ls instances' | grep '^tallyfs-block-'; }
tracefs 'test -d events/block' 2>/dev/null ||
  skip_all "this kernel offers no tracefs with block events"
truncate -s 32M "$WORK/image"
LOOP=$(losetup -f --show "$WORK/image" 2>/dev/null) || skip_all "no loop device to be had"
DISK=${LOOP##*/} FEEDER=''
clean_up_more() { losetup -d "$LOOP"; }

# reads sectors_read writes sectors_written
diskstats() { awk -v disk="$DISK" '$3 == disk { print $4, $6, $8, $10 }' /proc/diskstats; }
# The same from the statistics: requests, and sectors from their sizes.
requests() {
  local count bytes name size total
  for name in read write; do
    count=0 bytes=0
    while read -r _ size total; do
      count=$((count + total)) bytes=$((bytes + size * total))
    done < <(data "block-$DISK" | grep "^request_sizes_${name}_list ")
    echo -n "$count $((bytes / 512)) "
  done
}
write_requests() { dd if=/dev/zero of="$LOOP" bs=12K count="$1" oflag=direct status=none; }
read_requests() { dd if="$LOOP" of=/dev/null bs=8K count="$1" iflag=direct status=none; }
start_feeder() { start "$BIN/tally-feed-block" --socket "$SOCK"; FEEDER=$PID; }
shows() { data "block-$DISK" | grep -qx "$1"; }

mounts_before=$(grep -c tracefs /proc/mounts)
# A read fills the device's caches of its own before we count.
read_requests 1
start_daemon
start_feeder
before=$(diskstats)
write_requests 1000
read_requests 1000
check "1,000 writes of 12 KiB are counted, all by their size" wait_until \
  'shows "request_sizes_write_list 12288 1000"'
check "1,000 reads of 8 KiB are counted, all by their size" wait_until \
  'shows "request_sizes_read_list 8192 1000"'
after=$(diskstats)
difference=$(paste -d' ' <(tr ' ' '\n' <<<"$before") <(tr ' ' '\n' <<<"$after") |
  awk '{ printf "%d ", $2 - $1 }')
check_eq "$difference" "$(requests)" "requests and sectors are those of /proc/diskstats"
check "and by intervals" shows "request_sizes_write <=16384 1000"
check_eq "$(sum "block-$DISK" request_sizes_read)" "$(sum "block-$DISK" latencies_read)" \
  "every read has a latency"
check_eq "$(sum "block-$DISK" request_sizes_write)" "$(sum "block-$DISK" latencies_write)" \
  "every write has a latency"
views() {
  grep -c "^name=latencies_$1_[a-z_]* of=latencies_$1 on=1 type=" \
    "$MNT/statistics/block-$DISK/definition"
}
check_eq "2 2" "$(views read) $(views write)" "and latencies have their views"
check_eq "$(sum "block-$DISK" latencies_read)" \
  "$(data "block-$DISK" | awk '$1 == "latencies_read_percentiles" && $2 == "count" { print $3 }')" \
  "which have every latency, too"
check "with percentiles" shows "latencies_read_percentiles p99 [1-9][0-9]*"
read -r _ number min _ <<<"$(data "block-$DISK" | grep '^pending_write ')"
check "every write was pending" [ "$number" -ge 1000 ]
check "no request is pending alone with zero" [ "$min" -ge 1 ]
check_eq "occurrence_lost 0" "$(data "block-$DISK" | grep '^occurrence_lost')" "nothing was lost"

stop "$DAEMON"
start_daemon
check "a restarted daemon gets the statistics again, without a request" \
  wait_until 'test -e "$MNT/statistics/block-$DISK/data"'
write_requests 10
check "and what happens from then on" wait_until 'shows "request_sizes_write_list 12288 10"'

kill -KILL "$FEEDER"
wait "$FEEDER" 2>/dev/null
forget "$FEEDER"
check_eq "tallyfs-block-$FEEDER" "$(instances)" "a killed feeder leaves its instance behind"
start_feeder
check_eq "tallyfs-block-$FEEDER" "$(instances)" "the next one takes it away"
read_requests 10
stop "$FEEDER"
check_eq 0 "$STATUS" "SIGTERM ends the feeder well"
check "what it had read was still sent" shows "request_sizes_read_list 8192 10"
check_eq "" "$(instances)" "it leaves no instance"
check_eq "$mounts_before" "$(grep -c tracefs /proc/mounts)" "and no mount"
stop "$DAEMON"
check_eq 0 "$STATUS" "SIGTERM ends the daemon well"
check "it leaves no socket" [ ! -e "$SOCK" ]
check "and no mount" eval '! mountpoint -q "$MNT"'
