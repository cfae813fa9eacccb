#include "tools/ctl/socket_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/base/fd.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/options.h"

namespace tallyfs {
namespace {

// Beside this program, or else by PATH.
std::string tally_send() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / "tally-send";
  return !error && std::filesystem::exists(beside, error) ? beside.string() : "tally-send";
}

// With its standard error in a pipe. Returns an errno.
int spawn(pid_t& child, char* const* words, Fd& said) {
  std::array<int, 2> made{};
  if (::pipe2(made.data(), O_CLOEXEC) != 0) return errno;
  said = Fd(made[0]);
  const Fd to(made[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  const int error = ::posix_spawnp(&child, words[0], &actions, nullptr, words, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t size = ::read(fd, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

// People called tallyctl, and typed one line. What tally-send quotes is indented.
std::string in_our_name(std::string_view said) {
  std::string text;
  while (!said.empty()) {
    std::string_view line = said.substr(0, said.find('\n') + 1);
    if (line.empty()) line = said;
    said.remove_prefix(line.size());
    constexpr std::string_view kName = "tally-send: ";
    constexpr std::string_view kLine = "line 1: ";
    if (line.starts_with(kName)) {
      line.remove_prefix(kName.size());
      if (line.starts_with(kLine)) line.remove_prefix(kLine.size());
      text.append("tallyctl: ");
    }
    text.append(line);
  }
  return text;
}

}  // namespace

int send_command(const std::string& socket, std::string line) {
  std::string program = tally_send();
  std::string option = "--socket";
  std::string path = socket;
  std::string end = "--";
  char* const words[] = {program.data(), option.data(), path.data(),
                         end.data(),     line.data(),   nullptr};
  pid_t child = 0;
  Fd said;
  if (const int error = spawn(child, words, said)) {
    return complain(kNoAnswer, program + ": " + std::strerror(error));
  }
  const std::string text = in_our_name(read_to_end(said.get()));
  std::fwrite(text.data(), 1, text.size(), stderr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kNoAnswer;
}

Result<std::string> socket_of(Session& session) {
  const auto tree = read_tree(*session.source);
  if (!tree) return tree.error();
  return tree.value().socket;
}

}  // namespace tallyfs
