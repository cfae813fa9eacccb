#include "core/latency_hist/engine/section_tracker.h"

#include <utility>

namespace tallyfs::latency_hist {

SectionTracker::Ended SectionTracker::switched(const KernelEvent& event) {
  const Nanoseconds time(event.time_ns);
  const bool is_irqs =
      event.kind == KernelEventKind::kIrqsOff || event.kind == KernelEventKind::kIrqsOn;
  const bool is_off =
      event.kind == KernelEventKind::kIrqsOff || event.kind == KernelEventKind::kPreemptOff;
  const Section section = is_irqs ? Section::kIrqsOff : Section::kPreemptOff;
  Ended ended;
  if (is_off) {
    begin(section, time);
    begin(Section::kPreemptIrqsOff, time);
    return ended;
  }
  end(section, time, ended);
  if (!is_open(Section::kIrqsOff) && !is_open(Section::kPreemptOff)) {
    end(Section::kPreemptIrqsOff, time, ended);
  }
  return ended;
}

void SectionTracker::begin(Section section, Nanoseconds time) {
  auto& since = since_[static_cast<std::size_t>(section)];
  if (!since) since = time;
}

void SectionTracker::end(Section section, Nanoseconds time, Ended& ended) {
  const auto place = static_cast<std::size_t>(section);
  const auto since = std::exchange(since_[place], std::nullopt);
  if (!since) return;
  if (time - *since < kSectionMax) {
    ended.lengths[place] = time - *since;
  } else {
    ended.unmatched[place] = 1;
  }
}

}  // namespace tallyfs::latency_hist
