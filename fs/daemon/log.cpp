#include "fs/daemon/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace tallyfs {
namespace {

bool is_the_journal(int fd) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream && ::fstat(fd, &status) == 0 &&
         stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

int priority(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LOG_DEBUG;
    case spdlog::level::warn:
      return LOG_WARNING;
    case spdlog::level::err:
      return LOG_ERR;
    case spdlog::level::critical:
      return LOG_CRIT;
    case spdlog::level::info:
    case spdlog::level::off:
    case spdlog::level::n_levels:
      break;
  }
  return LOG_INFO;
}

class PriorityFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& text) override {
    text.push_back('<');
    text.push_back(static_cast<char>('0' + priority(message.level)));
    text.push_back('>');
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityFlag>();
  }
};

}  // namespace

void log_to_stderr() {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("tallyfs"));
  if (!is_the_journal(STDERR_FILENO)) return;
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PriorityFlag>('*').set_pattern("%*%v");
  spdlog::set_formatter(std::move(formatter));
}

void log_to_syslog() {
  spdlog::set_default_logger(
      spdlog::syslog_logger_mt("daemon", "tallyfs", LOG_PID, LOG_DAEMON, true));
}

void say_error(const std::string& reason) {
  const char* const how_bad = is_the_journal(STDERR_FILENO) ? "<3>" : "";
  std::fprintf(stderr, "%stallyfs: %s\n", how_bad, reason.c_str());
}

}  // namespace tallyfs
