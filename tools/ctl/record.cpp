// tallyctl record: snapshots, each period, into a file.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/recorder.h"
#include "tools/ctl/session.h"

namespace tallyfs {
namespace {

constexpr CommandText kRecordText = {
    "record", "Writes snapshots of all statistics into a file, until it is interrupted.",
    "  tallyctl record night.jsonl                  each second\n"
    "  tallyctl record --every 10s --count 360 -    an hour, on stdout\n"
    "  tallyctl show --changed --from night.jsonl   what behaves unlike before at its end"};

volatile sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int record(Session& session, Recorder& recorder) {
  if (const auto status = recorder.write_header()) return *status;
  for (std::uint64_t n = 0;; ++n) {
    if (const auto status = recorder.write_moment()) return *status;
    if (recorder.is_full()) {
      return complain(kDone, "the recording has reached --max-size, and ends");
    }
    if (interrupted || (session.options.count != 0 && n == session.options.count)) return kDone;
    const auto next = session.source->next(session.options.period());
    if (!next) return complain(next.error());
    if (interrupted) return kDone;
  }
}

}  // namespace

int run_record(int argc, char** argv) {
  Session session;
  std::uint64_t size_max = Recorder::kBytesMax;
  CommandLine line = command_line(kRecordText, session.options);
  add_every(line, session.options);
  line.add({.names = "--max-size",
            .variable = &size_max,
            .value = "BYTES",
            .text = "end when the file would be larger",
            .check = Bytes{1 << 10, std::uint64_t{1} << 50}});
  line.add_arguments("FILE", session.options.words, "made anew; - is stdout",
                     {.least = 1, .most = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const std::string& path = session.options.words.front();
  Fd file(path == "-" ? ::dup(STDOUT_FILENO)
                      : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return complain(kRefused, path + ": " + std::strerror(errno));
  catch_interrupts();
  Recorder recorder(session, std::move(file), size_max, [] { return interrupted != 0; });
  return record(session, recorder);
}

}  // namespace tallyfs
