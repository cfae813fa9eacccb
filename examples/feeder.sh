#!/usr/bin/env bash
# Feeds the interface `example` with the lengths of the lines it reads: feeder.sh <FILE
# It needs no library: text goes to the socket, here by way of socat; tally-send does the same, and
# says what was wrong.
set -euo pipefail
socket=/run/tallyfs/socket own=${XDG_RUNTIME_DIR:-}/tallyfs/socket
[ "$EUID" = 0 ] || [ ! -S "$own" ] || socket=$own  # a daemon of this user
socket=${TALLY_SOCKET:-$socket}

feed() { socat -u - "UNIX-SENDTO:$socket"; }

# What is there already stays as its users have defined it.
feed <<'EOF'
create example/line_lengths type=list entries_max=100 on=1 units=bytes/lines
create example/lines on=1 units=lines/batches
EOF

# Many samples to a datagram, 100 lines at a time; socat makes one of what it reads at once, up to 8
# KiB.
batch='' lines=0
while IFS= read -r line; do
  batch+="example/line_lengths ${#line}"$'\n'
  if ((++lines % 100 == 0)); then
    printf '%sexample/lines 1 100\n' "$batch" | feed
    batch=''
  fi
done
printf '%sexample/lines 1 %d\n' "$batch" $((lines % 100)) | feed
echo "$lines samples are in statistics/example/data"
