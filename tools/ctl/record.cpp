// tallyctl record: snapshots, each period, into a file, or what was counted into a store.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/reading_report.h"
#include "tools/ctl/recorder.h"
#include "tools/ctl/recording.h"
#include "tools/ctl/session.h"
#include "tools/ctl/store_recorder.h"

namespace tallyfs {
namespace {

constexpr CommandText kRecordText = {
    "record", "Writes snapshots of all statistics into a file or a store, until it is interrupted.",
    "  tallyctl record night.jsonl                     each second, for --from\n"
    "  tallyctl record --at 03:00..04:00 hour.jsonl    that hour, from a store\n"
    "  tallyctl record --store /var/lib/past           for ever, for show --at, --last and --vs"};

volatile sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int record_into_store(Session& session, const std::string& directory, const std::string& tiers,
                      std::uint64_t size_max) {
  const auto parsed = past::parse_tiers(tiers);
  if (!parsed) return complain(kWrongUsage, "--tiers: " + parsed.error().reason);
  auto writer =
      past::StoreWriter::open(directory, {.tiers = parsed.value(), .bytes_max = size_max});
  if (!writer) return complain(kRefused, writer.error().reason);
  catch_interrupts();
  return StoreRecorder(session, *writer.value(), [] { return interrupted != 0; }).run();
}

int record(Session& session, Recorder& recorder) {
  ReadingReport report;
  for (std::uint64_t n = 0;; ++n) {
    const auto done = recorder.write_timestamp();
    if (const auto status = recorder.status()) return *status;
    if (const auto status = report.take(done)) return *status;
    if (recorder.is_full()) {
      return complain(kDone, "the recording has reached --max-size, and ends");
    }
    const bool is_last = session.options.count != 0 && n == session.options.count;
    if (interrupted || is_last) return report.status();
    const auto next = session.next();
    if (!next) return complain(next.error());
    if (interrupted || next.value() == Source::Next::kEnd) return report.status();
  }
}

}  // namespace

int run_record(int argc, char** argv) {
  Session session;
  std::uint64_t size_max = Recorder::kBytesMax;
  std::string tiers = past::kDefaultTiers;
  CommandLine line = command_line(kRecordText, session.options);
  add_every(line, session.options);
  line.add({.names = "--max-size",
            .variable = &size_max,
            .value = "BYTES",
            .text = "a file ends before it is larger; of a store the oldest points go",
            .check = Bytes{1 << 10, std::uint64_t{1} << 50}});
  PastOptions past;
  add_past(line, past);
  line.add({.names = "--tiers",
            .variable = &tiers,
            .value = "LIST",
            .text = "how far apart points of a store are, and for how long they are kept"});
  line.add_arguments("FILE", session.options.words, "made or replaced; - is stdout", {.most = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  const bool is_export = past.is_wanted();
  const bool has_file = !session.options.words.empty();
  if (is_export ? !has_file : has_file == !past.store.empty()) {
    return complain(kWrongUsage, is_export ? "a FILE is needed, for what --at or --last has"
                                           : "a FILE is needed, or --store DIR, and not both");
  }
  if (!has_file && !session.options.every.empty()) {
    return complain(kWrongUsage, "a store is written as --tiers says; --every is of a FILE");
  }
  const auto opened =
      is_export ? session.open(past, Session::PastForm::kMoments) : session.open();
  if (opened) return *opened;
  if (!has_file) return record_into_store(session, past.store, tiers, size_max);
  const std::string& path = session.options.words.front();
  if (is_packed(path) && !past::can_compress()) {
    return complain(kRefused, path + ": this tallyctl was built without zstd");
  }
  Fd file(path == "-" ? ::dup(STDOUT_FILENO)
                      : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return complain(kRefused, path + ": " + std::strerror(errno));
  catch_interrupts();
  Recorder recorder(session, std::move(file), size_max, [] { return interrupted != 0; });
  if (is_packed(path)) recorder.pack();
  const int status = record(session, recorder);
  recorder.end();
  return recorder.status().value_or(status);
}

}  // namespace tallyfs
