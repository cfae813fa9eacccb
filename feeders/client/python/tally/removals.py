"""Removals of interfaces and statistics from the tree: the request `remove`.

Guarded by the exclusion. At most 1,024 wait; the oldest of more are forgotten, and stay in the
tree. So do all when the daemon goes: the next one may have these names from other feeders."""
import collections
import errno
import functools

from .conversation import reason_of
from .feeder import feeder
from .request import Request
from .requester import Requester

_REMOVALS_MAX = 1024


class Removals(Requester):
    def __init__(self):
        self._paths = collections.deque(maxlen=_REMOVALS_MAX)

    def add(self, path):
        """INTERFACE or INTERFACE/STATISTIC."""
        self._paths.append(path)
        feeder.conversation.make_due(self)

    def begin(self):
        if self._paths:
            feeder.conversation.make_due(self)

    def end(self):
        self._paths.clear()

    def inherit(self):
        self._paths.clear()

    def _requests(self, conversation):
        for path in self._paths:
            yield Request(f"remove {path}", self._note_sent, functools.partial(self._take, path))

    def _note_sent(self):
        self._paths.popleft()
        if not self._paths:
            feeder.conversation.withdraw(self)

    def _take(self, path, response):
        # ENOENT: it was gone already.
        if response and response.error not in (0, errno.ENOENT):
            words = f"the daemon refused to remove {path}: {reason_of(response)}"
            feeder.reports.add(words)


removals = feeder.join(Removals())
