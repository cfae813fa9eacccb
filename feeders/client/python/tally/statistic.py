"""Statistics: the calls that feed one. Shown turns it on and off, FedStatistic registers it."""
import struct
from time import monotonic_ns as _now

from .cells import BY_CELL, SAMPLES_AT, TOTAL_AT, WAY, Y_MAX
from .feeder import feeder
from .registry import registry
from .samples import FULL, gathered as _gathered, pack as _pack
from .samples import pack_columns, to_columns
from .shown import Shown
from .view import View

# Bound once: a method of an imported name costs 40 ns more for each call.
_append, _queue, _make_room = _gathered.append, feeder.queue, feeder.callers.make_room
_note_invalid = feeder.invalid.note
_PIECE = 8 * FULL  # of a batch, taken at once


class Statistic(Shown):
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
        on = self._switch[0]
        if on:
            if on & WAY == BY_CELL:
                totals = self._totals
                if totals:
                    try:
                        cell = totals.pop()
                        try:
                            is_plain = type(x) is int and type(y) is int and 0 <= y <= Y_MAX
                            if is_plain and cell.range_min <= x <= cell.range_max:
                                if cell.era == cell.shape[0]:
                                    total, samples = cell.total + y, cell.samples + 1
                                    cell.words[TOTAL_AT] = total
                                    cell.total = total
                                    cell.words[SAMPLES_AT] = cell.samples = samples
                                    return
                        finally:
                            totals.append(cell)
                    except (IndexError, ValueError):
                        pass  # another thread has taken the last one; or the total is too large
                if self._cells is not None and self._cells.add(x, y):
                    return
            try:
                _append(_pack(x, y, _now(), self._id))
            except struct.error:
                return _note_invalid(self, (x, y))
            if len(_gathered) >= _queue.stop:
                _make_room()

    def inc(self, x):
        """Once X, now."""
        # add(x) would be the same, and half as fast again.
        on = self._switch[0]
        if on:
            if on & WAY == BY_CELL:
                totals = self._totals
                if totals:
                    try:
                        cell = totals.pop()
                        try:
                            if type(x) is int and cell.range_min <= x <= cell.range_max:
                                if cell.era == cell.shape[0]:
                                    total, samples = cell.total + 1, cell.samples + 1
                                    cell.words[TOTAL_AT] = total
                                    cell.total = total
                                    cell.words[SAMPLES_AT] = cell.samples = samples
                                    return
                        finally:
                            totals.append(cell)
                    except (IndexError, ValueError):
                        pass
                if self._cells is not None and self._cells.add(x, 1):
                    return
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

    def create_view(self, name):
        """A new View of what is fed to this statistic. It begins with the definition of its source,
        on. One that is there already stays as its users have defined it. The source may be off:
        what is added after this call is for the view. At most 16 of a statistic.
        name: as a statistic's. Fails as Interface.statistic() does."""
        return View(self, name)

    def __repr__(self):
        return f"<tally.Statistic {self._path()}>"
