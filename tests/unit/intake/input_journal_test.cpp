// The journal as the next server finds it.
#include "feeders/intake/input_journal.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/held_descriptors.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {
namespace {

using statistics::NumberedRun;

class InputJournalTest : public testing::Test {
 protected:
  InputJournalTest() { EXPECT_TRUE(journal_.make(InputJournal::kLeast, {})); }

  static Timestamp at(int ns) {
    return {std::chrono::nanoseconds(ns), std::chrono::nanoseconds(ns)};
  }
  std::vector<Datagram> receive(std::vector<std::string> texts) {
    texts_.push_back(std::move(texts));
    std::vector<Datagram> batch;
    for (std::string& each : texts_.back()) {
      batch.push_back({.bytes = {each.data(), each.size()}, .origin = {.pid = 7, .uid = 1000}});
    }
    journal_.append(batch, journal_.last_batch() + 1);
    return batch;
  }
  static std::string text_of(DatagramRecord& record) {
    const Datagram datagram = InputJournal::datagram_of(record);
    return {datagram.bytes.data(), std::min<std::size_t>(record.end, datagram.bytes.size())};
  }
  static std::vector<std::string> texts_of(const std::vector<DatagramRecord*>& records) {
    std::vector<std::string> texts;
    for (DatagramRecord* const each : records) texts.push_back(text_of(*each));
    return texts;
  }
  void save(const InputPosition& input) {
    journal_.follow([input] { return input; });
    journal_.begin_save();
    journal_.note_saved();
  }
  // The same memory, in the next server.
  InputJournal& next() {
    SavedObjects objects;
    HeldDescriptors held;
    TransferredFds sent(&held);
    journal_.save_for_successor(objects, sent);
    TransferredFds received(nullptr, held.received());
    next_ = std::make_unique<InputJournal>();
    EXPECT_TRUE(next_->load(objects.at(0), {.now = {}, .has_pages = true}, received));
    return *next_;
  }

  InputJournal journal_;
  std::unique_ptr<InputJournal> next_;  // what is left stands in its memory
  std::vector<std::vector<std::string>> texts_;
};

using Texts = std::vector<std::string>;

TEST_F(InputJournalTest, HasWhatWasBegunInItsSequenceAndTheRestAsItCame) {
  const auto batch = receive({"a 1\n", "b 2\n", "c 3\n"});
  (void)journal_.begin(batch[2].record, at(5));
  (void)journal_.begin(batch[0].record, at(6));
  InputJournal::finish(batch[2].record);
  const auto left = next().left();
  ASSERT_TRUE(left);
  EXPECT_EQ(texts_of(left->begun), (Texts{"c 3\n", "a 1\n"}));
  EXPECT_EQ(texts_of(left->not_begun), Texts{"b 2\n"});
  EXPECT_EQ(left->begun[0]->state.load(), DatagramRecord::State::kDone);
  EXPECT_EQ(left->begun[0]->monotonic, 5);
  const Datagram datagram = InputJournal::datagram_of(*left->begun[0]);
  EXPECT_EQ(datagram.origin.pid, 7);
  EXPECT_EQ(datagram.origin.uid, 1000u);
}

TEST_F(InputJournalTest, LeavesOutWhatAllOfTheStateHasAndWhatWasDropped) {
  const auto batch = receive({"a 1\n", "b 2\n", "c 3\n", "d 4\n"});
  (void)journal_.begin(batch[0].record, at(1));
  const std::uint64_t second = journal_.begin(batch[1].record, at(2));
  journal_.drop(batch[2]);
  save({.socket = second + 2, .rings = 0});  // in the middle of it
  const auto left = next().left();
  ASSERT_TRUE(left);
  EXPECT_EQ(texts_of(left->begun), Texts{"b 2\n"});
  EXPECT_EQ(texts_of(left->not_begun), Texts{"d 4\n"});
  EXPECT_EQ(left->saved.socket, second + 2);
}

TEST_F(InputJournalTest, DividesWhatWasPutOffInTheMiddle) {
  auto batch = receive({"a 1\nb 2\nc 3\n"});
  (void)journal_.begin(batch[0].record, at(1));
  std::string rest = "b 2\nc 3\n";
  Datagram put_off{.bytes = rest, .origin = batch[0].origin};
  journal_.append_rest(batch[0], 4, put_off);
  ASSERT_TRUE(put_off.record);
  batch[0].record->end = DatagramRecord::kWhole;  // as a kill before that was noted leaves it
  const auto left = next().left();
  ASSERT_TRUE(left);
  EXPECT_EQ(texts_of(left->begun), Texts{"a 1\n"});
  EXPECT_EQ(texts_of(left->not_begun), Texts{rest});
}

TEST_F(InputJournalTest, AFullOneKeepsNoMoreAndCountsItUntilTheNextSave) {
  const std::string longest(wire::kDatagramBytesMax, 'x');
  std::uint64_t last = 0;
  std::size_t kept = 0;
  for (int i = 0; i < 40; ++i) {
    const auto batch = receive({longest});
    last = journal_.begin(batch[0].record, at(i));
    InputJournal::finish(batch[0].record);
    kept += batch[0].record ? 1 : 0;
  }
  EXPECT_GT(kept, 5u);
  EXPECT_EQ(journal_.take_missed(), 40 - kept);
  EXPECT_TRUE(journal_.wants_save());
  EXPECT_FALSE(receive({longest})[0].record);
  EXPECT_TRUE(journal_.is_nearly_full());
  EXPECT_EQ(next().left()->missed, 41 - kept) << "which a kill loses";
  save({.socket = last + longest.size(), .rings = 0});
  EXPECT_FALSE(journal_.wants_save());
  EXPECT_FALSE(journal_.is_nearly_full());
  EXPECT_EQ(next().left()->missed, 0u);
  for (int i = 0; i < 5; ++i) {
    const auto batch = receive({longest});
    ASSERT_TRUE(batch[0].record) << i;
    (void)journal_.begin(batch[0].record, at(i));
  }
  const auto left = next().left();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->begun.size(), 5u);
}

TEST_F(InputJournalTest, WhatIsPutOffGivesWayToOthers) {
  const std::string longest(wire::kDatagramBytesMax, 'x');
  const auto put_off = receive({"a 1\n"})[0];
  journal_.defer(put_off);
  EXPECT_EQ(texts_of(next().left()->not_begun), Texts{"a 1\n"});
  for (int i = 0; i < 40; ++i) {
    const auto batch = receive({longest});
    ASSERT_TRUE(batch[0].record) << i;
    const std::uint64_t place = journal_.begin(batch[0].record, at(i));
    InputJournal::finish(batch[0].record);
    save({.socket = place + longest.size(), .rings = 0});
  }
  EXPECT_EQ(journal_.take_missed(), 1u);
  EXPECT_FALSE(journal_.record_of(put_off));
  EXPECT_TRUE(next().left()->not_begun.empty());
}

TEST_F(InputJournalTest, HasWhatCameOutOfRingsAndWhatWasRemoved) {
  const std::array<Sample, 2> samples{Sample{.x = 3}, Sample{.x = 4}};
  const std::array runs{NumberedRun{.number = 9, .samples = samples},
                        NumberedRun{.number = 8, .samples = std::span(samples).first(1)}};
  const std::uint64_t first = journal_.put({.lane = 2, .entry = 1, .until = 77}, 1000, at(5), runs);
  const std::uint64_t second = journal_.put_removal("web/us", 44);
  EXPECT_GT(second, first);
  const auto left = next().left();
  ASSERT_TRUE(left);
  ASSERT_EQ(left->rings.size(), 1u);
  const InputJournal::RingRecord& slice = left->rings[0];
  EXPECT_EQ(slice.from.lane, 2u);
  EXPECT_EQ(slice.from.until, 77u);
  EXPECT_EQ(slice.span.until, first);
  ASSERT_EQ(slice.runs.size(), 2u);
  EXPECT_EQ(slice.runs[0].samples[1].x, 4);
  EXPECT_EQ(slice.runs[1].number, 8u);
  ASSERT_EQ(left->removals.size(), 1u);
  EXPECT_EQ(left->removals[0].path, "web/us");
  EXPECT_EQ(left->removals[0].at, 44u);
}

// Without its record, a removal would make all of the journal void.
TEST_F(InputJournalTest, SlicesLeaveRoomForRemovals) {
  const std::vector<Sample> samples(1000);
  const std::array runs{NumberedRun{.number = 9, .samples = samples}};
  EXPECT_FALSE(journal_.wants_save());
  while (journal_.take_missed() == 0) (void)journal_.put({}, 1000, at(5), runs);
  EXPECT_TRUE(journal_.wants_save_at_once());
  (void)journal_.put_removal("web/us", 44);
  const auto left = next().left();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->removals.size(), 1u);
  EXPECT_EQ(left->missed, 1u);
}

TEST_F(InputJournalTest, LetsGoOfWhatHasNoSamples) {
  const auto batch = receive({"create a/b\n", "create a/c\n"});
  journal_.note_done(journal_.begin(batch[0].record, at(1)));
  InputJournal::finish(batch[0].record);
  save({});  // no statistic has a place
  (void)journal_.begin(batch[1].record, at(2));
  EXPECT_EQ(texts_of(next().left()->begun), Texts{"create a/c\n"});
}

TEST_F(InputJournalTest, ARestComesBeforeWhatItsSenderHasSentLater) {
  auto batch = receive({"a 1\nb 2\n", "c 3\n"});
  (void)journal_.begin(batch[0].record, at(1));
  std::string rest = "b 2\n";
  Datagram put_off{.bytes = rest, .origin = batch[0].origin};
  journal_.append_rest(batch[0], 4, put_off);
  EXPECT_EQ(texts_of(next().left()->not_begun), (Texts{"b 2\n", "c 3\n"}));
}

TEST_F(InputJournalTest, WithoutRoomForARemovalItIsOfNoUseUntilTheNextSave) {
  const std::string path(255, 'x');
  while (journal_.is_open() && next().left()) {
    for (int i = 0; i < 100; ++i) (void)journal_.put_removal(path, 0);
  }
  EXPECT_FALSE(next().left());
  save({.socket = 0, .rings = UINT64_MAX});
  EXPECT_TRUE(next().left());
}

// Whatever a fault of the machine has made of it: it is refused, or read without a fault.
TEST_F(InputJournalTest, FlippedBitsAreNoReasonToCrash) {
  SavedObjects objects;
  HeldDescriptors held;
  TransferredFds sent(&held);
  const auto batch = receive({"a 1\n", "b 2\nb 3\n"});
  (void)journal_.begin(batch[0].record, at(5));
  const std::array<Sample, 2> samples{};
  const std::array runs{NumberedRun{.number = 9, .samples = samples}};
  (void)journal_.put({.lane = 2, .entry = 1, .until = 77}, 1000, at(5), runs);
  (void)journal_.put_removal("web/us", 0);
  journal_.save_for_successor(objects, sent);
  auto received = held.received();
  ASSERT_EQ(received.size(), 1u);
  ByteReader in(objects.at(0).bytes);
  const auto bytes = in.get<std::uint64_t>();
  auto* const memory = static_cast<unsigned char*>(::mmap(
      nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, received[0].second.get(), 0));
  ASSERT_NE(memory, MAP_FAILED);
  const std::size_t streams = 4096 + (Receiver::kSlotsBytes + 4095) / 4096 * 4096;
  const std::size_t rings = streams + (bytes - streams) / 16 * 12 / 8 * 8;
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::array begins{std::size_t{0}, streams, rings};
    const std::size_t byte = begins[random() % 3] + random() % 256;
    const auto bit = static_cast<unsigned char>(1u << random() % 8);
    memory[byte] ^= bit;
    InputJournal again;
    TransferredFds copies(nullptr, held.received());
    const auto loaded = again.load(objects.at(0), {.now = {}, .has_pages = true}, copies);
    const auto left = loaded ? again.left() : std::nullopt;
    refused += left ? 0 : 1;
    if (left) {
      for (DatagramRecord* const each : left->begun) (void)text_of(*each);
      for (DatagramRecord* const each : left->not_begun) (void)text_of(*each);
    }
    memory[byte] ^= bit;
  }
  EXPECT_GT(refused, 400u);
  ::munmap(memory, bytes);
}

}  // namespace
}  // namespace tallyfs
