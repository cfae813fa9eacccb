// A set of a machine's CPUs as filters name it: `CPUS{0-3,8}`. It is compared with the CPU number
// or the CPU mask in a record. Immutable once parsed. Holds CPUs below kCpusMax.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tallyfs::tracing {

class CpuSet {
 public:
  static constexpr std::uint32_t kCpusMax = 8192;

  // Parses a list in the form of /sys/devices/system/cpu/online: `0-3,8`. nullopt: the text is no
  // such list, the list is empty, or a CPU is not below kCpusMax.
  static std::optional<CpuSet> parse(std::string_view list);

  // cpu may be any number: a number that no CPU can have is in no set.
  bool has(std::uint64_t cpu) const;
  bool is_only(std::uint64_t cpu) const;  // cpu and no other one
  // mask: the 64-bit words of a record's bit mask, in this machine's byte order. Bytes after the
  // last whole word are ignored.
  bool intersects(std::string_view mask) const;
  bool equals(std::string_view mask) const;

 private:
  CpuSet() = default;
  std::uint64_t word(std::size_t at) const { return at < words_.size() ? words_[at] : 0; }

  std::vector<std::uint64_t> words_;
  std::uint32_t count_ = 0;
};

}  // namespace tallyfs::tracing
