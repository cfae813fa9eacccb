#include "core/tracing/branch/saved_instance.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kBytesOfKib = 1024;
// Options, and filters of systems: more than there are.
constexpr std::uint32_t kListedMax = 65'536;
// Listed with the options if it is not as at first.
constexpr std::string_view kPercent = "buffer_percent=";

}  // namespace

void SavedInstance::save(const TracingInstance& instance, ByteWriter& out) {
  const TraceStore& trace = instance.set.trace;
  out.put_text(instance.name);
  out.put(std::uint8_t{trace.is_on()});
  out.put(std::uint8_t{trace.has_snapshot()});
  out.put_text(*instance.clock);
  out.put(instance.cmdlines_max);
  const bool has_first_size = trace.bytes() == instance.trace_bytes_first;
  out.put(std::uint64_t{has_first_size ? 0 : trace.bytes()});
  out.put(static_cast<std::uint32_t>(instance.cpu_kib.size()));
  for (const std::uint64_t kib : instance.cpu_kib) out.put(kib);
  const bool has_percent = instance.buffer_percent != 0;
  out.put(static_cast<std::uint32_t>(trace_options().size() + (has_percent ? 1 : 0)));
  if (has_percent) {
    out.put_text(std::string(kPercent) + std::to_string(instance.buffer_percent));
    out.put(std::uint8_t{1});
  }
  for (const TraceOption& option : trace_options()) {
    out.put_text(option.name);
    out.put(std::uint8_t{is_trace_option_on(instance, option)});
  }
  instance.set.selection.save(out);
  const auto& filters = instance.set.filters.by_system();
  out.put(static_cast<std::uint32_t>(filters.size()));
  for (const auto& [system, filter] : filters) {
    out.put_text(system);
    out.put_text(filter);
  }
}

bool SavedInstance::is_as_first(const TracingInstance& instance) {
  const TraceStore& trace = instance.set.trace;
  const auto is_first = [&](const TraceOption& option) {
    return is_trace_option_on(instance, option) == option.is_on_first;
  };
  return trace.is_on() && !trace.has_snapshot() && instance.clock == kTraceClocks.begin() &&
         instance.cmdlines_max == TracingInstance::kNamesFirst && instance.cpu_kib.empty() &&
         instance.buffer_percent == 0 && trace.bytes() == instance.trace_bytes_first &&
         instance.set.selection.is_all() && instance.set.filters.by_system().empty() &&
         std::ranges::all_of(trace_options(), is_first);
}

SavedInstance SavedInstance::load(ByteReader& in, const Bounds& bounds) {
  SavedInstance saved(bounds.set.pids_max);
  saved.name_ = in.get_text();
  saved.is_on_ = in.get_flag();
  saved.has_snapshot_ = in.get_flag();
  saved.clock_ = std::ranges::find(kTraceClocks, in.get_text());
  if (saved.clock_ == kTraceClocks.end()) in.fail();
  saved.cmdlines_max_ = in.get<std::uint64_t>();
  if (saved.cmdlines_max_ == 0 || saved.cmdlines_max_ > TracingInstance::kNamesMax) in.fail();
  saved.load_sizes(in, bounds.cpus);
  saved.load_options(in);
  saved.selection_.load(in, bounds.cpus);
  saved.load_filters(in);
  return saved;
}

// A machine with another number of CPUs divides the same bytes among them.
void SavedInstance::load_sizes(ByteReader& in, std::uint32_t cpus) {
  trace_bytes_ = in.get<std::uint64_t>();
  const auto size = in.get<std::uint32_t>();
  const bool is_size =
      trace_bytes_ <= TracingInstance::kTraceBytesMax && trace_bytes_ % kBytesOfKib == 0;
  if (!is_size || in.left() / sizeof(std::uint64_t) < size) return in.fail();
  std::uint64_t kib = 0;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    cpu_kib_.push_back(in.get<std::uint64_t>());
    if (cpu_kib_.back() > TracingInstance::kTraceBytesMax / kBytesOfKib) return in.fail();
    kib += cpu_kib_.back();
  }
  if (!cpu_kib_.empty() && trace_bytes_ != 0 && kib * kBytesOfKib != trace_bytes_) in.fail();
  if (cpu_kib_.size() != cpus) cpu_kib_.clear();
}

void SavedInstance::load_options(ByteReader& in) {
  const auto size = in.get<std::uint32_t>();
  if (size > kListedMax) return in.fail();
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    const std::string_view name = in.get_text();
    const bool on = in.get_flag();
    if (name.starts_with(kPercent)) {
      load_percent(name.substr(kPercent.size()), in);
      continue;
    }
    const TraceOption* const option = find_trace_option(name);
    if (!option) return in.fail();
    options_.emplace_back(option, on);
  }
}

void SavedInstance::load_percent(std::string_view text, ByteReader& in) {
  const auto percent = parse_unsigned(text);
  if (!percent || *percent > 100) return in.fail();
  buffer_percent_ = static_cast<std::uint32_t>(*percent);
}

void SavedInstance::load_filters(ByteReader& in) {
  const auto size = in.get<std::uint32_t>();
  if (size > kListedMax) return in.fail();
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    const std::string_view system = in.get_text();
    filters_.emplace_back(system, in.get_text());
  }
}

Result<void> SavedInstance::set_options(TracingInstance& instance) const {
  for (const auto& [option, on] : options_) {
    auto done = set_trace_option(instance, *option, on);
    if (done) continue;
    reset_options(instance);
    return done;
  }
  return {};
}

void SavedInstance::reset_options(TracingInstance& instance) const {
  for (const auto& [option, on] : options_) {
    (void)set_trace_option(instance, *option, option->is_on_first);
  }
}

Result<void> SavedInstance::set_sizes(TracingInstance& instance) const {
  if (trace_bytes_ != 0) instance.set.trace.resize(trace_bytes_);
  auto fits = instance.hold_memory();
  if (!fits) {
    instance.set.trace.resize(instance.trace_bytes_first);
    (void)instance.hold_memory();
    return fits;
  }
  instance.cpu_kib = cpu_kib_;
  return {};
}

Result<void> SavedInstance::apply(TracingInstance& instance) const {
  if (auto set = set_options(instance); !set) return set;
  if (auto sized = set_sizes(instance); !sized) {
    reset_options(instance);
    return sized;
  }
  instance.set.trace.set_on(is_on_);
  if (has_snapshot_) instance.set.trace.make_snapshot();
  instance.clock = clock_;
  instance.cmdlines_max = cmdlines_max_;
  instance.buffer_percent = buffer_percent_;
  instance.set.selection = selection_;
  for (const auto& [system, filter] : filters_) instance.set.filters.restore(system, filter);
  return {};
}

}  // namespace tallyfs::tracing
