"""The interfaces and statistics of this process, and what concerns all of them.

Guarded by the exclusion. At most 65,536 interfaces, and as many statistics."""
import errno

from .checks import os_error
from .exclusion import exclusive
from .feeder import feeder
from .removals import removals
from .request import GONE, REGISTERED, REQUESTED, UNKNOWN
from .switches import ASLEEP, OFF, ON, switches
from .requester import Requester

_COUNT_MAX = 65_536


def check_new(exists, count):
    """OSError: EEXIST; ENOSPC, there are 65,536."""
    if exists:
        raise os_error(errno.EEXIST, "this process has one of that name already")
    if count >= _COUNT_MAX:
        raise os_error(errno.ENOSPC, f"one feeder cannot have more than {_COUNT_MAX}")


class Registry(Requester):
    def __init__(self):
        self._exclusion = feeder.exclusion
        self._interfaces = {}  # by name
        self._count = 0  # statistics that have not been dropped
        self._parents_switches = {}  # by statistic, in a forked child that is asleep

    # ---- adding and dropping

    @exclusive
    def add_interface(self, interface):
        check_new(interface.name in self._interfaces, len(self._interfaces))
        feeder.start_keeper()
        self._interfaces[interface.name] = interface
        self._make_due_soon(interface)

    @exclusive
    def add_statistic(self, statistic):
        interface = statistic.interface
        if self._interfaces.get(interface.name) is not interface:
            raise ValueError(f"{interface!r} was removed or released")
        check_new(statistic.name in interface._statistics, self._count)
        self._count += 1
        interface._statistics[statistic.name] = statistic
        feeder.queue.give_id(statistic)
        self._make_due_soon(statistic)
        conversation = feeder.conversation
        if interface._state == GONE:
            conversation.register_again(interface)
        if interface in conversation.refused:
            conversation.refuse(statistic, conversation.refused[interface])

    def _make_due_soon(self, subject):
        feeder.conversation.make_due_soon(subject)
        feeder.wake_keeper()

    @exclusive
    def drop_interface(self, interface, in_tree):
        if self._interfaces.get(interface.name) is not interface:
            return
        for statistic in list(interface._statistics.values()):
            self._drop_statistic(statistic, in_tree)
        del self._interfaces[interface.name]
        feeder.conversation.drop(interface, in_tree)
        self._end_dropping(interface, in_tree)

    @exclusive
    def drop_statistic(self, statistic, in_tree):
        if statistic.interface._statistics.get(statistic.name) is not statistic:
            return
        self._drop_statistic(statistic, in_tree)
        self._end_dropping(statistic, in_tree)

    # A statistic that was released is kept as long as it has samples that cannot be sent yet.
    def _drop_statistic(self, statistic, in_tree):
        feeder.queue.send_all()
        statistic._switch = OFF
        statistic._note_answered()
        statistic._unbind()
        del statistic.interface._statistics[statistic.name]
        self._count -= 1
        feeder.queue.leaving.add(statistic._id)
        feeder.conversation.drop(statistic, in_tree)

    def _end_dropping(self, subject, in_tree):
        # While a daemon is away no removal is kept: the next one may have it from other feeders.
        if in_tree and (feeder.connection.connected or not feeder.connection.was_connected):
            removals.add(subject._path())
        self.end_round()
        feeder.wake_keeper()

    # ---- the conversation

    def begin(self):
        leaving = feeder.queue.leaving
        living = [each for key, each in feeder.queue.statistics.items()
                  if each._id == key and not each._removed]  # fmt: skip
        # Also those that were released, of statistics that have samples.
        interfaces = list(self._interfaces.values()) + [each.interface for each in living]
        for subject in dict.fromkeys(interfaces + living):
            feeder.conversation.register(subject)
        for statistic in living:
            statistic._forget_registration(statistic._id in leaving)
        for statistic in self._parents_switches:
            if statistic._id not in leaving:
                statistic._switch = ASLEEP

    def take_stale(self):
        if switches.is_there():
            return self.look()
        for statistic in feeder.queue.statistics.values():
            # Views that are gone went with their source, and stay gone.
            if statistic._state == REGISTERED and statistic._number:
                feeder.conversation.register_again(statistic.interface)
                feeder.conversation.register_again(statistic)

    def point_at_switches(self):
        for statistic in feeder.queue.statistics.values():
            statistic._point_at_switch()

    # A statistic whose number is void is gone, and its interface may be. Both are registered again
    # when there are samples for it.
    def look(self):
        for statistic in feeder.queue.statistics.values():
            if statistic._state != REGISTERED or not statistic._number:
                continue  # views have no number
            if switches.is_void(statistic._number):
                statistic._state, statistic._number = GONE, 0
                statistic._unbind()
                if statistic._id not in feeder.queue.leaving:
                    statistic._switch = ON
                if statistic.interface._state == REGISTERED:
                    statistic.interface._state = GONE

    # Forgets statistics that were dropped and have neither samples nor a registration to come.
    def end_round(self):
        queue = feeder.queue
        if not queue.leaving or not queue.is_empty():
            return
        for each in list(queue.leaving):
            statistic = queue.statistics[each]
            is_awaited = statistic._state in (UNKNOWN, REQUESTED) and not queue.is_void(each)
            if not is_awaited or feeder.connection.is_missing:
                del queue.statistics[each]
                queue.leaving.remove(each)

    # ---- fork

    def inherit(self):
        # A child that has not woken up may fork, too.
        kept = {each: each._switch for each in feeder.queue.statistics.values()}
        kept.update(self._parents_switches)
        self._parents_switches = kept
        for statistic in kept:
            statistic._dropped = 0
            statistic._late.clear()  # the parent passes them on: a reset once more loses samples

    # The first sample of any statistic has woken the child up: some that were added since the fork
    # are of statistics that were off.
    def wake_up(self):
        ids_off = set()
        for statistic, switch in self._parents_switches.items():
            if statistic._switch is ASLEEP:
                statistic._switch = switch
                if not switch[0]:
                    ids_off.add(statistic._id)
        self._parents_switches = {}
        feeder.queue.keep_only_wanted(ids_off)


registry = feeder.join(Registry())
