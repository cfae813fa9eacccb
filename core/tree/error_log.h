// tracing/error_log: the last rejected writes and messages, each with its reason, its text and a
// caret under the token that was wrong, in the kernel's format.
//
// Thread-safe, one lock. Holds kEntries; strangers on the socket can fill at most
// kSocketEntries of them, so that a flood of garbage does not push out what an administrator
// mistyped. Text is cut at kTextBytes and escaped, so that no text forges an entry.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "core/base/boot.h"
#include "core/base/bytes.h"
#include "core/base/mutex.h"
#include "core/tree/error_history.h"
#include "core/tree/file.h"

namespace tallyfs {

class ErrorLog final : public File {
 public:
  static constexpr std::size_t kEntries = 8;
  static constexpr std::size_t kSocketEntries = 4;
  static constexpr std::size_t kTextBytes = 256;

  using Source = Refusal::Door;
  // The source of a line, and its uid. Each uid has a share of the entries.
  struct Author {
    Source source;
    uid_t uid;
  };
  // The author of reports by the daemon itself that no user can cause again and again.
  static constexpr Author kDaemon{Source::kMount, 0};

  // history: also receives each report; it outlives the log; nullptr: none.
  explicit ErrorLog(Timestamp now, ErrorHistory* history = nullptr)
      : history_(history), last_change_(now) {}

  // location: "statistics/web", "socket pid 17 uid 0". text: the line as it came.
  void report(Author author, std::string_view location, std::string_view text, const Error& error,
              Timestamp now) EXCLUDES(mutex_);
  // Reports a line that was accepted, but perhaps not meant.
  void warn(Author author, std::string_view location, std::string_view text, const Error& error,
            Timestamp now) EXCLUDES(mutex_);

  // Save and load the entries (core/state/FORMAT.md, kind 16). load() inserts its entries before
  // those that exist; entries of another boot have the time 0. load() fails the reader on bytes
  // that save() does not write, and then changes nothing.
  void save(ByteWriter& out) const EXCLUDES(mutex_);
  void load(ByteReader& in, Boot boot, Timestamp now) EXCLUDES(mutex_);
  bool is_empty() const EXCLUDES(mutex_);
  // How often the log has changed.
  std::uint64_t changes() const EXCLUDES(mutex_);

  // A few KiB at most, whatever bytes_max says.
  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override
      EXCLUDES(mutex_);
  Timestamp last_change(Timestamp now) const override EXCLUDES(mutex_);
  // Any write clears the log, and so does an open with O_TRUNC.
  Result<void> write_line(std::string_view line, const CallContext& call) override EXCLUDES(mutex_);
  Result<void> truncate(const CallContext& call) override EXCLUDES(mutex_);

 private:
  void enter(Refusal refusal) EXCLUDES(mutex_);

  struct Entry {
    Source source;
    std::chrono::nanoseconds time;
    std::string text;  // behind the time
  };

  static Entry load_entry(ByteReader& in, Boot boot);
  void drop_oldest() REQUIRES(mutex_);

  ErrorHistory* const history_;
  mutable Mutex mutex_{LockRank::kErrorLog};
  std::deque<Entry> entries_ GUARDED_BY(mutex_);  // oldest first
  Timestamp last_change_ GUARDED_BY(mutex_);
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs
