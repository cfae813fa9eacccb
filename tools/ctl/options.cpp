#include "tools/ctl/options.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/shown_text.h"
#include "program/duration.h"
#include "tools/display/rows.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kPeriodMin = 100'000;
constexpr std::uint64_t kPeriodMax = 86'400'000'000;

std::string fault_of_sort_key(const std::string& text) {
  if (view::sort_key_of(text)) return "";
  return "'" + text + "' is none of " + view::listed_sort_keys();
}

}  // namespace

std::string fault_of_period(const std::string& text) {
  if (parse_period(text) != microseconds(0)) return "";
  return "'" + text + "' is no time from " + duration_text(kPeriodMin) + " to " +
         duration_text(kPeriodMax) + ", as 1s";
}

microseconds parse_period(std::string_view text) {
  const std::uint64_t micros = parse_duration(text, TimeUnit::kSeconds).value_or(0);
  const bool is_period = micros >= kPeriodMin && micros <= kPeriodMax;
  return microseconds(is_period ? static_cast<std::int64_t>(micros) : 0);
}

microseconds Options::period() const {
  return every.empty() ? std::chrono::seconds(1) : parse_period(every);
}

CommandLine command_line(const CommandText& text, Options& options) {
  std::string description = text.purpose;
  description.append("\n").append(text.examples);
  CommandLine line(description, std::string("tallyctl ").append(text.name), TALLYFS_VERSION);
  line.add({.names = "--mount",
            .variable = &options.mount,
            .value = "PATH",
            .text = "where tallyfs is mounted; else $TALLY_MOUNT, else the only mount that can "
                    "be read",
            .shown = Option::Default::kHidden});
  line.add_flag("--json", options.json, "one object, or with --every one a line");
  line.add_flag("--ascii", options.ascii, "draw with ASCII alone");
  line.add({.names = "--color",
            .variable = &options.color,
            .value = "WHEN",
            .text = "auto, always or never",
            .check = OneOf{{"auto", "always", "never"}}});
  line.add({.names = "--theme",
            .variable = &options.theme,
            .value = "NAME",
            .text = "the background: dark or light",
            .check = OneOf{{"dark", "light"}}});
  return line;
}

void add_from(CommandLine& line, Options& options) {
  line.add({.names = "--from",
            .variable = &options.from,
            .value = "FILE",
            .text = "read a recording instead of a mount; - is stdin",
            .shown = Option::Default::kHidden});
}

void add_every(CommandLine& line, Options& options) {
  line.add({.names = "--every",
            .variable = &options.every,
            .value = "TIME",
            .text = "repeat after so long, with what was counted in between: 1s, 250ms, 5m (a "
                    "number alone: s)",
            .check = FindFault(fault_of_period),
            .shown = Option::Default::kHidden});
  line.add({.names = "--count",
            .variable = &options.count,
            .value = "N",
            .text = "end after so many; without it, Ctrl-C ends it",
            .check = InRange{1, 1'000'000'000},
            .shown = Option::Default::kHidden});
}

void add_rows(CommandLine& line, Options& options) {
  line.add({.names = "--sort",
            .variable = &options.sort,
            .value = "KEY",
            .text = "a row for each statistic, by " + view::listed_sort_keys(),
            .check = FindFault(fault_of_sort_key),
            .shown = Option::Default::kHidden});
  line.add_flag("--nonzero", options.nonzero, "only what has samples");
  add_export(line, options, "the first N rows");
}

void add_export(CommandLine& line, Options& options, const std::string& rows_of_top) {
  line.add({.names = "--top",
            .variable = &options.top,
            .value = "N",
            .text = rows_of_top,
            .check = InRange{1, 1'000'000'000},
            .shown = Option::Default::kHidden});
  line.add_flag("--csv", options.csv, "rows in plain numbers: seconds, bytes", "--json");
  line.add_flag("--tsv", options.tsv, "the same with tabs between them", "--csv --json");
}

std::string fault_of_sorting(const Options& options) {
  return options.sort == "change" ? "--sort change compares two spans: --last 5m --vs before" : "";
}

void add_table_options(CommandLine& line, Options& options) {
  line.add_flag("--utc", options.utc, "times of day in UTC");
  line.add_flag("--no-header", options.no_header, "tables without headings");
  line.add_flag("--exact", options.exact, "all digits");
  line.add_flag("-a,--all", options.all, "all rows, empty ones too");
}

bool takes_value(std::string_view word) {
  static constexpr std::array<std::string_view, 26> kWithValue = {
      "--mount", "--color", "--theme",    "--from", "--every",  "--count", "--like",
      "--scale", "--width", "--max-size", "--warn", "--over",   "--for",   "--run",
      "--store", "--tiers", "--at",       "--last", "--vs",     "--sort",  "--top",
      "--by",    "--id",    "--pid",      "--name", "--longest"};
  return std::ranges::find(kWithValue, word) != kWithValue.end();
}

int print_version() {
  std::puts("tallyctl " TALLYFS_VERSION);
  return 0;
}

int complain(int status, const std::string& text) {
  std::string line("tallyctl: ");
  // A name out of a file may have any bytes; refusals of the mount have several lines.
  for (std::string_view rest = text;; rest.remove_prefix(rest.find('\n') + 1)) {
    append_shown(line, rest.substr(0, rest.find('\n')), rest.npos, 0);
    line.push_back('\n');
    if (rest.find('\n') == rest.npos) break;
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
  return status;
}

}  // namespace tallyfs
