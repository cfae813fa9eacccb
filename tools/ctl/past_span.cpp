#include "tools/ctl/past_span.h"

#include <algorithm>
#include <utility>

#include "program/duration.h"
#include "tools/ctl/terminal.h"
#include "tools/ctl/time_span.h"

namespace tallyfs {
namespace {

using past::Span;

// The store of a recorder that runs is no older.
constexpr std::uint64_t kFreshUs = 30'000'000;

Result<Span> parse(const PastOptions& options, const Now& now) {
  if (!options.at.empty() && !options.last.empty()) {
    return invalid("--at and --last are two spans; the second is --vs of show");
  }
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
                  "\"yesterday 23:00..23:30\""));
  line.add(hidden("--last", options.last, "TIME",
                  "the same of the last 30s, 5m, 2h, 1d (a number alone: s)"));
  line.add(hidden("--store", options.store, "DIR",
                  "the store of tallyctl record; else $TALLY_STORE, else /var/lib/tally-record"));
}

void add_versus(CommandLine& line, PastOptions& options) {
  line.add(hidden("--vs", options.versus, "SPAN",
                  "beside it another span, or \"before\": as long, directly before"));
}

std::string span_text(const Span& span, bool utc) {
  const std::string end = dated(span.end_us, utc);
  const std::string begin = dated(span.begin_us, utc);
  constexpr std::size_t kDate = 11;
  const bool is_one_day = begin.substr(0, kDate) == end.substr(0, kDate);
  return begin + " to " + (is_one_day ? end.substr(kDate) : end);
}

std::string fault_of(const PastOptions& options, bool utc) {
  const auto span = parse(options, {realtime_now_us(), utc});
  return span ? "" : span.error().reason;
}

PastSpan::PastSpan(const PastOptions& options, bool utc, past::StoreReader store,
                   const Span& extent)
    : options_(options),
      utc_(utc),
      directory_(past::store_named(options.store)),
      store_(std::move(store)),
      extent_(extent),
      wanted_(parse(options_, now_of(extent_, utc_))) {}

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

Result<Span> PastSpan::other(const Span& span) const {
  if (options_.versus != "before") return parse_span(options_.versus, now_of(extent_, utc_));
  const std::uint64_t length_us = span.end_us - span.begin_us;
  return Span{span.begin_us - std::min(span.begin_us, length_us), span.begin_us};
}

}  // namespace tallyfs
