"""Feeds tallyfs from Python. One folder, standard library only, Python 3.9 or later: it can be
installed, or copied beside a program.

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

Sending: samples carry the time of their call. Those of all threads are gathered into datagrams of
up to 8 KiB. A datagram leaves when it is full, at the latest after delay_us, at statistic_flush(),
and at the end of the process: the return of main, sys.exit(), an exception, and the end of a
multiprocessing.Process. A thread may end at any time. os._exit(), a deadly signal and kill -9 lose
the samples that are held: at most delay_us of samples, or one datagram. A thread keeps delay_us,
and needs the GIL for it: a long call into C that holds the GIL delays the samples before it, unless
they fill a datagram.

Cells: samples of statistics of increments, the type of a new one, are counted in memory that the
daemon reads, once some were sent. They are not sent, and kill -9 loses none. That takes CPython on
x86-64 and a daemon on the same machine that grants the memory. Settings.no_lane is to do without.

Threads: any number of threads may make every call at once. A sample is added by list.append, which
the GIL makes atomic (or the list's own lock, without a GIL), so no thread waits for another to add
one; one of them packs and sends. A cell belongs to one call at a time, by list.pop.

Signals: a signal handler and __del__ may add samples. All other calls raise RuntimeError there, if
they interrupt this package itself.

Fork: a child has its parent's interfaces and statistics, and none of the samples that the parent
holds. It connects by itself, with its first call. Until that call is_on() is true, and the first
sample of any statistic starts the package's thread. Until the daemon is found, samples count if the
parent knew the statistic as on; statistics that were off stay off until the daemon says otherwise.
A child that ends with os._exit() calls statistic_flush() before.

Modules form layers. Each imports the modules drawn here and no others:

    bell ->
    cells ->
    checks ->
    event_fields ->
    exclusion ->
    link ->
    mapping ->
    earlier_cells ->
    pace ->
    requester ->
    task ->
    wire ->
    definition -> checks
    reports -> bell
    request -> wire
    samples -> wire
    settings -> checks
    invalid -> samples
    callers -> exclusion samples
    connection -> link settings
    statistic_cells -> cells exclusion
    lane_file -> cells mapping
    conversation -> link wire request
    keeper -> exclusion samples
    sample_queue -> link requester wire request samples
    rounds -> link pace samples connection conversation sample_queue
    feeder -> checks exclusion reports settings invalid callers keeper rounds
    latency -> checks exclusion link requester task wire definition feeder
    removals -> requester request conversation feeder
    switches -> mapping requester request feeder
    lane -> requester wire cells earlier_cells request statistic_cells lane_file conversation feeder switches
    fed_statistic -> cells checks exclusion wire request feeder switches
    registry -> checks exclusion requester request feeder removals switches
    event -> checks event_fields exclusion link requester task wire request feeder switches registry
    shown -> definition fed_statistic registry
    view -> registry shown switches
    statistic -> cells samples feeder registry shown view
    interface -> checks request feeder registry statistic
    functions -> checks settings sample_queue feeder lane statistic interface
"""
from .definition import (
    STATISTIC_MODE_INCREMENTS, STATISTIC_MODE_PRODUCTS, STATISTIC_MODE_QUANTILES,
    STATISTIC_MODE_RANGE, STATISTIC_RANGE_MAX, STATISTIC_RANGE_MIN, STATISTIC_SCALE_LIN,
    STATISTIC_SCALE_LOG2,
)  # fmt: skip
from .event import Event
from .functions import (
    VERSION_TEXT as __version__, statistic_add, statistic_add_at, statistic_add_batch,
    statistic_configure, statistic_count, statistic_counts, statistic_create,
    statistic_create_interface, statistic_create_view, statistic_define_array,
    statistic_define_history, statistic_define_last, statistic_define_list,
    statistic_define_quantile_history, statistic_define_quantiles, statistic_define_range,
    statistic_define_raw, statistic_define_value,
    statistic_dropped, statistic_flush, statistic_inc, statistic_interface_release,
    statistic_interface_remove, statistic_is_on, statistic_release, statistic_remove,
    statistic_reset, statistic_start, statistic_stop, statistic_sync, tally_version,
)  # fmt: skip
from .interface import STATISTIC_LIFETIME_FEEDER, Interface
from .latency import latency_begin, latency_end, latency_record
from .sample_queue import Counts
from .settings import Settings, find_socket_paths
from .statistic import Statistic
from .switches import map_switches
from .view import View
from .wire import (
    ANSWER, BLOB, DATAGRAM_BYTES, DROPPED, LATENCIES, MAGIC, REQUEST, SAMPLES, TEMPLATE,
    USER_RECORDS, VERSION, WAS_THERE, WITH_TEXT, WITH_TIME, WITH_Y, Answer, decode_answers,
    encode_blob, encode_dropped, encode_header, encode_latencies, encode_request,
    encode_samples, encode_template, encode_user_record,
)  # fmt: skip

__all__ = [
    "ANSWER", "Answer", "BLOB", "Counts", "DATAGRAM_BYTES", "DROPPED", "Event", "Interface",
    "LATENCIES", "MAGIC", "REQUEST", "SAMPLES", "STATISTIC_LIFETIME_FEEDER",
    "STATISTIC_MODE_INCREMENTS", "STATISTIC_MODE_PRODUCTS", "STATISTIC_MODE_QUANTILES",
    "STATISTIC_MODE_RANGE", "STATISTIC_RANGE_MAX", "STATISTIC_RANGE_MIN", "STATISTIC_SCALE_LIN",
    "STATISTIC_SCALE_LOG2",
    "Settings", "Statistic", "TEMPLATE", "USER_RECORDS", "VERSION", "View", "WAS_THERE",
    "WITH_TEXT", "WITH_TIME", "WITH_Y",
    "decode_answers", "encode_blob", "encode_dropped", "encode_header",
    "encode_latencies", "encode_request", "encode_samples", "encode_template",
    "encode_user_record", "find_socket_paths", "latency_begin", "latency_end", "latency_record",
    "map_switches", "statistic_add", "statistic_add_at", "statistic_add_batch",
    "statistic_configure", "statistic_count", "statistic_counts", "statistic_create",
    "statistic_create_interface", "statistic_create_view", "statistic_define_array",
    "statistic_define_history", "statistic_define_last", "statistic_define_list",
    "statistic_define_quantile_history", "statistic_define_quantiles", "statistic_define_range",
    "statistic_define_raw",
    "statistic_define_value", "statistic_dropped", "statistic_flush", "statistic_inc",
    "statistic_interface_release", "statistic_interface_remove", "statistic_is_on",
    "statistic_release", "statistic_remove", "statistic_reset", "statistic_start",
    "statistic_stop", "statistic_sync", "tally_version",
]  # fmt: skip
