#include "fs/store/extents.h"

#include <iterator>

namespace tallyfs {

std::uint64_t Extents::take(std::uint64_t size) {
  size = rounded(size);
  const auto found = by_size_.lower_bound({size, 0});
  if (found == by_size_.end()) return std::exchange(end_, end_ + size);
  const auto [most, offset] = *found;
  erase(by_offset_.find(offset));
  if (most > size) enter({offset + size, most - size});
  return offset;
}

Extent Extents::give(Extent extent) {
  extent.size = rounded(extent.size);
  const auto next = by_offset_.lower_bound(extent.offset);
  if (next != by_offset_.end() && extent.offset + extent.size == next->first) {
    extent.size += next->second;
    erase(next);
  }
  const auto after = by_offset_.lower_bound(extent.offset);
  if (after != by_offset_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == extent.offset) {
      extent = {before->first, before->second + extent.size};
      erase(before);
    }
  }
  if (extent.offset + extent.size == end_) {
    end_ = extent.offset;
    return extent;
  }
  enter(extent);
  return extent;
}

void Extents::enter(Extent extent) {
  by_offset_.emplace(extent.offset, extent.size);
  by_size_.emplace(extent.size, extent.offset);
}

void Extents::erase(std::map<std::uint64_t, std::uint64_t>::iterator at) {
  by_size_.erase({at->second, at->first});
  by_offset_.erase(at);
}

}  // namespace tallyfs
