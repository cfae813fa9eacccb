// What the servers of one keeper leave to their successors, in memory that all of them share: how
// many there were, the kernel's FUSE_INIT, the handles of pollers, a state of a server that hands
// over, the memory in which each server keeps its state (fs/store/object_store.h), and
// descriptors.
//
// The keeper writes note_end() while no server runs, and reads nothing: a server may write what it
// likes here. All else is the server's; the functions on polls are thread-safe.
// Bounds: kInitBytesMax, kPollsMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "fs/keeper/descriptor_queue.h"

namespace tallyfs {

// A state that was handed over, as bytes. The memory is free when this is destroyed.
class HandedBytes {
 public:
  HandedBytes() = default;
  // state_fd: a memfd with so many bytes, which outlives this. It is emptied at the end.
  HandedBytes(int state_fd, std::size_t size);
  HandedBytes(HandedBytes&& other) noexcept;
  HandedBytes& operator=(HandedBytes&&) = delete;
  ~HandedBytes();

  // Empty, too, where the memory cannot be read.
  bool is_unreadable() const { return is_unreadable_; }
  std::string_view view() const { return {static_cast<const char*>(memory_), size_}; }

 private:
  int state_fd_ = -1;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  bool is_unreadable_ = false;
};

class Handover {
 public:
  static constexpr std::size_t kInitBytesMax = 256;
  // Open files with a waiting poll(2). The kernel counts open files; of two whose numbers have this
  // distance only the later one is remembered.
  static constexpr std::size_t kPollsMax = 4096;

  static Result<Handover> create();
  // Of another program, which took over the process of a keeper. kInvalid: of another format.
  // kept: not valid where the keeper before had no such memory.
  static Result<Handover> adopt(Fd memory, Fd state, Fd kept, DescriptorQueue descriptors);
  int memory_fd() const { return memory_.get(); }
  int state_fd() const { return state_.get(); }
  int kept_fd() const { return kept_.get(); }
  // Those that the state names.
  const DescriptorQueue& descriptors() const { return descriptors_; }
  Handover(Handover&& other) noexcept;
  Handover& operator=(Handover&&) = delete;
  ~Handover();

  // A server has ended with this status (waitpid(2)). failures: how many in a row failed.
  void note_end(int status, int failures, std::int64_t monotonic_ns);
  // A server has ended as it was asked to, so that another program takes over.
  void note_reload(std::int64_t monotonic_ns);
  // How many servers there were before.
  std::uint64_t servers() const;
  // How many of them ended as they were asked to.
  std::uint64_t reloads() const;
  bool was_reload() const;  // the last one
  // Of the last one.
  int status() const;
  int failures() const;
  std::int64_t ended_ns() const;

  // The kernel's first request as it came, without its header. Longer ones are not kept.
  void keep_init(std::string_view request);
  // Empty: there was none.
  std::string_view init() const;

  // What a server that is asked to end leaves: pieces of a state file, then its end. kNoSpace.
  Result<void> append_state(std::string_view piece);
  void finish_state();
  // Empty: none was finished. There is none from then on. The handover outlives the bytes, and they
  // are destroyed before the next are appended.
  HandedBytes take_state();

  // A poll(2) waits to be notified under this number.
  void note_poll(std::uint64_t handle);
  // The number in a place, 0: none. The place is empty from then on.
  std::uint64_t take_poll(std::size_t place);

 private:
  struct Page;
  Handover(Fd memory, Fd state, Fd kept, DescriptorQueue descriptors, Page* page)
      : memory_(std::move(memory)),
        state_(std::move(state)),
        kept_(std::move(kept)),
        descriptors_(std::move(descriptors)),
        page_(page) {}
  static Result<Page*> map(const Fd& memory);

  Fd memory_;
  Fd state_;
  Fd kept_;
  DescriptorQueue descriptors_;
  Page* page_ = nullptr;
};

}  // namespace tallyfs
