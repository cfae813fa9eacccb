// tallyctl record: JSON Lines, for --from. The first line is statistics.json with our version, the
// others are data.json of interfaces whose serial moved. A line is whole or not there.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "core/base/fd.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs {
namespace {

constexpr CommandText kRecordText = {
    "record", "Writes snapshots of all statistics into a file, until it is interrupted.",
    "  tallyctl record night.jsonl                  each second\n"
    "  tallyctl record --every 10s --count 360 -    an hour, on stdout\n"
    "  tallyctl show --from night.jsonl web         what it was at the end"};
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

volatile sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

class Recorder {
 public:
  Recorder(Session& session, Fd file, std::uint64_t size_max)
      : session_(session), file_(std::move(file)), size_max_(size_max) {}

  int run() {
    if (const auto status = write_header()) return *status;
    for (std::uint64_t n = 0;; ++n) {
      if (const auto status = write_moment()) return *status;
      if (interrupted || is_full_ || (session_.options.count != 0 && n == session_.options.count)) {
        return kDone;
      }
      const auto next = session_.source->next(session_.options.period());
      if (!next) return complain(next.error());
      if (interrupted) return kDone;
    }
  }

 private:
  std::optional<int> write_header() {
    const auto json = session_.source->tree();
    if (!json) return complain(json.error());
    std::string line;
    JsonWriter writer(line);
    writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
    writer.key("every_us").number(session_.options.period().count());
    for (std::size_t i = 0; i < json.value().keys.size(); ++i) {
      writer.key(json.value().keys[i]);
      write_json(writer, json.value().items[i]);
    }
    writer.end_object();
    return write(line);
  }

  std::optional<int> write_moment() {
    const auto tree = read_tree(*session_.source);
    if (!tree) return complain(tree.error());
    for (const auto& each : tree.value().interfaces) {
      const auto known = serials_.find(each.name);
      if (known != serials_.end() && known->second == each.serial) continue;
      const auto json = session_.source->interface(each.name);
      if (!json && json.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
      if (!json) return complain(json.error());
      std::string line;
      JsonWriter writer(line);
      write_json(writer, json.value());
      if (const auto status = write(line)) return status;
      if (interrupted || is_full_) return std::nullopt;
      serials_[each.name] = each.serial;
    }
    return std::nullopt;
  }

  std::optional<int> write(std::string& line) {
    line.append("\n");
    if (size_ + line.size() > size_max_) {
      is_full_ = true;
      complain(kDone, "the recording has reached --max-size, and ends");
      return std::nullopt;
    }
    size_ += line.size();
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t done = ::write(file_.get(), rest.data(), rest.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return complain(kRefused, std::string("cannot write: ") + std::strerror(errno));
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    return std::nullopt;
  }

  Session& session_;
  const Fd file_;
  const std::uint64_t size_max_;
  std::uint64_t size_ = 0;
  bool is_full_ = false;
  std::map<std::string, std::uint64_t> serials_;
};

}  // namespace

int run_record(int argc, char** argv) {
  Session session;
  std::uint64_t size_max = kGiB;
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
  return Recorder(session, std::move(file), size_max).run();
}

}  // namespace tallyfs
