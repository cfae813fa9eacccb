// Longer than most: the series of all types of statistics, a few lines each.
#include "core/statistics/exposition/metrics.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/decimal.h"

namespace tallyfs::statistics {
namespace {

// An X for each series of a list.
constexpr std::size_t kListSeriesMax = 1'000;
// Names that are kept resolved.
constexpr std::size_t kResolvedMax = 65'536;
// The bytes before the series of a family, without its name in three places.
constexpr std::size_t kFamilyBytes = 200;
// A part of a family's text is full beyond this.
constexpr std::size_t kPartBytes = 64 * 1024;

// The families of a text about itself: name and unit. No statistic can take their names.
enum OwnFamily : std::size_t { kSeries, kOmitted, kRenderSeconds, kOwnFamiliesCount };
constexpr std::array<std::pair<std::string_view, std::string_view>, kOwnFamiliesCount>
    kOwnFamilies = {
        {{"metrics_series", ""}, {"metrics_omitted", ""}, {"metrics_render_seconds", "seconds"}}};

Quantity count_of(std::uint64_t count, const UnitScale& scale = {}) {
  return {.value = static_cast<Int128>(count), .scale = scale};
}

}  // namespace

// Adds one statistic, whole or not at all.
class Metrics::Adder {
 public:
  // place: of the statistic in its interface.
  Adder(Metrics& metrics, std::string_view interface, std::string_view interface_labels,
        const StatisticCopy& statistic, std::size_t place)
      : metrics_(metrics),
        format_(*metrics.format_),
        interface_(interface),
        statistic_(statistic),
        place_(place),
        resolved_(metrics.resolve(statistic, place)),
        labels_(metrics.labels_.assign(interface_labels)),
        touched_(metrics.touched_),
        bytes_before_(metrics.bytes_),
        series_before_(metrics.series_) {
    touched_.clear();
    for (const Label& label : resolved_.labels) format_.add_label(labels_, label.name, label.value);
  }

  void add() {
    std::visit([this](const auto& gathered) { add(gathered); }, statistic_.gathered);
    if (!std::holds_alternative<RawStatistic>(statistic_.gathered)) add_hits();
    count_bytes();
    const bool is_too_much = metrics_.series_ > metrics_.options_.series_max ||
                             metrics_.bytes_ > metrics_.options_.bytes_max;
    if (is_too_much) return take_back();
    if (is_duplicate_) note_duplicate();
    if (!statistic_.help.empty()) note_help();
  }

 private:
  void add(const ValueStatistic& value) {
    if (const auto* const sum = std::get_if<SignedSum>(&value.total())) {
      return sum->has_negative ? gauge(Role::kNet, sum->total) : counter(Role::kSummed, sum->total);
    }
    counter(Role::kTotal, static_cast<Int128>(std::get<Increments>(value.total()).total));
  }

  void add(const ListStatistic& list) {
    Family* const family = target(Role::kTotal);
    if (!family) return;
    const std::string own = labels_;
    for (const auto& [x, total] : list.largest(kListSeriesMax)) {
      labels_ = own;
      std::string value;
      append_fixed(value, x, statistic_.definition.decimals);
      format_.add_label(labels_, "value", value);
      add_counter(*family, count_of(total, scale_));
    }
    labels_ = own;
  }

  void add(const ArrayStatistic& array) {
    if (Family* const family = target(Role::kDistribution)) {
      add_histogram(*family, metrics_.histograms_.of(array, statistic_.definition, scale_));
    }
  }

  void add(const QuantilesStatistic& quantiles) {
    if (Family* const family = target(Role::kDistribution)) {
      add_histogram(*family, metrics_.histograms_.of(quantiles, statistic_.definition, scale_));
    }
  }

  void add(const RangeStatistic& range) {
    const Summary& summary = range.summary();
    if (Family* const family = target(Role::kDistribution)) {
      add_histogram(*family, metrics_.histograms_.of(summary, scale_));
    }
    if (summary.number == 0) return;
    gauge(Role::kMin, summary.min);
    gauge(Role::kMax, summary.max);
  }

  void add(const LastStatistic& last) {
    if (const auto x = last.x()) gauge(Role::kLast, *x);
  }

  void add(const RawStatistic&) { ++metrics_.omitted_.raw; }

  void add(const HistoryStatistic& history) {
    history.newest([this](std::chrono::nanoseconds end, const auto& sum, auto quantiles) {
      add_period(sum);
      add_quantiles(quantiles);
      const std::chrono::nanoseconds realtime =
          end + metrics_.now_.realtime - metrics_.now_.monotonic;
      constexpr unsigned kMicroseconds = 6;
      named_gauge("history_period_end_seconds", "seconds",
                  {.value = realtime.count() / 1000, .scale = {.decimals = kMicroseconds}});
    });
  }

  void add_period(const Increments& sum) {
    gauge(Role::kTotalPerPeriod, static_cast<Int128>(sum.total));
  }
  void add_period(const Products& sum) { gauge(Role::kSumPerPeriod, sum.total); }
  void add_period(const Summary& summary) {
    gauge(Role::kSamplesOfPeriod, static_cast<Int128>(summary.number));
    if (summary.number == 0) return;
    gauge(Role::kMinOfPeriod, summary.min);
    add_average(summary);
    gauge(Role::kMaxOfPeriod, summary.max);
  }

  // With the three decimals that `data` shows.
  void add_average(const Summary& summary) {
    Family* const family = target(Role::kAvgOfPeriod);
    if (!family) return;
    UnitScale scale = scale_;
    scale.decimals += 3;
    if (scale.places != 0) scale.places += 3;
    add_gauge(*family, {.value = average_thousandths(summary.sum, summary.number), .scale = scale});
  }

  void add_quantiles(std::span<const std::int64_t> values) {
    Family* const family = values.empty() ? nullptr : target(Role::kQuantileOfPeriod);
    if (!family) return;
    const QuantileList& list = std::get<HistorySettings>(statistic_.definition.settings).quantiles;
    const std::string own = labels_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      constexpr unsigned kMillionths = 6;
      std::string share;
      append_decimal(share, {.value = list.millionths(i), .scale = {.decimals = kMillionths}});
      labels_ = own;
      format_.add_label(labels_, "q", share);
      add_gauge(*family, {.value = values[i], .scale = scale_});
    }
    labels_ = own;
  }

  void add_hits() {
    if (!statistic_.definition.has_full_range()) {
      named_counter("hits_out_of_range", statistic_.hits_out_of_range);
    }
    if (statistic_.hits_missed) named_counter("hits_missed", *statistic_.hits_missed);
  }

  void counter(Role role, Int128 value) {
    if (Family* const family = target(role)) {
      add_counter(*family, {.value = value, .scale = scale_});
    }
  }
  void gauge(Role role, Int128 value) {
    if (Family* const family = target(role)) add_gauge(*family, {.value = value, .scale = scale_});
  }

  // The family of a role, and scale_. Nullptr: another statistic says what this one would.
  Family* target(Role role) {
    Resolved::Target& target = resolved_.targets[static_cast<std::size_t>(role)];
    if (!target.is_found) {
      const FamilyName name = resolved_.names.of(role);
      target = {.family = metrics_.family(name), .scale = name.scale, .is_found = true};
    }
    scale_ = target.scale;
    if (is_of_x(role)) {
      scale_.decimals += statistic_.definition.decimals;
      scale_.places = statistic_.definition.decimals;
    }
    if (!target.family) return taken(resolved_.names.of(role));
    if (const auto place = take_series(*target.family)) return taken(metrics_.at_place_[*place]);
    metrics_.touch(*target.family);
    touched_.back().is_own = true;
    return target.family;
  }

  // Nullopt, or the place of the statistic that has a series with these labels.
  std::optional<std::size_t> take_series(Family& family) {
    if (family.interface == metrics_.interfaces_) {
      if (family.first == labels_) return family.first_place;
      const auto [found, is_new] = family.others.emplace(labels_, place_);
      return is_new ? std::nullopt : std::optional(found->second);
    }
    if (family.interface == 0) family.maker = path();
    family.interface = metrics_.interfaces_;
    family.first = labels_;
    family.first_place = place_;
    family.others.clear();
    return std::nullopt;
  }

  // The name is taken by a family of another kind.
  Family* taken(const FamilyName& name) { return taken(metrics_.by_name_.at(name.name)->maker); }
  // The name is taken by a statistic of this interface. Nullptr: its name is not kept any more.
  Family* taken(const Resolved* by) { return taken(by ? path(by->name) : std::string()); }
  Family* taken(std::string by) {
    if (!is_duplicate_ && metrics_.omitted_.duplicate == 0) {
      metrics_.omitted_.taken_by = std::move(by);
    }
    is_duplicate_ = true;
    return nullptr;
  }

  // Families of all statistics, by interface and statistic.
  template <typename Add>
  void named(FamilyName name, Add add) {
    name.name.insert(0, metrics_.options_.prefix);
    Family* const family = metrics_.family(name);
    if (!family) {
      taken(name);
      return;
    }
    std::string labels;
    format_.add_label(labels, "interface", interface_);
    format_.add_label(labels, "statistic", statistic_.name);
    std::swap(labels, labels_);
    metrics_.touch(*family);
    add(*family);
    std::swap(labels, labels_);
  }
  void named_counter(std::string_view name, std::uint64_t count) {
    named({.name = std::string(name), .unit = {}, .kind = MetricKind::kCounter},
          [&](Family& family) { add_counter(family, count_of(count)); });
  }
  void named_gauge(std::string_view name, std::string_view unit, const Quantity& value) {
    named({.name = std::string(name), .unit = std::string(unit)},
          [&](Family& family) { add_gauge(family, value); });
  }

  void add_counter(Family& family, const Quantity& value) {
    format_.add_counter(family.body(), family.name.name, labels_, value, statistic_.created);
    count_series(1);
  }
  void add_gauge(Family& family, const Quantity& value) {
    format_.add_gauge(family.body(), family.name.name, labels_, value);
    count_series(1);
  }
  void add_histogram(Family& family, const HistogramSeries& series) {
    format_.add_histogram(family.body(), family.name.name, labels_, series, statistic_.created);
    count_series(series.bounds.size() + 3);  // +Inf, sum and count
  }
  void count_series(std::uint64_t series) { metrics_.series_ += series; }

  void count_bytes() {
    for (const Touched& each : touched_) {
      if (each.is_first) metrics_.bytes_ += kFamilyBytes + 3 * each.family->name.name.size();
      metrics_.bytes_ += each.family->body().size() - each.size;
    }
  }

  std::string path() const { return path(statistic_.name); }
  std::string path(std::string_view statistic) const {
    return std::string(interface_).append("/").append(statistic);
  }

  void note_duplicate() {
    MetricsOmitted& omitted = metrics_.omitted_;
    if (++omitted.duplicate == 1) omitted.first_duplicate = path();
  }

  void note_help() {
    for (const Touched& each : touched_) {
      Family& family = *each.family;
      if (!each.is_own || family.help == statistic_.help) continue;
      family.has_several_helps |= !family.help.empty();
      family.help = statistic_.help;
    }
  }

  void take_back() {
    while (!touched_.empty()) {
      touched_.back().family->body().resize(touched_.back().size);
      touched_.pop_back();
    }
    metrics_.bytes_ = bytes_before_;
    metrics_.series_ = series_before_;
    metrics_.is_full_ = true;
    ++metrics_.omitted_.limit;
    metrics_.omitted_.first_beyond = path();
  }

  Metrics& metrics_;
  const Format& format_;
  const std::string_view interface_;
  const StatisticCopy& statistic_;
  const std::size_t place_;
  Resolved& resolved_;
  std::string& labels_;
  UnitScale scale_{};
  bool is_duplicate_ = false;
  std::vector<Touched>& touched_;
  const std::size_t bytes_before_;
  const std::uint64_t series_before_;
};

Metrics::Metrics(MetricsFormat format, const MetricsOptions& options, Timestamp now)
    : format_(make_format(format, options)), options_(options), now_(now) {
  for (const auto& [name, unit] : kOwnFamilies) {
    family({.name = std::string(options.prefix).append(name), .unit = std::string(unit)});
  }
}

Metrics::~Metrics() = default;

Metrics::Resolved& Metrics::resolve(const StatisticCopy& statistic, std::size_t place) {
  if (place == at_place_.size()) at_place_.push_back(nullptr);
  Resolved*& found = at_place_[place];
  if (!found || !found->is_of(statistic)) found = &find_resolved(statistic);
  return *found;
}

Metrics::Resolved& Metrics::find_resolved(const StatisticCopy& statistic) {
  // A name has no blank.
  key_.assign(statistic.name).append(" ").append(statistic.definition.units);
  const auto found = resolved_.find(key_);
  if (found != resolved_.end()) return *found->second;
  if (resolved_.size() == kResolvedMax) {
    std::ranges::fill(at_place_, nullptr);
    resolved_.clear();
  }
  TaggedName tagged = split_tags(statistic.name, options_.characters);
  auto made = std::make_unique<Resolved>(
      Resolved{.name = statistic.name,
               .units = statistic.definition.units,
               .names = FamilyNames(options_.prefix, tagged.name, statistic.definition.units,
                                    options_.characters),
               .labels = std::move(tagged.labels)});
  return *resolved_.emplace(key_, std::move(made)).first->second;
}

void Metrics::touch(Family& family) {
  if (family.body().size() > kPartBytes) {
    family.parts.emplace_back().reserve(kPartBytes + kPartBytes / 8);
  }
  touched_.push_back({&family, family.body().size(), family.empty()});
}

Metrics::Family* Metrics::family(const FamilyName& name) {
  const auto found = by_name_.find(name.name);
  if (found != by_name_.end()) {
    return found->second->name.kind == name.kind ? found->second : nullptr;
  }
  Family* const made = families_.emplace_back(std::make_unique<Family>()).get();
  made->name = name;
  by_name_.emplace(name.name, made);
  return made;
}

void Metrics::add(std::string_view interface, const std::vector<StatisticCopy>& statistics) {
  if (statistics.empty()) return;
  ++interfaces_;
  std::string labels;
  format_->add_label(labels, "interface", interface);
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    if (is_full_) return leave_out(statistics.size() - i);
    Adder(*this, interface, labels, statistics[i], i).add();
  }
}

void Metrics::add_own(std::size_t which, std::span<const OwnSeries> all) {
  Family& to = *families_[which];
  for (const OwnSeries& series : all) {
    std::string labels;
    if (!series.reason.empty()) format_->add_label(labels, "reason", series.reason);
    format_->add_gauge(to.body(), to.name.name, labels, series.value);
  }
}

std::string Metrics::finish(std::chrono::nanoseconds rendering) {
  constexpr unsigned kMicroseconds = 6;
  const OwnSeries series{.value = count_of(series_)};
  const OwnSeries omitted[] = {{"limit", count_of(omitted_.limit)},
                               {"duplicate", count_of(omitted_.duplicate)},
                               {"raw", count_of(omitted_.raw)}};
  const OwnSeries took{
      .value = {.value = rendering.count() / 1000, .scale = {.decimals = kMicroseconds}}};
  add_own(kSeries, {&series, 1});
  add_own(kOmitted, omitted);
  add_own(kRenderSeconds, {&took, 1});
  std::rotate(families_.begin(), families_.begin() + kOwnFamiliesCount, families_.end());
  std::string text;
  text.reserve(bytes_ + families_.size() * kFamilyBytes);
  for (const auto& each : families_) {
    if (each->empty()) continue;
    const std::string help = each->has_several_helps ? std::string() : plain_help(each->help);
    format_->add_family(text, each->name, help, each->parts);
  }
  format_->finish(text);
  return text;
}

}  // namespace tallyfs::statistics
