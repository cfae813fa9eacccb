"""Interfaces: groups of statistics that are read together."""
from .checks import check_name
from .feeder import feeder
from .registry import registry
from .request import REGISTERED, REQUESTED, Subject
from .statistic import Statistic

# The interface and its statistics go when this process ends, instead of staying to be read.
STATISTIC_LIFETIME_FEEDER = 1


class Interface(Subject):
    """A group of statistics, read at one moment: a directory under statistics/.

    The daemon is told of it within milliseconds. It may refuse it: the name belongs to another
    user, or a quota is reached. statistic_sync() and Settings.report tell of that; samples are
    dropped and counted, and it is requested again every 10 s.

    name: 1 to 255 bytes of printable UTF-8 without white space, / and =. flags: 0 or
    STATISTIC_LIFETIME_FEEDER. ValueError: the name or a flag. OSError: EEXIST, this process has it
    already; ENOSPC, this process has 65,536; EAGAIN, no thread could be started. RuntimeError: the
    call interrupts tally itself.

    As a context manager it is released at the end."""

    def __init__(self, name, flags=0):
        super().__init__()
        if flags not in (0, STATISTIC_LIFETIME_FEEDER):
            raise ValueError(f"unknown flags: {flags!r}")
        self.name = check_name("an interface's name", name)
        self._flags = flags
        self._statistics = {}  # by name
        registry.add_interface(self)

    def statistic(self, name, units=None):
        """A new Statistic, of type value and off until a define_ call, start() or its users change
        it. name: as an interface's. units: of X and Y, "microseconds/requests"; 1 to 255 bytes
        without white space and =. Fails as Interface() does."""
        return Statistic(self, name, units)

    def remove(self):
        """Drops the interface and its statistics here and from the tree. Samples that were added
        before are sent before."""
        registry.drop_interface(self, in_tree=True)

    def release(self):
        """Drops the interface and its statistics here. The tree keeps them, to be read."""
        registry.drop_interface(self, in_tree=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __repr__(self):
        return f"<tally.Interface {self.name}>"

    # ---- registration

    def _path(self):
        return self.name

    def _create_text(self):
        return f"create {self.name}" + (" lifetime=feeder" if self._flags else "")

    def _take_registration(self, response):
        if self._state == REQUESTED:
            self._state = REGISTERED

    def _take_refusal(self, response):
        conversation = feeder.conversation
        for each in list(conversation.due):
            if isinstance(each, Statistic) and each.interface is self:
                conversation.refuse(each, response)
