// tally-send: lines of text for the daemon, from shell scripts, that learn what was wrong with
// them. One thread; the exit statuses are a promise to scripts, packaging/man/tally-send.1.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/line_splitter.h"
#include "feeders/client/socket_path.h"
#include "feeders/send/refused_line.h"
#include "feeders/send/sender.h"
#include "program/command_line.h"

namespace tallyfs {
namespace {

enum Status { kDone = 0, kRefused = 1, kNoDaemon = 3 };  // 2: parse()

struct Options {
  std::string socket;
  unsigned timeout_ms = 2000;
  bool quiet = false;
  bool verbose = false;
  std::vector<std::string> lines;
};

class Program {
 public:
  explicit Program(const Options& options)
      : options_(options),
        sender_(
            {.socket = find_socket_path(options.socket),
             .timeout = std::chrono::milliseconds(options.timeout_ms),
             .refused = [this](std::uint64_t line, const Error& error) { refuse(line, error); },
             .warned = [this](std::uint64_t line,
                              const Error& warning) { say(describe_warning(line, warning)); }}) {}

  Status run() {
    if (const auto done = send_all(); !done) {
      say("tally-send: " + done.error().reason + "\n");
      return kNoDaemon;
    }
    return refused_ ? kRefused : kDone;
  }

 private:
  Result<void> send_all() {
    if (auto done = sender_.connect(); !done) return done;
    if (options_.verbose) say("tally-send: to " + sender_.where() + "\n");
    const std::vector<std::string> just_stdin{"-"};
    for (const std::string& each : options_.lines.empty() ? just_stdin : options_.lines) {
      // An empty argument is a line, too, in the counting.
      if (auto done = each == "-" ? send_stdin() : send_text(each + "\n"); !done) return done;
      if (auto done = send_last(); !done) return done;
    }
    return sender_.finish();
  }

  Result<void> send_stdin() {
    std::array<char, 64 * 1024> buffer;
    for (;;) {
      if (auto ready = sender_.wait_for_input(STDIN_FILENO); !ready) return ready;
      const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
      if (size == 0) return {};
      if (size < 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        say(std::string("tally-send: cannot read stdin: ") + std::strerror(errno) + "\n");
        refused_ = true;
        return {};
      }
      const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
      if (auto done = send_text(text); !done) return done;
    }
  }

  Result<void> send_text(std::string_view text) {
    splitter_.feed(text);
    while (const auto line = splitter_.next()) {
      if (auto done = send(*line); !done) return done;
    }
    return {};
  }

  Result<void> send_last() {
    const auto line = splitter_.last();
    return line ? send(*line) : Result<void>();
  }

  Result<void> send(const NumberedLine& line) {
    if (line.is_empty_or_comment()) return {};
    if (!line.too_long) return sender_.send(line);
    refuse(line.number,
           {.reason = "longer than " + std::to_string(kLineBytesMax) + " bytes, and not sent",
            .text = std::string(line.text)});
    return {};
  }

  // The first message names the system's daemon, if that one was fallen back to, so that a user
  // with a daemon of their own does not search the fault there.
  void refuse(std::uint64_t line, const Error& error) {
    const bool is_first = !std::exchange(refused_, true);
    if (is_first && sender_.fell_back()) say("tally-send: to " + sender_.where() + "\n");
    say(describe(line, error));
  }

  void say(const std::string& text) const {
    if (!options_.quiet) std::fwrite(text.data(), 1, text.size(), stderr);
  }

  const Options& options_;
  Sender sender_;
  LineSplitter splitter_{kLineBytesMax};
  bool refused_ = false;
};

int main(int argc, char** argv) {
  Options options;
  CommandLine line("Sends lines to tallyfs, and says what was wrong with those that it refuses.",
                   "tally-send", TALLYFS_VERSION);
  line.add({.names = "--socket",
            .variable = &options.socket,
            .value = "PATH",
            .text = "the daemon's socket; else $TALLY_SOCKET, else its default"});
  line.add({.names = "--timeout-ms",
            .variable = &options.timeout_ms,
            .value = "MS",
            .text = "give up when the daemon has not answered anything for so long",
            .check = InRange{1, 86'400'000}});
  line.add_flag("-q,--quiet", options.quiet, "say nothing; the exit status tells");
  line.add_flag("-v,--verbose", options.verbose, "say which daemon is sent to", "--quiet");
  line.add_arguments("LINE", options.lines,
                     "a sample, 'INTERFACE/STATISTIC X [Y]', or a command, as tally-send(1) says; "
                     "'-', or none: lines from stdin");
  line.add_footer(
      "Exit status: 0 all lines took effect, 1 some were refused, 2 wrong usage, 3 no daemon, or "
      "it does not answer.");
  if (const auto status = line.parse(argc, argv)) return *status;
  return Program(options).run();
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
