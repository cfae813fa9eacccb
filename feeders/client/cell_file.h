// This process's lane file (core/lane/FORMAT.md), in which its threads count samples in cells and
// have rings, and the files of earlier daemons until no thread can be in them any more, and what
// their daemon has not taken out of rings is elsewhere.
//
// The Client's lock confines what makes and frees files. Threads, and signal handlers on them, look
// at generation() and current() while they are inside their buffers, and take memory.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/lane/layout.h"
#include "feeders/client/sealed_mapping.h"

namespace tallyfs {

class CellFile {
 public:
  // The daemon's number of the file, and the daemon's epoch.
  struct Name {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
  };
  // kInvalid: no sealed file of a lane; kNoSpace.
  static Result<std::unique_ptr<CellFile>> map(const Fd& file, const Name& name);
  ~CellFile();
  CellFile(const CellFile&) = delete;
  CellFile& operator=(const CellFile&) = delete;

  std::uint64_t number() const { return name_.number; }
  std::uint64_t epoch() const { return name_.epoch; }
  std::byte* base() const { return base_; }
  std::span<const std::byte> memory() const { return {base_, bytes_}; }
  // How many threads have had an entry.
  std::size_t entries() const { return entries_.load(std::memory_order_acquire); }
  const LaneEntry& entry(std::size_t number) const {
    return reinterpret_cast<const LaneEntry*>(base_ + kLaneEntriesAt)[number];
  }
  std::size_t number_of(const LaneEntry* entry) const {
    return static_cast<std::size_t>(entry - &this->entry(0));
  }
  // Any thread. The entry of one more thread; nullptr: there are kLaneEntries.
  LaneEntry* allocate_entry();
  // Any thread. Zeros, from a place that is a multiple of 64; 0: there is no room.
  std::uint32_t allocate(std::size_t bytes);
  // Any thread. A ring as an entry names it, the smaller the less room there is for rings; 0: there
  // is none. Rings leave an eighth of the file to cells.
  std::uint64_t allocate_ring();
  // Called after a change, so that the daemon looks for it.
  void count_change();
  // Around a fork by a handler that interrupted a call in this file: the child has the memory, too.
  void share_with_child();
  void keep_from_children();
  // In a forked child, which does not have the memory.
  void abandon() { base_ = nullptr; }
  // In a child that has it: what is written from now on is written nowhere else.
  void make_private();

 private:
  CellFile(std::byte* base, std::size_t bytes, const Name& name)
      : base_(base), bytes_(bytes), name_(name) {}

  std::byte* base_;
  const std::size_t bytes_;
  const Name name_;
  std::atomic<std::size_t> taken_{kLaneHeapAt};
  std::atomic<std::size_t> rings_taken_{0};  // bytes of taken_
  std::atomic<std::size_t> entries_{0};
};

class CellFiles {
 public:
  static constexpr std::size_t kThreadsMax = kLaneEntries;

  // ---- threads, inside their buffers

  // Another one for each file; 0: there is none.
  std::uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
  CellFile* current() const { return current_.load(std::memory_order_acquire); }
  // How far the daemon is with the rings of the file, or of the earlier one until it is freed.
  // Null: there are none.
  const LaneTails* tails() const { return tails_now_.load(std::memory_order_acquire); }
  // Any thread. True when no thread wanted a ring before.
  bool want_rings() {
    return !wants_rings() && !wants_rings_.exchange(true, std::memory_order_relaxed);
  }
  bool wants_rings() const { return wants_rings_.load(std::memory_order_relaxed); }
  std::uint32_t next_ring_era() {
    return last_ring_era_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  // ---- under the Client's lock

  Result<void> adopt(const Fd& file, const CellFile::Name& name);
  // The page of tails of the file.
  Result<void> map_tails(const Fd& page, std::uint64_t bytes);
  // Threads do without from now on.
  void retire();
  // The daemon has ended, and has not sent threads out of their cells before.
  void mark_unread() { is_unread_ = true; }
  // True once for each note.
  bool take_unread() { return std::exchange(is_unread_, false); }
  // The earlier file's are settled.
  void hide_tails() { tails_now_.store(nullptr, std::memory_order_release); }
  // An earlier file cannot be freed yet, and there is no room for another.
  bool has_retired() const { return retired_ != nullptr; }
  // The earlier one has records that its daemon had not taken when it was last seen.
  bool has_unread_records() const { return retired_ && has_records(*retired_); }
  // Frees the earlier one once each thread was seen outside, and empty(file, tails) says that what
  // is in its rings is needed no more. is_inside(i): thread i is in its buffer.
  using Empty = std::function<bool(const CellFile& file, const LaneTails& tails)>;
  template <typename IsInside>
  void release_retired(std::size_t threads, IsInside is_inside, const Empty& empty) {
    if (!retired_ || !has_passed_barrier()) return;
    for (std::size_t i = 0; i < threads; ++i) {
      if (!is_inside(i)) seen_outside_.set(i);
    }
    for (std::size_t i = 0; i < threads; ++i) {
      if (!seen_outside_.test(i)) return;
    }
    if (const LaneTails* const tails = this->tails(); tails && !empty(*retired_, *tails)) return;
    hide_tails();
    retired_.reset();
  }
  // ---- fork

  // Whether a handler forks that interrupted a call of the same thread in a file. The call goes on
  // in both processes, and counts in the parent.
  enum class Interrupted { kNoCall, kCall };
  void before_fork(Interrupted interrupted);
  void after_fork_in_parent(Interrupted interrupted);
  // Threads do without. The files that the interrupted call is in are not freed.
  void abandon(Interrupted interrupted);

 private:
  // How long after a store every thread sees it. No processor keeps one to itself for so long, and
  // a thread that does not run has passed a barrier of the kernel's.
  static constexpr std::int64_t kSeenAfterNs = 100'000'000;
  bool has_passed_barrier();
  bool has_records(const CellFile& file) const;

  std::unique_ptr<CellFile> file_;
  std::unique_ptr<CellFile> retired_;
  bool barrier_ = false;
  bool is_unread_ = false;
  std::int64_t refused_ns_ = 0;  // when the kernel refused it; 0: it has not
  std::bitset<kThreadsMax> seen_outside_;
  std::uint32_t last_generation_ = 0;
  std::atomic<CellFile*> current_{nullptr};
  std::atomic<std::uint32_t> generation_{0};

  static constexpr std::size_t kTailsBytesMax = 64 * 1024;
  SealedMapping tails_{kTailsBytesMax};
  std::atomic<const LaneTails*> tails_now_{nullptr};
  std::atomic<bool> wants_rings_{false};
  std::atomic<std::uint32_t> last_ring_era_{0};
};

}  // namespace tallyfs
