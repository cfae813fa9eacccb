#include "feeders/statsd/series/translator.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::statsd {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::string_view without_blanks_at_end(std::string_view line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

// The place of a value that is a piece of the line.
std::size_t place_of(std::string_view piece, std::string_view line) {
  return static_cast<std::size_t>(piece.data() - line.data());
}

}  // namespace

Translator::Translator(Settings settings, Outlet& outlet, OnRefusal on_refusal)
    : settings_(std::move(settings)),
      outlet_(outlet),
      on_refusal_(std::move(on_refusal)),
      book_(settings_, outlet) {}

void Translator::take_packet(std::string_view packet, const Arrival& arrival) {
  counts_.packets += 1;
  counts_.bytes += packet.size();
  while (!packet.empty()) {
    const std::size_t end = std::min(packet.find('\n'), packet.size());
    read(packet.substr(0, end), arrival);
    packet.remove_prefix(std::min(end + 1, packet.size()));
  }
  do_all(arrival);
}

void Translator::take_line(std::string_view raw, const Arrival& arrival) {
  read(raw, arrival);
  do_all(arrival);
}

void Translator::read(std::string_view raw, const Arrival& arrival) {
  const std::string_view line = without_blanks_at_end(raw);
  if (line.empty()) return;
  Ahead& ahead = ahead_[ahead_count_++];
  ahead.raw = raw;
  ahead.line = line;
  ahead.is_metric = line.front() != '_' || !(is_event(line) || is_check(line));
  ahead.refused.reset();
  ahead.hash = 0;
  if (ahead.is_metric) {
    ahead.refused = parse_metric(line, ahead.metric);
    const Metric& metric = ahead.metric;
    if (!ahead.refused) {
      ahead.hash = book_.known().prefetch(book_.text_of(
          {metric.name, metric.tags, metric.container, metric.parts.front().kind}));
    }
  }
  if (ahead_count_ == kAhead) do_all(arrival);
}

void Translator::do_all(const Arrival& arrival) {
  const std::span<Ahead> all(ahead_.data(), std::exchange(ahead_count_, 0));
  for (const Ahead& each : all) book_.known().prefetch_entry(each.hash);
  for (const Ahead& each : all) book_.known().prefetch_series(each.hash);
  for (Ahead& each : all) {
    counts_.lines += 1;
    const auto refused = take(each, arrival);
    if (!refused) continue;
    counts_.refused[static_cast<std::size_t>(refused->reason)] += 1;
    on_refusal_(each.line, *refused);
  }
}

std::optional<Refusal> Translator::take(Ahead& ahead, const Arrival& arrival) {
  if (ahead.refused) return ahead.refused;
  if (!ahead.is_metric) {
    return is_event(ahead.line) ? take_event(ahead.raw, arrival) : take_check(ahead.line, arrival);
  }
  std::swap(metric_, ahead.metric);
  return take_metric(ahead.line, arrival);
}

std::optional<Refusal> Translator::take_metric(std::string_view line, const Arrival& arrival) {
  if (auto refused = prepare_values(line, arrival)) return refused;
  if (auto refused = find_series()) return refused;
  if (auto refused = check_gauge()) return refused;
  add_all(time_of(metric_.seconds, arrival));
  return std::nullopt;
}

// The values as X, before any series comes into being.
std::optional<Refusal> Translator::prepare_values(std::string_view line, const Arrival& arrival) {
  parts_.clear();
  values_.clear();
  std::size_t at = 0;
  for (const Part& part : metric_.parts) {
    const SeriesKey key{metric_.name, metric_.tags, metric_.container, part.kind};
    Series* const series = book_.find(key);
    const unsigned scale = series ? series->scale() : book_.scale_of(key);
    for (; at < part.values_end; ++at) {
      const Value& value = metric_.values[at];
      const bool changes = part.kind == Kind::kGauge && is_delta(value, arrival);
      if (auto refused = prepare(value, part.kind, scale, changes)) {
        refused->at = place_of(value.text, line);
        return refused;
      }
    }
    parts_.push_back({series, key});
  }
  return std::nullopt;
}

std::optional<Refusal> Translator::prepare(const Value& value, Kind kind, unsigned scale,
                                           bool is_delta) {
  constexpr Refusal kRange{Reason::kRange, 0, "the value does not fit into 64 bits"};
  ReadyValue ready{.is_delta = is_delta};
  if (kind != Kind::kSet) {
    if (kind == Kind::kTimer && value.number.is_negative && value.number.digits != 0) {
      return Refusal{Reason::kNegative, 0, "a time is not below 0"};
    }
    const auto x = to_integer(value.number, scale);
    if (!x) return kRange;
    ready.x = x->value;
    ready.is_rounded = x->is_rounded;
    if (kind == Kind::kCounter && x->is_rounded) {
      const auto fixed = to_fixed(value.number, scale);
      if (!fixed) return kRange;
      ready.units = fixed->units;
      ready.is_rounded = fixed->is_rounded;
    }
  }
  values_.push_back(ready);
  return std::nullopt;
}

std::optional<Refusal> Translator::find_series() {
  for (Ready& part : parts_) {
    if (part.series) continue;
    const auto resolved = book_.resolve(part.key);
    if (!resolved.series) return resolved.refusal;
    part.series = resolved.series;
  }
  counts_.series = book_.size();
  return std::nullopt;
}

// Whether what changes a gauge takes its value out of range; its parts have one series.
std::optional<Refusal> Translator::check_gauge() const {
  std::optional<std::int64_t> gauge;
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Series& series = *parts_[i].series;
    for (; at < metric_.parts[i].values_end; ++at) {
      const ReadyValue& value = values_[at];
      if (series.kind() != Kind::kGauge) continue;
      const std::int64_t before = value.is_delta ? gauge.value_or(series.gauge()) : 0;
      std::int64_t after = 0;
      if (__builtin_add_overflow(before, value.x, &after)) {
        return Refusal{Reason::kRange, 0, "the gauge's new value does not fit into 64 bits"};
      }
      gauge = after;
    }
  }
  return std::nullopt;
}

void Translator::add_all(std::chrono::nanoseconds time) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = metric_.parts[i];
    for (; at < part.values_end; ++at) {
      add(part, *parts_[i].series, metric_.values[at], values_[at], time);
    }
  }
}

void Translator::add(const Part& part, Series& series, const Value& value, const ReadyValue& ready,
                     std::chrono::nanoseconds time) {
  counts_.metrics += 1;
  counts_.overflowed += series.is_overflow() ? 1 : 0;
  counts_.rounded += ready.is_rounded ? 1 : 0;
  switch (part.kind) {
    case Kind::kSet:
      series.add_member(value.text);
      return;
    case Kind::kGauge:
      series.set_gauge(ready.is_delta ? series.gauge() + ready.x : ready.x);
      outlet_.add(series.id(), {series.gauge(), 1, time});
      return;
    case Kind::kCounter: {
      const std::uint64_t y = series.weigh(part.weight);
      const bool is_whole = !ready.units && !series.has_rest();
      const Int128 units = ready.units.value_or(static_cast<Int128>(ready.x) *
                                                static_cast<Int128>(kRestUnits));
      outlet_.add(series.id(), {is_whole ? ready.x : series.carry(units, y), y, time});
      return;
    }
    case Kind::kTimer:
    case Kind::kHistogram:
      outlet_.add(series.id(), {ready.x, series.weigh(part.weight), time});
      return;
  }
}

bool Translator::is_delta(const Value& value, const Arrival& arrival) const {
  if (!value.number.has_sign) return false;
  switch (settings_.gauge_sign) {
    case GaugeSign::kDelta:
      return true;
    case GaugeSign::kAbsolute:
      return false;
    case GaugeSign::kByListener:
      break;
  }
  return !arrival.is_unix && !metric_.is_from_datadog;
}

std::chrono::nanoseconds Translator::time_of(const std::optional<std::int64_t>& seconds,
                                             const Arrival& arrival) {
  const auto now = arrival.now.monotonic;
  if (!seconds || *seconds > arrival.now.realtime.count() / kNsPerSecond) return now;
  const std::chrono::nanoseconds ago =
      arrival.now.realtime - std::chrono::nanoseconds(*seconds * kNsPerSecond);
  if (ago < now) return now - ago;
  counts_.times_clipped += 1;
  return now;
}

std::optional<Refusal> Translator::take_event(std::string_view line, const Arrival& arrival) {
  constexpr std::array<std::string_view, 4> kAlerts{"error", "warning", "info", "success"};
  Event event;
  if (auto refused = parse_event(line, event)) return refused;
  if (std::find(kAlerts.begin(), kAlerts.end(), event.alert) == kAlerts.end()) {
    event.alert = "info";
  }
  const std::string tag = std::string("alert:").append(event.alert);
  const auto resolved = book_.resolve({"events", tag});
  if (!resolved.series) return resolved.refusal;
  counts_.events += 1;
  counts_.series = book_.size();
  counts_.lengths_guessed += event.are_lengths_guessed ? 1 : 0;
  outlet_.add(resolved.series->id(), {1, 1, arrival.now.monotonic});
  outlet_.write(event);
  return std::nullopt;
}

std::optional<Refusal> Translator::take_check(std::string_view line, const Arrival& arrival) {
  Check check;
  if (auto refused = parse_check(line, check)) return refused;
  const auto resolved = book_.resolve({check.name, check.tags, check.container, Kind::kGauge,
                                       SeriesKey::Space::kChecks});
  if (!resolved.series) return resolved.refusal;
  counts_.checks += 1;
  counts_.series = book_.size();
  outlet_.add(resolved.series->id(), {check.status, 1, time_of(check.seconds, arrival)});
  outlet_.write(check);
  return std::nullopt;
}

void Translator::end_set_windows(std::chrono::nanoseconds end) {
  for (Series* const set : book_.sets()) {
    if (const auto count = set->end_window()) outlet_.add(set->id(), {*count, 1, end});
  }
}

}  // namespace tallyfs::statsd
