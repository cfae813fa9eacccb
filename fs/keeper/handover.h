// What the servers of one keeper leave to their successors, in memory that all of them share: how
// many there were, the kernel's FUSE_INIT, and the handles of pollers.
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

namespace tallyfs {

class Handover {
 public:
  static constexpr std::size_t kInitBytesMax = 256;
  // Open files with a waiting poll(2). The kernel counts open files; of two whose numbers have this
  // distance only the later one is remembered.
  static constexpr std::size_t kPollsMax = 4096;

  static Result<Handover> create();
  Handover(Handover&& other) noexcept;
  Handover& operator=(Handover&&) = delete;
  ~Handover();

  // A server has ended with this status (waitpid(2)). failures: how many in a row failed.
  void note_end(int status, int failures, std::int64_t monotonic_ns);
  // How many servers there were before.
  std::uint64_t servers() const;
  // Of the last one.
  int status() const;
  int failures() const;
  std::int64_t ended_ns() const;

  // The kernel's first request as it came, without its header. Longer ones are not kept.
  void keep_init(std::string_view request);
  // Empty: there was none.
  std::string_view init() const;

  // A poll(2) waits to be notified under this number.
  void note_poll(std::uint64_t handle);
  // The number in a place, 0: none. The place is empty from then on.
  std::uint64_t take_poll(std::size_t place);

 private:
  struct Page;
  Handover(Fd memory, Page* page) : memory_(std::move(memory)), page_(page) {}

  Fd memory_;
  Page* page_ = nullptr;
};

}  // namespace tallyfs
