#include "feeders/log/program/options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/base/nearest.h"
#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

void add_rules(CommandLine& line, Options& options) {
  line.add({.names = "--rules",
            .variable = &options.rules,
            .value = "FILE",
            .text = "what lines become; read again at SIGHUP"});
  line.add({.names = "--format",
            .variable = &options.format,
            .value = "NAME",
            .text = "rules that come ready, as nginx, apache or haproxy"});
  line.add({.names = "--match",
            .variable = &options.match,
            .value = "PATTERN",
            .text = "one rule, instead of a file, for lines that match this of RE2"});
  line.add_list("--sample", options.samples, "NAME=NUMBER",
                "an action of that rule: 'app/query_us={ms}*1000'");
  line.add_list("--count", options.counts, "NAME", "the same: adds 1, 'app/errors'");
  line.add_list("--event", options.events, "FIELDS", "the same: 'web/request path={path}'");
  line.add_flag("--json", options.is_json,
                "lines are objects of JSON, {.request.seconds} is a field");
  line.add_flag("--logfmt", options.is_logfmt, "lines are logfmt, key=value, {.key} is a field",
                "--json");
  line.add({.names = "--time",
            .variable = &options.time,
            .value = "FORMAT",
            .text = "samples have the time of the group (?<time>...), by strptime(3)"});
}

void add_sources(CommandLine& line, Options& options) {
  line.add({.names = "--from",
            .variable = &options.from,
            .value = "WHERE",
            .text = "where files begin that are there already: start or end",
            .check = OneOf{{"start", "end"}}});
  line.add({.names = "--positions",
            .variable = &options.positions,
            .value = "FILE",
            .text = "keeps there how far files were read, and continues"});
  line.add_list("--journal", options.journal, "UNIT",
                "reads systemd's journal: what that unit writes, or all with '*'");
  line.add({.names = "--journal-directory",
            .variable = &options.journal_directory,
            .value = "DIR",
            .text = "of that journal, instead of the system's"});
  line.add_flag("--once", options.is_once, "read to the end, print what was counted, and end");
  line.add_flag("--check", options.checks_lines,
                "print what each line of FILE or the standard input would do, and end", "--once");
}

Result<std::string> read_file(const std::string& path, const std::string& option) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return invalid(option + ": " + path + " is a directory");
  }
  std::ifstream file(path);
  // A byte more than rules may have: /dev/zero has no end.
  std::string text(kRulesBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kNotFound, option + ": cannot read " + path};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// share/tallyfs/logs beside the folder of the program.
std::filesystem::path formats_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share" / "tallyfs" / "logs";
}

std::vector<std::string> formats_in(const std::filesystem::path& folder) {
  std::vector<std::string> formats;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".rules") formats.push_back(entry.path().stem());
  }
  std::ranges::sort(formats);
  return formats;
}

Result<std::string> read_format(const std::string& name) {
  const std::filesystem::path folder = formats_folder();
  const std::vector<std::string> known = formats_in(folder);
  if (known.empty()) {
    return Error{ErrorCode::kNotFound, "--format: there are no formats in " + folder.string() +
                                           ", which is where the package has them; name a file of "
                                           "rules with --rules"};
  }
  if (std::ranges::find(known, name) != known.end()) {
    return read_file(folder / (name + ".rules"), "--format " + name);
  }
  std::string reason = "--format: there is no format '" + name + "'";
  if (const auto meant = nearest(name, known)) {
    reason.append("; did you mean ").append(*meant);
  } else {
    for (const std::string& each : known)
      reason.append(&each == known.data() ? "; there are " : ", ").append(each);
  }
  return invalid(std::move(reason));
}

Result<std::string> text_of(const Options& options) {
  const bool has_actions =
      !options.samples.empty() || !options.counts.empty() || !options.events.empty();
  const bool has_rule = options.match || has_actions;
  const int given =
      (options.rules.empty() ? 0 : 1) + (options.format.empty() ? 0 : 1) + (has_rule ? 1 : 0);
  if (given == 0) return invalid("one of --rules, --format and --match is needed");
  if (given > 1) return invalid("only one of --rules, --format and --match can be given");
  if (!options.rules.empty()) return read_file(options.rules, "--rules");
  if (!options.format.empty()) return read_format(options.format);
  if (!has_actions) return invalid("--match needs --sample, --count or --event");
  std::string text = "match " + options.match.value_or("") + "\n";
  for (const auto& each : options.samples) text.append("  sample ").append(each).append("\n");
  for (const auto& each : options.counts) text.append("  count ").append(each).append("\n");
  for (const auto& each : options.events) text.append("  event ").append(each).append("\n");
  return text;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  auto line = make_command_line("Feeds tallyfs with what programs write into their logs.", options);
  add_rules(line, options);
  add_sources(line, options);
  add_series_options(line, options.limits.series_max, options.limits.per_name_max);
  line.add_arguments("FILE", options.paths,
                     "logs, or patterns of glob(7) for them; - is the standard input");
  return line.parse(argc, argv);
}

bool has_journal(const Options& options) {
  return !options.journal.empty() || !options.journal_directory.empty();
}

Result<Rules> read_rules(const Options& options, NameScales scales) {
  auto text = text_of(options);
  if (!text) return text.error();
  const RuleSettings settings{.form = options.is_json     ? LineForm::kJson
                                      : options.is_logfmt ? LineForm::kLogfmt
                                                          : LineForm::kText,
                              .time_format = options.time,
                              .has_journal_fields = has_journal(options) || options.checks_lines,
                              .scales = std::move(scales)};
  auto rules = parse_rules(text.value(), settings);
  if (rules) return rules;
  Error error = rules.error();
  const std::string& file = !options.rules.empty() ? options.rules : options.format;
  if (error.location.empty() && !file.empty()) error.reason.insert(0, file + ": ");
  if (!error.location.empty()) {
    error.location =
        file.empty() ? "--match, --sample, --count or --event" : file + ", " + error.location;
  }
  return error;
}

// A pattern leaves out what is compressed.
Result<void> check_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      return invalid(path + ": this is a directory; a pattern finds the logs in it, as '" + path +
                     "/*.log'");
    }
    if (is_compressed(path) && !is_pattern(path)) {
      return invalid(path + ": compressed files are not read; zcat " + path +
                     " | tally-feed-log --once ... -");
    }
  }
  return {};
}

Result<Service::Settings> to_settings(const Options& options) {
  if (const auto checked = check_paths(options.paths); !checked) return checked.error();
  Service::Settings settings;
  settings.paths = options.paths;
  settings.reads_standard_input = std::erase(settings.paths, "-") != 0;
  if (settings.paths.empty() && !settings.reads_standard_input && !has_journal(options)) {
    return invalid("FILE: a log, - for the standard input, or --journal is needed");
  }
  if (has_journal(options)) {
    settings.journal.emplace();
    settings.journal->directory = options.journal_directory;
    settings.journal->units = options.journal;
    std::erase(settings.journal->units, "*");
  }
  settings.from = options.from == "start" ? From::kStart : From::kEnd;
  settings.ends = options.is_once;
  settings.positions = options.positions;
  settings.limits = options.limits;
  settings.read_rules = [options](NameScales scales) {
    return read_rules(options, std::move(scales));
  };
  return settings;
}

}  // namespace tallyfs::logs
