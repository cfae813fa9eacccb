// What an open of `data` costs while many feeders count in lanes: the daemon adds up their cells on
// the way. Beside it the same file without cells, and one cell alone. Each figure is the best of
// kRounds, open, read and close together, on the wall clock.
//   lanes_bench MOUNT      TALLY_SOCKET says where the daemon is, which must grant the memory
//
// The lanes are all of this process, and are filled without libtally.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/lane/cell_writer.h"
#include "tests/bench/sender.h"

namespace tallyfs::bench {
namespace {

constexpr int kRounds = 200;
constexpr std::size_t kStatistics = 10;
constexpr std::uint32_t kIds = 64;
constexpr std::uint32_t kCellsAt = kLaneHeapAt + kIds * sizeof(std::uint32_t);

// One datagram's response, with the descriptor that is attached, or -1.
std::uint64_t response(int socket, int& attached) {
  alignas(8) std::array<char, 8192> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  require(size > 0, "recvmsg");
  attached = -1;
  if (const cmsghdr* const first = CMSG_FIRSTHDR(&header)) {
    std::memcpy(&attached, CMSG_DATA(first), sizeof attached);
  }
  auto reader = wire::DatagramReader::open(std::span(bytes).first(static_cast<std::size_t>(size)));
  const auto message = reader.value().next();
  const auto& read = std::get<wire::Response>(message->value());
  if (read.error != 0) throw std::runtime_error(std::string(read.reason));
  return read.number;
}

struct Fed {
  std::uint64_t number = 0;
  const Shape* shape = nullptr;

  CellForm form() const {
    return {.kind = static_cast<CellKind>(shape->kind.load()),
            .intervals = shape->intervals,
            .range_min = shape->range_min,
            .range_max = shape->range_max,
            .base_interval = shape->base_interval};
  }
};

// What comes in a descriptor, with what the response says of it.
struct Memory {
  std::byte* bytes = nullptr;
  std::uint64_t number = 0;
};

// bytes 0: as many as the response says.
Memory ask_for(const Sender& sender, const std::string& text, std::size_t bytes, int protection) {
  wire::DatagramWriter request(0);
  request.request(1, text);
  sender.send(std::string(request.bytes()));
  int file = -1;
  const std::uint64_t number = response(sender.fd(), file);
  void* const mapped =
      mmap(nullptr, bytes == 0 ? number : bytes, protection, MAP_SHARED, file, 0);
  require(mapped != MAP_FAILED, "mmap of " + text);
  if ((protection & PROT_WRITE) != 0) fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  close(file);
  return {static_cast<std::byte*>(mapped), number};
}

// What a feeder's only thread would have counted.
void fill(std::byte* memory, const std::vector<Fed>& statistics) {
  auto* const index = reinterpret_cast<std::atomic<std::uint32_t>*>(memory + kLaneHeapAt);
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    const std::uint32_t at = kCellsAt + i * static_cast<std::uint32_t>(sizeof(LaneCell));
    CellWriter cell(*reinterpret_cast<LaneCell*>(memory + at));
    cell.begin(statistics[i].number, i, statistics[i].shape->era, statistics[i].form());
    cell.add(5, 1);
    index[i] = at;
  }
  auto& entry = *reinterpret_cast<LaneEntry*>(memory + kLaneEntriesAt);
  entry.thread = 1;
  entry.index = std::uint64_t{kIds} << 32 | kLaneHeapAt;
  reinterpret_cast<LaneHeader*>(memory)->changes += 1;
}

void add_lane(const Sender& sender, const std::vector<Fed>& statistics) {
  const Memory lane = ask_for(sender, "lane " + std::to_string(kLaneBytesMin), kLaneBytesMin,
                              PROT_READ | PROT_WRITE);
  fill(lane.bytes, statistics);
  munmap(lane.bytes, kLaneBytesMin);
  int none = -1;
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    wire::DatagramWriter binding(sender.epoch());
    binding.bind({.sequence = 1, .id = i, .lane = lane.number, .number = statistics[i].number});
    sender.send(std::string(binding.bytes()));
    response(sender.fd(), none);
  }
}

std::string read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, path);
  std::string text(1 << 16, '\0');
  const ssize_t size = read(fd, text.data(), text.size());
  require(size >= 0, path);
  close(fd);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

double open_us(const std::string& path) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = clock_ns(CLOCK_MONOTONIC);
    read_file(path);
    best = std::min(best, (clock_ns(CLOCK_MONOTONIC) - begun) / 1e3);
  }
  return best;
}

void run(const std::string& mount) {
  Sender sender(std::getenv("TALLY_SOCKET"));
  std::vector<Fed> statistics;
  const auto* const shapes =
      reinterpret_cast<const Shape*>(ask_for(sender, "shapes", 0, PROT_READ).bytes);
  for (std::size_t i = 0; i < kStatistics; ++i) {
    const std::uint64_t number =
        sender.ask("create lanes/s" + std::to_string(i) + " on=1 type=range");
    statistics.push_back({number, &shapes[number & 0xffff'ffff]});
  }
  const std::string path = mount + "/statistics/lanes/data";
  const double without = open_us(path);
  std::printf("no lane, 10 ranges %40.1f us\n", without);
  std::size_t lanes = 0;
  for (const std::size_t wanted : {1u, 10u, 100u, 1000u}) {
    for (; lanes < wanted; ++lanes) add_lane(sender, statistics);
    const double with = open_us(path);
    const std::string first = read_file(path);
    if (!first.starts_with("s0 " + std::to_string(lanes) + " 5 5.000 5\n")) {
      throw std::runtime_error("the cells do not count: " + first);
    }
    std::printf("%4zu lanes with cells of each %29.1f us  %5.1f ns a cell  %s\n", lanes, with,
                (with - without) * 1e3 / static_cast<double>(lanes * kStatistics),
                lanes == 1000 ? "(wanted: below 1000 us)" : "");
  }
}

}  // namespace
}  // namespace tallyfs::bench

int main(int, char** arguments) {
  try {
    tallyfs::bench::run(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanes_bench: %s\n", error.what());
    return 1;
  }
}
