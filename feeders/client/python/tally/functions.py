"""The names of the C library (include/tally/statistic.h) for the same calls."""
from .checks import check_number
from .feeder import feeder
from .interface import Interface
from .lane import lane
from .sample_queue import Counts
from .settings import Settings
from .statistic import Statistic

VERSION_TEXT = "0.1.0"

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
statistic_counts = Counts


def statistic_configure(**settings):
    """See Settings. To be called before the first interface is created, or not at all. ValueError:
    a setting is out of its range. OSError: EBUSY, too late; ENAMETOOLONG, the socket's path."""
    wanted = Settings(**settings)
    wanted.check()
    feeder.configure(wanted)


def statistic_flush():
    """Sends the samples that are held. Waits no longer than wait_ms, and 0.1 s where latencies were
    dropped. OSError: EAGAIN, the daemon's queue is full, or it has not answered a registration yet;
    ENOTCONN, there is no daemon. Samples that could not be sent are still held, and sent later."""
    feeder.flush()


def statistic_sync(timeout_ms):
    """Registers and sends everything, and waits until the daemon has taken it in: a reader sees it
    then. timeout_ms: 0 to 60,000. OSError: ETIMEDOUT, not within timeout_ms; ENOTCONN, there is no
    daemon; else the daemon's answer to the first interface or statistic that it refuses: EPERM, it
    is another user's; ENOSPC, a quota; EINVAL, a definition. ValueError: timeout_ms."""
    check_number("timeout_ms", timeout_ms, 0, 60_000)
    feeder.sync(timeout_ms)


def statistic_count():
    """The Counts of this process."""
    return feeder.count(lane.samples)


def tally_version():
    """The version of this package, "MAJOR.MINOR.PATCH"."""
    return VERSION_TEXT
