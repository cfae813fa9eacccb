#!/usr/bin/env bash
# libtracefs and trace-cmd, as Debian has them, on our tracing directory, which lies over the
# kernel's.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../feeders/lib.sh"
. "$here/overlay.sh"

[ -e /dev/fuse ] || skip_all "no /dev/fuse"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"
[ -x "$BIN/tracefs_calls" ] || skip_all "built without libtracefs-dev"
# in_kernel COMMAND...: with the kernel's own directory.
in_kernel() {
  unshare -m bash -c 'grep -q "^[^ ]* /sys/kernel/tracing tracefs " /proc/mounts ||
    mount -t tracefs nodev /sys/kernel/tracing && "$@"' - "$@"
}
in_kernel test -d /sys/kernel/tracing/events/task 2>"$WORK/refused" ||
  skip_all "no tracefs here: $(tail -1 "$WORK/refused")"

# Of the instance and the events that tracefs_calls makes.
export NAME=tally_clients KERNEL_CALLS=$WORK/kernel.calls
clean_up_more() { in_kernel rmdir "/sys/kernel/tracing/instances/$NAME" 2>/dev/null; }
in_kernel "$BIN/tracefs_calls" $NAME >"$KERNEL_CALLS" 2>"$WORK/kernel.said"
mkdir "$WORK/overlay"
in_overlay "$BIN" "$WORK/overlay" bash "$here/clients_in_overlay.sh" || FAILED=1
