// What the benchmarks of the socket and the files have in common: clocks, pinning, and a feeder's
// socket.
#pragma once

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>

#include "core/wire/binary.h"

namespace tallyfs::bench {

inline double clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline void require(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + ": " + std::strerror(errno));
}

inline void pin(unsigned cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  require(sched_setaffinity(0, sizeof cpus, &cpus) == 0, "sched_setaffinity");
}

// What is resident and a process's own.
inline double memory_bytes(const std::string& pid) {
  std::ifstream rollup("/proc/" + pid + "/smaps_rollup");
  for (std::string word; rollup >> word;) {
    double kib = 0;
    if (word == "Pss:" && rollup >> kib) return kib * 1024;
  }
  throw std::runtime_error("no Pss of process " + pid);
}

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// A socket connected to that of a receiver, with an address of its own for the responses.
class Sender {
 public:
  explicit Sender(const std::string& path) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sa_family_t any = AF_UNIX;
    require(bind(fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0, "bind");
    const sockaddr_un address = address_of(path);
    require(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, path);
    const int bytes = 4 << 20;
    require(setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) == 0,
            "SO_SNDBUFFORCE");
  }
  ~Sender() { close(fd_); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void send(const std::string& bytes) const {
    require(::send(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "send");
  }
  // The number in the response.
  std::uint64_t ask(const std::string& text) {
    wire::DatagramWriter request(0);
    request.request(1, text);
    send(std::string(request.bytes()));
    alignas(8) std::array<char, 8192> bytes;
    const ssize_t size = recv(fd_, bytes.data(), bytes.size(), 0);
    require(size > 0, "recv");
    auto reader =
        wire::DatagramReader::open(std::span(bytes).first(static_cast<std::size_t>(size)));
    epoch_ = reader.value().epoch();
    const auto message = reader.value().next();
    const auto& response = std::get<wire::Response>(message->value());
    if (response.error != 0) throw std::runtime_error(text + ": " + std::string(response.reason));
    return response.number;
  }
  std::uint64_t epoch() const { return epoch_; }
  int fd() const { return fd_; }

 private:
  const int fd_;
  std::uint64_t epoch_ = 0;
};

}  // namespace tallyfs::bench
