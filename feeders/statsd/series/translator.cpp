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

// A line's rest that says of the part, with rate 1, what decides on its series.
void make_rest(Kind kind, const Metric& metric, std::string& out) {
  constexpr std::array<std::string_view, kKinds> kTypes{"|c", "|g", "|ms", "|h", "|s"};
  out = kTypes[static_cast<std::size_t>(kind)];
  if (!metric.tags.empty()) out.append("|#").append(metric.tags);
  if (!metric.container.empty()) out.append("|c:").append(metric.container);
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
    take_line(packet.substr(0, end), arrival);
    packet.remove_prefix(std::min(end + 1, packet.size()));
  }
}

void Translator::take_line(std::string_view raw, const Arrival& arrival) {
  const std::string_view line = without_blanks_at_end(raw);
  if (line.empty()) return;
  Ahead& ahead = ahead_[ahead_count_++];
  ahead.raw = raw;
  ahead.line = line;
  ahead.arrival = arrival;
  ahead.has_pieces = split_line(line, ahead.pieces);
  if (ahead.has_pieces) {
    ahead.hash = KnownLines::hash_of({ahead.pieces.name, ahead.pieces.rest});
    known_.prefetch(ahead.hash);
  }
  if (ahead_count_ == kAhead) finish();
}

void Translator::finish() {
  const std::span<Ahead> all(ahead_.data(), std::exchange(ahead_count_, 0));
  if (all.empty()) return;
  const auto now = all.back().arrival.now.monotonic;
  now_s_ = static_cast<std::uint32_t>(std::chrono::floor<std::chrono::seconds>(now).count());
  for (const Ahead& each : all) {
    if (each.has_pieces) known_.prefetch_line(each.hash);
  }
  for (Ahead& each : all) {
    const LineKey key{each.pieces.name, each.pieces.rest};
    each.known = each.has_pieces ? known_.find(key, each.hash) : nullptr;
    if (!each.known) continue;
    __builtin_prefetch(each.known->series);
    Outlet::prefetch(each.known->id);
  }
  counts_.lines += all.size();
  for (Ahead& each : all) {
    // A line before this one may have taken the place of its name.
    if (each.known && each.known->series->is_given_up()) each.known = nullptr;
    if (each.known && take_value(*each.known, each.pieces.values, each.arrival)) continue;
    const auto refused = take(each);
    if (!refused) continue;
    counts_.refused[static_cast<std::size_t>(refused->reason)] += 1;
    on_refusal_(each.line, *refused, each.arrival);
  }
  known_.make_room();
  if (book_.given_up_held() < kGivenUpMax) return;
  known_.clear();
  book_.forget_given_up();
}

bool Translator::take_value(const KnownLine& known, std::string_view text, const Arrival& arrival) {
  if (known.kind == Kind::kSet) return false;
  const auto number = parse_number(text);
  if (!number) return false;
  Series& series = *known.series;
  ReadyValue ready{.is_delta = known.kind == Kind::kGauge &&
                               is_delta(*number, known.is_from_datadog, arrival)};
  if (prepare(*number, known.kind, series.scale(), ready)) return false;
  std::int64_t gauge = 0;
  if (ready.is_delta && __builtin_add_overflow(series.gauge(), ready.x, &gauge)) return false;
  add({known.kind, known.weight}, series, {text, *number}, ready, arrival.now.monotonic);
  return true;
}

std::optional<Refusal> Translator::take(const Ahead& ahead) {
  if (is_event(ahead.line)) return take_event(ahead.raw, ahead.arrival);
  if (is_check(ahead.line)) return take_check(ahead.line, ahead.arrival);
  return take_metric(ahead);
}

std::optional<Refusal> Translator::take_metric(const Ahead& ahead) {
  if (auto refused = parse_metric(ahead.line, metric_)) return refused;
  if (auto refused = prepare_values(ahead)) return refused;
  if (auto refused = find_series()) return refused;
  if (auto refused = check_gauge()) return refused;
  add_all(time_of(metric_.seconds, ahead.arrival));
  remember(ahead);
  return std::nullopt;
}

// The values as X, before any series comes into being.
std::optional<Refusal> Translator::prepare_values(const Ahead& ahead) {
  parts_.clear();
  values_.clear();
  std::size_t at = 0;
  for (const Part& part : metric_.parts) {
    const SeriesKey key{metric_.name, metric_.tags, metric_.container, part.kind};
    Series* const series = ahead.known ? ahead.known->series : find_part(part);
    const unsigned scale = series ? series->scale() : book_.scale_of(key);
    for (; at < part.values_end; ++at) {
      const Number& number = metric_.values[at].number;
      ReadyValue& ready = values_.emplace_back();
      if (part.kind == Kind::kSet) continue;
      ready.is_delta =
          part.kind == Kind::kGauge && is_delta(number, metric_.is_from_datadog, ahead.arrival);
      if (auto refused = prepare(number, part.kind, scale, ready)) {
        refused->at = place_of(metric_.values[at].text, ahead.line);
        return refused;
      }
    }
    parts_.push_back({series, key});
  }
  return std::nullopt;
}

std::optional<Refusal> Translator::prepare(const Number& number, Kind kind, unsigned scale,
                                           ReadyValue& ready) const {
  constexpr Refusal kRange{Reason::kRange, 0, "the value does not fit into 64 bits"};
  if (kind == Kind::kTimer && number.is_negative && number.digits != 0) {
    return Refusal{Reason::kNegative, 0, "a time is not below 0"};
  }
  const auto x = to_integer(number, scale);
  if (!x) return kRange;
  ready.x = x->value;
  ready.is_rounded = x->is_rounded;
  if (kind == Kind::kCounter && x->is_rounded) {
    const auto fixed = to_fixed(number, scale);
    if (!fixed) return kRange;
    ready.units = fixed->units;
    ready.is_rounded = fixed->is_rounded;
  }
  return std::nullopt;
}

// Lines of one part are known by all they have beside the values. Their times differ, and those of
// several parts have values between; such parts are known as the lines that they would be alone.
Series* Translator::find_part(const Part& part) {
  if (metric_.parts.size() == 1 && !metric_.seconds) return nullptr;
  make_rest(part.kind, metric_, rest_);
  const LineKey key{metric_.name, rest_};
  const KnownLine* const known = known_.find(key, KnownLines::hash_of(key));
  return known && !known->series->is_given_up() ? known->series : nullptr;
}

// Overflowing lines are not kept: a flood of them would drive out the others.
void Translator::remember(const Ahead& ahead) {
  if (ahead.known) return;
  const bool is_alone = metric_.parts.size() == 1 && !metric_.seconds;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].series->is_overflow()) continue;
    const Part& part = metric_.parts[i];
    KnownLine line{.series = parts_[i].series, .id = parts_[i].series->id(), .kind = part.kind};
    if (is_alone) {
      line.weight = part.weight;
      line.is_from_datadog = metric_.is_from_datadog;
      known_.add({metric_.name, ahead.pieces.rest}, line);
    } else {
      make_rest(part.kind, metric_, rest_);
      line.is_from_datadog = !metric_.container.empty();
      known_.add({metric_.name, rest_}, line);
    }
  }
}

std::optional<Refusal> Translator::find_series() {
  for (Ready& part : parts_) {
    if (part.series) continue;
    const auto resolved = resolve(part.key);
    if (!resolved.series) return resolved.refusal;
    part.series = resolved.series;
  }
  return std::nullopt;
}

SeriesBook::Resolved Translator::resolve(const SeriesKey& key) {
  const auto resolved = book_.resolve(key, now_s_);
  if (resolved.series) resolved.series->note_use(now_s_);
  counts_.series = book_.made();
  counts_.names_given_up = book_.bounds().given_up();
  return resolved;
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
  series.note_use(now_s_);
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
      const Int128 units =
          ready.units.value_or(static_cast<Int128>(ready.x) * static_cast<Int128>(kRestUnits));
      outlet_.add(series.id(), {is_whole ? ready.x : series.carry(units, y), y, time});
      return;
    }
    case Kind::kTimer:
    case Kind::kHistogram:
      outlet_.add(series.id(), {ready.x, series.weigh(part.weight), time});
      return;
  }
}

bool Translator::is_delta(const Number& number, bool is_from_datadog,
                          const Arrival& arrival) const {
  if (!number.has_sign) return false;
  switch (settings_.gauge_sign) {
    case GaugeSign::kDelta:
      return true;
    case GaugeSign::kAbsolute:
      return false;
    case GaugeSign::kByListener:
      break;
  }
  return !arrival.keeps_signs && !is_from_datadog;
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
  const auto resolved = resolve({"events", tag});
  if (!resolved.series) return resolved.refusal;
  counts_.events += 1;
  counts_.lengths_guessed += event.are_lengths_guessed ? 1 : 0;
  outlet_.add(resolved.series->id(), {1, 1, arrival.now.monotonic});
  outlet_.write(event);
  return std::nullopt;
}

std::optional<Refusal> Translator::take_check(std::string_view line, const Arrival& arrival) {
  Check check;
  if (auto refused = parse_check(line, check)) return refused;
  const auto resolved =
      resolve({check.name, check.tags, check.container, Kind::kGauge, SeriesKey::Space::kChecks});
  if (!resolved.series) return resolved.refusal;
  counts_.checks += 1;
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
