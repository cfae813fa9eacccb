// The templates of stats(3) that feeders have registered: which VOIs a blob's hash stands for, and
// which names a text of sample rates may use. A template belongs to the uid that registered it, so
// that no uid renames another's. Templates of one uid may share a name, as before and after an
// upgrade; a process has one of each name, the last that it registered. A template is in use while
// a process that registered it runs, or an object's blob is made from it. Others stay while there
// is room; the one that was registered longest ago goes first. At most kTemplatesMax are in use,
// and kPerUidMax of one uid; further ones of that uid are refused, as error_log shows.
//
// Thread-safe, one lock, below which only the Ledger's is taken.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/stats3/blob/templates.h"
#include "core/wire/binary.h"

namespace tallyfs::stats3 {

class FeederTemplates {
 public:
  static constexpr std::size_t kTemplatesMax = 4096;
  static constexpr std::size_t kPerUidMax = 1024;

  using Processes = boost::unordered_flat_set<pid_t>;
  enum class Told { kNew, kAgain };

  // The ledger outlives them. owner: the daemon's uid.
  FeederTemplates(Ledger& ledger, uid_t owner, Timestamp now)
      : ledger_(ledger), reserve_(owner), last_change_(now) {}

  // teller: the watched process; 0: none. kNew: it was not the last that the process had registered
  // by that name. kInvalid: it is none, or its hash is another; kExists: the
  // uid has another of that hash; kNoSpace.
  Result<Told> add(uid_t uid, pid_t teller, const wire::Template& given, Timestamp now)
      EXCLUDES(mutex_);
  // A template as it was saved. It is one that no running process has told of. kInvalid, kExists,
  // kNoSpace.
  struct Saved {
    uid_t uid = 0;
    std::uint32_t hash = 0;
    blob::TemplateNames names;
  };
  Result<void> restore(Saved saved, Timestamp now) EXCLUDES(mutex_);
  // Copies of all templates, in the order of their last registration.
  std::vector<Saved> all() const EXCLUDES(mutex_);
  // The watched processes that have registered the template. restore_teller() adds one that had
  // registered it at a predecessor. kNoSpace; kNotFound.
  std::vector<pid_t> tellers(uid_t uid, std::uint32_t hash) const EXCLUDES(mutex_);
  Result<void> restore_teller(uid_t uid, std::uint32_t hash, pid_t process) EXCLUDES(mutex_);
  // The process has ended, and has no templates any more.
  void process_ended(pid_t process) EXCLUDES(mutex_);

  // The name of the uid's template with that hash; nullopt: there is none.
  std::optional<std::string> name(uid_t uid, std::uint32_t hash) const EXCLUDES(mutex_);
  // The hashes of the uid's templates with that name that one of `tellers` has registered, in the
  // order of their registration.
  std::vector<std::uint32_t> hashes(uid_t uid, std::string_view name,
                                    const Processes& tellers) const EXCLUDES(mutex_);
  // The hash that was registered last for that name; nullopt: there is none.
  std::optional<std::uint32_t> last_hash(uid_t uid, std::string_view name) const EXCLUDES(mutex_);
  // True if one of the processes has registered that template of the uid.
  bool is_told_by(uid_t uid, std::uint32_t hash, const Processes& tellers) const EXCLUDES(mutex_);
  // True if the process has registered some template.
  bool has_told(pid_t process) const EXCLUDES(mutex_);

  // The names of the template that a blob of the uid was made from; nullptr: it is not registered.
  // The template is in use as long as the caller keeps the pointer.
  std::shared_ptr<const blob::TemplateNames> names(uid_t uid, std::uint32_t hash) const
      EXCLUDES(mutex_);
  // The specs of the templates in use, each once, with commas between. A name without a template in
  // use has the spec that was registered last.
  std::string list() const EXCLUDES(mutex_);
  // A number that grows whenever the result of another function may have changed.
  std::uint64_t version() const EXCLUDES(mutex_);
  Timestamp last_change() const EXCLUDES(mutex_);

 private:
  using Id = std::uint64_t;  // in the order of the first registration
  using Ids = std::vector<Id>;
  struct Entry {
    uid_t uid = 0;
    std::uint32_t hash = 0;
    Processes tellers;
    std::uint64_t told_at = 0;  // the number of registrations before its last one
    // Shared with objects whose blobs are made from it, and with renderings of them.
    std::shared_ptr<const blob::TemplateNames> names;
    Reservation share;

    bool in_use() const { return !tellers.empty() || names.use_count() > 1; }
    bool is_told_by(const Processes& some) const;
  };

  const Entry* find(uid_t uid, std::uint32_t hash) const REQUIRES(mutex_);
  // The templates of a name, in the order of their last registration.
  const Ids& ids_of(uid_t uid, std::string_view name) const REQUIRES(mutex_);
  Result<Told> enter(Saved given, pid_t teller, Timestamp now) REQUIRES(mutex_);
  Result<Reservation> make_room(const Saved& given) REQUIRES(mutex_);
  // Forgets a template that is not in use, of the uid or, without one, of any. False: all are in
  // use.
  bool forget_one(std::optional<uid_t> uid) REQUIRES(mutex_);
  void forget(Id id) REQUIRES(mutex_);
  Result<Told> note_told(Id id, pid_t teller) REQUIRES(mutex_);
  void drop_earlier(pid_t teller, Id id, const Ids& of_its_name) REQUIRES(mutex_);
  bool stands_for_its_name(const Entry& entry, Id id) const REQUIRES(mutex_);
  void untell(Id id, pid_t teller) REQUIRES(mutex_);

  Ledger& ledger_;
  const QuotaReserve reserve_;
  mutable Mutex mutex_{LockRank::kFeederTemplates};
  std::map<Id, Entry> entries_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<std::uint64_t, Id> by_hash_ GUARDED_BY(mutex_);  // of a uid
  boost::unordered_flat_map<std::string, Ids> by_name_ GUARDED_BY(mutex_);   // of a uid
  boost::unordered_flat_map<pid_t, Ids> by_teller_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<uid_t, std::size_t> by_uid_ GUARDED_BY(mutex_);
  Id next_id_ GUARDED_BY(mutex_) = 0;
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
  Timestamp last_change_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::stats3
