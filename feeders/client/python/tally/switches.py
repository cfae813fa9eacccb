"""The daemon's page of switches: which statistics and events are on, read without any call.

The page is an array of pairs of u32, one for each number: whether it is on, and the high half of
the number that has this place now. It is mapped read-only; the daemon changes it at any time."""
from .feeder import feeder
from .mapping import Mapping
from .request import Request
from .requester import Requester

# Switches of subjects whose own, in the daemon's page, is not known.
ON, OFF = b"\1", b"\0"
# In a forked child, of all statistics: the first sample of any wakes the package up.
ASLEEP = memoryview(b"\1")


class Switches(Requester):
    """Guarded by the exclusion. Without a page everything is on, and the daemon drops samples of
    statistics that are off."""

    def __init__(self):
        self._page = None

    def begin(self):
        self._page = None
        feeder.conversation.make_due(self)

    def is_there(self):
        return self._page is not None

    def of(self, number):
        """The switch of this number: its item 0 is 0 while the subject is off."""
        place = 2 * (number & 0xFFFFFFFF)
        has_one = self._page is not None and place + 2 <= len(self._page)
        return self._page[place : place + 1] if has_one else ON

    def is_void(self, number):
        """The page says that this number names nothing any more."""
        place = 2 * (number & 0xFFFFFFFF) + 1
        if self._page is None or place >= len(self._page):
            return False
        return self._page[place] != number >> 32

    def _requests(self, conversation):
        yield Request("switches", self._note_sent, self._take)

    def _note_sent(self):
        feeder.conversation.withdraw(self)

    def _take(self, response):
        if response is None:
            feeder.conversation.make_due(self)
        elif not response.error and feeder.conversation.attached >= 0:
            try:
                self._page = map_switches(feeder.conversation.attached, response.number)
            except (OSError, ValueError) as error:
                feeder.reports.add(str(error))
            for requester in feeder.conversation.requesters:
                requester.point_at_switches()


switches = feeder.join(Switches())


def map_switches(descriptor, size):
    """The page behind this descriptor, of size bytes, as a read-only memoryview of u32. ValueError:
    it could shrink under its readers, is shorter than size, or cannot be mapped."""
    memory = Mapping(descriptor, size, "page of switches").memory
    return memory[: size // 4 * 4].cast("I").toreadonly()
