#include "core/tracing/set/pid_follower.h"

#include <sys/types.h>

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kSystem = "sched";
constexpr std::string_view kFork = "sched_process_fork";
constexpr std::string_view kExit = "sched_process_exit";

Error cannot_follow() {
  return {ErrorCode::kInvalid,
          "event-fork needs the events sched:sched_process_fork and sched:sched_process_exit "
          "(tallyfs -o tracefs)",
          0};
}

pid_t pid_at(std::uint32_t offset, const EventRecord& record) {
  if (offset + sizeof(pid_t) > record.bytes.size()) return 0;
  return read_raw<pid_t>(record.bytes.data() + offset);
}

}  // namespace

Result<void> PidFollower::find(std::string_view event, std::string_view parent,
                               std::string_view subject, Follows::What what) {
  const auto number = events_.find(kSystem, event);
  if (!number) return cannot_follow();
  const auto parent_field = events_.format(*number).field(parent);
  const auto subject_field = events_.format(*number).field(subject);
  if (!parent_field || parent_field.value().size != sizeof(pid_t) || !subject_field ||
      subject_field.value().size != sizeof(pid_t)) {
    return cannot_follow();
  }
  events_.at(*number).follows =
      Follows{what, parent_field.value().offset, subject_field.value().offset};
  return {};
}

Result<void> PidFollower::set_on(bool on) {
  for (const auto& event : events_.entries()) event->follows.reset();
  if (!on) return {};
  auto done = find(kFork, "parent_pid", "child_pid", Follows::What::kFork);
  if (done) done = find(kExit, "pid", "pid", Follows::What::kExit);
  if (!done) (void)set_on(false);
  return done;
}

void PidFollower::follow(const Follows& follows, const EventRecord& record) {
  const pid_t subject = pid_at(follows.subject_at, record);
  switch (follows.what) {
    case Follows::What::kFork:
      return selection_.add_child(pid_at(follows.parent_at, record), subject);
    case Follows::What::kExit:
      return selection_.remove(subject);
  }
}

}  // namespace tallyfs::tracing
