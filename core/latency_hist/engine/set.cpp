#include "core/latency_hist/engine/set.h"

#include <algorithm>

#include "core/base/saturating.h"
#include "core/base/text.h"

namespace tallyfs::latency_hist {
namespace {

Error bad(const Token& token, const char* reason) {
  return {ErrorCode::kInvalid, reason, token.at};
}

}  // namespace

std::uint64_t Set::worst_case_bytes(unsigned cpus) {
  const PeriodSettings longest{.entries_max = kIntervalsMax};
  return cpus * (Histogram::kRows * sizeof(std::uint64_t) + sizeof(PerCpu) +
                 Periods<Summary>::worst_case_bytes(longest));
}

void Set::changed(Timestamp now) {
  version_ += 1;
  last_change_ = now;
}

Set::PerCpu& Set::of(unsigned cpu) {
  if (cpu >= per_cpu_.size()) per_cpu_.resize(cpu + std::size_t{1});
  return per_cpu_[cpu];
}

void Set::count_lost(std::uint64_t events, unsigned cpu, Timestamp now) {
  if (events == 0) return;
  add_saturating(cpu == kNoCpu ? lost_somewhere_ : of(cpu).lost, events);
  changed(now);
}

void Set::count_unmatched(std::uint64_t begun, unsigned cpu, Timestamp now) {
  if (begun == 0) return;
  add_saturating(of(cpu).unmatched, begun);
  changed(now);
}

void Set::add(const Record& record, Timestamp now) {
  changed(now);
  ++samples_;
  PerCpu& cpu = of(record.cpu);
  cpu.histogram.add(record.latency);
  cpu.bounded += record.is_bound ? 1 : 0;
  if (!cpu.highest || record.latency_us() > cpu.highest->latency_us()) cpu.highest = record;
  add_to_top(record);
  add_to_maxima(cpu, record, now.monotonic);
}

// Among equal records the oldest comes first.
void Set::add_to_top(const Record& record) {
  const auto lower = [](const Record& a, const Record& b) {
    return a.latency_us() > b.latency_us();
  };
  const auto place = std::ranges::upper_bound(top_, record, lower);
  if (place == top_.end() && top_.size() == kTopMax) return;
  top_.insert(place, record);
  if (top_.size() > kTopMax) top_.pop_back();
}

void Set::add_to_maxima(PerCpu& cpu, const Record& record, Nanoseconds now) {
  if (!cpu.maxima) {
    cpu.maxima.emplace(intervals_, origin_);
    cpu.maxima->start(now);
  }
  cpu.maxima->advance(now);
  const Sample sample{.x = record.latency_us(), .time = std::min(record.time, now)};
  cpu.maxima->add({&sample, 1});
}

void Set::reset(Timestamp now) {
  changed(now);
  per_cpu_.clear();
  top_.clear();
  origin_ = now.monotonic;
  since_ = now.monotonic;
  lost_somewhere_ = 0;
}

Result<void> Set::define_maxima(std::string_view line, Timestamp now) {
  PeriodSettings wanted = intervals_;
  Tokens tokens(line);
  bool is_empty = true;
  while (const auto token = tokens.next()) {
    is_empty = false;
    const auto equals = std::min(token->text.find('='), token->text.size() - 1);
    const auto key = token->text.substr(0, equals);
    const auto value = parse_unsigned(token->text.substr(equals + 1));
    if (key == "period") {
      constexpr std::uint64_t kMax = std::chrono::microseconds(std::chrono::hours(24)).count();
      if (!value || *value < kIntervalMin.count() || *value > kMax)
        return bad(*token, "period must be 1000 to 86400000000 microseconds");
      wanted.period = std::chrono::microseconds(*value);
    } else if (key == "entries_max") {
      if (!value || *value == 0 || *value > kIntervalsMax)
        return bad(*token, "entries_max must be 1 to 2016");
      wanted.entries_max = static_cast<std::uint32_t>(*value);
    } else {
      return bad(*token, "period= and entries_max= are what maxima have");
    }
  }
  if (is_empty) return Error{ErrorCode::kInvalid, "period= or entries_max= is missing", 0};
  intervals_ = wanted;
  origin_ = now.monotonic;
  changed(now);
  for (PerCpu& cpu : per_cpu_) cpu.maxima.reset();
  return {};
}

Histogram Set::histogram(unsigned cpu) const {
  return cpu < per_cpu_.size() ? per_cpu_[cpu].histogram : Histogram();
}

CpuCounts Set::counts(unsigned cpu) const {
  CpuCounts counts{.lost = lost_somewhere_};
  if (cpu >= per_cpu_.size()) return counts;
  const PerCpu& found = per_cpu_[cpu];
  add_saturating(counts.lost, found.lost);
  counts.samples = found.histogram.total();
  counts.bounded = found.bounded;
  counts.unmatched = found.unmatched;
  return counts;
}

Snapshot Set::snapshot() const {
  Snapshot copy{.kind = kind_,
                .lost_somewhere = lost_somewhere_,
                .samples = samples_,
                .version = version_,
                .since = since_};
  for (const PerCpu& cpu : per_cpu_) {
    copy.per_cpu.push_back({.histogram = cpu.histogram,
                            .bounded = cpu.bounded,
                            .unmatched = cpu.unmatched,
                            .lost = cpu.lost});
  }
  return copy;
}

std::string Set::max_latency(unsigned cpu) const {
  std::string out;
  if (cpu < per_cpu_.size() && per_cpu_[cpu].highest) {
    append_record(out, *per_cpu_[cpu].highest);
  } else {
    out = "(none)";
  }
  out.push_back('\n');
  return out;
}

std::string Set::top() const {
  std::string out;
  for (const Record& record : top_) {
    out.append("CPU");
    append_number(out, std::uint64_t{record.cpu});
    out.push_back(' ');
    append_record(out, record);
    out.push_back('\n');
  }
  return out;
}

std::string Set::maxima(Nanoseconds now) {
  std::string out;
  for (std::size_t cpu = 0; cpu < per_cpu_.size(); ++cpu) {
    auto& maxima = per_cpu_[cpu].maxima;
    if (!maxima) continue;
    maxima->advance(now);
    maxima->render("CPU" + std::to_string(cpu), out);
  }
  return out;
}

}  // namespace tallyfs::latency_hist
