// The state that the servers of one keeper leave to their successors, in memory that all of them
// share: their number, the kernel's FUSE_INIT, the handles of pollers, the requests that they
// executed, the state of a server that hands over, the memory in which each server keeps its state
// (fs/store/object_store.h), and descriptors.
//
// The keeper writes by note_end() alone, while no server runs, and reads nothing, so that no
// server's bytes can harm it. Servers call all other functions; those on polls are thread-safe, and
// those on requests are for one thread per number of a thread.
// Bounds: kInitBytesMax, kPollsMax, kThreadsMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "fs/keeper/descriptor_queue.h"

namespace tallyfs {

// A state that was handed over, as bytes. The memory is free when this is destroyed.
class TransferredBytes {
 public:
  TransferredBytes() = default;
  // state_fd: a memfd with so many bytes, which outlives this. It is emptied at the end.
  TransferredBytes(int state_fd, std::size_t size);
  TransferredBytes(TransferredBytes&& other) noexcept;
  TransferredBytes& operator=(TransferredBytes&&) = delete;
  ~TransferredBytes();

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
  // Threads that execute requests.
  static constexpr std::size_t kThreadsMax = 8;

  struct Request {
    std::uint64_t unique = 0;   // its number, which the kernel gives; 0: none
    std::uint64_t crashes = 0;  // servers that have crashed while they executed it
    std::optional<int> error = {};  // of a removal: its errno, or 0, as all that it does is saved
  };

  static Result<Handover> create();
  // Adopts the memory of a keeper whose process this program took over. kInvalid: it has another
  // format. kept: invalid if that keeper had no such memory.
  static Result<Handover> adopt(Fd memory, Fd state, Fd kept, DescriptorQueue descriptors);
  int memory_fd() const { return memory_.get(); }
  int state_fd() const { return state_.get(); }
  int kept_fd() const { return kept_.get(); }
  // The descriptors that the state names.
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
  // These are of the last server.
  int status() const;
  int failures() const;
  std::int64_t ended_ns() const;

  // The kernel's first request as it came, without its header. Longer ones are not kept.
  void keep_init(std::string_view request);
  // Empty: there was none.
  std::string_view init() const;

  // A server that is asked to end writes its state: pieces of a state file, and then the end.
  // kNoSpace.
  Result<void> append_state(std::string_view piece);
  void finish_state();
  // Takes the state; empty: none was finished. The Handover outlives the bytes, and they are
  // destroyed before the next ones are appended.
  TransferredBytes take_state();

  // A poll(2) waits to be notified under this number.
  void note_poll(std::uint64_t handle);
  // The number in a place, 0: none. Behind take_poll() the place is empty.
  std::uint64_t poll_at(std::size_t place) const;
  std::uint64_t take_poll(std::size_t place);

  // The thread executes this request until end_request(). Two stores.
  void begin_request(std::size_t thread, const Request& request);
  void end_request(std::size_t thread);
  // All that the thread's request does is saved: the answer is this errno. A successor may be
  // killed before the request comes again, so that it leaves the outcome to the next one, unless it
  // has answered.
  void note_outcome(std::size_t thread, int error);
  void forget_outcome(std::uint64_t unique);
  // Returns what the last server executed when it ended; if it crashed, that is counted. Further
  // calls return nothing, and so do all with a page of an earlier version.
  std::vector<Request> take_requests();

 private:
  struct Page;
  struct RequestSlot;
  Handover(Fd memory, Fd state, Fd kept, DescriptorQueue descriptors, Page* page)
      : memory_(std::move(memory)),
        state_(std::move(state)),
        kept_(std::move(kept)),
        descriptors_(std::move(descriptors)),
        page_(page) {}
  static Result<Page*> map(const Fd& memory);
  static void leave(RequestSlot& slot, std::uint64_t unique, std::uint64_t outcome);

  Fd memory_;
  Fd state_;
  Fd kept_;
  DescriptorQueue descriptors_;
  Page* page_ = nullptr;
  RequestSlot* slots_ = nullptr;  // of the page, kThreadsMax of them; nullptr: it has none
};

}  // namespace tallyfs
