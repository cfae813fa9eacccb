#include "core/latency_hist/engine/snapshot.h"

#include <array>

#include "core/base/json.h"
#include "core/base/json_column.h"
#include "core/base/json_head.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/sums/sums.h"

namespace tallyfs::latency_hist {
namespace {

// data and data.json show an array of statistics/ with scale=log2 and base_interval=1: its bounds
// are 0, 1, 2, 4, ... up to kDataMax. Of a latency beyond the last row only that is known.
constexpr std::int64_t kDataMax = 8'192;
constexpr std::size_t kDataBounds = 15;
constexpr std::int64_t data_bound(std::size_t i) { return i == 0 ? 0 : std::int64_t{1} << (i - 1); }
static_assert(data_bound(kDataBounds - 1) == kDataMax);

// The members of that array in data.json, in the order in which statistics/ has them.
void write_array_members(JsonWriter& json, const Snapshot::Origin& origin,
                         std::uint64_t out_of_range, std::chrono::nanoseconds since) {
  json.key("name").string(origin.name).key("on").number(std::uint64_t{origin.is_on});
  json.key("type").string("array").key("range_min").number(0).key("range_max").number(kDataMax);
  json.key("base_interval").number(1).key("scale").string("log2");
  json.key("hits_out_of_range").number(out_of_range);
  for (const std::string_view key : {"data_us", "started_us", "stopped_us"}) {
    json.key(key).microseconds(since);
  }
  json.key("units").string("microseconds/samples");
}

struct Percentile {
  std::string_view name;
  unsigned share;  // of 10,000
};
constexpr std::array kPercentiles = {Percentile{"p50", 5'000}, Percentile{"p90", 9'000},
                                     Percentile{"p99", 9'900}, Percentile{"p99.9", 9'990},
                                     Percentile{"p99.99", 9'999}};

template <typename Number>
void append_line(std::string& out, std::string_view name, Number value) {
  out.append(name).push_back(' ');
  append_number(out, value);
  out.push_back('\n');
}

void append_undefined(std::string& out) {
  out.append("min <undef>\navg <undef>\n");
  for (const Percentile& each : kPercentiles) out.append(each.name).append(" <undef>\n");
  out.append("max <undef>\n");
}

void append_defined(std::string& out, const Histogram& all) {
  append_line(out, "min", all.min_us());
  out.append("avg ");
  append_average(out, all.sum_us(), all.total());
  out.push_back('\n');
  for (const Percentile& each : kPercentiles) {
    append_line(out, each.name, all.percentile_us(each.share));
  }
  append_line(out, "max", all.max_us());
}

void append_cpu(std::string& out, std::size_t number, const Snapshot::PerCpu& cpu) {
  const std::uint64_t samples = cpu.histogram.total();
  if (samples == 0 && cpu.unmatched == 0 && cpu.lost == 0) return;
  out.append("CPU");
  append_number(out, std::uint64_t{number});
  out.append(" samples ");
  append_number(out, samples);
  out.append(" bounded ");
  append_number(out, cpu.bounded);
  out.append(" unmatched ");
  append_number(out, cpu.unmatched);
  append_line(out, " lost", cpu.lost);
}

}  // namespace

Histogram Snapshot::together() const {
  Histogram all;
  for (const PerCpu& each : per_cpu) all.add(each.histogram);
  return all;
}

std::uint64_t Snapshot::total(std::uint64_t sum, std::uint64_t PerCpu::*count) const {
  for (const PerCpu& each : per_cpu) add_saturating(sum, each.*count);
  return sum;
}

std::string Snapshot::note(const PerCpu& cpu) const {
  CpuCounts counts{.samples = cpu.histogram.total(), .unmatched = cpu.unmatched, .lost = cpu.lost};
  add_saturating(counts.lost, lost_somewhere);
  return shortfall_line(kind, counts);
}

std::string Snapshot::summary() const {
  const Histogram all = together();
  std::string out;
  append_line(out, "samples", all.total());
  if (all.total() == 0) {
    append_undefined(out);
  } else {
    append_defined(out, all);
  }
  append_line(out, "lost", lost());
  append_line(out, "unmatched", unmatched());
  append_line(out, "bounded", bounded());
  for (std::size_t cpu = 0; cpu < per_cpu.size(); ++cpu) append_cpu(out, cpu, per_cpu[cpu]);
  return out;
}

std::vector<std::uint64_t> Snapshot::array(const Histogram& all) {
  std::vector<std::uint64_t> sums;
  std::uint64_t shown = 0;
  std::size_t us = 0;
  for (std::size_t i = 0; i < kDataBounds; ++i) {
    std::uint64_t within = i == 0 ? all.below() : 0;
    for (; static_cast<std::int64_t>(us) <= data_bound(i); ++us) within += all.row(us);
    sums.push_back(within);
    shown += within;
  }
  sums.push_back(all.total() - shown);
  return sums;
}

std::string Snapshot::data(std::string_view name) const {
  const std::vector<std::uint64_t> sums = array(together());
  std::string out;
  for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
    out.append(name).append(" <=");
    append_number(out, data_bound(i));
    append_line(out, "", sums[i]);
  }
  out.append(name).append(" >");
  append_number(out, kDataMax);
  append_line(out, "", sums.back());
  return out;
}

std::string Snapshot::json(const Origin& origin) const {
  const Histogram all = together();
  const std::vector<std::uint64_t> sums = array(all);
  std::string out;
  JsonWriter json(out);
  write_head(json.begin_object(), {origin.name, origin.epoch, version, origin.now});
  json.key("statistics").begin_array().begin_object();
  write_array_members(json, origin, all.below() + sums.back(), since);
  json.key("samples").number(samples).key("values").begin_object();
  write_column(json, "bounds", kDataBounds, [&](std::size_t i) { json.number(data_bound(i)); });
  write_column(json, "counts", sums.size(), [&](std::size_t i) { json.number(sums[i]); });
  json.key("below").number(all.below()).key("above").number(all.above());
  json.end_object().end_object().end_array().end_object();
  out.push_back('\n');
  return out;
}

std::size_t Snapshot::everything_bytes_max() const {
  constexpr std::size_t kSummaryBytesMax = 1024;
  constexpr std::size_t kLineBytesMax = 128;  // of a CPU, in the summary
  return kSummaryBytesMax + per_cpu.size() * (kLineBytesMax + Histogram::kTextBytesMax);
}

std::string Snapshot::everything() const {
  std::string out;
  const std::string lines = summary();
  for (std::string_view rest = lines; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    out.append("#").append(rest, 0, rest.find('\n') + 1);
  }
  for (std::size_t cpu = 0; cpu < per_cpu.size(); ++cpu) {
    if (per_cpu[cpu].histogram.total() == 0) continue;
    out.append("#CPU");
    append_number(out, std::uint64_t{cpu});
    out.push_back('\n');
    per_cpu[cpu].histogram.append_to(out, note(per_cpu[cpu]));
  }
  return out;
}

}  // namespace tallyfs::latency_hist
