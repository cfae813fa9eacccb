#include "feeders/tracefs/merged_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/fd.h"
#include "core/model/record.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/kernel_formats.h"
#include "tests/unit/tracefs/page_maker.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// What a sink was told, in a line: "10:aaaa 12:bbbb lost:3".
class Story final : public EventSink {
 public:
  void event(std::chrono::nanoseconds time, std::size_t cpu,
             std::span<const char> payload) override {
    cpus_ += std::to_string(cpu);
    tell(std::to_string(time.count()) + ":" + std::string(payload.begin(), payload.end()));
  }
  void event_with_stack(std::chrono::nanoseconds time, std::size_t cpu,
                        std::span<const char> payload, std::span<const char> stack) override {
    event(time, cpu, payload);
    for (std::size_t at = 0; at < stack.size(); at += 8) {
      text_ += "/" + std::to_string(read_raw<std::uint64_t>(stack.data() + at));
    }
  }
  void lost(std::size_t, std::uint64_t events) override { tell("lost:" + std::to_string(events)); }

  std::string told() { return std::exchange(text_, {}); }
  // Of all events so far, in their order.
  const std::string& cpus() const { return cpus_; }

 private:
  void tell(const std::string& word) { text_ += (text_.empty() ? "" : " ") + word; }
  std::string text_;
  std::string cpus_;
};

// Two CPUs whose pipes are files in memory: a read yields the next page, or nothing.
class MergedReaderTest : public testing::Test {
 protected:
  void write(std::size_t cpu, const std::string& page) {
    const auto at = ::lseek(fds_[cpu].get(), 0, SEEK_CUR);
    const auto size = ::lseek(fds_[cpu].get(), 0, SEEK_END);
    EXPECT_EQ(::pwrite(fds_[cpu].get(), page.data(), page.size(), size), 4096);
    ::lseek(fds_[cpu].get(), at, SEEK_SET);
  }
  std::string poll() {
    left_ = reader_.poll(story_);
    return story_.told();
  }
  std::string finish() {
    reader_.finish(story_);
    return story_.told();
  }
  std::string hand_on_held() {
    reader_.hand_on_held(story_);
    return story_.told();
  }

  FakeClock clock_{10ms};
  std::vector<Fd> fds_ = make_fds();
  MergedReader reader_{
      parse_page_format(kHeaderPage).value(), {fds_[0].get(), fds_[1].get()}, clock_};
  Story story_;
  MergedReader::Remaining left_ = MergedReader::Remaining::kNothing;

 private:
  static std::vector<Fd> make_fds() {
    std::vector<Fd> fds;
    fds.emplace_back(::memfd_create("cpu0", MFD_CLOEXEC));
    fds.emplace_back(::memfd_create("cpu1", MFD_CLOEXEC));
    return fds;
  }
};

TEST_F(MergedReaderTest, HandsEventsOnInTheOrderOfTheirTimes) {
  write(0, PageMaker(10).record(0, "aaaa").record(20, "cccc").record(5, "dddd").page());
  write(1, PageMaker(20).record(0, "bbbb").record(30, "eeee").page());
  EXPECT_EQ(poll(), "10:aaaa 20:bbbb 30:cccc 35:dddd 50:eeee");
  EXPECT_EQ(left_, MergedReader::Remaining::kNothing);
  EXPECT_EQ(poll(), "");
  EXPECT_EQ(story_.cpus(), "01001") << "and says which CPU each is of";
}

TEST_F(MergedReaderTest, HoldsBackWhatMightStillBeOvertaken) {
  write(0, PageMaker(10).record(0, "aaaa").record(9'500'000, "dddd").page());
  EXPECT_EQ(poll(), "10:aaaa");
  EXPECT_EQ(left_, MergedReader::Remaining::kHeldBack);
  write(1, PageMaker(9'400'000).record(0, "cccc").page());
  clock_.advance(10ms);
  EXPECT_EQ(poll(), "9400000:cccc 9500010:dddd");
}

TEST_F(MergedReaderTest, CountsAmongTheLostWhatComesTooLate) {
  write(0, PageMaker(30).record(0, "bbbb").page());
  EXPECT_EQ(poll(), "30:bbbb");
  write(1, PageMaker(20).record(0, "aaaa").record(20, "cccc").page());
  EXPECT_EQ(poll(), "lost:1 40:cccc");
}

TEST_F(MergedReaderTest, PutsAGapWhereItIs) {
  std::string count;
  ByteWriter(count).put(std::uint64_t{7});
  write(0, PageMaker(10).record(0, "aaaa").page());
  write(0, PageMaker(30).record(0, "cccc").page(0xC0000000u, count));
  write(1, PageMaker(20).record(0, "bbbb").record(20, "dddd").page());
  EXPECT_EQ(poll(), "10:aaaa 20:bbbb lost:7 30:cccc 40:dddd");
}

// A ring that counts what it has lost, as the kernel's does.
class CountedLossesTest : public MergedReaderTest {
 protected:
  static constexpr std::uint32_t kLost = 0x80000000u;

  MergedReader reader_of(MergedReader::Pipes pipes) {
    return {parse_page_format(kHeaderPage).value(),
            {fds_[0].get(), fds_[1].get()},
            clock_,
            [this](std::size_t pipe) { return losses_[pipe]; },
            pipes};
  }
  std::string poll(MergedReader& reader) {
    (void)reader.poll(story_);
    return story_.told();
  }
  static std::string page(std::uint64_t time, std::uint32_t flags, std::uint64_t said = 0) {
    std::string count;
    if (said != 0) ByteWriter(count).put(said);
    return PageMaker(time).record(0, "aaaa").page(flags | (said != 0 ? 0x40000000u : 0), count);
  }

  std::vector<std::optional<std::uint64_t>> losses_ = {0, 0};
};

TEST_F(CountedLossesTest, AGapOfAnUnknownSizeHasWhatTheRingHasCounted) {
  MergedReader reader = reader_of(MergedReader::Pipes::kNew);
  losses_ = {339'252, 4};
  write(0, page(10, kLost));
  write(1, page(11, kLost, 4));
  EXPECT_EQ(poll(reader), "lost:339252 10:aaaa lost:4 11:aaaa");
}

TEST_F(CountedLossesTest, NoRecordIsCountedTwice) {
  MergedReader reader = reader_of(MergedReader::Pipes::kNew);
  losses_[0] = 7;
  write(0, page(10, kLost));
  EXPECT_EQ(poll(reader), "lost:7 10:aaaa");
  // Two of the seven came behind the page before: they are before this one.
  losses_[0] = 10;
  write(0, page(20, kLost, 5));
  EXPECT_EQ(poll(reader), "lost:3 20:aaaa");
}

TEST_F(CountedLossesTest, TheGapsOfAPollAreCountedAtTheFirst) {
  MergedReader reader = reader_of(MergedReader::Pipes::kNew);
  losses_[0] = 12;
  write(0, page(10, 0));
  write(0, page(20, kLost));
  write(0, page(30, kLost, 2));
  EXPECT_EQ(poll(reader), "10:aaaa lost:12 20:aaaa lost:0 30:aaaa");
}

TEST_F(CountedLossesTest, WhatAReaderBeforeHasHandedOnIsNotCountedAgain) {
  losses_ = {100, 100};
  MergedReader reader = reader_of(MergedReader::Pipes::kInherited);
  write(0, page(10, kLost, 30));
  write(1, page(11, 0));
  EXPECT_EQ(poll(reader), "lost:30 10:aaaa 11:aaaa");
  losses_ = {105, 106};
  write(0, page(20, kLost));
  write(1, page(21, kLost));
  EXPECT_EQ(poll(reader), "lost:5 20:aaaa lost:6 21:aaaa");
}

TEST_F(CountedLossesTest, WithoutACountAGapIsWhatItsPageSays) {
  MergedReader reader = reader_of(MergedReader::Pipes::kNew);
  losses_ = {std::nullopt, std::nullopt};
  write(0, page(10, kLost));
  write(1, page(11, kLost, 4));
  EXPECT_EQ(poll(reader), "lost:1 10:aaaa lost:4 11:aaaa");
}

TEST_F(MergedReaderTest, TellsOfPagesThatMakeNoSense) {
  write(0, PageMaker(10).record(0, "aaaa").word(28, 0).page());
  write(0, std::string(4096, '\xFF'));
  write(0, PageMaker(11).record(0, "bbbb").record(900'000'000 >> 3, "from the future.").page());
  EXPECT_EQ(poll(), "10:aaaa lost:1 lost:1 11:bbbb lost:1");
}

TEST_F(MergedReaderTest, LetsNoCpuGetAheadOfOneThatIsNotReadToItsEnd) {
  for (std::uint64_t i = 0; i <= MergedReader::kPagesPerPoll; ++i) {
    write(0, PageMaker(10 + 10 * i).record(0, "aaaa").page());
  }
  write(1, PageMaker(655).record(0, "bbbb").page());
  EXPECT_TRUE(poll().ends_with("640:aaaa"));
  EXPECT_EQ(left_, MergedReader::Remaining::kMore);
  EXPECT_EQ(poll(), "650:aaaa 655:bbbb");
  EXPECT_EQ(left_, MergedReader::Remaining::kNothing);
}

TEST_F(MergedReaderTest, HoldsNothingBackInTheEnd) {
  write(0, PageMaker(9'999'999).record(0, "aaaa").page());
  EXPECT_EQ(finish(), "9999999:aaaa");
}

TEST_F(MergedReaderTest, LeavesToAnotherReaderWhatItHasNotRead) {
  write(0, PageMaker(10).record(0, "aaaa").record(9'500'000, "bbbb").page());
  EXPECT_EQ(poll(), "10:aaaa");
  write(1, PageMaker(9'600'000).record(0, "cccc").page());
  EXPECT_EQ(hand_on_held(), "9500010:bbbb");
  EXPECT_EQ(hand_on_held(), "");
}

// Our clock may be behind that of the events by a microsecond.
TEST_F(MergedReaderTest, TakesNoEventOfThisMomentForOneFromTheFuture) {
  write(0, PageMaker(10'001'000).record(0, "aaaa").page());
  EXPECT_EQ(finish(), "10001000:aaaa");
}

// Records of "type, pid, letter", 12 bytes; stacks have type 4 and two frames behind those.
std::string typed(std::uint16_t type, std::int32_t pid, const std::string& rest) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(static_cast<std::uint16_t>(type | 0x2000));  // a letter follows: "t "
  out.put(std::uint16_t{0x2020});
  out.put(pid);
  return bytes + rest;
}

std::string stack(std::int32_t pid, std::uint64_t first, std::uint64_t second) {
  std::string frames;
  ByteWriter out(frames);
  out.put(first);
  out.put(second);
  return typed(4, pid, frames);
}

class StacksTest : public MergedReaderTest {
 protected:
  static constexpr std::uint16_t kType = 4 | 0x2000;
  static constexpr std::uint16_t kWithStack = 7 | 0x2000;
  StacksTest() {
    MergedReader::Stacks stacks{.type = kType, .pid_offset = 4, .frames_offset = 8};
    stacks.with_stack.assign(65'536, false);
    stacks.with_stack[kWithStack] = true;
    reader_.expect_stacks(std::move(stacks));
  }
  // Letters and stacks of what was handed on.
  std::string polled() {
    std::string text = poll();
    std::string short_text;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '/' || (c >= 'a' && c <= 'z')) short_text += c;
      if (c >= '0' && c <= '9' && short_text.find('/') != short_text.npos &&
          text.rfind('/', at) > text.rfind(' ', at)) {
        short_text += c;
      }
    }
    return short_text;
  }
};

TEST_F(StacksTest, AStackBelongsToTheEventBeforeIt) {
  write(0, PageMaker(10)
               .record(0, typed(7, 1, "aaaa"))
               .record(1, stack(1, 5, 6))
               .record(1, typed(8, 1, "bbbb"))
               .page());
  EXPECT_EQ(polled(), "aaaa/5/6bbbb");
}

TEST_F(StacksTest, AnInterruptInBetweenHasItsOwn) {
  write(0, PageMaker(10)
               .record(0, typed(7, 1, "aaaa"))
               .record(1, typed(8, 1, "bbbb"))
               .record(1, typed(7, 1, "cccc"))
               .record(1, stack(1, 5, 6))
               .record(1, stack(1, 7, 8))
               .page());
  EXPECT_EQ(polled(), "aaaa/7/8bbbbcccc/5/6");
}

TEST_F(StacksTest, AStackOfNoneIsLeftOut) {
  write(0, PageMaker(10)
               .record(0, typed(7, 1, "aaaa"))
               .record(1, stack(2, 5, 6))
               .record(1, typed(8, 2, "bbbb"))
               .record(1, stack(2, 5, 6))
               .page());
  EXPECT_EQ(polled(), "aaaabbbb");
}

TEST_F(StacksTest, OneThatStandsOnTheNextPageIsWaitedFor) {
  PageMaker last(10 + 10 * MergedReader::kPagesPerPoll);
  for (std::uint64_t i = 0; i < MergedReader::kPagesPerPoll; ++i) {
    write(0, PageMaker(10 + 10 * i).record(0, typed(7, 1, "aaaa")).page());
  }
  write(0, last.record(0, stack(1, 5, 6)).page());
  (void)poll();
  EXPECT_EQ(left_, MergedReader::Remaining::kMore);
  EXPECT_EQ(polled(), "aaaa/5/6");
}

}  // namespace
}  // namespace tallyfs
