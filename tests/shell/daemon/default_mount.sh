# The mount point of the service and the documents, and root's state there. In a mount namespace.

_set_up() { :; }  # no daemon but those of the cases
the_default_mount_point_is_made() {
  need_root
  unshare -m true 2>/dev/null || skip 'there are no mount namespaces here'
  export TALLYFS SOCK
  assert_eq $'755\n755\nrules\n755' "$(unshare -m --propagation private bash -euc '
    mount -t tmpfs none /run
    umask 077
    "$TALLYFS" --socket "$SOCK" /run/tallyfs/mnt
    stat -c %a /run/tallyfs
    stat -c %a /run/tallyfs/mnt
    ls /run/tallyfs/mnt | grep rules
    umount /run/tallyfs/mnt
    stat -c %a /run/tallyfs/mnt')"
}

# The files belong to the owner of the directory, as the service has that uid.
on_the_default_mount_point_root_keeps_state_if_its_directory_is_there() {
  need_root
  unshare -m true 2>/dev/null || skip 'there are no mount namespaces here'
  export TALLYFS TALLY_SEND SOCK CASE
  unshare -m --propagation private bash -euc '
    mnt=/run/tallyfs/mnt
    run() {
      "$TALLYFS" -f --socket "$SOCK" "$@" $mnt >/dev/null 2>"$CASE/said" &
      until [ -e $mnt/rules ]; do [ -d /proc/$! ]; done
      grep -E "state is kept|nothing is kept" "$CASE/said" | sed "s/.*info. //" || true
    }
    end() { umount $mnt; wait; }
    mount -t tmpfs none /run
    mount -t tmpfs none /var/lib
    run; end
    mkdir -m 700 /var/lib/tallyfs
    chown 1234:1235 /var/lib/tallyfs
    run; "$TALLY_SEND" --socket "$SOCK" "web/a 1"
    until [ -e $mnt/statistics/web/data ]; do :; done
    "$TALLYFS" --reload $mnt
    end
    stat -c "%n %u %g %a" /var/lib/tallyfs/state.1
    run; cut -d" " -f1-2 $mnt/statistics/web/data; end
    run --no-state; ls $mnt/statistics; end
    run --state "$CASE/other"; ls $mnt/statistics; end
    flock --no-fork /var/lib/tallyfs sleep 100 & other=$!
    until ! flock -n /var/lib/tallyfs true; do :; done
    run; kill $other; end
  ' >"$CASE/out"
  local none='nothing is kept for the next start: '
  assert_eq "$none\`mkdir -m 700 /var/lib/tallyfs\` makes the place for it
state is kept in /var/lib/tallyfs; --no-state keeps none
/var/lib/tallyfs/state.1 1234 1235 600
state is kept in /var/lib/tallyfs; --no-state keeps none
a 1
tallyfs
tallyfs
$none--state: /var/lib/tallyfs is in use by another daemon" \
    "$(<"$CASE/out")"
  assert_fails_with '--state excludes --no-state' \
    "$TALLYFS" --no-state --state "$CASE/other" "$MNT"
}

# On the mount point of the service, root's daemon finds the state of the service.
on_another_mount_point_root_is_told_what_keeps_numbers() {
  need_root
  local none='nothing is kept for the next start without --state DIR'
  mkdir -p "$MNT"
  start_daemon
  stop_daemon
  assert_match ".* $none; with --run-as tallyfs the daemon gives up root.s rights.*" "$(<"$STDERR")"
  start_daemon --no-state
  stop_daemon
  case $(<"$STDERR") in *"$none"*) fail 'said with --no-state' ;; esac
}
