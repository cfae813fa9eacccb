#include "fs/daemon/reload.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "core/statistics/branch/rules.h"
#include "fs/daemon/inheritance.h"
#include "fs/daemon/log.h"
#include "fs/daemon/mount_point.h"

namespace tallyfs {
namespace {

constexpr std::chrono::milliseconds kLookPause{5};
// For the answer that the time is up, from a child that can give one.
constexpr std::chrono::seconds kAnswerGrace{1};
constexpr std::size_t kHeadBytes = 4096;

std::optional<pid_t> number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// The beginning of a file; empty if it cannot be read.
std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

std::optional<pid_t> server_of(const std::string& mount_point) {
  return number_after(head_of(mount_point + "/statistics.json"), "\"pid\":");
}

// Counts of the server; nothing: it does not say.
struct Counts {
  std::optional<std::uint64_t> refusals;   // how often a program has refused to go on
  std::optional<std::uint64_t> takeovers;  // how many servers have ended unexpectedly
};

Counts counts_of(const std::string& mount_point) {
  std::ifstream file(mount_point + "/statistics/tallyfs/data");
  Counts counts;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t count = 0;
    if (!(words >> name >> count)) continue;
    if (name == "reloads_refused") counts.refusals = count;
    if (name == "takeovers") counts.takeovers = count;
  }
  return counts;
}

bool has_grown(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now) {
  return before && now && *now > *before;
}

std::string proc(pid_t process, const char* file) {
  return std::string("/proc/").append(std::to_string(process)).append(file);
}

Result<pid_t> keeper_of(pid_t server) {
  const auto parent = number_after(head_of(proc(server, "/status")), "PPid:");
  if (parent && head_of(proc(*parent, "/comm")) == "tallyfs-keeper\n") return *parent;
  return Error{ErrorCode::kNotFound,
               "the daemon has no keeper (--no-keeper): only a restart replaces it"};
}

std::vector<std::string> arguments_of(pid_t process) {
  std::ifstream file(proc(process, "/cmdline"), std::ios::binary);
  std::vector<std::string> all;
  for (std::string each; std::getline(file, each, '\0');) all.push_back(each);
  return all;
}

// Without descriptors: the keeper itself looks at those.
Result<void> try_arguments(pid_t keeper) {
  std::vector<std::string> arguments = arguments_of(keeper);
  std::vector<char*> pointers;
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  ::setenv(Inheritance::kVariable, to_text({.purpose = Inheritance::Purpose::kCheck}).c_str(), 1);
  pid_t child = 0;
  int status = ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ);
  if (status == 0) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (status == 0) return {};
  return Error{ErrorCode::kInvalid, "this version refuses the arguments of the daemon that runs"};
}

// Entries of error_log whose place begins so, each a head, the text, and a caret; none: it cannot
// be read. The first "] " ends the time: texts of programs, which follow, may look like a place.
std::vector<std::string> entries_of(const std::string& mount_point, std::string_view place) {
  std::ifstream file(mount_point + "/tracing/error_log");
  std::vector<std::string> entries;
  bool is_of_place = false;
  for (std::string line; std::getline(file, line);) {
    const auto at = line.starts_with('[') ? line.find("] ") : std::string::npos;
    if (at == std::string::npos) {
      if (is_of_place) entries.back().append("\n").append(line);
      continue;
    }
    is_of_place = line.compare(at + 2, place.size(), place) == 0;
    if (is_of_place) entries.push_back(line);
  }
  return entries;
}

// The newest reason in error_log; empty: there is none, or it cannot be read.
std::string refusal_of(const std::string& mount_point) {
  const std::string place = std::string(kReloadEntry).append(": error: ");
  const auto entries = entries_of(mount_point, place);
  if (entries.empty()) return {};
  const std::string head = entries.back().substr(0, entries.back().find('\n'));
  return head.substr(head.find(place) + place.size());
}

// What the new server has reported of the file of --rules, on stderr.
Reloaded tell_refused_rules(const std::string& mount_point,
                            const std::vector<std::string>& before) {
  const auto entries = entries_of(mount_point, statistics::Rules::kFileEntry);
  const auto is_new = [&](const std::string& each) {
    return std::ranges::find(before, each) == before.end();
  };
  for (const std::string& each : entries) {
    if (is_new(each)) say_error(each.substr(each.find("] ") + 2));
  }
  return std::ranges::any_of(entries, is_new) ? Reloaded::kWithoutRules : Reloaded::kWhole;
}

Error refused_program(const std::string& mount_point) {
  std::string reason = refusal_of(mount_point);
  if (reason.empty()) reason = "the program on disk refuses, and its log says why";
  return {ErrorCode::kInvalid, reason.append("; the old one goes on")};
}

// The new server goes on with the counts of the old one; one that replaces a killed server counts
// that before it answers.
Result<void> wait_for_another(const std::string& mount_point, pid_t server, const Counts& before,
                              std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end) {
    const auto now = server_of(mount_point);
    const Counts counts = counts_of(mount_point);
    if (has_grown(before.takeovers, counts.takeovers)) {
      return Error{ErrorCode::kInvalid,
                   "the server ended unexpectedly meanwhile, and was replaced as after a crash: "
                   "totals are as they were saved last, see its log; reload again"};
    }
    if (now && now != server) return {};
    if (has_grown(before.refusals, counts.refusals)) {
      return refused_program(mount_point);
    }
    std::this_thread::sleep_for(kLookPause);
  }
  return Error{ErrorCode::kInvalid, "the server was not replaced; its log says why"};
}

// The reason why the mount does not say which process serves it.
Error not_served(const std::string& mount_point) {
  const std::string file = mount_point + "/statistics.json";
  std::string reason("cannot reload ");
  reason.append(mount_point).append(": ");
  if (::access(file.c_str(), R_OK) != 0 && errno == EACCES) {
    return {ErrorCode::kNotPermitted,
            reason.append("only root, or the user that mounted it, may read ").append(file)};
  }
  if (!has_live_mount(mount_point)) {
    return {ErrorCode::kNotFound, reason.append("no tallyfs is mounted there")};
  }
  return {ErrorCode::kNotFound,
          file + " does not say which process serves; SIGUSR2 to its keeper reloads it"};
}

// A server that answers may be replaced before its keeper is found: by a reload of another caller,
// or after a crash.
Result<pid_t> find_keeper(const std::string& mount_point) {
  auto server = server_of(mount_point);
  while (server) {
    const auto keeper = keeper_of(*server);
    const auto now = keeper ? server : server_of(mount_point);
    if (now == server) return keeper;
    server = now;
  }
  return not_served(mount_point);
}

// Each look at the mount may wait for as long as its server does not answer.
Result<Reloaded> reload_until(const std::string& mount_point,
                              std::chrono::steady_clock::time_point end) {
  if (const auto alive = check_not_dead(mount_point); !alive) return alive.error();
  const auto keeper = find_keeper(mount_point);
  if (!keeper) return keeper.error();
  if (const auto tried = try_arguments(keeper.value()); !tried) return tried.error();
  const auto refused = entries_of(mount_point, statistics::Rules::kFileEntry);
  const Counts before = counts_of(mount_point);
  const auto server = server_of(mount_point);
  if (!server) return not_served(mount_point);
  if (::kill(keeper.value(), SIGUSR2) != 0) {
    return Error{ErrorCode::kNotPermitted,
                 "cannot reload " + mount_point + ": the keeper, process " +
                     std::to_string(keeper.value()) + ": " + std::strerror(errno)};
  }
  const auto done = wait_for_another(mount_point, *server, before, end);
  if (!done) return done.error();
  return tell_refused_rules(mount_point, refused);
}

bool is_on(pid_t keeper, const std::string& mount_point) {
  std::error_code error;
  const auto directory = std::filesystem::read_symlink(proc(keeper, "/cwd"), error);
  return std::ranges::any_of(arguments_of(keeper), [&](const std::string& each) {
    return (directory / each).lexically_normal() == mount_point;
  });
}

// Found without a look at the mount, by the keeper's arguments. Nothing: by none of them.
std::optional<pid_t> find_server(const std::string& mount_point) {
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator("/proc", error)) {
    const auto process = number_after(each.path().filename().native(), "");
    if (!process || head_of(proc(*process, "/comm")) != "tallyfs-keeper\n") continue;
    if (!is_on(*process, mount_point)) continue;
    const std::string id = std::to_string(*process);
    std::istringstream children(head_of("/proc/" + id + "/task/" + id + "/children"));
    for (pid_t child = 0; children >> child;) {
      if (head_of(proc(child, "/comm")) == "tallyfs\n" && ::getpgid(child) == child) return child;
    }
  }
  return std::nullopt;
}

Error no_answer(const std::string& mount_point) {
  std::string reason("the server of ");
  reason.append(mount_point);
  const auto server = find_server(mount_point);
  if (server) reason.append(", process ").append(std::to_string(*server)).append(",");
  reason.append(" does not answer: is it stopped (kill -CONT), or in a debugger?");
  return {ErrorCode::kTimedOut, reason.append(" kill -KILL lets the keeper replace it")};
}

// What a child writes where nothing is wrong; no reason begins so.
std::string text_of(Reloaded how) { return {static_cast<char>(how)}; }

// In a child: how it has ended, or what is wrong, on the pipe.
[[noreturn]] void reload_as_child(const Fd& pipe, const std::string& mount_point,
                                  std::chrono::steady_clock::time_point end) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto done = reload_until(mount_point, end);
  const std::string text = done ? text_of(done.value()) : done.error().reason;
  (void)!::write(pipe.get(), text.data(), text.size());
  ::_exit(0);
}

// A child that waits for the server cannot be waited for, even when it is killed.
Result<Reloaded> answer_of(pid_t child, const Fd& pipe, const std::string& mount_point,
                           std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waited{.fd = pipe.get(), .events = POLLIN, .revents = 0};
    if (left.count() > 0 && ::poll(&waited, 1, static_cast<int>(left.count())) < 0) continue;
    if (waited.revents != 0) break;
    if (left.count() > 0) continue;
    ::kill(child, SIGKILL);
    return no_answer(mount_point);
  }
  std::string text(kHeadBytes, '\0');
  const auto size = ::read(pipe.get(), text.data(), text.size());
  if (size <= 0) return Error{ErrorCode::kInvalid, "the process that reloads was killed"};
  text.resize(static_cast<std::size_t>(size));
  for (const Reloaded how : {Reloaded::kWhole, Reloaded::kWithoutRules}) {
    if (text == text_of(how)) return how;
  }
  return Error{ErrorCode::kInvalid, text};
}

}  // namespace

Result<Reloaded> reload(const std::string& given) {
  const auto path = absolute_mount_point(given);
  if (!path) return path.error();
  const auto end = std::chrono::steady_clock::now() + kReloadMax;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kNoSpace, std::string("no pipe: ") + std::strerror(errno)};
  }
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Error{ErrorCode::kNoSpace, std::string("fork: ") + std::strerror(errno)};
  if (child == 0) reload_as_child(theirs, path.value(), end);
  theirs.reset();
  return answer_of(child, ours, path.value(), end + kAnswerGrace);
}

}  // namespace tallyfs
