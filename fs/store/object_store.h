// Objects in a memory that outlives the process which writes them: each can be replaced by itself,
// and whenever the process is killed, each is there whole, as it was written last (FORMAT.md).
//
// A change writes the object into a free place and then an entry of 32 bytes, which has a checksum
// and a number that grows. Of the two entries of an object the whole one with the larger number
// counts. A place that a change leaves becomes free with the next change.
//
// Thread-safe, apart from open(). A lock covers the copy of one object; the end of a run, which
// goes over the names of its kinds; and a renewal of the order (spread_order()).
// The descriptor outlives the store. Bounds: kObjectsMax, kBytesMax.
//
// Kinds whose objects have an order among each other always come in the same set of kinds.
//
// An object of one kind, a whole, may have parts: objects of another kind that say what has changed
// in it since it was put. So a small change of a large object costs little. A whole takes parts as
// long as they have fewer bytes than itself. Those that it has itself when it is put anew are void,
// as are those of a whole that is removed. Void parts are removed a few at a time: their contents
// say that the whole is newer. open() removes those without a whole.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/base/steps.h"
#include "fs/store/extents.h"
#include "core/state/state_file.h"

namespace tallyfs {

// The label of a part is that of its whole, a slash, and what tells it from others.
struct PartKinds {
  std::uint16_t part = 0;  // 0: there are none
  std::uint16_t whole = 0;
};

class ObjectStore {
 public:
  static constexpr std::uint64_t kObjectsMax = 1 << 22;
  static constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 30;

  // The objects that were in the memory. They point into it, and are valid until the first put().
  struct Contents {
    std::vector<SavedObject> objects;  // in the order in which they are to be loaded
    std::vector<std::string> faults;   // a line for each object that is not whole
    std::shared_ptr<const void> mapping;
  };
  struct Opened {
    std::unique_ptr<ObjectStore> store;
    Contents contents;
  };
  // memory: a memfd; an empty one becomes an empty store. kInvalid: it is no store, or one of
  // another format; kNoSpace: the memory cannot be mapped, or written.
  static Result<Opened> open(int memory, PartKinds kinds = {});
  // Makes an empty store of the memory, whatever is in it. kNoSpace.
  static Result<std::unique_ptr<ObjectStore>> format(int memory, PartKinds kinds = {});

  // A run over all objects of some kinds, in the order in which they are to be loaded. Several runs
  // may be under way at once. Confined to its thread.
  class Pass {
   public:
    Pass(ObjectStore& store, KindBits kinds);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    // False: the store has the object of this version, or it was removed since the run began. Else
    // the next put() is of this version.
    bool wants(std::uint16_t kind, std::string_view label, const ObjectVersion& version);
    // The store keeps what it has of the object, whatever changes it had. False: it has none, or of
    // another object of that name.
    bool keep(std::uint16_t kind, std::string_view label, std::uint64_t object = 0);
    // An object that has the same kind and label as one before in this run is a further one.
    // kNoSpace; kTooBig: of objects, or of bytes.
    Result<void> put(const SavedObject& object) { return put(object, std::exchange(version_, {})); }
    Result<void> put(const SavedObject& object, const ObjectVersion& version);
    // Removes the objects of those kinds that this run did not come to. A run that has failed, or
    // is not whole, is ended without.
    Result<void> end();

   private:
    Result<void> remove_unseen();

    ObjectStore& store_;
    const KindBits kinds_;
    const std::uint32_t number_;
    std::uint64_t after_;  // the place in the order of the last object
    ObjectVersion version_;
    boost::unordered_flat_map<std::string, std::uint16_t> occurrences_;
  };

  // One object of the kinds, the last of them in the order if it is new. As Pass::put().
  Result<void> put(KindBits kinds, const SavedObject& object, const ObjectVersion& version)
      EXCLUDES(mutex_);
  // Whether it has the whole, with a version of this object, and it has more bytes than
  // kShortWhole: a shorter one is written as fast as a part of it.
  bool wants_part(std::string_view whole, std::uint64_t object) const EXCLUDES(mutex_);
  static constexpr std::uint32_t kShortWhole = 4096;
  // The memory, of a process before this one, has this object as that whole, without its last
  // changes: it may get parts, and is put anew by the next run. Its versions here are behind 0.
  void know_whole(std::string_view whole, std::uint64_t object) EXCLUDES(mutex_);
  // A part, whose label no part has had. version: that of its whole with the change; the whole is
  // put with its versions, too. False: the whole is to be put instead.
  Result<bool> put_part(KindBits kinds, const SavedObject& part, const ObjectVersion& version)
      EXCLUDES(mutex_);
  // Then its parts are void.
  Result<void> remove(std::uint16_t kind, std::string_view label) EXCLUDES(mutex_);
  // Whether it has this version of an object, or a newer one.
  bool has(std::uint16_t kind, std::string_view label, const ObjectVersion& version) const
      EXCLUDES(mutex_);

  std::size_t objects() const EXCLUDES(mutex_);
  // The size of the memory, free places included.
  std::uint64_t bytes() const EXCLUDES(mutex_);

 private:
  class Reader;
  // An object as this process knows it. Versions and `seen` are not in the memory.
  struct Item {
    std::uint32_t entry = 0;
    std::uint32_t slot = 0;  // of the two, the one that counts
    std::uint64_t order = 0;
    std::uint32_t unit = 0;  // where it begins, in Extents::kUnit
    std::uint32_t size = 0;
    std::uint32_t checksum = 0;
    std::uint32_t seen = 0;  // the last run that came to it
    std::uint64_t content_hash = 0;
    ObjectVersion version;

    Extent extent() const { return {std::uint64_t{unit} * Extents::kUnit, size}; }
  };
  using Items = boost::unordered_flat_map<std::string, Item>;
  static constexpr std::size_t kKindsMax = 64;
  // An object on its way into the memory. Made without the lock: it goes over all bytes.
  struct Written {
    Written(const SavedObject& object, std::uint16_t occurrence);

    const SavedObject& object;
    std::string name;
    std::string head;
    std::uint64_t hash;
    std::uint32_t checksum;
  };
  struct FreeEntry {
    std::uint32_t entry = 0;
    std::uint32_t slot = 0;
  };

  struct Part {
    std::string name;
    std::uint32_t size = 0;
    ObjectVersion version;
  };
  // Those of one whole, as they came: their versions do not fall.
  struct Parts {
    std::deque<Part> all;
    std::uint64_t bytes = 0;
  };

  ObjectStore(int memory, PartKinds kinds);
  std::uint32_t begin_pass(KindBits kinds) EXCLUDES(mutex_);
  void end_pass() EXCLUDES(mutex_);
  // number: of the run; nothing: none.
  Result<void> put_locked(const Written& written, const ObjectVersion& version,
                          std::optional<std::uint32_t> number, std::uint64_t& after)
      REQUIRES(mutex_);
  Result<void> put_known(Item& item, const Written& written, const ObjectVersion& version,
                         std::uint64_t& after) REQUIRES(mutex_);
  Result<void> write(Item& item, const Written& written) REQUIRES(mutex_);
  // Then the object is as the entry says.
  Result<void> write_entry(Item& item, const Extent& extent, std::uint32_t checksum)
      REQUIRES(mutex_);
  Result<void> make(Item& item, const Written& written, std::uint64_t& after) REQUIRES(mutex_);
  Result<void> take_entry(Item& item) REQUIRES(mutex_);
  void give_entry(const Item& item) REQUIRES(mutex_);
  Result<void> remove_from(Items& items, Items::iterator at) REQUIRES(mutex_);
  void note_part(std::string_view whole, Part part) REQUIRES(mutex_);
  // Those that have no change behind this version are void.
  void end_parts(std::string_view whole, const ObjectVersion& version) REQUIRES(mutex_);
  // kMore: some are left.
  Result<Step> remove_void_parts(int at_most) REQUIRES(mutex_);
  void remove_lost_parts(Contents& contents) REQUIRES(mutex_);
  // Whether the object was removed since the run of this number has begun.
  bool is_removed(const std::string& name, std::uint32_t number) const REQUIRES(mutex_);
  Result<void> move_after(Item& item, std::uint64_t& after) REQUIRES(mutex_);
  Result<std::uint64_t> order_after(std::uint64_t& after) REQUIRES(mutex_);
  std::uint64_t next_order(std::uint64_t after) const REQUIRES(mutex_);
  void set_order(Item& item, std::uint64_t order) REQUIRES(mutex_);
  // The objects of a set, in their order. begin: of its range.
  std::vector<Item*> in_order(std::uint64_t begin) REQUIRES(mutex_);
  Result<void> spread_order(std::uint64_t& after) REQUIRES(mutex_);
  void release_left() REQUIRES(mutex_);
  void give_back(const Extent& freed, const Extent& free) REQUIRES(mutex_);

  const int memory_;
  const PartKinds part_kinds_;
  mutable Mutex mutex_{LockRank::kObjectStore};
  std::array<Items, kKindsMax> items_ GUARDED_BY(mutex_);  // of each kind
  boost::unordered_flat_map<std::string, Parts> parts_ GUARDED_BY(mutex_);  // by the whole's label
  std::deque<std::deque<Part>> void_parts_ GUARDED_BY(mutex_);  // none of these is empty
  // For each lowest kind of a set: no object of the set comes after it in the order.
  std::array<std::uint64_t, kKindsMax> last_ GUARDED_BY(mutex_){};
  Extents extents_ GUARDED_BY(mutex_);
  Extent left_ GUARDED_BY(mutex_);  // by the last change: the older entry still names it
  std::vector<FreeEntry> free_entries_ GUARDED_BY(mutex_);
  std::uint32_t entries_ GUARDED_BY(mutex_) = 0;  // that were ever written; each before the next
  std::uint64_t number_ GUARDED_BY(mutex_) = 0;   // of the last change
  std::uint32_t passes_ GUARDED_BY(mutex_) = 0;   // runs that have begun
  unsigned under_way_ GUARDED_BY(mutex_) = 0;     // of those
  KindBits passed_ GUARDED_BY(mutex_) = 0;        // their kinds, while some are under way
  // Names that were removed while runs were under way, with the last of these.
  boost::unordered_flat_map<std::string, std::uint32_t> removed_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
