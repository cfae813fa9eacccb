"""The encoders and the decoder against the worked examples of core/wire/FORMAT.md."""
import re
import unittest
from array import array

from stand import FORMAT

import tally

EPOCH = 0x1122334455667788
# Of a template "T" with a VOI "x", u32, SUM.
BLOB_OF_T = bytes.fromhex(
    "01 01 00 00 3c 00 3c 00 6f 5e a6 7b 28 00 38 00 "
    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
    "00 00 02 01 28 00 00 00 ff 00 00 00 00 00 00 00 "
    "01 02 38 00 04 00 00 00 00 00 00 00"
)


def golden(name):
    block = re.search(rf"^```golden {name}\n(.*?)^```", FORMAT.read_text(), re.M | re.S)
    return bytes.fromhex(block.group(1))


class GoldenTest(unittest.TestCase):
    def test_encodes_samples_with_y_and_a_request(self):
        datagram = tally.encode_header(EPOCH)
        datagram += tally.encode_samples(7, array("q", [5, -1]), ys=array("q", [2, 2]))
        datagram += tally.encode_request(1, "attach web/hits")
        self.assertEqual(datagram, golden("samples-and-request"))

    def test_encodes_all_kinds_of_records_and_what_was_dropped(self):
        far = 0x100000005
        then = 1_000_000_001
        datagram = tally.encode_header(EPOCH)
        datagram += tally.encode_samples(
            far, array("q", [-9]), ys=array("q", [3]), times_ns=array("q", [then])
        )
        datagram += tally.encode_samples(
            far, array("q", [1, 2]), times_ns=array("q", [then, then + 1])
        )
        datagram += tally.encode_samples(7, array("q", [1, 2]))
        datagram += tally.encode_dropped(12)
        self.assertEqual(datagram, golden("all-records"))

    def test_decodes_an_answer(self):
        self.assertEqual(
            tally.decode_answers(golden("answer")), (EPOCH, [tally.Answer(1, 0, 7)])
        )

    def test_decodes_flags_and_reasons(self):
        epoch, answers = tally.decode_answers(golden("answers"))
        self.assertEqual(epoch, EPOCH)
        self.assertEqual(
            answers,
            [
                tally.Answer(2, 0, 0x100000005, flags=tally.WAS_THERE),
                tally.Answer(3, 2, 0, at=7, reason="no such interface"),
            ],
        )

    def test_encodes_templates_and_blobs(self):
        datagram = tally.encode_header(EPOCH)
        datagram += tally.encode_template(4, "T", ["x"], BLOB_OF_T)
        datagram += tally.encode_blob(0x100000005, BLOB_OF_T[:-4] + b"\7\0\0\0")
        self.assertEqual(datagram, golden("template-and-blob"))

    # Behind the kernel's events, which are not a program's to feed.
    def test_encodes_latencies(self):
        of_rt = (5_000, 1_000_000_001, 1, 10, 19, "rt")
        self.assertTrue(golden("latencies").endswith(tally.encode_latencies("my_section", of_rt)))

    def test_decodes_rates(self):
        self.assertEqual(
            tally.decode_answers(golden("rates")),
            (EPOCH, [tally.Answer(5, 0, 3, flags=tally.WITH_TEXT, text=":2074500719=10")]),
        )

    def test_encodes_records_of_events(self):
        fields = (7).to_bytes(8, "little")
        record = tally.encode_user_record(0x100000005, 1_000_000_002, 0, 9, fields)
        self.assertIn(record, golden("events"))

    def test_every_block_is_known_here(self):
        blocks = re.findall(r"^```golden (\S+)$", FORMAT.read_text(), re.M)
        self.assertEqual(blocks, [
            "samples-and-request",
            "answer",
            "all-records",
            "answers",
            "template-and-blob",
            "rates",
            "latencies",
            "events",
        ])


class DecoderTest(unittest.TestCase):
    def test_refuses_what_is_no_datagram_of_its_version(self):
        for datagram in (b"", b"web/hits 1", golden("answer")[:15], b"\xfeTLY\2" + bytes(11)):
            with self.assertRaises(ValueError, msg=datagram):
                tally.decode_answers(datagram)

    def test_takes_what_is_whole_of_a_datagram_that_was_cut(self):
        whole = golden("answers")
        for size in range(16, len(whole)):
            _, answers = tally.decode_answers(whole[:size])
            self.assertEqual(len(answers), 1 if size >= 40 else 0, size)

    def test_a_reason_longer_than_its_message_ends_with_it(self):
        whole = bytearray(golden("answers"))
        whole[68:72] = b"\xff\xff\xff\xff"
        _, answers = tally.decode_answers(bytes(whole))
        self.assertEqual(answers[1].reason.rstrip("\0"), "no such interface")

    def test_passes_over_kinds_that_it_does_not_know(self):
        known = golden("answer")
        unknown = bytes.fromhex("ff00000008000000") + bytes(8)
        self.assertEqual(
            tally.decode_answers(known[:16] + unknown + known[16:]),
            (EPOCH, [tally.Answer(1, 0, 7)]),
        )


if __name__ == "__main__":
    unittest.main()
