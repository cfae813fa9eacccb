// The templates of stats(3) that feeders have told of: which VOIs a blob's hash stands for, and
// what a text of sample rates may name. A template belongs to the uid that told of it, so that
// nobody renames another's; of several of one name, who names it in rates gets its own process's,
// or else the last that was told of. They stay as long as the daemon runs, as they do in a process:
// at most kTemplatesMax, and kPerUidMax of one uid, which is refused further ones and reads of it
// in error_log.
//
// Thread-safe, one lock, below which only the Ledger's is taken.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/blob/templates.h"
#include "core/statistic/reservation.h"
#include "core/tree/command.h"
#include "core/wire/binary.h"

namespace tally {

class FeederTemplates {
 public:
  static constexpr std::size_t kTemplatesMax = 4096;
  static constexpr std::size_t kPerUidMax = 1024;

  // The ledger outlives them.
  FeederTemplates(Ledger& ledger, Moment now) : ledger_(ledger), last_change_(now) {}

  // One that is there already stays. kInvalid: it is none, or its hash is another; kExists: the uid
  // has another of that hash; kNoSpace.
  Result<void> add(const Sender& sender, const wire::Template& given, Moment now) EXCLUDES(mutex_);

  // Which one of the uid's has that name, if one is given, and that hash, unless it is 0. Of
  // several the last that the process has told of, or else the last of all; -1: none.
  int find(const Sender& feeder, std::optional<std::string_view> name, std::uint32_t hash) const
      EXCLUDES(mutex_);
  // "NAME":HASH of one that find() told, and the hash alone.
  std::string spec(int id) const EXCLUDES(mutex_);
  std::uint32_t hash(int id) const EXCLUDES(mutex_);
  // Of the template that a blob of the uid's is made from; nullptr: nobody has told of it.
  std::shared_ptr<const blob::TemplateNames> names(uid_t uid, std::uint32_t hash) const
      EXCLUDES(mutex_);
  // The specs of all, with commas between, each once; of a uid's of one name the last.
  std::string list() const EXCLUDES(mutex_);
  // Counts up with each new one, and each that is told of anew.
  std::uint64_t version() const EXCLUDES(mutex_);
  Moment last_change() const EXCLUDES(mutex_);

 private:
  struct Entry {
    uid_t uid = 0;
    std::uint32_t hash = 0;
    pid_t teller = 0;  // the process that was the last to tell of it
    // Shared with who is rendering a blob of it.
    std::shared_ptr<const blob::TemplateNames> names;
    Reservation share;
  };

  using Ids = std::vector<int>;

  std::string spec_of(const Entry& entry) const;
  int find_id(uid_t uid, std::uint32_t hash) const REQUIRES(mutex_);
  // Those of a name, in the order in which they were last told of.
  const Ids& ids_of(uid_t uid, std::string_view name) const REQUIRES(mutex_);
  void note_told(int id, pid_t teller) REQUIRES(mutex_);

  Ledger& ledger_;
  mutable Mutex mutex_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);                             // by id
  boost::unordered_flat_map<std::uint64_t, int> by_hash_ GUARDED_BY(mutex_);  // of a uid
  boost::unordered_flat_map<std::string, Ids> by_name_ GUARDED_BY(mutex_);    // of a uid
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
  boost::unordered_flat_map<uid_t, std::size_t> by_uid_ GUARDED_BY(mutex_);
  Moment last_change_ GUARDED_BY(mutex_);
};

}  // namespace tally
