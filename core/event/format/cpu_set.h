// Some of a machine's CPUs, as filters name them: `CPUS{0-3,8}`, to be compared with the number or
// the mask of a record. Immutable once parsed. CPUs below kCpusMax.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tallyfs {

class CpuSet {
 public:
  static constexpr std::uint32_t kCpusMax = 8192;

  // A list as /sys/devices/system/cpu/online has it: `0-3,8`. Nothing: it is none, or empty.
  static std::optional<CpuSet> parse(std::string_view list);

  // cpu may be any number: what is none is in no set.
  bool has(std::uint64_t cpu) const;
  bool is_only(std::uint64_t cpu) const;  // that one and no other
  // mask: the words of a record's bit mask, of 64 bits, one behind the other.
  bool intersects(std::string_view mask) const;
  bool equals(std::string_view mask) const;

 private:
  CpuSet() = default;
  std::uint64_t word(std::size_t at) const { return at < words_.size() ? words_[at] : 0; }

  std::vector<std::uint64_t> words_;
  std::uint32_t count_ = 0;
};

}  // namespace tallyfs
