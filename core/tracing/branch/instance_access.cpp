#include "core/tracing/branch/instance_access.h"

namespace tallyfs::tracing {

std::uint64_t InstanceAccess::version() const {
  const MutexLock lock(state_->mutex);
  return instance_->changes;
}

Timestamp InstanceAccess::last_change() const {
  const MutexLock lock(state_->mutex);
  return instance_->last_change;
}

Result<std::shared_ptr<const void>> InstanceAccess::hold() const {
  const MutexLock lock(state_->mutex);
  if (instance_->removed) return removed_instance();
  return instance_->open_mark;
}

TraceBuffer::View InstanceAccess::view_by_options() const {
  const MutexLock lock(state_->mutex);
  return {.cpus = state_->options.cpus,
          .fields = instance_->shows_fields,
          .context = instance_->shows_context,
          .irq_info = instance_->shows_irq_info,
          .pointers = instance_->hashes_pointers ? &state_->pointers : nullptr,
          .groups = instance_->records_groups ? state_->groups.all() : nullptr};
}

Result<InstanceAccess::CopiedTrace> InstanceAccess::copy_trace(Timestamp now) const {
  const MutexLock lock(state_->mutex);
  state_->order.release_drained(now);
  const TraceStore& trace = instance_->set.trace;
  auto share = state_->readings.reserve(trace.kept_bytes());
  if (!share) return share.error();
  return CopiedTrace{.share = std::move(share.value()), .copy = trace.copy()};
}

Result<InstanceAccess::CopiedTrace> InstanceAccess::copy_snapshot(Timestamp now) const {
  const MutexLock lock(state_->mutex);
  state_->order.release_drained(now);
  const TraceStore& trace = instance_->set.trace;
  auto share = state_->readings.reserve(trace.snapshot_kept_bytes());
  if (!share) return share.error();
  return CopiedTrace{.share = std::move(share.value()), .copy = trace.copy_snapshot()};
}

Error InstanceAccess::too_long() { return {ErrorCode::kNoSpace, "a text too long to be opened"}; }

Result<std::string> InstanceAccess::bounded(std::string text, std::size_t bytes_max) {
  if (text.size() > bytes_max) return too_long();
  return text;
}

}  // namespace tallyfs::tracing
