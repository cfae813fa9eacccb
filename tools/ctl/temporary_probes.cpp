#include "tools/ctl/temporary_probes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/text.h"
#include "tools/ctl/options.h"

namespace tallyfs {
namespace {

// An instance is busy while a file of it is open, or the kernel turns its events off.
constexpr int kTriesMax = 100;
constexpr timespec kBetweenTries{.tv_sec = 0, .tv_nsec = 100'000'000};
constexpr char kStay = 's';
constexpr char kRemove = 'r';
constexpr std::string_view kPrefix = "tallyctl_";
constexpr int kNamesMax = 99;
// The daemon carries on a write of a command that was killed in it: lines come after its end. A
// search for a name ends after 3 s.
constexpr int kLooksAfterKill = 35;
// A guardian's tries, and its writes.
constexpr int kRemovalMaxMs = 20'000;

// The files and lines of a removal, made before the fork: what follows allocates nothing.
struct Removal {
  Removal(const ProbeFiles& files, const std::string& name)
      : instance(files.directory() + "/instances/" + name),
        probes(files.directory() + "/uprobe_events"),
        synthetic(files.directory() + "/dynamic_events"),
        group_line("-:" + name + "/\n"),
        synthetic_line("-:synthetic/" + name + "\n"),
        back_line("-:synthetic/" + name + "_back\n"),
        group(files.directory() + "/events/" + name),
        event(files.directory() + "/events/synthetic/" + name),
        back(event + "_back") {}

  // Returns the first errno, or 0. What is not there is no error.
  int run() const {
    const int of_instance = remove_instance();
    const int of_back = remove(back, synthetic, back_line);
    const int of_synthetic = remove(event, synthetic, synthetic_line);
    const int of_probes = remove(group, probes, group_line);
    if (of_instance != 0) return of_instance;
    if (of_back != 0) return of_back;
    return of_synthetic != 0 ? of_synthetic : of_probes;
  }

  // Runs run() until no probe has appeared for a while.
  int run_after_kill() const {
    int error = run();
    for (int i = 0; i < kLooksAfterKill; ++i) {
      ::nanosleep(&kBetweenTries, nullptr);
      error = run();
    }
    return error;
  }

  bool is_there() const {
    return error_of(instance) == 0 || error_of(group) == 0 || error_of(event) == 0;
  }

  int remove_instance() const {
    int error = 0;
    for (int i = 0; i < kTriesMax; ++i) {
      error = ::rmdir(instance.c_str()) == 0 ? 0 : errno;
      if (error != EBUSY && error != ETIMEDOUT) break;
      ::nanosleep(&kBetweenTries, nullptr);
    }
    return error == ENOENT ? 0 : error;
  }

  static int error_of(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0 ? 0 : errno;
  }
  // directory: it is there as long as the events of the line are.
  static int remove(const std::string& directory, const std::string& file,
                    const std::string& line) {
    if (const int error = error_of(directory); error != 0) return error == ENOENT ? 0 : error;
    const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = ::write(fd, line.data(), line.size()) < 0 ? errno : 0;
    ::close(fd);
    return error == ENOENT ? 0 : error;
  }

  const std::string instance, probes, synthetic, group_line, synthetic_line, back_line, group,
      event, back;
};

// The guardian's whole life: it waits until the command has ended, and the socket with it.
[[noreturn]] void guard(const Removal& removal, int socket) {
  ::setsid();
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int fd = 0; nowhere >= 0 && fd <= STDERR_FILENO; ++fd) ::dup2(nowhere, fd);
  char word = 0;
  ssize_t size = 0;
  do {
    size = ::read(socket, &word, 1);
  } while (size < 0 && errno == EINTR);
  if (size != 1) ::_exit(removal.run_after_kill());
  ::_exit(word == kStay ? 0 : removal.run());
}

// Whether the guardian has ended, and its end of the socket with it.
bool has_ended(int socket) {
  pollfd end{.fd = socket, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&end, 1, kRemovalMaxMs);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

// Its files are not opened: the instance could not be removed.
Fd open_instance(const ProbeFiles& files, const std::string& name) {
  const std::string path = files.directory() + "/instances/" + name;
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Error failed(const std::string& what) {
  return {ErrorCode::kNoDevice, what + ": " + std::strerror(errno)};
}

Error left_over(const std::string& name, int error) {
  const ErrorCode code = error == EBUSY       ? ErrorCode::kBusy
                         : error == ETIMEDOUT ? ErrorCode::kTimedOut
                                              : ErrorCode::kNoDevice;
  return {code, name + " is left over (" + std::strerror(error) + "): tallyctl probe rm " + name};
}

}  // namespace

bool is_temporary(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const std::size_t end = std::min(name.find('_'), name.size());
  const bool has_number = parse_unsigned(name.substr(0, end)).value_or(0) != 0;
  return has_number && (end == name.size() || parse_unsigned(name.substr(end + 1)));
}

bool has_command(const ProbeFiles& files, const std::string& name) {
  const Fd directory = open_instance(files, name);
  return directory.valid() && ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

Result<TemporaryProbes> TemporaryProbes::open(const ProbeFiles& files) {
  const std::string name = std::string(kPrefix) + std::to_string(::getpid());
  for (int nth = 1;; ++nth) {
    auto made = open_as(files, nth == 1 ? name : name + "_" + std::to_string(nth));
    const bool is_taken = !made && made.error().code == ErrorCode::kExists;
    if (!is_taken || nth == kNamesMax) return made;
  }
}

Result<TemporaryProbes> TemporaryProbes::open_as(const ProbeFiles& files, std::string name) {
  const Removal removal(files, name);
  const Error is_taken{ErrorCode::kExists, name + " is left over: tallyctl probe rm " + name};
  if (removal.is_there()) return is_taken;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return failed("no socket");
  }
  Fd of_guardian(ends[0]), own(ends[1]);
  const pid_t guardian = ::fork();
  if (guardian < 0) return failed("no process");
  if (guardian == 0) {
    own.reset();
    guard(removal, of_guardian.get());
  }
  of_guardian.reset();
  TemporaryProbes probes(files, std::move(name), std::move(own), guardian);
  if (::mkdir(removal.instance.c_str(), 0700) == 0) {
    probes.lock_ = open_instance(files, probes.name());
    if (probes.lock_.valid()) (void)::flock(probes.lock_.get(), LOCK_SH | LOCK_NB);
    return probes;
  }
  const int error = errno;
  probes.stay();  // another run's
  if (error == EEXIST) return is_taken;
  return Error{ErrorCode::kNoDevice, removal.instance + ": " + std::strerror(error)};
}

TemporaryProbes::~TemporaryProbes() {
  if (const auto ended = end(); !ended) (void)complain(0, ended.error().reason);
}

std::string TemporaryProbes::event(const std::string& name) const {
  return "instances/" + name_ + "/events/" + name_ + "/" + name;
}

std::string TemporaryProbes::synthetic() const {
  return "instances/" + name_ + "/events/synthetic/" + name_;
}

void TemporaryProbes::stay() { stays_ = true; }

Result<void> TemporaryProbes::end() {
  if (!socket_.valid()) return {};
  const Fd socket = std::move(socket_);
  lock_.reset();
  // A guardian that was killed has no socket any more, which is no reason for a SIGPIPE.
  (void)::send(socket.get(), stays_ ? &kStay : &kRemove, 1, MSG_NOSIGNAL);
  if (!has_ended(socket.get())) return left_over(name_, ETIMEDOUT);
  int status = 0;
  while (::waitpid(guardian_, &status, 0) < 0 && errno == EINTR) continue;
  int error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (!WIFEXITED(status) && !stays_) error = Removal(files_, name_).run();
  return error == 0 ? Result<void>() : Result<void>(left_over(name_, error));
}

Result<void> remove_temporary(const ProbeFiles& files, const std::string& name) {
  const Removal removal(files, name);
  if (!removal.is_there()) return Error{ErrorCode::kNotFound, name + ": no such probes are there"};
  const int error = removal.run();
  return error == 0 ? Result<void>() : Result<void>(left_over(name, error));
}

}  // namespace tallyfs
