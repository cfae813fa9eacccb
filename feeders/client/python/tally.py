"""What a Python program uses to feed tallyfs: one file, standard library only, Python 3.9 or later.

A statistic is fed with samples, pairs (X, Y), and its feeder knows nothing of how they are shown:
whoever looks at statistics/INTERFACE/data decides that with a line written into
statistics/INTERFACE/definition.

    import tally

    web = tally.Interface("web")
    latency = web.statistic("latency_us", "microseconds/requests")
    latency.define_array(0, 1000000, 1, tally.STATISTIC_SCALE_LOG2)
    latency.start()
    ...
    latency.inc(1750)

The names of the C library (include/tally/statistic.h) are there too, for the same functions:
statistic_inc is Statistic.inc, and so on. What differs from C: a call that fails raises ValueError
(what was given is wrong) or OSError (with the errno that C would return), and calls that make
something return it.

No call needs a daemon. Without one, or with one that hangs, samples are held up to a bound and then
dropped and counted; when a daemon comes, comes again or is replaced, interfaces, statistics and
their definitions as first given are registered again. What is there already, because the daemon or
another feeder lived on, stays as its users have defined it.

Sending: samples carry the time of their call and are gathered, of all threads together, into
datagrams of up to 8 KiB. These leave when one is full, at the latest after delay_us, at
statistic_flush(), and at the end of the process: the return of main, sys.exit(), an exception, and
the end of a multiprocessing.Process. The end of a thread needs nothing, since what it added is not
its own. os._exit(), a deadly signal and kill -9 lose what was gathered since: at most delay_us of
samples, or one datagram. delay_us is kept by a thread that needs the GIL like all others: what
holds that for longer (a long call into C) holds up the samples of before, unless they fill a
datagram.

Threads: every call may be made by any number of threads at once. A sample is added to the others by
list.append, which the GIL makes atomic (or the list's own lock, without one), and no thread waits
for another to do so; one of them packs and sends.
Signals: samples may be added by a signal handler, and by __del__; all other calls raise
RuntimeError there if they interrupted this module itself.
Fork: a child has its parent's interfaces and statistics, and none of the samples that the parent
had gathered; it connects for itself, with its first call. For that call is_on() says yes, and the
first sample of any statistic starts the module's thread; it counts, as do others until the daemon
has been found, if the statistic is on as far as the parent knew. What is off stays off, and whoever
adds to it hears of a daemon that came since, and of being switched on, like everybody. One that ends with os._exit() calls statistic_flush() before.
"""
import array
import atexit
import collections
import ctypes
import errno
import fcntl
import functools
import mmap
import os
import re
import select
import socket
import struct
import sys
import threading
import time
import weakref
from time import monotonic_ns as _now
from typing import Callable, NamedTuple, Optional

__version__ = "0.1.0"

# ---- Bytes: core/wire/FORMAT.md ----------------------------------------------------------------

MAGIC = b"\xfeTLY"
VERSION = 1
SAMPLES, REQUEST, ANSWER, DROPPED, BLOB, TEMPLATE = 1, 2, 3, 4, 5, 6  # kinds of messages
USER_RECORDS = 11
LATENCIES = 8
WITH_Y, WITH_TIME = 1, 2  # flags of SAMPLES
WAS_THERE, WITH_TEXT = 1, 2  # flags of ANSWER
DATAGRAM_BYTES = 8192

_HEADER = struct.Struct("<4sHHQ")
_MESSAGE = struct.Struct("<HHI")
_ANSWER = struct.Struct("<IIQ")
_REASON = struct.Struct("<II")
_RECORD = struct.Struct("<QIiIHBB")
_LATENCY = struct.Struct("<qqII ii16s")


class Answer(NamedTuple):
    sequence: int
    error: int  # an errno; 0: done
    number: int
    flags: int = 0
    at: int = 0xFFFFFFFF
    reason: str = ""
    text: Optional[str] = None


def encode_header(epoch):
    return _HEADER.pack(MAGIC, VERSION, 0, epoch)


def encode_samples(number, xs, ys=None, times_ns=None):
    """Samples of one statistic. The columns are array("q") of one length; a Y above 2^63-1 stands
    in its as the negative number of the same bits."""
    columns = [column for column in (xs, ys, times_ns) if column is not None]
    records = array.array("q", bytes(8 * len(columns) * len(xs)))
    for place, column in enumerate(columns):
        records[place :: len(columns)] = column
    if sys.byteorder == "big":
        records.byteswap()
    flags = (WITH_Y if ys is not None else 0) | (WITH_TIME if times_ns is not None else 0)
    body = records.tobytes()
    return b"".join((_MESSAGE.pack(SAMPLES, flags, 8 + len(body)), struct.pack("<Q", number), body))


def encode_request(sequence, text):
    data = text.encode()
    padded = data + bytes(-len(data) % 8)
    head = _MESSAGE.pack(REQUEST, 0, 8 + len(padded))
    return head + struct.pack("<II", sequence, len(data)) + padded


def encode_dropped(count):
    return _MESSAGE.pack(DROPPED, 0, 8) + struct.pack("<Q", count)


def encode_blob(number, blob):
    """A blob of stats(3), for the object of that number."""
    padded = blob + bytes(-len(blob) % 8)
    return _MESSAGE.pack(BLOB, 0, 8 + len(padded)) + struct.pack("<Q", number) + padded


def encode_template(sequence, name, voi_names, blob):
    """A template of stats(3); voi_names by their ids, with "" for vacant slots."""
    texts = [name.encode(), blob, *(each.encode() for each in voi_names)]
    body = struct.pack("<II", sequence, len(voi_names))
    body += b"".join(struct.pack("<I", len(text)) + text for text in texts)
    body += bytes(-len(body) % 8)
    return _MESSAGE.pack(TEMPLATE, 0, len(body)) + body


def encode_user_record(number, time_ns, cpu, pid, fields, comm=b""):
    """A record of a user's event; fields from byte 8 of the record on, padded to 8."""
    head = _RECORD.pack(time_ns, cpu, pid, 0, len(fields), len(comm), 0)
    body = b"".join((struct.pack("<Q", number), head, fields, bytes(-len(fields) % 8), comm, bytes(-len(comm) % 8)))
    return _MESSAGE.pack(USER_RECORDS, 0, len(body)) + body


def encode_latencies(name, *latencies):
    """Of one directory of latency_hist, (ns, time_ns, cpu, pid, priority, comm) each; priority as
    the kernel has it."""
    name = name.encode()
    body = struct.pack("<II", 0, len(name)) + name + bytes(-len(name) % 8)
    for ns, time_ns, cpu, pid, priority, comm in latencies:
        body += _LATENCY.pack(ns, time_ns, cpu, 0, pid, priority, comm.encode()[:15])
    return _MESSAGE.pack(LATENCIES, 0, len(body)) + body


def decode_answers(datagram):
    """(epoch, answers). ValueError: it is no datagram of this version."""
    if len(datagram) < _HEADER.size or datagram[:4] != MAGIC:
        raise ValueError("no datagram of tallyfs")
    _, version, _, epoch = _HEADER.unpack_from(datagram)
    if version != VERSION:
        raise ValueError(f"a datagram of version {version}")
    answers, at = [], _HEADER.size
    while at + _MESSAGE.size <= len(datagram):
        kind, flags, length = _MESSAGE.unpack_from(datagram, at)
        at += _MESSAGE.size
        if length % 8 or at + length > len(datagram):
            break
        if kind == ANSWER and length >= _ANSWER.size:
            answers.append(_decode_answer(datagram[at : at + length], flags))
        at += length
    return epoch, answers


def _decode_answer(body, flags):
    answer = Answer(*_ANSWER.unpack_from(body), flags)
    if not answer.error and flags & WITH_TEXT and len(body) >= _ANSWER.size + 4:
        (length,) = struct.unpack_from("<I", body, _ANSWER.size)
        start = _ANSWER.size + 4
        return answer._replace(text=body[start : start + length].decode("utf-8", "replace"))
    if not answer.error or len(body) < _ANSWER.size + _REASON.size:
        return answer
    at, length = _REASON.unpack_from(body, _ANSWER.size)
    start = _ANSWER.size + _REASON.size
    return answer._replace(at=at, reason=body[start : start + length].decode("utf-8", "replace"))


# ---- Definitions -------------------------------------------------------------------------------

STATISTIC_RANGE_MIN = -(1 << 63)
STATISTIC_RANGE_MAX = (1 << 63) - 1
STATISTIC_SCALE_LIN = "lin"
STATISTIC_SCALE_LOG2 = "log2"
STATISTIC_MODE_INCREMENTS = "increments"  # the sum of Y
STATISTIC_MODE_PRODUCTS = "products"  # the sum of X * Y
STATISTIC_MODE_RANGE = "range"  # number, smallest, average and largest X; for history only

# The bounds of core/definition/GRAMMAR.md.
_ENTRIES_MAX = 1048576
_INTERVALS_MAX = 65536
_PERIOD_MAX_US = 3153600000000000
_NAME_BYTES_MAX = 255


def _one_of(what, value, words):
    if value not in words:
        raise ValueError(f"{what} must be one of {', '.join(words)}, not {value!r}")
    return f" {what}={value}"


def _number(what, value, least, most):
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{what} must be a number from {least} to {most}, not {value!r}")
    return f" {what}={int(value)}"


def _range(least, most):
    text = _number("range_min", least, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX)
    text += _number("range_max", most, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX)
    if least > most:
        raise ValueError(f"range_min {least} is above range_max {most}")
    return text


def _check_name(what, name, forbidden="/="):
    if not isinstance(name, str) or not re.fullmatch(rf"[^\s\x00-\x1f\x7f-\x9f{forbidden}]+", name):
        raise ValueError(f"{what} must be printable, without white space and {forbidden}: {name!r}")
    if len(name.encode()) > _NAME_BYTES_MAX or name in (".", ".."):
        raise ValueError(f"{what} must not be longer than {_NAME_BYTES_MAX} bytes, . or ..: {name!r}")
    return name


# ---- Settings ----------------------------------------------------------------------------------


class Settings(NamedTuple):
    # The daemon's socket. None: $TALLY_SOCKET, else /run/tallyfs/socket for root and
    # $XDG_RUNTIME_DIR/tallyfs/socket for others.
    socket: Optional[str] = None
    # How long a sample may wait for others before it is sent; 0 sends each by itself, in the call
    # that adds it. At most 10,000,000.
    delay_us: int = 10_000
    # What happens when the daemon's queue and the room of held_max are both full: the call that adds
    # waits for room, at most so long (60,000 at most), then drops and counts; after waiting in vain
    # nobody waits again until the daemon has taken something. 0: it drops and counts at once. With
    # no daemon at all nobody waits.
    wait_ms: int = 0
    # Samples held for the process while they cannot be sent; 1,024 to 1,048,576, 32 bytes each.
    held_max: int = 65_536
    # Told, in plain words, that the daemon was found or lost or has refused something. Called by
    # this module's own thread.
    report: Optional[Callable[[str], object]] = None


def statistic_configure(**settings):
    """See Settings. To be called before the first interface is created, or not at all. ValueError:
    one is out of its range; OSError: EBUSY, too late; ENAMETOOLONG, the socket's path."""
    wanted = Settings(**settings)
    _number("delay_us", wanted.delay_us, 0, 10_000_000)
    _number("wait_ms", wanted.wait_ms, 0, 60_000)
    _number("held_max", wanted.held_max, 1024, 1048576)
    if wanted.socket is not None and len(os.fsencode(wanted.socket)) > 107:
        raise _error(errno.ENAMETOOLONG, f"the socket's path is too long: {wanted.socket}")
    _client.configure(wanted)


def find_socket_paths(given=None):
    """Where to look for the daemon, one after the other: given, else $TALLY_SOCKET, else that of the
    system's daemon; before it, for others than root, that of their own."""
    if given or os.environ.get("TALLY_SOCKET"):
        return [given or os.environ["TALLY_SOCKET"]]
    of_the_system = "/run/tallyfs/socket"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if os.geteuid() == 0 or not runtime:
        return [of_the_system]
    return [runtime + "/tallyfs/socket", of_the_system]


def _error(number, words):
    return OSError(number, f"{words} ({os.strerror(number)})")


# ---- Interfaces and statistics -----------------------------------------------------------------

# The interface and all in it go when this process ends, instead of staying to be looked at.
STATISTIC_LIFETIME_FEEDER = 1

_COUNT_MAX = 65_536  # interfaces of one process; and its statistics

# What the daemon knows of an interface or a statistic.
_UNKNOWN, _ASKED, _KNOWN, _REFUSED, _GONE = range(5)

# Switches of statistics whose own, in the daemon's page, is not known.
_ON, _OFF = b"\1", b"\0"
# In a forked child, of all statistics: the first sample of any wakes the module up.
_ASLEEP = memoryview(b"\1")

# A sample as it is gathered: X, Y, time, the statistic's id in this process.
_pack = struct.Struct("=qQqq").pack
_RECORD_BYTES = 32
_id_of = struct.Struct("=24xq").unpack
# What fits into a datagram if every Y is 1.
_FULL = (DATAGRAM_BYTES - _HEADER.size - _MESSAGE.size - 8) // 16
# Batches are taken in by pieces of this size.
_PIECE = 8 * _FULL

_gathered = []  # samples, packed; of all threads


class Interface:
    """A group of statistics, read at one moment: a directory under statistics/. The daemon hears of
    it within milliseconds; what it refuses then (a name that belongs to another user, a quota) is
    told by statistic_sync() and Settings.report, the samples are dropped and counted, and it is
    asked again every 10 s.

    name: 1 to 255 bytes of printable UTF-8 without white space, / and =. flags: 0 or
    STATISTIC_LIFETIME_FEEDER. ValueError: the name or a flag; OSError: EEXIST, this process has it
    already; ENOSPC, this process has 65,536; EAGAIN, no thread could be started.

    As a context manager it is released at the end."""

    def __init__(self, name, flags=0):
        if flags not in (0, STATISTIC_LIFETIME_FEEDER):
            raise ValueError(f"unknown flags: {flags!r}")
        self.name = _check_name("an interface's name", name)
        self._flags = flags
        self._standing = _UNKNOWN
        self._removed = False
        self._statistics = {}  # by name
        _client.add_interface(self)

    def statistic(self, name, units=None):
        """A new statistic, of type value and off until a define_ call, start() or its users say
        otherwise. units: what X and Y are, "microseconds/requests". Fails as interfaces do."""
        return Statistic(self, name, units)

    def remove(self):
        """Removes the interface and all statistics still in it, here and from the tree (by what
        this process sent before included)."""
        _client.drop_interface(self, in_tree=True)

    def release(self):
        """The same, here only: in the tree all stays to be looked at."""
        _client.drop_interface(self, in_tree=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __repr__(self):
        return f"<tally.Interface {self.name}>"

    def _path(self):
        return self.name

    def _create_text(self):
        return f"create {self.name}" + (" lifetime=feeder" if self._flags else "")


class Statistic:
    """One statistic of an interface, see Interface.statistic()."""

    __slots__ = ("_switch", "_id", "name", "interface", "_units", "_type", "_standing", "_number",
                 "_removed", "_has_begun", "_begin", "_on", "_early", "_late", "_changes_asked",
                 "_made_in", "_was_there", "_dropped", "__weakref__")  # fmt: skip

    def __init__(self, interface, name, units=None):
        self.name = _check_name("a statistic's name", name)
        self.interface = interface
        self._units = _check_name("units", units, "=") if units else ""
        self._type = ""  # as in a definition line, with its range
        self._switch = _OFF
        self._standing = _UNKNOWN
        self._number = 0
        self._removed = False
        # What the feeder said of on and off: at first, and last.
        self._has_begun = False
        self._begin = self._on = False
        # What is to be said to a daemon that knows it: before its samples are sent and if it is new
        # ("type", "on"), and after them ("on", "reset"). How many changes are not answered yet.
        self._early, self._late = {}, {}
        self._changes_asked = 0
        # The daemon that it was made in at our word; in any other its users had decided before.
        self._made_in = 0
        self._was_there = False
        self._dropped = 0
        _client.add_statistic(self)

    # What the daemon shows until somebody decides otherwise. These apply to a statistic that this
    # process brings into being, at once or, with a daemon that is started later, then; one that was
    # there before stays as its users have defined it. The last call stands. X from range_min to
    # range_max is of interest; what lies outside counts in hits_out_of_range only (array: also in
    # the first interval, or behind the last). ValueError: a number is out of its bounds.

    def define_value(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                     mode=STATISTIC_MODE_INCREMENTS):  # fmt: skip
        """A counter."""
        mode = _one_of("mode", mode, (STATISTIC_MODE_INCREMENTS, STATISTIC_MODE_PRODUCTS))
        self._define("type=value" + mode + _range(range_min, range_max))

    def define_range(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX):
        """Number, smallest, average and largest X."""
        self._define("type=range" + _range(range_min, range_max))

    def define_array(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                     base_interval=1, scale=STATISTIC_SCALE_LOG2):  # fmt: skip
        """A histogram of intervals from range_min to range_max, of base_interval each or doubling
        from there on; at most 65,536."""
        text = "type=array" + _number("base_interval", base_interval, 1, (1 << 64) - 1)
        text += _one_of("scale", scale, (STATISTIC_SCALE_LIN, STATISTIC_SCALE_LOG2))
        text += _range(range_min, range_max)
        inner = -((range_min - range_max) // base_interval)  # rounded up
        if scale == STATISTIC_SCALE_LIN and inner > _INTERVALS_MAX - 2:
            raise ValueError(f"more than {_INTERVALS_MAX} intervals")
        self._define(text)

    def define_list(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                    entries_max=256):  # fmt: skip
        """The sum of Y for each X, for the first entries_max different ones."""
        text = "type=list" + _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _range(range_min, range_max))

    def define_raw(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                   entries_max=256):  # fmt: skip
        """The newest entries_max samples with their times."""
        text = "type=raw" + _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _range(range_min, range_max))

    def define_history(self, range_min=STATISTIC_RANGE_MIN, range_max=STATISTIC_RANGE_MAX,
                       entries_max=60, period_us=1_000_000,
                       mode=STATISTIC_MODE_INCREMENTS):  # fmt: skip
        """One entry for each period of period_us, the newest entries_max of them."""
        modes = (STATISTIC_MODE_INCREMENTS, STATISTIC_MODE_PRODUCTS, STATISTIC_MODE_RANGE)
        text = "type=history" + _one_of("mode", mode, modes)
        text += _number("period", period_us, 1, _PERIOD_MAX_US)
        text += _number("entries_max", entries_max, 1, _ENTRIES_MAX)
        self._define(text + _range(range_min, range_max))

    # The first of start(), stop() and reset() says how the statistic begins: it applies if the
    # statistic is new, and leaves alone one that was there before, whose users have decided. Later
    # ones are carried out, in their order with the samples that this thread adds. A daemon that is
    # started anew learns the last state.

    def start(self):
        _client.switch(self, True)

    def stop(self):
        _client.switch(self, False)

    def reset(self):
        """Discards what was gathered."""
        _client.reset(self)

    def is_on(self):
        """Whether samples are wanted: for whoever has to work for one before it can be added."""
        return self._switch[0] != 0

    # Samples. While the statistic is off they return at once and send nothing. X is a signed, Y an
    # unsigned 64-bit number; ValueError: it is not.

    def add(self, x, y=1):
        """Y times X, now."""
        if self._switch[0]:
            try:
                _gathered.append(_pack(x, y, _now(), self._id))
            except struct.error:
                raise _no_sample(x, y) from None
            if len(_gathered) >= _client.stop:
                _client.relieve()

    def inc(self, x):
        """Once X, now."""
        # add(x) would be the same, and half as fast again.
        if self._switch[0]:
            try:
                _gathered.append(_pack(x, 1, _now(), self._id))
            except struct.error:
                raise _no_sample(x) from None
            if len(_gathered) >= _client.stop:
                _client.relieve()

    def add_at(self, x, y, time_ns):
        """As it was at a time of time.monotonic_ns(); a time that is still to come counts as the
        time at which the daemon takes the sample in."""
        if self._switch[0]:
            try:
                _gathered.append(_pack(x, y, time_ns, self._id))
            except struct.error:
                raise _no_sample(x, y, time_ns) from None
            if len(_gathered) >= _client.stop:
                _client.relieve()

    def add_batch(self, xs, ys=None, times_ns=None):
        """Many at once, with one look at the clock. xs: numbers; ys, times_ns: as many, or one for
        all. None is a Y of 1, and now; a time of 0 is now. Fastest are array("q") and what else
        gives a buffer of 64-bit numbers (of unsigned ones for ys), numpy's arrays for one."""
        _client.wake_up_in_child()
        if not self._switch[0]:
            return
        columns = _columns(xs, ys, times_ns)
        for at in range(0, len(columns[0]), _PIECE):
            piece = [column[at : at + _PIECE] for column in columns]
            _client.take_batch(_records(*piece, self._id))

    def dropped(self):
        """How many of its samples are among those that were dropped."""
        return self._dropped

    def remove(self):
        """Here and from the tree. What was added before is sent before."""
        _client.drop_statistic(self, in_tree=True)

    def release(self):
        """Here only: in the tree it stays to be looked at. What was added before is sent."""
        _client.drop_statistic(self, in_tree=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __repr__(self):
        return f"<tally.Statistic {self._path()}>"

    def _define(self, text):
        _client.define(self, text)

    def _path(self):
        return f"{self.interface.name}/{self.name}"

    def _create_text(self):
        # A change that is still to be passed on comes after samples that were added before it.
        on = self._begin if "on" in self._late else self._on
        words = ["create", self._path(), self._type, on and "on=1"]
        return " ".join(filter(None, words + [self._units and f"units={self._units}"]))

    def _change_text(self, changes):
        words = ["define", self.interface.name, f"name={self.name}", changes.get("type")]
        words.append("reset" in changes and "data=reset")
        words.append("on" in changes and f"on={changes['on']:d}")
        return " ".join(filter(None, words))


_FIELD_TYPES = {
    "s64": "q", "u64": "Q", "s32": "i", "u32": "I", "s16": "h", "u16": "H", "s8": "b", "u8": "B", "char": "b",
    "int": "i", "long": "q", "bool": "?", "pid_t": "i", "gfp_t": "I", "unsigned char": "B", "unsigned int": "I",
    "unsigned long": "Q",
}  # fmt: skip
_FIELD = re.compile(r"\s*((?:unsigned\s+)?\w+)\s*(\[\d*\])?\s+([A-Za-z_]\w*)\s*(\[\d*\])?\s*")
_TEXT_MAX = 1024


def _parse_fields(fields):
    """[(name, struct code of a number, or bytes of a char[N], or 0 of a char[])]"""
    parsed = []
    for text in fields.strip().rstrip(";").split(";"):
        field = _FIELD.fullmatch(text)
        kind = field and " ".join(field[1].split())
        brackets = field and (field[2] or field[4])
        if kind not in _FIELD_TYPES or (field[2] and field[4]) or (brackets and kind != "char"):
            raise ValueError(f"not a field of an event: {text!r}")
        if not brackets:
            parsed.append((field[3], _FIELD_TYPES[kind]))
        else:
            size = int(brackets[1:-1] or 0)
            if brackets != "[]" and not 1 <= size <= 256:
                raise ValueError(f"not a field of an event: {text!r}")
            parsed.append((field[3], size))
    if len(parsed) > 64:
        raise ValueError("more than 64 fields")
    return parsed


class Event:
    """An event of this program: tracing/events/SYSTEM/NAME, see include/tally/event.h.

        done = tally.Event("web", "done", "u64 lat; pid_t pid; char comm[16]")
        if done.enabled():
            done.write(1750, os.getpid(), "worker")

    fields: `TYPE NAME`, separated by semicolons, as in synthetic_events. ValueError: a name or fields;
    OSError: EEXIST, this process has it already; EAGAIN, no thread could be started. What the daemon
    refuses is told as of statistics. Not for signal handlers."""

    def __init__(self, system, name, fields):
        self.system = _check_name("a system's name", system)
        self.name = _check_name("an event's name", name)
        self._fields = fields
        self._parsed = _parse_fields(fields)
        self._switch = _OFF
        self._standing = _UNKNOWN
        self._number = 0
        self._removed = False
        _client.add_event(self)

    def enabled(self):
        """Whether somebody wants its records."""
        return self._switch[0] != 0

    def write(self, *values):
        """A record, now: the values of all fields, in their order; texts as str or bytes, cut to
        what there is room for. It is sent at once. What finds no room is dropped and counted, and
        what is written before the daemon has heard of the event is lost; in a forked child, before it
        has heard of the child's. Not among what statistic_count() counts. ValueError: other values."""
        _client.wake_up_in_child()
        if self._switch[0]:
            _client.write_event(self, self._pack(values))

    def release(self):
        """Ends it. In the tree it goes with the process."""
        _client.drop_event(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __repr__(self):
        return f"<tally.Event {self._path()}>"

    def _path(self):
        return f"{self.system}/{self.name}"

    def _create_text(self):
        return f"event define {self._path()} lifetime=feeder {self._fields}"

    def _pack(self, values):
        if len(values) != len(self._parsed):
            raise ValueError(f"{self!r} has {len(self._parsed)} fields, not {len(values)}")
        fixed, texts = bytearray(), bytearray()
        start = sum(8 if not size or isinstance(size, str) else -(-size // 8) * 8 for _, size in self._parsed)
        for (name, size), value in zip(self._parsed, values):
            if isinstance(size, str):
                try:
                    fixed += struct.pack("<" + size, value)
                except struct.error as error:
                    raise ValueError(f"{name} of {self!r}: {error}") from None
            else:
                text = value.encode() if isinstance(value, str) else bytes(value)
                if size:
                    fixed += text[:size].ljust(size, b"\0")
                else:
                    text = text[:_TEXT_MAX] + b"\0"
                    fixed += struct.pack("<HH", 8 + start + len(texts), len(text))
                    texts += text + bytes(-len(text) % 8)
            fixed += bytes(-len(fixed) % 8)
        return bytes(fixed + texts)


def _no_sample(*values):
    return ValueError(f"X must be a signed and Y an unsigned 64-bit number, not {values!r}")


def _columns(xs, ys, times_ns):
    """X, Y and times as three array("q") of one length."""
    try:
        columns = [_column(xs, "q")]
        count = len(columns[0])
        columns.append(_column_or_one(1 if ys is None else ys, "Q", count))
        columns.append(_times(0 if times_ns is None else times_ns, count))
    except (OverflowError, TypeError) as error:
        raise ValueError(f"X are signed and Y unsigned 64-bit numbers: {error}") from None
    if any(len(column) != count for column in columns):
        raise ValueError("there must be as many Y and times as X")
    return columns


def _times(times_ns, count):
    now = _now()
    if isinstance(times_ns, int):
        return _column_or_one(times_ns or now, "q", count)
    times = _column(times_ns, "q")
    return array.array("q", [time_ns or now for time_ns in times]) if 0 in times else times


def _column_or_one(values, code, count):
    return _column([values], code) * count if isinstance(values, int) else _column(values, code)


def _column(values, code):
    if _is_buffer_of(values, "ql" if code == "q" else "QL"):
        column = array.array(code)
        column.frombytes(memoryview(values).cast("B"))
    else:
        # From bytes, an array would take their bits.
        column = array.array(code, values if isinstance(values, (list, tuple)) else iter(values))
    return column if code == "q" else array.array("q", column.tobytes())


def _is_buffer_of(values, codes):
    try:
        view = memoryview(values)
    except TypeError:
        return False
    return view.c_contiguous and view.itemsize == 8 and view.format in codes


# ---- Latencies ---------------------------------------------------------------------------------

_INT32_MAX = (1 << 31) - 1


def latency_record(type, cpu, ns, pid, prio, comm=None):
    """Records a latency of ns nanoseconds, which ended now, of a task that ran on this CPU, in
    tracing/latency_hist/TYPE, a directory that comes into being. It is sent at once.

    prio: as max_latency shows it: 1 to 99 for real-time tasks, -21 for usual ones. comm: the task's
    name; 15 bytes of it are kept. ValueError: what was given is wrong; OSError: EAGAIN, the daemon's
    queue is full; ENOTCONN, there is no daemon: the latency is dropped then, and counted in
    statistics/tallyfs as `dropped` and in the summary of its directory as `lost` when the next one
    goes there, at statistic_flush() or when the process ends. What the daemon refuses, a name of the kernel's
    own, a CPU that there is not or another uid's directory, is in its tracing/error_log."""
    _number("cpu", cpu, 0, _INT32_MAX)
    _number("ns", ns, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX)
    _number("pid", pid, 0, _INT32_MAX)
    _number("prio", prio, -99, 99)
    _send_latency(type, cpu, ns, _now(), pid, prio, comm or "")


def latency_begin():
    """When a section began, for latency_end()."""
    return _now()


def latency_end(type, mark):
    """Records what has passed since the mark, of the calling thread, on the CPU on which it is now.
    As latency_record()."""
    now = _now()
    with open("/proc/thread-self/stat", "rb") as file:
        pid, _, rest = file.read().partition(b" (")
    comm, _, fields = rest.rpartition(b") ")
    numbers = fields.split()
    # The kernel's priority, 100 less; the last CPU. Counted in proc(5) from 3 here.
    prio, cpu = -1 - int(numbers[18 - 3]), int(numbers[39 - 3])
    _send_latency(type, cpu, now - mark, now, int(pid), prio, comm.decode("utf-8", "replace"))


def _send_latency(type, cpu, ns, now, pid, prio, comm):
    _check_name("a latency's type", type)
    _client.send_latency(type, encode_latencies(type, (ns, now, cpu, pid, 99 - prio, comm)))


# ---- The socket --------------------------------------------------------------------------------

_DONE, _QUEUE_FULL, _DAEMON_GONE = range(3)
_SEND_BUFFER_BYTES = 4 << 20
_ANSWER_BYTES_MAX = 16 * 1024
# Of asm-generic/socket.h; the module socket has no names for them.
_SO_SNDBUFFORCE, _SO_COOKIE = 32, 57
_LATENCY_TYPES = 64


class _Link:
    """Our end: connected to the daemon's, and bound to an address that the kernel chose, so that
    answers find it. Nobody but the peer of a connected socket can send to it. Never blocks, but for
    wait()."""

    def __init__(self):
        self.socket = None
        self.full = False  # the last send() found no room

    def connect(self, path):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            made.bind("")
            made.connect(path)
            _enlarge_send_buffer(made)
            self._cookie = made.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8)
        except OSError:
            made.close()
            raise
        self.socket, self.full = made, False

    def close(self):
        if self._is_ours():
            self.socket.close()
        elif self.socket:
            self.socket.detach()
        self.socket, self.full = None, False

    # A program that closes descriptors which it did not open, as daemons do at their start, takes
    # ours away, and its number may be another file's by now.
    def _is_ours(self):
        try:
            cookie = self.socket and self.socket.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8)
        except OSError:
            return False
        return bool(cookie) and cookie == self._cookie

    def send(self, datagram):
        if not self._is_ours():
            self.close()
            return _DAEMON_GONE
        try:
            self.socket.send(datagram, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ENOBUFS, errno.ENOMEM):
                self.full = True
                return _QUEUE_FULL
            self.close()
            return _DAEMON_GONE
        self.full = False
        return _DONE

    def receive(self):
        """The next datagram that is there, and the descriptor attached to it or -1; or None."""
        if not self._is_ours():
            return None
        # recv_fds() of Python 3.9 forgets the flags.
        flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        try:
            data, parts, _, _ = self.socket.recvmsg(_ANSWER_BYTES_MAX, socket.CMSG_LEN(4), flags)
        except OSError:
            return None
        attached = [int.from_bytes(rights, sys.byteorder) for level, kind, rights in parts
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)]  # fmt: skip
        return data, attached[0] if attached else -1

    def wait(self, events, seconds):
        """Until there is an answer (POLLIN) or room (POLLOUT). Takes no lock, so the socket may go
        meanwhile: seconds is short."""
        poll = select.poll()
        try:
            poll.register(self.socket, events)
        except (TypeError, ValueError):
            return time.sleep(seconds)
        poll.poll(seconds * 1000)


def _enlarge_send_buffer(made):
    for option in (_SO_SNDBUFFORCE, socket.SO_SNDBUF):
        try:
            return made.setsockopt(socket.SOL_SOCKET, option, _SEND_BUFFER_BYTES)
        except OSError:
            pass  # without privileges: what net.core.wmem_max allows


def map_switches(descriptor, size):
    """The daemon's page of switches as u32, read-only. ValueError: it might shrink under us, or is
    shorter than it should be."""
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except OSError:
        seals = 0
    if not seals & fcntl.F_SEAL_SHRINK or not 0 < size <= os.fstat(descriptor).st_size:
        raise ValueError("what the daemon sent is no sealed page of switches")
    # The module mmap keeps a descriptor open and closes it by its number at the end, when that may
    # be a file of a program that closed what it did not know.
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise ValueError("cannot map the switches")
    page = (ctypes.c_uint32 * (size // 4)).from_address(address)
    weakref.finalize(page, libc.munmap, address, size).atexit = False
    return memoryview(page).cast("B").cast("I")


# ---- The process's feeder ----------------------------------------------------------------------

_CONNECT_PAUSE_NS, _CONNECT_PAUSE_MAX_NS = 50_000_000, 2_000_000_000
# While samples come, or did so lately, the keeper looks at least so often; and how long it lasts.
_TICK_NS, _ACTIVE_NS = 5_000_000, 100_000_000
# Without any progress, as when the daemon hangs.
_SLOW_TICK_NS = 50_000_000
# An idle feeder asks for an answer now and then: only that tells whether the daemon lives.
_IDLE_NS = 1_000_000_000
# How long a new interface or statistic waits for its definition before the daemon hears of it.
_REGISTER_AFTER_NS = 10_000_000
_REFUSED_PAUSE_NS = 10_000_000_000
# Requests on their way, whose answers must find room in our queue, which may be short.
_ASKED_MAX = 400
_REMOVALS_MAX = 1024
_REPORTS_MAX = 64
# How long flush() and the end of the process wait to tell how many latencies were dropped.
_LATENCIES_NS = 100_000_000

# How long the end of the process waits for a daemon that is there but does not take anything.
_FINISH_NS = 250_000_000

_MAY_WAIT = object()


class Counts(NamedTuple):
    """Since the start of the process, or since the fork of the child. Every sample that was added
    while its statistic was on is in exactly one: added == held + sent + dropped, and sent ==
    confirmed + lost + those on the way."""

    added: int
    held: int  # in memory of this process
    sent: int  # handed to the kernel
    confirmed: int  # the daemon has taken them in
    lost: int  # were on the way when the daemon went, or named a statistic that was gone
    dropped: int  # there was no room, or the daemon refused their statistic


# Why something was not done alone: another thread is at it, or we are, and were interrupted by a
# signal handler or a __del__ that calls us again.
_OTHERS, _OURSELVES = object(), object()


def _alone(method):
    """For methods that no two threads may be in."""

    @functools.wraps(method)
    def call(self, *args, **named):
        done = self.alone(self.patience, functools.partial(method, self, *args, **named))
        if done is _OTHERS:
            raise RuntimeError("the interpreter ends, and ended a thread that was at it")
        if done is _OURSELVES:
            raise RuntimeError(f"{method.__name__}() was called while it interrupts tally itself")
        return done

    return call


def _own_name():
    try:
        with open("/proc/thread-self/comm", "rb") as file:
            return file.readline().rstrip(b"\n")[:15]
    except OSError:
        return b""


@functools.lru_cache(maxsize=1)
def _libc():
    return ctypes.CDLL(None)


def _own_cpu():
    try:
        return max(_libc().sched_getcpu(), 0)
    except AttributeError:
        return 0


class _Client:
    """Samples go from _gathered to records to the socket; interfaces and statistics are registered
    by requests. A thread of its own, the keeper, does what nobody else comes by to do: it sends what
    has waited long enough, finds the daemon, registers.

    Everything is guarded by lock, but for _gathered and for reading stop and the switches. Whoever
    holds it waits for nothing and nobody. Methods without @_alone are called by those with it."""

    def __init__(self):
        self.settings = Settings()
        self.link = _Link()
        self.interfaces = {}  # by name
        self.statistics = {}  # by id; of samples that are still held, also those that were dropped
        self.next_id = 1
        self.named = 0  # statistics that have not been dropped
        self.leaving = set()  # ids that go when no samples are held
        self.events = {}  # by system and name
        self.asleep = False  # a forked child that has not done anything yet
        self.parents_switches = {}  # by statistic, while asleep
        self.next_sequence = 0
        self._begin()

    # What a process starts with, and a forked child.
    def _begin(self):
        _gathered.clear()
        self.lock = threading.RLock()
        self.inside = False
        self.patience = -1  # for the lock, in seconds; -1: as long as it takes
        self.records = bytearray()  # samples that cannot be sent yet, the oldest first
        # Of so many in _gathered somebody has to take care: stop at the moment, alert as a rule.
        self.stop = self.alert = 1
        self.fitting = _FULL  # of so many samples the last datagrams were
        self.sent = self.confirmed = self.lost = self.dropped = 0
        # That the daemon has not been told of, by directory; those that fall together count as one.
        self.latencies_dropped = [(0, "")] * _LATENCY_TYPES  # and whose the last was
        self.reported_dropped = 0
        self.asked = {}  # by sequence number, in their order: what takes the answer, of what
        self.consumed = 0  # samples that have left the front of records, sent or not
        self.waited_in_vain = False
        self.link.close()
        self.connected = self.was_connected = False
        self.told_missing = False
        self.connect_at, self.connect_pause = 0, _CONNECT_PAUSE_NS
        self.pinged_at = self.active_until = self.register_at = self.send_at = 0
        self.reports = collections.deque(maxlen=_REPORTS_MAX)
        self.removals = collections.deque(maxlen=_REMOVALS_MAX)  # paths
        self.keeper = None
        self.ending = False
        self.bell = threading.Lock()  # held but for the moment in which it rings
        self.bell.acquire()
        self._forget_daemon()

    def after_fork_in_child(self):
        # One that has not woken up may fork, too.
        switches = {each: each._switch for each in self.statistics.values()}
        switches.update(self.parents_switches)
        self._begin()
        for statistic in switches:
            statistic._dropped = 0
            if statistic._id not in self.leaving:
                statistic._switch = _ASLEEP
        self.parents_switches = switches
        self.asleep = True

    def wake_up_in_child(self):
        if self.asleep:
            self.alone(self.patience, lambda: None)

    # Of what was gathered in the meantime some may not have been wanted.
    def _wake_up(self):
        self.asleep = False
        off = set()
        for statistic, switch in self.parents_switches.items():
            if statistic._switch is _ASLEEP:
                statistic._switch = switch
                if not switch[0]:
                    off.add(statistic._id)
        self.parents_switches = {}
        count = len(_gathered)
        _gathered[:count] = [each for each in _gathered[:count] if _id_of(each)[0] not in off]
        self._wake(_now())

    def alone(self, timeout, do):
        lock = self.lock  # a handler that interrupts us may fork, and give the child another one
        if not lock.acquire(timeout=timeout):
            return _OTHERS
        try:
            if self.inside:
                return _OURSELVES
            self.inside = True
            try:
                if self.asleep:
                    self._wake_up()
                return do()
            finally:
                self.stop = self.alert
                self.inside = False
        finally:
            lock.release()

    @_alone
    def configure(self, settings):
        if self.keeper or self.interfaces or self.connected:
            raise _error(errno.EBUSY, "an interface has been created already, or a latency sent")
        self.settings = settings

    # ---- what there is

    @_alone
    def add_interface(self, interface):
        _check_new(interface.name in self.interfaces, len(self.interfaces))
        if not self._start_keeper():
            raise _error(errno.EAGAIN, "no thread could be started")
        self.interfaces[interface.name] = interface
        self._register_soon(interface)

    @_alone
    def add_statistic(self, statistic):
        interface = statistic.interface
        if self.interfaces.get(interface.name) is not interface:
            raise ValueError(f"{interface!r} was removed or released")
        _check_new(statistic.name in interface._statistics, self.named)
        self.named += 1
        interface._statistics[statistic.name] = statistic
        self._give_id(statistic)
        self._register_soon(statistic)
        if interface._standing == _GONE:
            self._make_unknown(interface)
        if interface in self.refused:
            self._refuse(statistic, self.refused[interface])

    @_alone
    def add_event(self, event):
        _check_new((event.system, event.name) in self.events, len(self.events))
        if not self._start_keeper():
            raise _error(errno.EAGAIN, "no thread could be started")
        self.events[event.system, event.name] = event
        self._register_soon(event)

    @_alone
    def drop_event(self, event):
        if self.events.get((event.system, event.name)) is event:
            del self.events[event.system, event.name]
            event._switch = _OFF
            self._drop(event, True)

    # Records leave in their order, each in a datagram of its own.
    @_alone
    def write_event(self, event, fields):
        if not self.connected or event._standing != _KNOWN:
            return
        comm = _own_name() if event._switch[0] & 2 else b""
        record = encode_user_record(
            event._number, _now(), _own_cpu(), threading.get_native_id(), fields, comm
        )
        self.dropped += self.link.send(encode_header(self.epoch) + record) != _DONE

    def _give_id(self, statistic):
        statistic._id = self.next_id
        self.statistics[self.next_id] = statistic
        self.next_id += 1

    def _register_soon(self, subject):
        now = _now()
        self.todo[subject] = None
        if self.register_at <= now:
            self.register_at = now + _REGISTER_AFTER_NS
        self._wake(now)

    @_alone
    def drop_interface(self, interface, in_tree):
        if self.interfaces.get(interface.name) is not interface:
            return
        for statistic in list(interface._statistics.values()):
            self._drop_statistic(statistic, in_tree)
        del self.interfaces[interface.name]
        self._drop(interface, in_tree)
        self._remove_in_tree(interface, in_tree)

    @_alone
    def drop_statistic(self, statistic, in_tree):
        if statistic.interface._statistics.get(statistic.name) is not statistic:
            return
        self._drop_statistic(statistic, in_tree)
        self._remove_in_tree(statistic, in_tree)

    # Samples that cannot be sent yet hold on to one that was released.
    def _drop_statistic(self, statistic, in_tree):
        self._drain_all()
        statistic._switch = _OFF
        del statistic.interface._statistics[statistic.name]
        self.named -= 1
        self.leaving.add(statistic._id)
        self._drop(statistic, in_tree)

    def _drop(self, subject, in_tree):
        subject._removed = in_tree
        self.refused.pop(subject, None)
        self.refused_changes.pop(subject, None)
        if in_tree:
            self.todo.pop(subject, None)

    def _remove_in_tree(self, subject, in_tree):
        # While a daemon is away nothing is kept: the next may have it from others.
        if in_tree and (self.connected or not self.was_connected):
            self.removals.append(subject._path())
        self._let_go()
        self._wake(_now())

    def _let_go(self):
        if self.records or _gathered:
            return
        for each in list(self.leaving):
            statistic = self.statistics[each]
            is_awaited = not self._is_void(each) and statistic._standing in (_UNKNOWN, _ASKED)
            if not is_awaited or self.told_missing:
                del self.statistics[each]
                self.leaving.remove(each)

    @_alone
    def define(self, statistic, text):
        statistic._type = text
        if statistic._standing == _ASKED or (
            statistic._standing == _KNOWN and not statistic._was_there
        ):
            statistic._early["type"] = text
            self._pass_on(statistic)

    @_alone
    def switch(self, statistic, on):
        if statistic._id in self.leaving:
            return
        begins, statistic._has_begun = not statistic._has_begun, True
        statistic._on = on
        if not begins:
            statistic._late["on"] = on
        else:
            statistic._begin = on
            if statistic._standing == _KNOWN and statistic._was_there:
                return
            if statistic._standing in (_ASKED, _KNOWN):
                statistic._early["on"] = on
        # Samples that follow count, or do not, before the daemon has heard of it.
        statistic._switch = _ON if on else _OFF
        self._pass_on(statistic)

    @_alone
    def reset(self, statistic):
        if statistic._id in self.leaving:
            return
        begins, statistic._has_begun = not statistic._has_begun, True
        if begins and statistic._standing == _KNOWN and statistic._was_there:
            return
        if statistic._standing != _KNOWN:
            # What was gathered is still here.
            self.leaving.add(statistic._id)
            self._give_id(statistic)
        if not begins or statistic._standing == _KNOWN:
            statistic._late["reset"] = True
            self._pass_on(statistic)

    def _pass_on(self, statistic):
        if statistic._standing != _KNOWN:
            return
        self._drain_all()
        self.todo[statistic] = None
        if self.connected:
            self._register()
        self._wake(_now())

    # ---- samples

    def held(self):
        return len(_gathered) + len(self.records) // _RECORD_BYTES

    # With what may still be gathered, the bound is held_max.
    def _room(self):
        return self.settings.held_max - _FULL - len(self.records) // _RECORD_BYTES

    def relieve(self):
        """To be called when so many have been gathered as stop says: sends, or makes room. Waits
        for another thread only where each sample is sent in its call, or there is no room."""
        deadline = None
        while True:
            has_room = self.held() < self.settings.held_max
            waits = self.alert == 1 or not has_room
            done = self.alone(self.patience if waits else 0, self._make_room)
            if done is _OURSELVES:
                self._ring()
                if not has_room:
                    self._drop_records(_gathered.pop())
            if done is _OTHERS:
                self._leave_to_others()
            if done is not _MAY_WAIT:
                return
            deadline = self._wait_for_room(deadline)

    # Whoever has the lock may be waiting 5 ms for the GIL: not every sample until then is to try in
    # vain. The keeper sets alert before stop when it goes to sleep, so that this does not undo it.
    def _leave_to_others(self):
        self.stop = len(_gathered) + _FULL
        if self.alert == 1:
            self.stop = 1

    def take_batch(self, records):
        deadline = None
        while records:
            done = self.alone(self.patience, lambda: self._take_some(records))
            if done is _OTHERS:
                return
            if done is _OURSELVES:
                _gathered.extend(each for each, in struct.iter_unpack(f"{_RECORD_BYTES}s", records))
                return self._ring()
            taken, may_wait = done
            records = records[taken:]
            if may_wait:
                deadline = self._wait_for_room(deadline)

    def _wait_for_room(self, deadline):
        now = _now()
        deadline = deadline or now + self.settings.wait_ms * 1_000_000
        if now >= deadline:
            self.waited_in_vain = True
        else:
            self.link.wait(select.POLLOUT, (deadline - now) / 1e9)
        return deadline

    def _make_room(self):
        self._move_on()
        if len(_gathered) < self.alert or self._room():
            return None
        if self._may_wait():
            return _MAY_WAIT
        dropped = _gathered[:]
        del _gathered[: len(dropped)]
        return self._drop_records(b"".join(dropped))

    # How many bytes were taken, and whether the caller may wait for room before the next.
    def _take_some(self, records):
        self._take_in()
        taken = 0 if _gathered else min(self._room() * _RECORD_BYTES, len(records))
        self.records += records[:taken]
        self._move_on()
        if taken == len(records) or self._room():
            return taken, False
        if self._may_wait():
            return taken, True
        self._drop_records(records[taken:])
        return len(records), False

    # Towards the daemon, by full datagrams, unless samples are sent one by one.
    def _move_on(self):
        if self.alert == 1:
            self._wake(_now())
        self._take_in()
        if self.connected and (not self.link.full or self._may_wait()):
            self._drain(self.alert)

    def _may_wait(self):
        return self.settings.wait_ms and self.link.full and not self.waited_in_vain

    def _take_in(self):
        count = min(len(_gathered), self._room())
        self.records += b"".join(_gathered[:count])
        del _gathered[:count]  # others add behind these only

    def _drop_records(self, records):
        self.dropped += len(records) // _RECORD_BYTES
        for each, (xs, _, _) in _by_statistic(records).items():
            self._note_dropped(each, len(xs))

    def _note_dropped(self, each, count):
        if each in self.statistics:
            self.statistics[each]._dropped += count

    def _drain_all(self):
        self._take_in()
        if self.connected:
            self._drain(1)

    def _drain(self, at_least):
        while len(self.records) >= at_least * _RECORD_BYTES and self._send_oldest():
            pass

    # One datagram of the oldest samples. False: nothing can be done now.
    def _send_oldest(self):
        count = min(len(self.records) // _RECORD_BYTES, self.fitting)
        while count:
            groups = _by_statistic(self.records[: count * _RECORD_BYTES])
            if any([self._awaits(each) for each in groups]):
                count = self._count_before_awaited(count)
                continue
            datagram, sent = self._encode(groups)
            if len(datagram) <= DATAGRAM_BYTES:
                break
            count = self.fitting = count * DATAGRAM_BYTES // len(datagram)
        if count == 0 or (sent and self.link.send(datagram) != _DONE):
            return False
        if count == self.fitting:
            self.fitting = min(_FULL, count * DATAGRAM_BYTES // len(datagram))
        self._note_sent(groups, count, sent)
        return True

    def _note_sent(self, groups, count, sent):
        del self.records[: count * _RECORD_BYTES]
        self.consumed += count
        self.sent += sent
        if sent:
            self.waited_in_vain = False
            # What is left is newer than this.
            now = _now()
            self.send_at = now + self._half_delay_ns()
            self.active_until = now + _ACTIVE_NS
        if sent != count:
            self.dropped += count - sent
            for each, (xs, _, _) in groups.items():
                if self._is_void(each):
                    self._note_dropped(each, len(xs))

    # Its samples are to be dropped.
    def _is_void(self, each):
        statistic = self.statistics.get(each)
        if statistic is None or statistic._removed or statistic._id != each:
            return True
        return statistic._standing == _REFUSED

    # The daemon has not said its number yet, or not heard how it is to begin.
    def _awaits(self, each):
        if self._is_void(each):
            return False
        statistic = self.statistics[each]
        if statistic._standing == _GONE:
            self._make_unknown(statistic.interface)
            self._make_unknown(statistic)
        return not statistic._number or bool(statistic._early)

    def _count_before_awaited(self, count):
        ids = _numbers(self.records[: count * _RECORD_BYTES])[3::4]
        return next(place for place, each in enumerate(ids) if self._awaits(each))

    def _encode(self, groups):
        messages, count = [encode_header(self.epoch)], 0
        for each, (xs, ys, times_ns) in groups.items():
            if not self._is_void(each):
                number = self.statistics[each]._number
                only_ones = ys == _ONES[: len(ys)]
                messages.append(encode_samples(number, xs, None if only_ones else ys, times_ns))
                count += len(xs)
        return b"".join(messages), count

    # ---- the daemon

    def _reach_daemon(self, now):
        if self.connected or now < self.connect_at:
            return
        try:
            path = self._connect(find_socket_paths(self.settings.socket))
        except OSError as error:
            if not self.told_missing:
                self._report(f"no daemon yet: {error}")
            self.told_missing = True
            self.connect_at = now + self.connect_pause
            self.connect_pause = min(2 * self.connect_pause, _CONNECT_PAUSE_MAX_NS)
            return
        self._report(f"sending to {path}")
        self.connected, self.told_missing = True, False
        self.was_connected = True
        self.connect_pause = _CONNECT_PAUSE_NS
        self.pinged_at = now
        self._forget_daemon()
        self.asked.clear()

    def _connect(self, paths):
        for path in paths:
            try:
                self.link.connect(path)
                return path
            except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
                if path is paths[-1]:
                    raise

    def _lose_daemon(self, now):
        self._report("the daemon is gone")
        self.lost = self.sent - self.confirmed
        self.connected = self.waited_in_vain = False
        self.told_missing = True
        self.removals.clear()
        self.connect_at = now + _CONNECT_PAUSE_NS

    # Another one knows nothing of ours, or has it from elsewhere.
    def _forget_daemon(self):
        self.epoch = 0
        self.page, self.page_asked = None, False
        self.stale = False  # since the last ping was answered
        self.ping_is_out = False
        self.refused = {}
        self.refused_changes = {}  # the last of each statistic
        living = [
            each for key, each in self.statistics.items() if each._id == key and not each._removed
        ]
        interfaces = list(self.interfaces.values()) + [each.interface for each in living]
        # What is to be asked for, or passed on.
        self.todo = dict.fromkeys(interfaces + living)
        self.todo.update(dict.fromkeys(self.events.values()))
        for subject in self.todo:
            subject._standing = _UNKNOWN
        for event in self.events.values():
            event._switch = _OFF
        for statistic in living:
            statistic._number = statistic._changes_asked = 0
            statistic._early.clear()
            # Whoever had it on in the daemon before may have it on in the next one: its answer will
            # tell.
            if statistic._id not in self.leaving:
                statistic._switch = _ON if statistic.is_on() or statistic._on else _OFF

    def _make_unknown(self, subject):
        if subject._standing in (_GONE, _KNOWN):
            subject._standing = _UNKNOWN
            self.todo[subject] = None

    def _register(self):
        if self.refused and _now() >= self.refused_until:
            for subject in self.refused:
                subject._standing = _UNKNOWN
                self.todo[subject] = None
            self.refused = {}
        if len(self.asked) < _ASKED_MAX:
            for _, answered, subject in self._ask(self._unasked()):
                self._note_asked(answered, subject)

    # What there is to ask for: (text, what takes the answer, of what).
    def _unasked(self):
        if not self.page_asked:
            yield "switches", self._take_page, None
        for path in self.removals:
            yield f"remove {path}", self._take_removed, path
        for subject in self.todo:
            if isinstance(subject, Interface):
                yield subject._create_text(), self._take_interface, subject
            elif isinstance(subject, Event):
                yield subject._create_text(), self._take_event, subject
            elif subject._standing == _KNOWN:
                if subject._early or not self.records:
                    changes = subject._early if self.records else {**subject._early, **subject._late}
                    yield subject._change_text(changes), self._take_changed, subject
            elif subject.interface._standing == _KNOWN:
                yield subject._create_text(), self._take_statistic, subject

    def _note_asked(self, answered, subject):
        if answered == self._take_page:
            self.page_asked = True
        elif answered == self._take_removed:
            self.removals.popleft()
        elif answered == self._take_changed:
            subject._early.clear()
            if not self.records:
                subject._late.clear()
            if not subject._late:
                del self.todo[subject]
            subject._changes_asked += 1
        else:
            del self.todo[subject]
            subject._standing = _ASKED

    # One datagram of as many requests as it holds; returns those that were sent.
    def _ask(self, requests):
        asked, messages, size = [], [encode_header(self.epoch)], _HEADER.size
        first = self.next_sequence
        for request in requests:
            message = encode_request((first + len(asked)) % 0xFFFFFFFF + 1, request[0])
            if size + len(message) > DATAGRAM_BYTES:
                break
            size += len(message)
            messages.append(message)
            asked.append(request)
        if not asked or self.link.send(b"".join(messages)) != _DONE:
            return []
        for _, answered, subject in asked:
            self.next_sequence = self.next_sequence % 0xFFFFFFFF + 1
            self.asked[self.next_sequence] = answered, subject
        return asked

    def _is_settled(self):
        return not self.todo and not self.removals and len(self.asked) == self.ping_is_out

    # ---- answers; None instead of one: it was lost

    def _take_answers(self, now):
        while self.asked or self._is_under_way():
            received = self.link.receive()
            if received is None:
                return
            self.active_until = now + _ACTIVE_NS
            datagram, self.attached = received
            try:
                epoch, answers = decode_answers(datagram)
                if epoch != self.epoch:
                    self._change_epoch(epoch)
                for answer in answers:
                    self._take(answer)
            except ValueError as error:
                self._report(str(error))
            finally:
                if self.attached >= 0:
                    os.close(self.attached)

    # On one connection only a daemon that took over the socket has another. What it finds there it
    # answers.
    def _change_epoch(self, epoch):
        if self.epoch:
            self.lost = self.sent - self.confirmed
            self._forget_daemon()
        self.epoch = epoch

    # Requests are answered in order, so that an answer says which ones before it were lost.
    def _take(self, answer):
        if answer.sequence == 0:
            self._take_stale()
        while answer.sequence in self.asked:
            sequence = next(iter(self.asked))
            answered, subject = self.asked.pop(sequence)
            answered(subject, answer if sequence == answer.sequence else None)

    def _take_page(self, _, answer):
        if answer is None:
            self.page_asked = False
        elif not answer.error and self.attached >= 0:
            try:
                self.page = map_switches(self.attached, answer.number)
            except (OSError, ValueError) as error:
                self._report(str(error))
            for statistic in self.statistics.values():
                self._point_at_switch(statistic)
            for event in self.events.values():
                self._point_at_event_switch(event)
        # Without one everything is sent, and the daemon sees what is on.

    def _take_removed(self, path, answer):
        # What is gone already was to be removed.
        if answer and answer.error not in (0, errno.ENOENT):
            self._report(f"the daemon refused to remove {path}: {_words(answer)}")

    def _take_interface(self, interface, answer):
        if answer is None:
            self._ask_again(interface)
        elif answer.error:
            self._refuse(interface, answer)
            for statistic in [each for each in self.todo if isinstance(each, Statistic)]:
                if statistic.interface is interface:
                    self._refuse(statistic, answer)
        elif interface._standing == _ASKED:
            interface._standing = _KNOWN

    def _take_event(self, event, answer):
        if answer is None:
            self._ask_again(event)
        elif answer.error:
            self._refuse(event, answer)
        elif not event._removed:
            event._standing, event._number = _KNOWN, answer.number
            self._point_at_event_switch(event)

    def _point_at_event_switch(self, event):
        if event._standing == _KNOWN:
            event._switch = self._switch_of(event._number)

    def _take_statistic(self, statistic, answer):
        if answer is None:
            return self._ask_again(statistic)
        if answer.error:
            return self._refuse(statistic, answer)
        if not answer.flags & WAS_THERE:
            statistic._made_in = self.epoch
        statistic._was_there = statistic._made_in != self.epoch
        if statistic._was_there:
            statistic._early.clear()
        else:
            statistic._late.pop("reset", None)  # there was nothing yet
        statistic._standing = _KNOWN
        statistic._number = answer.number
        self.todo.pop(statistic, None)
        if not statistic._removed and (statistic._early or statistic._late):
            self.todo[statistic] = None
        self._point_at_switch(statistic)

    def _take_changed(self, statistic, answer):
        self.refused_changes.pop(statistic, None)
        if answer and answer.error:
            self.refused_changes[statistic] = answer
            self._report(f"the daemon refused to change {statistic._path()}: {_words(answer)}")
        statistic._changes_asked = max(statistic._changes_asked - 1, 0)
        self._point_at_switch(statistic)

    def _ask_again(self, subject):
        if subject._standing == _ASKED and not subject._removed:
            subject._standing = _UNKNOWN
            self.todo[subject] = None

    def _refuse(self, subject, answer):
        if not self.refused:
            self.refused_until = _now() + _REFUSED_PAUSE_NS
        subject._standing = _REFUSED
        self.todo.pop(subject, None)
        if not subject._removed:
            self.refused[subject] = answer
        self._report(f"the daemon refused {subject._path()}: {_words(answer)}")

    def _point_at_switch(self, statistic):
        if statistic._standing != _KNOWN or statistic._id in self.leaving or statistic._removed:
            return
        if statistic._early or statistic._late or statistic._changes_asked:
            return  # it is as the feeder wants it
        statistic._switch = self._switch_of(statistic._number)

    def _switch_of(self, number):
        place = 2 * (number & 0xFFFFFFFF)
        has_one = self.page is not None and place + 2 <= len(self.page)
        return self.page[place : place + 1] if has_one else _ON

    # A statistic is gone; the answer does not say which.
    def _take_stale(self):
        self.stale = True
        if self.page is not None:
            return self._look_for_void()
        for statistic in self.statistics.values():
            if statistic._standing == _KNOWN:
                self._make_unknown(statistic.interface)
                self._make_unknown(statistic)

    # A statistic whose number is void is gone, and its interface may be. It is asked for again when
    # there are samples for it.
    def _look_for_void(self):
        if self.page is None:
            return
        for statistic in self.statistics.values():
            place = 2 * (statistic._number & 0xFFFFFFFF) + 1
            if statistic._standing != _KNOWN or place >= len(self.page):
                continue
            if self.page[place] != statistic._number >> 32:
                statistic._standing, statistic._number = _GONE, 0
                if statistic._id not in self.leaving:
                    statistic._switch = _ON
                if statistic.interface._standing == _KNOWN:
                    statistic.interface._standing = _GONE
        # An event that a user has removed comes back: the program says that it has it.
        for event in self.events.values():
            place = 2 * (event._number & 0xFFFFFFFF) + 1
            if event._standing == _KNOWN and place < len(self.page):
                if self.page[place] != event._number >> 32:
                    event._switch = _OFF
                    self._make_unknown(event)

    # One at a time, unless it takes long.
    def _ping(self, now):
        if self.ping_is_out and now - self.pinged_at < _IDLE_NS:
            return
        self.pinged_at = now
        if self._ask([("", self._take_pong, self.sent)]):
            self.ping_is_out = True

    def _take_pong(self, sent_before, answer):
        self.ping_is_out = False
        if answer:
            known = max(sent_before - self.confirmed - self.lost, 0)
            if self.stale:
                self.lost += known
            else:
                self.confirmed += known
            self.stale = False

    # ---- latencies

    # At once, for nothing else may come that would take it along.
    @_alone
    def send_latency(self, type, message):
        place = hash(type) % _LATENCY_TYPES
        count = self.latencies_dropped[place][0]
        message = encode_header(self.epoch) + (encode_dropped(count) if count else b"") + message
        sent = self._send_if_there(message)
        if sent == _DONE:
            self.latencies_dropped[place] = (0, "")
            return
        self.latencies_dropped[place] = (count + 1, type)
        if sent == _QUEUE_FULL:
            raise _error(errno.EAGAIN, "the daemon's queue is full")
        raise _error(errno.ENOTCONN, "there is no daemon")

    # What the last of a burst has dropped, at flush() and at the end.
    def tell_dropped_latencies(self):
        deadline = _now() + _LATENCIES_NS
        self.connect_at = 0  # there may be no later time
        while self._tell_dropped_latencies() == _QUEUE_FULL and _now() < deadline:
            time.sleep(0.001)

    @_alone
    def _tell_dropped_latencies(self):
        for place, (count, type) in enumerate(self.latencies_dropped):
            if not count:
                continue
            message = encode_header(self.epoch) + encode_dropped(count) + encode_latencies(type)
            sent = self._send_if_there(message)
            if sent != _DONE:
                return sent
            self.latencies_dropped[place] = (0, "")
        return _DONE

    # A daemon that has been replaced is noticed by the first datagram that it does not get.
    def _send_if_there(self, message):
        for _ in range(2):
            now = _now()
            self._reach_daemon(now)
            if not self.connected:
                break
            sent = self.link.send(message)
            if sent != _DAEMON_GONE:
                return sent
            self._lose_daemon(now)
            self.connect_at = now
        return _DAEMON_GONE

    # ---- rounds

    def _round(self, now, urgent=False):
        self._reach_daemon(now)
        if self.connected:
            # Sending comes first: any other call to the kernel may lose us the GIL for 5 ms.
            if urgent or now >= self.send_at:
                self.send_at = now + self._half_delay_ns()
                self._drain_all()
            self._take_answers(now)
            if urgent:
                self._drain_all()  # what has just got its number
            if urgent or now >= self.register_at:
                self._register()
            self._keep_in_touch(now, urgent)
            self._let_go()
        if self.connected and not self.link.socket:
            self._lose_daemon(now)

    def _keep_in_touch(self, now, urgent):
        count = self.dropped - self.reported_dropped
        if count and self.link.send(encode_header(self.epoch) + encode_dropped(count)) == _DONE:
            self.reported_dropped += count
        is_idle = now - self.pinged_at >= _IDLE_NS
        is_due = urgent or now - self.pinged_at >= _SLOW_TICK_NS
        if is_idle or (is_due and self._is_under_way()):
            self._ping(now)
        if is_idle:
            self._look_for_void()

    def _is_under_way(self):
        return self.sent != self.confirmed + self.lost

    # A thread that waits for the GIL gets it after 5 ms, the other half.
    def _half_delay_ns(self):
        return self.settings.delay_us * 500

    # ---- the keeper

    def _start_keeper(self):
        if self.ending:
            return False
        if self.keeper is None:
            keeper = threading.Thread(target=self._keep, name="tally", daemon=True)
            try:
                keeper.start()
            except RuntimeError:  # no thread can be started, or the interpreter is about to end
                return False
            self.keeper = keeper
            # A child of multiprocessing ends without atexit.
            if "multiprocessing.util" in sys.modules:
                sys.modules["multiprocessing.util"].Finalize(None, self.finish, exitpriority=0)
        return True

    def _wake(self, now):
        sends_each = self.settings.delay_us == 0 or not self._start_keeper()
        self.alert = 1 if sends_each else _FULL
        if now >= self.active_until:
            self.send_at = now + self._half_delay_ns()
        self.active_until = now + _ACTIVE_NS
        self._ring()

    def _ring(self):
        try:
            self.bell.release()
        except RuntimeError:
            pass  # it rings already

    def _keep(self):
        while not self.ending:
            if self.alone(self.patience, self._keep_up) is _OTHERS:
                return
            self._tell_reports()
            if self.link.full:
                self.link.wait(select.POLLIN | select.POLLOUT, self.pause)
                time.sleep(0.001)
            else:
                self.bell.acquire(timeout=self.pause)
        self._tell_reports()

    def _keep_up(self):
        now = _now()
        self._round(now)
        self.pause = max(self._pause_ns(now), 500_000) / 1e9

    def _pause_ns(self, now):
        if not self.connected:
            return self.connect_at - now
        if self.link.full:
            return _IDLE_NS
        if now < self.active_until:
            return min(self.send_at - now, _TICK_NS) if self.held() else _TICK_NS
        if not self._is_settled() or self._is_under_way():
            return _SLOW_TICK_NS
        self.alert = 1
        self.stop = 1  # from now on whoever adds a sample wakes us
        if not self.held():
            return _IDLE_NS
        self.alert = _FULL
        return max(min(self.send_at - now, _SLOW_TICK_NS), 0)

    def _report(self, text):
        self.reports.append(text)
        self._ring()

    def _tell_reports(self):
        while self.reports:
            text = self.reports.popleft()
            if self.settings.report:
                try:
                    self.settings.report(text)
                except Exception:  # the keeper goes on, whatever the program's function does
                    sys.excepthook(*sys.exc_info())

    # ---- waiting for the daemon

    # Does the keeper's rounds until check() is true.
    def _wait_until(self, deadline, check):
        self.connect_at = 0
        while True:
            if self._is_reached(check):
                return
            now = _now()
            if now >= deadline:
                if self.connected:
                    raise _error(errno.ETIMEDOUT, "the daemon has not taken everything in in time")
                where = " or ".join(find_socket_paths(self.settings.socket))
                raise _error(errno.ENOTCONN, f"there is no daemon at {where}")
            self.connect_pause = _CONNECT_PAUSE_NS
            self.link.wait(select.POLLIN, min(deadline - now, _TICK_NS) / 1e9)

    @_alone
    def _is_reached(self, check):
        self._round(_now(), urgent=True)
        return check()

    def flush(self):
        self.tell_dropped_latencies()
        deadline = _now() + self.settings.wait_ms * 1_000_000
        try:
            self._wait_until(deadline, lambda: not self.held())
        except TimeoutError:
            words = "the daemon's queue is full, or it has not answered a registration yet"
            raise _error(errno.EAGAIN, words) from None

    def sync(self, timeout_ms):
        deadline = _now() + timeout_ms * 1_000_000
        until = self._added()
        sent = None

        def is_taken_in():
            nonlocal sent
            if not self.connected or not self._is_settled():
                return False
            if sent is None and (self.consumed >= until or not self.held()):
                sent = self.sent
            if sent is None or self.confirmed + self.lost < sent:
                return False
            for subject, answer in {**self.refused, **self.refused_changes}.items():
                raise _error(answer.error, f"{subject!r}: {answer.reason}")
            return True

        self._wait_until(deadline, is_taken_in)

    @_alone
    def _added(self):
        return self.consumed + self.held()

    @_alone
    def count(self):
        held = self.held()
        added = held + self.sent + self.dropped
        return Counts(added, held, self.sent, self.confirmed, self.lost, self.dropped)

    def finish(self):
        if any(count for count, _ in self.latencies_dropped):
            try:
                self.tell_dropped_latencies()
            except (OSError, RuntimeError):
                pass  # it is lost with us
        if not self.keeper or self.ending:
            return

        def is_done():
            return not self.connected or (not self.held() and self._is_settled())

        try:
            self._wait_until(_now() + _FINISH_NS, is_done)
        except OSError:
            pass  # what is held is lost with us
        # Whatever comes later, from __del__ for one, is sent in its call. Threads that are still
        # there may be ended anywhere, with the lock.
        self.ending, self.patience = True, 0.1
        self._ring()
        self.keeper.join(1)
        self.stop = self.alert = 1


def _check_new(exists, count):
    if exists:
        raise _error(errno.EEXIST, "this process has one of that name already")
    if count >= _COUNT_MAX:
        raise _error(errno.ENOSPC, f"one feeder cannot have more than {_COUNT_MAX}")


def _words(answer):
    return f"{answer.reason} ({os.strerror(answer.error)})"


# ---- Samples as they are held ------------------------------------------------------------------

_ONES = array.array("q", [1]) * _FULL
_unpack = struct.Struct("=24sq").iter_unpack


def _records(xs, ys, times_ns, each):
    records = array.array("q", bytes(_RECORD_BYTES * len(xs)))
    ids = array.array("q", [each]) * len(xs)
    for place, column in enumerate((xs, ys, times_ns, ids)):
        records[place::4] = column
    return records.tobytes()


def _numbers(records):
    numbers = array.array("q")
    numbers.frombytes(records)
    return numbers


def _by_statistic(records):
    """X, Y and time of the samples of each statistic, by its id."""
    numbers = _numbers(records)
    ids = numbers[3::4]
    if ids == ids[:1] * len(ids):
        return {ids[0]: (numbers[0::4], numbers[1::4], numbers[2::4])}
    groups = collections.defaultdict(list)
    for values, each in _unpack(records):
        groups[each].append(values)
    columns = {}
    for each, values in groups.items():
        numbers = _numbers(b"".join(values))
        columns[each] = numbers[0::3], numbers[1::3], numbers[2::3]
    return columns


# ---- The C library's names ---------------------------------------------------------------------

_client = _Client()
atexit.register(_client.finish)
os.register_at_fork(after_in_child=_client.after_fork_in_child)

statistic_create_interface = Interface
statistic_interface_remove = Interface.remove
statistic_interface_release = Interface.release
statistic_create = Interface.statistic
statistic_remove = Statistic.remove
statistic_release = Statistic.release
statistic_define_value = Statistic.define_value
statistic_define_range = Statistic.define_range
statistic_define_array = Statistic.define_array
statistic_define_list = Statistic.define_list
statistic_define_raw = Statistic.define_raw
statistic_define_history = Statistic.define_history
statistic_start = Statistic.start
statistic_stop = Statistic.stop
statistic_reset = Statistic.reset
statistic_is_on = Statistic.is_on
statistic_add = Statistic.add
statistic_inc = Statistic.inc
statistic_add_at = Statistic.add_at
statistic_add_batch = Statistic.add_batch
statistic_dropped = Statistic.dropped
statistic_counts = Counts


def statistic_flush():
    """Sends what has been gathered. OSError: EAGAIN, the daemon's queue is full, or it has not
    answered a registration yet; ENOTCONN, there is no daemon; what could not be sent is still held,
    and sent later. Waits no longer than wait_ms."""
    _client.flush()


def statistic_sync(timeout_ms):
    """Registers and sends all, and waits until the daemon has taken everything in, so that whoever
    reads then sees it. OSError: ETIMEDOUT, not within timeout_ms (60,000 at most); ENOTCONN, there
    is no daemon; else what the daemon answered to the first statistic or interface that it refuses:
    EPERM, it is another user's; ENOSPC, a quota; EINVAL, a definition."""
    _number("timeout_ms", timeout_ms, 0, 60_000)
    _client.sync(timeout_ms)


def statistic_count():
    return _client.count()


def tally_version():
    return __version__
