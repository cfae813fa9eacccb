// What the C functions of statistic.h stand on; see there for what it promises. It brings together
// the buffers (threads' samples), the Registry (what they are samples of), the Link (the socket)
// and the Conversation (requests and responses) with its users: Registrar, Publisher and EventFeed.
//
// Threads: those of the program, and one of its own, the keeper, which sends what has waited long
// enough, finds the daemon, and registers. Lock order: Client::mutex_, then a buffer's. The way of
// a sample takes neither until a datagram is full, and then only its own buffer's, which the keeper
// holds for the length of a send(2).
// Longer than most: all parts of the library meet here.
// Bounded: kThreadsMax threads at a time; samples of further ones are dropped and counted.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"
#include "core/lane/ring_reader.h"
#include "feeders/client/cell_file.h"
#include "feeders/client/conversation.h"
#include "feeders/client/deferred_removal.h"
#include "feeders/client/event_feed.h"
#include "feeders/client/keeper_sleep.h"
#include "feeders/client/link.h"
#include "feeders/client/packer.h"
#include "feeders/client/publisher.h"
#include "feeders/client/registrar.h"
#include "feeders/client/registry.h"
#include "feeders/client/sample_time.h"
#include "feeders/client/shapes.h"
#include "feeders/client/socket_path.h"
#include "feeders/client/switches.h"
#include "feeders/client/thread_buffer.h"

namespace tallyfs {

class Client {
 public:
  static constexpr std::size_t kThreadsMax = 1024;
  // Reports that wait for the keeper to deliver them; of more, the oldest are forgotten.
  static constexpr std::size_t kReportsMax = 64;

  struct Settings {
    SocketPath socket;
    std::chrono::microseconds delay{10'000};
    std::chrono::milliseconds wait_max{0};
    std::size_t held_max = 65'536;  // a power of two
    void (*report)(const char* text, void* context) = nullptr;
    void* context = nullptr;
    bool has_lane = true;
  };
  using Time = std::chrono::nanoseconds;
  static constexpr Time kConnectPauseMin = std::chrono::milliseconds(50);

  explicit Client(Settings settings);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // ---- of statistic.h; a negative errno where there is an int

  int create_interface(FedInterface** interface, std::string_view name, unsigned flags)
      EXCLUDES(mutex_);
  int create_statistic(FedStatistic** statistic, FedInterface& interface, std::string_view name,
                       std::string_view units) EXCLUDES(mutex_);
  int create_view(FedStatistic** view, FedStatistic& source, std::string_view name)
      EXCLUDES(mutex_);
  enum class InTree { kRemove, kLeave };
  void drop(FedInterface& interface, InTree in_tree) EXCLUDES(mutex_);
  void drop(FedStatistic& statistic, InTree in_tree) EXCLUDES(mutex_);
  int define(FedStatistic& statistic, std::string type) EXCLUDES(mutex_);
  int switch_on(FedStatistic& statistic) EXCLUDES(mutex_);
  int switch_off(FedStatistic& statistic) EXCLUDES(mutex_);
  int reset(FedStatistic& statistic) EXCLUDES(mutex_);
  int flush() EXCLUDES(mutex_);
  int sync(std::chrono::milliseconds time_max) EXCLUDES(mutex_);
  void count(statistic_counts& counts) const;

  // ---- of publish.h

  int create_object(FedObject** object, std::string_view subsystem, std::string_view name,
                    unsigned flags, Publisher::Holder holder) EXCLUDES(mutex_);
  void remove_object(FedObject& object) EXCLUDES(mutex_);
  int publish(FedObject& object, std::string_view blob) EXCLUDES(mutex_);
  int publish(std::string_view subsystem, std::string_view name, std::string_view blob)
      EXCLUDES(mutex_);
  // name empty: the subsystem. -ENOENT also for what has a handle.
  int withdraw(std::string_view subsystem, std::string_view name) EXCLUDES(mutex_);
  int follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                   std::size_t context_bytes, std::string rates) EXCLUDES(mutex_);

  // ---- of event.h

  int register_event(FedEvent** event, std::string_view system, std::string_view name,
                     std::string_view fields) EXCLUDES(mutex_);
  void unregister(FedEvent& event) EXCLUDES(mutex_);
  int write_event(FedEvent& event, const void* fields, std::size_t bytes) EXCLUDES(mutex_);

  // ---- samples

  // What a thread that found no buffer remembers, so that it need not look for one with every
  // sample.
  struct BufferSearch {
    std::uint64_t in_vain = 0;  // 1 more than the buffers that had been given back then
  };
  // A buffer for the calling thread; nullptr: there are kThreadsMax, or no memory. Signal-safe.
  ThreadBuffer* own_buffer(BufferSearch& search);
  // The thread's samples are sent, and another thread may take the buffer.
  void give_back_buffer(ThreadBuffer& buffer);
  // The keeper takes the buffer back when the calling thread, its owner, no longer exists: for
  // threads whose end gives no notification. Their samples are sent with those of the others.
  // Signal-safe.
  static void watch_buffer(ThreadBuffer& buffer);

  // Without a buffer: the sample is dropped, and counted.
  void drop_sample(FedStatistic& statistic);
  // stamp: what says when it was taken; called only where there is room.
  template <typename TakeStamp>
  void add(ThreadBuffer& buffer, FedStatistic& statistic, std::int64_t x, std::uint64_t y,
           TakeStamp&& stamp) {
    const std::uint32_t way = statistic.way();
    if (FedStatistic::is_cell(way) && count_in_cell(buffer, statistic, x, y)) return;
    if (FedStatistic::is_ring(way) && put_in_ring(buffer, statistic, {way, x, y}, stamp)) return;
    if (buffer.is_inside()) [[unlikely]] {
      return add_nested(buffer, UnsentSample(statistic, x, y, stamp()));
    }
    buffer.enter();
    if (buffer.below_stop() || look_around(buffer, statistic)) [[likely]] {
      buffer.append(UnsentSample(statistic, x, y, stamp()));
      buffer.ring().end(statistic);
      if (sends_each()) [[unlikely]]
        send_each(buffer);
    }
    leave(buffer);
  }
  // The same for one sample, as short as it can be: where nothing has to be looked after, this and
  // one of count_and_leave() are all there is. What has is elsewhere, so that no register need be
  // saved here.
  [[gnu::always_inline]] void add_now(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                                      std::uint64_t y) {
    const std::uint32_t way = statistic.way();
    if (buffer && !buffer->is_inside()) [[likely]] {
      if (FedStatistic::is_cell(way)) [[likely]] {
        buffer->enter();
        if (LaneCell* const cell = buffer->cells().find(statistic, cell_files_)) [[likely]]
          return count_and_leave(*buffer, *cell, x, y);
        buffer->leave();
      } else if (FedStatistic::is_ring(way) && (way & kWayNeedsTime) == 0) {
        return add_to_ring(*buffer, statistic, way, x, y);
      }
    }
    add_now_otherwise(buffer, statistic, x, y);
  }
  // Samples of one statistic, in one pass as far as nothing has to be looked after; buffer as in
  // add_now(). What the statistic becomes meanwhile holds for the next 64.
  void add_batch(ThreadBuffer* buffer, FedStatistic& statistic,
                 std::span<const statistic_sample> samples);
  // Samples of many statistics; buffer as in add_now().
  void add_each(ThreadBuffer* buffer, std::span<const statistic_entry> entries);
  // False: the sample goes another way.
  bool count_in_cell(ThreadBuffer& buffer, FedStatistic& statistic, std::int64_t x,
                     std::uint64_t y) {
    if (buffer.is_inside()) [[unlikely]]
      return false;
    buffer.enter();
    LaneCell* const cell = cell_of(buffer, statistic);
    if (cell) [[likely]] {
      CellWriter(*cell).add(x, y);
      buffer.count_cell();
    }
    buffer.leave();
    if (buffer.has_nested()) [[unlikely]]
      take_nested(buffer);
    return cell != nullptr;
  }
  // A sample, and what the switch says of its way.
  struct OnItsWay {
    std::uint32_t way = 0;
    std::int64_t x = 0;
    std::uint64_t y = 1;
  };
  // The same for a ring; a sample that finds no room in it is dropped, if its daemon lives.
  template <typename TakeStamp>
  bool put_in_ring(ThreadBuffer& buffer, FedStatistic& statistic, const OnItsWay& sample,
                   TakeStamp&& stamp) {
    if (buffer.is_inside()) [[unlikely]]
      return false;
    buffer.enter();
    RingRoom room = RingRoom::kElsewhere;
    if (buffer.ring().takes(statistic, cell_files_) || prepare_ring(buffer, statistic)) [[likely]] {
      room = buffer.ring().has_room() ? RingRoom::kThere : make_room_in_ring(buffer, statistic);
      if (room == RingRoom::kThere) [[likely]]
        put_inside(buffer, statistic, sample, stamp);
    }
    buffer.leave();
    if (buffer.has_nested()) [[unlikely]]
      take_nested(buffer);
    return room != RingRoom::kElsewhere;
  }
  Stamp now() { return {Stamp::Scale::kCycles, time_.cycles()}; }
  // To be called when a buffer's owner leaves the library.
  void leave(ThreadBuffer& buffer) {
    buffer.leave();
    if (buffer.has_nested()) [[unlikely]]
      take_nested(buffer);
  }
  void leave_call(ThreadBuffer& buffer) {
    buffer.leave_call();
    if (buffer.has_nested()) [[unlikely]]
      take_nested(buffer);
  }

  // ---- the keeper; tests may call pass() themselves instead

  // -EAGAIN: no thread can be started.
  int start_keeper();
  // Ends the keeper, after what is held was sent as far as that is possible in time_max.
  void finish(std::chrono::milliseconds time_max) EXCLUDES(mutex_);
  // One round of what the keeper does. Returns when the next one is due at the latest.
  Time pass() EXCLUDES(mutex_);
  // After a round when nothing is due. False: something is, since.
  bool fall_asleep() EXCLUDES(mutex_);

  // ---- fork; the forking thread calls the first before, and one of the others after

  // own: the forking thread's buffer, if it has one. The other threads are not in the child.
  void before_fork(const ThreadBuffer* own = nullptr) NO_THREAD_SAFETY_ANALYSIS;
  void after_fork_in_parent(const ThreadBuffer* own = nullptr) NO_THREAD_SAFETY_ANALYSIS;
  void after_fork_in_child(ThreadBuffer* own) NO_THREAD_SAFETY_ANALYSIS;
  // A child that makes no call, such as one that calls exec(), gets no keeper and no responses of
  // the daemon. Any call wakes the library up: adding samples by make_room(), the rest by this.
  void wake_up_in_child() EXCLUDES(mutex_) {
    if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      wake_up();
  }

 private:
  static Time now_ns() { return Time(monotonic_ns()); }

  enum class Drained {
    kAll,      // but for less than `at_least`
    kFull,     // the daemon's queue is
    kGone,     // there is no daemon
    kUnknown,  // the daemon has not given a number yet
  };

  // Inside the buffer: counts the sample, and leaves.
  [[gnu::always_inline]] void count_and_leave(ThreadBuffer& buffer, LaneCell& cell, std::int64_t x,
                                              std::uint64_t y) {
    CellWriter writer(cell);
    switch (writer.kind()) {
      case CellKind::kIncrements:
        if (!writer.add_in_place(x, y)) [[unlikely]]
          break;
        buffer.count_cell();
        return leave(buffer);
      case CellKind::kRange:
        return count_as<CellKind::kRange>(buffer, cell, x, y);
      case CellKind::kArrayLog2:
        return count_as<CellKind::kArrayLog2>(buffer, cell, x, y);
      case CellKind::kArrayLin:
        return count_as<CellKind::kArrayLin>(buffer, cell, x, y);
      case CellKind::kProducts:
        return count_as<CellKind::kProducts>(buffer, cell, x, y);
      case CellKind::kNone:
        break;
    }
    count_as<CellKind::kIncrements>(buffer, cell, x, y);
  }
  // The same, each with its own registers.
  template <CellKind of>
  [[gnu::noinline]] void count_as(ThreadBuffer& buffer, LaneCell& cell, std::int64_t x,
                                  std::uint64_t y) {
    CellWriter(cell).add_as<of>(x, y);
    buffer.count_cell();
    leave(buffer);
  }
  void add_to_ring(ThreadBuffer& buffer, FedStatistic& statistic, std::uint32_t way, std::int64_t x,
                   std::uint64_t y);
  void add_now_otherwise(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                         std::uint64_t y);
  [[gnu::cold]] void add_now_slowly(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                                    std::uint64_t y);
  int set_started(FedStatistic& statistic, bool on) EXCLUDES(mutex_);
  // The first ones, which need nothing but a cell, or places below the buffer's stop. How many.
  std::size_t add_easily(ThreadBuffer& buffer, FedStatistic& statistic,
                         std::span<const statistic_sample> samples, Stamp now);
  void add_nested(ThreadBuffer& buffer, const UnsentSample& entry);
  // A buffer that its owner is not inside of.
  void prefetch_cells(ThreadBuffer& buffer, std::span<const statistic_entry> entries);
  // Inside the buffer, whose ring has room.
  template <typename TakeStamp>
  void put_inside(ThreadBuffer& buffer, const FedStatistic& statistic, const OnItsWay& sample,
                  TakeStamp&& stamp) {
    std::uint32_t follows = (sample.way & kWayNeedsY) != 0 && sample.y != 1 ? kRecordY : 0;
    std::uint64_t time = 0;
    if ((sample.way & kWayNeedsTime) != 0) {
      const Stamp taken = stamp();
      const bool is_cycles = taken.scale == Stamp::Scale::kCycles && time_.is_counter() &&
                             buffer.ring().takes_cycles();
      follows |= is_cycles ? kRecordCycles : kRecordNs;
      time = is_cycles ? taken.value : in_ns(taken);
    }
    buffer.ring().put(statistic, follows, sample.x, sample.y, time);
    buffer.count_in_ring();
  }
  std::uint64_t in_ns(const Stamp& stamp);
  // Inside the buffer. False: samples of the statistic go another way, for now.
  [[gnu::cold]] bool prepare_ring(ThreadBuffer& buffer, FedStatistic& statistic);
  enum class RingRoom {
    kThere,
    kDropped,    // there was none, and the sample is dropped and counted
    kElsewhere,  // the ring's daemon is gone, and the sample goes another way
  };
  // The same.
  [[gnu::cold]] RingRoom make_room_in_ring(ThreadBuffer& buffer, FedStatistic& statistic);
  RingRoom wait_for_room_in_ring(ThreadBuffer& buffer, std::uint32_t generation);
  // False: the daemon does not hear it.
  bool ring_doorbell(ThreadBuffer& buffer);
  bool put_nested_in_ring(ThreadBuffer& buffer, const UnsentSample& entry);
  // Inside the buffer. Nullptr: there is none, but may be when the keeper has asked for it.
  LaneCell* cell_of(ThreadBuffer& buffer, FedStatistic& statistic) {
    LaneCell* cell = buffer.cells().find(statistic, cell_files_);
    if (!cell) [[unlikely]]
      cell = prepare_cell(buffer, statistic);
    return cell;
  }
  [[gnu::cold]] LaneCell* prepare_cell(ThreadBuffer& buffer, FedStatistic& statistic);
  void let_go_of_cell_files() REQUIRES(mutex_);
  std::uint64_t counted_in_cells() const;
  void settle_cells() REQUIRES(mutex_);
  // Samples that were put into rings and not taken back, and of them those that a daemon has taken.
  struct InRings {
    std::uint64_t sent = 0;
    std::uint64_t confirmed = 0;
  };
  InRings in_rings() const;
  bool take_rest(const CellFile& file, const LaneTails& tails) REQUIRES(mutex_);
  void read_rest(const CellFile& file, const LaneTails& tails) REQUIRES(mutex_);
  void settle_rings(const CellFile& file, const LaneTails& tails) REQUIRES(mutex_);
  void send_rest(Time now) REQUIRES(mutex_);
  // Records of an earlier daemon's rings are not sent yet.
  bool has_rest() const REQUIRES(mutex_) {
    return rest_first_ || rest_buffer_.load() != nullptr || cell_files_.has_rest();
  }
  void let_go_of_removed() REQUIRES(mutex_);
  // How far threads were with their rings, for those that wait until the daemon is as far.
  struct RingHeads {
    std::uint32_t generation = 0;
    std::vector<std::uint64_t> heads;
  };
  RingHeads ring_heads() const REQUIRES(mutex_);
  bool are_taken(const RingHeads& rings) const REQUIRES(mutex_);
  [[gnu::cold]] void take_nested(ThreadBuffer& buffer);
  void forget_parents_call(ThreadBuffer& buffer);
  // Where the buffer's stop is reached. False: the sample is not taken.
  bool look_around(ThreadBuffer& buffer, FedStatistic& statistic);
  // Sends, or waits, as it is due. False: there is no room, and the sample is dropped and counted.
  bool make_room(ThreadBuffer& buffer, FedStatistic& statistic);
  bool can_send() const { return link_.connected() && !link_.full(); }
  bool sends_each() const { return settings_.delay.count() == 0; }
  void send_each(ThreadBuffer& buffer);
  bool wait_for_room(ThreadBuffer& buffer);
  void set_stop(ThreadBuffer& buffer) REQUIRES(buffer.mutex());
  void wake_up() EXCLUDES(mutex_);
  void restore_switches() REQUIRES(mutex_);
  // Sends datagrams until less than at_least samples are left.
  Drained drain(ThreadBuffer& buffer, std::uint64_t at_least) REQUIRES(buffer.mutex());
  Drained drain_all() REQUIRES(mutex_);
  template <typename Do>
  void for_each_buffer(Do&& what) const {
    for (const auto& place : buffers_) {
      ThreadBuffer* const buffer = place.load(std::memory_order_acquire);
      if (!buffer) return;  // they fill up from the front
      what(*buffer);
    }
  }

  enum class Urgency { kWhenDue, kNow };
  void pass_locked(Time now, Urgency urgency) REQUIRES(mutex_);
  void send_what_waits(Time now) REQUIRES(mutex_);
  void send_records() REQUIRES(mutex_);
  void note_records() REQUIRES(mutex_);
  bool has_records() EXCLUDES(mutex_);
  Time tick() const;
  void reach_daemon(Time now) REQUIRES(mutex_);
  void note_answer() REQUIRES(mutex_);
  void tell_sending() REQUIRES(mutex_);
  void lose_daemon(Time now) REQUIRES(mutex_);
  void keep_in_touch(Time now) REQUIRES(mutex_);
  void report_dropped() REQUIRES(mutex_);
  void note_unsent() EXCLUDES(mutex_);
  void confirm(std::uint64_t sent_before, Conversation::Taken taken) REQUIRES(mutex_);
  void change_epoch(std::uint64_t epoch) REQUIRES(mutex_);
  void note_report(std::string text) REQUIRES(mutex_);
  void tell_reports() EXCLUDES(mutex_);
  void tell_rates(const std::vector<Publisher::NewRates>& new_rates) EXCLUDES(mutex_);
  Time next_due(Time now) REQUIRES(mutex_);
  static void* run_keeper(void* client);
  void keep();
  void wait_for_responses(Time time_max) const;
  std::uint64_t dropped() const;
  std::uint64_t held() const;
  void pass_through_buffers();
  void take_back_buffers(Time now) REQUIRES(mutex_);
  void send_next_by_socket(FedStatistic& statistic) REQUIRES(mutex_);
  void raise_barriers() REQUIRES(mutex_);
  void lower_barriers() REQUIRES(mutex_);
  void register_and_change(Time now) REQUIRES(mutex_);
  void register_soon() REQUIRES(mutex_);
  void drop_locked(FedStatistic& statistic, InTree in_tree) REQUIRES(mutex_);
  void make_void(const FedStatistic& statistic);
  DeferredRemoval::Buffers buffers() const;
  void pass_on(FedStatistic& statistic) REQUIRES(mutex_);
  // Does the keeper's rounds until check(), called with mutex_ held, says something else than
  // -EINPROGRESS. At the deadline -ENOTCONN or -ETIMEDOUT.
  int wait_until(Time deadline, const std::function<int()>& check) EXCLUDES(mutex_);

  const Settings settings_;
  SampleTime time_;
  std::array<std::atomic<ThreadBuffer*>, kThreadsMax> buffers_{};
  std::atomic<std::uint64_t> buffers_given_back_{0};
  KeeperSleep sleep_;
  CellFiles cell_files_;
  Link link_;
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<bool> waited_in_vain_{false};
  // A forked child has not done anything yet: its switches are all kAsleep, its buffers' stops 0.
  std::atomic<bool> asleep_{false};
  // A buffer holds samples of a statistic that is gone from the tree, or a thread would count some
  // in a cell: a request for it is due.
  std::atomic<bool> wanted_{false};

  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> refused_{0};  // samples of statistics that the daemon would not have
  std::atomic<std::uint64_t> bufferless_{0};  // samples of threads beyond kThreadsMax
  // Of lane files of earlier daemons: what they took out of rings, and what was taken back.
  std::atomic<std::uint64_t> settled_in_rings_{0}, returned_{0};
  // What was taken back, or is to be, is sent before what threads hold.
  std::atomic<bool> rest_first_{false};
  // The keeper has not looked after the last doorbell yet.
  std::atomic<bool> has_rung_{false};
  std::atomic<ThreadBuffer*> rest_buffer_{nullptr};

  mutable Mutex mutex_{LockRank::kClient};
  Registry registry_ GUARDED_BY(mutex_);
  Switches switches_ GUARDED_BY(mutex_);
  Shapes shapes_ GUARDED_BY(mutex_);
  Conversation conversation_ GUARDED_BY(mutex_);
  Registrar registrar_ GUARDED_BY(mutex_);
  Publisher publisher_ GUARDED_BY(mutex_);
  EventFeed events_ GUARDED_BY(mutex_);
  // Its counts, which others read.
  std::atomic<std::uint64_t> records_added_{0}, records_held_{0}, records_dropped_{0};
  // Rings of an earlier daemon's lane file, as far as they are not taken back yet.
  struct Rest {
    RingReader ring;
    std::uint64_t head = 0;
  };
  std::vector<Rest> rest_ GUARDED_BY(mutex_);
  bool has_read_rest_ GUARDED_BY(mutex_) = false;
  Time rest_until_ GUARDED_BY(mutex_){0};
  std::uint64_t rest_sent_ GUARDED_BY(mutex_) = 0;  // when rest_until_ was set
  DeferredRemoval deferred_removal_ GUARDED_BY(mutex_){registry_};
  std::deque<std::string> reports_ GUARDED_BY(mutex_);
  // The keeper's, which changes them under mutex_ only: a forked child finds them whole, and they
  // are not lost with the stack of a thread that it does not have.
  std::deque<std::string> telling_;
  // Buffers that before_fork() locked; there may be more when it is over.
  std::size_t locked_buffers_ GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> confirmed_{0};
  std::atomic<std::uint64_t> lost_{0};
  // What was counted in cells of daemons that ended without reading them.
  std::atomic<std::uint64_t> lost_in_cells_{0};
  // Of the samples counted in cells, those for daemons that have ended.
  std::uint64_t settled_in_cells_ GUARDED_BY(mutex_) = 0;
  enum class CellsEnd { kNone, kRead, kUnread };
  CellsEnd cells_end_ GUARDED_BY(mutex_) = CellsEnd::kNone;  // of the last daemon; not settled yet
  std::uint64_t reported_dropped_ GUARDED_BY(mutex_) = 0;

  // Zero is long ago.
  Time connect_at_ GUARDED_BY(mutex_){0};
  Time connect_pause_ GUARDED_BY(mutex_);
  Time touched_at_ GUARDED_BY(mutex_){0};
  Time active_until_ GUARDED_BY(mutex_){0};
  Time register_at_ GUARDED_BY(mutex_){0};
  Time send_at_ GUARDED_BY(mutex_){0};
  Time buffers_seen_at_ GUARDED_BY(mutex_){0};
  Time drain_at_ GUARDED_BY(mutex_){0};
  Time check_time_at_ GUARDED_BY(mutex_){0};
  // Changes and new views wait for room in the queue, and samples for them.
  bool has_barriers_ GUARDED_BY(mutex_) = false;
  bool was_connected_ GUARDED_BY(mutex_) = false;
  bool told_missing_ GUARDED_BY(mutex_) = false;
  bool told_sending_ GUARDED_BY(mutex_) = false;  // to this daemon

  std::atomic<bool> keeper_runs_{false};
  std::atomic<bool> ending_{false};
  pthread_t keeper_{};
};

}  // namespace tallyfs
