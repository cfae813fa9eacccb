#include "program/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

#include <memory>

namespace tallyfs {
namespace {

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

// Not as a format string: the text may have braces.
void log_info(const std::string& text) { spdlog::info("{}", text); }
void log_warning(const std::string& text) { spdlog::warn("{}", text); }
void log_error(const std::string& text) { spdlog::error("{}", text); }

void set_log_level(const std::string& level) { spdlog::set_level(spdlog::level::from_str(level)); }

void log_to_stderr(const std::string& program) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt(program));
}

void log_to_journal(const std::string& program) {
  log_to_stderr(program);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PriorityFlag>('*').set_pattern("%*%v");
  spdlog::set_formatter(std::move(formatter));
}

void log_to_syslog(const std::string& program) {
  spdlog::set_default_logger(
      spdlog::syslog_logger_mt("daemon", program, LOG_PID, LOG_DAEMON, true));
}

}  // namespace tallyfs
