// How many different values there were: exact up to 1,024 of them, then HyperLogLog of 4,096
// registers (P. Flajolet and others, 2007) with the improved estimator of O. Ertl, "New cardinality
// estimation algorithms for HyperLogLog sketches", 2017: a standard error of 1.6 %.
//
// Values are known by a hash of 64 bits. At most 16 KiB. Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tallyfs::statsd {

class DistinctValues {
 public:
  static constexpr std::size_t kExactMax = 1'024;

  void add(std::string_view value);
  std::uint64_t count() const;
  bool empty() const { return exact_count_ == 0 && registers_.empty(); }
  // Forgets all, memory included.
  void clear();

 private:
  void add_exact(std::uint64_t hash);
  void add_to_registers(std::uint64_t hash);
  void grow();
  double estimate() const;

  std::vector<std::uint64_t> exact_;  // open addressing, at most half full; 0 is free
  std::size_t exact_count_ = 0;
  std::vector<std::uint8_t> registers_;  // when there are more
};

}  // namespace tallyfs::statsd
