"""Finding the daemon, and finding it again. Guarded by the exclusion.

A daemon that ends refuses all that is sent, while its socket can still be connected to. So the next
one is found when it has answered.

After a failed attempt the next one waits 50 ms, then twice as long each time, up to 2 s."""
from .link import Link
from .settings import find_socket_paths

_BACK_OFF_NS, _BACK_OFF_MAX_NS = 50_000_000, 2_000_000_000


class Connection:
    """report: called with a line of text when the daemon was found, lost or is missing."""

    def __init__(self, configured, report):
        self._configured, self._report = configured, report
        self.link = Link()
        self.reset()

    def reset(self):
        """As at the start of a process."""
        self.link.close()
        self.connected = self.was_connected = False
        self.is_missing = False  # it was looked for in vain, or is gone
        self._path, self._has_answered, self._told_sending = None, False, False
        self.next_attempt_at = 0
        self._back_off_ns = _BACK_OFF_NS

    def attempt(self, now):
        """Looks for the daemon, if it is time to. True: a new connection has been made."""
        if self.connected or now < self.next_attempt_at:
            return False
        try:
            path = self._connect(find_socket_paths(self._configured.settings.socket))
        except OSError as error:
            if not self.is_missing:
                self._report(f"no daemon yet: {error}")
            self.is_missing = True
            self.next_attempt_at = now + self._back_off_ns
            self._back_off_ns = min(2 * self._back_off_ns, _BACK_OFF_MAX_NS)
            return False
        self._path, self._has_answered = path, False
        if not self.is_missing:
            self._tell_sending()
        self.connected = self.was_connected = True
        return True

    def note_answer(self):
        """The daemon has answered."""
        if self._has_answered:
            return
        self._has_answered, self.is_missing = True, False
        self._back_off_ns = _BACK_OFF_NS
        if not self._told_sending:
            self._tell_sending()

    def _tell_sending(self):
        self._told_sending = True
        self._report(f"sending to {self._path}")

    def _connect(self, paths):
        for path in paths:
            try:
                self.link.connect(path)
                return path
            except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
                if path is paths[-1]:
                    raise

    def is_cut(self):
        """The daemon went, and a send() has noticed."""
        return self.connected and not self.link.socket

    def end(self, now):
        """After is_cut(), or a send() that said DAEMON_GONE."""
        self.connected = False
        self.next_attempt_at = now + self._back_off_ns
        if not self._has_answered:
            self._back_off_ns = min(2 * self._back_off_ns, _BACK_OFF_MAX_NS)
        if self._told_sending:
            self._report("the daemon is gone")
        self._told_sending, self.is_missing = False, True

    def attempt_soon(self):
        """The next attempt() does not wait."""
        self.next_attempt_at = 0

    def reset_back_off(self):
        """After the next failure the wait is the shortest again."""
        self._back_off_ns = _BACK_OFF_NS
