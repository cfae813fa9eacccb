#include "fs/daemon/kernel_feeder/feeder_supervisor.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "core/wire/order.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/probe_group.h"
#include "feeders/tracefs/tracefs.h"
#include "fs/daemon/kernel_feeder/side_process.h"

namespace tallyfs {
namespace {

constexpr const char* kProgram = "tally-feed-tracefs";
// The shortest time between the starts of two feeders.
constexpr auto kPause = std::chrono::seconds(1);
constexpr int kCannotExecute = 127;

Error failed(const char* what) {
  return {ErrorCode::kInvalid, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

// The feeder is installed beside the daemon's own program.
std::string feeder_path() {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  return (own.parent_path() / kProgram).string();
}

// Closes all descriptors of the daemon but the channel: the socket and its lock, which the next
// daemon needs, and pipes whose end another process waits for.
void keep_only(const Fd& channel, FeederLog log) {
  let_go(log == FeederLog::kNowhere ? StandardError::kGoes : StandardError::kStays);
  const auto kept = static_cast<unsigned>(channel.get());
  if (kept > 3) ::close_range(3, kept - 1, 0);
  ::close_range(kept + 1, ~0U, 0);
}

enum class Place { kFirst, kSuccessor };

// The parameters with which a supervisor starts each feeder.
struct Start {
  const Fd& channel;
  const Fd& tracefs;  // invalid: none was found
  const std::optional<ProbeLock>& probes;  // nothing: no probe can be made
  std::string program;
  std::string socket_path;
  pid_t supervisor;
};

// A descriptor that, unlike the original, outlives the exec.
std::string inherited(const Fd& original) { return std::to_string(::dup(original.get())); }

[[noreturn]] void execute(const Start& start, Place place) {
  for (const int signal : kEndingSignals) std::signal(signal, SIG_DFL);
  std::vector<std::string> words{kProgram,
                                 "--socket",
                                 start.socket_path,
                                 "--orders",
                                 inherited(start.channel),
                                 "--owner",
                                 std::to_string(start.supervisor)};
  if (start.tracefs.valid()) {
    words.emplace_back("--tracefs");
    words.push_back(inherited(start.tracefs));
  }
  if (start.probes) {
    words.emplace_back("--probe-lock");
    words.push_back(inherited(start.probes->fd));
    words.emplace_back("--probe-group");
    words.push_back(std::to_string(start.probes->number));
  }
  if (place == Place::kSuccessor) words.emplace_back("--successor");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(start.program.c_str(), arguments.data());
  ::_exit(kCannotExecute);
}

// Whether the daemon has ended. Returns at `until` otherwise: a feeder that ran for a while is
// replaced at once.
bool wait_for_hangup(const Fd& channel, std::chrono::steady_clock::time_point until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd waited{.fd = channel.get(), .events = 0, .revents = 0};
  ::poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  return waited.revents != 0;
}

bool has_ended(const Fd& process, std::chrono::milliseconds at_most) {
  pollfd waited{.fd = process.get(), .events = POLLIN, .revents = 0};
  ::poll(&waited, 1, static_cast<int>(at_most.count()));
  return waited.revents != 0;
}

// The status of the feeder, which ends by itself, or with the daemon.
int wait_for_end(const Fd& channel, pid_t feeder) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, feeder, 0)));
  if (process.valid()) {
    std::array<pollfd, 2> waited{{{.fd = process.get(), .events = POLLIN, .revents = 0},
                                  {.fd = channel.get(), .events = 0, .revents = 0}}};
    while (::poll(waited.data(), waited.size(), -1) < 0 && errno == EINTR) {
    }
    if (!has_ended(process, kFeederEndMax)) ::kill(feeder, SIGKILL);
  }
  int status = 0;
  while (::waitpid(feeder, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void tell(const Fd& channel, const std::string& program, int status) {
  const bool never_began = WIFEXITED(status) && WEXITSTATUS(status) == kCannotExecute;
  const std::string text = wire::print(wire::Gone{
      never_began ? "cannot start " + program : "the feeder of the kernel's events ended"});
  (void)!::send(channel.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A killed feeder has left its instances, and the kernel goes on recording in them. A probe that
// is on cannot be removed, and goes off with its instance.
void remove_what_is_left(const Start& start) {
  if (!start.tracefs.valid()) return;
  InstanceOwner own{.pid = start.supervisor};
  if (start.probes) own.number = start.probes->number;
  (void)TracefsInstance::remove_left_behind(start.tracefs, &own);
  if (!start.probes) return;
  const ProbeGroup group{start.supervisor, start.probes->number};
  // A group that another tool uses is left to the next start, or to the unit's end.
  (void)remove_probe_group(start.tracefs, group.name());
}

[[noreturn]] void keep_feeding(const Start& start) {
  ::prctl(PR_SET_NAME, "tallyfs-superv");
  Place place = Place::kFirst;
  std::chrono::steady_clock::time_point started;
  do {
    started = std::chrono::steady_clock::now();
    const pid_t feeder = ::fork();
    if (feeder == 0) execute(start, place);
    place = Place::kSuccessor;
    tell(start.channel, start.program, feeder > 0 ? wait_for_end(start.channel, feeder) : 0);
  } while (!wait_for_hangup(start.channel, started + kPause));
  remove_what_is_left(start);
  ::_exit(0);
}

}  // namespace

Result<Fd> start_feeder_supervisor(const FeedSocket& socket, FeederLog log,
                                   const std::function<Result<void>()>& drop_rights) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed("make a socket for the feeder of the kernel's events");
  }
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const std::string socket_path = socket.place();
  if (socket_path.empty()) {
    return Error{
        ErrorCode::kInvalid,
        "-o tracefs needs a socket with a path: the feeder of the kernel's events sends to it"};
  }
  const pid_t child = ::fork();
  if (child < 0) return failed("fork");
  if (child == 0) {
    ignore_ending_signals();
    keep_only(theirs, log);
    auto tracefs = open_tracefs_to_keep();
    if (!drop_rights()) ::_exit(1);
    const Fd kept = tracefs ? std::move(tracefs.value()) : Fd();
    std::optional<ProbeLock> probes;
    if (kept.valid()) {
      if (auto lock = ProbeLock::take(kept)) probes = std::move(lock.value());
    }
    keep_feeding({theirs, kept, probes, feeder_path(), socket_path, ::getpid()});
  }
  return ours;
}

}  // namespace tallyfs
