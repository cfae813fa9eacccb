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

#include "feeders/client/socket_path.h"
#include "feeders/send/line_cutter.h"
#include "feeders/send/refusal.h"
#include "feeders/send/sender.h"
#include "usage/usage.h"

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
        sender_({.socket = find_socket_path(options.socket),
                 .timeout = std::chrono::milliseconds(options.timeout_ms),
                 .refused = [this](const Refusal& refusal) { refuse(refusal); }}) {}

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
    cutter_.feed(text);
    while (const auto line = cutter_.next()) {
      if (auto done = send(*line); !done) return done;
    }
    return {};
  }

  Result<void> send_last() {
    const auto line = cutter_.last();
    return line ? send(*line) : Result<void>();
  }

  Result<void> send(const NumberedLine& line) {
    if (line.says_nothing()) return {};
    if (!line.too_long) return sender_.send(line);
    refuse({.line = line.number,
            .text = line.text,
            .reason = "longer than " + std::to_string(kLineBytesMax) + " bytes, and not sent",
            .at = std::nullopt});
    return {};
  }

  // The message names the system's daemon, so that a user with a daemon of their own does not
  // search the fault there.
  void refuse(const Refusal& refusal) {
    const bool is_first = !std::exchange(refused_, true);
    if (is_first && sender_.fell_back()) say("tally-send: to " + sender_.where() + "\n");
    say(describe(refusal));
  }

  void say(const std::string& text) const {
    if (!options_.quiet) std::fwrite(text.data(), 1, text.size(), stderr);
  }

  const Options& options_;
  Sender sender_;
  LineCutter cutter_;
  bool refused_ = false;
};

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Sends lines to tallyfs, and says what was wrong with those that it refuses.");
  set_up_usage(app, "tally-send", TALLYFS_VERSION);
  show_value(app.add_option("--socket", options.socket,
                            "the daemon's socket; else $TALLY_SOCKET, else its default"),
             "PATH");
  show_value(app.add_option("--timeout-ms", options.timeout_ms,
                            "give up when the daemon has not answered anything for so long")
                 ->check(CLI::Range(1u, 86'400'000u)),
             "MS");
  auto* const quiet =
      app.add_flag("-q,--quiet", options.quiet, "say nothing; the exit status tells");
  app.add_flag("-v,--verbose", options.verbose, "say which daemon is sent to")->excludes(quiet);
  app.add_option(
      "LINE", options.lines,
      "a sample, 'INTERFACE/STATISTIC X [Y]', or a command, as tally-send(1) says; '-', or "
      "none: lines from stdin");
  app.footer(
      "Exit status: 0 all lines took effect, 1 some were refused, 2 wrong usage, 3 no daemon, or "
      "it does not answer.");
  if (const auto status = parse(app, argc, argv)) return *status;
  return Program(options).run();
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
