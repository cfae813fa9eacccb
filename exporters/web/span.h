// A span of the past: what the statistics of an interface counted in it, and the columns of one of
// them. From what tally-web keeps, if that reaches back to its begin, else from a store of
// `tallyctl record --store`; without a store, as much as is kept. What was not observed is a fact.
//
// An interface of a span is one of data.json, as tools/past/span_source.h has it: `data_us` and
// `time_us` are as far apart as the statistic was observed. Functions without a state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "exporters/web/past.h"
#include "exporters/web/watch.h"
#include "tools/past/store.h"

namespace tallyfs::web {

struct SpanReading {
  enum class From : std::uint8_t { kKept, kStore };
  From from = From::kKept;
  past::Span span;  // its ends are those of what was taken
  view::Interface interface {};
  std::vector<past::Fact> facts{};
};

// What is kept of an interface, to be used while others read: within the span, if there is one.
struct KeptSpan {
  view::Interface now{};
  std::map<std::string, Past> pasts{};
  // The begin of the oldest column of each past, as it is without a span, and of any of them.
  std::map<std::string, std::uint64_t> oldest_of{};
  std::uint64_t oldest_us = UINT64_MAX;

  // Whether the past of the statistic reaches back to the begin of the span.
  bool reaches(const past::Span& span, const std::string& statistic) const;
  // Whether any of them does, and no statistic that is there now lacks a past.
  bool reaches(const past::Span& span) const;
};
KeptSpan kept_span(const Followed& followed, const std::optional<past::Span>& span);

// `statistic`: the one that matters, or empty. kNotFound: nothing of the interface was observed in
// it. Other errors are those of a store that cannot be read.
Result<SpanReading> read_span(const KeptSpan& kept, const std::string& store,
                              const std::string& interface, const std::string& statistic,
                              const past::Span& span);

// A statistic, and what it counted when: with the bins that the newest definition has in the span.
struct PastReading {
  view::Statistic statistic;
  Past past;
};
// A span, and into how many columns it is to be divided.
struct PastSpan {
  past::Span span;
  std::size_t columns = 0;
};
// kNotFound: as above. `kept` has what is there now, if the interface is there.
Result<PastReading> read_past(const KeptSpan& kept, const std::string& store,
                              const std::string& interface, const std::string& statistic,
                              const PastSpan& wanted);

}  // namespace tallyfs::web
