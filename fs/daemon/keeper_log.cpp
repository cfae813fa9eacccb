#include "fs/daemon/keeper_log.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <string_view>

#include "core/base/fd.h"

namespace tallyfs {
namespace {

// The priority of syslog(3), and the facility of daemons before it.
constexpr const char* kJournalError = "<3>";
constexpr const char* kSyslogError = "<27>";

LogPlace keeper_log = LogPlace::kTerminal;

class KeeperLine {
 public:
  void add(std::string_view text) {
    text = text.substr(0, std::min(text.size(), kKeeperLineMax - size_));
    std::copy(text.begin(), text.end(), bytes_.data() + size_);
    size_ += text.size();
  }
  void add_number(const char* format, int number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), format, number);
    add(text.data());
  }
  void add_time(const char* format, const timeval& now) {
    std::tm parts{};
    std::array<char, 32> text{};
    if (!::localtime_r(&now.tv_sec, &parts)) return;
    add({text.data(), std::strftime(text.data(), text.size(), format, &parts)});
  }
  // There is always room for it.
  void end() { bytes_[size_++] = '\n'; }
  std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, kKeeperLineMax + 1> bytes_{};
  std::size_t size_ = 0;
};

// A socket of its own each time: the log may have been restarted.
void send_to_syslog(std::string_view line) {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_un log{.sun_family = AF_UNIX, .sun_path = "/dev/log"};
  (void)::sendto(socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&log), sizeof log);
}

void write_to_stderr(KeeperLine& line) {
  line.end();
  (void)!::write(STDERR_FILENO, line.text().data(), line.text().size());
}

void log_pieces(std::initializer_list<const char*> pieces) {
  KeeperLine line;
  timeval now{};
  ::gettimeofday(&now, nullptr);
  const auto add_pieces = [&] {
    for (const char* const piece : pieces) line.add(piece);
  };
  switch (keeper_log) {
    case LogPlace::kNowhere:
      return;
    case LogPlace::kTerminal:
      line.add_time("[%F %T", now);
      line.add_number(".%03d] [tallyfs] [error] ", static_cast<int>(now.tv_usec / 1000));
      add_pieces();
      return write_to_stderr(line);
    case LogPlace::kJournal:
      line.add(kJournalError);
      add_pieces();
      return write_to_stderr(line);
    case LogPlace::kSyslog:
      line.add(kSyslogError);
      line.add_time("%h %e %T ", now);
      line.add_number("tallyfs[%d]: ", ::getpid());
      add_pieces();
      return send_to_syslog(line.text());
  }
}

}  // namespace

void set_keeper_log(LogPlace place) {
  keeper_log = place;
  KeeperLine().add_time("%F", {});
}

void log_end(const char* reason) { log_pieces({"the end: ", reason}); }

void log_refused_program(const char* reason) {
  log_pieces({"reload: the program on disk refuses: ", reason, "; this one goes on"});
}

void log_no_program(int error) {
  const char* const reason = ::strerrordesc_np(error);
  log_pieces({"reload: cannot execute: ", reason ? reason : "?"});
}

}  // namespace tallyfs
