#include "core/tracing/branch/tracing_instance.h"

#include <algorithm>

namespace tallyfs::tracing {

void TracingInstance::clear_cpu(std::uint32_t cpu, std::uint32_t cpus) {
  set.trace.clear(cpu);
  cleared_cpus.insert(cpu);
  if (cleared_cpus.size() == cpus) lost = 0;
}

Result<void> TracingInstance::hold_memory() {
  const std::size_t trace_bytes = std::max(set.trace.bytes(), trace_bytes_first);
  const std::size_t bytes = set.hists.bytes() + 2 * (trace_bytes - trace_bytes_first);
  if (bytes > held_bytes) {
    if (auto grown = share.grow({.bytes = bytes - held_bytes}); !grown) return grown;
  } else {
    share.shrink({.bytes = held_bytes - bytes});
  }
  held_bytes = bytes;
  return {};
}

// The last page of a full buffer may have a gap that is too small for a record.
bool TracingInstance::is_filled() const {
  constexpr std::uint64_t kPageBytes = PageWriter::kPageBytes;
  const std::uint64_t pages = set.trace.bytes() / kPageBytes;
  const std::uint64_t filled = (set.trace.kept_bytes() + kPageBytes - 1) / kPageBytes;
  return filled * 100 >= pages * buffer_percent;
}

}  // namespace tallyfs::tracing
