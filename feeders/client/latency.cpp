// The C functions of latency.h: one LatencySender for the process, made by the first call.
#include "tally/latency.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "core/base/made_once.h"
#include "feeders/client/errno_guard.h"
#include "feeders/client/latency_calls.h"
#include "feeders/client/latency_sender.h"
#include "feeders/client/process_client.h"
#include "feeders/clock/program_clock.h"

namespace tallyfs {
namespace {

// Shown as 0 or less: nice 0 is -21.
constexpr int kShownOfNiceZero = -21;

// Lives until the process ends: threads may send while it does.
constinit MadeOnce<LatencySender> g_sender;

[[gnu::constructor]] void watch_forks_of_sender() {
  (void)::pthread_atfork(nullptr, nullptr, [] {
    if (LatencySender* const made = g_sender.get()) made->after_fork_in_child();
  });
}

LatencySender& sender() {
  if (LatencySender* const made = g_sender.get()) return *made;
  LatencySender& made =
      g_sender.get_or([] { return std::make_unique<LatencySender>(configured_socket_path()); });
  // Telling twice tells nothing the second time.
  (void)std::atexit([] { report_dropped_latencies(); });
  return made;
}

int shown_priority_of_this_thread() {
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy != SCHED_FIFO && policy != SCHED_RR) {
    return kShownOfNiceZero - ::getpriority(PRIO_PROCESS, 0);
  }
  sched_param parameters{};
  ::sched_getparam(0, &parameters);
  return parameters.sched_priority;
}

int send(const char* type, unsigned cpu, std::int64_t ns, const Task& task, std::int64_t now) {
  if (!type) return -EINVAL;
  const LatencySample sample{.latency_ns = ns, .time_ns = now, .cpu = cpu, .task = task};
  try {
    return sender().send(type, sample, std::chrono::nanoseconds(now));
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace

void report_dropped_latencies() {
  if (LatencySender* const made = g_sender.get()) made->report_dropped(monotonic_now());
}

}  // namespace tallyfs

using namespace tallyfs;

int latency_record(const char* type, unsigned cpu, int64_t ns, pid_t pid, int prio,
                   const char* comm) {
  const ErrnoGuard guard;
  const int shown = std::clamp(prio, -Task::kShownMax, Task::kShownMax);
  return send(type, cpu, ns, make_task(pid, shown, comm ? comm : ""), monotonic_now().count());
}

latency_mark latency_begin() { return {monotonic_now().count()}; }

int latency_end(const char* type, latency_mark mark) {
  const std::int64_t now = monotonic_now().count();
  const ErrnoGuard guard;
  char comm[16] = "";
  ::prctl(PR_GET_NAME, comm);
  const auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
  const Task task = make_task(thread, shown_priority_of_this_thread(), comm);
  return send(type, static_cast<unsigned>(::sched_getcpu()), now - mark.time_ns, task, now);
}
