#include "fs/daemon/reload.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fs/daemon/inheritance.h"

namespace tallyfs {
namespace {

constexpr std::chrono::milliseconds kLookPause{5};
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

// How often a program has refused to go on, as the server counts it; nothing: it does not say.
std::optional<std::uint64_t> refusals(const std::string& mount_point) {
  std::ifstream file(mount_point + "/statistics/tallyfs/data");
  std::uint64_t count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (words >> name && name == "reloads_refused" && words >> count) return count;
  }
  return std::nullopt;
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

// The new server goes on with the count of the old one.
Result<void> wait_for_another(const std::string& mount_point, pid_t server,
                              std::optional<std::uint64_t> refused_before) {
  const auto end = std::chrono::steady_clock::now() + kReloadMax;
  while (std::chrono::steady_clock::now() < end) {
    const auto now = server_of(mount_point);
    if (now && now != server) return {};
    const auto refused = refusals(mount_point);
    if (refused && refused_before && *refused > *refused_before) {
      return Error{ErrorCode::kInvalid,
                   "the program on disk refuses, and the old one goes on; its log says why"};
    }
    std::this_thread::sleep_for(kLookPause);
  }
  return Error{ErrorCode::kInvalid, "the server was not replaced; its log says why"};
}

}  // namespace

Result<void> reload(const std::string& mount_point) {
  const auto server = server_of(mount_point);
  if (!server) {
    return Error{ErrorCode::kNotFound, mount_point + "/statistics.json does not say which process "
                                                     "serves; SIGUSR2 to its keeper reloads it"};
  }
  const auto keeper = keeper_of(*server);
  if (!keeper) return keeper.error();
  if (const auto tried = try_arguments(keeper.value()); !tried) return tried.error();
  const auto refused = refusals(mount_point);
  if (::kill(keeper.value(), SIGUSR2) != 0) {
    return Error{ErrorCode::kNotPermitted, std::string("the keeper: ") + std::strerror(errno)};
  }
  return wait_for_another(mount_point, *server, refused);
}

}  // namespace tallyfs
