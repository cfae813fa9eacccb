"""A statistic as the conversation sees it: its registration, its changes, and its switch.

Guarded by the exclusion, except _switch, _id, _totals and _cells: calls that add samples read them.

Changes that a program makes before the daemon has registered a statistic are part of the
registration. Of later changes some must precede samples (_early), others must follow the samples
that were added before them (_late). The first start(), stop() or reset() applies to a new statistic
only: one that was there before stays as its users have defined it. The daemon takes early changes
as defaults (default=1): what users and rules have defined since stays."""
import functools

from .cells import WAY
from .checks import check_name
from .exclusion import exclusive
from .feeder import feeder
from .request import GONE, REGISTERED, REQUESTED, UNKNOWN, Request, Subject
from .switches import OFF, ON, switches
from .wire import WAS_THERE


class FedStatistic(Subject):
    __slots__ = ("_switch", "_id", "name", "interface", "_units", "_type", "_has_begun", "_begin",
                 "_on", "_early", "_late", "_changes_pending", "_made_in", "_was_there",
                 "_dropped", "_has_views", "_awaited_views", "_binding", "_bound", "_cells",
                 "_totals", "__weakref__")  # fmt: skip

    _exclusion = feeder.exclusion

    def __init__(self, interface, name, units):
        super().__init__()
        self.name = check_name("a statistic's name", name)
        self.interface = interface
        self._units = check_name("units", units, "=") if units else ""
        self._type = ""  # as in a definition line, with its range
        self._switch = OFF
        self._id = 0  # of its samples in this process
        # Whether start() or stop() was called; the first of them, and the last.
        self._has_begun = False
        self._begin = self._on = False
        # Changes that a daemon which has registered it is still to be told: those that precede its
        # samples if it is new ("type", "on"), and those that follow them ("on", "reset").
        self._early, self._late = {}, {}
        self._changes_pending = 0
        # The epoch of the daemon that made it for this process. In any other it was there before.
        self._made_in = 0
        self._was_there = False
        self._dropped = 0
        self._has_views = False  # made by this process, now or earlier
        # Those that the daemon has not answered for: samples are wanted, whatever the switch says.
        self._awaited_views = set()
        self._unbind()

    def _path(self):
        return f"{self.interface.name}/{self.name}"

    # ---- changes by the program

    @exclusive
    def _define(self, text):
        self._type = text
        is_new = self._state == REGISTERED and not self._was_there
        if self._state == REQUESTED or is_new:
            self._early["type"] = text
            self._pass_on()

    @exclusive
    def _turn(self, on):
        if self._id in feeder.queue.leaving:
            return
        begins, self._has_begun = not self._has_begun, True
        self._on = on
        if not begins:
            self._late["on"] = on
        else:
            self._begin = on
            if self._state == REGISTERED and self._was_there:
                return
            if self._state in (REQUESTED, REGISTERED):
                self._early["on"] = on
        # Samples that follow count, or do not, before the daemon has been told. Views may want
        # them.
        if on or not self._has_views:
            self._switch = ON if on else OFF
        self._pass_on()

    @exclusive
    def _feed_view(self, view):
        if self._id in feeder.queue.leaving:
            return
        self._has_views = True
        # A view wants samples, also of a source that is off. Later the daemon's switch says so.
        feeder.queue.send_all()
        self._await_view(view)
        self._switch = ON

    def _await_view(self, view):
        self._awaited_views.add(view)

    def _end_wait_for_view(self, view):
        if view in self._awaited_views:
            self._awaited_views.remove(view)
            self._point_at_switch()

    def _note_answered(self):
        """The daemon has answered its registration, or that is not awaited any longer."""

    @exclusive
    def _reset(self):
        queue = feeder.queue
        if self._id in queue.leaving:
            return
        begins, self._has_begun = not self._has_begun, True
        if begins and self._state == REGISTERED and self._was_there:
            return
        if self._state != REGISTERED:
            # Its samples are still here.
            queue.leaving.add(self._id)
            queue.give_id(self)
        if not begins or self._state == REGISTERED:
            self._late["reset"] = True
            self._pass_on()

    def _pass_on(self):
        if self._state != REGISTERED:
            return
        # Samples that follow are sent behind the change, until the daemon has answered it.
        if self._switch[0] & WAY:
            self._switch = ON
        feeder.queue.send_all()
        feeder.conversation.make_due(self)
        if feeder.connection.connected:
            feeder.conversation.request()
        feeder.wake_keeper()

    # ---- requests and responses

    def _create_text(self):
        # A change that is still to be passed on comes after samples that were added before it.
        on = self._begin if "on" in self._late else self._on
        words = ["create", self._path(), self._type, on and "on=1"]
        return " ".join(filter(None, words + [self._units and f"units={self._units}"]))

    def _change_text(self, changes):
        words = ["define", self.interface.name, f"name={self.name}"]
        words.append(changes is self._early and "default=1")
        words.append(changes.get("type"))
        words.append("reset" in changes and "data=reset")
        words.append("on" in changes and f"on={changes['on']:d}")
        return " ".join(filter(None, words))

    def _requests(self, conversation):
        if self._state != REGISTERED:
            if self.interface._state == REGISTERED:
                yield conversation.registration_of(self)
            return
        is_late = not feeder.queue.has_records()
        if is_late and "on" in self._late:
            self._early.pop("on", None)  # the later one stands
        for changes in [self._early] + [self._late] * is_late:
            if changes:
                note_sent = functools.partial(self._note_change_sent, changes)
                yield Request(self._change_text(changes), note_sent, self._take_change)

    def _note_change_sent(self, changes):
        changes.clear()
        if not self._early and not self._late:
            feeder.conversation.withdraw(self)
        self._changes_pending += 1

    def _take_change(self, response):
        feeder.conversation.take_change(self, response)
        self._changes_pending = max(self._changes_pending - 1, 0)
        self._point_at_switch()

    def _take_registration(self, response):
        epoch = feeder.conversation.epoch
        if not response.flags & WAS_THERE:
            self._made_in = epoch
        self._was_there = self._made_in != epoch
        if self._was_there:
            self._early.clear()
        else:
            self._late.pop("reset", None)  # there was nothing yet
        if self._number != response.number:
            self._unbind()
        self._state, self._number = REGISTERED, response.number
        feeder.conversation.withdraw(self)
        if not self._removed and (self._early or self._late):
            feeder.conversation.make_due(self)
        self._point_at_switch()
        self._note_answered()

    def _take_refusal(self, response):
        self._note_answered()

    def _must_precede_samples(self):
        """A registration, of a view too, or an early change has to be sent, or answered, before its
        samples."""
        if self._state == GONE:
            feeder.conversation.register_again(self.interface)
            feeder.conversation.register_again(self)
        if not self._number or self._early:
            return True
        return any(view._state == UNKNOWN for view in self._awaited_views)

    def _forget_registration(self, is_leaving):
        """Nothing is known of the daemon."""
        self._number = self._changes_pending = 0
        self._early.clear()
        # Users that had it on in the daemon before may have it on in the next one: its response
        # will tell.
        if not is_leaving:
            self._switch = ON if self._switch[0] or self._on else OFF

    # ---- cells

    def _bind(self, cells):
        """The daemon knows of its cells."""
        self._binding, self._bound = REGISTERED, cells
        self._use_cells()

    def _unbind(self):
        self._binding, self._bound = UNKNOWN, None
        self._use_no_cells()

    def _use_cells(self):
        self._cells, self._totals = self._bound, self._bound.totals

    def _use_no_cells(self):
        self._cells, self._totals = None, ()

    def _point_at_switch(self):
        if self._state != REGISTERED or self._id in feeder.queue.leaving or self._removed:
            return
        if self._early or self._late or self._changes_pending or self._awaited_views:
            return  # it is as the program wants it
        self._switch = switches.of(self._number)
