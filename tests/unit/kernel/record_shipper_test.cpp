#include "feeders/kernel/record_shipper.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/fd.h"

namespace tallyfs {
namespace {

using std::chrono::nanoseconds;

// The daemon's socket, and what arrived at it, in words.
class RecordDaemon {
 public:
  RecordDaemon() {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strcpy(address.sun_path, path_.c_str());
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RecordDaemon() { std::filesystem::remove_all(directory_); }

  const std::string& path() const { return path_; }
  std::string told() {
    std::string text;
    for (;;) {
      const auto size = ::recv(socket_.get(), bytes_.data(), wire::kDatagramBytesMax, MSG_DONTWAIT);
      if (size < 0) return text;
      auto reader = wire::DatagramReader::open(
          {reinterpret_cast<char*>(bytes_.data()), static_cast<std::size_t>(size)});
      while (auto message = reader.value().next()) text += tell(message->value());
    }
  }

 private:
  static std::string tell(wire::Message& message) {
    if (const auto* lost = std::get_if<wire::LostEvents>(&message)) {
      return "lost " + std::to_string(lost->records) + "\n";
    }
    std::string text;
    std::array<EventRecord, 4> scratch;
    auto& packed = std::get<wire::PackedEvents>(message);
    for (auto some = packed.unpack(scratch, nanoseconds(1'000'000)); !some.empty();
         some = packed.unpack(scratch, nanoseconds(1'000'000))) {
      for (const EventRecord& each : some) {
        text += std::to_string(each.event) + "@" + std::to_string(each.time_ns) + " cpu" +
                std::to_string(each.cpu) + " " + std::to_string(each.pid) + " '" +
                std::string(each.comm) + "' " + std::string(each.bytes.substr(8)) + "\n";
      }
    }
    return text;
  }

  std::string directory_ = [] {
    std::string name = "/tmp/tally-shipper-XXXXXX";
    return std::string(::mkdtemp(name.data()));
  }();
  std::string path_ = directory_ + "/socket";
  Fd socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::vector<std::uint64_t> bytes_ = std::vector<std::uint64_t>(wire::kDatagramBytesMax / 8);
};

std::string record(std::uint16_t id, std::int32_t pid, const std::string& rest) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(id);
  out.put(std::uint16_t{0});
  out.put(pid);
  return bytes + rest;
}

class RecordShipperTest : public testing::Test {
 protected:
  RecordShipperTest() {
    shipper_.begin({0, 5});
    shipper_.shipping(7).wanted = true;
  }
  void event(std::int64_t time, std::size_t cpu, const std::string& bytes) {
    shipper_.event(nanoseconds(time), cpu, bytes);
  }

  RecordDaemon daemon_;
  Link link_{daemon_.path()};
  SymbolBook symbols_{[] { return Result<KernelSymbols>(KernelSymbols()); }};
  RecordShipper shipper_{link_, symbols_,
                         [](std::int32_t pid) { return "task" + std::to_string(pid); }};
};

TEST_F(RecordShipperTest, SendsTheRecordsOfTheEventsThatAreWanted) {
  event(10, 0, record(7, 3, "aaaa"));
  event(11, 0, record(8, 3, "bbbb"));
  event(12, 1, record(7, 4, "cccc"));
  shipper_.flush();
  EXPECT_EQ(daemon_.told(), "7@10 cpu0 3 '' aaaa\n7@12 cpu5 4 '' cccc\n");
}

TEST_F(RecordShipperTest, NamesTasksAsTheEventsBeforeHaveNamedThem) {
  shipper_.shipping(7).with_name = true;
  shipper_.shipping(9) = {.names_pid_at = 8, .names_name_at = 12};
  event(10, 0, record(7, 3, "a"));
  event(11, 0, record(9, 1, std::string("\3\0\0\0cat\0............", 20)));
  event(12, 0, record(7, 3, "b"));
  shipper_.flush();
  EXPECT_EQ(daemon_.told(), "7@10 cpu0 3 'task3' a\n7@12 cpu0 3 'cat' b\n");
}

TEST_F(RecordShipperTest, TellsOfWhatIsMissing) {
  event(10, 0, record(7, 3, "a"));
  shipper_.lost(0, 4);
  shipper_.flush();
  shipper_.flush();
  EXPECT_EQ(daemon_.told(), "lost 4\n7@10 cpu0 3 '' a\n");
}

TEST_F(RecordShipperTest, RecordsWithoutTheCommonFieldsAreNone) {
  event(10, 0, "1234567");
  shipper_.flush();
  EXPECT_EQ(daemon_.told(), "");
}

TEST_F(RecordShipperTest, WhatFindsNoDaemonIsToldOfAsLost) {
  Link nowhere("/nowhere/socket");
  RecordShipper shipper(nowhere, symbols_, [](std::int32_t) { return std::string(); });
  shipper.begin({0});
  shipper.shipping(7).wanted = true;
  shipper.event(nanoseconds(1), 0, record(7, 1, "a"));
  shipper.flush();
  EXPECT_EQ(shipper.shipped(), 0u);
  EXPECT_EQ(shipper.missing(), 1u);
}

}  // namespace
}  // namespace tallyfs
