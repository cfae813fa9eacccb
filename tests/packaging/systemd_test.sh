#!/usr/bin/env bash
# The Debian package where systemd runs, as an administrator meets it: installed, upgraded while it
# is fed, stopped, broken, switched off, booted with, removed and purged.
# Longer than most: each part goes on with the machine of the one before, which takes long to boot.
#
# systemd is process 1 of namespaces of the test's own, in the fresh Debian of root.sh, with a
# control group of its own. It has no capability by which it could change this machine's kernel, and
# /proc/sys is read-only but for the net's.
if [ "${SYSTEMD_TEST_NAMESPACE:-}" != "$$" ] && [ "$(id -u)" -eq 0 ] &&
  unshare -m true 2>/dev/null; then
  SYSTEMD_TEST_NAMESPACE=$$ exec unshare -m --propagation private bash "$0" "$@"
fi
. "$(dirname "$0")/../feeders/lib.sh"
. "$(dirname "$0")/root.sh"
MACHINE='' INIT='' GROUP=''
skip_everything() { skip_all "THE PACKAGE IS NOT TESTED UNDER SYSTEMD: $1"; }
[ "$(id -u)" -eq 0 ] || skip_everything "needs root"
[ "${SYSTEMD_TEST_NAMESPACE:-}" = "$$" ] || skip_everything "there are no mount namespaces here"
[ -e /dev/fuse ] || skip_everything "no /dev/fuse"
for each in cpack dpkg-shlibdeps mmdebstrap nsenter setpriv pgrep; do has $each ||
  skip_everything "no $each"; done
unshare --pid --fork --uts --ipc --net --cgroup true 2>/dev/null ||
  skip_everything "there are no PID, network or control group namespaces here"
group_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
GROUP=$group_root/tallyfs-test-$$
mkdir "$GROUP" 2>/dev/null ||
  skip_everything "no control groups (v2) to be made below '$group_root'"

# Before lib.sh waits for what has been started.
trap 'end_machine; clean_up; [ $FAILED -eq 0 ] || exit 1' EXIT
end_machine() {
  [ -z "$MACHINE" ] || { kill -KILL "$MACHINE"; wait "$MACHINE"; } 2>/dev/null
  # Its processes are gone when the kernel has put them away.
  ! [ -d "$GROUP" ] || wait_until 'find "$GROUP" -depth -type d -exec rmdir {} +; ! [ -d "$GROUP" ]'
  rm -f "$CACHED_ROOT.$$"
}
clean_up_more() { ! mountpoint -q "$ROOT" || umount -R -l "$ROOT"; }

# Run by `unshare`, as what becomes systemd.
enter_machine() {
  set -e
  mount -t proc proc "$ROOT/proc"
  echo 512 >"$ROOT/proc/sys/net/unix/max_dgram_qlen"  # as systemd sets it, but in containers
  mount --bind "$ROOT/proc/sys/net" "$ROOT/proc/sys/net"
  mount --bind "$ROOT/proc/sys" "$ROOT/proc/sys"
  mount -o remount,bind,ro "$ROOT/proc/sys"
  ! [ -e "$ROOT/proc/sysrq-trigger" ] || mount --bind "$ROOT/dev/null" "$ROOT/proc/sysrq-trigger"
  mount -t sysfs -o ro sysfs "$ROOT/sys"
  mount -t cgroup2 cgroup2 "$ROOT/sys/fs/cgroup"
  mount -t tmpfs -o mode=755 run "$ROOT/run"
  ip link set lo up 2>/dev/null || true
  cd "$ROOT"
  pivot_root . media
  umount -l /media
  exec env -i container=test PATH=/usr/sbin:/usr/bin setpriv \
    --bounding-set=-sys_module,-sys_time,-sys_rawio,-syslog,-mac_admin,-mac_override,-wake_alarm,-sys_pacct \
    /usr/lib/systemd/systemd --log-target=journal </dev/null >/dev/null 2>&1
}
export -f enter_machine
export ROOT
boot() {
  (
    echo "$BASHPID" >"$GROUP/cgroup.procs" &&
      exec setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount --uts --ipc --net \
        --cgroup bash -c enter_machine
  ) 2>"$WORK/machine" &
  MACHINE=$!
  wait_until '! [ -d "/proc/$MACHINE" ] || { INIT=$(pgrep -P "$MACHINE") && [ "$(cat "/proc/$INIT/comm")" = systemd ]; }' &&
    wait_until \
      '! [ -d "/proc/$MACHINE" ] || [ "$(inside systemctl is-system-running --wait)" = running ]' &&
      [ -d "/proc/$MACHINE" ]
}
inside() { "${CLEAN_ENVIRONMENT[@]}" nsenter -t "$INIT" --all "$@"; }
dpkg_inside() { quietly inside dpkg "$@"; }

TREE=/run/tallyfs/mnt
state_of() { inside systemctl is-active "tallyfs.$1"; }
main_process() { inside systemctl show --value -p MainPID tallyfs.service; }
mounts() { inside awk '$3 == "fuse.tallyfs"' /proc/mounts | wc -l; }
counted() {
  inside sh -c "cat $TREE/statistics/$1/data" 2>/dev/null | awk '{ n += $2 } END { print n + 0 }'
}
send() { inside tally-send --timeout-ms 60000 "$@"; }  # it may have to be started
journal() { inside journalctl -q -u tallyfs.service -o cat "$@"; }
# systemd allows five starts within ten seconds; only a test needs more.
allow_starts() { inside systemctl reset-failed tallyfs.socket tallyfs.service; }
# A daemon that is up: of one mount, that can be read and is fed. It may answer before systemd has
# taken in that it is ready.
is_up() {
  send "$1/a 1" && wait_until '[ "$(state_of service)" = active ]' && [ "$(mounts)" = 1 ] &&
    [ "$(counted "$1")" = 1 ]
}
is_gone() { [ "$(state_of service)" = inactive ] && [ "$(mounts)" = 0 ]; }

# ---- an old version of the package, which differs in its unit, and the new one
check "the packages are built" build_packages daemon library
make_root || skip_everything "mmdebstrap made no Debian: $(tail -1 "$WORK/said")"
new=$(dpkg-deb -f "$PACKAGES"/tallyfs_*.deb Version)
dpkg-deb -R "$PACKAGES"/tallyfs_*.deb "$WORK/old"
sed -i 's/^Version: .*/Version: 0.0.1-1/' "$WORK/old/DEBIAN/control"
sed -i '/^ExecStart/s/--foreground/& --log-level debug/' \
  "$WORK/old/usr/lib/systemd/system/tallyfs.service"
mkdir "$ROOT/packages"
quietly dpkg-deb --root-owner-group -Znone -b "$WORK/old" "$ROOT/packages/old.deb"
rm -r "$WORK/old"
cp "$PACKAGES"/tallyfs_*.deb "$ROOT/packages/new.deb"
cp "$PACKAGES"/libtally0_*.deb "$ROOT/packages/library.deb"

# Of no use here, or this machine's own.
for each in sys-kernel-{debug,tracing}.mount sys-fs-fuse-connections.mount \
  dev-{hugepages,mqueue}.mount systemd-{logind,networkd,resolved,timesyncd}.service \
  getty.target console-getty.service; do
  ln -sf /dev/null "$ROOT/etc/systemd/system/$each"
done
rm -f "$ROOT"/etc/systemd/system/timers.target.wants/*
echo 0123456789abcdef0123456789abcdef >"$ROOT/etc/machine-id"  # else everything is preset at the first boot
mkdir -p "$ROOT/var/log/journal"
node null 1 3
node fuse 10 229
check "it boots" boot
[ $FAILED -eq 0 ] || { sed 's/^/# /' "$WORK/machine"; exit 1; }
units() { inside sh -c 'cd /etc/systemd/system /var/lib/systemd 2>/dev/null; find /etc/systemd/system /var/lib/systemd/deb-* -name "*tallyfs*"; getent passwd tallyfs; ls -d /run/tallyfs' 2>/dev/null; }

# ---- installed
check "the old version installs" dpkg_inside -i /packages/library.deb /packages/old.deb
check_eq 'active active' "$(state_of socket) $(state_of service)" \
  "socket and service are up at once"
check_eq 'enabled enabled' "$(echo $(inside systemctl is-enabled tallyfs.socket tallyfs.service))" \
  "and for the next boot"
check "it is mounted for all users, and fed" is_up installed
check_eq tallyfs "$(inside sh -c "ps -o user= -p $(main_process) 2>/dev/null || stat -c %U /proc/$(main_process)")" "it runs as tallyfs"

feeders=(tally-feed-{block,log,tcp,timer}.service)
check_eq 'disabled disabled disabled disabled disabled disabled' \
  "$(echo $(inside systemctl is-enabled "${feeders[@]}" tally-{web,record}.service))" \
  "feeders are not enabled"
check_eq 'feed-block feed-tcp feed-timer feed-log feed-statsd.socket web record' \
  "$(inside tallyctl doctor | sed -n 's/^ *do: systemctl enable --now tally-//p' | paste -sd' ')" \
  "doctor names the line for each"

# ---- upgraded, while a feeder sends
inside sh -c 'until [ -e /run/enough ]; do tally-send "upgrade/a 1"; echo; done 2>/run/complaints >/run/sent' &
STARTED+=($!)
wait_until '[ "$(wc -l <"/proc/$INIT/root/run/sent")" -ge 3 ]'
old_process=$(main_process)
check "the new version installs over it" dpkg_inside -i /packages/new.deb
check_eq "$new" "$(inside dpkg-query -W -f '${Version}' tallyfs)" "and is there"
check "its daemon is another process" [ "$(main_process)" != "$old_process" ]
check_eq '' "$(inside sh -c "tr '\0' ' ' </proc/$(main_process)/cmdline | grep debug")" \
  "as the new unit says"
check "it is mounted once, and fed" is_up upgraded
check_eq 1 "$(counted installed)" "it has what the old one had counted"
check "what was sent meanwhile is counted" wait_until '[ "$(counted upgrade)" -gt 0 ]'
touch "/proc/$INIT/root/run/enough"
wait "${STARTED[0]}"
STARTED=()
check_eq '' "$(grep -E 'no daemon|has ended' "/proc/$INIT/root/run/complaints")" \
  "and never found the socket without a daemon"

# ---- upgraded, with the same unit: reloaded
old_process=$(main_process)
server() { inside grep -o '"pid":[0-9]*' "$TREE/statistics.json"; }
old_server=$(server)
check "the same version installs over itself" dpkg_inside -i /packages/new.deb
check_eq "$old_process" "$(main_process)" "and the daemon is the same process"
check "with another server" [ "$(server)" != "$old_server" ]
check "that has what was counted" is_up reinstalled
check "no note is left" inside sh -c '! [ -e /run/tallyfs.unit.sha256 ]'

# ---- restarted, stopped, reloaded, killed, unmounted
old_process=$(main_process)
check "systemctl restart" quietly inside systemctl restart tallyfs
check "starts another one" is_up restarted
check_eq 1 "$(counted upgraded)" "with what was counted before"
old_process=$(main_process)
inside sh -c 'cp /etc/tallyfs/rules /run/rules; echo "web/reloaded type=last" >>/etc/tallyfs/rules'
check "systemctl reload" quietly inside systemctl reload tallyfs
check "has it read its rules anew" wait_until \
  'inside grep -q "^web/reloaded type=last" "$TREE/rules"'
check_eq "$old_process 1" "$(main_process) $(counted restarted)" "and changes nothing else"
inside mv /run/rules /etc/tallyfs/rules
inside sh \
  -c "cd $TREE/statistics && touch /run/there && until [ -e /run/leave ]; do sleep 0.1; done" &
STARTED+=($!)
wait_until '[ -e "/proc/$INIT/root/run/there" ]'
exec {held}<"/proc/$INIT/root$TREE/statistics/restarted/data"
check "it stops, with its mount in use" quietly inside timeout 60 systemctl stop tallyfs.service
check "and is gone" is_gone
check_eq success "$(inside systemctl show --value -p Result tallyfs.service)" "well"
exec {held}<&-
touch "/proc/$INIT/root/run/leave"
wait "${STARTED[0]}"
STARTED=()
check "the first sample starts it again" send 'early/a 1'
check_eq 1 "$(counted early)" "and is counted"

# ---- its keeper is killed: the mount stays, with what was saved last
write_unit_part() {  # write_unit_part NAME: of the service, from stdin
  mkdir -p "/proc/$INIT/root/run/systemd/system/tallyfs.service.d"
  cat >"/proc/$INIT/root/run/systemd/system/tallyfs.service.d/$1.conf"
  inside systemctl daemon-reload
}
mount_number() { inside awk '$5 == "'$TREE'" { print $1, $3 }' /proc/self/mountinfo; }
stored() { inside systemctl show --value -p NFileDescriptorStore tallyfs.service; }
write_unit_part period <<'END'
[Service]
ExecStart=
ExecStart=tallyfs --foreground --state /var/lib/tallyfs --state-period 1 \
  -o allow_other,auto_unmount /run/tallyfs/mnt
END
check "with a short period it is up" quietly inside systemctl restart tallyfs.service
check "and fed" is_up saved
check "systemd keeps its mount" [ "$(stored)" -ge 5 ]
check "what it has is saved" wait_until \
  'inside sh -c "cat /var/lib/tallyfs/state.[0-9]*" | grep -qa saved'
before=$(mount_number)
# One that is in the mount, and looks at its files all the while. An open under way waits.
inside sh -c "cd $TREE/statistics && echo >/run/looks && until [ -e /run/looked ]; do
  cat saved/data >/dev/null || echo; done 2>/run/complaints >/run/failed" &
STARTED+=($!)
wait_until '[ -e "/proc/$INIT/root/run/looks" ]'
for each in 1 2 3; do
  old_process=$(main_process)
  inside sh -c "kill -KILL $old_process"
  check "killed, it comes back by itself ($each)" wait_until \
    '[ "$(main_process)" != "$old_process" ] && [ "$(state_of service)" = active ]'
  check_eq "$before" "$(mount_number)" "with the same mount"
  check_eq 1 "$(counted saved)" "and what was saved"
  check "and is fed" is_up "killed$each"
  allow_starts
done
touch "/proc/$INIT/root/run/looked"
wait "${STARTED[0]}"
STARTED=()
check_eq '' "$(grep -v 'Stale file handle' "/proc/$INIT/root/run/complaints")" \
  "no reader met a dead mount meanwhile"
check "the log says so" wait_until 'journal | grep -q "the server before ended by signal 9"'
check "it stops" quietly inside timeout 60 systemctl stop tallyfs.service
check "and is gone" is_gone
check_eq 0 "$(stored)" "and systemd keeps nothing"
rm "/proc/$INIT/root/run/systemd/system/tallyfs.service.d/period.conf"
inside systemctl daemon-reload
check "it starts" quietly inside systemctl start tallyfs.service
check "and is up" is_up unkilled
allow_starts
check "unmounted, it ends" inside umount $TREE
check "well" wait_until is_gone
check "and the next sample starts it" is_up unmounted
allow_starts
check "socket and service stop" quietly inside systemctl stop tallyfs.socket tallyfs.service
check_eq mnt "$(inside sh -c 'ls /run/tallyfs')" "and leave nothing in /run/tallyfs"
check "the service starts its socket" quietly inside systemctl start tallyfs.service
check "and is up" is_up started

# ---- the feeders of the package
user_of() { inside id -nu "$(awk '$1 == "Uid:" { print $2 }' "/proc/$INIT/root/proc/$1/status")"; }
in_machine=/proc/$INIT/root
mkdir -p "$in_machine/var/log/app" "$in_machine/etc/default"
echo 'OPTIONS=--match took --count applog/lines --from start /var/log/app/log' \
  >"$in_machine/etc/default/tally-feed-log"
printf 'took 1\ntook 2\n' >"$in_machine/var/log/app/log"
for each in timer tcp log; do
  check "tally-feed-$each starts" quietly inside systemctl enable --now "tally-feed-$each"
done
check "tally-feed-statsd and tally-web start" quietly inside systemctl enable --now \
  tally-feed-statsd.socket tally-feed-statsd.service tally-web.service
count_packet() { inside bash -c 'echo "packets:1|c" >/dev/udp/127.0.0.1/8125'; }
check "packets of StatsD are counted" wait_until \
  'count_packet; [ "$(counted statsd)" -gt 0 ]'
healthz() {
  inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/8255 &&
    printf "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:8255\r\nConnection: close\r\n\r\n" >&3 &&
    grep -q "^HTTP/1.1 200" <&3' 2>/dev/null
}
check "the page is served" wait_until healthz
check "tally-record starts with it" wait_until 'inside systemctl --quiet is-active tally-record'
check "and keeps the past of timers" wait_until \
  "inside tallyctl show --last 5m timer | grep -q lateness"
check_eq 'tally-record tallyfs 750' "$(inside stat -c '%U %G %a' /var/lib/tally-record)" \
  "in a directory for its group"
check "timers are measured" wait_until \
  'inside grep -qE "^lateness\{cpu:0\} <=[0-9]+ [1-9]" $TREE/statistics/timer/data'
check "and TCP's connections" wait_until 'inside ls $TREE/stats/tcp/total >/dev/null 2>&1'
check "and logs" wait_until '[ "$(counted applog)" = 2 ]'
check_eq 'tally-feed tally-feed tally-feed-log' "$(for each in timer tcp log; do
  user_of "$(inside systemctl show --value -p MainPID "tally-feed-$each")"; done | paste -sd' ')" \
  "by users of their own"

# ---- options and the kernel's events
echo 'TALLYFS_OPTIONS="--write-group tallyfs -o metrics_readable"' \
  >"$in_machine/etc/default/tallyfs"
check "with options of /etc/default it starts" quietly inside systemctl restart tallyfs
check "and is up" is_up defaulted
check_eq '-rw-rw---- -r--r--r--' "$(inside stat -c %A $TREE/statistics/defaulted/definition \
  $TREE/metrics/tallyfs.prom | paste -sd' ')" "which are in force"
: >"$in_machine/etc/default/tallyfs"
if inside mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; then
  line=$(inside tallyctl doctor | sed -n 's/^ *do: \(install -D .*\)/\1/p')
  check "the line of doctor for the kernel's events works" quietly inside sh -c "$line"
  check "it is up" is_up traced
  check_eq 1 "$(counted defaulted)" "with what was counted before"
  check_eq 'tallyfs tallyfs' "$(inside stat -c %U /var/lib/tallyfs) $(
    user_of "$(server | grep -o '[0-9]*')")" \
    "the server and its state are still of tallyfs"
  trigger=$TREE/tracing/events/sched/sched_switch/trigger
  check "events of the kernel are there" wait_until 'inside test -e $trigger'
  check "and take a trigger" quietly inside sh -c "echo hist:keys=common_cpu >$trigger"
  check "and count" wait_until \
    '[ "$(inside sed -n "s/^ *Hits: //p" ${trigger%trigger}hist)" -gt 0 ]'
  inside sh -c "echo '!hist:keys=common_cpu' >$trigger"
  check "disks are measured" quietly inside systemctl enable --now tally-feed-block
  write() { dd if=/dev/zero of="$BUILD/.systemd_test" bs=16k count=8 conv=fsync status=none; }
  check "and have interfaces" wait_until 'write; inside ls $TREE/statistics | grep -q ^block-'
  rm -f "$BUILD/.systemd_test"
  check_eq '' "$(inside tallyctl doctor | grep 'do: \(systemctl enable\|install -D\)')" \
    "doctor has no more lines for what could be measured"
  inside systemctl -q disable --now tally-feed-block
  rm -r "$in_machine/etc/systemd/system/tallyfs.service.d"
  inside systemctl daemon-reload
  check "without the kernel's events it starts again" quietly inside systemctl restart tallyfs
  check "and is up" is_up untraced
  check_eq 1 "$(counted traced)" "with what was counted with them"
  inside umount /sys/kernel/tracing
else
  skip "the kernel's events in a service" "there is no tracefs here"
fi
inside systemctl -q disable --now tally-feed-{timer,tcp,log} tally-feed-statsd.{socket,service} \
  tally-{web,record}
rm -r "$in_machine/var/log/app" "$in_machine"/etc/default/tally-feed-log
allow_starts

# ---- its messages
check_eq 'mounted on /run/tallyfs/mnt, listening on the socket passed by systemd' \
  "$(journal -t tallyfs -p 6..6 -n 1)" "the journal has what it says, without a time of its own"

# ---- an administrator's mistake
write_unit_part wrong <<'END'
[Service]
ExecStart=
ExecStart=tallyfs --foreground --group nobody-at-all -o allow_other /run/tallyfs/mnt
END
allow_starts
check "a wrong option: it does not start" inside sh \
  -c '! timeout 10 systemctl restart tallyfs 2>/dev/null'
check "the journal says why, as an error" wait_until \
  "journal -t tallyfs -p 3..3 | grep -qx \"tallyfs: --group: there is no group 'nobody-at-all'\""
check "it is not tried for ever" wait_until '[ "$(state_of service)" = failed ]'
rm "/proc/$INIT/root/run/systemd/system/tallyfs.service.d/wrong.conf"
inside systemctl daemon-reload
allow_starts
check "repaired, it starts" quietly inside systemctl restart tallyfs.socket tallyfs.service
check "and is up" is_up repaired

# ---- the next boots
shut_down() {
  inside systemctl poweroff 2>/dev/null  # which ends with the machine
  wait_until '! [ -d "/proc/$INIT" ]' && wait "$MACHINE"
  MACHINE=''
}
began=$SECONDS
shut_down
# A unit that does not stop is waited for for 90 seconds.
check "the machine shuts down, not held up by it" [ $((SECONDS - began)) -lt 60 ]
check "it boots again" boot
check_eq 1 "$(counted repaired)" "and has what was counted before"
check_eq 'active active' "$(state_of socket) $(state_of service)" "with socket and service"
check "and is fed" is_up booted
check_eq "tallyfs: --group: there is no group 'nobody-at-all'" \
  "$(journal -t tallyfs -p warning | sort -u |
    grep -v -e '^the server before ended by signal 9 (Killed); requests are answered again after ' \
      -e '^in a PID namespace of its own ')" \
  "it has complained of nothing but the mistake, of the kills and of its PID namespace"
inside systemctl -q disable tallyfs.service
inside systemctl -q enable tallyfs.socket
shut_down
check "it boots with the socket alone" boot
check_eq 'active inactive' "$(state_of socket) $(state_of service)" "the service waits"
check "for the first sample" is_up activated

# ---- switched off by the administrator
inside systemctl -q disable --now tallyfs.socket tallyfs.service
check "switched off, it is upgraded" dpkg_inside -i /packages/new.deb
check "but not started" is_gone
check_eq 'disabled disabled' \
  "$(echo $(inside systemctl is-enabled tallyfs.socket tallyfs.service))" "nor switched on"

# ---- removed and purged
inside systemctl -q enable --now tallyfs.socket tallyfs.service
check "up again," is_up again
check "it is removed" dpkg_inside -r tallyfs
check_eq 0 "$(mounts)" "unmounted"
check_eq '' "$(inside sh -c 'ls -d /run/tallyfs 2>/dev/null')" "without its directory"
check_eq '' "$(inside systemctl list-units --plain --no-legend 'tallyfs*')" \
  "and systemd has none of its units active or failed"
check "installed again, it starts" dpkg_inside -i /packages/new.deb
check "and is up" is_up back
check "it is purged" dpkg_inside -P tallyfs libtally0
check_eq '' "$(inside sh -c 'find /etc /var/lib/systemd /run /usr/lib/systemd -name "*tallyfs*" | grep -v "^/run/systemd/units/\|^/run/udev"; getent passwd tallyfs; ls -d /var/lib/tallyfs 2>/dev/null')" "and nothing is left"
check_eq '' "$(inside systemctl list-units --all --plain --no-legend 'tallyfs*'; inside systemctl \
  --failed --plain --no-legend)" "nor does systemd miss anything"
check_eq running "$(inside systemctl is-system-running)" "the machine is well"

# ---- installed from source, as docs/getting-started.md says
check "cmake --install" quietly env DESTDIR="/proc/$INIT/root" cmake --install "$BUILD" \
  --component daemon --prefix /usr/local
CLEAN_ENVIRONMENT+=(PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
lines=$(sed -n '/^cmake --install/,/^```/{/^systemd-\|^systemctl/p}' \
  "$PROJECT/docs/getting-started.md")
check_eq 3 "$(wc -l <<<"$lines")" "three lines follow it"
check "which work" quietly inside sh -ec "$lines"
check "and it is up" is_up source
for unit in tally-feed-timer tally-feed-log tally-feed-statsd tally-web tally-record; do
  user=$(sed -n 's/^User=//p' "$PROJECT/packaging/systemd/$unit.service")
  check "$unit has its user" quietly inside getent passwd "$user"
done
check "a feeder runs" inside systemctl enable --now tally-feed-timer
echo "# $SECONDS s"
