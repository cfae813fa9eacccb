#include "feeders/block/request_tracker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tallyfs {
namespace {

using Kind = RequestEvent::Kind;
constexpr Kind I = Kind::kIssue;
constexpr Kind Q = Kind::kRequeue;
constexpr Kind C = Kind::kComplete;

// One event, and what it is to lead to: "pending N" after an issue; "BYTES/LATENCY" when it
// finishes a request, else nothing.
struct Step {
  Kind kind;
  char operation;
  std::uint64_t sector;
  std::uint32_t sectors;
  std::int64_t time;
  std::string expected = "";
  DeviceNumber device = 8 << 20;
};

RequestEvent event_of(const Step& step) {
  return {.kind = step.kind,
          .device = step.device,
          .operation = step.operation,
          .sector = step.sector,
          .sectors = step.sectors,
          .bytes = step.sectors * 512,
          .time = std::chrono::nanoseconds(step.time)};
}

std::string outcome(RequestTracker& tracker, const RequestEvent& event) {
  switch (event.kind) {
    case Kind::kIssue: {
      const auto pending = tracker.issue(event);
      return pending ? "pending " + std::to_string(*pending) : "full";
    }
    case Kind::kRequeue:
      tracker.requeue(event);
      return "";
    case Kind::kComplete:
      const auto finished = tracker.complete(event);
      if (!finished) return "";
      return std::to_string(finished->bytes) + "/" + std::to_string(finished->latency.count());
  }
  return "";
}

void play(const std::vector<Step>& steps, std::size_t left_in_flight = 0) {
  RequestTracker tracker;
  for (const Step& step : steps) {
    EXPECT_EQ(outcome(tracker, event_of(step)), step.expected) << "at time " << step.time;
  }
  EXPECT_EQ(tracker.in_flight(), left_in_flight);
}

TEST(RequestTrackerTest, JoinsACompletionWithItsIssue) {
  play({{I, 'W', 100, 8, 10, "pending 1"},
        {I, 'W', 200, 16, 11, "pending 2"},
        {C, 'W', 200, 16, 31, "8192/20"},
        {C, 'W', 100, 8, 40, "4096/30"}});
}

TEST(RequestTrackerTest, CountsPendingByDeviceAndDirection) {
  const DeviceNumber other = 9 << 20;
  play({{I, 'R', 100, 8, 10, "pending 1"},
        {I, 'W', 100, 8, 11, "pending 1"},
        {I, 'R', 100, 8, 12, "pending 1", other},
        {I, 'R', 200, 8, 13, "pending 2"},
        {C, 'R', 100, 8, 14, "4096/4"},
        {I, 'R', 300, 8, 15, "pending 2"}},
       4);
}

TEST(RequestTrackerTest, IgnoresCompletionsOfWhatWasIssuedBefore) {
  play({{C, 'R', 100, 8, 10, ""},
        {I, 'R', 100, 8, 20, "pending 1"},
        {C, 'R', 100, 8, 25, "4096/5"},
        {C, 'R', 100, 8, 30, ""}});
}

TEST(RequestTrackerTest, FinishesARequestWithItsLastPart) {
  play({{I, 'R', 100, 24, 10, "pending 1"},
        {C, 'R', 100, 8, 20, ""},
        {I, 'R', 500, 8, 21, "pending 2"},
        {C, 'R', 108, 8, 30, ""},
        {C, 'R', 116, 8, 40, "12288/30"},
        {C, 'R', 500, 8, 41, "4096/20"}});
}

TEST(RequestTrackerTest, GoesOnWaitingAfterACompletionOfNothing) {
  play({{I, 'W', 0, 8, 10, "pending 1"}, {C, 'W', 0, 0, 20, ""}, {C, 'W', 0, 8, 30, "4096/20"}});
}

TEST(RequestTrackerTest, TakesFlushesInTheirOrder) {
  play({{I, 'F', 0, 0, 10, "pending 1"},
        {I, 'F', 0, 0, 20, "pending 2"},
        {I, 'W', 0, 8, 25, "pending 1"},
        {C, 'F', 0, 0, 30, "0/20"},
        {C, 'W', 0, 8, 35, "4096/10"},
        {C, 'F', 0, 0, 60, "0/40"}});
}

TEST(RequestTrackerTest, TellsFlushesFromDiscardsAtTheSameSector) {
  play({{I, 'D', 0, 64, 10, "pending 1"},
        {I, 'F', 0, 0, 11, "pending 2"},
        {C, 'F', 0, 0, 12, "0/1"},
        {C, 'D', 0, 64, 20, "32768/10"}});
}

TEST(RequestTrackerTest, PrefersOfTheSameSectorTheRequestOfTheSameLength) {
  play({{I, 'R', 100, 64, 10, "pending 1"},
        {I, 'R', 100, 8, 20, "pending 2"},
        {I, 'R', 100, 32, 25, "pending 3"},
        {C, 'R', 100, 8, 30, "4096/10"},
        {C, 'R', 100, 32, 35, "16384/10"},
        {C, 'R', 100, 16, 40, ""},
        {C, 'R', 116, 48, 50, "32768/40"}});
}

TEST(RequestTrackerTest, StartsARequeuedRequestAgain) {
  play({{I, 'W', 100, 8, 10, "pending 1"},
        {Q, 'W', 100, 8, 11, ""},
        {I, 'W', 100, 8, 20, "pending 1"},
        {C, 'W', 100, 8, 25, "4096/5"},
        {Q, 'W', 100, 8, 30, ""}});
}

TEST(RequestTrackerTest, RequeuesWhatAPartLeftOver) {
  play({{I, 'W', 100, 16, 10, "pending 1"},
        {C, 'W', 100, 8, 20, ""},
        {Q, 'W', 108, 8, 21, ""},
        {I, 'W', 108, 8, 30, "pending 1"},
        {C, 'W', 108, 8, 35, "4096/5"}});
}

TEST(RequestTrackerTest, FinishesRequestsThatAreDoneWithMoreThanTheyAskedFor) {
  // A command of SCSI's own: issued without sectors, completed with those of its data.
  play({{I, 'N', 0, 0, 10, "pending 1"}, {C, 'N', 0, 1, 12, "0/2"}});
}

TEST(RequestTrackerTest, ARequestWhoseEndWasNeverShownIsCountedAndTakenForNoOther) {
  RequestTracker tracker;
  const auto late = std::chrono::nanoseconds(RequestTracker::kOrphanedAfter).count() + 100;
  tracker.issue(event_of({I, 'R', 100, 8, 10}));
  tracker.issue(event_of({I, 'R', 100, 8, late}));
  EXPECT_EQ(outcome(tracker, event_of({C, 'R', 100, 8, late + 7})), "4096/7");
  EXPECT_EQ(tracker.take_orphaned(), 1u);
  EXPECT_EQ(tracker.take_orphaned(), 0u);
  EXPECT_EQ(tracker.in_flight(), 0u);
}

TEST(RequestTrackerTest, ForgetsWhatWasInFlight) {
  RequestTracker tracker;
  tracker.issue(event_of({I, 'R', 100, 8, 10}));
  tracker.forget_all();
  EXPECT_EQ(tracker.in_flight(), 0u);
  EXPECT_EQ(outcome(tracker, event_of({C, 'R', 100, 8, 20})), "");
  EXPECT_EQ(outcome(tracker, event_of({I, 'R', 100, 8, 30})), "pending 1");
}

TEST(RequestTrackerTest, HasABoundAndRoomAgainAfterCompletions) {
  RequestTracker tracker;
  for (std::uint64_t i = 0; i < RequestTracker::kInFlightMax; ++i) {
    ASSERT_TRUE(tracker.issue(event_of({I, 'R', 8 * i, 8, 10})));
  }
  EXPECT_FALSE(tracker.issue(event_of({I, 'R', 1, 8, 10})));
  EXPECT_EQ(outcome(tracker, event_of({C, 'R', 0, 8, 20})), "4096/10");
  EXPECT_TRUE(tracker.issue(event_of({I, 'R', 1, 8, 10})));
}

TEST(OperationTest, IsTheLetterBehindAFlushPrefix) {
  const std::pair<const char*, char> table[] = {
      {"R", 'R'},  {"RA", 'R'},  {"RSM", 'R'}, {"W", 'W'},  {"WS", 'W'}, {"FWFS", 'W'},
      {"FF", 'F'}, {"FFS", 'F'}, {"F", 'F'},   {"FS", 'F'}, {"D", 'D'},  {"DE", 'D'},
      {"FN", 'N'}, {"N", 'N'},   {"", 'N'},    {"ZR", 'Z'}};
  for (const auto& [rwbs, operation] : table) EXPECT_EQ(operation_of(rwbs), operation) << rwbs;
  EXPECT_EQ(direction_of('R'), Direction::kRead);
  EXPECT_EQ(direction_of('W'), Direction::kWrite);
  EXPECT_EQ(direction_of('D'), Direction::kOther);
}

}  // namespace
}  // namespace tallyfs
