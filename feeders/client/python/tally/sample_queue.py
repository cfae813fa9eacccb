"""Samples on their way from their calls to the daemon, in the order in which they were added.

`gathered` (samples.py) -> records -> datagrams. Guarded by the exclusion, except held() and stop,
which any thread may read. At most Settings.held_max samples: callers.py drops more.
A datagram ends before the first sample whose statistic has no number yet; later samples wait, so
that all keep their order."""
from time import monotonic_ns as _now
from typing import NamedTuple

from .link import SENT
from .request import REFUSED
from .samples import FULL, ONES, RECORD_BYTES, by_statistic, gathered, id_of, ids_of
from .requester import Requester
from .wire import DATAGRAM_BYTES, encode_dropped, encode_header, encode_samples


class Counts(NamedTuple):
    """Samples since the start of the process, or since the fork of the child. Each sample that was
    added while its statistic was on is counted once: added == held + sent + dropped, and
    sent == confirmed + lost + those on the way. Those that are invalid were not added."""

    added: int
    held: int  # in memory of this process
    sent: int  # handed to the kernel, or counted in a cell
    confirmed: int  # the daemon has taken them in, or reads them in a cell
    # Were on the way when the daemon went, or named a statistic that was gone, or stood in a cell
    # when the daemon was killed: of these it may have saved all but the latest. An upper bound.
    lost: int
    dropped: int  # there was no room, or the daemon refused their statistic
    invalid: int  # their numbers were not those of a sample, or of an event's record


class SampleQueue(Requester):
    def __init__(self, connection, conversation, configured, pace):
        self._connection, self._link = connection, connection.link
        self._conversation, self._configured, self._pace = conversation, configured, pace
        self.statistics = {}  # by id; also those that were dropped and have samples here
        self.leaving = set()  # ids that are forgotten when no samples are held
        self._next_id = 1
        self.reset()

    def reset(self):
        """As at the start of a process."""
        gathered.clear()
        self._records = bytearray()  # samples that cannot be sent yet, the oldest first
        # The call after which len(gathered) is at least `stop` takes care of them. It is `alert`
        # as a rule, and more while another thread is taking care of them.
        self.stop = self.alert = 1
        self._fitting = FULL  # the number of samples of the last datagrams
        self.sent = self.dropped = self._confirmed = self._lost = self._dropped_said = 0
        self.consumed = 0  # samples that have left the front of records, sent or not
        self.has_waited_in_vain = False
        self._ids_sent = set()

    # ---- held samples

    def held(self):
        return len(gathered) + len(self._records) // RECORD_BYTES

    def room(self):
        """For further records; with FULL samples in `gathered` the bound is held_max."""
        return self._configured.settings.held_max - FULL - len(self._records) // RECORD_BYTES

    def has_records(self):
        return bool(self._records)

    def is_empty(self):
        return not self._records and not gathered

    def is_under_way(self):
        """The daemon has not confirmed all that was sent."""
        return self.sent != self._confirmed + self._lost

    def is_confirmed(self, sent):
        """Of the first `sent` samples none is on its way."""
        return self._confirmed + self._lost >= sent

    def counts(self, invalid, in_cells, lost_in_cells):
        held, sent = self.held(), self.sent + in_cells
        added, confirmed = held + sent + self.dropped, self._confirmed + in_cells - lost_in_cells
        lost = self._lost + lost_in_cells
        return Counts(added, held, sent, confirmed, lost, self.dropped, invalid)

    def give_id(self, statistic):
        """A new id: samples that have the old one are no longer its own."""
        statistic._id = self._next_id
        self.statistics[self._next_id] = statistic
        self._next_id += 1

    def keep_only_wanted(self, ids_off):
        """Discards gathered samples of these statistics."""
        count = len(gathered)
        gathered[:count] = [each for each in gathered[:count] if id_of(each)[0] not in ids_off]

    # ---- the conversation

    def begin(self):
        self._lost = self.sent - self._confirmed

    def end(self):
        self.begin()
        self.has_waited_in_vain = False

    def confirm(self, sent_before, is_stale):
        known = max(sent_before - self._confirmed - self._lost, 0)
        if is_stale:
            self._lost += known
        else:
            self._confirmed += known

    # ---- taking in

    def take_gathered(self):
        """As many of `gathered` as there is room for."""
        count = min(len(gathered), self.room())
        self._records += b"".join(gathered[:count])
        del gathered[:count]  # other threads append behind these only

    def take_records(self, records):
        """As many of these packed samples as there is room for; returns their bytes. None as long
        as older ones are in `gathered`."""
        taken = 0 if gathered else min(self.room() * RECORD_BYTES, len(records))
        self._records += records[:taken]
        return taken

    def drop_gathered(self):
        dropped = gathered[:]
        del gathered[: len(dropped)]
        self.drop_records(b"".join(dropped))

    def drop_records(self, records):
        """Counts these packed samples as dropped."""
        self.dropped += len(records) // RECORD_BYTES
        for each, (xs, _, _) in by_statistic(records).items():
            self._note_dropped(each, len(xs))

    def _note_dropped(self, each, count):
        if each in self.statistics:
            self.statistics[each]._dropped += count

    # ---- sending

    def send_all(self):
        """All that is held, as far as the daemon has room."""
        self.take_gathered()
        if self._connection.connected:
            self.send(1)

    def send(self, at_least):
        """Records, by datagrams, as long as at least so many are held."""
        while len(self._records) >= at_least * RECORD_BYTES and self._send_oldest():
            pass

    def send_dropped(self):
        """Tells the daemon how many were dropped since it was told last."""
        count = self.dropped - self._dropped_said
        if count:
            datagram = encode_header(self._conversation.epoch) + encode_dropped(count)
            if self._link.send(datagram) == SENT:
                self._dropped_said += count

    # One datagram of the oldest samples. False: nothing can be done now.
    def _send_oldest(self):
        count = min(len(self._records) // RECORD_BYTES, self._fitting)
        while count:
            groups = by_statistic(self._records[: count * RECORD_BYTES])
            if any([self._is_awaited(each) for each in groups]):
                count = self._count_before_awaited(count)
                continue
            datagram, sent = self._encode(groups)
            if len(datagram) <= DATAGRAM_BYTES:
                break
            count = self._fitting = count * DATAGRAM_BYTES // len(datagram)
        if count == 0 or (sent and self._link.send(datagram) != SENT):
            return False
        if count == self._fitting:
            self._fitting = min(FULL, count * DATAGRAM_BYTES // len(datagram))
        self._note_sent(groups, count, sent)
        return True

    def _note_sent(self, groups, count, sent):
        del self._records[: count * RECORD_BYTES]
        self.consumed += count
        self.sent += sent
        if sent:
            self.has_waited_in_vain = False
            self._ids_sent.update(groups)
            now = _now()
            self._pace.note_sending(now)
            self._pace.note_activity(now)
        if sent != count:
            self.dropped += count - sent
            for each, (xs, _, _) in groups.items():
                if self.is_void(each):
                    self._note_dropped(each, len(xs))

    def take_ids_sent(self):
        """Of which statistics samples were sent since the last call."""
        ids, self._ids_sent = self._ids_sent, set()
        return ids

    def is_void(self, each):
        """Samples of this id are to be dropped."""
        statistic = self.statistics.get(each)
        if statistic is None or statistic._removed or statistic._id != each:
            return True
        return statistic._state == REFUSED

    def _is_awaited(self, each):
        return not self.is_void(each) and self.statistics[each]._must_precede_samples()

    def _count_before_awaited(self, count):
        ids = ids_of(self._records[: count * RECORD_BYTES])
        return next(place for place, each in enumerate(ids) if self._is_awaited(each))

    def _encode(self, groups):
        messages, count = [encode_header(self._conversation.epoch)], 0
        for each, (xs, ys, times_ns) in groups.items():
            if not self.is_void(each):
                number = self.statistics[each]._number
                only_ones = ys == ONES[: len(ys)]
                messages.append(encode_samples(number, xs, None if only_ones else ys, times_ns))
                count += len(xs)
        return b"".join(messages), count
