#include "feeders/clock/upkeep_thread.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace tallyfs {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr time_t kNever = 9'000'000'000;  // in the year 2255; the kernel's own time ends in 2262

}  // namespace

int UpkeepThread::start(CycleClock& clock, std::chrono::milliseconds period) {
  if (works_) return -EBUSY;
  stop();
  if (const int error = open_descriptors(); error != 0) {
    forget();
    return error;
  }
  clock_ = &clock;
  period_ = period;
  works_ = true;
  is_to_be_joined_ = spawn();
  if (!is_to_be_joined_) forget();
  return is_to_be_joined_ ? 0 : -EAGAIN;
}

// None of the program's signals is handled on a thread that it does not know.
bool UpkeepThread::spawn() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread_, &attributes, &UpkeepThread::run, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return error == 0;
}

int UpkeepThread::open_descriptors() {
  wall_set_ = Fd(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!wall_set_.valid()) return -errno;
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.valid() || !arm()) return -errno;
  return 0;
}

bool UpkeepThread::arm() const {
  itimerspec never{};
  never.it_value.tv_sec = kNever;
  return ::timerfd_settime(wall_set_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
                           nullptr) == 0;
}

void UpkeepThread::stop() {
  if (!is_to_be_joined_) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  ::pthread_join(thread_, nullptr);
  forget();
}

void UpkeepThread::forget() {
  is_to_be_joined_ = false;
  works_ = false;
  wall_set_.reset();
  stop_.reset();
}

void* UpkeepThread::run(void* self) {
  ::pthread_setname_np(::pthread_self(), "tally-clock");
  auto& thread = *static_cast<UpkeepThread*>(self);
  thread.keep();
  thread.works_ = false;
  return nullptr;
}

void UpkeepThread::keep() {
  clock_->upkeep(Wall::Cause::kDue);
  for (;;) {
    std::array<pollfd, 2> waiting = {pollfd{stop_.get(), POLLIN, 0},
                                     pollfd{wall_set_.get(), POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), static_cast<int>(period_.count()));
    if (waiting[0].revents != 0) return;
    // Reading tells ECANCELED, once; armed anew before we look, it tells of the next time.
    std::uint64_t times = 0;
    const bool was_told = waiting[1].revents != 0 &&
                          ::read(wall_set_.get(), &times, sizeof times) < 0 && errno == ECANCELED;
    if (was_told) arm();
    clock_->upkeep(was_told ? Wall::Cause::kTold : Wall::Cause::kDue);
  }
}

}  // namespace tallyfs
