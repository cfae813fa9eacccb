#include "core/latency_hist/engine/shortfall.h"

#include <string_view>

#include "core/base/int128.h"
#include "core/base/text.h"

namespace tallyfs::latency_hist {
namespace {

struct Wording {
  std::string_view things;
  std::string_view unmatched;
  std::string_view lost;
};

Wording wording_of(Kind kind) {
  switch (kind) {
    case Kind::kWakeups:
      return {"wakeups", " without an event that shows the task running", " events lost"};
    case Kind::kTimers:
      return {"timers", " without their start or their wakeup", " events lost"};
    case Kind::kTimersAndWakeups:
      return {"timers with their wakeups",
              " without the timer's start, its wakeup or an event that shows the task running",
              " events lost"};
    case Kind::kSections:
      return {"sections", " without their end", " events lost"};
    case Kind::kFed:
      return {"latencies", " without their end", " dropped by the program"};
  }
  return {};
}

}  // namespace

bool CpuCounts::falls_short() const {
  const UInt128 missing = UInt128{unmatched} + lost;
  return missing * 100 > missing + samples;
}

std::string shortfall_line(Kind kind, const CpuCounts& counts) {
  std::string out;
  if (!counts.falls_short()) return out;
  const Wording wording = wording_of(kind);
  const auto missing = static_cast<Int128>(UInt128{counts.unmatched} + counts.lost);
  out.push_back('#');
  append_number(out, missing);
  out.append(" of ");
  append_number(out, missing + static_cast<Int128>(counts.samples));
  out.append(" ").append(wording.things).append(" are not in this histogram: ");
  if (counts.unmatched != 0) {
    append_number(out, counts.unmatched);
    out.append(wording.unmatched);
  }
  if (counts.lost != 0) {
    if (counts.unmatched != 0) out.append(", ");
    append_number(out, counts.lost);
    out.append(wording.lost);
  }
  out.push_back('\n');
  return out;
}

}  // namespace tallyfs::latency_hist
