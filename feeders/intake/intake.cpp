#include "feeders/intake/intake.h"

#include <boost/asio/error.hpp>
#include <utility>

#include "log/log.h"

namespace tallyfs {

Intake::Intake(EventLoop& loop, FeedSocket& socket, Statistics& statistics, Subsystems& subsystems,
               ErrorLog& errors, const Clock& clock, Dispatcher::SharedPage switches,
               LatencyHist* latencies, UserEvents* events, KernelFeed* kernel)
    : loop_(loop),
      fd_(socket.fd()),
      queue_length_(socket.queue_length()),
      statistics_(statistics),
      clock_(clock),
      readable_(loop.context()),
      dispatcher_(socket.fd(), statistics, subsystems, errors, clock, switches, latencies, events,
                  kernel),
      backlog_(statistics.owner()) {
  readable_.assign(boost::asio::local::datagram_protocol(), fd_);
}

Intake::~Intake() {
  // The descriptor is the FeedSocket's to close.
  readable_.release();
}

void Intake::start() { wait(); }

void Intake::wait() {
  readable_.async_wait(boost::asio::socket_base::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (error != boost::asio::error::operation_aborted) go_on();
                       });
}

void Intake::go_on() {
  // What is left of a batch makes no socket readable.
  if (take_turn() == Progress::kCut) {
    loop_.post([this] { go_on(); });
  } else {
    wait();
  }
}

void Intake::nudge() {
  if (nudged_.exchange(true)) return;
  loop_.post([this] {
    nudged_ = false;
    if (take_turn() == Progress::kCut) nudge();
  });
}

Intake::Progress Intake::take_turn() {
  // One reader goes first; behind it comes this thread, whoever else is waiting.
  const unsigned served = readers_served_.load();
  if (readers_waiting_.load() != 0) readers_served_.wait(served);
  auto progress = Progress::kDone;
  std::vector<std::string> saturated;
  {
    const MutexLock lock(turn_);
    works_.store(true, std::memory_order_relaxed);
    progress = work(clock_.now().monotonic + kTurnMax);
    if (catch_up(clock_.now().monotonic + kTurnMax) == Progress::kCut) progress = Progress::kCut;
    saturated = dispatcher_.take_saturated();
    works_.store(false, std::memory_order_relaxed);
  }
  log_saturated(std::move(saturated));
  return progress;
}

// kCut only when something of the batch is left; the socket may hold more in any case.
Intake::Progress Intake::work(Deadline deadline) {
  for (;;) {
    if (finish_batch(deadline) == Progress::kCut) return Progress::kCut;
    if (readers_waiting_.load() != 0 || is_past(deadline)) return Progress::kDone;
    batch_ = receiver_.receive(fd_);
    if (batch_.empty()) return Progress::kDone;
  }
}

void Intake::settle(const std::function<void()>& before_waiting) {
  const bool must_wait = works_.load(std::memory_order_relaxed) || readers_waiting_.load() != 0;
  if (must_wait && before_waiting) before_waiting();
  readers_waiting_.fetch_add(1);
  auto progress = Progress::kDone;
  {
    const MutexLock lock(turn_);
    readers_waiting_.fetch_sub(1);
    readers_served_.fetch_add(1);
    readers_served_.notify_all();
    const Deadline deadline = clock_.now().monotonic + kSettleMax;
    progress = drain(deadline, must_wait ? std::function<void()>() : before_waiting);
    if (progress == Progress::kDone) progress = catch_up(deadline);
  }
  if (progress == Progress::kDone) return;
  statistics_.own().count(Own::kDrainsCut, 1, clock_.now());
  nudge();
}

// The queue is first in, first out: behind as many datagrams as it can hold there is none that was
// sent before this call. Where its length is not known, only an empty one tells.
Intake::Progress Intake::drain(Deadline deadline, const std::function<void()>& before_waiting) {
  bool told = !before_waiting;
  for (std::size_t taken = 0;;) {
    if (taken > kFewDatagrams && !std::exchange(told, true)) before_waiting();
    if (finish_batch(deadline) == Progress::kCut) return Progress::kCut;
    if (queue_length_ && taken > *queue_length_) return Progress::kDone;
    batch_ = receiver_.receive(fd_);
    const bool was_last = batch_.size() < Receiver::kBatch;
    taken += batch_.size();
    if (was_last) return finish_batch(deadline);
  }
}

Intake::Progress Intake::finish_batch(Deadline deadline) {
  if (batch_.empty()) return Progress::kDone;
  const Moment begun = clock_.now();
  while (!batch_.empty() && take_next(begun, deadline)) batch_ = batch_.subspan(1);
  const Moment done = clock_.now();
  statistics_.own().record(Own::kBatchNs, (done.monotonic - begun.monotonic).count(), 1, done);
  dispatcher_.publish_counts(done);
  return batch_.empty() ? Progress::kDone : Progress::kCut;
}

bool Intake::take_next(Moment now, Deadline deadline) {
  const Datagram& datagram = batch_.front();
  if (!dispatcher_.is_busy()) {
    if (backlog_.holds(datagram.origin, now.monotonic)) [[unlikely]] {
      put_off(datagram, Piece::kWhole, backlog_.put(datagram), now);
      return true;
    }
    dispatcher_.begin(datagram, now);
  }
  if (go_on_with(datagram, deadline)) return true;
  if (!backlog_.holds(datagram.origin, now.monotonic)) return false;
  put_off(datagram, Piece::kRest, backlog_.put_rest(datagram, dispatcher_.put_off()), now);
  return true;
}

bool Intake::go_on_with(const Datagram& datagram, Deadline deadline) {
  const bool done = dispatcher_.go_on(deadline);
  const auto costs = dispatcher_.take_costs();
  if (costs.count() != 0) [[unlikely]] {
    backlog_.charge(datagram.origin, costs, clock_.now().monotonic);
  }
  return done;
}

void Intake::put_off(const Datagram& datagram, Piece piece, const Result<void>& kept, Moment now) {
  if (kept) return dispatcher_.count_put_off();
  dispatcher_.refuse(datagram, piece, kept.error(), now);
}

// Not in the middle of a datagram of the batch, which cannot last: a costly one is put off itself.
Intake::Progress Intake::catch_up(Deadline deadline) {
  if (backlog_.empty()) return Progress::kDone;
  if (dispatcher_.is_busy()) return Progress::kCut;
  const Moment begun = clock_.now();
  do {
    const Backlog::Late late = backlog_.take();
    dispatcher_.begin(late.datagram, begun, late.is_rest ? Piece::kRest : Piece::kWhole);
    if (go_on_with(late.datagram, deadline)) continue;
    (void)backlog_.put_rest(late.datagram, dispatcher_.put_off());  // there is room: it was here
    break;
  } while (!backlog_.empty() && !is_past(deadline));
  dispatcher_.publish_counts(clock_.now());
  return backlog_.empty() ? Progress::kDone : Progress::kCut;
}

// Whoever resets and overflows a counter all day fills no disk with that; `saturations` counts all.
void Intake::log_saturated(std::vector<std::string> names) {
  const auto now = clock_.now().monotonic;
  if (names.empty() || (logged_.count() != 0 && now - logged_ < kLogPause)) return;
  logged_ = now;
  for (const std::string& name : names) {
    log_warning("a counter of statistics/" + name +
                " reached the end of its type and stays there until it is reset");
  }
}

}  // namespace tallyfs
