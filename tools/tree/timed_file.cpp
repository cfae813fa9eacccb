#include "tools/tree/timed_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

#include "core/base/fd.h"

namespace tallyfs {
namespace {

// Threads whose step has not ended in its time.
std::atomic<int> left_behind{0};

std::string own_name() {
  const uid_t uid = ::geteuid();
  const passwd* const found = ::getpwuid(uid);
  return found ? found->pw_name : "uid " + std::to_string(uid);
}

Error failure_of(const std::string& path, int error) {
  switch (error) {
    case EACCES:
      return {ErrorCode::kNoAccess,
              path + ": Permission denied for " + own_name() +
                  ". The user who mounted and the members of --group may read, those of " +
                  "--write-group may write definition, rules and sample_rates, clear error_log, " +
                  "remove, and set triggers on programs' events; a mount without allow_other is " +
                  "closed to all others, root too"};
    case ENOTCONN:
    case ECONNABORTED:
      return {ErrorCode::kNoDevice, path + ": the daemon of this mount is dead. Clear it with: " +
                                        "fusermount3 -u -z MOUNTPOINT (or umount -l, as root)"};
    case ENOENT:
    case ENOTDIR:
      return {ErrorCode::kNotFound, path + ": " + std::strerror(error)};
    default:
      return {ErrorCode::kInvalid, path + ": " + std::strerror(error)};
  }
}

// A reading's share of kReadingBytesMax, as long as it is under way.
class ReadingBytes {
 public:
  ReadingBytes() = default;
  ReadingBytes(const ReadingBytes&) = delete;
  ReadingBytes& operator=(const ReadingBytes&) = delete;
  ~ReadingBytes() { all -= own_; }

  // Whether there was room.
  bool add(std::size_t size) {
    own_ += size;
    return (all += size) <= kReadingBytesMax;
  }

 private:
  inline static std::atomic<std::size_t> all{0};
  std::size_t own_ = 0;
};

Result<std::string> read_now(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return failure_of(path, errno);
  std::string text;
  ReadingBytes bytes;
  std::array<char, 64 * 1024> part;
  for (;;) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size == 0) return text;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failure_of(path, errno);
    if (!bytes.add(static_cast<std::size_t>(size))) {
      return Error{ErrorCode::kTooManyFiles,
                   path + ": more than 128 MiB would be read at the same time"};
    }
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

Result<void> write_now(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return failure_of(path, errno);
  const ssize_t size = ::write(file.get(), text.data(), text.size());
  if (size < 0) return invalid(std::strerror(errno));
  if (static_cast<std::size_t>(size) < text.size()) return invalid("only a part was taken");
  return {};
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Result<std::vector<std::string>> list_now(const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return failure_of(path, errno);
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Error no_answer(const std::string& path, std::chrono::milliseconds limit) {
  return {ErrorCode::kTimedOut, path + ": the daemon does not answer for " +
                                    std::to_string(limit.count()) +
                                    " ms: is it stopped, or in a debugger?"};
}

// A step, its result, and whether the caller still waits for it.
template <typename T>
struct Task {
  explicit Task(std::function<Result<T>()> step) : work(std::move(step)) {}
  enum class State { kRunning, kDone, kAbandoned };

  std::packaged_task<Result<T>()> work;
  std::atomic<State> state{State::kRunning};
};

// A thread that makes the steps of one caller, one after the other: to create one for each file
// costs more than to read it. Shared by both, since the thread may be in the kernel when the caller
// leaves it; whichever ends last frees it.
class Helper {
 public:
  void give(std::function<void()> step) {
    step_ = std::move(step);
    orders_.release();
  }
  // The thread ends after the step that was given, also if it has not begun yet.
  void leave() { orders_.release(); }
  void work() {
    for (;;) {
      orders_.acquire();
      const auto step = std::exchange(step_, nullptr);
      if (!step) return;
      step();
    }
  }

 private:
  std::counting_semaphore<> orders_{0};
  std::function<void()> step_;  // of the caller before release(), of the thread after acquire()
};

// The helper of this thread, from its first step on.
class OwnHelper {
 public:
  OwnHelper() = default;
  OwnHelper(const OwnHelper&) = delete;
  OwnHelper& operator=(const OwnHelper&) = delete;
  ~OwnHelper() { leave(); }

  void give(std::function<void()> step) {
    if (!helper_) {
      helper_ = std::make_shared<Helper>();
      std::thread([helper = helper_] { helper->work(); }).detach();
    }
    helper_->give(std::move(step));
  }
  void leave() {
    if (const auto helper = std::exchange(helper_, nullptr)) helper->leave();
  }

 private:
  std::shared_ptr<Helper> helper_;
};

// The task is shared with a thread that may outlive the caller; whichever ends last frees it.
template <typename T>
Result<T> in_time(const std::string& path, std::chrono::milliseconds limit,
                  std::function<Result<T>()> step) {
  if (left_behind >= kAbandonedMax) return no_answer(path, limit);
  using State = typename Task<T>::State;
  const auto task = std::make_shared<Task<T>>(std::move(step));
  auto answer = task->work.get_future();
  thread_local OwnHelper helper;
  helper.give([task] {
    task->work();
    if (task->state.exchange(State::kDone) == State::kAbandoned) --left_behind;
  });
  if (answer.wait_for(limit) != std::future_status::ready) {
    ++left_behind;
    if (task->state.exchange(State::kAbandoned) == State::kRunning) {
      helper.leave();
      return no_answer(path, limit);
    }
    // It has ended just now.
    --left_behind;
  }
  return answer.get();
}

}  // namespace

bool left_a_thread_behind() { return left_behind > 0; }

Result<std::string> read_in_time(const std::string& path, std::chrono::milliseconds limit) {
  return in_time<std::string>(path, limit, [path] { return read_now(path); });
}

Result<void> write_in_time(const std::string& path, std::string_view text,
                           std::chrono::milliseconds limit) {
  return in_time<void>(path, limit,
                       [path, copy = std::string(text)] { return write_now(path, copy); });
}

Result<std::vector<std::string>> list_in_time(const std::string& path,
                                              std::chrono::milliseconds limit) {
  return in_time<std::vector<std::string>>(path, limit, [path] { return list_now(path); });
}

}  // namespace tallyfs
