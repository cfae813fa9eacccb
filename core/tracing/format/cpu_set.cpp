#include "core/tracing/format/cpu_set.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/model/record.h"

namespace tallyfs::tracing {

std::optional<CpuSet> CpuSet::parse(std::string_view list) {
  CpuSet set;
  for (bool more = true; more;) {
    const std::string_view part = list.substr(0, list.find(','));
    more = part.size() < list.size();
    list.remove_prefix(part.size() + (more ? 1 : 0));
    const std::size_t dash = std::min(part.find('-'), part.size());
    const auto first = parse_unsigned(trimmed(part.substr(0, dash)));
    const auto last = dash == part.size() ? first : parse_unsigned(trimmed(part.substr(dash + 1)));
    if (!first || !last || *first > *last || *last >= kCpusMax) return std::nullopt;
    if (set.words_.size() <= *last / 64) set.words_.resize(*last / 64 + 1);
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) {
      if (set.has(cpu)) continue;
      set.words_[cpu / 64] |= std::uint64_t{1} << cpu % 64;
      set.count_ += 1;
    }
  }
  return set;
}

bool CpuSet::has(std::uint64_t cpu) const {
  return cpu < kCpusMax && (word(cpu / 64) >> cpu % 64 & 1) != 0;
}

bool CpuSet::is_only(std::uint64_t cpu) const { return count_ == 1 && has(cpu); }

bool CpuSet::intersects(std::string_view mask) const {
  for (std::size_t at = 0; at + 8 <= mask.size(); at += 8) {
    if ((read_raw<std::uint64_t>(mask.data() + at) & word(at / 8)) != 0) return true;
  }
  return false;
}

bool CpuSet::equals(std::string_view mask) const {
  const std::size_t words = std::max(words_.size(), mask.size() / 8);
  for (std::size_t at = 0; at < words; ++at) {
    const bool there = at * 8 + 8 <= mask.size();
    if ((there ? read_raw<std::uint64_t>(mask.data() + at * 8) : 0) != word(at)) return false;
  }
  return true;
}

}  // namespace tallyfs::tracing
