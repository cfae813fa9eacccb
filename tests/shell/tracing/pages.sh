# Records as pages of the kernel's ring buffer: trace_pipe_raw, snapshot_raw, read and spliced.
T=$MNT/tracing

pages_of_records_are_read_once_by_read_and_splice() {
  need_python
  py "$T" <<'EOT'
import os, select, sys, threading
from peer import PATIENCE
top = sys.argv[1]
name = top + "/per_cpu/cpu0/trace_pipe_raw"
def mark(text):
    with open(top + "/trace_marker", "w") as marker: marker.write(text)
def refused(call, *arguments):
    try: call(*arguments)
    except BlockingIOError: return True
    return False
pages = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
assert os.stat(name).st_size == 2 ** 62
poll = select.poll()
poll.register(pages, select.POLLIN)
assert poll.poll(0) == [] and refused(os.read, pages, 4096)
mark("one")
assert poll.poll(20_000 * PATIENCE)
page = os.read(pages, 65536)
assert len(page) == 4096 and b"one\n\0" in page, page
assert int.from_bytes(page[8:16], sys.byteorder) == 4 + 16 + 8, page[:64]
assert refused(os.read, pages, 4096)
mark("two")
page = os.read(pages, 100)
assert len(page) == 100
page += os.read(pages, 65536)
assert len(page) == 4096 and b"two\n\0" in page, page
mark("three")
read_end, write_end = os.pipe()
assert os.splice(pages, write_end, 65536) == 4096
assert b"three\n\0" in os.read(read_end, 65536)
assert refused(os.splice, pages, write_end, 65536)
# Without O_NONBLOCK a read waits, and a splice does not.
waiting = os.open(name, os.O_RDONLY)
assert refused(os.splice, waiting, write_end, 65536)
thread = threading.Thread(target=lambda: mark("four"))
thread.start()
assert b"four\n\0" in os.read(waiting, 4096)
thread.join()
EOT
  assert_eq '' "$(grep -v '^#' "$T/trace" || true)" "what was read is not in trace"
  assert_has 'read events: 4' "$(cat "$T/per_cpu/cpu0/stats")"
}

splice_gives_the_pages_that_are_there_and_each_record_once() {
  need_python
  py "$T" <<'EOT'
import os, select, sys
from peer import PATIENCE
top = sys.argv[1]
marker = os.open(top + "/trace_marker", os.O_WRONLY)
pages = os.open(top + "/per_cpu/cpu0/trace_pipe_raw", os.O_RDONLY)
read_end, write_end = os.pipe()
poll = select.poll()
poll.register(pages, select.POLLIN)
def spliced():
    try: size = os.splice(pages, write_end, 65536)
    except BlockingIOError: return b""
    assert size % 4096 == 0, size
    return os.read(read_end, size)
for count in 1, 3, 40, 200:
    for i in range(count): os.write(marker, b"%03d" % i + 900 * b"x")
    taken = b""
    while taken.count(900 * b"x" + b"\n\0") < count:
        assert poll.poll(20_000 * PATIENCE)
        taken += spliced()
    for i in range(count): assert taken.count(b"%03d" % i + 900 * b"x") == 1, i
    assert spliced() == b"" and poll.poll(0) == []
EOT
}

a_snapshot_is_read_as_pages_too() {
  echo kept >"$T/trace_marker"
  echo 1 >"$T/snapshot"
  echo new >"$T/trace_marker"
  assert_eq 1 "$(head -c 4096 "$T/per_cpu/cpu0/snapshot_raw" | grep -ac kept)"
  assert_eq 1 "$(head -c 4096 "$T/per_cpu/cpu0/trace_pipe_raw" | grep -ac new)"
}

# A poll finds nothing until the buffer is as full as buffer_percent says; a read takes what is
# there.
a_poll_waits_until_the_buffer_is_filled() {
  need_python
  echo 100 >"$T/buffer_size_kb"
  py "$T" <<'EOT'
import os, select, sys
top = sys.argv[1]
def fill(percent):
    with open(top + "/buffer_percent", "w") as file: file.write(f"{percent}\n")
def mark(times):
    for _ in range(times):
        with open(top + "/trace_marker", "w") as marker: marker.write("x" * 1000)
names = ("per_cpu/cpu0/trace_pipe_raw", "per_cpu/cpu0/trace_pipe", "trace_pipe")
files = [os.open(f"{top}/{name}", os.O_RDONLY | os.O_NONBLOCK) for name in names]
def ready():
    return [bool(select.select([file], [], [], 0)[0]) for file in files]
mark(3)
assert ready() == [True] * 3
fill(50)
assert ready() == [False] * 3
assert len(os.read(files[0], 65536)) == 4096
cpus = len([name for name in os.listdir(top + "/per_cpu")])
mark(cpus * 45)
assert ready() == [False] * 3
mark(cpus * 10)
assert ready() == [True] * 3
fill(100)
assert ready() == [False] * 3
mark(cpus * 100)
assert ready() == [True] * 3
EOT
  assert_fails_with 'Invalid argument' put 101 "$T/buffer_percent"
  assert_eq 100 "$(cat "$T/buffer_percent")"
}
