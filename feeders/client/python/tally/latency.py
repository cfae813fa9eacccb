"""Latencies that a program measures, in tracing/latency_hist. They need no registration: each is
sent at once, by the call that records it. Guarded by the exclusion."""
import errno
import time
from time import monotonic_ns as _now

from .checks import INT32_MAX, check_name, check_number, os_error
from .definition import STATISTIC_RANGE_MAX, STATISTIC_RANGE_MIN
from .exclusion import exclusive
from .feeder import feeder
from .link import QUEUE_FULL, SENT
from .task import own_task
from .requester import Requester
from .wire import encode_dropped, encode_header, encode_latencies

# How long flush() and the end of the process wait to tell how many latencies were dropped.
_FLUSH_NS = 100_000_000
_TYPES = 64
_PRIORITY_OF_0 = 99  # the kernel's priority that max_latency shows as 0


def latency_record(type, cpu, ns, pid, prio, comm=None):
    """Records a latency of ns nanoseconds, which ended now, of a task that ran on this CPU, in the
    directory tracing/latency_hist/TYPE, which is made if need be. It is sent at once.

    type: a name as an interface's. cpu, pid: 0 to 2^31-1. ns: a signed 64-bit number. prio: as
    max_latency shows it, -99 to 99: 1 to 99 for real-time tasks, -21 for usual ones. comm: the
    task's name; 15 bytes of it are kept. ValueError: an argument. OSError: EAGAIN, the daemon's
    queue is full; ENOTCONN, there is no daemon. Then the latency is dropped, and counted as
    `dropped` in statistics/tallyfs. In the summary of its directory it is counted as `lost` when
    the next one is sent there, at statistic_flush(), or when the process ends.

    The daemon may refuse it: the name is the kernel's own, there is no such CPU, or the directory
    is another uid's. That stands in its tracing/error_log. RuntimeError: the call interrupts tally
    itself."""
    check_number("cpu", cpu, 0, INT32_MAX)
    check_number("ns", ns, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX)
    check_number("pid", pid, 0, INT32_MAX)
    check_number("prio", prio, -99, 99)
    _send(type, (ns, _now(), cpu, pid, _PRIORITY_OF_0 - prio, comm or ""))


def latency_begin():
    """The time at which a section begins, for latency_end()."""
    return _now()


def latency_end(type, mark):
    """Records the time since mark, for the calling thread, on the CPU on which it runs. Fails as
    latency_record() does."""
    now = _now()
    task = own_task()
    _send(type, (now - mark, now, task.cpu, task.pid, task.priority, task.comm))


def _send(type, latency):
    check_name("a latency's type", type)
    _latencies.send(type, encode_latencies(type, latency))


class _Latencies(Requester):
    def __init__(self):
        self._exclusion = feeder.exclusion
        self.inherit()

    def inherit(self):
        # Dropped latencies of which the daemon has not been told: (count, type of the last), by a
        # hash of the type; types that share a hash are counted as one.
        self._dropped = [(0, "")] * _TYPES

    @exclusive
    def send(self, type, message):
        place = hash(type) % _TYPES
        count = self._dropped[place][0]
        header = encode_header(feeder.conversation.epoch)
        told = encode_dropped(count) if count else b""
        sent = feeder.rounds.send_at_once(header + told + message)
        if sent == SENT:
            self._dropped[place] = (0, "")
            return
        self._dropped[place] = (count + 1, type)
        if sent == QUEUE_FULL:
            raise os_error(errno.EAGAIN, "the daemon's queue is full")
        raise os_error(errno.ENOTCONN, "there is no daemon")

    def flush(self):
        if not any(count for count, _ in self._dropped):
            return
        deadline = _now() + _FLUSH_NS
        feeder.connection.attempt_soon()  # there may be no later time
        while self._send_dropped() == QUEUE_FULL and _now() < deadline:
            time.sleep(0.001)

    @exclusive
    def _send_dropped(self):
        for place, (count, type) in enumerate(self._dropped):
            if not count:
                continue
            header = encode_header(feeder.conversation.epoch)
            message = header + encode_dropped(count) + encode_latencies(type)
            sent = feeder.rounds.send_at_once(message)
            if sent != SENT:
                return sent
            self._dropped[place] = (0, "")
        return SENT


_latencies = feeder.join(_Latencies())
