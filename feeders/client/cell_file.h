// This process's lane file (core/lane/FORMAT.md), in which its threads count samples in cells, and
// the files of earlier daemons until no thread can be in them any more.
//
// The Client's lock confines what makes and frees files. Threads, and signal handlers on them, look
// at generation() and current() while they are inside their lanes, and take memory.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/lane/layout.h"

namespace tallyfs {

class CellFile {
 public:
  // number: what the daemon calls it. kInvalid: no sealed file of a lane; kNoSpace.
  static Result<std::unique_ptr<CellFile>> map(const Fd& file, std::uint64_t number);
  ~CellFile();
  CellFile(const CellFile&) = delete;
  CellFile& operator=(const CellFile&) = delete;

  std::uint64_t number() const { return number_; }
  std::byte* base() const { return base_; }
  // Any thread. The entry of one more thread; nullptr: there are kLaneEntries.
  LaneEntry* take_entry();
  // Any thread. Zeros, from a place that is a multiple of 64; 0: there is no room.
  std::uint32_t take(std::size_t bytes);
  // Behind a change that the daemon is to find.
  void note_change();
  // In a forked child, which does not have the memory.
  void abandon() { base_ = nullptr; }

 private:
  CellFile(std::byte* base, std::size_t bytes, std::uint64_t number)
      : base_(base), bytes_(bytes), number_(number) {}

  std::byte* base_;
  const std::size_t bytes_;
  const std::uint64_t number_;
  std::atomic<std::size_t> taken_{kLaneHeapAt};
  std::atomic<std::size_t> entries_{0};
};

class CellFiles {
 public:
  static constexpr std::size_t kThreadsMax = kLaneEntries;

  // ---- threads, inside their lanes

  // Another one for each file; 0: there is none.
  std::uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
  CellFile* current() const { return current_.load(std::memory_order_acquire); }

  // ---- under the Client's lock

  Result<void> take(const Fd& file, std::uint64_t number);
  // Threads do without from now on.
  void forget();
  // An earlier file cannot be freed yet, and there is no room for another.
  bool has_retired() const { return retired_ != nullptr; }
  // Frees the earlier one once each thread was seen outside. is_inside(i): thread i is in its lane.
  template <typename IsInside>
  void let_go(std::size_t threads, IsInside is_inside) {
    if (!retired_ || !has_passed_barrier()) return;
    for (std::size_t i = 0; i < threads; ++i) {
      if (!is_inside(i)) seen_outside_.set(i);
    }
    for (std::size_t i = 0; i < threads; ++i) {
      if (!seen_outside_.test(i)) return;
    }
    retired_.reset();
  }
  // In a forked child.
  void abandon();

 private:
  bool has_passed_barrier();

  std::unique_ptr<CellFile> file_;
  std::unique_ptr<CellFile> retired_;
  bool barrier_ = false;
  std::bitset<kThreadsMax> seen_outside_;
  std::uint32_t last_generation_ = 0;
  std::atomic<CellFile*> current_{nullptr};
  std::atomic<std::uint32_t> generation_{0};
};

}  // namespace tallyfs
