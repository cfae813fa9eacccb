#include "feeders/intake/intake.h"

#include <unistd.h>

#include <boost/asio/error.hpp>

namespace tally {

Intake::Intake(EventLoop& loop, FeedSocket& socket, Statistics& statistics, ErrorLog& errors,
               const Clock& clock)
    : fd_(socket.fd()),
      queue_length_(socket.queue_length()),
      statistics_(statistics),
      clock_(clock),
      readable_(loop.context()),
      dispatcher_(socket.fd(), statistics, errors) {
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
                         if (error == boost::asio::error::operation_aborted) return;
                         take_turn();
                         wait();
                       });
}

void Intake::take_turn() {
  for (int waiting = readers_waiting_.load(); waiting != 0; waiting = readers_waiting_.load()) {
    readers_waiting_.wait(waiting);
  }
  const MutexLock lock(turn_);
  for (std::size_t taken = 0; taken < kTurnDatagrams && readers_waiting_.load() == 0;) {
    const std::size_t count = take_batch();
    if (count < Receiver::kBatch) return;
    taken += count;
  }
}

void Intake::settle() {
  readers_waiting_.fetch_add(1);
  {
    const MutexLock lock(turn_);
    readers_waiting_.fetch_sub(1);
    const auto deadline = clock_.now().monotonic + kSettleMax;
    // The queue is first in, first out: behind as many datagrams as it can hold there is none that
    // was sent before this call.
    for (std::size_t taken = 0; taken <= queue_length_;) {
      const std::size_t count = take_batch();
      if (count < Receiver::kBatch) break;
      taken += count;
      const Moment now = clock_.now();
      if (now.monotonic > deadline && taken <= queue_length_) {
        statistics_.own().count(Own::kDrainsCut, 1, now);
        break;
      }
    }
  }
  readers_waiting_.notify_all();
}

std::size_t Intake::take_batch() {
  const auto datagrams = receiver_.receive(fd_);
  if (datagrams.empty()) return 0;
  const Moment now = clock_.now();
  for (const Datagram& datagram : datagrams) dispatcher_.take(datagram, now);
  const Moment done = clock_.now();
  statistics_.own().record(Own::kBatchNs, (done.monotonic - now.monotonic).count(), 1, done);
  dispatcher_.publish_counts(done);
  return datagrams.size();
}

}  // namespace tally
