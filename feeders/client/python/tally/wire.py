"""The bytes of the socket: messages to the daemon and its answers, as core/wire/FORMAT.md has them.

Pure functions, for any thread. Numbers are little-endian, messages are padded to 8 bytes."""
import array
import struct
import sys
from typing import NamedTuple, Optional

MAGIC = b"\xfeTLY"
VERSION = 1
SAMPLES, REQUEST, ANSWER, DROPPED, BLOB, TEMPLATE = 1, 2, 3, 4, 5, 6  # kinds of messages
USER_RECORDS = 11
BINDING = 13
LATENCIES = 8
WITH_Y, WITH_TIME = 1, 2  # flags of SAMPLES
WAS_THERE, WITH_TEXT = 1, 2  # flags of ANSWER
DATAGRAM_BYTES = 8192  # the largest datagram that this package sends

_HEADER = struct.Struct("<4sHHQ")
_MESSAGE = struct.Struct("<HHI")
_ANSWER = struct.Struct("<IIQ")
_REASON = struct.Struct("<II")
_RECORD = struct.Struct("<QIiIHBB")
_LATENCY = struct.Struct("<qqII ii16s")
HEADER_BYTES = _HEADER.size
SAMPLES_BYTES = _MESSAGE.size + 8  # of a SAMPLES message without its records


class Answer(NamedTuple):
    """The daemon's response to the request of this sequence number (1 to 2^32-1; 0: no request, a
    number named nothing)."""

    sequence: int
    error: int  # an errno; 0: done
    number: int
    flags: int = 0  # WAS_THERE, WITH_TEXT
    at: int = 0xFFFFFFFF  # the byte of the request that is wrong; 0xFFFFFFFF: not said
    reason: str = ""
    text: Optional[str] = None


def encode_header(epoch):
    """The first 16 bytes of a datagram. epoch: of the daemon, 0 before its first answer."""
    return _HEADER.pack(MAGIC, VERSION, 0, epoch)


def encode_samples(number, xs, ys=None, times_ns=None):
    """Samples of the statistic of this number. xs, ys, times_ns: array("q") of one length; a Y
    above 2^63-1 is stored as the negative number of the same bits. ys None: each Y is 1; times_ns
    None: the time at which the daemon takes them in."""
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
    """A request: one command line, as str. sequence: 1 to 2^32-1, repeated by the answer."""
    data = text.encode()
    padded = data + bytes(-len(data) % 8)
    head = _MESSAGE.pack(REQUEST, 0, 8 + len(padded))
    return head + struct.pack("<II", sequence, len(data)) + padded


def encode_binding(sequence, each, lane, number):
    """A request: cells of this lane under the id `each` count for the statistic of this number."""
    return _MESSAGE.pack(BINDING, 0, 24) + struct.pack("<IIQQ", sequence, each, lane, number)


def encode_dropped(count):
    """Says that so many samples or latencies were dropped before they could be sent."""
    return _MESSAGE.pack(DROPPED, 0, 8) + struct.pack("<Q", count)


def encode_blob(number, blob):
    """A blob of stats(3), bytes, for the object of this number."""
    padded = blob + bytes(-len(blob) % 8)
    return _MESSAGE.pack(BLOB, 0, 8 + len(padded)) + struct.pack("<Q", number) + padded


def encode_template(sequence, name, voi_names, blob):
    """A template of stats(3). voi_names: the names by id, "" for a vacant slot."""
    texts = [name.encode(), blob, *(each.encode() for each in voi_names)]
    body = struct.pack("<II", sequence, len(voi_names))
    body += b"".join(struct.pack("<I", len(text)) + text for text in texts)
    body += bytes(-len(body) % 8)
    return _MESSAGE.pack(TEMPLATE, 0, len(body)) + body


def encode_user_record(number, time_ns, cpu, pid, fields, comm=b""):
    """A record of a program's event. time_ns: of time.monotonic_ns(). fields: bytes 8 and following
    of the record. comm: the task's name, 15 bytes at most, where the daemon asks for it."""
    head = _RECORD.pack(time_ns, cpu, pid, 0, len(fields), len(comm), 0)
    padded = (fields, bytes(-len(fields) % 8), comm, bytes(-len(comm) % 8))
    body = b"".join((struct.pack("<Q", number), head, *padded))
    return _MESSAGE.pack(USER_RECORDS, 0, len(body)) + body


def encode_latencies(name, *latencies):
    """Latencies of one directory of latency_hist: (ns, time_ns, cpu, pid, priority, comm) each.
    priority: the kernel's, 0 to 139; max_latency shows 99 - priority."""
    name = name.encode()
    body = struct.pack("<II", 0, len(name)) + name + bytes(-len(name) % 8)
    for ns, time_ns, cpu, pid, priority, comm in latencies:
        body += _LATENCY.pack(ns, time_ns, cpu, 0, pid, priority, comm.encode()[:15])
    return _MESSAGE.pack(LATENCIES, 0, len(body)) + body


def decode_answers(datagram):
    """(epoch, [Answer]). Messages of other kinds are passed over; a message that is cut ends the
    list. ValueError: the datagram is not of this version."""
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
