// --at, --last, --vs and --store: which store is meant, and which span of it.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "program/command_line.h"
#include "tools/past/store_reader.h"

namespace tallyfs {

struct PastOptions {
  std::string at;
  std::string last;
  std::string versus;
  std::string store;

  bool is_wanted() const { return !at.empty() || !last.empty() || !versus.empty(); }
};

// --at, --last and --store.
void add_past(CommandLine& line, PastOptions& options);
void add_versus(CommandLine& line, PastOptions& options);
// What is wrong with the options, without a look at the store; empty: nothing.
std::string fault_of(const PastOptions& options, bool utc);

// With the date, once where both ends are of one day.
std::string span_text(const past::Span& span, bool utc);

// A store with the spans of the options in it. Confined to one thread.
class PastSpan {
 public:
  // Errors of the store; kNotFound as well where it is empty.
  static Result<PastSpan> open(const PastOptions& options, bool utc);

  const std::string& directory() const { return directory_; }
  past::StoreReader& store() { return store_; }
  const past::Span& extent() const { return extent_; }
  // Of --at or --last. kInvalid: it is none.
  const Result<past::Span>& wanted() const { return wanted_; }
  // Of --vs beside `span`.
  Result<past::Span> other(const past::Span& span) const;

 private:
  PastSpan(const PastOptions& options, bool utc, past::StoreReader store, const past::Span& extent);

  PastOptions options_;
  bool utc_;
  std::string directory_;
  past::StoreReader store_;
  past::Span extent_;
  Result<past::Span> wanted_;
};

}  // namespace tallyfs
