"""Counting samples in memory that the daemon shares with this process (docs/lane.md), instead of
sending them.

Asked for when samples of a statistic were sent that can be counted: first the shapes, which say
how, then the lane, and then for each statistic the daemon is told where its cells are. What it
refuses is not asked for again; those samples go by the socket.

Guarded by the exclusion."""
import errno
import functools

from .cells import BY_CELL, WAY, Form, are_possible
from .conversation import reason_of
from .earlier_cells import EarlierCells
from .feeder import feeder
from .lane_file import IDS_MAX, LANE_BYTES, LaneFile, Shapes
from .request import REFUSED, REGISTERED, REQUESTED, UNKNOWN, Request
from .requester import Requester
from .statistic_cells import StatisticCells
from .switches import switches
from .wire import encode_binding


class Lane(Requester):
    def __init__(self):
        self._are_possible = are_possible()
        self._file = None
        self._earlier = EarlierCells()
        self._forget()

    def _forget(self):
        if self._file:
            is_unread = any(switch[0] & WAY for switch in self._switches.values())
            self._earlier.add(self._file, is_unread)
        self._shapes = self._file = None
        self._shapes_state = self._file_state = UNKNOWN
        self._next_id = 0
        self._wanted = {}  # statistics that are to have cells, in order; their ids, or None
        self._switches = {}  # by the numbers of those that have some

    def samples(self):
        """(how many this process has counted in cells, how many of them may be lost)"""
        now = self._file.samples() if self._file else 0
        return self._earlier.samples() + now, self._earlier.lost

    # ---- which statistics

    def end_round(self):
        self._note_lost()
        ids = feeder.queue.take_ids_sent()
        if not self._are_possible or feeder.configured.settings.no_lane:
            return
        for each in ids:
            statistic = feeder.queue.statistics.get(each)
            if statistic and self._goes_by_cell(statistic):
                self._give_cells(statistic)
        # Those that have changed, or are gone, since they were wanted.
        gone = [each for each in self._wanted if not self._goes_by_cell(each)]
        for each in gone:
            del self._wanted[each]
        if gone and not self._wanted:
            feeder.conversation.withdraw(self)

    def _note_lost(self):
        more = self._earlier.settle(feeder.conversation.epoch)
        if more:
            feeder.reports.add(f"{more} samples may be lost: the daemon that could have counted "
                               "them was killed")

    def _goes_by_cell(self, statistic):
        number = statistic._number
        if not number or statistic._state != REGISTERED or not _goes_by_cell(statistic._switch):
            return False
        shape = self._shapes.find(number) if self._shapes else None
        return shape is None or Form.read(shape) is not None

    def _give_cells(self, statistic):
        if statistic._binding == REGISTERED:
            statistic._use_cells()
        elif statistic._binding == UNKNOWN:
            self._want(statistic)

    def _want(self, statistic):
        if REFUSED not in (self._shapes_state, self._file_state):
            self._wanted.setdefault(statistic)
            feeder.conversation.make_due(self)

    # ---- requests

    def begin(self):
        self._forget()
        for statistic in feeder.queue.statistics.values():
            statistic._unbind()

    def end(self):
        # What is counted from now on is for the next daemon.
        self.begin()

    def _requests(self, conversation):
        if self._shapes_state == UNKNOWN:
            yield self._request_memory("shapes", "_shapes_state", self._take_shapes)
        elif self._shapes_state == REGISTERED and self._file_state == UNKNOWN:
            yield self._request_memory(f"lane {LANE_BYTES}", "_file_state", self._take_file)
        elif self._file_state == REGISTERED:
            for statistic in list(self._wanted):
                yield self._request_binding(statistic)

    def _request_memory(self, text, state, take):
        def note_sent():
            setattr(self, state, REQUESTED)
            feeder.conversation.withdraw(self)

        def take_response(response):
            if getattr(self, state) == REQUESTED:
                setattr(self, state, self._state_after(response, take))
                if getattr(self, state) == REFUSED:
                    self._wanted = {}
                elif self._wanted:
                    feeder.conversation.make_due(self)

        return Request(text, note_sent, take_response)

    # Daemons that know of no lanes do not know the words.
    def _state_after(self, response, take):
        if response is None:
            return UNKNOWN
        try:
            if not response.error:
                take(response)
                return REGISTERED
            if response.error != errno.EINVAL:
                feeder.reports.add(f"samples go by the socket: {reason_of(response)}")
        except (OSError, ValueError) as error:
            feeder.reports.add(f"samples go by the socket: {error}")
        return REFUSED

    def _take_shapes(self, response):
        self._shapes = Shapes(feeder.conversation.attached, response.number)

    def _take_file(self, response):
        conversation = feeder.conversation
        self._file = LaneFile(conversation.attached, response.number, self._shapes)
        self._earlier.epoch = conversation.epoch

    def _request_binding(self, statistic):
        if self._wanted[statistic] is None:
            self._wanted[statistic] = self._next_id
            self._next_id += 1
        each, number = self._wanted[statistic], statistic._number

        def note_sent():
            self._wanted.pop(statistic, None)
            if not self._wanted:
                feeder.conversation.withdraw(self)
            statistic._binding = REQUESTED

        encode = functools.partial(encode_binding, each=each, lane=self._file.number, number=number)
        take = functools.partial(self._take_binding, statistic, each, number)
        return Request("", note_sent, take, encode)

    def _take_binding(self, statistic, each, number, response):
        if statistic._binding != REQUESTED or statistic._number != number:
            return
        if response is None:
            statistic._binding = UNKNOWN
            self._want(statistic)
        elif response.error or each >= IDS_MAX or self._shapes.find(number) is None:
            statistic._binding = REFUSED
        else:
            self._switches[number] = switches.of(number)
            statistic._bind(StatisticCells(
                feeder.exclusion, self._file, (number, each),
                (switches.is_void, statistic._use_no_cells),
            ))  # fmt: skip

    # ---- fork

    def inherit(self):
        # A call that the fork has interrupted may go on in the child.
        if self._file:
            self._file.make_private()
        self._file = None
        self._earlier = EarlierCells()
        self._forget()


def _goes_by_cell(switch):
    return switch[0] & WAY == BY_CELL


lane = feeder.join(Lane())
