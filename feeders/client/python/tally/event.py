"""Events of this program: tracing/events/SYSTEM/NAME.

Registration, enabled() and records. Guarded by the exclusion, except enabled(). At most 65,536."""
import threading
from time import monotonic_ns as _now

from .checks import check_name
from .event_fields import fixed_bytes, pack_fields, parse_fields
from .exclusion import exclusive
from .feeder import feeder
from .link import SENT
from .registry import check_new
from .request import REGISTERED, Subject
from .switches import OFF, switches
from .task import own_cpu, own_name
from .requester import Requester
from .wire import encode_header, encode_user_record

_WANTS_COMM = 2  # a bit of the switch


class Event(Subject):
    """An event of this program: tracing/events/SYSTEM/NAME, see include/tally/event.h.

        done = tally.Event("web", "done", "u64 lat; pid_t pid; char comm[16]")
        if done.enabled():
            done.write(1750, os.getpid(), "worker")

    system, name: as an interface's name. fields: `TYPE NAME`, separated by semicolons, as in
    synthetic_events; 1 to 64. ValueError: a name or the fields. OSError: EEXIST, this process has
    it already; ENOSPC, this process has 65,536; EAGAIN, no thread could be started. A refusal of
    the daemon is told like that of a statistic. Not for signal handlers.

    As a context manager it is released at the end."""

    def __init__(self, system, name, fields):
        super().__init__()
        self.system = check_name("a system's name", system)
        self.name = check_name("an event's name", name)
        self._fields = fields
        self._parsed = parse_fields(fields)
        self._texts_at = fixed_bytes(self._parsed)
        self._switch = OFF
        _events.add(self)

    def enabled(self):
        """Whether records are wanted."""
        return self._switch[0] != 0

    def write(self, *values):
        """A record, now: a value for each field, in their order; texts are str or bytes, and are
        cut to their room. It is sent at once. A record without room is dropped and counted. A
        record is lost if it is written before the daemon has registered the event, for a forked
        child that of the child. statistic_count() does not count records, but those whose values
        do not fit the fields: they raise nothing, are `invalid`, and the first is reported."""
        feeder.wake_up_in_child()
        if not self._switch[0]:
            return
        fields = pack_fields(self._parsed, self._texts_at, values)
        if fields is None:
            return feeder.invalid.note(self, values)
        _events.write(self, fields)

    def release(self):
        """Ends it. In the tree it goes with the process."""
        _events.drop(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __repr__(self):
        return f"<tally.Event {self._path()}>"

    # ---- registration

    def _path(self):
        return f"{self.system}/{self.name}"

    def _create_text(self):
        return f"event define {self._path()} lifetime=feeder {self._fields}"

    def _take_registration(self, response):
        if not self._removed:
            self._state, self._number = REGISTERED, response.number
            self._point_at_switch()

    def _point_at_switch(self):
        if self._state == REGISTERED:
            self._switch = switches.of(self._number)


class _Events(Requester):
    def __init__(self):
        self._exclusion = feeder.exclusion
        self._events = {}  # by system and name

    @exclusive
    def add(self, event):
        check_new((event.system, event.name) in self._events, len(self._events))
        feeder.start_keeper()
        self._events[event.system, event.name] = event
        feeder.conversation.make_due_soon(event)
        feeder.wake_keeper()

    @exclusive
    def drop(self, event):
        if self._events.get((event.system, event.name)) is event:
            del self._events[event.system, event.name]
            event._switch = OFF
            feeder.conversation.drop(event, in_tree=True)

    # Records leave in their order, each in a datagram of its own.
    @exclusive
    def write(self, event, fields):
        if not feeder.connection.connected or event._state != REGISTERED:
            return
        comm = own_name() if event._switch[0] & _WANTS_COMM else b""
        record = encode_user_record(
            event._number, _now(), own_cpu(), threading.get_native_id(), fields, comm
        )
        datagram = encode_header(feeder.conversation.epoch) + record
        feeder.queue.dropped += feeder.connection.link.send(datagram) != SENT

    # ---- the conversation

    def begin(self):
        for event in self._events.values():
            feeder.conversation.register(event)
            event._switch = OFF

    def point_at_switches(self):
        for event in self._events.values():
            event._point_at_switch()

    def take_stale(self):
        self.look()

    # An event that a user has removed comes back, because the program still has it.
    def look(self):
        for event in self._events.values():
            if event._state == REGISTERED and switches.is_void(event._number):
                event._switch = OFF
                feeder.conversation.register_again(event)


_events = feeder.join(_Events())
