# st_size, offsets, handles.

_size() { stat -c %s "$1"; }

size_is_the_exact_length_of_the_text_now() {
  local file
  send 'web/a 1' 'create web/l on=1 type=list entries_max=9'
  for file in "$STAT/web/data" "$STAT/web/definition" "$MNT/tracing/error_log"; do
    assert_eq "$(wc -c < <(cat "$file"))" "$(_size "$file")" "$file"
  done
  send 'web/l 5' 'web/a 1 1000'
  assert_eq "$(wc -c < <(cat "$STAT/web/data"))" "$(_size "$STAT/web/data")"
  define web 'data=reset'
  assert_eq "$(wc -c < <(cat "$STAT/web/data"))" "$(_size "$STAT/web/data")"
  assert_fails define web 'on=8'
  assert_eq "$(wc -c < <(cat "$MNT/tracing/error_log"))" "$(_size "$MNT/tracing/error_log")"
}

size_sees_what_was_sent_before() {
  local i
  send 'create web/l on=1 type=list entries_max=99 base=16'
  for i in {1..30}; do
    send "web/l $((i + 15)) 1"
    assert_eq $((i * 9)) "$(_size "$STAT/web/data")"
  done
}

fstat_of_a_fresh_handle_is_the_length_of_what_it_reads() {
  send 'create web/a on=1' 'web/a 1'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
assert os.fstat(fd).st_size == len(os.read(fd, 1000)) == 4
EOT
}

# The kernel asks with the handle for SEEK_END. (For fstat(2) it does not: it gives a path.)
the_end_of_an_open_handle_is_that_of_its_text() {
  send 'create web/a on=1' 'web/a 1'
  py <<'EOT'
from peer import *
peer = Peer()
number = peer.ask("attach web/a")[1]
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
peer.send(samples(number, [(1, 10**12)], WITH_Y))
assert data("web") == "a 1000000000001\n"
assert os.lseek(fd, 0, os.SEEK_END) == 4, os.lseek(fd, 0, os.SEEK_END)
assert os.lseek(fd, -2, os.SEEK_END) == 2 and os.read(fd, 100) == b"1\n"
EOT
}

pread_reads_at_offsets() {
  send 'create web/a on=1' 'web/a 0 12345'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
text = b"a 12345\n"
for start in range(len(text) + 3):
    for size in (1, 3, 100):
        assert os.pread(fd, size, start) == text[start:start + size], (start, size)
assert os.read(fd, 2) == b"a " and os.lseek(fd, 1, os.SEEK_CUR) == 3 and os.read(fd, 100) == b"2345\n"
EOT
}

past_the_end_there_are_0_bytes() {
  send 'create web/a on=1' 'web/a 1'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
for offset in (4, 5, 4096, 1 << 20, (1 << 63) - 10): assert os.pread(fd, 5, offset) == b"", offset
EOT
}

a_second_open_is_fresh() {
  send 'web/a 1'
  exec 8<"$STAT/web/data"
  send 'web/a 1'
  exec 9<"$STAT/web/data"
  assert_eq 'a 1 1 1.000 1' "$(cat <&8)"
  assert_eq 'a 2 1 1.000 1' "$(cat <&9)"
  exec 8<&- 9<&-
}

a_handle_keeps_all_of_its_text_when_the_file_becomes_short() {
  local i
  { echo 'create web/l on=1 type=list entries_max=2000'; for i in {1000..2000}; do echo \
    "web/l $i"; done; } >"$CASE/samples"
  send_file "$CASE/samples"
  wait_until '[ "$(data web | wc -l)" = 1001 ]'
  data web >"$CASE/expected"
  py <<'EOT'
import os
path = os.environ["STAT"] + "/web/data"
expected = open(os.environ["CASE"] + "/expected", "rb").read()
fds = [os.open(path, os.O_RDONLY) for i in range(2)]
with open(os.environ["STAT"] + "/web/definition", "w") as file: file.write("data=reset\n")
assert os.stat(path).st_size == 0
assert os.read(fds[0], 1 << 20) == expected
# (sendfile and splice do not get that far: the kernel stops them at the size that stat shows.)
assert os.pread(fds[1], 100, 5000) == expected[5000:5100]
EOT
}

a_handle_for_reading_and_writing_shows_the_text_of_its_open() {
  send 'web/a 1'
  py <<'EOT'
import os
fd = os.open(os.environ["STAT"] + "/web/definition", os.O_RDWR)
before = os.pread(fd, 4096, 0)
assert before.startswith(b"name=a on=1 ")
assert os.pwrite(fd, b"on=0\n", 0) == 5
assert os.pread(fd, 4096, 0) == before
assert open(os.environ["STAT"] + "/web/definition").read().startswith("name=a on=0 ")
EOT
}

a_shared_mmap_is_refused_and_a_private_one_works() {
  send 'create web/a on=1' 'web/a 0 42'
  py <<'EOT'
import errno, mmap, os
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
try:
    mmap.mmap(fd, 5, mmap.MAP_SHARED, mmap.PROT_READ)
    raise SystemExit("a shared mapping was given")
except OSError as error:
    assert error.errno == errno.ENODEV, error
assert mmap.mmap(fd, 5, mmap.MAP_PRIVATE, mmap.PROT_READ)[:5] == b"a 42\n"
EOT
}

seek_data_and_seek_hole_find_no_holes() {
  send 'create web/a on=1' 'web/a 1'
  py <<'EOT'
import errno, os
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
assert os.lseek(fd, 0, os.SEEK_DATA) == 0
assert os.lseek(fd, 2, os.SEEK_DATA) == 2
assert os.lseek(fd, 0, os.SEEK_HOLE) == 4
try:
    os.lseek(fd, 4, os.SEEK_DATA)
    raise SystemExit("there is data behind the end")
except OSError as error:
    assert error.errno == errno.ENXIO, error
EOT
}

is_always_readable_to_poll() {
  send 'web/a 1'
  py <<'EOT'
import os, select
fd = os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY)
poll = select.poll()
poll.register(fd, select.POLLIN)
assert poll.poll(0) == [(fd, select.POLLIN)]
os.read(fd, 100)
assert poll.poll(0) == [(fd, select.POLLIN)]
EOT
}

open_handles_of_a_uid_are_bounded() {
  send 'create web/a on=1' 'web/a 1'
  py <<'EOT'
import os, resource
from peer import own
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 70000), hard))
fds = []
try:
    while len(fds) < 66000: fds.append(os.open(os.environ["STAT"] + "/web/data", os.O_RDONLY))
    raise SystemExit("66000 handles are open")
except OSError as error:
    if error.errno == 24: raise SystemExit(0)  # of this process
    print(len(fds), error)
for fd in fds: os.close(fd)
assert open(os.environ["STAT"] + "/web/data").read() == "a 1\n"
assert own("opens_refused") == 1
EOT
}
