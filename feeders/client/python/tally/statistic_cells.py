"""The cells of one statistic, and how a sample finds one."""
from .cells import SAMPLES_AT, TOTAL_AT, Y_MAX, Form
from .exclusion import OTHERS, OURSELVES


class StatisticCells:
    """Made once the daemon knows of them. totals: the list of free cells. A call takes a cell out,
    and puts it back: list.pop() gives it to one thread only, and a signal handler that interrupts
    the call finds another one.

    place: the number of the statistic and its own in the file. uses: is_void, which says that a
    number names nothing any more, and rest, called inside the exclusion when the statistic does not
    count increments any more."""

    __slots__ = ("_exclusion", "_file", "_number", "_id", "_shape", "_is_void", "_rest", "totals",
                 "_made")  # fmt: skip

    def __init__(self, exclusion, file, place, uses):
        self._exclusion, self._file = exclusion, file
        self._number, self._id = place
        self._is_void, self._rest = uses
        self._shape = file.shapes.find(self._number)
        self.totals = []
        self._made = 0

    def add(self, x, y):
        """Counts Y times X where Statistic.inc() and add() have found no cell of this era. False:
        the sample is to be sent instead. Any thread and any signal handler may call this."""
        if type(x) is not int or type(y) is not int or y < 0:
            return False
        try:
            cell = self.totals.pop()
        except IndexError:
            cell = None
        try:
            if cell is None or cell.era != cell.shape[0]:
                done = self._exclusion.run(lambda: self._begin(cell), 0)
                if done is None or done is OTHERS or done is OURSELVES:
                    return False
                cell = done
            if not cell.range_min <= x <= cell.range_max or cell.total + y > Y_MAX:
                return False
            cell.words[TOTAL_AT] = cell.total + y
            cell.total += y
            cell.words[SAMPLES_AT] = cell.samples = cell.samples + 1
            return True
        finally:
            if cell is not None:
                self.totals.append(cell)

    # A cell of this era: this one, begun anew, or one more. None: there is none.
    def _begin(self, cell):
        form = Form.read(self._shape)
        if form is None or self._is_void(self._number):
            return self._rest()
        made = cell or self._file.make_cell(self._made, self._id, self._shape)
        if made is None:
            return None if self._made else self._rest()
        made.begin(self._number, self._id, form)
        if cell is None:
            self._file.show(made, self._made, self._id)
            self._made += 1
        return made
