// Blocks of the store of the past with any bytes in their parts, and as whole frames: what is taken
// of them is in proportion to their bytes, in its bounds and in order.
//
// The input is the size of each part, two bytes, and then the parts; the rest is a block.
#include <array>
#include <string>

#include "tests/fuzz/fuzzed.h"
#include "tools/past/block.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::uint64_t kPieces = 10;
// Sixty points that are known have bytes in their heads, and each cell has one of its own.
constexpr std::size_t kTakenMin = past::kBlockSeriesMax * past::kBlockPoints;

class Taken {
 public:
  void take(std::uint64_t series, unsigned number, const past::Point& point) {
    const bool is_next = series > series_ || (series == series_ && number > number_) || size_ == 0;
    must(is_next, "series and points ascend");
    must(number < past::kBlockPoints, "a block has sixty points");
    must(point.known <= kPieces, "a point knows its pieces at most");
    for (std::size_t i = 1; i < point.cells.size(); ++i) {
      must(point.cells[i - 1].key < point.cells[i].key, "cells ascend");
    }
    for (const past::Cell& each : point.cells) must(each.count > 0, "a cell counts something");
    series_ = series;
    number_ = number;
    ++size_;
    cells_ += point.cells.size();
  }
  void check(std::size_t bytes) const {
    must(size_ <= kTakenMin, "a block has so many points at most");
    must(cells_ <= bytes, "a cell has a byte");
  }

 private:
  std::uint64_t series_ = 0;
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
                         [&](std::uint64_t series, unsigned at, past::Point&& point) {
                           of_parts.take(series, at, point);
                         });
  of_parts.check(size);
  (void)past::read_block(input.rest(), fuzz::kPieces, wanted,
                         [](std::uint64_t, unsigned, past::Point&&) {});
  return 0;
}
