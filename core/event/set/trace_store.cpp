#include "core/event/set/trace_store.h"

#include <utility>

namespace tallyfs {

void TraceStore::add_gap(std::uint64_t time_ns, std::uint32_t cpus) {
  for (std::uint32_t cpu = 0; cpu < cpus && is_on_; ++cpu) {
    trace_.add(TraceBuffer::Kind::kGap, {.time_ns = time_ns, .cpu = cpu}, 0);
  }
}

std::shared_ptr<const PrintFormat> TraceStore::print_format(DefinedEvent& event) {
  if (!event.is_print_known && !event.fields && !event.built_in) {
    auto compiled = PrintFormat::compile(*event.format_text, *event.format);
    if (compiled) event.print = std::make_shared<const PrintFormat>(std::move(*compiled));
  }
  event.is_print_known = true;
  return event.print;
}

TraceCopy TraceStore::copy(TraceBuffer records) const {
  const auto events_in = records.events();
  TraceCopy copy(std::move(records));
  for (const auto& [number, generation] : events_in) {
    DefinedEvent& event = events_.at(number);
    if (!event.defined || event.generation != generation) continue;
    const auto style = event.built_in ? TraceBuffer::Style::kMarker : TraceBuffer::Style::kFields;
    copy.add(number, generation, event.format, style, print_format(event));
  }
  return copy;
}

void TraceStore::resize(std::size_t bytes) {
  trace_.resize(bytes);
  if (snapshot_) snapshot_->resize(bytes);
}

void TraceStore::take_snapshot() {
  make_snapshot();
  std::swap(trace_, *snapshot_);
  trace_.clear();
}

void TraceStore::make_snapshot() {
  if (!snapshot_) snapshot_.emplace(trace_.bytes_max());
}

void TraceStore::clear_snapshot() {
  if (snapshot_) snapshot_->clear();
}

TraceCopy TraceStore::copy_snapshot() const {
  if (snapshot_ && !snapshot_->is_empty()) return copy(snapshot_->copy());
  return TraceCopy(snapshot_ ? TraceCopy::Empty::kAllocated : TraceCopy::Empty::kFreed);
}

std::uint64_t TraceStore::overwritten() const {
  return trace_.overwritten() + (snapshot_ ? snapshot_->overwritten() : 0);
}

}  // namespace tallyfs
