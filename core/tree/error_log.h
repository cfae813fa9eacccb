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
#include <list>
#include <string>
#include <string_view>

#include "core/base/boot.h"
#include "core/base/bytes.h"
#include "core/base/mutex.h"
#include "core/tree/error_history.h"
#include "core/tree/file.h"
#include "core/tree/refusal.h"

namespace tallyfs {

class ErrorLog final : public File {
 public:
  static constexpr std::size_t kEntries = 8;
  static constexpr std::size_t kSocketEntries = 4;
  static constexpr std::size_t kTextBytes = Refusal::kTextBytes;

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
              Timestamp now) EXCLUDES(mutex_) {
    enter(author, Kind::kError, now,
          [&](Refusal& refusal) { refusal.set({.where = location, .line = text}, error); });
  }
  // Reports a line of a datagram: `place` has no `where`.
  void report_sent(uid_t uid, const Refusal::Place& place, const Error& error, Timestamp now)
      EXCLUDES(mutex_) {
    enter({Source::kSocket, uid}, Kind::kError, now,
          [&](Refusal& refusal) { refusal.set(place, error); });
  }
  void report_sent(uid_t uid, const Refusal::Place& place, std::string_view reason,
                   std::size_t token_at, Timestamp now) EXCLUDES(mutex_) {
    enter({Source::kSocket, uid}, Kind::kError, now,
          [&](Refusal& refusal) { refusal.set(place, reason, token_at); });
  }
  // Reports a line that was accepted, but perhaps not meant.
  void warn(Author author, std::string_view location, std::string_view text, const Error& error,
            Timestamp now) EXCLUDES(mutex_) {
    enter(author, Kind::kWarning, now,
          [&](Refusal& refusal) { refusal.set({.where = location, .line = text}, error); });
  }

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
  enum class Kind { kError, kWarning };

  // set() gets the entry's refusal, without what the other parameters say.
  template <typename Set>
  void enter(const Author& author, Kind kind, Timestamp now, const Set& set) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (spare_.empty()) spare_.emplace_back();
    Entry& entry = spare_.back();
    entry.loaded.clear();
    entry.refusal.door = author.source;
    entry.refusal.uid = author.uid;
    entry.refusal.is_warning = kind == Kind::kWarning;
    entry.refusal.time = now;
    set(entry.refusal);
    if (history_) history_->add(entry.refusal);
    entries_.splice(entries_.end(), spare_);
    drop_oldest();
    last_change_ = now;
    changes_ += 1;
  }

  struct Entry {
    Refusal refusal;
    std::string loaded{};  // what load() brought: the text after the time
  };

  static std::string text_of(const Entry& entry);
  static Entry load_entry(ByteReader& in, Boot boot);
  void drop(std::list<Entry>::iterator entry) REQUIRES(mutex_);
  void drop_oldest() REQUIRES(mutex_);

  ErrorHistory* const history_;
  mutable Mutex mutex_{LockRank::kErrorLog};
  std::list<Entry> entries_ GUARDED_BY(mutex_);  // oldest first
  std::list<Entry> spare_ GUARDED_BY(mutex_);    // one at most, whose memory the next one uses
  Timestamp last_change_ GUARDED_BY(mutex_);
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs
