// The kernel's side of a FUSE connection without a mount: makes requests, hands them to libfuse as
// the daemon's threads do, and takes what is answered (fuse_session_custom_io). Every answer is
// checked for what any kernel may rely on: its length, whose it is, that there is one, and what
// the operation may bring.
//
// One at a time, since libfuse hands its callbacks nothing of ours. Confined to one thread, but
// for the notices of the Notifier's.
#pragma once

#include <linux/fuse.h>
#include <sys/uio.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "fs/operations.h"

namespace tallyfs::fuzz {

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename T>
T value_of(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

struct Request {
  std::uint32_t opcode = 0;
  std::uint64_t node = 0;
  uid_t uid = 0;
  std::string body;
};

class Kernel {
 public:
  struct Response {
    bool came = false;
    int error = 0;  // an errno
    std::string body;

    bool ok() const { return came && error == 0; }
  };

  // Mounts, as far as the daemon can tell. Operations outlive the kernel.
  Kernel(Operations& operations, std::uint32_t capabilities);
  ~Kernel();

  // Of a request without a response (FORGET), none.
  Response ask(const Request& request);
  // The same, but the asking process has ended meanwhile, so that the response finds no receiver.
  void ask_and_go(const Request& request);
  // What an INTERRUPT is for: the request that comes next, or none that ever was.
  void interrupt_next() { interrupt(next_unique_); }
  void interrupt_none() { interrupt(1); }

  fuse_session* session() { return session_; }

 private:
  static ssize_t take(int fd, iovec* parts, int count, void* userdata);
  ssize_t take_response(const std::string& bytes);
  void take_notice(const std::string& bytes);
  void process(std::uint64_t unique, const Request& request);
  void interrupt(std::uint64_t unique);

  static inline Kernel* current_ = nullptr;

  fuse_session* session_ = nullptr;
  std::uint64_t next_unique_ = 2;
  std::uint64_t waiting_for_ = 0;  // its unique number
  bool gone_ = false;
  Response response_;
  std::set<std::uint64_t> interrupts_;  // their own numbers; libfuse may answer each of them
};

}  // namespace tallyfs::fuzz
