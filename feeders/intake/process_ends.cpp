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
#include "core/base/descriptor_numbers.h"
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

Error keeper_has_no_room() {
  return {ErrorCode::kNoSpace, "the keeper has no room for one more process"};
}

// The kernel has given its number to another process, and parts know processes by their numbers.
Error still_ending(pid_t process) {
  return {ErrorCode::kBusy, "a process " + std::to_string(shown_pid(process)) +
                                " was there before, and what it has sent is still taken in"};
}

}  // namespace

Fd ProcessEnds::open(pid_t process) {
  return opened_unseen(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
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
  const auto watched = watch(process, uid, std::move(fd));
  if (!watched) return watched.error();
  if (keeper_ && watched.value()) keeper_->write_through(*this);
  return {};
}

Result<bool> ProcessEnds::watch(pid_t process, uid_t uid, Fd fd) {
  auto pidfd = std::make_shared<Descriptor>(loop_.context());
  boost::system::error_code error;
  if (pidfd->assign(fd.get(), error)) return failure(process, error.value());
  fd.release();
  {
    const MutexLock lock(mutex_);
    const auto before = watched_.find(process);
    if (before != watched_.end()) {
      const bool is_another =
          has_ended(before->second.pidfd->native_handle()) && !has_ended(pidfd->native_handle());
      if (is_another) return still_ending(process);
      return false;  // another thread was first, or it has ended
    }
    if (auto room = check_room(uid); !room) return room.error();
    // The next server would not watch a process that the keeper does not hold.
    const bool is_held =
        !keeper_ || keeper_->descriptors().add(pidfd->native_handle()) != TransferredFds::kNone;
    if (!is_held) return keeper_has_no_room();
    watched_.emplace(process, Watched{uid, pidfd});
  }
  wait_for({uid, process}, pidfd);
  return true;
}

void ProcessEnds::save_for_successor(ObjectSink& sink, TransferredFds& descriptors) {
  (void)put(sink, descriptors, Ended::kAll);
}

bool ProcessEnds::put(ObjectSink& sink, TransferredFds& descriptors, Ended which) {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    const auto append = [&](pid_t process, const Watched& watched) {
      out.put(std::int32_t{process});
      out.put(std::uint32_t{watched.uid});
      out.put(descriptors.add(watched.pidfd->native_handle()));
    };
    const bool is_kept = sink.reader() == ObjectSink::Reader::kSuccessor;
    // The first of two with one number is the one that lives.
    for (const auto& [process, watched] : watched_) append(process, watched);
    const std::size_t left_out = which == Ended::kNotSaved ? saved_ends_ : 0;
    for (std::size_t i = left_out; is_kept && i < ended_.size(); ++i) {
      append(ended_[i].first, ended_[i].second);
    }
  }
  return sink.put(saved_object(SavedKind::kProcesses, kProcessesFormat, "processes", bytes));
}

Result<void> ProcessEnds::load(const SavedObject& object, const Loading& loading,
                               TransferredFds& descriptors) {
  if (object.format != kProcessesFormat) return other_format(object);
  if (!loading.has_pages) return {};
  Result<void> failed;  // of the last that cannot be watched
  for (ByteReader in(object.bytes); in.left() != 0;) {
    const pid_t process = in.get<std::int32_t>();
    const uid_t uid = in.get<std::uint32_t>();
    const auto place = in.get<std::uint32_t>();
    if (!in.ok()) return Error{ErrorCode::kInvalid, "not a list of processes"};
    Fd fd = descriptors.take(place);
    const bool is_taken = fd.valid();
    const bool was_over = is_taken && has_ended(fd.get());
    if (!is_taken) fd = open_(process);
    const int pidfd = fd.get();
    const auto watched =
        fd.valid() ? watch(process, uid, std::move(fd)) : Result<bool>(failure(process, errno));
    if (is_taken && watched && watched.value()) descriptors.adopt(place, pidfd);
    if (watched) continue;
    if (!was_over) failed = watched.error();
    end_unwatched({uid, process});
  }
  return failed;
}

// State that goes with a process would stay for ever if its end was not heard of.
void ProcessEnds::end_unwatched(const Sender& process) {
  const auto timer = std::make_shared<boost::asio::steady_timer>(loop_.context(), kPause);
  timer->async_wait([this, process, timer](const boost::system::error_code& error) {
    if (!error && on_end_(process) != Heard::kDone) end_unwatched(process);
  });
}

void ProcessEnds::begin_save() {
  const MutexLock lock(mutex_);
  saved_ends_ = ended_.size();
}

void ProcessEnds::end_save(ObjectSink& sink, TransferredFds& descriptors) {
  if (!put(sink, descriptors, Ended::kNotSaved)) return;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < saved_ends_; ++i) {
    descriptors.remove(ended_[i].second.pidfd->native_handle());
  }
  ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(saved_ends_));
  saved_ends_ = 0;
}

// Where the memory for what is kept takes nothing, few are remembered.
void ProcessEnds::note_heard(pid_t process) {
  {
    const MutexLock lock(mutex_);
    const auto found = watched_.find(process);
    if (found == watched_.end()) return;
    if (keeper_ && ended_.size() < kProcessesMax) {
      ended_.emplace_back(process, std::move(found->second));
    } else if (keeper_) {
      keeper_->descriptors().remove(found->second.pidfd->native_handle());
    }
    watched_.erase(found);
  }
  if (keeper_) keeper_->note_end();
}

bool ProcessEnds::watches(pid_t process) const {
  const MutexLock lock(mutex_);
  const auto found = watched_.find(process);
  return found != watched_.end() && !has_ended(found->second.pidfd->native_handle());
}

// The loop may have yet to hear of it.
bool ProcessEnds::has_ended(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
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
                      note_heard(process.pid);
                    });
}

void ProcessEnds::wait_for_later(const Sender& process, const std::shared_ptr<Descriptor>& pidfd) {
  // Shared with the wait, which alone needs it.
  const auto timer = std::make_shared<boost::asio::steady_timer>(loop_.context(), kPause);
  timer->async_wait([this, process, pidfd, timer](const boost::system::error_code& error) {
    if (!error) wait_for(process, pidfd);
  });
}

}  // namespace tallyfs
