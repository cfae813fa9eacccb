// What the files should say, found out the slow way: every sample since the reset is kept, and
// looked at again for each rendering. Shares no code with core/statistics/interface but the
// printing of numbers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/int128.h"
#include "core/base/text.h"
#include "core/model/sample.h"

namespace tallyfs::statistics {

struct SlowModel {
  std::string type;  // and below what it needs
  std::string mode;
  std::string scale;
  std::uint64_t entries_max = 1;
  std::uint64_t base_interval = 1;
  std::int64_t range_min = 0;
  std::int64_t range_max = 0;
  std::int64_t period_ns = 1;

  std::vector<Sample> samples;
  std::uint64_t out_of_range = 0;
  bool on = true;
  std::int64_t reset_ns = 0;
  std::map<std::int64_t, std::vector<Sample>> periods;  // of a history: those that were measured

  // A history: time went on from one instant to another. In others nothing happens.
  void pass(std::int64_t from_ns, std::int64_t to_ns) {
    if (type != "history" || !on) return;
    for (std::int64_t k = index(from_ns); k <= index(to_ns); ++k) periods[k];
    while (periods.size() > entries_max + 1) periods.erase(periods.begin());
  }

  void add(const std::vector<Sample>& run) {
    if (!on) return;
    for (const Sample& sample : run) {
      const bool outside = sample.x < range_min || sample.x > range_max;
      out_of_range += outside;
      if (outside && type != "array") continue;
      samples.push_back(sample);
      if (type != "history") continue;
      auto own = periods.lower_bound(index(sample.time.count()));
      if (own == periods.end()) --own;
      own->second.push_back(sample);
    }
  }

  void reset(std::int64_t now_ns) {
    samples.clear();
    periods.clear();
    out_of_range = 0;
    reset_ns = now_ns;
    pass(now_ns, now_ns);
  }

  std::string data() const {
    if (type == "value") return "s" + total(samples) + "\n";
    if (type == "range") return "s" + summary(samples) + "\n";
    if (type == "list") return list();
    if (type == "array") return array();
    if (type == "history") return history();
    if (type == "last") return last();
    if (type == "quantiles") return quantiles();
    return raw();
  }

 private:
  std::int64_t index(std::int64_t ns) const {
    return std::max(ns - reset_ns, std::int64_t{0}) / period_ns;
  }

  static std::string text(Int128 number) {
    std::string digits;
    append_number(digits, number);
    return digits;
  }

  std::string total(const std::vector<Sample>& of) const {
    Int128 sum = 0;
    for (const Sample& sample : of) {
      sum += mode == "products" ? Int128{sample.x} * Int128{sample.y} : Int128{sample.y};
    }
    return " " + text(sum);
  }

  static std::string summary(const std::vector<Sample>& of) {
    if (of.empty()) return " 0 0 0.000 0";
    Int128 number = 0, sum = 0;
    for (const Sample& sample : of) {
      number += Int128{sample.y};
      sum += Int128{sample.x} * Int128{sample.y};
    }
    const auto by_x = [](const Sample& a, const Sample& b) { return a.x < b.x; };
    const auto [min, max] = std::minmax_element(of.begin(), of.end(), by_x);
    return " " + text(number) + " " + text(min->x) + " " + average(sum, number) + " " +
           text(max->x);
  }

  // By long division, digit after digit, as at school.
  static std::string average(Int128 sum, Int128 number) {
    if (number == 0) return "0.000";
    const bool negative = sum < 0;
    if (negative) sum = -sum;
    Int128 thousandths = sum / number;
    Int128 rest = sum % number;
    for (int digit = 0; digit < 3; ++digit) {
      rest *= 10;
      thousandths = thousandths * 10 + rest / number;
      rest %= number;
    }
    if (rest >= number - rest) thousandths += 1;
    const std::string digits = text(1000 + thousandths % 1000).substr(1);
    return (negative && thousandths != 0 ? "-" : "") + text(thousandths / 1000) + "." + digits;
  }

  std::string list() const {
    std::vector<std::pair<std::int64_t, std::uint64_t>> totals;
    for (const Sample& sample : samples) {
      const auto same = [&](const auto& entry) { return entry.first == sample.x; };
      auto found = std::find_if(totals.begin(), totals.end(), same);
      if (found == totals.end()) {
        if (totals.size() == entries_max) continue;
        found = totals.insert(totals.end(), {sample.x, 0});
      }
      found->second += sample.y;
    }
    std::sort(totals.begin(), totals.end());
    std::stable_sort(totals.begin(), totals.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (const auto& [x, sum] : totals) {
      append_hex(out.append("s "), static_cast<std::uint64_t>(x));
      out += " " + text(Int128{sum}) + "\n";
    }
    return out;
  }

  std::vector<Int128> bounds() const {
    std::vector<Int128> all{range_min};
    Int128 step = base_interval;
    while (all.back() < range_max) {
      all.push_back(scale == "lin" ? all.back() + step : range_min + step);
      if (scale == "log2") step *= 2;
    }
    return all;
  }

  std::string array() const {
    const std::vector<Int128> all = bounds();
    std::vector<Int128> totals(all.size() + 1);
    for (const Sample& sample : samples) {
      std::size_t i = 0;
      while (i < all.size() && all[i] < sample.x) ++i;
      totals[i] += Int128{sample.y};
    }
    std::string out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      out += "s <=" + text(all[i]) + " " + text(totals[i]) + "\n";
    }
    return out + "s >" + text(all.back()) + " " + text(totals.back()) + "\n";
  }

  std::string history() const {
    std::string out;
    for (const auto& [k, of] : periods) {
      if (k == periods.rbegin()->first) break;
      append_timestamp(out.append("s "), std::chrono::nanoseconds(reset_ns + (k + 1) * period_ns));
      out += (mode == "range" ? summary(of) : total(of)) + "\n";
    }
    return out;
  }

  std::string last() const {
    if (samples.empty()) return "";
    const Sample* newest = &samples.front();
    for (const Sample& sample : samples) {
      if (sample.time >= newest->time) newest = &sample;
    }
    std::string out;
    append_timestamp(out.append("s "), newest->time);
    return out + " " + text(newest->x) + "\n";
  }

  // The end of the bucket: a power of two, for precision=0, or the one nearer to zero.
  static std::int64_t end_of_bucket(std::int64_t x) {
    Int128 end = 1;
    const Int128 size = x < 0 ? -Int128{x} : Int128{x};
    if (size == 0) return 0;
    while (end < size) end *= 2;
    return static_cast<std::int64_t>(x > 0 ? end : end == 1 ? -1 : -(end / 2 + 1));
  }

  std::string quantiles() const {
    std::vector<Sample> sorted = samples;
    std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.x < b.x; });
    Int128 all = 0;
    for (const Sample& sample : sorted) all += Int128{sample.y};
    std::string out = "s count " + text(all) + "\n";
    if (all == 0) return out;
    const std::string columns = summary(samples);
    const std::string average = columns.substr(0, columns.rfind(' '));
    out += "s min " + text(sorted.front().x) + "\ns avg" + average.substr(average.rfind(' '));
    for (const int percent : {10, 50, 99}) {
      Int128 seen = 0;
      std::size_t i = 0;
      while ((seen += Int128{sorted[i].y}) * 100 < all * percent) ++i;
      const std::int64_t shown = std::min(end_of_bucket(sorted[i].x), sorted.back().x);
      out += "\ns p" + std::to_string(percent) + " " + text(shown);
    }
    return out + "\ns max " + text(sorted.back().x) + "\n";
  }

  std::string raw() const {
    std::string out;
    const std::size_t first = samples.size() - std::min(samples.size(), std::size_t{entries_max});
    for (std::size_t i = first; i < samples.size(); ++i) {
      append_timestamp(out.append("s "), samples[i].time);
      out += " " + std::to_string(i) + " " + text(samples[i].x) + " " + text(Int128{samples[i].y}) +
             "\n";
    }
    return out;
  }
};

}  // namespace tallyfs::statistics
