"""The work of calls that add samples, when a datagram is full or there is no room.

Called outside the exclusion. A call waits for another thread only where each sample is sent in its
own call, or where there is no room for the sample; and for the daemon only if Settings.wait_ms says
so."""
import select
import struct
from time import monotonic_ns as _now

from .exclusion import OTHERS, OURSELVES
from .samples import FULL, RECORD_BYTES, gathered

_MAY_WAIT = object()


class Callers:
    def __init__(self, configured, exclusion, connection, queue, keeper):
        self._configured, self._exclusion = configured, exclusion
        self._connection, self._link = connection, connection.link
        self._queue, self._keeper = queue, keeper

    def make_room(self):
        """After len(gathered) has reached queue.stop: sends, or makes room."""
        queue, deadline = self._queue, None
        while True:
            has_room = queue.held() < self._configured.settings.held_max
            waits = queue.alert == 1 or not has_room
            done = self._exclusion.run(self._make_room, None if waits else 0)
            if done is OURSELVES:
                self._keeper.ring()
                if not has_room:
                    queue.drop_records(gathered.pop())
            if done is OTHERS:
                self._leave_to_others()
            if done is not _MAY_WAIT:
                return
            deadline = self._wait_for_room(deadline)

    # The thread that has the lock may be waiting 5 ms for the GIL: not every sample until then is
    # to try in vain. The keeper sets alert before stop when it goes to sleep, so that this does not
    # undo it.
    def _leave_to_others(self):
        self._queue.stop = len(gathered) + FULL
        if self._queue.alert == 1:
            self._queue.stop = 1

    def _make_room(self):
        queue = self._queue
        self._move_on()
        if len(gathered) < queue.alert or queue.room():
            return None
        if self._may_wait():
            return _MAY_WAIT
        return queue.drop_gathered()

    def take_batch(self, records):
        """Adds packed samples behind those that were added before."""
        deadline = None
        while records:
            done = self._exclusion.run(lambda: self._take_some(records))
            if done is OTHERS:
                return
            if done is OURSELVES:
                gathered.extend(each for each, in struct.iter_unpack(f"{RECORD_BYTES}s", records))
                return self._keeper.ring()
            taken, may_wait = done
            records = records[taken:]
            if may_wait:
                deadline = self._wait_for_room(deadline)

    # How many bytes were taken, and whether the caller may wait for room before the next.
    def _take_some(self, records):
        queue = self._queue
        queue.take_gathered()
        taken = queue.take_records(records)
        self._move_on()
        if taken == len(records) or queue.room():
            return taken, False
        if self._may_wait():
            return taken, True
        queue.drop_records(records[taken:])
        return len(records), False

    # Towards the daemon, by full datagrams, unless samples are sent one by one.
    def _move_on(self):
        queue = self._queue
        if queue.alert == 1:
            self._keeper.wake(_now())
        queue.take_gathered()
        if self._connection.connected and (not self._link.full or self._may_wait()):
            queue.send(queue.alert)

    def _may_wait(self):
        wait_ms = self._configured.settings.wait_ms
        return wait_ms and self._link.full and not self._queue.has_waited_in_vain

    def _wait_for_room(self, deadline):
        now = _now()
        deadline = deadline or now + self._configured.settings.wait_ms * 1_000_000
        if now >= deadline:
            self._queue.has_waited_in_vain = True
        else:
            self._link.wait(select.POLLOUT, (deadline - now) / 1e9)
        return deadline
