// How a process hands out the memory of its lane.
#include "feeders/client/cell_file.h"

#include "fake_lane.h"

namespace tallyfs {
namespace {

std::unique_ptr<CellFile> map(FakeLane& lane, std::size_t bytes) {
  lane.make_file(bytes);
  auto mapped = CellFile::map(lane.file->fd(), {.number = 1, .epoch = 1});
  EXPECT_TRUE(mapped);
  return std::move(mapped.value());
}

TEST(CellFileTest, RingsGetSmallerAndLeaveAnEighthToCells) {
  for (const std::size_t bytes : {std::size_t{2} << 20, std::size_t{4} << 20}) {
    FakeLane lane;
    const auto file = map(lane, bytes);
    std::size_t rings = 0;
    std::size_t last = kRingBytesMax;
    while (const std::uint64_t ring = file->allocate_ring()) {
      const std::size_t size = ring >> 32;
      EXPECT_LE(size, last);
      EXPECT_GE(size, kRingBytesMin);
      last = size;
      ++rings;
    }
    EXPECT_GE(rings, 7u);
    std::size_t cells = 0;
    while (file->allocate(sizeof(LaneCell)) != 0) ++cells;
    EXPECT_GE(cells, bytes / 8 / sizeof(LaneCell));
    RecordProperty("rings_" + std::to_string(bytes >> 20), static_cast<int>(rings));
    RecordProperty("cells_" + std::to_string(bytes >> 20), static_cast<int>(cells));
  }
}

TEST(CellFileTest, CellsMayTakeAllThatRingsHaveNot) {
  FakeLane lane;
  const auto file = map(lane, std::size_t{4} << 20);
  std::size_t cells = 0;
  while (file->allocate(sizeof(LaneCell)) != 0) ++cells;
  EXPECT_GT(cells, 21'000u);
  EXPECT_EQ(file->allocate_ring(), 0u);
}

}  // namespace
}  // namespace tallyfs
