// --at, --last, --vs and --store: which store is meant, and which span of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "program/command_line.h"
#include "tools/ctl/time_span.h"
#include "tools/past/store_reader.h"

namespace tallyfs {

struct PastOptions {
  std::string at;
  std::string last;
  std::string versus;
  std::string store;
  // The span that the other options meant when it was first found. It stays while the store grows.
  std::optional<past::Span> found{};

  bool is_wanted() const { return !at.empty() || !last.empty() || !versus.empty(); }
  // True for the span that begins at the newest reset of the selected statistics.
  bool is_since_reset() const { return !found && at == kSinceReset; }

  static constexpr std::string_view kSinceReset = "since reset";
};

// --at, --last and --store.
void add_past(CommandLine& line, PastOptions& options);
void add_versus(CommandLine& line, PastOptions& options);
// The fault in the options, found without reading the store; empty: none.
std::string fault_of(const PastOptions& options, bool utc);

// The text of a span, with the date, which is given once if both ends are on the same day.
std::string span_text(const past::Span& span, bool utc);

// How the span of --vs is headed, by where it lies.
struct OtherSpan {
  const char* prefix;
  const char* column;
  bool is_later = false;
};
OtherSpan other_span(const past::Span& now, const past::Span& other);

// "x2.1": how many times the earlier rate; "new" and "silent" where one of them is 0, "-" where one
// is not known.
std::string factor_text(std::optional<double> now, std::optional<double> before);

// A store with the spans of the options in it. Confined to one thread.
class PastSpan {
 public:
  // Errors of the store; kNotFound as well where it is empty.
  static Result<PastSpan> open(const PastOptions& options, bool utc);

  const std::string& directory() const { return directory_; }
  past::StoreReader& store() { return store_; }
  const past::Span& extent() const { return extent_; }
  // The span of --at or --last. kInvalid: it is none.
  const Result<past::Span>& wanted() const { return wanted_; }
  // The span of is_since_reset(), which the other one ends; kInvalid: the store has no reset of it.
  using Concerns = std::function<bool(const past::Fact&)>;
  Result<void> begin_with_reset(const Concerns& concerns);
  // The span of --vs, to be compared with `span`.
  Result<past::Span> other(const past::Span& span) const;

 private:
  PastSpan(const PastOptions& options, bool utc, past::StoreReader store, const past::Span& extent);

  PastOptions options_;
  std::string directory_;
  past::StoreReader store_;
  past::Span extent_;
  Now now_;  // of all spans
  Result<past::Span> wanted_;
};

}  // namespace tallyfs
