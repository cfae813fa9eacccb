"""Statistics: the calls that feed, turn on and off, and drop one. FedStatistic registers it."""
import struct
from time import monotonic_ns as _now

from .definition import Definable
from .fed_statistic import FedStatistic
from .feeder import feeder
from .registry import registry
from .samples import FULL, gathered as _gathered, pack as _pack
from .samples import pack_columns, to_columns

# Bound once: a method of an imported name costs 40 ns more for each call.
_append, _queue, _make_room = _gathered.append, feeder.queue, feeder.callers.make_room
_note_invalid = feeder.invalid.note
_PIECE = 8 * FULL  # of a batch, taken at once


class Statistic(FedStatistic, Definable):
    """One statistic of an interface, made by Interface.statistic().

    Samples: while the statistic is off, a call returns at once and sends nothing. X is a signed, Y
    an unsigned 64-bit number. Other values are no samples: they raise nothing, are counted as
    statistic_count().invalid, and the first of a statistic is reported (Settings.report). Any
    thread and any signal handler may add samples, and __del__ may. All other calls raise
    RuntimeError if they interrupt tally itself.

    As a context manager it is released at the end."""

    __slots__ = ()

    def __init__(self, interface, name, units=None):
        """See Interface.statistic()."""
        super().__init__(interface, name, units)
        registry.add_statistic(self)

    # ---- samples

    def add(self, x, y=1):
        """Y times X, now."""
        if self._switch[0]:
            try:
                _append(_pack(x, y, _now(), self._id))
            except struct.error:
                return _note_invalid(self, (x, y))
            if len(_gathered) >= _queue.stop:
                _make_room()

    def inc(self, x):
        """Once X, now."""
        # add(x) would be the same, and half as fast again.
        if self._switch[0]:
            try:
                _append(_pack(x, 1, _now(), self._id))
            except struct.error:
                return _note_invalid(self, (x,))
            if len(_gathered) >= _queue.stop:
                _make_room()

    def add_at(self, x, y, time_ns):
        """Y times X, at a time of time.monotonic_ns(). A time in the future counts as the time at
        which the daemon takes the sample in."""
        if self._switch[0]:
            try:
                _append(_pack(x, y, time_ns, self._id))
            except struct.error:
                return _note_invalid(self, (x, y, time_ns))
            if len(_gathered) >= _queue.stop:
                _make_room()

    def add_batch(self, xs, ys=None, times_ns=None):
        """Many samples, with one call of the clock. xs: numbers. ys, times_ns: as many, or one for
        all; None is a Y of 1, and now; a time of 0 is now. Fastest are array("q") and other buffers
        of 64-bit numbers (unsigned for ys), such as numpy's arrays. If the lengths differ, all
        samples are invalid."""
        feeder.wake_up_in_child()
        if not self._switch[0]:
            return
        columns, invalid, example = to_columns(xs, ys, times_ns)
        if invalid:
            _note_invalid(self, example, invalid)
        if not columns:
            return
        for at in range(0, len(columns[0]), _PIECE):
            piece = [column[at : at + _PIECE] for column in columns]
            feeder.callers.take_batch(pack_columns(*piece, self._id))

    def dropped(self):
        """How many of its samples were dropped, in this process."""
        return self._dropped

    def is_on(self):
        """Whether samples are wanted: for programs that have to work for a sample."""
        return self._switch[0] != 0

    # ---- on and off
    #
    # The first of start(), stop() and reset() says how the statistic begins: it applies if the
    # statistic is new, and leaves alone one that was there before, which its users have defined.
    # Later ones are carried out, in their order with the samples that this thread adds. A daemon
    # that is started anew learns the last state.

    def start(self):
        """Turns the statistic on."""
        self._turn(True)

    def stop(self):
        """Turns the statistic off."""
        self._turn(False)

    def reset(self):
        """Discards the samples that were counted so far."""
        self._reset()

    # ---- the end

    def remove(self):
        """Drops it here and from the tree. Samples that were added before are sent before."""
        registry.drop_statistic(self, in_tree=True)

    def release(self):
        """Drops it here. The tree keeps it, to be read. Samples that were added before are sent."""
        registry.drop_statistic(self, in_tree=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __repr__(self):
        return f"<tally.Statistic {self._path()}>"
