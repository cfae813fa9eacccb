"""Lines of text for the program's own function, Settings.report.

add() is for any thread; deliver() for the keeper's, outside the exclusion, because the program's
function may call this package. At most 64 lines wait; older ones are forgotten."""
import collections
import sys

from .bell import Bell

_REPORTS_MAX = 64


class Reports:
    def __init__(self, configured):
        self._configured = configured
        self.bell = Bell()  # of the keeper, which delivers
        self.reset()

    def reset(self):
        """As at the start of a process."""
        self.bell.reset()
        self._lines = collections.deque(maxlen=_REPORTS_MAX)

    def add(self, text):
        self._lines.append(text)
        self.bell.ring()

    def deliver(self):
        report = self._configured.settings.report
        while self._lines:
            text = self._lines.popleft()
            if report:
                try:
                    report(text)
                except Exception:  # the keeper goes on after an error of the program's function
                    sys.excepthook(*sys.exc_info())
