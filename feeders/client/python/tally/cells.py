"""Cells: sums that this process keeps in memory which the daemon reads, as core/lane/FORMAT.md has
them. A sample that is counted in a cell is not sent, and kill -9 does not lose it.

Here cells count increments only. Each word of a cell that is written takes longer than the rest of
its work: a sample of an array would cost more than it does to send it.

One call at a time has a cell, and writes it. CPython stores 8 aligned bytes by one store, and
x86-64 shows stores in their order: there are no barriers here, so no other machine has cells."""
import os
import struct
import sys
from typing import NamedTuple

INCREMENTS = 1  # what a cell holds
# The switch of a statistic that is counted in cells has these bits.
WAY, BY_CELL = 0x300, 0x100
Y_MAX = (1 << 64) - 1
CELL_BYTES = 192
# In words of 8 bytes: the slot that counts, and in it samples and the total.
_SLOT, SAMPLES_AT, TOTAL_AT = 8, 9, 11

# Native: each number is loaded by itself, in this order.
_SHAPE = struct.Struct("@IIqqQII")


def are_possible():
    """Whether this interpreter and machine write cells as the daemon reads them."""
    is_cpython = sys.implementation.name == "cpython" and sys.maxsize == (1 << 63) - 1
    return is_cpython and os.uname().machine == "x86_64"


class Form(NamedTuple):
    """How samples are counted in cells."""

    era: int
    range_min: int
    range_max: int

    @classmethod
    def read(cls, shape):
        """Of a statistic's shape, 64 bytes. None: it does not count increments, or the daemon is
        changing it."""
        first = _SHAPE.unpack_from(shape)
        era, version, range_min, range_max, _, _, kind = first
        is_whole = version % 2 == 0 and era != 0 and _SHAPE.unpack_from(shape) == first
        return cls(era, range_min, range_max) if is_whole and kind == INCREMENTS else None


class Cell:
    """One cell. A sample is counted by storing total, and then samples.

    memory: of the lane file, bytes. at: a multiple of 64. shape: era of the statistic's shape."""

    __slots__ = ("at", "words", "_halves", "shape", "era", "range_min", "range_max", "total",
                 "samples", "samples_before")  # fmt: skip

    def __init__(self, memory, at, shape):
        self.at, self.shape = at, shape
        self.words = memory[at : at + CELL_BYTES].cast("Q")
        self._halves = memory[at : at + CELL_BYTES].cast("I")
        self.samples = self.samples_before = self.total = self.era = 0

    def begin(self, number, each, form):
        """Begins anew, for the statistic of this number. each: its id."""
        words, halves = self.words, self._halves
        halves[2] = self.era = 0
        self.samples_before += self.samples
        self.samples = self.total = 0
        self.range_min, self.range_max = form.range_min, form.range_max
        words[TOTAL_AT] = words[SAMPLES_AT] = 0
        words[_SLOT] = 1  # its sequence
        halves[3], halves[4] = INCREMENTS, each
        words[0] = number
        halves[2] = self.era = form.era
