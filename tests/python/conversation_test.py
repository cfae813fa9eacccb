"""The conversation by itself, with a link and a clock that the test plays."""
import errno
import struct
import unittest

import stand  # noqa: F401 - finds the package

from tally.conversation import Conversation
from tally.link import QUEUE_FULL, SENT
from tally.request import REFUSED, REGISTERED, REQUESTED, UNKNOWN, Request, Subject
from tally.requester import Requester
from tally.wire import ANSWER, encode_header

SECOND = 1_000_000_000
EPOCH = 77


class FakeLink:
    def __init__(self):
        self.texts = {}  # by sequence number, in the order of sending
        self.answers = []
        self.is_full = False
        self.path = "/there"

    def send(self, datagram):
        if self.is_full:
            return QUEUE_FULL
        at = 16
        while at < len(datagram):
            _, _, length, sequence, size = struct.unpack_from("<HHIII", datagram, at)
            self.texts[sequence] = datagram[at + 16 : at + 16 + size].decode()
            at += 8 + length
        return SENT

    def receive(self):
        return (self.answers.pop(0), -1) if self.answers else None

    def answer(self, sequence, error=0, number=0, epoch=EPOCH):
        message = struct.pack("<HHIIIQ", ANSWER, 0, 16, sequence, error, number)
        self.answers.append(encode_header(epoch) + message)


class Thing(Subject):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def _path(self):
        return self.name

    def _create_text(self):
        return f"create {self.name}"

    def _take_registration(self, response):
        self._state, self._number = REGISTERED, response.number


class Things(Requester):
    """Some things; keeps a list of its calls."""

    def __init__(self, conversation, names):
        self.conversation, self.told = conversation, []
        self.things = [Thing(name) for name in names]

    def begin(self):
        self.told.append("begin")
        for thing in self.things:
            self.conversation.register(thing)

    def take_stale(self):
        self.told.append("stale")

    def confirm(self, sent_before, is_stale):
        self.told.append((sent_before, is_stale))


class ConversationTest(unittest.TestCase):
    def setUp(self):
        self.link, self.reports, self.time = FakeLink(), [], 100 * SECOND
        self.conversation = Conversation(self.link, self.reports.append, lambda: self.time)

    def things(self, *names):
        self.requester = Things(self.conversation, names)
        self.conversation.requesters.append(self.requester)
        self.conversation.begin(self.time)
        return self.requester.things

    def take(self):
        while self.conversation.receive():
            pass

    def test_numbers_requests_and_gives_each_subject_its_response(self):
        one, two = self.things("one", "two")
        self.conversation.request()
        self.assertEqual(self.link.texts, {1: "create one", 2: "create two"})
        self.assertEqual([one._state, two._state], [REQUESTED, REQUESTED])
        self.assertFalse(self.conversation.is_settled())
        self.link.answer(1, number=5)
        self.link.answer(2, number=6)
        self.take()
        self.assertEqual([(each._state, each._number) for each in (one, two)],
                         [(REGISTERED, 5), (REGISTERED, 6)])  # fmt: skip
        self.assertTrue(self.conversation.is_settled())
        self.assertEqual(self.conversation.epoch, EPOCH)

    def test_a_response_says_that_those_before_it_are_lost(self):
        one, two = self.things("one", "two")
        self.conversation.request()
        self.link.answer(2, number=6)
        self.take()
        self.assertEqual([one._state, two._state], [UNKNOWN, REGISTERED])
        self.conversation.request()
        self.assertEqual(self.link.texts[3], "create one")

    def test_without_room_requests_stay_due(self):
        (one,) = self.things("one")
        self.link.is_full = True
        self.conversation.request()
        self.assertEqual((one._state, len(self.conversation.pending)), (UNKNOWN, 0))
        self.link.is_full = False
        self.conversation.request()
        self.assertEqual(self.link.texts, {1: "create one"})

    def test_a_silent_daemon_is_reported_once(self):
        self.things("one")
        self.conversation.request()
        self.time += SECOND - 1
        self.conversation.ping(self.time, 0)
        self.assertEqual(self.reports, [])
        for _ in range(3):
            self.time += SECOND
            self.conversation.ping(self.time, 0)
        self.assertEqual(self.reports, ["no answer from the daemon at /there: is it stopped, or in "
                                        "another network namespace?"])
        self.conversation.begin(self.time)
        self.conversation.request()
        self.time += SECOND
        self.conversation.ping(self.time, 0)
        self.assertEqual(len(self.reports), 2)

    def test_a_daemon_that_has_answered_is_not_silent(self):
        self.things("one")
        self.conversation.request()
        self.link.answer(1, number=5)
        self.take()
        for _ in range(3):
            self.time += SECOND
            self.conversation.ping(self.time, 0)
        self.assertEqual(self.reports, [])

    def test_few_requests_are_pending(self):
        self.things(*(f"thing-{i:0200}" for i in range(1000)))
        for _ in range(100):
            self.conversation.request()
        self.assertGreaterEqual(len(self.link.texts), 400)
        self.assertLess(len(self.link.texts), 400 + 8192 // 200)

    def test_a_refused_subject_is_requested_again_after_10_s(self):
        (one,) = self.things("one")
        self.conversation.request()
        self.link.answer(1, errno.EPERM)
        self.take()
        self.assertEqual(one._state, REFUSED)
        self.assertRegex(self.reports[0], "the daemon refused one: .*not permitted")
        self.assertEqual(self.conversation.refusals()[one].error, errno.EPERM)
        self.time += 10 * SECOND - 1
        self.conversation.request()
        self.assertEqual(len(self.link.texts), 1)
        self.time += 1
        self.conversation.request()
        self.assertEqual(self.link.texts[2], "create one")
        self.assertEqual(self.conversation.refusals(), {})

    def test_later_refusals_do_not_put_off_those_before(self):
        self.things("one")
        self.conversation.request()
        self.link.answer(1, errno.EPERM)
        self.take()
        self.time += 9 * SECOND
        self.conversation.register(Thing("two"))
        self.conversation.request()
        self.link.answer(2, errno.EPERM)
        self.take()
        self.time += SECOND
        self.conversation.request()
        self.assertEqual([self.link.texts[3], self.link.texts[4]], ["create one", "create two"])

    def test_another_epoch_begins_anew_and_answers_what_it_finds(self):
        one, two = self.things("one", "two")
        self.conversation.request()
        self.link.answer(1, number=5)
        self.take()
        self.link.answer(2, number=6, epoch=EPOCH + 1)
        self.take()
        self.assertEqual(self.requester.told, ["begin", "begin"])
        self.assertEqual([one._state, two._state], [UNKNOWN, REGISTERED])
        self.assertEqual(self.conversation.epoch, EPOCH + 1)

    def test_a_new_subject_waits_10_ms_for_its_definition(self):
        self.things()
        self.conversation.make_due_soon(Thing("new"))
        self.conversation.request_if_due(self.time + 9_999_999)
        self.assertEqual(self.link.texts, {})
        self.conversation.request_if_due(self.time + 10_000_000)
        self.assertEqual(self.link.texts, {1: "create new"})

    def test_one_ping_is_pending_until_it_takes_a_second(self):
        self.things()
        self.conversation.ping(self.time, 3)
        self.conversation.ping(self.time + SECOND - 1, 4)
        self.assertEqual(self.link.texts, {1: ""})
        self.conversation.ping(self.time + SECOND, 5)
        self.assertEqual(self.link.texts, {1: "", 2: ""})

    def test_a_ping_confirms_what_was_sent_before_it(self):
        self.things()
        self.conversation.ping(self.time, 3)
        self.link.answer(0, errno.ESTALE)
        self.link.answer(1)
        self.take()
        self.assertEqual(self.requester.told, ["begin", "stale", (3, True)])
        self.conversation.ping(self.time + SECOND, 4)
        self.link.answer(2)
        self.take()
        self.assertEqual(self.requester.told[3:], [(4, False)])

    def test_a_dropped_subject_is_not_requested_again(self):
        (one,) = self.things("one")
        self.conversation.request()
        self.conversation.drop(one, in_tree=True)
        self.link.answer(1, errno.EPERM)
        self.take()
        self.assertEqual(self.conversation.refusals(), {})
        self.assertTrue(self.conversation.is_settled())

    def test_a_new_kind_of_request_needs_an_object_with_requests(self):
        taken = []

        class Asks:
            def _requests(self, conversation):
                note_sent = lambda: conversation.withdraw(self)  # noqa: E731
                yield Request("version", note_sent, taken.append)

        self.things()
        self.conversation.make_due(Asks())
        self.conversation.request()
        self.link.answer(1, number=9)
        self.take()
        self.assertEqual((self.link.texts, taken[0].number), ({1: "version"}, 9))


if __name__ == "__main__":
    unittest.main()
