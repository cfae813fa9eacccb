"""The feeder of this process: its parts, how a call waits for the daemon, fork and end.

`feeder` is the only one. Its parts are guarded by the exclusion, except callers.py, and no thread
waits inside it. The requesters (interfaces, events, latencies, ...) join it from their modules."""
import atexit
import errno
import os
import select
from time import monotonic_ns as _now

from .callers import Callers
from .checks import os_error
from .exclusion import Exclusion, exclusive
from .invalid import Invalid
from .keeper import Keeper
from .reports import Reports
from .rounds import TICK_NS, Rounds
from .settings import Configured, find_socket_paths

# How long the end of the process waits for a daemon that is there but does not take anything.
_FINISH_NS = 250_000_000


class Feeder:
    def __init__(self):
        self._is_used = False  # settings can no longer change
        self.configured = Configured()
        self.exclusion = self._exclusion = Exclusion(self._leave)
        self.reports = Reports(self.configured)
        self.rounds = Rounds(self.configured, self.reports.add)
        self.connection = self.rounds.connection
        self.conversation = self.rounds.conversation
        self.queue = self.rounds.queue
        self.keeper = Keeper(
            self.configured, self.exclusion, self.rounds, self.reports,
            (self._keep_up, self.finish),
        )  # fmt: skip
        self.invalid = Invalid(self.exclusion, self.reports.add, self.keeper.ring)
        self.callers = Callers(
            self.configured, self.exclusion, self.connection, self.queue, self.keeper
        )

    def join(self, requester):
        """Adds a requester to the conversation, behind those that are there. Returns it."""
        self.conversation.requesters.append(requester)
        return requester

    @exclusive
    def configure(self, settings):
        """See statistic_configure()."""
        if self._is_used or self.connection.connected:
            raise os_error(errno.EBUSY, "an interface has been created already, or a latency sent")
        self.configured.settings = settings

    def start_keeper(self):
        """OSError: EAGAIN, no thread can be started."""
        if not self.keeper.start():
            raise os_error(errno.EAGAIN, "no thread could be started")
        self._is_used = True

    def wake_keeper(self):
        self.keeper.wake(_now())

    def _keep_up(self):
        now = _now()
        self.invalid.take()
        self.rounds.round(now)
        return self.rounds.pause_s(now)

    # ---- exclusion

    def _leave(self):
        self.queue.stop = self.queue.alert

    # ---- fork

    def after_fork_in_child(self):
        for requester in self.conversation.requesters:
            requester.inherit()
        for part in (self.exclusion, self.reports, self.keeper, self.invalid, self.rounds):
            part.reset()
        self.exclusion.before_next = self._wake_up

    def wake_up_in_child(self):
        """Before a call that looks at a switch: it may be out of date in a forked child, until its
        first call."""
        if self.exclusion.before_next:
            self.exclusion.run(lambda: None)

    def _wake_up(self):
        for requester in self.conversation.requesters:
            requester.wake_up()
        self.wake_keeper()

    # ---- waiting for the daemon

    def flush(self):
        """See statistic_flush()."""
        self._flush_requesters()
        deadline = _now() + self.configured.settings.wait_ms * 1_000_000
        try:
            self._wait_until(deadline, lambda: not self.queue.held())
        except TimeoutError:
            words = "the daemon's queue is full, or it has not answered a registration yet"
            raise os_error(errno.EAGAIN, words) from None

    def sync(self, timeout_ms):
        """See statistic_sync()."""
        deadline = _now() + timeout_ms * 1_000_000
        until = self._added()
        sent = None

        def is_taken_in():
            nonlocal sent
            if not self.connection.connected or not self.conversation.is_settled():
                return False
            if sent is None and (self.queue.consumed >= until or not self.queue.held()):
                sent = self.queue.sent
            if sent is None or not self.queue.is_confirmed(sent):
                return False
            for subject, response in self.conversation.refusals().items():
                raise os_error(response.error, f"{subject!r}: {response.reason}")
            return True

        self._wait_until(deadline, is_taken_in)

    @exclusive
    def count(self, in_cells):
        """See statistic_count(). in_cells: called for the samples that were not sent, but counted,
        and those of them that may be lost."""
        return self.queue.counts(self.invalid.count(), *in_cells())

    @exclusive
    def _added(self):
        return self.queue.consumed + self.queue.held()

    def _flush_requesters(self):
        for requester in self.conversation.requesters:
            requester.flush()

    # Does the keeper's rounds until check() is true.
    def _wait_until(self, deadline, check):
        self.connection.attempt_soon()
        while True:
            if self._is_reached(check):
                return
            now = _now()
            if now >= deadline:
                if self.connection.connected:
                    words = "the daemon has not taken everything in in time"
                    raise os_error(errno.ETIMEDOUT, words)
                where = " or ".join(find_socket_paths(self.configured.settings.socket))
                raise os_error(errno.ENOTCONN, f"there is no daemon at {where}")
            self.connection.reset_back_off()
            self.connection.link.wait(select.POLLIN, min(deadline - now, TICK_NS) / 1e9)

    @exclusive
    def _is_reached(self, check):
        self.rounds.round(_now(), urgent=True)
        return check()

    # ---- the end of the process

    def finish(self):
        """Sends the samples that are held, within 0.25 s, and ends the keeper. Later samples are
        sent in their calls."""
        try:
            self._flush_requesters()
        except (OSError, RuntimeError):
            pass  # the counts of dropped latencies are lost with this process
        if not self.keeper.is_running() or self.keeper.is_ending:
            return
        try:
            self._wait_until(_now() + _FINISH_NS, self._is_done)
        except OSError:
            pass  # samples that are held are lost with this process
        if held := self.queue.held():
            self.reports.add(
                f"{held} samples could not be sent before the end, and are lost: "
                + ("the daemon does not take them" if self.connection.connected
                   else "there is no daemon"))  # fmt: skip
        self.keeper.end()

    def _is_done(self):
        if not self.connection.connected:
            return True
        return not self.queue.held() and self.conversation.is_settled()


feeder = Feeder()
atexit.register(feeder.finish)
os.register_at_fork(after_in_child=feeder.after_fork_in_child)
