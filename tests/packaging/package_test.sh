#!/usr/bin/env bash
# The Debian packages as an administrator meets them: built, checked by lintian, installed in a
# fresh Debian, started as the unit and as fstab say, stopped, purged; and the man pages, units and
# completions that are in them.
#
# The fresh root is that of root.sh; where there is none to be had, an overlay over this machine's
# own. All mounts are in a mount namespace of the test's own, which ends with it. Nothing runs as
# systemd there: see systemd_test.sh.
if [ "${PACKAGE_TEST_NAMESPACE:-}" != "$$" ] && [ "$(id -u)" -eq 0 ] &&
  unshare -m true 2>/dev/null; then
  PACKAGE_TEST_NAMESPACE=$$ exec unshare -m --propagation private bash "$0" "$@"
fi
. "$(dirname "$0")/../feeders/lib.sh"
. "$(dirname "$0")/root.sh"
DAEMON_IN_ROOT=''
clean_up_more() {
  [ -z "$DAEMON_IN_ROOT" ] || kill "$DAEMON_IN_ROOT" 2>/dev/null
  ! mountpoint -q "$ROOT" || umount -R -l "$ROOT"
  ! mountpoint -q "$WORK/over" || umount -l "$WORK/over"
  rm -f "$CACHED_ROOT.$$"
}

# ---- man pages, units, completions
for page in "$PROJECT"/packaging/man/*; do
  if has mandoc; then check "${page##*/} has no faults" quietly mandoc -Tlint -W warning "$page"
  else skip "${page##*/} has no faults" "mandoc is not installed"; fi
done
# With the names of their values, one a line: "--socket PATH".
options_of_page() {
  sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$1" | grep -A1 '^\.TP' |
    sed -nE 's/\\f[A-Z]//g; s/\\-/-/g; s/"//g; s/^\.B[IR]? *//; s/^-. *, *//; s/ *$//; s/ +/ /g; /^--?[a-z]/p' | sort -u
}
options_of_help() {
  "$BIN/$1" --help | sed -nE 's/^  (-.,)?(-o|--[a-z0-9-]+)( [^ ]+)?(  .*)?$/\2\3/p' | sort -u
}
for program in tallyfs tally-send tally-web tally-feed-block tally-feed-log tally-feed-statsd \
  tally-feed-timer tally-feed-tcp tally-feed-tracefs tally-clock; do
  check_eq "$(options_of_page "$PROJECT/packaging/man/$program.1")" \
    "$(options_of_help "$program")" \
    "$program(1) has the options of --help, their values, and no others"
  help=$("$BIN/$program" --help)
  check_eq "0 1" "$? $(grep -c "^Usage: $program \[OPTIONS\]" <<<"$help")" \
    "--help ends with 0 and tells the usage"
  check_eq '' "$(grep -E '^  ?-.*([A-Z]:|TEXT|REQUIRED|Excludes|[0-9]{8}|  [A-Z][a-z])|\(.x\)' \
    <<<"$help")" "in words of people"
  "$BIN/$program" --no-such-option >"$WORK/out" 2>"$WORK/said"
  check_eq "2 0 $program: " "$? $(wc -c <"$WORK/out") $(grep -o "^$program: " "$WORK/said")" \
    "what is wrong it says on the standard error, under its name, and ends with 2"
done
# tallyctl has its options by command, some of which have commands of their own; the page has all.
commands_of() { "$BIN/tallyctl" $1 --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p'; }
check_eq "$(options_of_page "$PROJECT/packaging/man/tallyctl.1")" \
  "$(for each in $(commands_of '') $(commands_of probe | sed 's/^/probe:/'); do
    "$BIN/tallyctl" ${each/:/ } --help | sed -nE 's/^  (-.,)?(--[a-z0-9-]+)( [^ ]+)?(  .*)?$/\2\3/p'
  done | sort -u)" "tallyctl(1) has the options of all commands, and no others"
declared=$(grep -ohE '\b(statistic|tally|latency)_[a-z_]+ ?\(' \
  "$PROJECT"/include/tally/{statistic,latency}.h | tr -d ' (' |
  grep -vE '^statistic_(on_add.*|define_)$' | sort -u)
check_eq '' "$(for each in $declared; do grep -qE "\b$each\(" "$PROJECT/packaging/man/tally.3" ||
  echo "$each"; done)" "tally(3) has all calls of statistic.h and latency.h"
declared=$(sed -nE '/^(TALLY_EXPORT|static inline)/s/.*[ *](event_[a-z]+)\(.*/\1/p' \
  "$PROJECT/include/tally/event.h" | grep -v _on_)
check_eq '' \
  "$(for each in $declared; do grep -qE "\b$each\(" "$PROJECT/packaging/man/tally-event.3" ||
  echo "$each"; done)" "tally-event(3) has all calls of event.h"
declared=$(grep '^TALLY_CLOCK_NOTHING' "$PROJECT/include/tally/clock.h" | grep -oE '[a-z0-9_]+\(' |
  tr -d '(' | sort -u)
check_eq '' \
  "$(for each in $declared; do grep -qE "\b$each\(" "$PROJECT/packaging/man/tally-clock.3" ||
  echo "$each"; done)" "tally-clock(3) has all calls of clock.h"
check_eq '' \
  "$(for each in $declared; do grep -qE "[ (]$each( |\)|\$)" "$PROJECT/packaging/CMakeLists.txt" ||
  echo "$each"; done)" "and is found by the name of each"

if has systemd-analyze; then
  mkdir "$WORK/units"
  cp "$PROJECT"/packaging/systemd/*.{service,socket} "$WORK/units"
  sed -i -E "s,^(Exec[A-Za-z]+=\+?)tally,\1$BIN/tally," "$WORK"/units/*.service
  verify() {
    systemd-analyze verify --man=no "$WORK"/units/* >"$WORK/said" 2>&1
    grep tally "$WORK/said"
  }
  check_eq '' "$(verify)" "systemd-analyze finds no fault in the units"
  check "the service is exposed by 3.0 at most" \
    quietly systemd-analyze security --offline=yes --threshold=30 --no-pager "$WORK/units/tallyfs.service"
  check "and so is that of StatsD" quietly systemd-analyze security --offline=yes \
    --threshold=30 --no-pager "$WORK/units/tally-feed-statsd.service"
  check "and so is that of logs" quietly systemd-analyze security --offline=yes \
    --threshold=30 --no-pager "$WORK/units/tally-feed-log.service"
  for each in web record; do
    check "and so is that of tally-$each" quietly systemd-analyze security --offline=yes \
      --threshold=30 --no-pager "$WORK/units/tally-$each.service"
  done
  for each in block tcp timer; do
    check "and so is that of tally-feed-$each" quietly systemd-analyze security --offline=yes \
      --threshold=30 --no-pager "$WORK/units/tally-feed-$each.service"
  done
else
  skip "systemd-analyze finds no fault in the units" "systemd-analyze is not installed"
fi
# systemd.exec(5): any of these gives the service a mount namespace, and no other process sees the
# mount.
check_eq '' "$(grep -E '^(Private(Tmp|Devices|Users|IPC)|PrivateMounts=[^n]|Protect([ABD-Z]|Control)|(ReadWrite|ReadOnly|Inaccessible|Exec|NoExec)Paths|(Bind|BindReadOnly)Paths|TemporaryFileSystem|Root(Directory|Image)|Mount|DynamicUser|(Cache|Logs)Directory|LogNamespace|NetworkNamespacePath)' \
  "$PROJECT/packaging/systemd/tallyfs.service")" "the service has nothing that implies a mount namespace"
check_eq PrivateMounts=no "$(grep '^PrivateMounts=' "$PROJECT/packaging/systemd/tallyfs.service")" \
  "nor does PrivateNetwork="

if [ -r /usr/share/bash-completion/bash_completion ]; then
  complete_words() {  # complete_words WORD...: what is offered for the last of them
    PATH=$BIN:$PATH bash -c '. /usr/share/bash-completion/bash_completion; . "$0/$1"
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
      "_${1//-/_}" "$1" "${@: -1}" "${@: -2:1}"; printf "%s\n" "${COMPREPLY[@]}"' "$PROJECT/packaging/completion" "$@" 2>/dev/null
  }
  for program in tallyfs tally-send tally-clock tally-feed-{block,tcp,timer,tracefs}; do
    check_eq "$(options_of_help $program | sed -n 's/^\(--[a-z-]*\).*/\1/p')" \
      "$(complete_words $program -- | sort)" "all options of $program are completed"
  done
  check_eq 'definitions' "$(complete_words tallyctl defin | grep -v '^define$')" \
    "commands of tallyctl are completed"
  check_eq "$("$BIN/tallyctl" heat --help | sed -nE 's/^  (-.,)?(--[a-z-]+).*/\2/p' | sort)" \
    "$(complete_words tallyctl heat -- | sort)" "and the options of each"
  check_eq 'allow_other,run_as=' "$(complete_words tallyfs -o allow_other,run)" \
    "and what stands behind -o"
  check_eq 'subtree= subtype=' "$(complete_words tallyfs -o subt | sort | paste -sd' ')" \
    "subtree= included"
else
  skip "options are completed" "bash-completion is not installed"
fi

# ---- the packages
for each in cpack dpkg-shlibdeps; do has $each || skip_all "no $each"; done
check "the packages are built" build_packages
check_eq 'libtally-dev libtally0 python3-tally tallyfs' "$(cd "$PACKAGES" && printf '%s\n' *.deb | sed 's/_.*//' |
  paste -sd' ')" "there are four"
check_eq "$(cd "$PROJECT" && printf '%s\n' {README,CONTRIBUTING}.md docs/*.md core/*/{,*/}*.md | sort)" \
  "$(dpkg-deb -c "$PACKAGES"/tallyfs_*.deb |
    sed -n 's|.* \./usr/share/doc/tallyfs/\(.*\.md\)$|\1|p' | sort)" \
  "tallyfs has the README, docs/ and all formats, in the places that their links name"
mkdir "$WORK/files"
for each in "$PACKAGES"/*.deb; do dpkg-deb -x "$each" "$WORK/files"; done
dead_links() {
  python3 - "$PROJECT/tests/docs" "$WORK/files/usr/share/doc/tallyfs" <<'EOF'
import pathlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import pages
for page in pathlib.Path(sys.argv[2]).rglob("*.md"):
    for link in pages.links_of(page.read_text()):
        target = link.partition("#")[0]
        if target and not (page.parent / target).exists():
            print(f"{page.name}: {link}")
EOF
}
check_eq '' "$(dead_links)" "their links lead to files of the packages"
if has lintian; then check "lintian has nothing to say" quietly lintian --fail-on error,warning \
  --allow-root "$PACKAGES"/*.deb
else skip "lintian has nothing to say" "lintian is not installed"; fi
check_eq '/etc/default/tallyfs /etc/tallyfs/rules' "$(dpkg-deb --ctrl-tarfile \
  "$PACKAGES"/tallyfs_*.deb | tar -xO ./conffiles | paste -sd' ')" \
  "an administrator's changes of options and rules stay in an upgrade"
check_eq 'etc/default/tallyfs' "$(cd "$WORK/files" &&
  sed -n 's|^EnvironmentFile=-/||p' usr/lib/systemd/system/tallyfs.service | xargs ls)" \
  "and its unit reads them"

# ---- from source, without packages
check "cmake --install" quietly env DESTDIR="$WORK/local" cmake --install "$BUILD" \
  --component daemon --prefix /usr/local
named=$(sed -nE 's/.*(--rules|EnvironmentFile=-) ?([^ ]*).*/\2/p' \
  "$WORK/local/usr/local/lib/systemd/system/tallyfs.service")
check_eq '/usr/local/etc/default/tallyfs /usr/local/etc/tallyfs/rules' "$(echo $named)" \
  "the unit names its files below the prefix"
check "where they are" quietly ls ${named//\/usr/$WORK/local/usr}
check_eq /usr/local/bin "$(sed -nE 's/^Exec[A-Za-z]*=\+?([^ ]*)\/tally.*/\1/p' \
  "$WORK"/local/usr/local/lib/systemd/system/tally* | sort -u)" "units name their programs there"
check_eq "$(cd "$BIN" && ./tallyfs --version | cut -d' ' -f2)-1" \
  "$(dpkg-deb -f "$PACKAGES"/tallyfs_*.deb Version)" "their version is that of the daemon"

# ---- a Debian to put them in
stop_here() { skip "installed, started, stopped and purged" "$1"; exit; }
[ "$(id -u)" -eq 0 ] || stop_here "needs root"
[ "${PACKAGE_TEST_NAMESPACE:-}" = "$$" ] || stop_here "there are no mount namespaces here"
[ -e /dev/fuse ] || stop_here "no /dev/fuse"
borrow_root() {
  mkdir "$WORK/over" && mount -t tmpfs over "$WORK/over" && mkdir "$WORK"/over/{upper,work} &&
    mount -t overlay -o "lowerdir=/,upperdir=$WORK/over/upper,workdir=$WORK/over/work" overlay \
      "$ROOT" &&
    mount -t tmpfs run "$ROOT/run" && mount -t tmpfs tmp "$ROOT/tmp"
}
if has mmdebstrap && make_root; then
  echo "# a fresh Debian by mmdebstrap"
elif borrow_root; then
  echo "# A STAND-IN: no fresh Debian was to be had (see below), so the packages go into a copy of this machine's"
  tail -3 "$WORK/said" | sed 's/^/# /'
else
  stop_here "neither mmdebstrap nor overlayfs works"
fi
mount -t proc proc "$ROOT/proc"
node null 1 3
node fuse 10 229
# What an administrator would find: all files but caches, logs, and what dpkg, adduser and mount
# note; users; groups.
state() {
  (cd "$ROOT" && find dev etc opt run srv usr var mnt media \( -path var/lib/dpkg -o -path var/log \
    -o -path var/cache \) -prune -o -print |
    grep -vE "^etc/((passwd|group|shadow|gshadow|subuid|subgid)-|\.pwd\.lock|ld\.so\.cache)\$|^run/(adduser|mount)\$" | sort)
  cut -d: -f1 "$ROOT"/etc/passwd "$ROOT"/etc/group
}
mkdir -p "$ROOT/tmp/packages" && cp "$PACKAGES"/*.deb "$ROOT/tmp/packages"
state >"$WORK/before"
mounts_below() {
  awk -v below="$ROOT" 'index($2, below "/") == 1 && $3 ~ /fuse/ { print $2 }' /proc/mounts
}

# ---- installed
check "they install, without apt" quietly in_root sh -c 'dpkg -i /tmp/packages/*.deb'
check_eq '4' "$(in_root dpkg-query -W -f '${Package} ${db:Status-Status}\n' tallyfs libtally0 \
  libtally-dev python3-tally | grep -c ' installed$')" "all four"
check "dpkg --verify finds each file as packed" \
  [ -z "$(in_root dpkg --verify tallyfs libtally0 libtally-dev python3-tally | grep -v missing)" ]
check "the user tallyfs is there" quietly in_root getent passwd tallyfs
check "the loader finds libtally.so.0" in_root sh -c 'ldconfig -p | grep -q libtally.so.0'
check "they install over themselves" quietly in_root sh -c 'dpkg -i /tmp/packages/*.deb'
for program in tallyfs tallyctl tally-web tally-send tally-feed-block tally-feed-log \
  tally-feed-statsd tally-feed-timer tally-feed-tcp tally-feed-tracefs tally-clock; do
  check "$program runs there" quietly in_root "$program" --version
done

# ---- started as tallyfs.service says, with its User=, capabilities and directories
unit_user=(setpriv --reuid=tallyfs --regid=tallyfs --clear-groups
  --inh-caps=+sys_admin,+dac_override --ambient-caps=+sys_admin,+dac_override)
mkdir -p "$ROOT/run/tallyfs/mnt"
in_root chown tallyfs:tallyfs /run/tallyfs/mnt
in_root install -d -m 0700 -o tallyfs -g tallyfs /var/lib/tallyfs
# Its variables are empty.
read -ra command < <(sed -n ':a; /\\$/{N; s/\\\n */ /; ta}; s/^ExecStart=//p' \
  "$ROOT/usr/lib/systemd/system/tallyfs.service" | sed 's/ \$TALLYFS_[A-Z]*//g')
if has systemd-socket-activate; then
  # Waits for the first datagram, as systemd would have it in its queue.
  "${CLEAN_ENVIRONMENT[@]}" systemd-socket-activate --datagram -l "$ROOT/run/tallyfs/socket" \
    chroot "$ROOT" "${unit_user[@]}" "${command[@]}" >"$WORK/service" 2>&1 &
  DAEMON_IN_ROOT=$!
  wait_until '[ -S "$ROOT/run/tallyfs/socket" ]'
  echo 'web/early 1' | socat -u - "UNIX-SENDTO:$ROOT/run/tallyfs/socket"
else
  echo "# no systemd-socket-activate: the daemon makes its own socket"
  "${CLEAN_ENVIRONMENT[@]}" chroot "$ROOT" "${unit_user[@]}" "${command[@]}" \
    >"$WORK/service" 2>&1 &
  DAEMON_IN_ROOT=$!
fi
check "the unit's ExecStart comes up" wait_until 'grep -qx READY "$WORK/service"' ||
  sed 's/^/# /' "$WORK/service"
check "tally-send feeds it" in_root tally-send 'web/a 5' 'define web name=a data=reset' 'web/a 7'
check_eq 1 "$(in_root python3 -c 'import tally
each = tally.Interface("py").statistic("each")
each.start()
each.inc(5)
tally.statistic_sync(10000)
print(tally.statistic_count().confirmed)')" "so does a program in Python"
check_eq 'each 1' "$(in_root cat /run/tallyfs/mnt/statistics/py/data)" "and it is counted"
check_eq 'a 1 7 7.000 7' "$(in_root cat /run/tallyfs/mnt/statistics/web/data | grep '^a ')" \
  "and its tree can be read and written"
check_eq tallyfs \
  "$(in_root id -nu "$(awk '$1 == "Uid:" { print $2 }' "/proc/$DAEMON_IN_ROOT/status")")" \
  "it runs as tallyfs"
check_eq 0000000000000000 "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$DAEMON_IN_ROOT/status")" \
  "without capabilities"
kill -TERM "$DAEMON_IN_ROOT"
wait "$DAEMON_IN_ROOT"
check_eq 0 $? "SIGTERM ends it well"
DAEMON_IN_ROOT=''
check_eq '' "$(mounts_below)" "and unmounts"
check "and keeps what was counted" grep -q web "$ROOT/var/lib/tallyfs/state.1"
rm -f "$ROOT/run/tallyfs/socket"  # which was systemd's
rm "$ROOT"/var/lib/tallyfs/state.*

# ---- mounted as docs/running.md's line for fstab says
line=$(grep '^none .* fuse.tallyfs ' "$PROJECT/docs/running.md")
cp "$ROOT/etc/fstab" "$WORK/fstab" 2>/dev/null || : >"$WORK/fstab"
printf '%s\n%s\n' "$line" "$line" |
  sed '2s| /run/tallyfs/mnt | /media |; 2s|run_as=[^ ]*|socket=/run/tallyfs/socket2|' \
    >"$ROOT/etc/fstab"
for place in /run/tallyfs/mnt /media; do
  socket=/run/tallyfs/socket
  [ $place = /run/tallyfs/mnt ] || socket+=2
  check "mount $place takes it from fstab" quietly in_root mount $place
  check_eq "none $place fuse.tallyfs" \
    "$(in_root awk -v place=$place '$2 == place { print $1, $2, $3 }' /proc/mounts)" \
    "and it is mounted"
  check "it is fed" in_root tally-send --socket $socket 'web/a 1'
  check_eq 'a 1 1 1.000 1' "$(in_root cat $place/statistics/web/data)" "and read"
  check "umount $place ends it" quietly in_root umount $place
  check "its socket goes too" wait_until '! [ -e "$ROOT$socket" ]'
done
check "what the first one had counted is kept" grep -q web "$ROOT/var/lib/tallyfs/state.1"
rmdir "$ROOT/run/tallyfs/mnt"
cp "$WORK/fstab" "$ROOT/etc/fstab"
[ -s "$WORK/fstab" ] || grep -qx ./etc/fstab "$WORK/before" || rm "$ROOT/etc/fstab"

# ---- purged
check "they are purged" quietly in_root dpkg -P python3-tally libtally-dev libtally0 tallyfs
state >"$WORK/after"
check_eq '' "$(diff "$WORK/before" "$WORK/after")" "and nothing is left"
check_eq '' "$(mounts_below)" "no mount"
check_eq '' "$(for each in /proc/[0-9]*; do [ "$(readlink "$each/root")" = "$ROOT" ] &&
  cat "$each/comm"; done)" "no process"
