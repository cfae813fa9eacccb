// Longer than most: turns, drains and what is put off are steps of one sequence under one lock.
#include "feeders/intake/intake.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "feeders/intake/attached_descriptors.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// A datagram weighs so much besides its bytes when the time of a batch is shared out.
constexpr std::size_t kDatagramWeight = 64;

std::size_t weight_of(const Datagram& datagram) { return datagram.bytes.size() + kDatagramWeight; }

Dispatcher::Dependencies with_channels(Dispatcher::Dependencies dependencies,
                                       const AnswerChannels& channels) {
  dependencies.channels = &channels;
  return dependencies;
}

}  // namespace

Intake::Intake(EventLoop& loop, FeedSocket& socket, const Dispatcher::Dependencies& dependencies)
    : loop_(loop),
      queue_length_(socket.queue_length()),
      statistics_(dependencies.statistics),
      clock_(dependencies.clock),
      lanes_(dependencies.lanes),
      readable_(loop.context()),
      ring_timer_(loop.context()),
      save_timer_(loop.context()),
      channels_(loop, dependencies.statistics.owner()),
      queue_(socket.fd(), dependencies.statistics.owner(), queue_length_, &channels_),
      dispatcher_(socket.fd(), with_channels(dependencies, channels_)),
      backlog_(queue_, accounts_) {
  accept_descriptors(socket.fd());
  readable_.assign(boost::asio::local::datagram_protocol(), socket.fd());
}

Intake::~Intake() {
  // The descriptor is the FeedSocket's to close.
  readable_.release();
}

void Intake::start() {
  channels_.start();
  bool has_deferred = false;
  {
    const MutexLock lock(turn_);
    has_deferred = !backlog_.empty();
    if (dispatcher_.has_rings()) watch_rings();
    dispatcher_.publish_counts(clock_.now());
  }
  if (!has_deferred) return wait();
  loop_.post([this] { resume(); });
}

void Intake::wait() {
  readable_.async_wait(boost::asio::socket_base::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (error != boost::asio::error::operation_aborted) resume();
                       });
}

void Intake::resume() {
  // The rest of a batch makes no socket readable.
  if (take_turn() == Progress::kCut) return loop_.post([this] { resume(); });
  if (!is_held_back_) return wait();
  save_timer_.expires_after(kSavePause);
  save_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error != boost::asio::error::operation_aborted) resume();
  });
}

// A save that fails is waited for once.
bool Intake::waits_for_save() {
  if (!journal_ || !journal_->is_nearly_full()) return false;
  const auto now = clock_.now().monotonic;
  if (std::exchange(saves_waited_, journal_->saves()) != journal_->saves()) save_wait_begun_ = now;
  return now - save_wait_begun_ < kSaveWaitMax;
}

void Intake::nudge() {
  if (nudged_.exchange(true)) return;
  loop_.post([this] {
    nudged_ = false;
    if (take_turn() == Progress::kCut) nudge();
  });
}

Intake::Progress Intake::take_turn() {
  // One reader goes first; behind it comes this thread, even if more are waiting.
  const unsigned served = readers_served_.load();
  if (readers_waiting_.load() != 0) readers_served_.wait(served);
  auto progress = Progress::kDone;
  std::vector<std::string> saturated;
  Dropped dropped;
  {
    const MutexLock lock(turn_);
    works_.store(true, std::memory_order_relaxed);
    deferred_work_ = {};
    const bool looks_at_all = looks_at_rings_.exchange(false);
    const bool looks_at_rings = looks_at_all || dispatcher_.has_rung();
    const auto which = looks_at_all ? Lanes::Which::kAll : Lanes::Which::kRung;
    if (looks_at_rings) dispatcher_.note_ring_heads(which);
    catch_up({clock_.now().monotonic + kTurnMax, &readers_waiting_});
    progress = work({clock_.now().monotonic + kTurnMax, &readers_waiting_});
    if (!backlog_.empty()) progress = Progress::kCut;
    if (looks_at_rings) {
      const auto deadline = clock_.now().monotonic + kTurnMax;
      (void)take_rings({.until = {deadline, &readers_waiting_},
                        .held_until = deadline + kTurnMax,
                        .which = which});
    }
    // A bell that came when heads were noted is for the next turn.
    if (looks_at_rings_ || dispatcher_.has_rung()) progress = Progress::kCut;
    if (dispatcher_.has_rings()) watch_rings();
    saturated = dispatcher_.take_saturated();
    dropped = take_dropped(clock_.now());
    works_.store(false, std::memory_order_relaxed);
  }
  log_saturated(std::move(saturated));
  log_dropped(dropped);
  return progress;
}

// kCut only when something of the batch is left; the socket may hold more in any case.
Intake::Progress Intake::work(const Until& until) {
  for (is_held_back_ = false;;) {
    if (finish_batch(until) == Progress::kCut) return Progress::kCut;
    if (dispatcher_.is_past(until) || !wants_to_receive()) return Progress::kDone;
    is_held_back_ = waits_for_save();
    if (is_held_back_) return Progress::kDone;
    receive();
    puts_off_ = queue_.received_of_others();
    if (batch_.empty()) return Progress::kDone;
  }
}

// While something is put off, more of the same senders is put off, too: less than the turn has
// taken, so that the backlog becomes empty under a flood, and a heavy sender waits for a place in
// the queue instead of losing what finds no room here. Where a turn takes but a few, others would
// wait too long behind theirs, or find no place in the queue.
bool Intake::wants_to_receive() {
  if (backlog_.empty()) return true;
  const std::size_t put_off_max = deferred_work_.taken / 2;
  if (put_off_max < kSmallBatch) return queue_.others_may_wait();
  return deferred_work_.put_off + kSmallBatch <= put_off_max;
}

Intake::Received Intake::receive() {
  const std::size_t dropped = drop_queued();
  const std::size_t at_most = backlog_.empty() ? Receiver::kBatch : kSmallBatch;
  receiving_ = clock_.now().monotonic;
  batch_ = queue_.receive(at_most);
  return {.datagrams = dropped + batch_.size(), .may_be_more = batch_.size() == at_most};
}

Timestamp Intake::drain_feeders(Subject subject, const std::function<void()>& before_waiting) {
  const bool needs_rings_alone = queue_.holds_any() && needs_no_drain(clock_.now());
  if (needs_rings_alone && !(lanes_ && lanes_->has_rings())) return clock_.now();
  const auto what = needs_rings_alone ? ReaderWaitsFor::kRings : ReaderWaitsFor::kAll;
  std::optional<Timestamp> done;
  (needs_rings_alone ? ring_drains_ : drains_)
      .wait_for(
          subject,
          [&](const InterfaceFilter& of) { done = drain_as_reader(what, of, before_waiting); },
          before_waiting);
  return done ? *done : clock_.now();
}

bool Intake::needs_no_drain(Timestamp now) {
  using Waiting = SocketQueue::Waiting;
  const auto left = budgets_.held_senders.left(now.monotonic);
  if (left - Budgets::kMoveReserve >= Budgets::kLeast) return false;
  const auto waiting = queue_.waiting(left >= Budgets::kLeast ? kFewLooks : SocketQueue::kAll);
  if (waiting == Waiting::kOfOthers || waiting == Waiting::kTooMany) return false;
  const bool leaves = waiting == Waiting::kOfHeldOnly || has_deferred_.load();
  if (leaves) statistics_.counters().count("drains_cut", 1, now);
  return true;
}

// The loop continues soon with a cut drain, and with rings whose bell was heard: it does not ring
// again.
Timestamp Intake::drain_as_reader(ReaderWaitsFor what, const InterfaceFilter& of,
                                  const std::function<void()>& before_waiting) {
  bool told = !before_waiting;
  const std::function<void()> tell = [&] {
    if (!std::exchange(told, true)) before_waiting();
  };
  if (works_.load(std::memory_order_relaxed)) tell();
  readers_waiting_.fetch_add(1);
  auto progress = Progress::kDone;
  bool has_saturated = false, has_rung = false;
  Timestamp done;
  {
    const MutexLock lock(turn_);
    note_served();
    const auto begun = clock_.now().monotonic;
    const Until until{begun + kSettleMax};
    dispatcher_.note_ring_heads(Lanes::Which::kAll, of);
    std::chrono::nanoseconds held_until{0};
    if (what == ReaderWaitsFor::kAll) {
      progress = drain(until, tell);
      if (progress == Progress::kDone) progress = catch_up_as_reader(until);
      held_until = held_rings_until(begun);
      if (queue_.holds_any()) spend_on_held(begun);
    }
    const auto taken = take_rings({.until = until,
                                   .by = RingSchedule::By::kReader,
                                   .held_until = held_until,
                                   .of = of,
                                   .before_long = tell});
    progress = std::max(progress, taken);
    has_rung = dispatcher_.has_rung();
    if (dispatcher_.has_rings()) watch_rings();
    done = clock_.now();
    dispatcher_.publish_counts(done);
    has_saturated = dispatcher_.has_saturated();
    works_.store(false, std::memory_order_relaxed);
  }
  if (progress != Progress::kDone) statistics_.counters().count("drains_cut", 1, clock_.now());
  // Only this object's thread writes to the log, and a socket that is empty wakes it no more.
  if (progress == Progress::kCut || has_saturated || has_rung) nudge();
  return done;
}

Intake::TakenAtEnd Intake::take_queued(std::chrono::nanoseconds at_most, Senders senders) {
  const MutexLock lock(turn_);
  const bool is_bounded = senders == Senders::kGoOn && queue_length_.has_value();
  const Until until{clock_.now().monotonic + at_most};
  std::uint64_t received = batch_.size();
  puts_off_ = false;
  for (;;) {
    // In their order: what was put off came before.
    if (finish_batch(until) == Progress::kCut || catch_up(until) == Progress::kCut) {
      return {.datagrams = received - batch_.size(), .all = false};
    }
    if (is_bounded && received > *queue_length_) return {.datagrams = received};
    if (dispatcher_.is_past(until)) return {.datagrams = received, .all = false};
    receive();
    if (batch_.empty()) return {.datagrams = received};
    received += batch_.size();
  }
}

std::uint64_t Intake::drop_left(Senders senders) {
  const MutexLock lock(turn_);
  if (dispatcher_.is_busy()) (void)dispatcher_.put_off();
  std::uint64_t dropped = batch_.size();
  for (; !backlog_.empty(); ++dropped) (void)backlog_.take();
  batch_ = {};
  if (senders == Senders::kGoOn) return dropped;
  for (receive(); !batch_.empty(); receive()) dropped += batch_.size();
  return dropped;
}

// The queue is first in, first out: behind as many datagrams as it can hold there is none that was
// sent before this call. Where its length is not known, only an empty one tells.
Intake::Progress Intake::drain(const Until& until, const std::function<void()>& before_waiting) {
  bool told = !before_waiting;
  puts_off_ = true;
  for (std::size_t taken = 0;;) {
    if (taken > kFewDatagrams && !std::exchange(told, true)) before_waiting();
    if (finish_batch(until) == Progress::kCut) return Progress::kCut;
    if (queue_length_ && taken > *queue_length_) return Progress::kDone;
    if (dispatcher_.is_past(until) || waits_for_save()) return Progress::kCut;
    const Received received = receive();
    taken += received.datagrams;
    if (!received.may_be_more) return finish_batch(until);
  }
}

Intake::Progress Intake::catch_up_as_reader(const Until& until) {
  if (backlog_.empty()) return Progress::kDone;
  const auto begun = clock_.now().monotonic;
  const auto left = budgets_.held_senders.left(begun) - Budgets::kMoveReserve;
  if (left < Budgets::kLeast) return Progress::kCut;
  return catch_up({std::min(until.deadline, begun + left)});
}

// Making room for the datagrams of a held sender takes time, too.
void Intake::spend_on_held(std::chrono::nanoseconds begun) {
  const auto now = clock_.now().monotonic;
  budgets_.held_senders.spend(now - begun, begun);
  budgets_.held_senders.forgive(now);
}

Intake::Progress Intake::finish_batch(const Until& until) {
  if (batch_.empty()) return Progress::kDone;
  const Timestamp begun = clock_.now();
  Weights weights;
  while (!batch_.empty() && take_next(begun, until, weights)) batch_ = batch_.subspan(1);
  const Timestamp done = clock_.now();
  const auto received = std::exchange(receiving_, std::chrono::nanoseconds(0));
  charge(weights, done.monotonic - (received.count() != 0 ? received : begun.monotonic),
         done.monotonic);
  statistics_.counters().record("batch_ns", (done.monotonic - begun.monotonic).count(), 1, done);
  dispatcher_.publish_counts(done);
  work_();
  if (!batch_.empty()) return Progress::kCut;
  queue_.finish_received();
  return Progress::kDone;
}

bool Intake::take_next(Timestamp now, const Until& until, Weights& weights) {
  const Datagram& datagram = batch_.front();
  const Origin& sender = datagram.origin;
  const bool is_held = holds(sender, now.monotonic);
  if (dispatcher_.is_busy()) {
    if (is_held && puts_off_ && put_off_rest(datagram)) return true;
  } else {
    if (is_held && (puts_off_ || backlog_.has_any_of(sender))) {
      return put_off(datagram, now, until);
    }
    dispatcher_.begin(datagram, now);
  }
  const bool done = dispatcher_.resume(until);
  charge_commands(sender);
  // For events of the kernel, readers have a deadline of their own.
  const bool is_free = dispatcher_.is_of_kernel() && !queue_.key_of(sender).is_uid();
  if (!is_free) weights.push_back({queue_.key_of(sender), weight_of(datagram)});
  if (done) return true;
  return holds(sender, now.monotonic) && put_off_rest(datagram);
}

bool Intake::put_off_rest(const Datagram& datagram) {
  if (!backlog_.has_room(datagram.origin, datagram.bytes.size())) return false;
  keep_rest(datagram);
  note_put_off();
  return true;
}

void Intake::keep_rest(const Datagram& datagram) {
  auto [rest, at] = dispatcher_.put_off();
  Datagram left = datagram;
  left.bytes = rest;
  if (journal_) journal_->append_rest(datagram, at, left);
  backlog_.put_rest(left, std::move(rest), dispatcher_.progress());
}

bool Intake::put_off(const Datagram& datagram, Timestamp now, const Until& until) {
  const Origin& sender = datagram.origin;
  const std::size_t bytes = datagram.bytes.size();
  while (!backlog_.has_room(sender, bytes)) {
    if (is_beyond_room(queue_.key_of(sender), bytes)) {
      if (journal_) journal_->drop(datagram);
      note_dropped(sender, Piece::kWhole);
      return true;
    }
    if (!make_room(backlog_.take_in_the_way_of(sender, bytes), now, until)) return false;
  }
  backlog_.put(datagram);
  if (journal_) journal_->defer(datagram);
  note_put_off();
  return true;
}

bool Intake::is_beyond_room(SenderKey sender, std::size_t bytes) {
  return sender.is_uid() && backlog_.is_full_of(sender, bytes) && queue_.others_may_wait();
}

std::size_t Intake::drop_queued() {
  if (!backlog_.is_nearly_full() || !queue_.holds_any()) return 0;
  std::size_t dropped = 0;
  for (; dropped < SocketQueue::kLong; ++dropped) {
    const auto first = queue_.first();
    if (!first || !is_beyond_room(first->sender, first->bytes)) break;
    if (!queue_.discard_first()) break;
    note_dropped({.uid = first->sender.uid()}, Piece::kWhole);
  }
  return dropped;
}

// The commands of a sender that is held for its commands are refused, for which there is no time;
// but for one that has changed something in a step before.
bool Intake::make_room(const Backlog::Deferred& deferred, Timestamp now, const Until& until) {
  const Origin& sender = deferred.datagram.origin;
  const auto begun = clock_.now().monotonic;
  const bool is_trusted = !queue_.key_of(sender).is_uid();
  if (!is_trusted && queue_.others_may_wait()) {
    if (journal_) journal_->drop(deferred.datagram);
    note_dropped(sender, deferred.is_rest ? Piece::kRest : Piece::kWhole);
    return true;
  }
  const bool is_refused =
      accounts_.holds_for_commands(queue_.key_of(sender)) && !deferred.progress.has_changed;
  const auto commands =
      is_refused ? Dispatcher::Commands::kRefused : Dispatcher::Commands::kCarriedOut;
  const Until at_most{std::min(until.deadline, begun + kTurnMax), until.wanted};
  const bool done = process_deferred(deferred, commands, now, at_most);
  return done || !dispatcher_.is_past(until);
}

void Intake::note_dropped(const Origin& sender, Piece piece) {
  dispatcher_.count_put_off_dropped(piece);
  dropped_.sender = sender;
  if (dropped_.datagrams++ == 0) dispatcher_.report_put_off_dropped(sender, clock_.now());
}

void Intake::note_put_off() {
  dispatcher_.count_put_off();
  deferred_work_.put_off += 1;
  has_deferred_ = true;
}

bool Intake::process_deferred(const Backlog::Deferred& deferred, Dispatcher::Commands commands,
                              Timestamp now, const Until& until) {
  const Origin& sender = deferred.datagram.origin;
  const auto begun = clock_.now().monotonic;
  dispatcher_.begin(deferred.datagram, now, deferred.is_rest ? Piece::kRest : Piece::kWhole,
                    commands, deferred.progress);
  const bool done = dispatcher_.resume(until);
  if (!done) keep_rest(deferred.datagram);
  charge_commands(sender);
  const auto ended = clock_.now().monotonic;
  charge({{queue_.key_of(sender), weight_of(deferred.datagram)}}, ended - begun, ended);
  deferred_work_.taken += 1;
  return done;
}

void Intake::charge_commands(const Origin& sender) {
  const auto costs = dispatcher_.take_costs();
  if (costs.count() == 0) [[likely]]
    return;
  accounts_.charge(queue_.key_of(sender), Cost::kCommands, costs, clock_.now().monotonic);
}

// The time is shared out by bytes, since that of each datagram is not measured.
void Intake::charge(const Weights& weights, std::chrono::nanoseconds spent,
                    std::chrono::nanoseconds now) {
  std::size_t all = 0;
  for (const Worked& each : weights) all += each.weight;
  for (std::size_t i = 0; i < weights.size();) {
    const SenderKey sender = weights[i].sender;
    std::size_t its = 0;
    for (; i < weights.size() && weights[i].sender == sender; ++i) its += weights[i].weight;
    const auto part = spent * static_cast<std::int64_t>(its) / static_cast<std::int64_t>(all);
    accounts_.charge(sender, Cost::kAll, std::min(part, Accounts::cost_max(sender, its)), now);
  }
}

// Not in the middle of a datagram of the batch, which cannot last: a costly one is put off itself.
Intake::Progress Intake::catch_up(const Until& until) {
  if (backlog_.empty()) return Progress::kDone;
  if (dispatcher_.is_busy()) return Progress::kCut;
  const Timestamp begun = clock_.now();
  while (process_deferred(backlog_.take(), Dispatcher::Commands::kCarriedOut, begun, until)) {
    if (backlog_.empty() || dispatcher_.is_past(until)) break;
  }
  dispatcher_.publish_counts(clock_.now());
  work_();
  has_deferred_ = !backlog_.empty();
  return backlog_.empty() ? Progress::kDone : Progress::kCut;
}

// A counter that is reset and overflowed all day must not fill the disk; `saturations` counts all.
void Intake::log_saturated(std::vector<std::string> names) {
  const auto now = clock_.now().monotonic;
  if (names.empty() || (logged_.count() != 0 && now - logged_ < Lanes::kLogPause)) return;
  logged_ = now;
  for (const std::string& name : names) {
    log_warning("a counter of statistics/" + name +
                " reached the end of its type and stays there until it is reset");
  }
}

// Once a second at most, as above; `put_off_dropped` counts all.
Intake::Dropped Intake::take_dropped(Timestamp now) {
  const bool is_soon =
      dropped_logged_.count() != 0 && now.monotonic - dropped_logged_ < Lanes::kLogPause;
  if (dropped_.datagrams == 0 || is_soon) return {};
  dropped_logged_ = now.monotonic;
  return std::exchange(dropped_, {});
}

void Intake::log_dropped(const Dropped& dropped) {
  if (dropped.datagrams == 0) return;
  log_warning(std::to_string(dropped.datagrams) + " datagrams were dropped, the last of uid " +
              std::to_string(dropped.sender.uid) + ": it sends more than can wait");
}

}  // namespace tallyfs
