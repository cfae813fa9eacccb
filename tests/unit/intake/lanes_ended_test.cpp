// Lanes whose feeders have ended, until what was counted in them is saved.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lanes_fixture.h"

namespace tallyfs {
namespace {

constexpr pid_t kNextFeeder = kFeeder + 1;

class Keeper final : public PartKeeper {
 public:
  TransferredFds& descriptors() override { return descriptors_; }
  void write_through(TransferredPart&) override {}
  void put(const SavedObject& object) override { put_.emplace_back(object.label); }
  void remove(SavedKind, std::string_view label) override { std::erase(put_, label); }
  void note_end() override {}

  HeldDescriptors held_;
  TransferredFds descriptors_{&held_};
  std::vector<std::string> put_;
};

// What a memory that is full takes.
class FullSink final : public ObjectSink {
 public:
  Reader reader() const override { return Reader::kSuccessor; }
  bool put(const SavedObject& object) override {
    label_ = object.label;
    size_ = object.bytes.size();
    return !is_full_;
  }

  bool is_full_ = true;
  std::string label_;
  std::size_t size_ = 0;
};

class LanesEndedTest : public testing::Test {
 protected:
  LanesEndedTest() { fixture_.lanes_->keep_with(keeper_); }
  // With a binding.
  void make_lane(pid_t process, std::uint32_t bytes) {
    const Sender sender{0, process};
    const auto made = fixture_.lanes_->make(sender, bytes, fixture_.clock_.now());
    ASSERT_TRUE(made) << made.error().reason;
    void* const mapped = map_lane(made.value().file->fd(), bytes);
    ASSERT_NE(mapped, MAP_FAILED);
    ::munmap(mapped, bytes);
    ASSERT_TRUE(fixture_.lanes_->bind(
        sender,
        {.sequence = 1, .id = kIdOfS, .lane = made.value().number, .number = fixture_.number_}));
  }
  void end(pid_t process) {
    EXPECT_TRUE(
        fixture_.lanes_->process_ended(process, fixture_.clock_.now(), std::chrono::hours(1)));
  }
  std::size_t held() {
    keeper_.descriptors_.flush();
    return keeper_.held_.size();
  }

  LanesFixture fixture_{"type=range"};
  Keeper keeper_;
};

TEST_F(LanesEndedTest, FilesStayUntilTheyAreSavedUpToABound) {
  make_lane(kFeeder, kLaneBytesMax);
  make_lane(kNextFeeder, kLaneBytesMin);
  end(kFeeder);
  EXPECT_EQ(held(), 2u);
  EXPECT_EQ(keeper_.put_, (std::vector<std::string>{"1/0", "2/0"}));
  end(kNextFeeder);
  EXPECT_EQ(held(), 1u) << "there is no room for it";
  EXPECT_EQ(keeper_.put_, std::vector<std::string>{"1/0"});
  FullSink sink;
  sink.is_full_ = false;
  fixture_.lanes_->begin_save();
  fixture_.lanes_->end_save(sink, keeper_.descriptors_);
  EXPECT_EQ(held(), 0u);
  make_lane(kNextFeeder, kLaneBytesMin);
  end(kNextFeeder);
  EXPECT_EQ(held(), 1u);
}

TEST_F(LanesEndedTest, AFileStaysWhereTheListWithoutItCannotBeWritten) {
  make_lane(kFeeder, kLaneBytesMin);
  end(kFeeder);
  FullSink sink;
  fixture_.lanes_->begin_save();
  fixture_.lanes_->end_save(sink, keeper_.descriptors_);
  const std::size_t size = sink.size_;
  EXPECT_EQ(sink.label_, "lanes");
  EXPECT_EQ(held(), 1u);
  fixture_.lanes_->save_for_successor(sink, keeper_.descriptors_);
  EXPECT_GT(sink.size_, size) << "it is not left out";
  sink.is_full_ = false;
  fixture_.lanes_->begin_save();
  fixture_.lanes_->end_save(sink, keeper_.descriptors_);
  EXPECT_EQ(held(), 0u);
}

}  // namespace
}  // namespace tallyfs
