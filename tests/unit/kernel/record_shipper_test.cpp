#include "feeders/kernel/record_shipper.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "tests/unit/receiving_socket.h"

namespace tallyfs {
namespace {

using std::chrono::nanoseconds;

std::string words_of(wire::Message& message) {
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

// What arrived at the daemon's socket, in words.
std::string told(ReceivingSocket& daemon) {
  std::string text;
  daemon.receive([&](wire::Message& message) { text += words_of(message); });
  return text;
}

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

  ReceivingSocket daemon_;
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
  EXPECT_EQ(told(daemon_), "7@10 cpu0 3 '' aaaa\n7@12 cpu5 4 '' cccc\n");
}

TEST_F(RecordShipperTest, NamesTasksAsTheEventsBeforeHaveNamedThem) {
  shipper_.shipping(7).with_name = true;
  shipper_.shipping(9) = {.names_pid_at = 8, .names_name_at = 12};
  event(10, 0, record(7, 3, "a"));
  event(11, 0, record(9, 1, std::string("\3\0\0\0cat\0............", 20)));
  event(12, 0, record(7, 3, "b"));
  shipper_.flush();
  EXPECT_EQ(told(daemon_), "7@10 cpu0 3 'task3' a\n7@12 cpu0 3 'cat' b\n");
}

TEST_F(RecordShipperTest, TellsOfWhatIsMissing) {
  event(10, 0, record(7, 3, "a"));
  shipper_.lost(0, 4);
  shipper_.flush();
  shipper_.flush();
  EXPECT_EQ(told(daemon_), "lost 4\n7@10 cpu0 3 '' a\n");
}

TEST_F(RecordShipperTest, RecordsWithoutTheCommonFieldsAreNone) {
  event(10, 0, "1234567");
  shipper_.flush();
  EXPECT_EQ(told(daemon_), "");
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
