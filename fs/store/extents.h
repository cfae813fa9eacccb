// Which places of a memory are free. Confined to its holder.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tallyfs {

struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // 0: none
};

class Extents {
 public:
  // Each extent that take() gives begins at a multiple of it.
  static constexpr std::uint64_t kUnit = 64;
  static constexpr std::uint64_t rounded(std::uint64_t size) {
    return (size + kUnit - 1) / kUnit * kUnit;
  }

  // All is free from `begin` on, a multiple of kUnit.
  explicit Extents(std::uint64_t begin) : end_(begin) {}

  // The smallest that serves, or a new one at the end. size: not 0.
  std::uint64_t take(std::uint64_t size);
  // The extent was taken, with the same size. Returns the free extent that it is part of now; the
  // one at the end begins at end() then.
  Extent give(Extent extent);
  // Nothing is taken from there on.
  std::uint64_t end() const { return end_; }

 private:
  void enter(Extent extent);
  void erase(std::map<std::uint64_t, std::uint64_t>::iterator at);

  std::uint64_t end_;
  std::map<std::uint64_t, std::uint64_t> by_offset_;  // the size of each
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
};

}  // namespace tallyfs
