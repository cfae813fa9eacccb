// Decodes trace records into KernelEvents, by the offsets that this kernel's format files give.
// Immutable once it knows its formats.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/kernel_event.h"
#include "core/tracing/format/format.h"

namespace tallyfs {

class EventDecoder {
 public:
  // Of one of the events of wanted_trace.h. kNotFound, kInvalid: this kernel's event lacks a field
  // that is needed.
  Result<void> add(const tracing::EventFormat& format);

  // Nothing: another event, or a record too short for its fields. cpu: through whose pipe it came.
  std::optional<KernelEvent> decode(std::chrono::nanoseconds time, unsigned cpu,
                                    std::span<const char> payload) const;

 private:
  // Where a record has what belongs into a KernelEvent; what it does not have stays as it is.
  struct Name {
    tracing::TraceField field;
    Task KernelEvent::*task;
  };
  struct Number {
    tracing::TraceNumber from;
    void (*put)(KernelEvent& event, std::uint64_t value);
  };
  struct Layout {
    std::uint16_t id = 0;
    KernelEventKind kind = KernelEventKind::kLost;
    std::size_t bytes_min = 0;
    std::vector<Number> numbers = {};
    std::vector<Name> names = {};
  };
  struct Plan;

  static const std::vector<Plan>& plans();

  std::vector<Layout> layouts_;
};

}  // namespace tallyfs
