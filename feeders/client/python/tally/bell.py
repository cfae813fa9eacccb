"""Wakes the keeper's thread. Any thread and any signal handler may ring."""
import threading


class Bell:
    """A lock that is held, except for the moment in which the bell rings: threading.Event takes a
    lock that a signal handler may find taken by its own thread."""

    def __init__(self):
        self.reset()

    def reset(self):
        """As at the start of a process."""
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self):
        try:
            self._lock.release()
        except RuntimeError:
            pass  # it rings already

    def wait(self, seconds):
        """Until it rings, at most so long."""
        self._lock.acquire(timeout=seconds)
