// What is kept for the server after a kill, and in which order it is written.
#include "fs/daemon/kept_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/branch/number_table.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs {
namespace {

class Counters final : public DaemonCounters {
 public:
  void record(DaemonCounter what, std::int64_t, std::uint64_t count, Timestamp) override {
    if (what.index() == DaemonCounter("keep_failures").index()) failures_ += count;
  }

  std::uint64_t failures_ = 0;
};

// Of which something has ended.
class EndedPart final : public TransferredPart {
 public:
  EndedPart(SavedKind kind, std::vector<SavedKind>& put) : kind_(kind), put_(put) {}

  SavedKinds objects() const override { return saved_kinds(kind_); }
  void save_for_successor(ObjectSink& sink, TransferredFds&) override {
    (void)sink.put(saved_object(kind_, 1, "all", has_ended_ ? "" : "ended"));
  }
  Result<void> load(const SavedObject&, const Loading&, TransferredFds&) override { return {}; }
  void end_save(ObjectSink& sink, TransferredFds&) override {
    put_.push_back(kind_);
    has_ended_ = sink.put(saved_object(kind_, 1, "all", bytes_));
  }

  std::string bytes_;
  bool has_ended_ = false;

 private:
  const SavedKind kind_;
  std::vector<SavedKind>& put_;
};

// With one object, and with numbers of which none has a switch.
class NumberedBranch final : public Branch {
 public:
  Handled handles() const override {
    return {.objects = saved_kinds(SavedKind::kInterface, SavedKind::kStatsNumbers)};
  }
  Result<Done> execute(const wire::Line&, Call&) override { return Done{}; }
  void save(ObjectSink& sink) const override {
    ++saves_;
    (void)sink.put(saved_object(SavedKind::kInterface, 1, "web", text_));
    std::string bytes;
    ByteWriter out(bytes);
    numbers_->save(out);
    (void)sink.put(saved_object(SavedKind::kStatsNumbers, 1, "numbers", bytes));
  }
  std::uint64_t stamp(Timestamp) const override { return ++stamp_; }

  std::string text_;
  mutable std::uint64_t saves_ = 0;
  using Numbers = NumberTable<std::unique_ptr<int>>;
  std::unique_ptr<Numbers> numbers_ = std::make_unique<Numbers>(SwitchRegion{});

 private:
  mutable std::uint64_t stamp_ = 0;
};

// With one large interface, which commands change.
class FedBranch final : public Branch {
 public:
  Handled handles() const override {
    return {.objects = saved_kinds(SavedKind::kFedInterface, SavedKind::kFedChanges)};
  }
  Result<Done> execute(const wire::Line&, Call&) override { return Done{}; }
  void save(ObjectSink& sink) const override {
    if (!sink.wants(SavedKind::kFedInterface, "web", version())) return;
    (void)sink.put(saved_object(SavedKind::kFedInterface, 1, "web", text_));
  }
  std::uint64_t stamp(Timestamp) const override { return changes_; }
  void put_changes(ObjectSink& sink) {
    ++changes_;
    ASSERT_TRUE(sink.wants_changes("web", version().object));
    ASSERT_TRUE(sink.put_changes(saved_object(SavedKind::kFedChanges, 1, "web/0", "changes"),
                                 version()));
  }

  std::string text_ = std::string(8'000, 'w');

 private:
  ObjectVersion version() const { return {7, changes_}; }

  std::uint64_t changes_ = 1;
};

class KeptStateTest : public testing::Test {
 protected:
  // Of a server, which goes on with what the memory has.
  std::unique_ptr<KeptState> state() {
    contents_ = {};
    auto opened = ObjectStore::open(memory_.get(), KeptState::kPartKinds);
    EXPECT_TRUE(opened);
    contents_ = std::move(opened.value().contents);
    return std::make_unique<KeptState>(std::move(opened.value().store),
                                       KeptState::Dependencies{.branches = branches_,
                                                               .counters = counters_,
                                                               .errors = errors_,
                                                               .clock = clock_,
                                                               .handed = {&processes_, &lanes_},
                                                               .descriptors = descriptors_},
                                       BootId{});
  }
  // What the memory has of them.
  std::string kept(SavedKind kind) const {
    const auto is_it = [kind](const SavedObject& each) { return is_of(each, kind); };
    const auto found = std::ranges::find_if(contents_.objects, is_it);
    return found == contents_.objects.end() ? "" : std::string(found->bytes);
  }
  // The memory takes nothing more than it has room for now.
  void fill() { ASSERT_EQ(::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_GROW), 0); }

  const Fd memory_{::memfd_create("kept", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  FakeClock clock_;
  Counters counters_;
  ErrorLog errors_{clock_.now()};
  TransferredFds descriptors_;
  NumberedBranch branch_;
  std::vector<Branch*> branches_{&branch_};
  std::vector<SavedKind> put_;
  EndedPart processes_{SavedKind::kProcesses, put_}, lanes_{SavedKind::kLanes, put_};
  ObjectStore::Contents contents_;
};

// Killed in between, the next server would have a lane of a process that nothing watches.
TEST_F(KeptStateTest, ALaneThatHasEndedIsLeftOutBeforeItsProcess) {
  ASSERT_TRUE(state()->save_all());
  EXPECT_EQ(put_, (std::vector{SavedKind::kLanes, SavedKind::kProcesses}));
}

// It would stay for ever, as the memory takes the object no more.
TEST_F(KeptStateTest, WhatEndedBeforeAFailedSaveIsLetGoAndTheFailureIsCounted) {
  const auto kept = state();
  ASSERT_TRUE(kept->save_all());
  EXPECT_EQ(counters_.failures_, 0u);
  fill();
  lanes_.has_ended_ = processes_.has_ended_ = false;
  branch_.text_ = std::string(1 << 20, 'x');
  EXPECT_FALSE(kept->save_all());
  EXPECT_TRUE(lanes_.has_ended_ && processes_.has_ended_);
  EXPECT_EQ(counters_.failures_, 1u);
}

TEST_F(KeptStateTest, AProcessIsNotLeftOutWhereItsLanesCannotBe) {
  const auto kept = state();
  ASSERT_TRUE(kept->save_all());
  fill();
  lanes_.has_ended_ = processes_.has_ended_ = false;
  lanes_.bytes_ = std::string(1 << 20, 'x');
  put_.clear();
  EXPECT_FALSE(kept->save_all());
  EXPECT_EQ(put_, std::vector{SavedKind::kLanes});
}

// An older program, to which a reload may lead, does not know them.
TEST_F(KeptStateTest, ASaveOfAllLeavesNoChangesApart) {
  FedBranch fed;
  branches_.push_back(&fed);
  const auto kept_state = state();
  ASSERT_TRUE(kept_state->save_all());
  EXPECT_TRUE(kept_state->write_through(fed, [&](ObjectSink& sink) { fed.put_changes(sink); }));
  (void)state();
  EXPECT_EQ(kept(SavedKind::kFedChanges), "changes");
  ASSERT_TRUE(kept_state->save_all());
  (void)state();
  EXPECT_EQ(kept(SavedKind::kFedChanges), "");
}

// With many statistics a save of all takes long, and the feeder waits for its answer.
TEST_F(KeptStateTest, AServerThatGoesOnDoesNotSaveAllForTheFirstCommand) {
  ASSERT_TRUE(state()->save_all());
  const auto kept = state();
  ASSERT_TRUE(KeptState::has_mark(contents_));
  kept->resume();
  const std::uint64_t saves = branch_.saves_;
  unsigned puts = 0;
  EXPECT_TRUE(kept->write_through(branch_, [&](ObjectSink&) { ++puts; }));
  EXPECT_EQ(puts, 1u);
  EXPECT_EQ(branch_.saves_, saves);
}

// The memory has the interface from the server before, which knew other versions.
TEST_F(KeptStateTest, AServerThatGoesOnWritesChangesBesideWhatTheOneBeforeHasSaved) {
  FedBranch fed;
  branches_.push_back(&fed);
  const std::string before = fed.text_;
  ASSERT_TRUE(state()->save_all());
  const auto kept_state = state();
  kept_state->resume();
  fed.text_ = std::string(8'000, 'n');
  EXPECT_TRUE(kept_state->write_through(fed, [&](ObjectSink& sink) { fed.put_changes(sink); }));
  (void)state();
  EXPECT_EQ(kept(SavedKind::kFedChanges), "changes");
  EXPECT_EQ(kept(SavedKind::kFedInterface), before);
  ASSERT_TRUE(kept_state->save_all());
  (void)state();
  EXPECT_EQ(kept(SavedKind::kFedChanges), "");
  EXPECT_EQ(kept(SavedKind::kFedInterface), fed.text_);
}

// Nothing else is saved before the third server dies.
TEST_F(KeptStateTest, NoNumberIsGivenTwiceByServersThatAreKilledBeforeTheyHaveSaved) {
  branch_.text_ = "saved";
  (void)branch_.numbers_->add(std::make_unique<int>(0));
  ASSERT_TRUE(state()->save_all());
  std::vector<std::uint64_t> given;
  for (int server = 0; server < 2; ++server) {
    const auto kept = state();
    const std::string saved = this->kept(SavedKind::kStatsNumbers);
    ByteReader in(saved);
    branch_.numbers_ = std::make_unique<NumberedBranch::Numbers>(SwitchRegion{});
    branch_.numbers_->finish_late_restore(in);
    branch_.text_ = "not saved";
    kept->write_numbers();
    given.push_back(branch_.numbers_->add(std::make_unique<int>(0)));
  }
  EXPECT_NE(given[0], given[1]);
  (void)state();
  EXPECT_EQ(kept(SavedKind::kInterface), "saved");
}

}  // namespace
}  // namespace tallyfs
