#include "exporters/web/span.h"

#include <algorithm>
#include <utility>

#include "tools/past/moment_source.h"
#include "tools/past/span_source.h"
#include "tools/tree/source.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::web {
namespace {

using past::Fact;
using past::Span;

constexpr std::uint64_t kSecondUs = 1'000'000;

Error nothing_in(const std::string& interface) {
  return {ErrorCode::kNotFound, "nothing of " + interface + " was observed in this time"};
}

// Neither kept nor stored; the reason of the store says more, or the same. A store that cannot be
// read now does not say that there is nothing.
Error nothing_in(const std::string& interface, const Error& stored) {
  Error made = nothing_in(interface);
  if (stored.code != ErrorCode::kNoDevice) made.code = stored.code;
  if (stored.reason != made.reason) made.reason.append("; ").append(stored.reason);
  return made;
}

void add_facts(std::vector<Fact>& facts, const std::string& interface, const std::string& name,
               const Past& past) {
  for (const PastColumn& each : past.columns()) {
    if (each.is_known()) continue;
    const bool is_missing = each.state == PastColumn::State::kMissing;
    facts.push_back({{each.begin_us(), each.interval.end_us},
                     interface,
                     name,
                     is_missing ? "tally-web did not read it" : "a reset or a new definition"});
  }
}

Result<SpanReading> span_of(const KeptSpan& kept, const std::string& interface, const Span& span) {
  SpanReading made{.span = span, .interface = kept.now};
  made.interface.time_us = made.interface.realtime_us = span.end_us;
  made.interface.statistics.clear();
  for (const view::Statistic& each : kept.now.statistics) {
    const auto past = kept.pasts.find(each.name);
    if (past == kept.pasts.end()) continue;
    const PastColumn column = joined_known(past->second.columns());
    if (!column.is_known()) continue;
    view::Statistic counted = with_column(each, column);
    counted.data_us = span.end_us - static_cast<std::uint64_t>(column.length_s() * 1e6);
    made.interface.statistics.push_back(std::move(counted));
    add_facts(made.facts, interface, each.name, past->second);
  }
  if (made.interface.statistics.empty()) return nothing_in(interface);
  return made;
}

Result<SpanReading> span_of_store(const std::string& store, const std::string& interface,
                                  const Span& span) {
  auto opened = past::StoreReader::open(store);
  if (!opened) return opened.error();
  auto source = past::SpanSource::open(std::move(opened).value(), span);
  if (!source) return source.error();
  auto read = read_interface(*source.value(), interface);
  if (!read) return read.error();
  if (read.value().statistics.empty()) return nothing_in(interface);
  auto facts = source.value()->facts();
  if (!facts) return facts.error();
  std::erase_if(facts.value(), [&](const Fact& each) {
    return !each.interface.empty() && each.interface != interface;
  });
  return SpanReading{SpanReading::From::kStore, source.value()->span(), std::move(read).value(),
                     std::move(facts).value()};
}

// A point that was not observed leaves a gap, whatever it counted.
void add_moment(Past& made, past::MomentSource::Newest newest, const Span& moment,
                std::uint64_t step_us) {
  const std::uint64_t micros = moment.end_us - moment.begin_us;
  const Interval interval{moment.end_us, std::max<std::uint64_t>(1, micros / kSecondUs)};
  if (!newest.counted && micros > step_us) return made.add_missing(interval);
  view::Change change{.micros = micros, .counted = std::move(newest.counted)};
  if (change.counted) change.samples = change.counted->samples;
  made.add(*newest.definition, change, interval);
}

// Of one statistic, moment by moment.
struct StoredPast {
  const view::Statistic* definition = nullptr;  // the newest
  std::uint64_t before_us = 0;                  // the moment before at which it was there
  Past past{};
};

Result<void> take_timestamp(StoredPast& made, past::MomentSource& source, const std::string& name) {
  auto newest = source.newest(name);
  if (!newest) return newest.error();
  if (!newest.value()) return {};
  made.definition = newest.value()->definition;
  const Span moment{std::exchange(made.before_us, source.now_us()), source.now_us()};
  const auto step_us = static_cast<std::uint64_t>(source.period().count());
  if (moment.begin_us != 0) add_moment(made.past, *std::move(newest.value()), moment, step_us);
  return {};
}

// The reason why there is no more of it than is kept.
Fact no_store(const Error& error, const Span& span) {
  return {span, "", "", "nothing older is kept: " + error.reason};
}

}  // namespace

void write_fact(JsonWriter& writer, const Fact& fact) {
  writer.begin_object().key("begin_us").number(fact.span.begin_us);
  writer.key("end_us").number(fact.span.end_us).key("reason").string(fact.reason).end_object();
}

KeptSpan kept_span(const Followed& followed, const std::optional<Span>& span) {
  KeptSpan made{.now = followed.now};
  for (const auto& [name, past] : followed.pasts) {
    if (past.columns().empty()) continue;
    const std::uint64_t oldest_us = past.columns().front().begin_us();
    made.oldest_us = std::min(made.oldest_us, oldest_us);
    made.oldest_of.emplace(name, oldest_us);
    made.pasts.emplace(name, span ? past.within(span->begin_us, span->end_us) : past);
  }
  return made;
}

bool KeptSpan::reaches(const Span& span, const std::string& statistic) const {
  const auto found = oldest_of.find(statistic);
  const std::uint64_t begin_us = found == oldest_of.end() ? UINT64_MAX : found->second;
  return begin_us <= span.begin_us + kSecondUs;
}

// Rows of all statistics are wanted.
bool KeptSpan::reaches(const Span& span) const {
  const auto has_past = [&](const view::Statistic& each) {
    return !keeps_past(each) || oldest_of.contains(each.name);
  };
  return oldest_us <= span.begin_us + kSecondUs && std::ranges::all_of(now.statistics, has_past);
}

Result<SpanReading> read_span(const KeptSpan& kept, const std::string& store,
                              const std::string& interface, const std::string& statistic,
                              const Span& span) {
  const bool is_kept = statistic.empty() || kept.reaches(span, statistic);
  if (is_kept && kept.reaches(span)) return span_of(kept, interface, span);
  auto stored = span_of_store(store, interface, span);
  // The store may lack the newest seconds, which are kept.
  const bool is_there = stored && (statistic.empty() || stored.value().interface.find(statistic) ||
                                   !kept.oldest_of.contains(statistic));
  if (is_there) return stored;
  auto made = span_of(kept, interface, span);
  if (!made) return stored ? std::move(stored) : nothing_in(interface, stored.error());
  const Error lacking = stored ? nothing_in(interface + "/" + statistic) : stored.error();
  made.value().facts.push_back(no_store(lacking, {span.begin_us, kept.oldest_us}));
  return made;
}

Result<std::vector<PastReading>> pasts_of_store(const std::string& store,
                                                const std::string& interface,
                                                const std::vector<std::string>& statistics,
                                                std::size_t most, const PastSpan& wanted) {
  auto opened = past::StoreReader::open(store);
  if (!opened) return opened.error();
  auto source = past::MomentSource::open(std::move(opened).value(), wanted.span,
                                         {.interface = interface,
                                          .statistics = statistics,
                                          .statistics_max = most,
                                          .points = wanted.columns,
                                          .precision = wanted.precision});
  if (!source) return source.error();
  std::vector<StoredPast> pasts(statistics.size());
  for (auto next = past::MomentSource::Next::kMoment; next != past::MomentSource::Next::kEnd;) {
    for (std::size_t i = 0; i < statistics.size(); ++i) {
      auto done = take_timestamp(pasts[i], *source.value(), statistics[i]);
      if (!done) return done.error();
    }
    const auto found = source.value()->next(source.value()->period());
    if (!found) return found.error();
    next = found.value();
  }
  std::vector<PastReading> made;
  for (const StoredPast& each : pasts) {
    if (!each.definition) continue;
    made.push_back({.statistic = *each.definition,
                    .past = each.past.within(wanted.span.begin_us, wanted.span.end_us),
                    .parts = {.left_out = source.value()->left_out()},
                    .damaged = source.value()->damaged()});
  }
  if (made.empty()) return nothing_in(interface + "/" + statistics.front());
  return made;
}

Result<PastReading> read_past(const KeptSpan& kept, const std::string& store,
                              const std::string& interface, const std::string& statistic,
                              const PastSpan& wanted) {
  const view::Statistic* const now = kept.now.find(statistic);
  const auto past = kept.pasts.find(statistic);
  const bool is_kept = now && past != kept.pasts.end();
  if (is_kept && kept.reaches(wanted.span, statistic)) return PastReading{*now, past->second};
  auto stored = pasts_of_store(store, interface, {statistic}, 1, wanted);
  if (stored) return std::move(stored.value().front());
  if (is_kept) return PastReading{*now, past->second};
  return nothing_in(interface, stored.error());
}

}  // namespace tallyfs::web
