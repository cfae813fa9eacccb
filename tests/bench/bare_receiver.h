// The bare receiver of a socket, a process that throws away what it gets: how fast it is beside the
// daemon tells what the daemon costs. Queue length and batches are those of the daemon's
// FeedSocket.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "tests/bench/sender.h"

namespace tallyfs::bench {

constexpr unsigned kQueueLength = 512;
constexpr std::size_t kBatch = 32;

inline void set_queue_length(unsigned wanted) {
  std::ofstream setting("/proc/sys/net/unix/max_dgram_qlen");
  setting << wanted << std::flush;
  require(setting.good(), "max_dgram_qlen");
}

class BareReceiver {
 public:
  explicit BareReceiver(std::string path)
      : path_(std::move(path)), fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    unsigned before = 0;
    std::ifstream("/proc/sys/net/unix/max_dgram_qlen") >> before;
    set_queue_length(std::max(before, kQueueLength));
    const sockaddr_un address = address_of(path_);
    require(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, path_);
    set_queue_length(before);
    void* const shared =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED, "mmap");
    counted_ = new (shared) std::atomic<std::uint64_t>(0);
    child_ = fork();  // a process, as the daemon is one
    if (child_ == 0) receive();
  }
  ~BareReceiver() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    unlink(path_.c_str());
    close(fd_);
    munmap(counted_, 4096);
  }
  pid_t process() const { return child_; }
  void wait_for(std::uint64_t datagrams) const {
    while (counted_->load() < datagrams) std::this_thread::yield();
  }

 private:
  [[noreturn]] void receive() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(std::thread::hardware_concurrency() - 1);
    static std::array<std::array<char, 9000>, kBatch> bytes;
    std::array<iovec, kBatch> parts{};
    std::array<mmsghdr, kBatch> headers{};
    for (std::size_t i = 0; i < kBatch; ++i) {
      parts[i] = {bytes[i].data(), bytes[i].size()};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
    for (;;) {
      const int got = recvmmsg(fd_, headers.data(), kBatch, MSG_WAITFORONE, nullptr);
      if (got > 0) counted_->fetch_add(static_cast<std::uint64_t>(got));
    }
  }

  const std::string path_;
  const int fd_;
  std::atomic<std::uint64_t>* counted_ = nullptr;
  pid_t child_ = 0;
};

}  // namespace tallyfs::bench
