"""One round of all that is to be done: find the daemon, send, take responses, request.

Called inside the exclusion, by the keeper's thread, and by calls that wait for the daemon."""
from time import monotonic_ns as _now

from .conversation import IDLE_NS
from .link import DAEMON_GONE
from .samples import FULL

# How often the keeper looks while samples are added; and without any progress, as when the daemon
# hangs.
TICK_NS = 5_000_000
_SLOW_TICK_NS = 50_000_000
_PAUSE_MIN_NS = 500_000


class Rounds:
    def __init__(self, connection, conversation, queue, pace):
        self._connection, self._link = connection, connection.link
        self._conversation, self._queue, self._pace = conversation, queue, pace

    def round(self, now, urgent=False):
        """urgent: sends and requests at once what would have waited for more."""
        connection, conversation, queue = self._connection, self._conversation, self._queue
        self.reach_daemon(now)
        if connection.connected:
            # Sending comes first: any other call to the kernel may lose the GIL for 5 ms.
            if urgent or now >= self._pace.send_at:
                self._pace.note_sending(now)
                queue.send_all()
            self._take_responses(now)
            if urgent:
                queue.send_all()  # samples whose statistic has just got its number
                conversation.send_pending()
            else:
                conversation.send_due(now)
            self._keep_in_touch(now, urgent)
            for user in conversation.users:
                user.end_round()
        if connection.is_cut():
            self.lose_daemon(now)

    def reach_daemon(self, now):
        """Connects, if it is time to."""
        if self._connection.attempt(now):
            self._conversation.begin(now)

    def lose_daemon(self, now):
        self._connection.end(now)
        self._conversation.end()

    def send_at_once(self, message):
        """A datagram that waits for nothing; returns what Link.send() returns. A daemon that has
        been replaced is noticed by the first datagram that it does not get, so there are two
        attempts."""
        for _ in range(2):
            now = _now()
            self.reach_daemon(now)
            if not self._connection.connected:
                break
            sent = self._link.send(message)
            if sent != DAEMON_GONE:
                return sent
            self.lose_daemon(now)
            self._connection.attempt_soon()
        return DAEMON_GONE

    def pause_s(self, now):
        """How long the keeper may sleep after this round."""
        return max(self._pause_ns(now), _PAUSE_MIN_NS) / 1e9

    def _pause_ns(self, now):
        connection, queue, pace = self._connection, self._queue, self._pace
        if not connection.connected:
            return connection.next_attempt_at - now
        if self._link.full:
            return IDLE_NS
        if pace.is_active(now):
            return min(pace.send_at - now, TICK_NS) if queue.held() else TICK_NS
        if not self._conversation.is_settled() or queue.is_under_way():
            return _SLOW_TICK_NS
        queue.alert = 1
        queue.stop = 1  # from now on the call that adds a sample wakes the keeper
        if not queue.held():
            return IDLE_NS
        queue.alert = FULL
        return max(min(pace.send_at - now, _SLOW_TICK_NS), 0)

    def _take_responses(self, now):
        while self._conversation.in_flight or self._queue.is_under_way():
            if not self._conversation.receive():
                return
            self._pace.note_activity(now)

    def _keep_in_touch(self, now, urgent):
        conversation = self._conversation
        self._queue.send_dropped()
        since_ping_ns = now - conversation.pinged_at
        is_idle = since_ping_ns >= IDLE_NS
        is_due = urgent or since_ping_ns >= _SLOW_TICK_NS
        if is_idle or (is_due and self._queue.is_under_way()):
            conversation.ping(now, self._queue.sent)
        if is_idle:
            for user in conversation.users:
                user.look()
