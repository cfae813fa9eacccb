// tracing/error_log: the last rejected writes and messages, each with its reason, its text and a
// caret under the token that was wrong, in the kernel's format.
//
// Thread-safe, one lock. Holds kEntries; strangers on the socket can fill at most
// kSocketEntries of them, so that a flood of garbage does not push out what an administrator
// mistyped. Text is cut at kTextBytes and escaped, so that nobody forges an entry.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "core/base/mutex.h"
#include "core/tree/file.h"

namespace tallyfs {

class ErrorLog final : public File {
 public:
  static constexpr std::size_t kEntries = 8;
  static constexpr std::size_t kSocketEntries = 4;
  static constexpr std::size_t kTextBytes = 256;

  enum class Source { kMount, kSocket };

  explicit ErrorLog(Moment now) : last_change_(now) {}

  // location: "statistics/web", "socket pid 17 uid 0". text: the line as it came.
  void report(Source source, std::string_view location, std::string_view text, const Error& error,
              Moment now) EXCLUDES(mutex_);
  // The same of what was taken, but perhaps not meant.
  void warn(Source source, std::string_view location, std::string_view text, const Error& error,
            Moment now) EXCLUDES(mutex_);

  // A few KiB at most, whatever bytes_max says.
  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override
      EXCLUDES(mutex_);
  Moment last_change(Moment now) const override EXCLUDES(mutex_);
  // Any write clears the log, and so does an open with O_TRUNC.
  Result<void> write_line(std::string_view line, const CallContext& call) override EXCLUDES(mutex_);
  Result<void> truncate(const CallContext& call) override EXCLUDES(mutex_);

 private:
  void enter(Source source, std::string_view location, std::string_view kind, std::string_view text,
             const Error& error, Moment now) EXCLUDES(mutex_);

  struct Entry {
    Source source;
    std::string text;
  };

  mutable Mutex mutex_{LockRank::kErrorLog};
  std::deque<Entry> entries_ GUARDED_BY(mutex_);  // oldest first
  Moment last_change_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
