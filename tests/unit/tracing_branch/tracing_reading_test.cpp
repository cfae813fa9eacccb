// The memory that readers of histograms and traces may keep together.
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

constexpr char kWakingFiles[] = "events/sched/sched_waking/";

// Names everything, after it has done as the test says.
class AskedSymbols final : public Symbols {
 public:
  explicit AskedSymbols(std::function<void()>& when_asked) : when_asked_(when_asked) {}
  Place place(std::uint64_t) const override {
    if (const auto now = std::exchange(when_asked_, {})) now();
    return {.name = "somewhere"};
  }
  std::string syscall(std::uint64_t) const override { return {}; }

 private:
  std::function<void()>& when_asked_;
};

class SymbolSource final : public FakeSource {
 public:
  std::unique_ptr<const Symbols> symbols(CancellationToken) const override {
    return std::make_unique<AskedSymbols>(when_asked);
  }
  mutable std::function<void()> when_asked;  // called once, by the first question
};

class TracingReadingTest : public TracingTest {
 protected:
  // One view of a histogram of one block is 128 entries of 4 words.
  static constexpr std::uint64_t kViewBytes = 128 * 4 * 8;
  static Tracing::Options options(std::uint64_t reading_bytes_max) {
    return {.set = {.trace_bytes_max = 1 << 20}, .reading_bytes_max = reading_bytes_max};
  }
  explicit TracingReadingTest(std::uint64_t reading_bytes_max = 2 * kViewBytes - 1)
      : TracingTest({}, options(reading_bytes_max)) {}

  void count_by_place() {
    ASSERT_TRUE(offer(source_, "sched_waking", kWaking));
    ASSERT_TRUE(write(std::string(kWakingFiles) + "trigger", "hist:keys=pid.sym"));
    feed(source_, kWaking, 7, 1);
  }
  Result<std::string> hist() {
    return file(std::string(kWakingFiles) + "hist")->render(clock_.now(), 1 << 20);
  }

  SymbolSource source_;
};

TEST_F(TracingReadingTest, WhatAnotherReaderKeepsIsNotThereForThis) {
  count_by_place();
  Result<std::string> within = std::string();
  source_.when_asked = [&] {
    feed(source_, kWaking, 8, 1);
    within = hist();
  };
  EXPECT_TRUE(hist());
  ASSERT_FALSE(within) << "it is another moment of the histogram";
  EXPECT_EQ(within.error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(hist()) << "no reader is left";
}

TEST_F(TracingReadingTest, ReadersOfTheSameMomentShareIt) {
  count_by_place();
  Result<std::string> within = std::string();
  source_.when_asked = [&] { within = hist(); };
  const auto first = hist();
  ASSERT_TRUE(within);
  EXPECT_EQ(within.value(), first.value());
}

TEST_F(TracingReadingTest, ATraceIsCopiedAsFarAsThereIsRoom) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(write("trace_marker", std::string(1'000, 'x')));
  EXPECT_EQ(file("trace")->render(clock_.now(), 1 << 20).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(file("per_cpu/cpu0/trace")->render(clock_.now(), 1 << 20).error().code,
            ErrorCode::kNoSpace);
  ASSERT_TRUE(write("snapshot", "1"));
  EXPECT_EQ(file("snapshot")->render(clock_.now(), 1 << 20).error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(file("trace")->render(clock_.now(), 1 << 20)) << "its records have moved";
}

// However large the buffer is that they may be kept in.
TEST_F(TracingReadingTest, ATraceWithLittleInItTakesLittleRoom) {
  ASSERT_TRUE(write("buffer_size_kb", "65536"));
  ASSERT_TRUE(write("trace_marker", "hello"));
  const auto trace = file("trace")->render(clock_.now(), 1 << 20);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace.value().ends_with(": tracing_mark_write: hello\n"));
  ASSERT_TRUE(truncate("trace"));
  EXPECT_TRUE(file("trace")->render(clock_.now(), 1 << 20));
}

}  // namespace
}  // namespace tallyfs::tracing
