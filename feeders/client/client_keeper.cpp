// The keeper: sends what has waited long enough, finds the daemon, registers, and sleeps.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "feeders/client/client.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr Client::Time kConnectPauseMax = 2s;
// While responses are awaited, or samples come, or did so lately.
constexpr Client::Time kTick = 10ms;
constexpr Client::Time kActiveFor = 100ms;
// An idle feeder sends a ping now and then: only sending shows whether the daemon lives.
constexpr Client::Time kIdlePause = 1s;
constexpr Client::Time kCheckTimePause = 60s;
// Threads whose end gives no notification are looked for.
constexpr Client::Time kWatchPause = 1s;
constexpr std::size_t kKeeperStackBytes = 256 * 1024;

}  // namespace

Client::~Client() {
  finish(std::chrono::milliseconds(0));
  for (auto& place : buffers_) {
    if (ThreadBuffer* const buffer = place.load()) ThreadBuffer::destroy(buffer);
  }
}

// ---- a round

Client::Time Client::pass() {
  Time due{0};
  std::vector<Publisher::NewRates> new_rates;
  {
    const MutexLock lock(mutex_);
    const Time now = now_ns();
    pass_locked(now, Urgency::kWhenDue);
    due = next_due(now);
    new_rates = publisher_.take_new_rates();
  }
  tell_reports();
  tell_rates(new_rates);
  return due;
}

void Client::pass_locked(Time now, Urgency urgency) {
  restore_switches();
  let_go_of_cell_files();
  send_rest(now);
  if (now - buffers_seen_at_ >= kWatchPause) take_back_buffers(now);
  if (was_connected_ && !link_.connected()) lose_daemon(now);
  reach_daemon(now);
  if (link_.connected()) {
    conversation_.take_responses(now);
    if (wanted_.exchange(false)) registrar_.note_change_anywhere();
    publisher_.look(now);
    events_.look(now);
    if (urgency == Urgency::kNow || now >= register_at_) {
      register_and_change(now);
    }
    if (urgency == Urgency::kNow) drain_at_ = now;
    if (urgency == Urgency::kNow || now >= send_at_) send_what_waits(now);
  }
  if (was_connected_ && !link_.connected()) lose_daemon(now);
}

// Samples not oftener than they may wait; the wake-ups in between are for responses.
void Client::send_what_waits(Time now) {
  const std::uint64_t sent_before = sent_.load();
  if (now >= drain_at_) {
    drain_all();
    send_records();
    drain_at_ = now + settings_.delay;
  }
  let_go_of_removed();
  report_dropped();
  keep_in_touch(now);
  send_at_ = now + tick();
  const bool is_active = sent_.load() != sent_before || held() != 0 ||
                         !conversation_.is_settled() || events_.has_records() ||
                         sent_.load() != confirmed_.load() + lost_.load();
  // A daemon that has taken over from another answers a doorbell.
  if (has_rung_.exchange(false) || is_active) active_until_ = now + kActiveFor;
  if (now < check_time_at_) return;
  time_.check();
  check_time_at_ = now + kCheckTimePause;
}

Client::Time Client::tick() const { return std::clamp<Time>(settings_.delay, 1ms, kTick); }

void Client::reach_daemon(Time now) {
  if (link_.connected() || now < connect_at_) return;
  if (const auto done = link_.connect(); !done) {
    if (!std::exchange(told_missing_, true)) note_report("no daemon yet: " + done.error().reason);
    connect_at_ = now + connect_pause_;
    connect_pause_ = std::min(2 * connect_pause_, kConnectPauseMax);
    return;
  }
  if (!told_missing_) tell_sending();
  was_connected_ = true;
  touched_at_ = now;
  conversation_.begin();
  note_records();
}

// A daemon that ends refuses all that is sent, while its socket can still be connected to. So the
// next one is there when it has answered.
void Client::note_answer() {
  connect_pause_ = kConnectPauseMin;
  told_missing_ = false;
  if (!told_sending_) tell_sending();
}

void Client::tell_sending() {
  told_sending_ = true;
  note_report("sending to " + link_.path());
}

void Client::lose_daemon(Time now) {
  cell_files_.forget();  // what is counted from now on is for the next daemon
  if (cell_files_.has_rest()) rest_first_ = true;
  // Threads that have just sent something have counted it when they let go of their buffers.
  pass_through_buffers();
  lost_.store(sent_.load() - confirmed_.load());
  was_connected_ = false;
  waited_in_vain_ = false;
  if (std::exchange(told_sending_, false)) {
    note_report("the daemon at " + link_.path() + " is gone");
  }
  told_missing_ = true;
  connect_at_ = now + connect_pause_;
  if (conversation_.epoch() == 0) connect_pause_ = std::min(2 * connect_pause_, kConnectPauseMax);
}

void Client::let_go_of_cell_files() {
  std::vector<const ThreadBuffer*> buffers;
  if (!cell_files_.has_retired()) return;
  for_each_buffer([&](const ThreadBuffer& buffer) { buffers.push_back(&buffer); });
  cell_files_.let_go(
      buffers.size(), [&](std::size_t i) { return buffers[i]->is_in_file(); },
      [this](const CellFile& file, const LaneTails& tails)
          REQUIRES(mutex_) { return take_rest(file, tails); });
  if (cell_files_.has_retired()) return;
  registrar_.note_cells();
  settle_cells();
}

// Records that are to be sent to the next daemon name statistics, too.
void Client::let_go_of_removed() {
  if (deferred_removal_.empty()) return;
  using Rings = DeferredRemoval::Rings;
  deferred_removal_.let_go(buffers(), cell_files_.has_rest() ? Rings::kToBeRead : Rings::kRead);
}

void Client::pass_through_buffers() {
  for_each_buffer([](ThreadBuffer& buffer) { const MutexLock lock(buffer.mutex()); });
}

// A thread number that the kernel has given out again keeps the buffer reserved until that thread
// ends. Buffers without an owner give back the memory of their samples, as others do by themselves.
void Client::take_back_buffers(Time now) {
  buffers_seen_at_ = now;
  for_each_buffer([this](ThreadBuffer& buffer) {
    if (buffer.held() == 0 && buffer.try_own()) {
      {
        const MutexLock lock(buffer.mutex());
        buffer.rewind();
      }
      buffer.disown();
      buffers_given_back_.fetch_add(1, std::memory_order_release);
      return;
    }
    const pid_t thread = buffer.watched();
    if (thread == 0 || ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0 || errno != ESRCH) return;
    if (!buffer.take_back(thread, cell_files_)) return;
    buffers_given_back_.fetch_add(1, std::memory_order_release);
  });
}

// No datagram that is being made holds a number of the epoch that ends once we have had its buffer.
void Client::change_epoch(std::uint64_t epoch) {
  note_answer();
  if (cell_files_.has_rest()) rest_first_ = true;
  const std::uint64_t before = epoch_.exchange(epoch);
  note_records();
  pass_through_buffers();
  // What waited in the socket does not count for another daemon.
  lost_.store(sent_.load() - confirmed_.load());
  const bool is_unread = cell_files_.take_unread();
  if (before == 0 || before == epoch) return;
  if (cells_end_ != CellsEnd::kUnread) cells_end_ = is_unread ? CellsEnd::kUnread : CellsEnd::kRead;
  settle_cells();
}

// Once no thread can count for the daemon that has ended, and none does for the next one yet.
void Client::settle_cells() {
  if (cells_end_ == CellsEnd::kNone || cell_files_.has_retired()) return;
  const std::uint64_t counted = counted_in_cells();
  const std::uint64_t more = counted - std::exchange(settled_in_cells_, counted);
  if (std::exchange(cells_end_, CellsEnd::kNone) == CellsEnd::kRead || more == 0) return;
  lost_in_cells_ += more;
  note_report(std::to_string(more) +
              " samples may be lost: the daemon that could have counted them was killed");
}

void Client::confirm(std::uint64_t sent_before, Conversation::Taken taken) {
  const std::uint64_t known = confirmed_.load() + lost_.load();
  auto& counted = taken == Conversation::Taken::kAll ? confirmed_ : lost_;
  counted.fetch_add(sent_before - known);
}

void Client::keep_in_touch(Time now) {
  const std::uint64_t sent = sent_.load();
  const bool open = sent != confirmed_.load() + lost_.load();
  if (!open && now - touched_at_ < kIdlePause) return;
  conversation_.ping(now, sent);
  if (now - touched_at_ >= kIdlePause) {
    registrar_.look_for_void();
    touched_at_ = now;
  }
}

void Client::report_dropped() {
  const std::uint64_t dropped = this->dropped();
  if (dropped == reported_dropped_) return;
  wire::DatagramWriter datagram(epoch_.load());
  datagram.dropped(dropped - reported_dropped_);
  if (link_.send(datagram.bytes()) == Link::Sent::kDone) reported_dropped_ = dropped;
}

void Client::note_report(std::string text) {
  if (!settings_.report) return;
  reports_.push_back(std::move(text));
  if (reports_.size() > kReportsMax) reports_.pop_front();
}

void Client::tell_reports() {
  {
    const MutexLock lock(mutex_);
    telling_.clear();
    telling_.swap(reports_);
  }
  for (const std::string& text : telling_) settings_.report(text.c_str(), settings_.context);
}

Client::Time Client::next_due(Time now) {
  if (!link_.connected()) return std::max(connect_at_ - now, Time(1ms));
  const bool is_settled = now >= register_at_ && conversation_.is_settled();
  if (now >= active_until_ && is_settled) return kIdlePause;
  const Time due = register_at_ > now ? std::min(register_at_, send_at_) : send_at_;
  return std::clamp<Time>(due - now, 0ms, kTick);
}

// ---- the thread

int Client::start_keeper() {
  if (ending_ || keeper_runs_.exchange(true)) return 0;
  // None of the program's signals is handled on a thread that it does not know.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kKeeperStackBytes);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&keeper_, &attributes, &Client::run_keeper, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) keeper_runs_ = false;
  return error == 0 ? 0 : -EAGAIN;
}

void* Client::run_keeper(void* client) {
  ::pthread_setname_np(::pthread_self(), "tally-keeper");
  static_cast<Client*>(client)->keep();
  return nullptr;
}

void Client::keep() {
  while (!ending_) {
    Time due = kTick;
    try {
      due = pass();
    } catch (const std::bad_alloc&) {
      // The program's memory is the program's to worry about; the next round tries again.
    }
    if (!link_.connected()) {
      sleep_.prepare(KeeperSleep::Depth::kLight);
      if (!ending_) sleep_.sleep(due);
    } else if (due < kIdlePause) {
      wait_for_responses(due);
    } else if (fall_asleep() && !ending_) {
      sleep_.sleep(due);
    }
  }
}

// Every thread that adds a sample or calls from now on wakes us. False: one did before it knew.
bool Client::fall_asleep() {
  bool empty = true;
  for_each_buffer([&](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.set_stop(0);
    empty &= buffer.held() == 0;
  });
  sleep_.prepare(KeeperSleep::Depth::kDeep);
  empty = empty && process_barrier() && held() == 0 && !has_rung_ && !has_records();
  const MutexLock lock(mutex_);
  const Time now = now_ns();
  if (empty && now >= register_at_ && conversation_.is_settled() && deferred_removal_.empty()) {
    return true;
  }
  sleep_.prepare(KeeperSleep::Depth::kAwake);
  active_until_ = now + kActiveFor;
  return false;
}

// The time may be over already: a pass takes some. ppoll() waits for ever only without a time.
void Client::wait_for_responses(Time time_max) const {
  const short room = link_.full() ? POLLOUT : 0;
  pollfd waited{.fd = link_.fd(), .events = static_cast<short>(POLLIN | room), .revents = 0};
  const Time left = std::max(time_max, Time(0));
  const timespec time{.tv_sec = left / 1s, .tv_nsec = (left % 1s).count()};
  ::ppoll(&waited, 1, &time, nullptr);
}

void Client::finish(std::chrono::milliseconds time_max) {
  const bool is_first = !ending_.exchange(true);
  if (time_max.count() > 0 && (is_first || held() != 0 || has_records())) {
    wait_until(now_ns() + time_max, [this]() REQUIRES(mutex_) -> int {
      if (!link_.connected()) return -ENOTCONN;
      const bool settled = conversation_.is_settled() && publisher_.send_kept();
      const bool is_sent = held() == 0 && !has_rest() && !events_.has_records();
      return is_sent && settled ? 0 : -EINPROGRESS;
    });
  }
  sleep_.wake();
  if (keeper_runs_.exchange(false)) ::pthread_join(keeper_, nullptr);
  if (time_max.count() == 0 || !is_first) return;
  note_unsent();
  tell_reports();
}

// What stands in rings of a daemon that lives is not lost: it takes the records when we have ended.
void Client::note_unsent() {
  const MutexLock lock(mutex_);
  std::uint64_t unsent = held() + records_held_.load();
  const InRings rings = in_rings();
  if (cell_files_.has_rest()) unsent += rings.sent - rings.confirmed;
  if (unsent == 0) return;
  const char* why = link_.connected() ? "the daemon does not take them" : "there is no daemon";
  note_report(std::to_string(unsent)
                  .append(" samples could not be sent before the end, and are lost: ")
                  .append(why));
}

}  // namespace tallyfs
