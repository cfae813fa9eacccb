// tallyctl since: what was counted and what changed since the last look of this terminal. A look is
// kept as a recording of one moment, in a file for each mount and terminal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tools/ctl/commands.h"
#include "tools/ctl/recorder.h"
#include "tools/ctl/session.h"
#include "tools/ctl/snapshot.h"
#include "tools/ctl/what.h"
#include "tools/display/show.h"
#include "tools/display/summary.h"

namespace tallyfs {
namespace {

constexpr CommandText kSinceText = {
    "since", "Shows what was counted since the last look of this terminal, and what changed.",
    "  tallyctl since                of all statistics\n"
    "  tallyctl since 'web/*'        of these; the look is one at all of them\n"
    "  tallyctl since --id cron      where there is no terminal"};

// The name as a part of a file's name: '/' and '%' are escaped.
std::string escaped(std::string_view name) {
  std::string made;
  for (const char byte : name) {
    if (byte == '/')
      made.append("%2F");
    else if (byte == '%')
      made.append("%25");
    else
      made.push_back(byte);
  }
  return made;
}

std::string terminal_name() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (const char* const name = ::ttyname(fd)) return name;
  }
  return "";
}

// $XDG_STATE_HOME/tallyctl/since, else below ~/.local/state; empty: neither is known.
std::string directory() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value && *value == '/' ? value : "");
  };
  std::string home = variable("XDG_STATE_HOME");
  if (home.empty() && !variable("HOME").empty()) home = variable("HOME") + "/.local/state";
  return home.empty() ? home : home + "/tallyctl/since";
}

class Since {
 public:
  Since(Session& session, std::string path) : session_(session), path_(std::move(path)) {}

  int run() {
    const auto selections = select(*session_.source, session_.options.words);
    if (!selections) return complain(selections.error());
    const std::string written = path_ + "." + std::to_string(::getpid());
    const int status = look(written, selections.value());
    if (status != kDone) ::unlink(written.c_str());
    return status;
  }

 private:
  int look(const std::string& written, const std::vector<Selection>& selections) {
    if (const auto status = record(written)) return *status;
    const auto now = read(written);
    if (!now) return complain(now.error());
    find_last_look();
    if (session_.options.json && !session_.options.exports_rows()) {
      std::string text;
      append_differences(text, last_.value_or(Interfaces()), now.value());
      print(text.append("\n"));
    } else {
      show(now.value(), selections);
    }
    if (::rename(written.c_str(), path_.c_str()) == 0) return kDone;
    return complain(kRefused, path_ + ": " + std::strerror(errno));
  }

  static Result<Interfaces> read(const std::string& path) {
    auto recording = open_recording(path);
    if (!recording) return recording.error();
    return read_end(*recording.value());
  }

  std::optional<int> record(const std::string& path) const {
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) return complain(kRefused, path + ": " + std::strerror(errno));
    Recorder recorder(session_, std::move(file));
    if (const auto done = recorder.write_timestamp(); !done) return complain(done.error());
    if (const auto status = recorder.status()) return status;
    if (!recorder.is_full()) return std::nullopt;
    return complain(kRefused, "a look is longer than 1 GiB");
  }

  void find_last_look() {
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0) return;
    auto last = read(path_);
    if (!last) {
      complain(kDone, "the last look is damaged, and is left out: " + last.error().reason);
      return;
    }
    last_ = std::move(last).value();
    looked_us_ = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000;
  }

  bool is_of_another_start(const Interfaces& now) const {
    return std::ranges::any_of(now, [&](const auto& each) {
      const auto was = last_->find(each.first);
      return was != last_->end() && was->second.epoch != each.second.epoch;
    });
  }

  void show(const Interfaces& now, const std::vector<Selection>& selections) {
    view::Grid grid = session_.grid();
    const bool starts_anew = !last_ || is_of_another_start(now);
    if (!last_) {
      session_.put_note(grid, "the first look; of all since the reset:", {view::Tone::kDim});
    } else {
      const std::string since = "since " + dated(looked_us_, session_.options.utc);
      session_.put_note(grid, since, {view::Tone::kDim});
    }
    if (last_ && starts_anew) {
      session_.put_note(
          grid, "the daemon has started again, so that the difference is not known; of all:",
          {view::Tone::kWarning});
    }
    std::vector<view::StatisticRow> rows;
    for (const Selection& each : selections) {
      const auto found = now.find(each.interface);
      if (found == now.end() || is_own_noise(each.interface)) continue;
      for (const view::Statistic* statistic : selected(found->second, each)) {
        add(grid, rows, found->second, *statistic, starts_anew);
      }
    }
    if (!starts_anew) name_removed(grid, now);
    if (rows.empty()) session_.put_note(grid, "no samples", {});
    session_.put_rows(grid, std::move(rows));
    print(grid, session_.terminal);
  }

  // Each look opens files, which the daemon counts.
  bool is_own_noise(const std::string& interface) const {
    return interface == "tallyfs" && session_.options.words.empty() && !session_.options.all;
  }

  void add(view::Grid& grid, std::vector<view::StatisticRow>& rows,
           const view::Interface& interface, const view::Statistic& statistic,
           bool starts_anew) const {
    const auto before = last_ ? last_->find(interface.name) : Interfaces::const_iterator();
    const bool is_there = last_ && before != last_->end();
    const view::Statistic* const was = is_there ? before->second.find(statistic.name) : nullptr;
    view::StatisticRow row{&interface, &statistic, std::nullopt};
    if (last_ && !starts_anew) {
      name_change(grid, view::shown_name(interface.name, statistic.name), was, statistic);
      if (was) row.change = view::change_between(before->second, interface, statistic.name);
    }
    const bool has_samples =
        row.change ? row.change->samples.value_or(1) != 0 : statistic.samples != 0;
    if (has_samples || session_.options.all) rows.push_back(std::move(row));
  }

  void name_change(view::Grid& grid, const std::string& name, const view::Statistic* was,
                   const view::Statistic& now) const {
    const view::Style style{view::Tone::kWarning};
    if (!was)
      session_.put_note(grid, name + ": new", style);
    else if (!is_alike(*was, now))
      session_.put_note(grid, name + ": " + definition_of(*was) + " -> " + definition_of(now),
                        style);
    else if (was->data_us != now.data_us)
      session_.put_note(grid, name + ": reset", style);
  }

  void name_removed(view::Grid& grid, const Interfaces& now) const {
    for_each_of_both(
        *last_, now,
        [&](const std::string& interface, const view::Statistic* was, const view::Statistic* is) {
          if (is || !session_.options.words.empty()) return;
          session_.put_note(grid, view::shown_name(interface, was->name) + ": removed",
                            {view::Tone::kWarning});
        });
  }

  Session& session_;
  const std::string path_;
  std::optional<Interfaces> last_;
  std::uint64_t looked_us_ = 0;
};

}  // namespace

int run_since(int argc, char** argv) {
  Session session;
  std::string id;
  CommandLine line = command_line(kSinceText, session.options);
  line.add({.names = "--id",
            .variable = &id,
            .value = "NAME",
            .text = "of the look, in place of the terminal's",
            .shown = Option::Default::kHidden});
  add_rows(line, session.options);
  add_table_options(line, session.options);
  line.add_arguments("WHAT", session.options.words, "interfaces, statistics, or patterns");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const std::string fault = fault_of_sorting(session.options); !fault.empty()) {
    return complain(kWrongUsage, fault);
  }
  if (id.empty()) id = terminal_name();
  if (id.empty()) return complain(kWrongUsage, "there is no terminal; --id NAME names the look");
  const std::string at = directory();
  if (at.empty()) return complain(kWrongUsage, "set XDG_STATE_HOME or HOME: looks are kept there");
  if (const auto status = session.open()) return *status;
  std::error_code error;
  std::filesystem::create_directories(at, error);
  if (error) return complain(kRefused, at + ": " + error.message());
  const auto mount = std::filesystem::absolute(session.source->mount()).lexically_normal();
  const std::string name = escaped(mount.string()) + "-" + escaped(id);
  return Since(session, at + "/" + name).run();
}

}  // namespace tallyfs
