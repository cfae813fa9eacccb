#include "feeders/block/block_events.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/unit/kernel_formats.h"

namespace tallyfs {
namespace {

constexpr std::chrono::nanoseconds kTime{123};

BlockEvents make_events() {
  return BlockEvents::create(tracing::parse_event_format(kBlockRqIssue).value(),
                             tracing::parse_event_format(kBlockRqRequeue).value(),
                             tracing::parse_event_format(kBlockRqComplete).value())
      .value();
}

template <typename T>
void put(std::string& payload, std::size_t at, T value) {
  std::memcpy(payload.data() + at, &value, sizeof value);
}

std::string payload_of(std::uint16_t id, std::size_t size, std::uint64_t sector) {
  std::string payload(size, '\0');
  put(payload, 0, id);
  put(payload, 8, std::uint32_t{7 << 20 | 3});
  put(payload, 16, sector);
  put(payload, 24, std::uint32_t{24});
  return payload;
}

TEST(BlockEventsTest, DecodesEachKindByItsOwnFormat) {
  const BlockEvents events = make_events();
  auto issue = payload_of(2104, 64, 4096);
  put(issue, 28, std::uint32_t{12288});
  issue.replace(34, 4, "FWFS");
  const auto issued = events.decode(kTime, issue).value();
  EXPECT_EQ(issued.kind, RequestEvent::Kind::kIssue);
  EXPECT_EQ(issued.device, DeviceNumber{7 << 20 | 3});
  EXPECT_EQ(issued.sector, 4096u);
  EXPECT_EQ(issued.sectors, 24u);
  EXPECT_EQ(issued.bytes, 12288u);
  EXPECT_EQ(issued.operation, 'W');
  EXPECT_EQ(issued.time, kTime);

  auto complete = payload_of(2107, 48, 4096);
  complete.replace(34, 1, "R");
  const auto completed = events.decode(kTime, complete).value();
  EXPECT_EQ(completed.kind, RequestEvent::Kind::kComplete);
  EXPECT_EQ(completed.operation, 'R');

  auto requeue = payload_of(2108, 44, 4096);
  requeue.replace(30, 1, "D");
  const auto requeued = events.decode(kTime, requeue).value();
  EXPECT_EQ(requeued.kind, RequestEvent::Kind::kRequeue);
  EXPECT_EQ(requeued.operation, 'D');
}

TEST(BlockEventsTest, KnowsAFlushByWhatItIsCompletedWith) {
  auto complete = payload_of(2107, 48, ~0ull);
  complete.replace(34, 2, "FF");
  EXPECT_EQ(make_events().decode(kTime, complete)->sector, 0u) << "the sector it was issued at";
}

TEST(BlockEventsTest, PassesOverOtherEventsAndShortOnes) {
  const BlockEvents events = make_events();
  EXPECT_FALSE(events.decode(kTime, payload_of(99, 64, 0)));
  const auto issue = payload_of(2104, 64, 4096);
  for (std::size_t size = 0; size < 44; ++size) {
    EXPECT_FALSE(events.decode(kTime, std::span(issue).first(size))) << size;
  }
  EXPECT_TRUE(events.decode(kTime, std::span(issue).first(44)));
}

TEST(BlockEventsTest, SaysWhichFieldAKernelLacks) {
  const auto issue = tracing::parse_event_format(kBlockRqIssue).value();
  const auto complete = tracing::parse_event_format(kBlockRqComplete).value();
  EXPECT_EQ(BlockEvents::create(complete, complete, complete).error().reason,
            "event block_rq_complete: there is no field 'bytes'");
  auto without_rwbs = issue;
  std::erase_if(without_rwbs.fields,
                [](const tracing::TraceField& field) { return field.name == "rwbs"; });
  EXPECT_FALSE(BlockEvents::create(without_rwbs, complete, complete));
}

}  // namespace
}  // namespace tallyfs
