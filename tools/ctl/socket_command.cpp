#include "tools/ctl/socket_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

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

}  // namespace

int send_command(const std::string& socket, std::string line) {
  std::string program = tally_send();
  std::string option = "--socket";
  std::string path = socket;
  std::string end = "--";
  char* const words[] = {program.data(), option.data(), path.data(),
                         end.data(),     line.data(),   nullptr};
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, words[0], nullptr, nullptr, words, environ)) {
    return complain(kNoAnswer, program + ": " + std::strerror(error));
  }
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
