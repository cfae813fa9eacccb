"""Values that no sample and no record can have. They are counted and reported, and never raise:
on=1 in a definition cannot end a feeder.

note() is for any thread and any signal handler, since list.append is atomic. The rest is guarded by
the exclusion. About FULL notes wait at most."""
import weakref

from .samples import FULL

_INT_BITS_SHOWN = 128
_TEXT_SHOWN = 40


class Invalid:
    """report: called with a line of text, once for each subject. ring: wakes the keeper, which
    calls take()."""

    def __init__(self, exclusion, report, ring):
        self._exclusion, self._report, self._ring = exclusion, report, ring
        self.reset()

    def reset(self):
        """As at the start of a process."""
        self._notes = []  # (subject, line of text or "", how many)
        self._told = weakref.WeakSet()
        self._count = 0

    def note(self, subject, values, count=1):
        """These values of a call are none that it can take. count: of samples."""
        told = subject in self._told
        shown = "" if told else ", ".join(map(_shown, values))
        self._notes.append((subject, shown, count))
        if len(self._notes) >= FULL:
            self._exclusion.run(self.take, 0)  # a thread that is inside leaves them to the keeper
        elif not told:
            self._ring()

    def take(self):
        """Counts what was noted so far, and reports it."""
        notes = self._notes[:]
        del self._notes[: len(notes)]  # other threads append behind these only
        for subject, shown, count in notes:
            self._count += count
            if subject not in self._told:
                self._told.add(subject)
                self._report(f"{subject!r} cannot take {shown}: it is counted as invalid")

    def count(self):
        self.take()
        return self._count


# No code of the values' own classes runs here.
def _shown(value):
    if type(value) is int and value.bit_length() > _INT_BITS_SHOWN:
        return f"a number of {value.bit_length()} bits"
    if type(value) is str:
        return repr(value[:_TEXT_SHOWN])
    if type(value) in (int, float, bool, type(None)):
        return repr(value)
    return type(value).__name__
