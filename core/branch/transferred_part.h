// The state that a successor continues with in addition to the branches' saved state: descriptors,
// and the objects of parts of the daemon that are no branches. Values and interfaces; each says its
// threads.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/branch/saved_object.h"

namespace tallyfs {

// Descriptors that outlive the server. The keeper has a copy of each from add() until flush() after
// remove(), or until it needs the room. Saved objects name a descriptor by its number. flush() is
// called after objects were saved that no longer name it.
//
// Thread-safe.
class TransferredFds {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  using Numbers = std::vector<std::uint32_t>;
  using Received = std::vector<std::pair<std::uint32_t, Fd>>;

  // Keeps copies of the descriptors outside this process.
  class Holder {
   public:
    virtual ~Holder() = default;
    // Copies a descriptor, which stays open here. kNoSpace.
    virtual Result<void> hold(std::uint32_t number, int fd) = 0;
    // The most descriptors that it can keep.
    virtual std::size_t most() const = 0;
    // Closes all others, and needs less room for these. kNoSpace: it keeps these, and some others.
    virtual Result<void> keep_only(std::span<const std::uint32_t> numbers) = 0;
  };

  // holder: outlives it; nullptr: there is no keeper. received: the predecessor's descriptors.
  explicit TransferredFds(Holder* holder = nullptr, Received received = {});

  // Returns the descriptor's number, the same at each call. It stays open until remove(). kNone: fd
  // is no descriptor, or the holder has no room.
  std::uint32_t add(int fd) EXCLUDES(mutex_);
  // Call before the descriptor is closed. The holder drops its copy at the next flush(), which also
  // drops the predecessor's descriptors that were not taken.
  void remove(int fd) EXCLUDES(mutex_);
  void flush() EXCLUDES(mutex_);
  // Forgets all descriptors, for a server whose state is not kept for the case of a kill:
  // descriptors are then added when their objects are saved for a successor. No remove() may
  // follow.
  void forget_all() EXCLUDES(mutex_);

  // Called in the successor, once for each number. An invalid Fd: there is none of this number.
  // adopt() adds a taken descriptor that is used again, under its number.
  Fd take(std::uint32_t number) EXCLUDES(mutex_);
  void adopt(std::uint32_t number, int fd) EXCLUDES(mutex_);

 private:
  Numbers numbers() const REQUIRES(mutex_);
  Result<void> hold(std::uint32_t number, int fd) REQUIRES(mutex_);
  Result<void> keep_only_these() REQUIRES(mutex_);

  static constexpr unsigned kHeldAtMost = 64;  // copies since the last keep_only()

  Holder* const holder_;
  Mutex mutex_{LockRank::kTransferredFds};
  boost::unordered_flat_map<std::uint32_t, Fd> received_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<int, std::uint32_t> by_fd_ GUARDED_BY(mutex_);
  std::uint32_t last_number_ GUARDED_BY(mutex_) = 0;
  Numbers removed_ GUARDED_BY(mutex_);       // until flush(): objects may name them
  std::size_t held_ GUARDED_BY(mutex_) = 0;  // copies of the holder, unused ones too
  unsigned held_since_ GUARDED_BY(mutex_) = 0;
  // The holder may have unused copies; at first, those that a server of another version has left.
  bool has_useless_ GUARDED_BY(mutex_) = true;
};

class TransferredPart;

// Where a part writes through what the next server must not miss. Any thread, without the part's
// locks.
class PartKeeper {
 public:
  virtual ~PartKeeper() = default;
  virtual TransferredFds& descriptors() = 0;
  // Writes what save_for_successor() would put now.
  virtual void write_through(TransferredPart& part) = 0;
  virtual void put(const SavedObject& object) = 0;
  virtual void remove(SavedKind kind, std::string_view label) = 0;
  // Something has ended, which is left out once all that it has changed is saved.
  virtual void note_end() = 0;
};

class TransferredPart {
 public:
  virtual ~TransferredPart() = default;

  // The kinds that save_for_successor() puts and load() takes; no branch and no other part has
  // them.
  virtual SavedKinds objects() const = 0;
  // Any thread, if the part is kept; else no other thread uses the part then. A sink of the kind
  // kSuccessor has what was written through. For it, the part hands on what has ended, too, until
  // that is saved; in a reload it does not, as all that followed from an end is handed on.
  virtual void save_for_successor(ObjectSink& sink, TransferredFds& descriptors) = 0;
  // Called before the part is used, and behind the objects of all branches. kInvalid, kNoSpace:
  // nothing of it was taken.
  virtual Result<void> load(const SavedObject& object, const Loading& loading,
                            TransferredFds& descriptors) = 0;

  // Whether an object that was put beside those of save_for_successor() is of something that is
  // here.
  virtual bool has(const SavedObject& /*object*/) const { return false; }

  // Before all else is saved, and behind it: as save_for_successor(), but without what had ended
  // when begin_save() was called. Once the sink has taken that, the part forgets what had ended.
  virtual void begin_save() {}
  virtual void end_save(ObjectSink& sink, TransferredFds& descriptors) {
    save_for_successor(sink, descriptors);
  }
  // All was saved since begin_save().
  virtual void note_saved() {}
};

}  // namespace tallyfs
