// The Client's side of events: see event_feed.h.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/wire/errno.h"
#include "feeders/client/client.h"

namespace tallyfs {
namespace {

// Of the calling thread; a forked child has another.
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

int Client::register_event(FedEvent** event, std::string_view system, std::string_view name,
                           std::string_view fields) {
  if (const int error = start_keeper(); error != 0) return error;
  const MutexLock lock(mutex_);
  const auto made = events_.add(system, name, fields);
  if (!made) return -wire::to_errno(made.error().code);
  *event = made.value();
  register_soon();
  return 0;
}

void Client::unregister(FedEvent& event) {
  const MutexLock lock(mutex_);
  events_.remove(event);
}

int Client::write_event(FedEvent& event, const void* fields, std::size_t bytes) {
  std::array<char, 17> name{};
  const bool wants_comm = EventFeed::wants_comm(event);
  if (wants_comm) ::prctl(PR_GET_NAME, name.data());
  unsigned cpu = 0;
  ::getcpu(&cpu, nullptr);
  EventFeed::Writer writer{.cpu = cpu, .pid = own_number(), .comm = name.data()};
  const MutexLock lock(mutex_);
  // Under the lock: records leave in the order of their times.
  writer.now = Time(monotonic_ns());
  const bool is_first = !events_.has_records();
  const int error = events_.write(event, fields, bytes, writer);
  note_records();
  if (sends_each() || events_.is_full()) send_records();
  // It may sleep for longer than records may wait.
  if (is_first && events_.has_records()) sleep_.wake_from_deep_sleep();
  return error;
}

void Client::send_records() {
  sent_ += events_.send();
  note_records();
}

void Client::note_records() {
  records_added_ = events_.added();
  records_held_ = events_.held();
  records_dropped_ = events_.dropped();
}

bool Client::has_records() {
  const MutexLock lock(mutex_);
  return events_.has_records();
}

}  // namespace tallyfs
