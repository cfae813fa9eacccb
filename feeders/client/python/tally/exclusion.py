"""The one lock of this package, which also turns away a call that interrupts its own thread.

One thread at a time is inside; it waits for nothing there. A signal handler or a __del__ may run
on a thread that is inside: the lock lets it in again, so the exclusion turns it away by itself.
A thread that is inside when the interpreter ends may be ended there, and never leaves."""
import functools
import threading

# Why run() has not called anything: another thread is inside; this thread itself is inside.
OTHERS, OURSELVES = object(), object()


class Exclusion:
    """left: called before the lock is released."""

    def __init__(self, left):
        self._left = left
        self.reset()

    def reset(self):
        """As at the start of a process; in a forked child, where another thread may have had it."""
        self._lock = threading.RLock()
        self._inside = False
        self.before_next = None  # called once, inside, before the next call
        self.timeout_s = -1  # for the lock; -1: none

    def run(self, do, timeout_s=None):
        """Returns the result of do(), or OTHERS after the time-out, or OURSELVES."""
        lock = self._lock  # a signal handler may fork, and give the child another one
        if not lock.acquire(timeout=self.timeout_s if timeout_s is None else timeout_s):
            return OTHERS
        try:
            if self._inside:
                return OURSELVES
            self._inside = True
            try:
                if self.before_next:
                    before, self.before_next = self.before_next, None
                    before()
                return do()
            finally:
                self._left()
                self._inside = False
        finally:
            lock.release()


def exclusive(method):
    """For a method of an object that has an Exclusion as _exclusion: runs inside it. RuntimeError:
    the call interrupts this package on its own thread, or the interpreter is ending."""

    @functools.wraps(method)
    def call(self, *args, **named):
        done = self._exclusion.run(functools.partial(method, self, *args, **named))
        if done is OTHERS:
            raise RuntimeError("the interpreter is ending, and has ended a thread inside tally")
        if done is OURSELVES:
            raise RuntimeError("called by a signal handler or __del__ that interrupts tally itself")
        return done

    return call
