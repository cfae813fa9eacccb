#include "feeders/client/event_calls.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "core/wire/errno.h"

namespace tallyfs {
namespace {

// The calling thread's ids; a forked child has others.
struct Thread {
  pid_t process = 0;
  pid_t number = 0;
};

pid_t own_number() {
  thread_local Thread thread;
  const pid_t process = ::getpid();
  if (thread.process != process) {
    thread = {process, static_cast<pid_t>(::syscall(SYS_gettid))};
  }
  return thread.number;
}

}  // namespace

EventCalls::EventCalls(const Dependencies& dependencies)
    : mutex_(dependencies.mutex),
      events_(dependencies.events),
      timer_(dependencies.timer),
      settings_(dependencies.settings),
      delivery_(dependencies.delivery),
      thread_(dependencies.thread),
      upkeep_(dependencies.upkeep) {}

int EventCalls::add(FedEvent** event, std::string_view system, std::string_view name,
                    std::string_view fields) {
  if (const int error = thread_.start(); error != 0) return error;
  const MutexLock lock(mutex_);
  const auto made = events_.add(system, name, fields);
  if (!made) return -wire::to_errno(made.error().code);
  *event = made.value();
  timer_.start();
  return 0;
}

void EventCalls::remove(FedEvent& event) {
  const MutexLock lock(mutex_);
  events_.remove(event);
}

int EventCalls::write(FedEvent& event, const void* fields, std::size_t bytes) {
  std::array<char, 17> name{};
  const bool wants_comm = EventFeed::wants_comm(event);
  if (wants_comm) ::prctl(PR_GET_NAME, name.data());
  unsigned cpu = 0;
  ::getcpu(&cpu, nullptr);
  EventFeed::Writer writer{.cpu = cpu, .pid = own_number(), .comm = name.data()};
  const MutexLock lock(mutex_);
  // Under the lock: records leave in the order of their times.
  writer.now = EventFeed::Time(monotonic_ns());
  const bool is_first = !events_.has_records();
  const int error = events_.write(event, fields, bytes, writer);
  if (settings_.sends_each() || events_.is_full()) delivery_.count_sent_records(events_.send());
  // The background thread may sleep for longer than records may wait.
  if (is_first && events_.has_records()) upkeep_.sleep.wake_from_deep_sleep();
  return error;
}

}  // namespace tallyfs
