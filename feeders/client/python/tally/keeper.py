"""The keeper: a thread of this package, for work that no call of the program does in time.

It sends samples that have waited for delay_us, finds the daemon, and registers. It starts with the
first interface or event, as a daemon thread, and again in a forked child. The exclusion guards all
but ring(), which any thread and any signal handler may call."""
import select
import sys
import threading
import time

from .exclusion import OTHERS
from .samples import FULL

_JOIN_S = 1
_PAUSE_AFTER_FAILURE_S = 0.1


class Keeper:
    """duties: keep_up, which does one round, and returns the seconds until the next; and finish,
    which is called at the end of a process of multiprocessing."""

    def __init__(self, configured, exclusion, rounds, reports, duties):
        self._configured, self._exclusion = configured, exclusion
        self._link, self._queue, self._pace = rounds.connection.link, rounds.queue, rounds.pace
        self._bell, self._reports = reports.bell, reports
        self._keep_up, self._finish = duties
        self.ring = reports.bell.ring
        self.reset()

    def reset(self):
        """As at the start of a process."""
        self._thread = None
        self.is_ending = False
        self._has_told_failure = False

    def is_running(self):
        return self._thread is not None

    def start(self):
        """False: no thread can be started, or the process is ending."""
        if self.is_ending:
            return False
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="tally", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no thread can be started, or the interpreter is about to end
                return False
            self._thread = thread
            # A child of multiprocessing ends without atexit.
            if "multiprocessing.util" in sys.modules:
                sys.modules["multiprocessing.util"].Finalize(None, self._finish, exitpriority=0)
        return True

    def wake(self, now):
        """A sample was added, or a call has changed something: looks soon, and often for a while.
        Until then calls that add samples need not wake it."""
        sends_each = self._configured.settings.delay_us == 0 or not self.start()
        self._queue.alert = 1 if sends_each else FULL
        self._pace.wake(now)
        self.ring()

    def end(self):
        """Before the process ends. Threads may be ended anywhere from now on, and keep the lock:
        later calls, of a __del__ for example, wait for it 0.1 s at most, and send their samples
        themselves."""
        self.is_ending, self._exclusion.timeout_s = True, 0.1
        self.ring()
        self._thread.join(_JOIN_S)
        self._queue.stop = self._queue.alert = 1

    # Without memory, for example, a round fails, and the next one tries again.
    def _round(self):
        try:
            return self._exclusion.run(self._keep_up)
        except Exception as error:
            if not self._has_told_failure:
                self._has_told_failure = True
                self._reports.add(f"a round of sending has failed, and is tried again: {error!r}")
            return _PAUSE_AFTER_FAILURE_S

    def _run(self):
        while not self.is_ending:
            pause_s = self._round()
            if pause_s is OTHERS:
                return
            self._reports.deliver()
            if self._link.full:
                self._link.wait(select.POLLIN | select.POLLOUT, pause_s)
                time.sleep(0.001)
            else:
                self._bell.wait(pause_s)
        self._reports.deliver()
