// A span of the past: what the statistics of an interface counted in it, and the columns of one of
// them. From what tally-web keeps, if that reaches back to its begin, else from a store of
// `tallyctl record --store`; without a store, as much as is kept. What was not observed is a fact.
//
// An interface of a span is one of data.json, as tools/past/span_source.h has it: `data_us` and
// `time_us` are as far apart as the statistic was observed. Functions without a state.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
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

// A copy of the kept past of an interface, for use without the lock. It has the columns of the
// span, if there is one.
struct KeptSpan {
  view::Interface now{};
  std::map<std::string, Past> pasts{};
  // The begin of the oldest column of each past, and of all of them, regardless of a span.
  std::map<std::string, std::uint64_t> oldest_of{};
  std::uint64_t oldest_us = UINT64_MAX;

  // True if the past of the statistic reaches back to the begin of the span.
  bool reaches(const past::Span& span, const std::string& statistic) const;
  // True if the past of any statistic does, and no existing statistic lacks a past.
  bool reaches(const past::Span& span) const;
};
KeptSpan kept_span(const Followed& followed, const std::optional<past::Span>& span);

// statistic: the one that matters, or empty. kNotFound: the interface was not observed in the span.
// Other errors are those of a store that cannot be read.
Result<SpanReading> read_span(const KeptSpan& kept, const std::string& store,
                              const std::string& interface, const std::string& statistic,
                              const past::Span& span);

// The most facts that a response has.
inline constexpr std::size_t kFactsMax = 10;
// Writes an object of JSON, without the names of interface and statistic.
void write_fact(JsonWriter& writer, const past::Fact& fact);

// A statistic and its counts over time, with the bins of the newest definition in the span. A sum
// (family.h) has the counts of `read` of its statistics.
struct PastReading {
  struct Parts {
    std::size_t all = 1;
    std::size_t read = 1;
    std::size_t left_out = 0;  // the store has them, and they are too many to be read
  };
  view::Statistic statistic;
  Past past;
  Parts parts{};
  std::vector<past::Fact> damaged{};  // of the store, of what was read
};
// A span, into how many columns it is to be divided, and the precision of quantiles that is enough.
struct PastSpan {
  past::Span span;
  std::size_t columns = 0;
  unsigned precision = UINT_MAX;
};
// From the store alone; the columns end where its points do. Of at most `most` of the statistics,
// those of which something was observed, in their order. kNoDevice: there is no store. kNotFound:
// as above, of all of them.
Result<std::vector<PastReading>> pasts_of_store(const std::string& store,
                                                const std::string& interface,
                                                const std::vector<std::string>& statistics,
                                                std::size_t most, const PastSpan& wanted);
// kNotFound: as above. `kept` has what is there now, if the interface is there.
Result<PastReading> read_past(const KeptSpan& kept, const std::string& store,
                              const std::string& interface, const std::string& statistic,
                              const PastSpan& wanted);

}  // namespace tallyfs::web
