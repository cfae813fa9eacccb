# mtime, inode numbers, directory listings.

_modified() { stat -c %.9Y "$1"; }
_changes() {  # _changes COMMAND...: mtime goes forward
  local before=$(_modified "$STAT/web/data")
  "$@"
  [[ $(_modified "$STAT/web/data") > $before ]] || fail "mtime stayed $before with: $*"
}
_stays() {
  local before=$(_modified "$STAT/web/data")
  "$@"
  assert_eq "$before" "$(_modified "$STAT/web/data")" "mtime with: $*"
}

mtime_is_the_time_of_the_last_change() {
  local before after modified
  before=$(date +%s.%N)
  send 'web/a 1'
  modified=$(_modified "$STAT/web/data")
  after=$(date +%s.%N)
  [[ ! $modified < $before && ! $modified > $after ]] ||
    fail "$modified is not between $before and $after"
}

mtime_changes_with_every_change_however_small() {
  local i last=0 now
  for i in {1..20}; do
    send 'web/a 1'
    now=$(_modified "$STAT/web/data")
    [[ $now > $last ]] || fail "$now after $last"
    last=$now
  done
  _changes define web 'name=a on=0'
  _changes define web 'name=a on=1'
  _changes define web 'name=a range_min=0'
  _changes define web 'data=reset'
  _changes send 'web/b 1'
}

mtime_has_nanoseconds() {
  local i digits=''
  for i in {1..4}; do
    send 'web/a 1'
    digits+=$(_modified "$STAT/web/data" | grep -o '...$')
  done
  [ "$digits" != 000000000000 ] || fail 'microseconds only'
}

mtime_changes_with_nothing_else() {
  send 'web/a 1' 'create web/off' 'create web/narrow on=1 range_min=5'
  _stays sleep 0.02
  _stays data web
  _stays definition web
  _stays send 'web/off 1'
  _stays send 'db/a 1'
  _stays define web 'name=a on=1'
  _stays assert_fails define web 'name=a on=5'
  _stays touch "$STAT/web/data"
  _stays truncate -s 0 "$STAT/web/definition"
}

a_history_changes_when_a_period_ends() {
  send 'create web/h on=1 type=history mode=increments period=100000 entries_max=5'
  _changes sleep 0.25
}

inode_numbers_are_stable() {
  local before
  send 'web/a 1' 'db/a 1' 'mail/a 1'
  before=$(cd "$STAT" && stat -c '%n %i' . web web/data web/definition mail)
  rmdir "$STAT/db"
  send 'web/a 1' 'dns/a 1'
  echo 3 2>/dev/null >/proc/sys/vm/drop_caches || true
  assert_eq "$before" "$(cd "$STAT" && stat -c '%n %i' . web web/data web/definition mail)"
}

inode_numbers_are_those_of_the_listing() {
  send 'web/a 1'
  assert_eq "$(cd "$STAT/web" && stat -c '%i %n' data data.json definition)" \
    "$(ls -1i "$STAT/web" | sed 's/^ *//')"
  py <<'EOT'
import os
for entry in os.scandir(os.environ["STAT"]): assert entry.inode() == os.stat(entry.path).st_ino, entry.name
EOT
}

inode_numbers_are_never_used_again() {
  local before
  send 'web/a 1'
  before=$(stat -c %i "$STAT/web" "$STAT/web/data")
  rmdir "$STAT/web"
  send 'web/a 1'
  assert_eq 4 "$( (echo "$before"; stat -c %i "$STAT/web" "$STAT/web/data") | sort -u | wc -l)"
}

inode_numbers_differ() {
  send 'web/a 1' 'db/a 1'
  assert_eq '' "$(find "$MNT" -printf '%i\n' | sort | uniq -d)"
}

a_listing_goes_on_rightly_while_entries_come_and_go() {
  local i
  for i in {1..200}; do echo "create interface-with-a-long-name-$i"; done >"$CASE/create"
  send_file "$CASE/create"
  wait_until '[ "$(ls "$STAT" | grep -c with-a-long-name)" = 200 ]'
  py <<'EOT'
import ctypes, os, struct
from peer import Peer
libc = ctypes.CDLL(None, use_errno=True)
peer = Peer()
fd = os.open(os.environ["STAT"], os.O_RDONLY | os.O_DIRECTORY)
buffer = ctypes.create_string_buffer(400)  # some entries at a time
names, removed = [], set()
while True:
    size = libc.syscall(217, fd, buffer, len(buffer))
    assert size >= 0, os.strerror(ctypes.get_errno())
    if size == 0: break
    at = 0
    while at < size:
        inode, cookie, length = struct.unpack_from("<QqH", buffer, at)
        names.append(buffer.raw[at + 19:at + length].split(b"\0")[0].decode())
        at += length
    # One that was listed and one that may not have been are removed; one is added.
    seen = [n for n in names if n.startswith("interface")]
    for victim in seen[-1:] + [f"interface-with-a-long-name-{200 - len(removed)}"]:
        if victim not in removed:
            removed.add(victim)
            peer.ask("remove " + victim)
    if len(removed) < 40: peer.ask(f"create added-{len(names)}")
names = [n for n in names if not n.startswith("added")]
assert len(names) == len(set(names)), "listed twice"
wanted = {f"interface-with-a-long-name-{i}" for i in range(1, 201)} - removed | {".", "..", "tallyfs"}
assert wanted <= set(names), wanted - set(names)
EOT
}

a_directory_handle_can_be_rewound() {
  send 'web/a 1'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"], os.O_RDONLY)
assert sorted(os.listdir(fd)) == ["tallyfs", "web"]
Peer = __import__("peer").Peer
Peer().ask("create db")
assert sorted(os.listdir(fd)) == ["db", "tallyfs", "web"]
EOT
}

a_directorys_mtime_is_the_last_time_an_entry_came_or_went() {
  local before=$(_modified "$STAT")
  send 'web/a 1'
  # The kernel keeps a directory's mtime until it is notified.
  wait_until '[[ $(_modified "$STAT") > '"$before"' ]]'
  before=$(_modified "$STAT")
  send 'web/a 1' 'web/b 1'
  data web >/dev/null
  assert_eq "$before" "$(_modified "$STAT")"
  send 'db/a 1'
  wait_until '[[ $(_modified "$STAT") > '"$before"' ]]'
  before=$(_modified "$STAT")
  rmdir "$STAT/db"
  wait_until '[[ $(_modified "$STAT") > '"$before"' ]]'
}

link_counts_are_those_of_a_directory() {
  send 'web/a 1' 'db/a 1'
  wait_until '[ "$(stat -c %h "$STAT")" = 5 ]'
  assert_eq 2 "$(stat -c %h "$STAT/web")"
  assert_eq 1 "$(stat -c %h "$STAT/web/data")"
}
