// One object of the stats/ branch: the last blob that was published of it, as the two texts that
// its files show, and the demand for it. An open of one of the files is demand for kAskedFor.
// Without demand, the object's switch is off, and the files show texts as old as they say.
//
// Thread-safe, one lock, below which only the templates' and the Ledger's are taken; texts are made
// outside of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/model/switch.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/tree/file.h"

namespace tallyfs::stats3 {

class StatsObject {
 public:
  static constexpr std::chrono::seconds kAskedFor{60};
  enum class Format { kFreeform, kJson };

  // share: what it holds of the ledger, to which its blob is added. Templates are shared with the
  // branch and all its objects. switch_: off; nullptr: there is none for it.
  StatsObject(std::shared_ptr<const FeederTemplates> templates, std::uint64_t number,
              Reservation share, Switch* its_switch, Timestamp now);

  // Takes the place of the blob before; bytes may have up to 7 of padding behind it. kInvalid with
  // the field that is wrong; kNoSpace.
  Result<void> publish(std::string_view bytes, uid_t publisher, Timestamp now) EXCLUDES(mutex_);
  // The uid that published, and the blob; load() is for an object without one. kInvalid: not what
  // save() writes; kNoSpace.
  void save(ByteWriter& out) const EXCLUDES(mutex_);
  Result<void> load(ByteReader& in, Timestamp now) EXCLUDES(mutex_);
  // Saves and loads for a successor, with the demand for the object.
  void save_for_successor(ByteWriter& out) const EXCLUDES(mutex_);
  Result<void> load_transferred(ByteReader& in, Timestamp now) EXCLUDES(mutex_);
  // One of its files has been opened.
  void ask(Timestamp now) EXCLUDES(mutex_);
  // It is gone from the tree, and its switch is another's; opens may still look at it.
  void detach() EXCLUDES(mutex_);

  // kNoSpace. Without a blob, nothing at all.
  Result<std::string> render(Format format, std::size_t bytes_max) const EXCLUDES(mutex_);
  std::uint64_t version() const EXCLUDES(mutex_);
  // How many blobs there were.
  std::uint64_t published() const EXCLUDES(mutex_);
  Timestamp last_change() const EXCLUDES(mutex_);

 private:
  Result<void> hold(std::size_t bytes) REQUIRES(mutex_);
  void save_locked(ByteWriter& out) const REQUIRES(mutex_);
  void find_names(std::uint32_t hash, uid_t publisher) REQUIRES(mutex_);

  const std::shared_ptr<const FeederTemplates> templates_;
  const std::uint64_t number_;
  mutable Mutex mutex_{LockRank::kStatsObject};
  Reservation share_ GUARDED_BY(mutex_);
  Switch* switch_ GUARDED_BY(mutex_);
  std::vector<std::uint8_t> blob_ GUARDED_BY(mutex_);
  uid_t publisher_ GUARDED_BY(mutex_) = 0;  // the uid that the template belongs to
  // The names of the blob's template, which this pointer keeps in use; nullptr: the template was
  // not registered when the blob came.
  std::shared_ptr<const blob::TemplateNames> names_ GUARDED_BY(mutex_);
  std::uint32_t names_hash_ GUARDED_BY(mutex_) = 0;
  std::uint64_t published_ GUARDED_BY(mutex_) = 0;
  Timestamp last_change_ GUARDED_BY(mutex_);
  std::optional<Timestamp> asked_ GUARDED_BY(mutex_);
};

// OBJECT, and OBJECT.json.
class StatsObjectFile final : public File {
 public:
  // Shared with the branch, the other file, and opens under way.
  StatsObjectFile(std::shared_ptr<StatsObject> object, StatsObject::Format format)
      : object_(std::move(object)), format_(format) {}

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override {
    return object_->render(format_, bytes_max);
  }
  std::optional<std::uint64_t> version(Timestamp) const override { return object_->version(); }
  Timestamp last_change(Timestamp) const override { return object_->last_change(); }
  void opened(const CallContext& call) override { object_->ask(call.now); }

 private:
  const std::shared_ptr<StatsObject> object_;
  const StatsObject::Format format_;
};

}  // namespace tallyfs::stats3
