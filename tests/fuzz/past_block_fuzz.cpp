// Blocks of the store of the past with any bytes in their parts, and as whole frames: what is taken
// of them is in proportion to their bytes, in its bounds and, of each column, in order.
//
// The input is the size of each part, two bytes, and then the parts; the rest is a block.
#include <array>
#include <string>

#include "tests/fuzz/fuzzed.h"
#include "tools/past/block.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::uint64_t kPieces = 10;
// Sixty points that are known have bytes in their heads, and each cell has one of its own. A view
// has those of its source again.
constexpr std::size_t kTimesMax = 1 + past::kDerivedViewsMax;
constexpr std::size_t kTakenMin = kTimesMax * past::kBlockSeriesMax * past::kBlockPoints;

class Taken {
 public:
  void take(unsigned number, const past::Point& point) {
    // Its views come with each point. In damaged bytes they may have the id of any series.
    if (number < number_) ++columns_;
    must(columns_ <= past::kBlockSeriesMax, "points of a column ascend");
    must(number < past::kBlockPoints, "a block has sixty points");
    must(point.known <= kPieces, "a point knows its pieces at most");
    for (std::size_t i = 1; i < point.cells.size(); ++i) {
      must(point.cells[i - 1].key < point.cells[i].key, "cells ascend");
    }
    for (const past::Cell& each : point.cells) must(each.count > 0, "a cell counts something");
    number_ = number;
    ++size_;
    cells_ += point.cells.size();
  }
  void check(std::size_t bytes) const {
    must(size_ <= kTakenMin, "a block has so many points at most");
    must(cells_ <= kTimesMax * bytes, "a cell has a byte");
  }

 private:
  std::size_t columns_ = 1;
  unsigned number_ = 0;
  std::size_t size_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs;
  fuzz::Input input(bytes, size);
  past::Parts parts;
  for (std::string& each : parts) {
    const auto wanted = static_cast<std::size_t>(input.number(2));
    each.resize(wanted % 512);
  }
  for (std::string& each : parts) each = input.text(each.size());
  const std::uint64_t odd = input.byte() % 2;
  const past::WantedSeries wanted{~std::uint64_t{0}, [odd](std::uint64_t series) {
                                    return odd == 0 || series % 2 == 1;
                                  }};
  fuzz::Taken of_parts;
  (void)past::read_parts(parts, fuzz::kPieces, wanted,
                         [&](std::uint64_t, unsigned at, past::Point&& point) {
                           of_parts.take(at, point);
                         });
  of_parts.check(size);
  (void)past::read_block(input.rest(), fuzz::kPieces, wanted,
                         [](std::uint64_t, unsigned, past::Point&&) {});
  return 0;
}
