"""Messages of a feeder, and those that it understands, with a daemon played by the test."""
import errno
import fcntl
import os
import shutil
import socket
import struct
import tempfile
import unittest

from stand import DEADLINE_S, Feeder

EPOCH = 0x1122334455667788
SAMPLES, REQUEST, ANSWER, DROPPED = 1, 2, 3, 4

TELLS = 'tally.statistic_configure(report=lambda text: say("told", text))'
WEB = """
web = tally.Interface("web")
each = web.statistic("each")
"""


def header():
    return struct.pack("<4sHHQ", b"\xfeTLY", 1, 0, EPOCH)


def answer(sequence, number=0, flags=0):
    return struct.pack("<HHIIIQ", ANSWER, flags, 16, sequence, 0, number)


def refusal(sequence, error, reason):
    padded = reason + bytes(-len(reason) % 8)
    head = struct.pack("<HHIIIQ", ANSWER, 0, 24 + len(padded), sequence, error, 0)
    return head + struct.pack("<II", 0, len(reason)) + padded


class FakeDaemon:
    """Hears messages one by one: (kind, flags, body); and the text of requests."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(DEADLINE_S)
        self.messages = []
        self.sizes = []

    def hear(self):
        while not self.messages:
            datagram, self.peer = self.socket.recvfrom(262144)
            self.sizes.append(len(datagram))
            magic, version, zero, self.epoch = struct.unpack_from("<4sHHQ", datagram)
            assert (magic, version, zero) == (b"\xfeTLY", 1, 0), datagram
            at = 16
            while at < len(datagram):
                kind, flags, length = struct.unpack_from("<HHI", datagram, at)
                self.messages.append((kind, flags, datagram[at + 8 : at + 8 + length]))
                at += 8 + length
            assert at == len(datagram), datagram
        return self.messages.pop(0)

    def hear_request(self):
        kind, flags, body = self.hear()
        assert (kind, flags) == (REQUEST, 0), (kind, flags, body)
        self.sequence, length = struct.unpack_from("<II", body)
        assert len(body) == 8 + (length + 7) // 8 * 8, body
        return body[8 : 8 + length].decode()

    def hear_samples(self):
        """(number, [fields])"""
        kind, flags, body = self.hear()
        assert kind == SAMPLES, (kind, flags, body)
        code = "<q" + ("Q" if flags & 1 else "") + ("q" if flags & 2 else "")
        return struct.unpack_from("<Q", body)[0], list(struct.iter_unpack(code, body[8:]))

    def answer(self, number=0, flags=0, sequence=None, fds=()):
        sequence = self.sequence if sequence is None else sequence
        self.send(header() + answer(sequence, number, flags), fds)

    def refuse(self, error, reason=b"", sequence=None):
        sequence = self.sequence if sequence is None else sequence
        self.send(header() + refusal(sequence, error, reason))

    def send(self, datagram, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds))]
        self.socket.sendmsg([datagram], rights if fds else [], 0, self.peer)


def page(entries, seals=fcntl.F_SEAL_SHRINK):
    """(descriptor, size) of a page of switches: {number: (on, high half of the number)}."""
    made = os.memfd_create("switches", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(made, 4096)
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, seals)
    for number, entry in entries.items():
        flip(made, number, entry)
    return made, 4096


def flip(made, number, entry):
    os.pwrite(made, struct.pack("=II", *entry), 8 * (number & 0xFFFFFFFF))


class ProtocolTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.start("socket")

    def start(self, name):
        self.path = f"{self.directory}/{name}"
        self.daemon = FakeDaemon(self.path)
        self.addCleanup(self.daemon.socket.close)

    def feeder(self, program):
        made = Feeder(program, self.path)
        self.addCleanup(made.close)
        return made

    def answer_switches(self, made=None):
        self.assertEqual(self.daemon.hear_request(), "switches")
        if made is None:
            self.daemon.refuse(errno.EINVAL, b"no such command")
        else:
            self.daemon.answer(number=made[1], fds=[made[0]])

    def answer_creates(self, on=" on=1", number=7, flags=0):
        self.assertEqual(self.daemon.hear_request(), "create web")
        self.daemon.answer(flags=flags)
        self.assertEqual(self.daemon.hear_request(), "create web/each" + on)
        self.daemon.answer(number=number, flags=flags)

    def test_registers_sends_and_asks_what_was_taken_in(self):
        feeder = self.feeder(WEB + """
each.start()
each.inc(-5)
each.add_at(6, 1, 77)
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
""")
        self.answer_switches()
        self.answer_creates()
        number, records = self.daemon.hear_samples()
        self.assertEqual(self.daemon.epoch, EPOCH)
        self.assertEqual((number, [x for x, _ in records], records[1][1]), (7, [-5, 6], 77))
        self.assertEqual(self.daemon.hear_request(), "")
        self.daemon.answer()
        self.assertEqual(feeder.end(), (0, "2 0 2 2 0 0"))

    def test_a_y_of_its_own_is_sent_and_of_one_is_not(self):
        self.feeder(WEB + """
each.start()
each.add(1, 1 << 63)
each.inc(2)
other = web.statistic("other")
other.start()
other.inc(3)
tally.statistic_sync(60000)
""")
        self.answer_switches()
        self.assertEqual(self.daemon.hear_request(), "create web")
        self.daemon.answer()
        self.assertEqual(self.daemon.hear_request(), "create web/each on=1")
        first = self.daemon.sequence
        self.assertEqual(self.daemon.hear_request(), "create web/other on=1")
        self.daemon.send(
            header() + answer(first, number=7) + answer(self.daemon.sequence, number=0x100000005)
        )
        self.daemon.sizes.clear()
        number, records = self.daemon.hear_samples()
        self.assertEqual((number, [each[:2] for each in records]), (7, [(1, 1 << 63), (2, 1)]))
        number, records = self.daemon.hear_samples()
        self.assertEqual((number, records[0][0], len(records[0])), (0x100000005, 3, 2))
        self.assertEqual(len(self.daemon.sizes), 1)

    def test_datagrams_are_full_and_have_8_kib_at_most(self):
        self.feeder(WEB + """
each.start()
each.add_batch(range(1020))
each.add_batch(range(1020), 2)
tally.statistic_sync(60000)
""")
        self.answer_switches()
        self.answer_creates()
        self.daemon.sizes.clear()
        counts = [len(self.daemon.hear_samples()[1]) for _ in range(5)]
        self.assertEqual(counts, [510, 510, 340, 340, 340])
        self.assertEqual(self.daemon.sizes, 5 * [8192])

    def test_an_idle_feeder_asks_for_an_answer_now_and_then(self):
        self.feeder(WEB + "hear()")
        self.answer_switches()
        self.answer_creates(on="")
        for _ in range(2):
            self.assertEqual(self.daemon.hear_request(), "")
            self.daemon.answer()

    def test_a_switch_is_seen_at_once(self):
        made = page({0x500000003: (0, 5)})
        feeder = self.feeder(WEB + """
tally.statistic_sync(60000)
while True:
    say(each.is_on())
    hear()
""")
        self.answer_switches(made)
        self.answer_creates(on="", number=0x500000003)
        self.assertEqual(feeder.hear(), "False")
        for on in (1, 0, 1):
            flip(made[0], 3, (on, 5))
            feeder.say()
            self.assertEqual(feeder.hear(), str(on == 1))

    def test_without_a_page_that_can_be_trusted_everything_is_sent(self):
        pages = (page({7: (0, 0)}, seals=fcntl.F_SEAL_GROW), (page({})[0], 4097),
                 (os.open("/dev/zero", os.O_RDONLY), 8), (page({})[0], 0))  # fmt: skip
        for number, made in enumerate(pages):
            with self.subTest(made):
                self.start(str(number))
                feeder = self.feeder(
                    TELLS + WEB + "tally.statistic_sync(60000)\nsay(each.is_on())\nhear()"
                )
                self.answer_switches(made)
                self.answer_creates(on="")
                said = [feeder.hear() for _ in range(3)]
                self.assertIn("True", said)
                self.assertIn("told what the daemon sent is no sealed page of switches", said)

    def test_a_lost_answer_is_noticed_by_the_next_and_asked_for_again(self):
        feeder = self.feeder(WEB + "each.start()\neach.inc(1)\ntally.statistic_sync(60000)")
        self.answer_switches()
        self.assertEqual(self.daemon.hear_request(), "create web")
        # An idle feeder asks, after a second; that it is answered says that nothing else will be.
        self.assertEqual(self.daemon.hear_request(), "")
        self.daemon.answer()
        self.answer_creates()
        self.assertEqual(self.daemon.hear_samples()[0], 7)
        self.assertEqual(self.daemon.hear_request(), "")
        self.daemon.answer()
        self.assertEqual(feeder.end()[0], 0)

    def test_what_was_there_is_not_defined(self):
        feeder = self.feeder(WEB + """
each.define_range(0, 9)
each.start()
tally.statistic_sync(60000)
each.define_range(0, 8)
each.stop()
tally.statistic_sync(60000)
""")
        self.answer_switches()
        self.answer_creates(on=" type=range range_min=0 range_max=9 on=1", flags=1)
        self.assertEqual(self.daemon.hear_request(), "define web name=each on=0")
        self.daemon.answer()
        self.assertEqual(feeder.end()[0], 0)

    def test_the_first_samples_of_a_new_statistic_come_after_its_definition(self):
        feeder = self.feeder(WEB + """
hear()
each.define_range(0, 9)
each.start()
each.inc(1)
tally.statistic_sync(60000)
""")
        self.answer_switches()
        self.assertEqual(self.daemon.hear_request(), "create web")
        self.daemon.answer()
        self.assertEqual(self.daemon.hear_request(), "create web/each")
        feeder.say()
        self.assertEqual(self.daemon.hear_request(), "")  # a second later, for want of an answer
        self.daemon.answer(number=7, sequence=self.daemon.sequence - 1)
        self.daemon.answer()
        defined = "define web name=each default=1 type=range range_min=0 range_max=9 on=1"
        self.assertEqual(self.daemon.hear_request(), defined)
        self.daemon.answer()
        self.assertEqual(self.daemon.hear_samples()[0], 7)

    def test_a_stale_number_without_a_page_is_asked_for_again(self):
        feeder = self.feeder(WEB + """
each.start()
each.inc(1)
tally.statistic_sync(60000)
say(*tally.statistic_count()[:6])
hear()
each.inc(2)
tally.statistic_sync(60000)
""")
        self.answer_switches()
        self.answer_creates()
        self.assertEqual(self.daemon.hear_samples()[0], 7)
        self.daemon.refuse(errno.ESTALE, sequence=0)
        # The ping behind the samples and the new registration come in any order.
        heard = set()
        while not {"", "create web/each on=1"} <= heard:
            request = self.daemon.hear_request()
            self.daemon.answer(number=8 if "/" in request else 0)
            heard.add(request)
        self.assertEqual(feeder.hear(), "1 0 1 0 1 0")
        feeder.say()
        self.assertEqual(self.daemon.hear_samples()[0], 8)

    def test_a_stale_number_without_a_page_lets_views_rest(self):
        feeder = self.feeder(WEB + """
each.start()
each.create_view("view")
each.inc(1)
tally.statistic_sync(60000)
say("sent")
hear()
each.inc(2)
tally.statistic_sync(60000)
""")
        self.answer_switches()
        self.answer_creates()
        self.assertEqual(self.daemon.hear_request(), "create web/view of=each on=1")
        self.daemon.answer()
        self.assertEqual(self.daemon.hear_samples()[0], 7)
        self.daemon.refuse(errno.ESTALE, sequence=0)
        # Until the ping behind the samples, and what is due from then on.
        heard = []
        while not {"", "create web/each on=1"} <= set(heard):
            heard.append(self.daemon.hear_request())
            self.daemon.answer(number=8 if heard[-1].startswith("create web/each") else 0)
        self.assertEqual(feeder.hear(), "sent")
        feeder.say()
        self.assertEqual(self.daemon.hear_samples()[0], 8)
        self.assertEqual([each for each in heard if "view" in each], [])
        self.assertEqual(self.daemon.hear_request(), "")
        self.daemon.answer()
        self.assertEqual(feeder.end()[0], 0)

    def test_garbage_from_the_daemon_is_passed_over(self):
        feeder = self.feeder(WEB + "each.start()\neach.inc(1)\ntally.statistic_sync(60000)")
        self.assertEqual(self.daemon.hear_request(), "switches")
        for garbage in (b"", b"text", b"\xfeTLY\2" + bytes(20), os.urandom(300), bytes(16384)):
            self.daemon.send(garbage)
        self.daemon.answer(sequence=4000000000)
        self.daemon.refuse(errno.ENOENT)
        self.answer_creates()
        self.assertEqual(self.daemon.hear_samples()[0], 7)
        self.assertEqual(self.daemon.hear_request(), "")
        self.daemon.answer()
        self.assertEqual(feeder.end()[0], 0)


if __name__ == "__main__":
    unittest.main()
