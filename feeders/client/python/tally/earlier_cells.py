"""What was counted in files of earlier connections, and how much of it may be lost.

A daemon that ends in order reads the cells, behind telling feeders to go by the socket. One that
was killed may have saved what they held, all but the latest, or not: all of it counts as lost. The
same daemon may be found again: it goes on reading its cells.

Guarded by the exclusion."""


class EarlierCells:
    """epoch: of the daemon that has made the last of the files."""

    def __init__(self):
        self.epoch = 0
        self.lost = 0
        self._settled = 0  # of daemons that have ended
        self._open = 0  # of the daemon that made the last file, and lived on
        self._files = []  # whose daemon may have ended
        self._are_unread = False

    def add(self, file, is_unread):
        """The connection has ended. is_unread: the daemon has not told samples to go by the socket
        before. Those of a statistic that had gone another way were read by then, and lost after
        it."""
        self._files.append(file)
        self._are_unread |= is_unread

    def samples(self):
        """How many were counted."""
        return self._settled + self._open + sum(file.samples() for file in self._files)

    def settle(self, epoch):
        """epoch: of the daemon that is there now; 0: it has not said it yet. Returns how many more
        may be lost."""
        if not self._files or epoch == 0:
            return 0
        # A call that was under way when the connection ended has ended long ago.
        self._open += sum(file.samples() for file in self._files)
        self._files = []
        more = 0
        if epoch != self.epoch:
            more = self._open if self._are_unread else 0
            self._settled += self._open
            self._open = 0
        self._are_unread = False
        self.lost += more
        return more
