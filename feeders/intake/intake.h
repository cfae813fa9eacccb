// The daemon's side of the socket. One thread waits for datagrams (Asio) and takes them in turns
// of bounded time; a reader that wants everything sent so far (drain_feeders()) takes a turn
// itself, at once if it is free, else as the next. So a flood cannot keep readers out, and without
// a flood no second thread has to be woken. Work that does not fit into a turn is left for the
// next, in its order. Datagrams of senders beyond their share are put off (backlog.h), and taken in
// their order later; those of others may overtake them. While there are no others, they are taken
// as they come.
//
// Readers that come while one drains share the next drain (fair_share/coalesced_flush.h). A reader
// waits for all that senders within their share have sent, and for others within a budget that all
// readers share (fair_share/budgets.h). So a flood delays a thousand opens in a row no more than a
// few.
//
// Rings of feeders (core/lane/FORMAT.md) are read after the socket: what was in them when it was
// looked at. So samples of a thread that went over the socket before stay before. That is done in
// each drain, when a feeder says so (of its rings), and by a timer while there are any. The time is
// charged to their feeders like that of datagrams; fair_share/ring_schedule.h has their order.
//
// drain_feeders() may be called from any thread; everything else belongs to the thread that runs
// the EventLoop. What a turn touches is guarded by turn_.
#pragma once

#include <atomic>
#include <boost/asio/local/datagram_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/container/static_vector.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/branch/transferred_part.h"
#include "core/tree/barrier.h"
#include "feeders/intake/answer_channels.h"
#include "feeders/intake/backlog.h"
#include "feeders/intake/dispatcher.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/fair_share/accounts.h"
#include "feeders/intake/fair_share/budgets.h"
#include "feeders/intake/fair_share/coalesced_flush.h"
#include "feeders/intake/fair_share/ring_schedule.h"
#include "feeders/intake/feed_socket.h"
#include "feeders/intake/receiver.h"
#include "feeders/intake/socket_queue.h"

namespace tallyfs {

class Intake final : public Barrier, public TransferredPart {
 public:
  // How long the thread works on datagrams that were put off, and then as long on new ones, before
  // it looks at its other duties and lets readers go first. With rings that is 6 ms, which a reader
  // waits beside the 20 of its drain. A turn ends between two lines or messages, so the longest
  // single one comes on top.
  static constexpr std::chrono::milliseconds kTurnMax{2};
  // The longest time of one drain, for which an open waits: for two at most, one that is under way
  // and its own, and for the turn. It suffices for a full queue of 512 datagrams of 40 us each,
  // which is what a drop takes while the kernel wakes a sender for each look and each place. It is
  // reached only under a flood of huge datagrams or costly commands. drains_cut counts that, and
  // opens that do not wait for senders beyond their share.
  static constexpr std::chrono::milliseconds kSettleMax = Accounts::kAllowance;
  // In a queue of no more datagrams than so many, which may be long ones, a reader looks for those
  // of others behind the ones of held senders.
  static constexpr std::size_t kFewLooks = 32;
  // How often rings are looked at while there are records in them, and else. A wake-up by a
  // timer takes 60 us on a busy guest, 0.6 % and 0.06 % of a CPU. A ring that is half full rings
  // its bell before.
  static constexpr std::chrono::milliseconds kRingPause{10};
  static constexpr std::chrono::milliseconds kIdleRingPause = 10 * kRingPause;
  // A drain that takes more than so many datagrams, or RingSchedule::kFewWords of rings, calls
  // before_waiting first.
  static constexpr std::size_t kFewDatagrams = 32;
  // How long nothing is received while the journal waits for a save: a save of 200,000 statistics
  // takes as long. If that is not done by then, the journal misses records. How often it is looked
  // whether it is.
  static constexpr std::chrono::milliseconds kSaveWaitMax{1000};
  static constexpr std::chrono::milliseconds kSavePause{2};
  // So many are received at a time while something is put off.
  static constexpr std::size_t kSmallBatch = 8;

  // All outlive the intake, the list of branches aside. dependencies.channels is the intake's own.
  Intake(EventLoop& loop, FeedSocket& socket, const Dispatcher::Dependencies& dependencies);
  ~Intake() override;

  // Called before start(): `work` is called, as a rule with the turn, when something was taken in.
  // What feeders count in cells is not noticed here.
  void tell_of_work(std::function<void()> work) { work_ = std::move(work); }
  // From now on the next server is told of unseen processes, whenever this one ends.
  void keep_with(PartKeeper& keeper) { channels_.keep_with(keeper, *this); }
  // From now on what comes is in this journal, too, which outlives the intake. Before start().
  void note_in(InputJournal& journal) EXCLUDES(turn_);
  // After a kill, behind that: takes in what the server before has left in it. Returns how much.
  struct Replayed {
    std::uint64_t datagrams = 0;
    std::vector<Datagram> poisoned;  // that were left out: two servers have crashed with them
  };
  // crashes: of how many servers in a row; those that were killed do not count.
  Replayed replay(InputJournal& journal, InputJournal::Left left, int crashes) EXCLUDES(turn_);
  // Starts waiting for datagrams.
  void start();

  // Takes in what is put off and what is queued now, for so long at most: behind the loop's end.
  // What is queued beyond stays in the socket.
  enum class Senders { kGoOn, kRefused };  // kRefused: the queue becomes no longer
  struct TakenAtEnd {
    std::uint64_t datagrams = 0;  // taken in whole, with those of an unfinished batch
    bool all = true;              // nothing was left of what was sent before the call
  };
  TakenAtEnd take_queued(std::chrono::nanoseconds at_most, Senders senders = Senders::kGoOn)
      EXCLUDES(turn_);
  // Drops what that has left, and returns how many datagrams that is: the last call. Where senders
  // go on, what is queued stays.
  std::uint64_t drop_left(Senders senders) EXCLUDES(turn_);
  // Reads rings for the last time, after all ways but the socket have ended.
  void take_rings_at_end(std::chrono::nanoseconds at_most) EXCLUDES(turn_);

  // Takes in what was received and what is put off, for so long at most: the last call before
  // save_for_successor(), by which the rest goes to the next server. What is queued stays in the
  // socket.
  void finish(std::chrono::nanoseconds at_most) EXCLUDES(turn_);
  SavedKinds objects() const override {
    return saved_kinds(SavedKind::kSenders, SavedKind::kLateDatagram, SavedKind::kUnseenProcesses);
  }
  void save_for_successor(ObjectSink& sink, TransferredFds& descriptors) override EXCLUDES(turn_);
  // Before start().
  Result<void> load(const SavedObject& object, const Loading& loading,
                    TransferredFds& descriptors) override EXCLUDES(turn_);

  // As AnswerChannels::open_process(). Any thread.
  Fd open_process(pid_t process) const { return channels_.open_process(process); }

  // The process has ended: takes what was sent, once, and what is left in its lanes, for a turn.
  // kLater: its sender is beyond its share, and others of that kind have used up their time.
  enum class Ended { kTaken, kCut, kLater };
  Ended take_lanes_of(pid_t process) EXCLUDES(turn_);
  // Takes what else goes with it: take() works for a turn, and is false if it was cut.
  using TakeEnd = std::function<bool(Timestamp now, const IsLate& is_late)>;
  Ended take_end_of(const Sender& process, const TakeEnd& take) EXCLUDES(turn_);

  using Barrier::drain_feeders;
  // Rings are read of feeders that have bound a statistic of the subject.
  Timestamp drain_feeders(Subject subject, const std::function<void()>& before_waiting) override
      EXCLUDES(turn_);

 private:
  using Until = Dispatcher::Until;
  using Piece = Dispatcher::Piece;
  using Progress = RingSchedule::Outcome;
  // How long each of a batch's datagrams took, as far as bytes tell.
  struct Worked {
    SenderKey sender;
    std::size_t weight = 0;
  };
  using Weights = boost::container::static_vector<Worked, Receiver::kBatch>;
  // How many datagrams a turn has put off so far, and taken of those that were put off.
  struct DeferredWork {
    std::size_t put_off = 0;
    std::size_t taken = 0;
  };

  // The one chain of the loop's turns: wait for a datagram, take turns until nothing of a batch is
  // left, wait again.
  void wait();
  void resume() EXCLUDES(turn_);
  // Turns beside the chain, until nothing is left of the work that a reader did not finish.
  void nudge();
  Progress take_turn() EXCLUDES(turn_);
  // Reads what was in rings when their heads were noted.
  struct RingWork {
    Until until;
    RingSchedule::By by = RingSchedule::By::kLoop;
    std::chrono::nanoseconds held_until{0};  // those of senders beyond their share
    Lanes::Which which = Lanes::Which::kAll;
    InterfaceFilter of = InterfaceFilter::all();
    std::function<void()> before_long = {};
  };
  Progress take_rings(const RingWork& work) REQUIRES(turn_);
  // Until when a reader whose drain has begun then takes rings of senders beyond their share.
  std::chrono::nanoseconds held_rings_until(std::chrono::nanoseconds begun) REQUIRES(turn_);
  bool has_time_for_end(const Origin& sender) EXCLUDES(turn_);
  // A reader has the turn.
  void note_served() REQUIRES(turn_);
  // Looks at rings from now on, as long as there are any. Any thread.
  void watch_rings();
  void look_at_rings() EXCLUDES(turn_);
  Progress work(const Until& until) REQUIRES(turn_);
  bool wants_to_receive() REQUIRES(turn_);
  // Drops what is_beyond_room() at the queue's start, and receives the next batch.
  struct Received {
    std::size_t datagrams = 0;  // with those that were dropped
    bool may_be_more = false;   // there were as many as were asked for
  };
  Received receive() REQUIRES(turn_);
  // Readers have nothing to wait for.
  bool needs_no_drain(Timestamp now);
  // Drains for the readers of these interfaces, and returns the time at its end. kRings: the socket
  // is not drained, only rings of senders within their share.
  enum class ReaderWaitsFor { kAll, kRings };
  Timestamp drain_as_reader(ReaderWaitsFor what, const InterfaceFilter& of,
                            const std::function<void()>& before_waiting) EXCLUDES(turn_);
  Progress drain(const Until& until, const std::function<void()>& before_waiting) REQUIRES(turn_);
  // Within what readers have left for it.
  Progress catch_up_as_reader(const Until& until) REQUIRES(turn_);
  // A reader's drain has gone on since `begun` while a sender was held. Rings are charged one by
  // one.
  void spend_on_held(std::chrono::nanoseconds begun) REQUIRES(turn_);
  Progress finish_batch(const Until& until) REQUIRES(turn_);
  // The next of the batch. False if it is not done.
  bool take_next(Timestamp now, const Until& until, Weights& weights) REQUIRES(turn_);
  // Keeps the whole of a datagram for later. False: there is no room yet.
  bool put_off(const Datagram& datagram, Timestamp now, const Until& until) REQUIRES(turn_);
  // A datagram of so many bytes is dropped: its sender's leave no room, and to make some others
  // would have to wait.
  bool is_beyond_room(SenderKey sender, std::size_t bytes) REQUIRES(turn_);
  // Drops such datagrams while the queue begins with one, kLong at most, and returns how many. None
  // of their bytes is copied.
  std::size_t drop_queued() REQUIRES(turn_);
  // Carries out what is in the way, or drops it. False: it is not done yet.
  bool make_room(const Backlog::Deferred& deferred, Timestamp now, const Until& until)
      REQUIRES(turn_);
  void note_dropped(const Origin& sender, Piece piece) REQUIRES(turn_);
  void replay_begun(DatagramRecord& record, int crashes, Replayed& replayed) REQUIRES(turn_);
  void replay_new(const Datagram& datagram, Replayed& replayed) REQUIRES(turn_);
  // The rest of the one that was begun. False: there is no room.
  bool put_off_rest(const Datagram& datagram) REQUIRES(turn_);
  // Puts off the rest of the dispatcher's current datagram.
  void keep_rest(const Datagram& datagram) REQUIRES(turn_);
  void note_put_off() REQUIRES(turn_);
  bool waits_for_save() REQUIRES(turn_);
  bool process_deferred(const Backlog::Deferred& deferred, Dispatcher::Commands commands,
                        Timestamp now, const Until& until) REQUIRES(turn_);
  bool holds(const Origin& sender, std::chrono::nanoseconds now) REQUIRES(turn_) {
    return accounts_.holds(queue_.key_of(sender), now);
  }
  void charge_commands(const Origin& sender) REQUIRES(turn_);
  void charge(const Weights& weights, std::chrono::nanoseconds spent, std::chrono::nanoseconds now)
      REQUIRES(turn_);
  // Takes what was put off.
  Progress catch_up(const Until& until) REQUIRES(turn_);
  void log_saturated(std::vector<std::string> names);
  // Counts what was dropped since it was logged last, with the sender of the last one.
  struct Dropped {
    std::uint64_t datagrams = 0;
    Origin sender;
  };
  Dropped take_dropped(Timestamp now) REQUIRES(turn_);
  static void log_dropped(const Dropped& dropped);

  EventLoop& loop_;
  const std::optional<unsigned> queue_length_;
  statistics::StatisticsBranch& statistics_;
  const Clock& clock_;
  Lanes* const lanes_;  // nullptr: there are none
  std::function<void()> work_ = [] {};
  boost::asio::local::datagram_protocol::socket readable_;  // for waiting only
  std::chrono::nanoseconds logged_{0};
  std::chrono::nanoseconds dropped_logged_{0};

  CoalescedFlush drains_;
  CoalescedFlush ring_drains_;  // of readers that wait for rings alone
  // Readers that want the turn. A plain lock would not let them have it: the thread that gives it
  // up under a flood takes it again before a sleeper has woken.
  std::atomic<int> readers_waiting_{0};
  std::atomic<unsigned> readers_served_{0};  // counts up, so that a waiter misses no change
  std::atomic<bool> nudged_{false};
  std::atomic<bool> watches_rings_{false};
  std::atomic<bool> looks_at_rings_{false};  // in the next turn
  boost::asio::steady_timer ring_timer_;
  boost::asio::steady_timer save_timer_;
  std::atomic<bool> is_held_back_{false};  // the last turn, by the journal
  std::atomic<bool> works_{false};         // a thread has the turn
  std::atomic<bool> has_deferred_{false};  // something is put off
  Budgets budgets_;                        // spent with the turn, and looked at without it
  AnswerChannels channels_;
  SocketQueue queue_;
  Mutex turn_{LockRank::kIntakeTurn};
  Dispatcher dispatcher_ GUARDED_BY(turn_);
  Accounts accounts_ GUARDED_BY(turn_){queue_};
  Backlog backlog_ GUARDED_BY(turn_);
  // The rest of the last batch: the dispatcher may be in the middle of its first datagram.
  std::span<const Datagram> batch_ GUARDED_BY(turn_);
  // Datagrams of held senders are put off, as others are waiting.
  bool puts_off_ GUARDED_BY(turn_) = false;
  DeferredWork deferred_work_ GUARDED_BY(turn_);
  InputJournal* journal_ GUARDED_BY(turn_) = nullptr;  // nullptr: there is none
  std::uint64_t saves_waited_ GUARDED_BY(turn_) = UINT64_MAX;      // InputJournal::saves()
  std::chrono::nanoseconds save_wait_begun_ GUARDED_BY(turn_){0};  // for the next of them
  Dropped dropped_ GUARDED_BY(turn_);
  std::chrono::nanoseconds receiving_ GUARDED_BY(turn_){0};  // since then, not yet charged
  std::vector<Backlog::Deferred> left_ GUARDED_BY(turn_);    // for the next server
};

}  // namespace tallyfs
