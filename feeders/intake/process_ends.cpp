#include "feeders/intake/process_ends.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/fd.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kProcessesFormat = 1;

Error failure(pid_t process, int error) {
  const std::string name = "process " + std::to_string(shown_pid(process));
  // 0 is what the kernel calls a process outside of our pid namespace.
  if (process == 0 || error == ESRCH)
    return {ErrorCode::kNotFound, name + " cannot be seen from here"};
  return {ErrorCode::kNoSpace, name + " cannot be watched: " + std::strerror(error)};
}

// The kernel has given its number to another process, and parts know processes by their numbers.
Error still_ending(pid_t process) {
  return {ErrorCode::kBusy, "a process " + std::to_string(shown_pid(process)) +
                                " was there before, and what it has sent is still taken in"};
}

}  // namespace

Fd ProcessEnds::open(pid_t process) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

Result<void> ProcessEnds::check_room(uid_t uid) const {
  const auto refusal = [](std::uint64_t bound, const std::string& of_uid) {
    return Error{ErrorCode::kNoSpace, "more than " + std::to_string(bound) + " processes" + of_uid +
                                          " have interfaces with lifetime=feeder"};
  };
  const std::uint64_t most = reserve_.limit_for(uid, kProcessesMax);
  if (watched_.size() >= most) return refusal(most, "");
  const auto is_its = [uid](const auto& each) { return each.second.uid == uid; };
  const auto its = static_cast<std::size_t>(std::ranges::count_if(watched_, is_its));
  if (uid == 0 || its < kProcessesOfUidMax) return {};
  return refusal(kProcessesOfUidMax, " of uid " + std::to_string(uid));
}

Result<void> ProcessEnds::watch(pid_t process, uid_t uid) {
  if (process == 0) return failure(process, 0);
  if (watches(process)) return {};
  Fd fd = open_(process);
  if (!fd.valid()) return failure(process, errno);
  return watch(process, uid, std::move(fd));
}

Result<void> ProcessEnds::watch(pid_t process, uid_t uid, Fd fd) {
  auto pidfd = std::make_shared<Descriptor>(loop_.context());
  boost::system::error_code error;
  if (pidfd->assign(fd.get(), error)) return failure(process, error.value());
  fd.release();
  {
    const MutexLock lock(mutex_);
    const auto before = watched_.find(process);
    if (before != watched_.end()) {
      const bool is_another = has_ended(*before->second.pidfd) && !has_ended(*pidfd);
      if (is_another) return still_ending(process);
      return {};  // another thread was first, or it has ended
    }
    if (auto room = check_room(uid); !room) return room;
    watched_.emplace(process, Watched{uid, pidfd});
  }
  wait_for({uid, process}, pidfd);
  return {};
}

void ProcessEnds::hand_on(ObjectSink& sink, HandedDescriptors& descriptors) {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    for (const auto& [process, watched] : watched_) {
      out.put(std::int32_t{process});
      out.put(std::uint32_t{watched.uid});
      out.put(descriptors.add(watched.pidfd->native_handle()));
    }
  }
  sink.put(saved_object(SavedKind::kProcesses, kProcessesFormat, "processes", bytes));
}

Result<void> ProcessEnds::load(const SavedObject& object, const Loading& loading,
                               HandedDescriptors& descriptors) {
  if (object.format != kProcessesFormat) return other_format(object);
  if (!loading.has_pages) return {};
  Result<void> failed;  // of the last that cannot be watched
  for (ByteReader in(object.bytes); in.left() != 0;) {
    const pid_t process = in.get<std::int32_t>();
    const uid_t uid = in.get<std::uint32_t>();
    const auto place = in.get<std::uint32_t>();
    if (!in.ok()) return Error{ErrorCode::kInvalid, "not a list of processes"};
    if (auto watched = watch(process, uid, descriptors.take(place)); !watched) failed = watched;
  }
  return failed;
}

bool ProcessEnds::watches(pid_t process) const {
  const MutexLock lock(mutex_);
  const auto found = watched_.find(process);
  return found != watched_.end() && !has_ended(*found->second.pidfd);
}

// The loop may have yet to hear of it.
bool ProcessEnds::has_ended(Descriptor& pidfd) {
  pollfd ended{.fd = pidfd.native_handle(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) != 0;
}

// No other thread uses this descriptor, so that any thread may begin the wait. It ends on the
// loop's. What has ended stays readable.
void ProcessEnds::wait_for(const Sender& process, const std::shared_ptr<Descriptor>& pidfd) {
  pidfd->async_wait(Descriptor::wait_read,
                    [this, process, pidfd](const boost::system::error_code& error) {
                      if (error) return;
                      const Heard heard = on_end_(process);
                      if (heard == Heard::kAgain) return wait_for(process, pidfd);
                      if (heard == Heard::kLater) return wait_for_later(process, pidfd);
                      const MutexLock lock(mutex_);
                      watched_.erase(process.pid);
                    });
}

void ProcessEnds::wait_for_later(const Sender& process,
                                 const std::shared_ptr<Descriptor>& pidfd) {
  // Shared with the wait, which alone needs it.
  const auto timer = std::make_shared<boost::asio::steady_timer>(loop_.context(), kPause);
  timer->async_wait([this, process, pidfd, timer](const boost::system::error_code& error) {
    if (!error) wait_for(process, pidfd);
  });
}

}  // namespace tallyfs
