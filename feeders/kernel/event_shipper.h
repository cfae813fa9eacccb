// Takes the events of all CPUs in the order of their times and sends them to the daemon, some
// hundreds to a datagram. What the daemon has no use for stays here: cancellations of timers whose
// start was not seen, and what tasks do that were seen to run.
//
// Confined to one thread. A daemon that does not take datagrams is waited for kWaitMax; then what
// was gathered is dropped, and told of as lost with the next that goes out.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/client/link.h"
#include "feeders/kernel/event_decoder.h"
#include "feeders/kernel/woken_tasks.h"
#include "feeders/tracefs/merged_reader.h"

namespace tallyfs {

class EventShipper final : public EventSink {
 public:
  // 44 KiB: well below what a socket may have on its way.
  static constexpr std::size_t kBatchMax = 500;
  static constexpr std::size_t kTimersMax = 16'384;
  // Events that were dropped are told of by CPU for so many CPUs, and of others together.
  static constexpr std::size_t kDroppedCpusMax = 64;
  static constexpr std::chrono::milliseconds kWaitMax{300};

  // The link outlives the shipper.
  explicit EventShipper(Link& link) : link_(link) { batch_.reserve(kBatchMax); }

  // From another instance from now on: cpus says which CPU each of its pipes has. What was under
  // way before is not waited for.
  void begin(std::vector<unsigned> cpus);
  // The events of this decoder from now on, and no others.
  void decode_by(EventDecoder decoder) { decoder_ = std::move(decoder); }
  // Tasks that were woken and ran though no switch to them was seen.
  const std::vector<pid_t>& unseen_tasks() const { return woken_.unseen(); }

  void event(std::chrono::nanoseconds time, std::size_t cpu,
             std::span<const char> payload) override;
  void lost(std::size_t cpu, std::uint64_t events) override;
  // Sends what has been gathered.
  void flush() override;

 private:
  bool is_of_use(const KernelEvent& event);
  void push(const KernelEvent& event);
  void push_loss(std::uint32_t cpu, std::uint64_t events);
  void put_dropped();
  void note_dropped();
  bool send();

  Link& link_;
  EventDecoder decoder_;
  std::vector<unsigned> cpus_;
  boost::unordered_flat_set<std::uint64_t> timers_;  // that were started
  WokenTasks woken_;
  std::vector<KernelEvent> batch_;
  std::map<std::uint32_t, std::uint64_t> dropped_;  // by CPU
  std::int64_t last_ns_ = 0;
  wire::DatagramWriter datagram_{0};
};

}  // namespace tallyfs
