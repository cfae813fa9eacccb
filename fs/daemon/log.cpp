#include "fs/daemon/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "program/log.h"

namespace tallyfs {
namespace {

bool is_the_journal(int fd) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream && ::fstat(fd, &status) == 0 &&
         stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

}  // namespace

LogPlace log_to_terminal_or_journal() {
  if (is_the_journal(STDERR_FILENO)) {
    log_to_journal("tallyfs");
    return LogPlace::kJournal;
  }
  log_to_stderr("tallyfs");
  return LogPlace::kTerminal;
}

void say_error(const std::string& reason) {
  const char* const how_bad = is_the_journal(STDERR_FILENO) ? "<3>" : "";
  std::fprintf(stderr, "%stallyfs: %s\n", how_bad, reason.c_str());
}

}  // namespace tallyfs
