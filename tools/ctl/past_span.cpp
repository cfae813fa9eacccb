#include "tools/ctl/past_span.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "program/duration.h"
#include "tools/ctl/terminal.h"

namespace tallyfs {
namespace {

using past::Span;

// The store of a recorder that runs is no older.
constexpr std::uint64_t kFreshUs = 30'000'000;

Result<Span> parse(const PastOptions& options, const Now& now) {
  if (options.found) return *options.found;
  if (!options.at.empty() && !options.last.empty()) {
    return invalid("--at and --last are two spans; the second is --vs of show");
  }
  if (options.versus == PastOptions::kSinceReset) {
    return invalid("\"since reset\" is of --at; --vs before is as long before that reset");
  }
  if (options.is_since_reset()) return Span{0, now.realtime_us};
  if (options.last.empty()) {
    if (options.at.empty()) return invalid("--vs compares the span of --at or --last");
    return parse_span(options.at, now);
  }
  const std::uint64_t last_us = parse_duration(options.last, TimeUnit::kSeconds).value_or(0);
  if (last_us > 0 && last_us < now.realtime_us) {
    return Span{now.realtime_us - last_us, now.realtime_us};
  }
  return invalid("--last: '" + options.last + "' is no length of time, as 30s, 5m, 2h or 1d");
}

// The end of the newest point, as long as a recorder writes: its last seconds are not stored yet.
Now now_of(const Span& extent, bool utc) {
  const std::uint64_t realtime_us = realtime_now_us();
  const bool is_fresh = extent.end_us + kFreshUs > realtime_us;
  return {is_fresh ? extent.end_us : realtime_us, utc};
}

Option hidden(const char* name, std::string& variable, const char* value, const char* text) {
  return {.names = name,
          .variable = &variable,
          .value = value,
          .text = text,
          .shown = Option::Default::kHidden};
}

}  // namespace

void add_past(CommandLine& line, PastOptions& options) {
  line.add(hidden("--at", options.at, "SPAN",
                  "what a span of the past counted, from a store: 12:03, 12:00..12:03, 12:03+5m, "
                  "\"yesterday 23:00..23:30\", \"since reset\""));
  line.add(hidden("--last", options.last, "TIME",
                  "the same of the last 30s, 5m, 2h, 1d (a number alone: s)"));
  line.add(hidden("--store", options.store, "DIR",
                  "the store of tallyctl record; else $TALLY_STORE, else /var/lib/tally-record"));
}

void add_versus(CommandLine& line, PastOptions& options) {
  line.add(hidden("--vs", options.versus, "SPAN",
                  "another span to compare with, or \"before\": as long, directly before"));
}

std::string span_text(const Span& span, bool utc) {
  const std::string end = dated(span.end_us, utc);
  const std::string begin = dated(span.begin_us, utc);
  constexpr std::size_t kDate = 11;
  const bool is_one_day = begin.substr(0, kDate) == end.substr(0, kDate);
  return begin + " to " + (is_one_day ? end.substr(kDate) : end);
}

OtherSpan other_span(const Span& now, const Span& other) {
  if (other.end_us <= now.begin_us) return {"before: ", "BEFORE"};
  if (other.begin_us >= now.end_us) return {"after: ", "AFTER", true};
  return {"compared with: ", "COMPARED"};
}

std::string factor_text(std::optional<double> now, std::optional<double> before) {
  if (!now || !before || (*now == 0 && *before == 0)) return "-";
  if (*before == 0) return "new";
  if (*now == 0) return "silent";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), *now < 10 * *before ? "x%.2f" : "x%.0f",
                *now / *before);
  return text.data();
}

std::string fault_of(const PastOptions& options, bool utc) {
  const auto span = parse(options, {realtime_now_us(), utc});
  return span ? "" : span.error().reason;
}

PastSpan::PastSpan(const PastOptions& options, bool utc, past::StoreReader store,
                   const Span& extent)
    : options_(options),
      directory_(past::store_named(options.store)),
      store_(std::move(store)),
      extent_(extent),
      now_(now_of(extent_, utc)),
      wanted_(parse(options_, now_)) {}

Result<PastSpan> PastSpan::open(const PastOptions& options, bool utc) {
  const std::string directory = past::store_named(options.store);
  auto store = past::StoreReader::open(directory);
  if (!store) return store.error();
  const auto extent = store.value().extent();
  if (!extent) return extent.error();
  if (!extent.value()) {
    return Error{ErrorCode::kNotFound, "the store " + directory + " is empty as yet"};
  }
  return PastSpan(options, utc, std::move(store).value(), *extent.value());
}

// The recorder sees a reset within a second after it; the point of that moment has what was counted
// since.
Result<void> PastSpan::begin_with_reset(const Concerns& concerns) {
  const auto facts = store_.facts(extent_);
  if (!facts) return facts.error();
  const auto is_reset = [&](const past::Fact& each) {
    return each.reason == past::kReset && concerns(each);
  };
  const auto newest = std::ranges::find_if(facts.value().rbegin(), facts.value().rend(), is_reset);
  if (newest == facts.value().rend()) {
    return invalid("the store knows of no reset of that, since " +
                   dated(extent_.begin_us, now_.utc));
  }
  const std::uint64_t step_us = store_.tiers().front().step_us;
  const std::uint64_t middle_us = newest->span.begin_us - step_us / 2;
  wanted_.value().begin_us = middle_us - middle_us % step_us;
  return {};
}

Result<Span> PastSpan::other(const Span& span) const {
  if (options_.versus != "before") return parse_span(options_.versus, now_);
  const std::uint64_t length_us = span.end_us - span.begin_us;
  return Span{span.begin_us - std::min(span.begin_us, length_us), span.begin_us};
}

}  // namespace tallyfs
