"""Memory that the daemon shares with this process: the page of shapes, which it reads, and its lane
file (core/lane/FORMAT.md), in which its cells lie.

Guarded by the exclusion."""
import mmap
import os
import struct
import threading

from .cells import CELL_BYTES, Cell
from .mapping import Mapping

LANE_BYTES = 2 << 20  # as libtally's
IDS_MAX = 65_536  # statistics that have cells in it
_MAGIC = 0x0001454E414C4C54
_ENTRIES, _ENTRIES_AT, _ENTRY_BYTES = 1024, 4096, 64
_HEAP_AT = _ENTRIES_AT + _ENTRIES * _ENTRY_BYTES
_IDS_MIN = 64
_SHAPE_BYTES = 64


class Shapes:
    """How samples of statistics are counted in cells. ValueError: it cannot be mapped."""

    def __init__(self, descriptor, size):
        self._memory = Mapping(descriptor, size, "page of shapes").memory

    def find(self, number):
        """64 bytes of the statistic of this number; None: there are none."""
        at = _SHAPE_BYTES * (number & 0xFFFFFFFF)
        shape = self._memory[at : at + _SHAPE_BYTES]
        return shape if len(shape) == _SHAPE_BYTES else None


class LaneFile:
    """Entry N is for the Nth of the calls that add samples to one statistic at once, of whatever
    threads. number: the daemon's. ValueError: what is behind the descriptor is no lane."""

    def __init__(self, descriptor, number, shapes):
        size = os.fstat(descriptor).st_size
        self._mapping = Mapping(descriptor, size, "lane", mmap.PROT_READ | mmap.PROT_WRITE)
        self._memory = self._mapping.memory
        if struct.unpack_from("=QQ", self._memory) != (_MAGIC, size):
            raise ValueError("what the daemon sent is no lane")
        self._words, self._halves = self._memory.cast("Q"), self._memory.cast("I")
        self.number, self.shapes = number, shapes
        self._taken = _HEAP_AT
        self._indexes = []  # by entry: where it begins, and how many ids it has
        self._cells = []

    def make_cell(self, entry, each, shape):
        """A cell for this id, in one of the entries that there are, or the next one. None: there is
        no room. The daemon does not know of it before show()."""
        has_index = entry < _ENTRIES and each < IDS_MAX and self._make_index(entry, each)
        at = self._take(CELL_BYTES) if has_index else 0
        if at == 0:
            return None
        self._cells.append(Cell(self._memory, at, shape[:4].cast("I")))
        return self._cells[-1]

    def show(self, cell, entry, each):
        """The daemon finds this cell from now on."""
        self._halves[self._indexes[entry][0] // 4 + each] = cell.at
        self._note_change()

    def samples(self):
        """How many were counted in it. For any thread."""
        return sum(cell.samples_before + cell.samples for cell in list(self._cells))

    def make_private(self):
        """In a forked child."""
        self._mapping.make_private()

    # Zeros, from a place that is a multiple of 64; 0: there is no room.
    def _take(self, size):
        at, end = self._taken, self._taken + (size + 63) // 64 * 64
        if end > len(self._memory):
            return 0
        self._taken = end
        return at

    # False: there is no room for an index with this id.
    def _make_index(self, entry, each):
        if entry == len(self._indexes):
            self._indexes.append((0, 0))
            self._halves[(_ENTRIES_AT + entry * _ENTRY_BYTES) // 4] = threading.get_native_id()
        at, ids = self._indexes[entry]
        if each < ids:
            return True
        more = max(1 << each.bit_length(), _IDS_MIN)
        begin = self._take(4 * more)
        if begin == 0:
            return False
        self._halves[begin // 4 : begin // 4 + ids] = self._halves[at // 4 : at // 4 + ids]
        self._indexes[entry] = begin, more
        self._words[(_ENTRIES_AT + entry * _ENTRY_BYTES) // 8 + 1] = more << 32 | begin
        self._note_change()
        return True

    def _note_change(self):
        self._words[2] += 1
