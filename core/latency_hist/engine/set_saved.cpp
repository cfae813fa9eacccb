// Saves and loads the latencies of a directory (core/state/FORMAT.md, kinds 13 and 14).
#include <utility>

#include "core/latency_hist/engine/set.h"
#include "core/sums/saved.h"

namespace tallyfs::latency_hist {

void Set::save(ByteWriter& out, const PerCpu& cpu) {
  cpu.histogram.save(out);
  out.put(cpu.bounded);
  out.put(cpu.unmatched);
  out.put(cpu.lost);
  out.put(std::uint8_t{cpu.highest.has_value()});
  if (cpu.highest) save_record(out, *cpu.highest);
  out.put(std::uint8_t{cpu.maxima.has_value()});
  if (cpu.maxima) cpu.maxima->save(out);
}

void Set::save(ByteWriter& out) const {
  out.put(intervals_.entries_max);
  out.put(std::int64_t{intervals_.period.count()});
  save_time(out, origin_);
  out.put(lost_somewhere_);
  out.put(static_cast<std::uint32_t>(top_.size()));
  for (const Record& record : top_) save_record(out, record);
  out.put(static_cast<std::uint32_t>(per_cpu_.size()));
  for (const PerCpu& cpu : per_cpu_) save(out, cpu);
}

void Set::load_intervals(ByteReader& in) {
  intervals_.entries_max = in.get<std::uint32_t>();
  intervals_.period = std::chrono::microseconds(in.get<std::int64_t>());
  const bool is_good = intervals_.entries_max > 0 && intervals_.entries_max <= kIntervalsMax &&
                       intervals_.period >= kIntervalMin &&
                       intervals_.period <= std::chrono::hours(24);
  if (is_good) return;
  intervals_ = {.entries_max = 1, .period = kInterval};
  in.fail();
}

Set::PerCpu Set::load_cpu(ByteReader& in, Boot boot) const {
  PerCpu cpu;
  cpu.histogram.load(in);
  cpu.bounded = in.get<std::uint64_t>();
  cpu.unmatched = in.get<std::uint64_t>();
  cpu.lost = in.get<std::uint64_t>();
  if (in.get_flag()) {
    cpu.highest = load_record(in, boot);
    if (cpu.highest->cpu >= cpus_) in.fail();
  }
  if (in.get_flag()) {
    cpu.maxima.emplace(intervals_, origin_);
    cpu.maxima->load(in);
    if (!cpu.maxima->has_open()) in.fail();
    if (boot == Boot::kOther) cpu.maxima.reset();
  }
  return cpu;
}

void Set::load(ByteReader& in, Boot boot, Timestamp now) {
  Set loaded(cpus_, now, kind_);
  loaded.load_intervals(in);
  loaded.origin_ = load_time(in);
  if (boot == Boot::kThis && loaded.origin_ > now.monotonic) return in.fail();
  loaded.lost_somewhere_ = in.get<std::uint64_t>();
  const auto records = in.get<std::uint32_t>();
  if (records > kTopMax) return in.fail();
  for (std::uint32_t i = 0; i < records && in.ok(); ++i) {
    loaded.top_.push_back(load_record(in, boot));
    const bool is_lower = i == 0 || loaded.top_[i].latency_us() <= loaded.top_[i - 1].latency_us();
    if (loaded.top_[i].cpu >= cpus_ || !is_lower) in.fail();
  }
  const auto cpus = in.get<std::uint32_t>();
  if (cpus > cpus_) return in.fail();
  for (std::uint32_t i = 0; i < cpus && in.ok(); ++i) {
    loaded.per_cpu_.push_back(loaded.load_cpu(in, boot));
  }
  if (!in.ok()) return;
  if (boot == Boot::kOther) loaded.origin_ = now.monotonic;
  loaded.version_ = version_;
  // When the last reset was is not saved: at some time since the boot.
  loaded.since_ = {};
  for (const PerCpu& cpu : loaded.per_cpu_) loaded.samples_ += cpu.histogram.total();
  *this = std::move(loaded);
  changed(now);
}

}  // namespace tallyfs::latency_hist
