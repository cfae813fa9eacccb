// Sends what the threads' buffers hold, makes room in them, and counts what became of samples that
// go over the socket.
//
// Thread-safe: a buffer is sent under its own mutex, all the rest is atomic. Signal-safe. A thread
// blocks in make_space() alone, for ClientSettings::wait_max at most.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "feeders/client/client_settings.h"
#include "feeders/client/conversation.h"
#include "feeders/client/inherited_switches.h"
#include "feeders/client/link.h"
#include "feeders/client/packer.h"
#include "feeders/client/sample_time.h"
#include "feeders/client/thread_buffers.h"
#include "feeders/client/upkeep_signals.h"

namespace tallyfs {

class Delivery {
 public:
  enum class Drained {
    kAll,      // but for less than `at_least`
    kFull,     // the daemon's queue has no room
    kGone,     // there is no daemon
    kUnknown,  // a statistic has no number yet, or a replay comes first
  };

  struct Dependencies {
    const ClientSettings& settings;
    const ThreadBuffers& buffers;
    SampleTime& time;
    Link& link;
    UpkeepSignals& upkeep;
    const InheritedSwitches& inherited;
  };
  explicit Delivery(const Dependencies& dependencies) : its_(dependencies) {}

  // ---- sending

  // Sends datagrams until less than at_least samples are left.
  Drained drain(ThreadBuffer& buffer, std::uint64_t at_least) REQUIRES(buffer.mutex());
  Drained drain_all();
  // Drains the buffer, unless the daemon's queue is full.
  void send_now(ThreadBuffer& buffer);
  // Sends a datagram of the buffer, or waits, as it is due. False: there is no space for a sample.
  bool make_space(ThreadBuffer& buffer);
  // Where the owner of the buffer has to call make_space() next.
  void set_stop(ThreadBuffer& buffer) REQUIRES(buffer.mutex());

  // ---- records of an earlier daemon's rings: while a replay is on, no other buffer is drained

  bool is_replaying() const { return replaying_.load(std::memory_order_relaxed); }
  void set_replaying(bool on) { replaying_ = on; }
  ThreadBuffer* replay_buffer() const { return replay_buffer_; }
  void set_replay_buffer(ThreadBuffer* buffer) { replay_buffer_ = buffer; }

  // ---- the daemon

  std::uint64_t epoch() const { return epoch_.load(); }
  // Returns the epoch before.
  std::uint64_t enter_epoch(std::uint64_t epoch) { return epoch_.exchange(epoch); }
  // The daemon has processed all that was sent before, or has lost some of it.
  void confirm(std::uint64_t sent_before, Conversation::Taken taken);
  // The daemon is gone: what it has not confirmed does not count for another one.
  void lose_unconfirmed() { lost_.store(sent() - confirmed()); }
  // A thread that waited for room in vain does so again.
  void expect_room() { waited_in_vain_ = false; }

  // ---- counts

  void count_sent_records(std::uint64_t records) { sent_ += records; }
  std::uint64_t sent() const { return sent_.load(); }
  std::uint64_t refused() const { return refused_.load(); }
  std::uint64_t confirmed() const { return confirmed_.load(); }
  std::uint64_t lost() const { return lost_.load(); }
  bool is_confirmed(std::uint64_t sent) const { return confirmed() + lost() >= sent; }
  // In a forked child, which counts its own samples.
  void reset_in_child();

 private:
  bool can_send() const { return its_.link.connected() && !its_.link.full(); }
  bool wait_for_space(ThreadBuffer& buffer);
  void request_again(FedStatistic& statistic);

  const Dependencies its_;
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<bool> waited_in_vain_{false};
  std::atomic<bool> replaying_{false};
  std::atomic<ThreadBuffer*> replay_buffer_{nullptr};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> refused_{0};  // samples of statistics that the daemon would not have
  std::atomic<std::uint64_t> confirmed_{0};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace tallyfs
