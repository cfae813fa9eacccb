"""When the keeper looks again, and when samples are due. Guarded by the exclusion. Times are of
time.monotonic_ns()."""

# While samples are added, and for this long after, the keeper looks every few milliseconds.
_ACTIVE_NS = 100_000_000


class Pace:
    def __init__(self, configured):
        self._configured = configured
        self.reset()

    def reset(self):
        """As at the start of a process."""
        self.send_at = 0  # when the samples that are held are due
        self._active_until = 0

    def is_active(self, now):
        return now < self._active_until

    def note_activity(self, now):
        self._active_until = now + _ACTIVE_NS

    def note_sending(self, now):
        """Samples are sent now: those that are left are newer."""
        # The other half: a thread that waits for the GIL gets it after 5 ms.
        self.send_at = now + self._configured.settings.delay_us * 500

    def wake(self, now):
        """A sample was added, or a call has changed something."""
        if not self.is_active(now):
            self.note_sending(now)
        self.note_activity(now)
