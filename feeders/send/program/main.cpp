// tally-send: lines of text for the daemon, from shell scripts, that learn what was wrong with
// them. One thread; with --wait, one that sends, one that reads and one that waits for signals. The
// exit statuses are a promise to scripts, packaging/man/tally-send.1.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/line_splitter.h"
#include "feeders/client/socket_path.h"
#include "feeders/send/line_queue.h"
#include "feeders/send/patient_sender.h"
#include "feeders/send/refused_line.h"
#include "feeders/send/sender.h"
#include "program/command_line.h"

namespace tallyfs {
namespace {

enum Status { kDone = 0, kRefused = 1, kNoDaemon = 3 };  // 2: parse()

struct Options {
  std::string socket;
  unsigned timeout_ms = 2000;
  bool wait = false;
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
             .unknown = [this](std::uint64_t line, const Error& error) { lose(line, error); },
             .warned = [this](std::uint64_t line,
                              const Error& warning) { say(describe_warning(line, warning)); }}) {}

  Status run() {
    const auto done = options_.wait ? send_patiently() : send_all();
    if (!done) {
      say("tally-send: " + done.error().reason + "\n");
      return kNoDaemon;
    }
    return refused_ ? kRefused : kDone;
  }

 private:
  Result<void> send_all() {
    if (auto done = sender_.connect(); !done) return done;
    if (options_.verbose) say("tally-send: to " + sender_.where() + "\n");
    if (auto done = read_all(); !done) return done;
    return sender_.finish();
  }

  // A thread of its own reads, so that the program at the other end of the pipe is not held up.
  Result<void> send_patiently() {
    end_by_signals();
    PatientSender patient(sender_, queue_,
                          [this](const std::string& text) { say("tally-send: " + text + "\n"); });
    patient_ = &patient;
    std::thread([this] {
      (void)read_all();
      queue_.end();
    }).detach();
    const auto done = patient.run();
    if (queue_.dropped() != 0) say("tally-send: " + dropped() + "\n");
    if (queue_.dropped() != 0) refused_ = true;
    return done;
  }

  // A signal that ends the program ends it at once, and what was not sent is told.
  void end_by_signals() {
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    ::sigemptyset(&set);
    for (const int each : kSignals) ::sigaddset(&set, each);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::thread([this, set] {
      int signal = 0;
      ::sigwait(&set, &signal);
      tell_of_the_rest();
      std::signal(signal, SIG_DFL);
      ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      ::raise(signal);
    }).detach();
  }

  void tell_of_the_rest() const {
    const PatientSender* const patient = patient_;
    const std::uint64_t under_way = patient ? patient->under_way() : 0;
    const std::uint64_t rest = queue_.size() + under_way;
    if (rest == 0 && queue_.dropped() == 0) return;
    say("tally-send: ended by a signal: " + std::to_string(queue_.size()) +
        " lines were not sent; whether " + std::to_string(under_way) +
        " took effect is not known; " + dropped() + "\n");
  }

  std::string dropped() const {
    return std::to_string(queue_.dropped()) +
           " lines were dropped, as more than 16 MiB of lines waited for a daemon";
  }

  Result<void> read_all() {
    const std::vector<std::string> just_stdin{"-"};
    for (const std::string& each : options_.lines.empty() ? just_stdin : options_.lines) {
      // An empty argument is a line, too, in the counting.
      if (auto done = each == "-" ? send_stdin() : send_text(each + "\n"); !done) return done;
      if (auto done = send_last(); !done) return done;
    }
    return {};
  }

  Result<void> send_stdin() {
    std::array<char, 64 * 1024> buffer;
    for (;;) {
      if (!options_.wait) {
        if (auto ready = sender_.wait_for_input(STDIN_FILENO); !ready) return ready;
      }
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
    if (!line.too_long && options_.wait) {
      if (!queue_.push(line.number, line.text)) tell_of_dropping(line.number);
      return {};
    }
    if (!line.too_long) return sender_.send(line);
    refuse(line.number,
           {.reason = "longer than " + std::to_string(kLineBytesMax) + " bytes, and not sent",
            .text = std::string(line.text)});
    return {};
  }

  void tell_of_dropping(std::uint64_t line) {
    if (std::exchange(has_told_of_dropping_, true)) return;
    say("tally-send: line " + std::to_string(line) +
        " is dropped, and more will be: 16 MiB of lines wait for a daemon\n");
  }

  // With --wait it is no error: a sample that was counted is never reported as one.
  void lose(std::uint64_t line, const Error& error) {
    if (!options_.wait) return refuse(line, error);
    say(describe_warning(line, error));
  }

  // The first message names the system's daemon, if that one was fallen back to, so that a user
  // with a daemon of their own does not search the fault there.
  void refuse(std::uint64_t line, const Error& error) {
    const bool is_first = !refused_.exchange(true);
    if (is_first && sender_.fell_back()) say("tally-send: to " + sender_.where() + "\n");
    say(describe(line, error));
  }

  void say(const std::string& text) const {
    if (!options_.quiet) std::fwrite(text.data(), 1, text.size(), stderr);
  }

  const Options& options_;
  Sender sender_;
  LineSplitter splitter_{kLineBytesMax};
  LineQueue queue_;                               // with --wait
  std::atomic<const PatientSender*> patient_ = nullptr;  // the same, once it sends
  bool has_told_of_dropping_ = false;
  std::atomic<bool> refused_ = false;
};

int main(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Sends lines to tallyfs, and says what was wrong with those that it refuses.\n"
      "  tally-send 'web/latency_us 1750'              one sample\n"
      "  tally-send 'create web/hits on=1'                 a counter\n"
      "  vmstat -n 1 | awk 'NR > 2 { print \"vm/running\", $1; fflush() }' | tally-send",
      "tally-send", TALLYFS_VERSION);
  line.add({.names = "--socket",
            .variable = &options.socket,
            .value = "PATH",
            .text = "the daemon's socket; else $TALLY_SOCKET, else its default"});
  line.add({.names = "--timeout-ms",
            .variable = &options.timeout_ms,
            .value = "TIME",
            .text = "give up when the daemon has not answered anything for so long",
            .check = Time{1, 86'400'000, TimeUnit::kMilliseconds}});
  line.add_flag("--wait", options.wait,
                "wait for a daemon that is absent, restarted or silent, and keep up to 16 MiB of "
                "lines meanwhile");
  line.add_flag("-q,--quiet", options.quiet, "say nothing; the exit status tells");
  line.add_flag("-v,--verbose", options.verbose, "say which daemon is sent to", "--quiet");
  line.add_arguments("LINE", options.lines,
                     "a sample, 'INTERFACE/STATISTIC X [Y]', or a command, as tally-send(1) says; "
                     "'-', or none: lines from stdin");
  line.add_footer(
      "Exit status: 0 all lines took effect, 1 some were refused, 2 wrong usage, 3 no daemon, or "
      "it does not answer.");
  if (const auto status = line.parse(argc, argv)) return *status;
  Program program(options);
  const Status status = program.run();
  // A thread may still read the standard input, or wait for a signal.
  if (options.wait) ::_exit(status);
  return status;
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
