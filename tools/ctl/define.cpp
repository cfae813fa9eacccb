// tallyctl define: writes one line into a definition file. The daemon alone judges it; if it
// refuses, tracing/error_log has the reason and the place.
#include <algorithm>
#include <array>

#include "core/base/labels.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/ctl/socket_command.h"
#include "tools/ctl/typed_words.h"
#include "tools/ctl/what.h"
#include "tools/ctl/write_report.h"
#include "tools/display/summary.h"
#include "tools/display/type_lines.h"
#include "tools/tree/definition_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kDefineText = {
    "define", "Changes the definition of a statistic.",
    "  tallyctl define web/us type=range                              min, avg, max\n"
    "  tallyctl define web/us --like db/us range_max=8000             as that one, but\n"
    "  tallyctl define web/slow of=us type=value mode=increments range_min=1000   a view"};

struct Target {
  std::string interface;
  std::string statistic;
};

// INTERFACE/STATISTIC; the statistic may be one that the line makes, a view.
Target to_target(const std::string& word) {
  constexpr std::string_view kPrefix = "statistics/";
  const std::string name = word.starts_with(kPrefix) ? word.substr(kPrefix.size()) : word;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {name, ""};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

bool has_key(const std::vector<std::string>& words, const std::string& key) {
  return std::ranges::any_of(words, [&](const auto& word) { return word.starts_with(key + "="); });
}

// Without what the words of the command say themselves.
Result<std::string> line_like(Session& session, const std::string& word) {
  const auto one = select_one(*session.source, word);
  if (!one) return one.error();
  const auto interface = read_interface(*session.source, one.value().interface);
  if (!interface) return interface.error();
  const view::Statistic* const found = interface.value().find(one.value().statistic);
  if (!found) return invalid(word + " has been removed");
  std::string line;
  for (const view::Key& key : found->definition) {
    constexpr std::array kOwn = {"name", "on", "of", "units", "help"};
    if (std::ranges::find(kOwn, key.name) != kOwn.end()) continue;
    if (has_key(session.options.words, key.name)) continue;
    line.append(" ").append(key.name).append("=").append(key.value);
  }
  return line;
}

// The text about data that a new definition has discarded.
std::string loss_of(const Target& target, const view::Statistic* before,
                    const view::Interface& was_of, const view::Statistic* after,
                    const view::Look& look) {
  if (!before || !after || before->data_us == after->data_us) return "";
  std::string text = target.interface + "/" + target.statistic + ": ";
  text.append(before->type).append(" -> ").append(after->type);
  const auto count = view::count_of(*before);
  if (before->samples == 0 || (count && *count == 0)) return text;
  text.append("; ").append(count ? view::samples_text(*count, before->units) : "the data");
  const std::uint64_t since = was_of.realtime_at(before->data_us);
  return text.append(" since ").append(look.moment(since)).append(" discarded");
}

// The text about a view that the line made: a definition makes nothing else.
std::string made_text(const Target& target, const view::Statistic* before,
                      const view::Statistic* after) {
  if (before || !after || after->key("of").empty()) return "";
  return std::string(target.interface)
      .append("/")
      .append(target.statistic)
      .append(": made, a view of ")
      .append(after->key("of"));
}

// A type that lacks something is refused with what could be written instead.
Error with_example(Error refused, const std::string& line, const view::Statistic* statistic) {
  const std::string name = "name=" + (statistic ? statistic->name : std::string()) + " ";
  const auto example = view::completed_line(line, statistic);
  if (refused.code != ErrorCode::kInvalid || !example) return refused;
  const bool has_name = example->starts_with(name);
  refused.reason.append("\n  an example that works: ")
      .append(has_name ? example->substr(name.size()) : *example);
  return refused;
}

// A definition makes no interface.
Error with_creation(Error missing, const Target& target, const std::vector<std::string>& words) {
  if (missing.code != ErrorCode::kInvalid && missing.code != ErrorCode::kNotFound) return missing;
  missing.reason.append("\n  it comes into being with: ")
      .append(create_line(target.interface, target.statistic, {words.begin() + 1, words.end()}));
  return missing;
}

Error explained(Error refused, const Target& target, const std::string& line,
                const view::Interface& before, const Session& session) {
  const view::Statistic* const named = find_typed(before, target.statistic);
  // The daemon says how it comes into being.
  const bool is_missing =
      !named && !target.statistic.empty() && !has_key(session.options.words, "of");
  return is_missing ? refused : with_example(std::move(refused), line, named);
}

bool is_pattern(const std::string& word) { return word.find_first_of("*?[") != std::string::npos; }

std::string in_one_spelling(const std::string& name) {
  auto stored = stored_name(name);
  return stored ? std::move(stored.value()) : name;
}

// Whether a word names another statistic than WHAT does.
bool names_another(const Target& target, const std::string& word) {
  constexpr std::string_view kName = "name=";
  if (target.statistic.empty() || !word.starts_with(kName)) return false;
  const std::string interface = std::string(kName).append(target.interface).append("/");
  const std::string name =
      word.substr(word.starts_with(interface) ? interface.size() : kName.size());
  return in_one_spelling(name) != in_one_spelling(target.statistic);
}

// It is of the interface, and in no definition line.
bool is_feed(const Target& target, const std::vector<std::string>& words) {
  return target.statistic.empty() && words.size() == 2 && words.back().starts_with("feed=");
}

int define_feed(Session& session, const Target& target) {
  const auto socket = socket_of(session);
  if (!socket) return complain(socket.error());
  return send_command(socket.value(),
                      "define " + target.interface + " " + session.options.words.back());
}

int define(Session& session, const std::string& like) {
  const Target target = to_target(session.options.words.front());
  if (is_feed(target, session.options.words)) return define_feed(session, target);
  if (is_pattern(session.options.words.front())) {
    return complain(kWrongUsage, session.options.words.front() +
                                     ": define changes one statistic; on, off and reset take "
                                     "patterns");
  }
  for (const std::string& word : session.options.words) {
    if (!names_another(target, word)) continue;
    return complain(kWrongUsage, word + ": that is not " + session.options.words.front() +
                                     "; no statistic gets another name");
  }
  std::string line;
  if (!target.statistic.empty()) line = "name=" + target.statistic;
  if (!like.empty()) {
    auto keys = line_like(session, like);
    if (!keys) return complain(keys.error());
    line.append(keys.value());
  }
  for (std::size_t i = 1; i < session.options.words.size(); ++i) {
    const std::string& word = session.options.words[i];
    if (!target.statistic.empty() && word.starts_with("name=")) continue;
    line.append(line.empty() ? "" : " ").append(stored_word(word));
  }
  const auto before = read_interface(*session.source, target.interface);
  if (!before) {
    // With the nearest name.
    const auto found = select(*session.source, {target.interface});
    return complain(with_creation(found ? before.error() : found.error(), target,
                                  session.options.words));
  }
  auto written = write_definition(session.source->mount(), target.interface, line);
  if (!written) written = explained(written.error(), target, line, before.value(), session);
  WriteReport report(session);
  report.add(session.options.words.front(), target.interface, line, written);
  if (const int status = report.finish(); status != kDone || session.options.json) return status;
  const auto after = read_interface(*session.source, target.interface);
  if (!after) return complain(after.error());
  const view::Statistic* const was = find_typed(before.value(), target.statistic);
  const view::Statistic* const is = find_typed(after.value(), target.statistic);
  const std::string made = made_text(target, was, is);
  const std::string loss = loss_of(target, was, before.value(), is, session.look);
  for (const std::string& text : {made, loss}) {
    if (!text.empty()) print(text + "\n");
  }
  return kDone;
}

}  // namespace

int run_define(int argc, char** argv) {
  Session session;
  std::string like;
  CommandLine line = command_line(kDefineText, session.options);
  line.add({.names = "--like",
            .variable = &like,
            .value = "WHAT",
            .text = "begin with this statistic's definition, all but name, on, of, units and help",
            .shown = Option::Default::kHidden});
  line.add_arguments("WHAT", session.options.words,
                     "INTERFACE/STATISTIC, then KEY=VALUE... as tally-definition(5) says",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  const auto& words = session.options.words;
  if (words.size() == 1 && like.empty()) {
    return complain(kWrongUsage, "define " + words[0] + " needs KEY=VALUE, as type=range; show " +
                                     words[0] + " --all has what it is defined as");
  }
  if (const auto status = session.open()) return *status;
  return define(session, like);
}

}  // namespace tallyfs
