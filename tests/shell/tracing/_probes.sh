# For cases on uprobe_events of this kernel. A topic that includes it says _alone=yes: orphans are
# those of all mounts of the machine.
. ./tracing/_kernel.sh
P=$T/uprobe_events
# A copy of bash, so that no other process meets the probes. make_child() is called for each fork.
TARGET=$CASE/target$$

# The kernel's tracefs, which a mount of ours may lie over. _real COMMAND: in it.
_real() {
  mkdir -p "$CASE/tracefs"
  unshare -m bash -c 'mount -t tracefs nodev "$1" && cd "$1" && eval "$2"' - "$CASE/tracefs" "$1"
}
# _append LINE: as any program must do it, since `>` would remove the probes of all.
_append() { _real "echo '$1' >>uprobe_events"; }
_ours() {
  local all
  all=$(_real 'cat uprobe_events') || fail "the kernel's list cannot be read"
  grep "$TARGET" <<<"$all" || [ $? -eq 1 ]
}
_call() { "$TARGET" -c "for ((i = 0; i < $1; ++i)); do (:); done"; }  # _call TIMES
_log() { tail -3 "$1" | sed 's/^\[[^]]*\]/[T]/'; }
# _profile FILE: how often the kernel has met the probes of that file.
_profile() {
  _real 'cat uprobe_profile' | awk -v of="$1" '$1 == of { sum += $3 } END { print sum + 0 }'
}
