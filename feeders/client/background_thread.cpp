#include "feeders/client/background_thread.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "feeders/client/daemon_connection.h"
#include "feeders/client/upkeep_round.h"

namespace tallyfs {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;

}  // namespace

BackgroundThread::BackgroundThread(const Link& link, UpkeepSignals& signals, Rounds rounds)
    : link_(link), signals_(signals), rounds_(std::move(rounds)) {}

int BackgroundThread::start() {
  if (ending_ || runs_.exchange(true)) return 0;
  // None of the program's signals is handled on a thread that it does not know.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread_, &attributes, &BackgroundThread::run, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) runs_ = false;
  return error == 0 ? 0 : -EAGAIN;
}

void* BackgroundThread::run(void* thread) {
  ::pthread_setname_np(::pthread_self(), "tally-keeper");
  static_cast<BackgroundThread*>(thread)->make_rounds();
  return nullptr;
}

void BackgroundThread::make_rounds() {
  while (!ending_) {
    Time due = UpkeepRound::kTick;
    try {
      due = rounds_.run();
    } catch (const std::bad_alloc&) {
      // The program has to deal with a lack of memory; the next round tries again.
    }
    if (!link_.connected()) {
      signals_.sleep.prepare(UpkeepSleep::Depth::kLight);
      if (!ending_) signals_.sleep.sleep(due);
    } else if (due < DaemonConnection::kIdlePause) {
      wait_for_responses(due);
    } else if (rounds_.fall_asleep() && !ending_) {
      signals_.sleep.sleep(due);
    }
  }
}

// time_max may be negative: a round takes some time. ppoll() waits for ever only without a time.
void BackgroundThread::wait_for_responses(Time time_max) const {
  using namespace std::chrono_literals;
  const short room = link_.full() ? POLLOUT : 0;
  auto waited = link_.polled(static_cast<short>(POLLIN | room));
  const Time left = std::max(time_max, Time(0));
  const timespec time{.tv_sec = left / 1s, .tv_nsec = (left % 1s).count()};
  ::ppoll(waited.data(), waited.size(), &time, nullptr);
}

void BackgroundThread::join() {
  signals_.sleep.wake();
  if (runs_.exchange(false)) ::pthread_join(thread_, nullptr);
}

void BackgroundThread::reset_in_child() {
  runs_ = false;
  signals_.sleep.prepare(UpkeepSleep::Depth::kAwake);
}

}  // namespace tallyfs
