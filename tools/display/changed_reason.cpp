#include "tools/display/changed_reason.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/display/distribution.h"
#include "tools/display/quantity.h"

namespace tallyfs::view {
namespace {

// Since the onset.
struct Now {
  double units = 0;
  double count = 0;
  double levels = 0;
  double level_sum = 0;
  std::vector<Bucket> buckets;
  double value = 0;
};

Now now_of(const Past& past, const Onset& onset) {
  Now made;
  const std::size_t units = past.units();
  for (std::size_t i = units - std::min(units, onset.begin); i + onset.end < units; ++i) {
    const Portion& unit = past.unit(i);
    ++made.units;
    made.count += unit.count;
    made.levels += unit.levels;
    made.level_sum += unit.level_sum;
    add_buckets(made.buckets, unit.buckets);
    made.value = unit.value.value_or(0);
  }
  return made;
}

// Nearest rank, between the edges of its bucket by the rank.
double percentile_99(std::span<const Bucket> buckets) {
  double all = 0;
  for (const Bucket& each : buckets) all += each.count;
  // Counts that were spread over units have fractions.
  const double rank = std::min(all, std::max(1.0, std::ceil(0.99 * all)));
  double before = 0;
  for (const Bucket& each : buckets) {
    if (before + each.count >= rank) {
      return bucket_begin(each.index) * std::exp2((rank - before - 0.5) / each.count / 4);
    }
    before += each.count;
  }
  return 0;
}

std::vector<Bucket> sparse(const std::vector<float>& counts) {
  std::vector<Bucket> made;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const int index = static_cast<int>(i) + kLowestBucket;
    if (counts[i] > 0) made.push_back({static_cast<std::int16_t>(index), counts[i]});
  }
  return made;
}

class Reason {
 public:
  Reason(const ReasonFacts& facts, const Look& look)
      : facts_(facts),
        look_(look),
        x_(quantity_of_x(facts.units, facts.decimals)),
        baseline_(baseline_of(*facts.past, facts.row->behaviour.channel, facts.baseline_spans)),
        now_(now_of(*facts.past, facts.row->onset)) {}

  std::string text() const {
    const std::string alone = of_one();
    const std::size_t members = facts_.row->members.size();
    if (members == 1) return alone;
    std::string text = std::to_string(members) + " of " + std::to_string(facts_.in_interface);
    text.append(" statistics: ");
    const std::size_t end = std::min(alone.find(','), alone.find(" ("));
    const bool is_rate = facts_.row->behaviour.channel == Channel::kRate;
    if (is_rate && !facts_.row->onset.is_silent) text.append("rate ");
    return text.append(alone.substr(0, end));
  }

 private:
  std::string of_one() const {
    switch (facts_.row->behaviour.channel) {
      case Channel::kRate:
        return rate();
      case Channel::kLevel:
        return level();
      case Channel::kTail:
      case Channel::kFarTail:
        return tail();
      case Channel::kValue:
        break;
    }
    return x(now_.value) + ", before " + x(baseline_.value_low) + " to " + x(baseline_.value_high);
  }

  std::string rate() const {
    const double units = static_cast<double>(baseline_.blocks * Past::kBlockUnits);
    const double before = baseline_.sums.count / units / facts_.unit_seconds;
    const std::string usual = rate_text(rounded(before));
    if (facts_.row->onset.is_silent) return "silent, before " + usual;
    const double now = now_.units > 0 ? now_.count / now_.units / facts_.unit_seconds : 0;
    const std::string change = usual + " -> " + rate_text(rounded(now));
    return before > 0 && now > 0 ? factor(now / before) + ", " + change : change;
  }

  std::string level() const {
    const double change = std::exp2(now_.level_sum / now_.levels - baseline_.mean_level);
    const bool is_up = facts_.row->behaviour.direction == Direction::kUp;
    const bool is_time = x_.kind == Quantity::Kind::kTime;
    std::string text = is_time ? (is_up ? "slower " : "faster ") : (is_up ? "higher " : "lower ");
    text.append(factor(change));
    if (baseline_.sums.buckets.empty() || p99_contradicts(is_up)) {
      text.append(", avg ").append(x(std::exp2(baseline_.mean_level))).append(" -> ");
      text.append(x(std::exp2(now_.level_sum / now_.levels)));
    } else if (const TwoPercentiles p99 = p99_texts(); p99.before != p99.now) {
      text.append(", p99 ").append(p99.before).append(" -> ").append(p99.now);
    }
    // The store has only the levels of a view, no count.
    return text.append(" (")
        .append(grouped_text(static_cast<Int128>(std::max(now_.count, now_.levels))))
        .append(" samples)");
  }

  // Whether the slowest went the other way than the level, by a bucket at least.
  bool p99_contradicts(bool is_up) const {
    const double before = percentile_99(sparse(baseline_.sums.buckets));
    const double now = percentile_99(now_.buckets);
    const double bucket = std::exp2(0.25);
    return is_up ? now * bucket <= before : before * bucket <= now;
  }

  TwoPercentiles p99_texts() const {
    if (facts_.p99) return *facts_.p99;
    return {x(percentile_99(sparse(baseline_.sums.buckets))), x(percentile_99(now_.buckets))};
  }

  std::string tail() const {
    const double above = count_above(now_.buckets, baseline_.tail_index);
    std::string text = share(above, now_.levels).append(" above ");
    text.append(x(bucket_begin(baseline_.tail_index + 1)));
    return text.append(", before ").append(share(baseline_.above_tail, baseline_.sums.levels));
  }

  // Two digits: more would not be true.
  std::string x(double value) const {
    return number_text(rounded(value), x_, Digits::kTwo, look_.charset);
  }
  static double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) return 0;
    const double step = std::pow(10, std::floor(std::log10(std::abs(value))) - 1);
    return std::round(value / step) * step;
  }
  static std::string factor(double change) {
    return "x" + number_text(rounded(change), {}, Digits::kTwo, Charset::kAscii);
  }
  static std::string share(double part, double whole) {
    return share_text(static_cast<Int128>(part), static_cast<Int128>(whole)) + " %";
  }

  const ReasonFacts& facts_;
  const Look& look_;
  const Quantity x_;
  const Baseline baseline_;
  const Now now_;
};

}  // namespace

std::string_view name_of(Channel channel) {
  switch (channel) {
    case Channel::kRate:
      return "rate";
    case Channel::kLevel:
      return "level";
    case Channel::kTail:
      return "tail";
    case Channel::kFarTail:
      return "far tail";
    case Channel::kValue:
      break;
  }
  return "value";
}

std::optional<std::string> p99_text(const Statistic& statistic, const Look& look) {
  constexpr std::uint32_t kMillionths = 990'000;
  const auto distribution = distribution_of(statistic, Detail::kFine);
  const auto found = distribution ? percentile(*distribution, kMillionths) : std::nullopt;
  if (!found) return std::nullopt;
  const std::string text =
      percentile_text(*found, quantity_of_x(statistic), false, look.charset);
  return text.substr(0, text.find(" ("));
}

std::string reason_of(const ReasonFacts& facts, const Look& look) {
  return Reason(facts, look).text();
}

}  // namespace tallyfs::view
