// What the C functions of statistic.h stand on; see there for what it promises. It brings together
// the lanes (threads' samples), the Registry (what they are samples of), the Link (the socket) and
// the Conversation (requests and responses) with its users: Registrar, Publisher and EventFeed.
//
// Threads: those of the program, and one of its own, the keeper, which sends what has waited long
// enough, finds the daemon, and registers. Lock order: Client::mutex_, then a lane's. The way of a
// sample takes neither until a datagram is full, and then only its own lane's, which the keeper
// holds for the length of a send(2).
// Longer than most: all parts of the library meet here.
// Bounded: kLanesMax threads at a time; samples of further ones are dropped and counted.
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
#include "feeders/client/lane.h"
#include "feeders/client/link.h"
#include "feeders/client/packer.h"
#include "feeders/client/publisher.h"
#include "feeders/client/registrar.h"
#include "feeders/client/registry.h"
#include "feeders/client/sample_time.h"
#include "feeders/client/shapes.h"
#include "feeders/client/socket_path.h"
#include "feeders/client/switches.h"

namespace tallyfs {

class Client {
 public:
  static constexpr std::size_t kLanesMax = 1024;
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

  // What a thread that found no lane remembers, so that it need not look for one with every sample.
  struct LaneSearch {
    std::uint64_t in_vain = 0;  // 1 more than the lanes that had been given back then
  };
  // A lane for the calling thread; nullptr: there are kLanesMax, or no memory. Signal-safe.
  Lane* own_lane(LaneSearch& search);
  // The thread's samples are sent, and another thread may take the lane.
  void disown_lane(Lane& lane);
  // The keeper takes the lane back when the calling thread, its owner, no longer exists: for
  // threads whose end gives no notification. Their samples are sent with those of the others.
  // Signal-safe.
  static void watch_lane(Lane& lane);

  // Without a lane: the sample is dropped, and counted.
  void drop_sample(FedStatistic& statistic);
  // stamp: what says when it was taken; called only where there is room.
  template <typename TakeStamp>
  void add(Lane& lane, FedStatistic& statistic, std::int64_t x, std::uint64_t y,
           TakeStamp&& stamp) {
    const std::uint32_t way = statistic.way();
    if (FedStatistic::is_cell(way) && count_in_cell(lane, statistic, x, y)) return;
    if (FedStatistic::is_ring(way) && put_in_ring(lane, statistic, {way, x, y}, stamp)) return;
    if (lane.is_inside()) [[unlikely]] {
      return add_nested(lane, Entry(statistic, x, y, stamp()));
    }
    lane.enter();
    if (lane.below_stop() || look_around(lane, statistic)) [[likely]] {
      lane.append(Entry(statistic, x, y, stamp()));
      lane.ring().end(statistic);
      if (sends_each()) [[unlikely]]
        send_each(lane);
    }
    leave(lane);
  }
  // The same for one sample, as short as it can be: where nothing has to be looked after, this and
  // one of count_and_leave() are all there is. What has is elsewhere, so that no register need be
  // saved here.
  [[gnu::always_inline]] void add_now(Lane* lane, FedStatistic& statistic, std::int64_t x,
                                      std::uint64_t y) {
    const std::uint32_t way = statistic.way();
    if (lane && !lane->is_inside()) [[likely]] {
      if (FedStatistic::is_cell(way)) [[likely]] {
        lane->enter();
        if (LaneCell* const cell = lane->cells().find(statistic, cell_files_)) [[likely]]
          return count_and_leave(*lane, *cell, x, y);
        lane->leave();
      } else if (FedStatistic::is_ring(way) && (way & kWayNeedsTime) == 0) {
        return add_to_ring(*lane, statistic, way, x, y);
      }
    }
    add_now_otherwise(lane, statistic, x, y);
  }
  // Samples of one statistic, in one pass as far as nothing has to be looked after; lane as in
  // add_now(). What the statistic becomes meanwhile holds for the next 64.
  void add_batch(Lane* lane, FedStatistic& statistic, std::span<const statistic_sample> samples);
  // Samples of many statistics; lane as in add_now().
  void add_each(Lane* lane, std::span<const statistic_entry> entries);
  // False: the sample goes another way.
  bool count_in_cell(Lane& lane, FedStatistic& statistic, std::int64_t x, std::uint64_t y) {
    if (lane.is_inside()) [[unlikely]]
      return false;
    lane.enter();
    LaneCell* const cell = cell_of(lane, statistic);
    if (cell) [[likely]] {
      CellWriter(*cell).add(x, y);
      lane.count_cell();
    }
    lane.leave();
    if (lane.has_nested()) [[unlikely]]
      take_nested(lane);
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
  bool put_in_ring(Lane& lane, FedStatistic& statistic, const OnItsWay& sample, TakeStamp&& stamp) {
    if (lane.is_inside()) [[unlikely]]
      return false;
    lane.enter();
    RingRoom room = RingRoom::kElsewhere;
    if (lane.ring().takes(statistic, cell_files_) || prepare_ring(lane, statistic)) [[likely]] {
      room = lane.ring().has_room() ? RingRoom::kThere : make_room_in_ring(lane, statistic);
      if (room == RingRoom::kThere) [[likely]]
        put_inside(lane, statistic, sample, stamp);
    }
    lane.leave();
    if (lane.has_nested()) [[unlikely]]
      take_nested(lane);
    return room != RingRoom::kElsewhere;
  }
  Stamp now() { return {Stamp::Scale::kCycles, time_.cycles()}; }
  // To be called when a lane's owner leaves the library.
  void leave(Lane& lane) {
    lane.leave();
    if (lane.has_nested()) [[unlikely]]
      take_nested(lane);
  }
  void leave_call(Lane& lane) {
    lane.leave_call();
    if (lane.has_nested()) [[unlikely]]
      take_nested(lane);
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

  // own: the forking thread's lane, if it has one. The other threads are not in the child.
  void before_fork(const Lane* own = nullptr) NO_THREAD_SAFETY_ANALYSIS;
  void after_fork_in_parent(const Lane* own = nullptr) NO_THREAD_SAFETY_ANALYSIS;
  void after_fork_in_child(Lane* own) NO_THREAD_SAFETY_ANALYSIS;
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

  // Inside the lane: counts the sample, and leaves.
  [[gnu::always_inline]] void count_and_leave(Lane& lane, LaneCell& cell, std::int64_t x,
                                              std::uint64_t y) {
    CellWriter writer(cell);
    switch (writer.kind()) {
      case CellKind::kIncrements:
        if (!writer.add_in_place(x, y)) [[unlikely]]
          break;
        lane.count_cell();
        return leave(lane);
      case CellKind::kRange:
        return count_as<CellKind::kRange>(lane, cell, x, y);
      case CellKind::kArrayLog2:
        return count_as<CellKind::kArrayLog2>(lane, cell, x, y);
      case CellKind::kArrayLin:
        return count_as<CellKind::kArrayLin>(lane, cell, x, y);
      case CellKind::kProducts:
        return count_as<CellKind::kProducts>(lane, cell, x, y);
      case CellKind::kNone:
        break;
    }
    count_as<CellKind::kIncrements>(lane, cell, x, y);
  }
  // The same, each with its own registers.
  template <CellKind of>
  [[gnu::noinline]] void count_as(Lane& lane, LaneCell& cell, std::int64_t x, std::uint64_t y) {
    CellWriter(cell).add_as<of>(x, y);
    lane.count_cell();
    leave(lane);
  }
  void add_to_ring(Lane& lane, FedStatistic& statistic, std::uint32_t way, std::int64_t x,
                   std::uint64_t y);
  void add_now_otherwise(Lane* lane, FedStatistic& statistic, std::int64_t x, std::uint64_t y);
  [[gnu::cold]] void add_now_slowly(Lane* lane, FedStatistic& statistic, std::int64_t x,
                                    std::uint64_t y);
  int set_started(FedStatistic& statistic, bool on) EXCLUDES(mutex_);
  // The first ones, which need nothing but a cell, or places below the lane's stop. How many.
  std::size_t add_easily(Lane& lane, FedStatistic& statistic,
                         std::span<const statistic_sample> samples, Stamp now);
  void add_nested(Lane& lane, const Entry& entry);
  // A lane that its owner is not inside of.
  void prefetch_cells(Lane& lane, std::span<const statistic_entry> entries);
  // Inside the lane, whose ring has room.
  template <typename TakeStamp>
  void put_inside(Lane& lane, const FedStatistic& statistic, const OnItsWay& sample,
                  TakeStamp&& stamp) {
    std::uint32_t follows = (sample.way & kWayNeedsY) != 0 && sample.y != 1 ? kRecordY : 0;
    std::uint64_t time = 0;
    if ((sample.way & kWayNeedsTime) != 0) {
      const Stamp taken = stamp();
      const bool is_cycles =
          taken.scale == Stamp::Scale::kCycles && time_.is_counter() && lane.ring().takes_cycles();
      follows |= is_cycles ? kRecordCycles : kRecordNs;
      time = is_cycles ? taken.value : in_ns(taken);
    }
    lane.ring().put(statistic, follows, sample.x, sample.y, time);
    lane.count_in_ring();
  }
  std::uint64_t in_ns(const Stamp& stamp);
  // Inside the lane. False: samples of the statistic go another way, for now.
  [[gnu::cold]] bool prepare_ring(Lane& lane, FedStatistic& statistic);
  enum class RingRoom {
    kThere,
    kDropped,    // there was none, and the sample is dropped and counted
    kElsewhere,  // the ring's daemon is gone, and the sample goes another way
  };
  // The same.
  [[gnu::cold]] RingRoom make_room_in_ring(Lane& lane, FedStatistic& statistic);
  RingRoom wait_for_room_in_ring(Lane& lane, std::uint32_t generation);
  // False: the daemon does not hear it.
  bool ring_doorbell(Lane& lane);
  bool put_nested_in_ring(Lane& lane, const Entry& entry);
  // Inside the lane. Nullptr: there is none, but may be when the keeper has asked for it.
  LaneCell* cell_of(Lane& lane, FedStatistic& statistic) {
    LaneCell* cell = lane.cells().find(statistic, cell_files_);
    if (!cell) [[unlikely]]
      cell = prepare_cell(lane, statistic);
    return cell;
  }
  [[gnu::cold]] LaneCell* prepare_cell(Lane& lane, FedStatistic& statistic);
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
    return rest_first_ || rest_lane_.load() != nullptr || cell_files_.has_rest();
  }
  void let_go_of_removed() REQUIRES(mutex_);
  // How far threads were with their rings, for those that wait until the daemon is as far.
  struct RingHeads {
    std::uint32_t generation = 0;
    std::vector<std::uint64_t> heads;
  };
  RingHeads ring_heads() const REQUIRES(mutex_);
  bool are_taken(const RingHeads& rings) const REQUIRES(mutex_);
  [[gnu::cold]] void take_nested(Lane& lane);
  void forget_parents_call(Lane& lane);
  // Where the lane's stop is reached. False: the sample is not taken.
  bool look_around(Lane& lane, FedStatistic& statistic);
  // Sends, or waits, as it is due. False: there is no room, and the sample is dropped and counted.
  bool make_room(Lane& lane, FedStatistic& statistic);
  bool can_send() const { return link_.connected() && !link_.full(); }
  bool sends_each() const { return settings_.delay.count() == 0; }
  void send_each(Lane& lane);
  bool wait_for_room(Lane& lane);
  void set_stop(Lane& lane) REQUIRES(lane.mutex());
  void wake_up() EXCLUDES(mutex_);
  void restore_switches() REQUIRES(mutex_);
  // Sends datagrams until less than at_least samples are left.
  Drained drain(Lane& lane, std::uint64_t at_least) REQUIRES(lane.mutex());
  Drained drain_all() REQUIRES(mutex_);
  template <typename Do>
  void for_each_lane(Do&& what) const {
    for (const auto& place : lanes_) {
      Lane* const lane = place.load(std::memory_order_acquire);
      if (!lane) return;  // they fill up from the front
      what(*lane);
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
  void pass_through_lanes();
  void take_back_lanes(Time now) REQUIRES(mutex_);
  void send_next_by_socket(FedStatistic& statistic) REQUIRES(mutex_);
  void raise_barriers() REQUIRES(mutex_);
  void lower_barriers() REQUIRES(mutex_);
  void register_and_change(Time now) REQUIRES(mutex_);
  void register_soon() REQUIRES(mutex_);
  void drop_locked(FedStatistic& statistic, InTree in_tree) REQUIRES(mutex_);
  void make_void(const FedStatistic& statistic);
  DeferredRemoval::Lanes lanes() const;
  void pass_on(FedStatistic& statistic) REQUIRES(mutex_);
  // Does the keeper's rounds until check(), called with mutex_ held, says something else than
  // -EINPROGRESS. At the deadline -ENOTCONN or -ETIMEDOUT.
  int wait_until(Time deadline, const std::function<int()>& check) EXCLUDES(mutex_);

  const Settings settings_;
  SampleTime time_;
  std::array<std::atomic<Lane*>, kLanesMax> lanes_{};
  std::atomic<std::uint64_t> lanes_given_back_{0};
  KeeperSleep sleep_;
  CellFiles cell_files_;
  Link link_;
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<bool> waited_in_vain_{false};
  // A forked child has not done anything yet: its switches are all kAsleep, its lanes' stops 0.
  std::atomic<bool> asleep_{false};
  // A lane holds samples of a statistic that is gone from the tree, or a thread would count some in
  // a cell: a request for it is due.
  std::atomic<bool> wanted_{false};

  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> refused_{0};   // samples of statistics that the daemon would not have
  std::atomic<std::uint64_t> laneless_{0};  // samples of threads beyond kLanesMax
  // Of lane files of earlier daemons: what they took out of rings, and what was taken back.
  std::atomic<std::uint64_t> settled_in_rings_{0}, returned_{0};
  // What was taken back, or is to be, is sent before what threads hold.
  std::atomic<bool> rest_first_{false};
  // The keeper has not looked after the last doorbell yet.
  std::atomic<bool> has_rung_{false};
  std::atomic<Lane*> rest_lane_{nullptr};

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
  // Lanes that before_fork() locked; there may be more when it is over.
  std::size_t locked_lanes_ GUARDED_BY(mutex_) = 0;
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
  Time lanes_seen_at_ GUARDED_BY(mutex_){0};
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
