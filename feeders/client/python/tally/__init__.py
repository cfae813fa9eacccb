"""Feeds tallyfs from Python: the calls of libtally, as classes and functions.

    import tally

    web = tally.Interface("web")
    latency = web.statistic("latency_us", "microseconds/requests")
    latency.define_array(0, 1000000, 1, tally.STATISTIC_SCALE_LOG2)
    latency.start()
    ...
    latency.inc(1750)

A statistic is fed with samples, pairs (X, Y). The program does not decide how they are shown: users
do, with a line written into statistics/INTERFACE/definition; statistics/INTERFACE/data shows it.

Names: those of the C library (include/tally/statistic.h) are here too, for the same functions:
statistic_inc is Statistic.inc, and so on. Unlike in C, a call that fails raises ValueError (an
argument is wrong) or OSError (with the errno that C returns), and a call that makes something
returns it. Calls that add samples or write records raise nothing: values that cannot be taken are
counted, as statistic_count().invalid.

Daemon: no call needs one. Without a daemon, or with one that hangs, samples are held up to a bound;
more are dropped and counted. When a daemon comes, comes again or is replaced, interfaces,
statistics and their definitions as first given are registered again. A statistic that is there
already, because the daemon or another feeder lived on, stays as its users have defined it.

Samples: each thread puts them into memory that it shares with the daemon (docs/lane.md), which
kill -9 does not lose. Until it is there they are gathered and sent, after delay_us at the latest,
at statistic_flush(), and at the end of the process: the return of main, sys.exit(), an exception,
and the end of a multiprocessing.Process. os._exit(), a deadly signal and kill -9 lose the samples
that are held: at most delay_us of samples, or one datagram a thread.

Threads: any number of threads may make every call at once. statistic_sync() and statistic_flush()
let other threads run while they wait; with Settings.wait_ms calls that add samples do so, too. The
library's own thread does not need the GIL.

Signals: a signal handler and __del__ may make every call. Ctrl-C ends a statistic_sync() within a
second.

Fork: a child has its parent's interfaces and statistics, and none of the samples that the parent
holds. It connects by itself, with its first call. Until that call is_on() is true. A child that
ends with os._exit() calls statistic_flush() before.
"""

import atexit
import os
import sys
from typing import Callable, NamedTuple, Optional

from . import _tally
from ._tally import (
    Event, Interface, Statistic, View, labelled, latency_begin, latency_end, latency_record,
    statistic_flush, statistic_sync, tally_version,
)  # fmt: skip

STATISTIC_LIFETIME_FEEDER = 1  # the interface goes when this process ends
STATISTIC_FEED_OWNER = 4  # a new interface refuses samples of other users
STATISTIC_RANGE_MIN = -(1 << 63)
STATISTIC_RANGE_MAX = (1 << 63) - 1
STATISTIC_SCALE_LIN = "lin"
STATISTIC_SCALE_LOG2 = "log2"
STATISTIC_MODE_INCREMENTS = "increments"  # the sum of Y
STATISTIC_MODE_PRODUCTS = "products"  # the sum of X * Y
STATISTIC_MODE_RANGE = "range"  # number, smallest, average and largest X; for history only
STATISTIC_MODE_QUANTILES = "quantiles"  # that, and percentiles: define_quantile_history()


class Settings(NamedTuple):
    """The arguments of statistic_configure()."""

    # The daemon's socket; a path of at most 107 bytes. None: $TALLY_SOCKET, else
    # /run/tallyfs/socket for root and $XDG_RUNTIME_DIR/tallyfs/socket for others.
    socket: Optional[str] = None
    # How long a sample may wait for others before it is sent, 0 to 10,000,000. 0: each sample is
    # sent by itself, in the call that adds it.
    delay_us: int = 10_000
    # 0 to 60,000. When there is no room, the call that adds a sample waits at most so long for it;
    # then it drops the sample and counts it. After one wait in vain no call waits until the daemon
    # has taken something. 0: a sample without room is dropped and counted at once. Without a
    # daemon no call waits. A call costs more if this is not 0: it lets other threads run.
    wait_ms: int = 0
    # Samples held for each thread while they cannot be sent; 1,024 to 1,048,576, rounded up to a
    # power of two, 32 bytes each.
    held_max: int = 65_536
    # Called with a line of text when the daemon was found or lost, or has refused something, when
    # samples are or may be lost, and for the first invalid sample of a statistic. A thread of this
    # package's own calls it. Its exceptions go to sys.unraisablehook.
    report: Optional[Callable[[str], object]] = None
    # True: all samples are sent, and none is counted in memory shared with the daemon.
    no_lane: bool = False


class Counts(NamedTuple):
    """Samples since the start of the process, or since the fork of the child. Each sample that was
    added while its statistic was on is counted once: added == held + sent + dropped, and
    sent == confirmed + lost + those on the way. Those that are invalid were not added. Records of
    events count as samples."""

    added: int
    held: int  # in memory of this process
    sent: int  # handed to the kernel, or put into shared memory
    confirmed: int  # the daemon has taken them in, or reads them where they are counted
    # Were on the way when the daemon went, or named a statistic that was gone, or stood in a cell
    # when the daemon was killed: of these it may have saved all but the latest. An upper bound.
    lost: int
    dropped: int  # there was no room, or the daemon refused their statistic
    invalid: int  # their numbers were not those of a sample, or of an event's record


def statistic_configure(**settings):
    """See Settings. To be called before the first interface is created, or not at all. ValueError:
    a setting is out of its range. OSError: EBUSY, too late; ENAMETOOLONG, the socket's path."""
    _tally.configure(*Settings(**settings))


def statistic_count():
    """The Counts of this process."""
    return Counts(*_tally.count())


__version__ = tally_version()
statistic_counts = Counts
statistic_create_interface = Interface
statistic_interface_remove = Interface.remove
statistic_interface_release = Interface.release
statistic_create = Interface.statistic
statistic_create_view = Statistic.create_view
statistic_remove = Statistic.remove
statistic_release = Statistic.release
statistic_define_value = Statistic.define_value
statistic_define_range = Statistic.define_range
statistic_define_array = Statistic.define_array
statistic_define_decimals = Statistic.define_decimals
statistic_define_help = Statistic.define_help
statistic_define_list = Statistic.define_list
statistic_define_raw = Statistic.define_raw
statistic_define_history = Statistic.define_history
statistic_define_quantiles = Statistic.define_quantiles
statistic_define_quantile_history = Statistic.define_quantile_history
statistic_define_last = Statistic.define_last
statistic_start = Statistic.start
statistic_stop = Statistic.stop
statistic_reset = Statistic.reset
statistic_is_on = Statistic.is_on
statistic_add = Statistic.add
statistic_inc = Statistic.inc
statistic_add_at = Statistic.add_at
statistic_add_batch = Statistic.add_batch
statistic_dropped = Statistic.dropped


# What is reported of values that are no sample. No code of the values' own classes runs here.
def _describe(subject, values):
    shown = ", ".join(map(_shown, values))
    return f"{subject!r} cannot take {shown}: it is counted as invalid"


def _shown(value):
    if type(value) is int and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    if type(value) is str:
        return repr(value[:40])
    return repr(value) if type(value) in (int, float, bool, type(None)) else type(value).__name__


# A child of multiprocessing ends without atexit, and begins with forgetting what is registered for
# its end. So that is registered when it has begun.
def _finish_with_multiprocessing(_=None):
    sys.modules["multiprocessing.util"].Finalize(None, _tally.finish, exitpriority=0)


def _watch_multiprocessing():
    if util := sys.modules.get("multiprocessing.util"):
        util.register_after_fork(_tally, _finish_with_multiprocessing)


_tally.set_describe(_describe)
atexit.register(_tally.finish)
_watch_multiprocessing()
os.register_at_fork(after_in_child=_watch_multiprocessing)
if "multiprocessing.util" in sys.modules and sys.modules["multiprocessing"].parent_process():
    _finish_with_multiprocessing()

__all__ = [
    "Counts", "Event", "Interface", "STATISTIC_FEED_OWNER", "STATISTIC_LIFETIME_FEEDER",
    "STATISTIC_MODE_INCREMENTS", "STATISTIC_MODE_PRODUCTS", "STATISTIC_MODE_QUANTILES",
    "STATISTIC_MODE_RANGE",
    "STATISTIC_RANGE_MAX", "STATISTIC_RANGE_MIN", "STATISTIC_SCALE_LIN", "STATISTIC_SCALE_LOG2",
    "Settings", "Statistic", "View", "labelled",
    "latency_begin", "latency_end", "latency_record",
    *sorted(name for name in globals() if name.startswith("statistic_")), "tally_version",
]  # fmt: skip
