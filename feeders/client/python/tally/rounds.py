"""One round of all that is to be done: find the daemon, send, take responses, request.

Called inside the exclusion, by the keeper's thread, and by calls that wait for the daemon."""
from time import monotonic_ns as _now

from .connection import Connection
from .conversation import IDLE_NS, Conversation
from .link import DAEMON_GONE
from .pace import Pace
from .sample_queue import SampleQueue
from .samples import FULL

# How often the keeper looks while samples are added; and without any progress, as when the daemon
# hangs.
TICK_NS = 5_000_000
_SLOW_TICK_NS = 50_000_000
_PAUSE_MIN_NS = 500_000


class Rounds:
    """The connection, the conversation on it, and the samples. report: called with a line of
    text."""

    def __init__(self, configured, report):
        self.pace = Pace(configured)
        self.connection = Connection(configured, report)
        self.conversation = Conversation(self.connection.link, report)
        self.queue = SampleQueue(self.connection, self.conversation, configured, self.pace)
        self.conversation.requesters.append(self.queue)

    def reset(self):
        """As at the start of a process."""
        for part in (self.connection, self.pace, self.queue):
            part.reset()
        self.conversation.begin(0)

    def round(self, now, urgent=False):
        """urgent: samples and requests do not wait for more of them."""
        connection, conversation, queue = self.connection, self.conversation, self.queue
        self.reach_daemon(now)
        if connection.connected:
            # Sending comes first: any other call to the kernel may lose the GIL for 5 ms.
            if urgent or now >= self.pace.send_at:
                self.pace.note_sending(now)
                queue.send_all()
            self._take_responses(now)
            if urgent:
                queue.send_all()  # of statistics that have just got their numbers
                conversation.request()
            else:
                conversation.request_if_due(now)
            self._keep_in_touch(now, urgent)
            for requester in conversation.requesters:
                requester.end_round()
        if connection.is_cut():
            self.lose_daemon(now)

    def reach_daemon(self, now):
        """Connects, if it is time to."""
        if self.connection.attempt(now):
            self.conversation.begin(now)

    def lose_daemon(self, now):
        self.connection.end(now)
        self.conversation.end()

    def send_at_once(self, message):
        """Sends a datagram before everything else, with the result of Link.send(). A daemon that
        has been replaced is noticed by the first datagram that it does not get, so there are two
        attempts."""
        for _ in range(2):
            now = _now()
            self.reach_daemon(now)
            if not self.connection.connected:
                break
            sent = self.connection.link.send(message)
            if sent != DAEMON_GONE:
                return sent
            self.lose_daemon(now)
            self.connection.attempt_soon()
        return DAEMON_GONE

    def pause_s(self, now):
        """How long the keeper may sleep after this round."""
        return max(self._pause_ns(now), _PAUSE_MIN_NS) / 1e9

    def _pause_ns(self, now):
        connection, queue, pace = self.connection, self.queue, self.pace
        if not connection.connected:
            return connection.next_attempt_at - now
        if self.connection.link.full:
            return IDLE_NS
        if pace.is_active(now):
            return min(pace.send_at - now, TICK_NS) if queue.held() else TICK_NS
        if not self.conversation.is_settled() or queue.is_under_way():
            return _SLOW_TICK_NS
        queue.alert = 1
        queue.stop = 1  # from now on the call that adds a sample wakes the keeper
        if not queue.held():
            return IDLE_NS
        queue.alert = FULL
        return max(min(pace.send_at - now, _SLOW_TICK_NS), 0)

    def _take_responses(self, now):
        while self.conversation.pending or self.queue.is_under_way():
            if not self.conversation.receive():
                return
            self.pace.note_activity(now)
            if self.conversation.epoch:
                self.connection.note_answer()

    def _keep_in_touch(self, now, urgent):
        conversation = self.conversation
        self.queue.send_dropped()
        since_ping_ns = now - conversation.pinged_at
        is_idle = since_ping_ns >= IDLE_NS
        is_due = urgent or since_ping_ns >= _SLOW_TICK_NS
        if is_idle or (is_due and self.queue.is_under_way()):
            conversation.ping(now, self.queue.sent)
        if is_idle:
            for requester in conversation.requesters:
                requester.look()
