#include "core/tracing/set/trace_store.h"

#include <utility>

namespace tallyfs::tracing {

void TraceStore::begin_pause(std::uint64_t time_ns) {
  if (pauses_++ > 0) return;
  pause_begin_ns_ = time_ns;
  pause_end_ns_ = UINT64_MAX;
}

void TraceStore::end_pause(std::uint64_t time_ns) {
  if (--pauses_ == 0) pause_end_ns_ = time_ns;
}

void TraceStore::set_overwrites(bool on) {
  overwrites_ = on;
  trace_.set_overwrites(on);
  if (snapshot_) snapshot_->set_overwrites(on);
}

void TraceStore::add(TraceBuffer::Kind kind, const EventRecord& record, std::uint32_t generation) {
  if (!is_on_) return;
  if (record.time_ns >= pause_begin_ns_ && record.time_ns < pause_end_ns_) {
    left_out_ += 1;
    return;
  }
  trace_.add(kind, record, generation);
}

void TraceStore::clear() {
  trace_.clear();
  left_out_ = 0;
}

void TraceStore::add_gap(std::uint64_t time_ns, std::uint32_t cpus) {
  for (std::uint32_t cpu = 0; cpu < cpus && is_on_; ++cpu) {
    trace_.add(TraceBuffer::Kind::kGap, {.time_ns = time_ns, .cpu = cpu}, 0);
  }
}

TraceBuffer::Style TraceStore::style_of(const DefinedEvent& event) {
  if (!event.built_in) return TraceBuffer::Style::kFields;
  return event.format->name == "print" ? TraceBuffer::Style::kMarker
                                       : TraceBuffer::Style::kRawMarker;
}

TraceCopy TraceStore::copy(TraceBuffer records) const {
  const auto events_in = records.events();
  TraceCopy copy(std::move(records));
  for (const auto& [number, generation] : events_in) {
    const DefinedEvent& event = events_.at(number);
    if (!event.defined || event.generation != generation) continue;
    const bool is_kernels = !event.fields && !event.built_in;
    copy.add(number, generation, event.format, style_of(event),
             is_kernels ? event.wording : nullptr);
  }
  return copy;
}

TraceCopy TraceStore::take(std::size_t bytes_max, std::optional<std::uint32_t> only_cpu) {
  TraceBuffer taken = only_cpu ? trace_.take(bytes_max, *only_cpu) : trace_.take(bytes_max);
  taken.each([this](TraceBuffer::Kind, const EventRecord& record, std::uint32_t) {
    taken_names_.note(record.pid, record.comm);
  });
  return copy(std::move(taken));
}

void TraceStore::take_page(Buffer buffer, std::uint32_t cpu, PageCopy& page) {
  if (!has_records(buffer, cpu)) return;
  const auto shown = [this](EventNumber number, std::uint32_t generation) -> TraceBuffer::Shown {
    const DefinedEvent& event = events_.at(number);
    if (!event.defined || event.generation != generation) return {};
    return {event.format.get(), style_of(event)};
  };
  TraceBuffer& records = buffer == Buffer::kTrace ? trace_ : *snapshot_;
  records.take_page(cpu, page, shown, taken_names_);
}

bool TraceStore::has_records(Buffer buffer, std::uint32_t cpu) const {
  if (buffer == Buffer::kTrace) return trace_.has_records(cpu);
  return snapshot_ && snapshot_->has_records(cpu);
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
  if (snapshot_) return;
  snapshot_.emplace(trace_.bytes_max());
  snapshot_->set_overwrites(overwrites_);
}

void TraceStore::clear_snapshot() {
  if (snapshot_) snapshot_->clear();
}

void TraceStore::clear_snapshot(std::uint32_t cpu) {
  if (snapshot_) snapshot_->clear(cpu);
}

TraceCopy TraceStore::copy_snapshot() const {
  if (snapshot_ && !snapshot_->is_empty()) return copy(snapshot_->copy());
  return TraceCopy(snapshot_ ? TraceCopy::Empty::kAllocated : TraceCopy::Empty::kFreed);
}

std::uint64_t TraceStore::overwritten() const {
  return trace_.overwritten() + (snapshot_ ? snapshot_->overwritten() : 0);
}

}  // namespace tallyfs::tracing
