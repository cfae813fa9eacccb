// Takes the events of all CPUs in the order of their times, packs the records of those that are
// wanted (core/wire/FORMAT.md, kind 10) and sends them to the daemon, some hundreds to a datagram.
//
// Confined to one thread. A daemon that does not take datagrams is waited for kWaitMax; then what
// was packed is dropped, and told of as lost with the next that goes out.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/client/link.h"
#include "feeders/kernel/symbol_book.h"
#include "feeders/kernel/task_names.h"
#include "feeders/tracefs/merged_reader.h"

namespace tallyfs {

// Every record begins with u16 common_type, u8, u8, i32 common_pid (core/tracing/format/format.h
// checks it).
inline constexpr std::size_t kPidAt = 4;

class RecordShipper final : public EventSink {
 public:
  // What a socket takes without being asked to hold more.
  static constexpr std::size_t kPackedMax = 100 * 1024;
  static constexpr std::chrono::milliseconds kWaitMax{300};

  // What is done with the records of an event.
  struct Shipping {
    bool wanted = false;
    bool with_name = false;  // of the task
    // Where in its records a task is named anew: the offsets of i32 pid and of its name; 0:
    // nowhere.
    std::uint32_t names_pid_at = 0;
    std::uint32_t names_name_at = 0;
  };

  // Link and symbols outlive the shipper.
  RecordShipper(Link& link, SymbolBook& symbols, TaskNames::Look look)
      : link_(link), symbols_(symbols), names_(std::move(look)) {
    packed_.reserve(kPackedMax + 2 * wire::kRecordBytesMax);
  }

  // From now on, of events by their ids; cpus says which CPU each of the pipes has.
  void begin(std::vector<unsigned> cpus) { cpus_ = std::move(cpus); }
  Shipping& shipping(std::uint16_t id) { return shipping_[id]; }
  const Shipping& shipping(std::uint16_t id) const { return shipping_[id]; }
  // Stacks will come.
  void prepare_for_stacks() { symbols_.load(); }
  // What tasks are called is found out anew.
  void forget_names() { names_.forget(); }

  void event(std::chrono::nanoseconds time, std::size_t cpu,
             std::span<const char> payload) override {
    event_with_stack(time, cpu, payload, {});
  }
  void event_with_stack(std::chrono::nanoseconds time, std::size_t cpu,
                        std::span<const char> payload, std::span<const char> stack) override;
  void lost(std::size_t, std::uint64_t events) override { lost_ += events; }
  // Sends what has been gathered.
  void flush() override;

  std::uint64_t shipped() const { return shipped_; }
  // That are missing, and that the daemon has not been told of yet.
  std::uint64_t missing() const { return lost_; }

 private:
  void learn_name(const Shipping& shipping, std::span<const char> payload);
  std::span<const std::uint64_t> frames_of(std::span<const char> stack);
  bool send();

  Link& link_;
  SymbolBook& symbols_;
  TaskNames names_;
  std::vector<unsigned> cpus_;
  std::vector<Shipping> shipping_ = std::vector<Shipping>(65'536);  // by event
  std::string packed_;
  std::uint64_t packed_records_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t shipped_ = 0;
  std::array<std::uint64_t, wire::kRecordFramesMax> frames_{};
  wire::DatagramWriter datagram_{0};
};

}  // namespace tallyfs
