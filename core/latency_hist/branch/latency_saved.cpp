// The state of tracing/latency_hist that outlives the daemon (core/state/FORMAT.md, kinds 13 to
// 15).
#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/latency_hist/branch/latency_branch.h"

namespace tallyfs::latency_hist {
namespace {

// The version of the contents of all three kinds.
constexpr std::uint16_t kFormat = 1;
constexpr std::string_view kSwitchesLabel = "enable";

// The directories below latency_hist/, indexed by Latencies.
constexpr std::array<std::string_view, kLatencies> kDirectories = {
    "irqsoff",           "preemptoff",           "preemptirqsoff", "wakeup",
    "wakeup/sharedprio", "missed_timer_offsets", "timerandwakeup",
};
// In an order in which each may be switched on.
constexpr std::array kSwitched = {Measuring::kSections, Measuring::kWakeup,
                                  Measuring::kMissedTimerOffsets, Measuring::kTimerAndWakeup};
static_assert(kSwitched.size() == kMeasurings);
constexpr std::array kSelecting = {Measuring::kWakeup, Measuring::kMissedTimerOffsets};

Error not_saved_here() {
  return {ErrorCode::kInvalid, "no saved histograms of latency_hist/, or of another machine"};
}

}  // namespace

std::vector<LatencyBranch::Fed> LatencyBranch::fed() const {
  std::vector<Fed> all;
  {
    const MutexLock lock(fed_mutex_);
    for (const auto& [name, directory] : fed_) all.push_back({name, directory});
  }
  std::ranges::sort(all, {}, [](const Fed& each) { return each.directory.node; });
  return all;
}

void LatencyBranch::save(ObjectSink& sink) const {
  if (!save_kernel(sink)) return;
  std::string bytes;
  for (const Fed& each : fed()) {
    bytes.clear();
    ByteWriter out(bytes);
    out.put(std::uint32_t{each.directory.creator});
    each.directory.latencies->with([&](const Set& set) { set.save(out); });
    if (!sink.put(saved_object(SavedKind::kLatencies, kFormat, each.name, bytes))) return;
  }
}

// False: the sink takes no more. A directory that was never touched is not saved.
bool LatencyBranch::save_kernel(ObjectSink& sink) const {
  std::string bytes;
  for (std::size_t i = 0; i < kLatencies; ++i) {
    bytes.clear();
    {
      ByteWriter out(bytes);
      const MutexLock lock(kernel_mutex_);
      const Set& set = kernel_.set(static_cast<Latencies>(i));
      if (set.version() == 0) continue;
      set.save(out);
    }
    const auto object = saved_object(SavedKind::kKernelLatencies, kFormat, kDirectories[i], bytes);
    if (!sink.put(object)) return false;
  }
  bytes.clear();
  bool is_first = true;
  {
    ByteWriter out(bytes);
    const MutexLock lock(kernel_mutex_);
    for (const Measuring what : kSwitched) {
      out.put(kernel_.enabled(what));
      is_first &= !kernel_.is_on(what);
    }
    for (const Measuring what : kSelecting) {
      out.put(std::int32_t{kernel_.selected(what)});
      is_first &= kernel_.selected(what) == 0;
    }
  }
  return is_first ||
         sink.put(saved_object(SavedKind::kLatencySwitches, kFormat, kSwitchesLabel, bytes));
}

Branch::SavedAt LatencyBranch::save_at(std::string_view path, ObjectSink&, Timestamp) const {
  return path.starts_with("tracing/latency_hist") ? SavedAt::kAll : SavedAt::kElsewhere;
}

std::uint64_t LatencyBranch::stamp(Timestamp) const {
  std::uint64_t stamp = 0;
  for (const Fed& each : fed()) {
    each.directory.latencies->with(
        [&](const Set& set) { stamp += spread(spread(each.directory.node) + set.version()); });
  }
  const MutexLock lock(kernel_mutex_);
  for (std::size_t i = 0; i < kLatencies; ++i) {
    stamp += spread(spread(i) + kernel_.set(static_cast<Latencies>(i)).version());
  }
  std::uint64_t place = kLatencies;
  for (const Measuring what : kSwitched) {
    stamp += spread(spread(place++) + static_cast<std::uint64_t>(kernel_.enabled(what)));
  }
  for (const Measuring what : kSelecting) {
    stamp += spread(spread(place++) + static_cast<std::uint64_t>(kernel_.selected(what)));
  }
  return stamp;
}

Result<void> LatencyBranch::load(const SavedObject& object, const Loading& loading) {
  if (object.format != kFormat) return other_format(object);
  if (is_of(object, SavedKind::kLatencies)) return load_fed(object, loading);
  if (is_of(object, SavedKind::kKernelLatencies)) return load_kernel(object, loading);
  return load_switches(object, loading);
}

Result<void> LatencyBranch::load_fed(const SavedObject& object, const Loading& loading) {
  {
    const MutexLock lock(fed_mutex_);
    if (fed_.contains(std::string(object.label))) {
      return Error{ErrorCode::kExists, "there is one of that name already"};
    }
  }
  ByteReader in(object.bytes);
  const auto uid = in.get<std::uint32_t>();
  const auto made = find_or_create(object.label, uid, loading.now);
  if (!made) return made.error();
  made.value()->with([&](Set& set) { set.load(in, loading.boot, loading.now); });
  if (in.ok() && in.left() == 0) return {};
  (void)remove(object.label, options_.owner, loading.now);
  return not_saved_here();
}

Result<void> LatencyBranch::load_kernel(const SavedObject& object, const Loading& loading) {
  const auto* const found = std::ranges::find(kDirectories, object.label);
  if (found == kDirectories.end()) return not_saved_here();
  const auto which = static_cast<Latencies>(found - kDirectories.begin());
  ByteReader in(object.bytes);
  const MutexLock lock(kernel_mutex_);
  Set& set = kernel_.set(which);
  if (set.version() != 0) return Error{ErrorCode::kExists, "it has latencies already"};
  Set loaded = set;
  loaded.load(in, loading.boot, loading.now);
  if (!in.ok() || in.left() != 0) return not_saved_here();
  set = std::move(loaded);
  return {};
}

// The feeder of the kernel's events gets its orders when it arrives. Process ids of another boot
// say nothing.
Result<void> LatencyBranch::load_switches(const SavedObject& object, const Loading& loading) {
  ByteReader in(object.bytes);
  std::array<std::int64_t, kMeasurings> values{};
  for (std::int64_t& value : values) value = in.get<std::int64_t>();
  std::array<std::int32_t, kSelecting.size()> pids{};
  for (std::int32_t& pid : pids) pid = in.get<std::int32_t>();
  const bool are_pids = std::ranges::all_of(pids, [](std::int32_t pid) { return pid >= 0; });
  if (!in.ok() || in.left() != 0 || !are_pids) return not_saved_here();
  if (!options_.source) {
    return Error{ErrorCode::kNoDevice,
                 "the kernel's events are not read: tallyfs runs without -o tracefs"};
  }
  const MutexLock lock(kernel_mutex_);
  for (std::size_t i = 0; i < kMeasurings; ++i) (void)kernel_.enable(kSwitched[i], values[i]);
  for (std::size_t i = 0; i < pids.size() && loading.boot == Boot::kThis; ++i) {
    kernel_.select(kSelecting[i], pids[i]);
  }
  last_switch_ = loading.now;
  return {};
}

}  // namespace tallyfs::latency_hist
