// What a fork takes along, and what a child begins with.
#include "feeders/client/client.h"
#include "feeders/client/errno_guard.h"

namespace tallyfs {
namespace {

CellFiles::Interrupted interrupted(const ThreadBuffer* own) {
  using Interrupted = CellFiles::Interrupted;
  return own && own->is_in_file() ? Interrupted::kCall : Interrupted::kNoCall;
}

}  // namespace

void Client::before_fork(const ThreadBuffer* own) {
  mutex_.lock();
  cell_files_.before_fork(interrupted(own));
  locked_buffers_ = 0;
  for_each_buffer([this](ThreadBuffer& buffer) NO_THREAD_SAFETY_ANALYSIS {
    buffer.mutex().lock();
    locked_buffers_ += 1;
  });
}

void Client::after_fork_in_parent(const ThreadBuffer* own) {
  cell_files_.after_fork_in_parent(interrupted(own));
  std::size_t left = locked_buffers_;
  for_each_buffer([&left](ThreadBuffer& buffer) NO_THREAD_SAFETY_ANALYSIS {
    if (left == 0) return;
    left -= 1;
    buffer.mutex().unlock();
  });
  mutex_.unlock();
}

void Client::after_fork_in_child(ThreadBuffer* own) {
  std::size_t left = locked_buffers_;
  for_each_buffer([own, &left](ThreadBuffer& buffer) NO_THREAD_SAFETY_ANALYSIS {
    // One that came into being meanwhile belongs to a thread that is not here and may have held its
    // lock.
    if (left == 0) return buffer.begin_anew();
    left -= 1;
    buffer.forget_all();
    if (&buffer != own) buffer.abandon();
    if (buffer.watched() != 0) watch_buffer(buffer);
    buffer.mutex().unlock();
  });
  registry_.for_each_statistic([](FedStatistic& each) {
    each.dropped = 0;
    each.fall_asleep();
  });
  cell_files_.abandon(interrupted(own));
  if (own && own->is_in_file()) own->expect_parents_call();
  rest_.clear();
  has_read_rest_ = false;
  rest_buffer_ = nullptr;
  rest_first_ = false;
  rest_until_ = Time(0);
  has_rung_ = false;
  settled_in_rings_ = returned_ = 0;
  registrar_.inherit();
  publisher_.inherit();
  events_.begin_anew();
  note_records();
  asleep_ = true;
  buffers_given_back_ += 1;
  has_barriers_ = false;
  deferred_removal_.forget_positions();
  sent_ = refused_ = bufferless_ = confirmed_ = lost_ = 0;
  lost_in_cells_ = settled_in_cells_ = 0;
  cells_end_ = CellsEnd::kNone;
  reported_dropped_ = 0;
  reports_.clear();
  link_.disconnect();
  was_connected_ = false;
  connect_at_ = Time(0);
  keeper_runs_ = false;
  sleep_.prepare(KeeperSleep::Depth::kAwake);
  mutex_.unlock();
}

void Client::wake_up() {
  const ErrnoGuard guard;
  start_keeper();
  const MutexLock lock(mutex_);
  restore_switches();
}

void Client::restore_switches() {
  if (!asleep_.load(std::memory_order_relaxed)) return;
  registry_.for_each_statistic([](FedStatistic& each) { each.wake_up(); });
  asleep_.store(false, std::memory_order_release);
}

}  // namespace tallyfs
