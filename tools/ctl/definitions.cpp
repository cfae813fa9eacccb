// tallyctl definitions and apply: all definitions as lines of the socket's grammar, which
// tally-send takes, too, and back.
#include <algorithm>
#include <fstream>
#include <iostream>

#include "core/base/labels.h"
#include "core/base/quantile_list.h"
#include "core/base/text.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/send_line.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/ctl/write_report.h"
#include "tools/display/type_lines.h"
#include "tools/tree/definition_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kDefinitionsText = {
    "definitions", "Prints definitions as lines that apply and tally-send take.",
    "  tallyctl definitions >saved               all\n"
    "  tallyctl definitions web 'block-*'        of these\n"
    "  tallyctl apply saved                      back again"};
constexpr CommandText kApplyText = {
    "apply", "Writes definitions that differ: + made, ~ changed, = as it was.",
    "  tallyctl apply --dry-run saved            only shows what would change\n"
    "  tallyctl apply saved\n"
    "  tallyctl apply --create saved             also makes what is not there"};

int print_definitions(Session& session) {
  const auto found = select(*session.source, session.options.words);
  if (!found) return complain(found.error());
  std::string text;
  std::string object;
  JsonWriter writer(object);
  writer.begin_object().key("definitions").begin_array();
  for (const Selection& selection : found.value()) {
    const auto interface = read_interface(*session.source, selection.interface);
    if (!interface) return complain(interface.error());
    for (const view::Statistic* each : selected(interface.value(), selection)) {
      std::string line("define ");
      line.append(selection.interface);
      for (const view::Key& key : each->definition) {
        line.append(" ").append(key.name).append("=").append(key.value);
      }
      writer.string(line);
      text.append(line).append("\n");
    }
  }
  writer.end_array().end_object();
  print(session.options.json ? object.append("\n") : text);
  return kDone;
}

struct Line {
  std::string interface;
  std::string statistic;
  std::string keys;  // as they stand in a definition file
  std::vector<view::Key> parsed;
};

// A list has this base although its definition does not print it (GRAMMAR.md).
constexpr std::string_view kBase = "base";
constexpr std::string_view kBaseNotPrinted = "16";

bool is_list_without_base(const std::vector<view::Key>& keys) {
  const bool is_list = std::ranges::any_of(
      keys, [](const view::Key& key) { return key.name == "type" && key.value == "list"; });
  return is_list && std::ranges::count(keys, kBase, &view::Key::name) == 0;
}

std::string_view value_of(const view::Statistic& statistic, const view::Key& key) {
  const bool is_left_out = key.name == kBase && is_list_without_base(statistic.definition);
  return is_left_out ? kBaseNotPrinted : statistic.key(key.name);
}

// quantiles= that are all below 1: a definition file takes them with a warning, a strict line not.
bool has_fractions(const std::vector<view::Key>& keys) {
  constexpr std::uint32_t kOnePercent = 10'000;
  const auto found = std::ranges::find(keys, "quantiles", &view::Key::name);
  if (found == keys.end()) return false;
  const auto list = QuantileList::parse(found->value);
  return list && list->millionths(list->size() - 1) < kOnePercent;
}

// The keys with a quantiles= that create takes, until the line itself is written.
std::string with_a_percentage(const std::vector<view::Key>& keys) {
  std::string made;
  for (const view::Key& key : keys) {
    made.append(made.empty() ? "" : " ").append(key.name).append("=");
    made.append(key.name == "quantiles" ? "50" : key.value);
  }
  return made;
}

// A name with labels may be typed otherwise than it is stored.
bool is_name_of(std::string_view stored, const view::Key& key) {
  if (key.name != "name" && key.name != "of") return false;
  const auto name = stored_name(key.value);
  return name && name.value() == stored;
}

Result<Line> parse_line(const std::string& text) {
  Tokens tokens(text);
  const auto command = tokens.next();
  const auto interface = tokens.next();
  if (!command || command->text != "define" || !interface) {
    return invalid("a line is: define INTERFACE name=STATISTIC KEY=VALUE...");
  }
  Line made{.interface = std::string(interface->text)};
  while (const auto token = tokens.next()) {
    const std::size_t equals = token->text.find('=');
    if (equals == std::string_view::npos) return invalid("no '=' in it", token->at);
    made.parsed.push_back(
        {std::string(token->text.substr(0, equals)), std::string(token->text.substr(equals + 1))});
    made.keys.append(made.keys.empty() ? "" : " ").append(token->text);
    if (made.parsed.back().name == "name") made.statistic = made.parsed.back().value;
  }
  if (made.statistic.empty()) return invalid("name= is missing");
  if (is_list_without_base(made.parsed)) {
    made.parsed.push_back({std::string(kBase), std::string(kBaseNotPrinted)});
    made.keys.append(" ").append(kBase).append("=").append(kBaseNotPrinted);
  }
  return made;
}

class Apply {
 public:
  Apply(Session& session, bool is_dry, bool creates)
      : session_(session), is_dry_(is_dry), creates_(creates) {}

  int run() {
    const std::string& path = session_.options.words.front();
    const bool is_stdin = path == "-";
    const std::string shown = is_stdin ? "stdin" : path;
    std::ifstream file;
    if (!is_stdin) file.open(path);
    std::istream& input = is_stdin ? std::cin : file;
    if (!input) return complain(kRefused, path + ": it cannot be opened");
    const auto tree = read_tree(*session_.source);
    if (!tree) return complain(tree.error());
    socket_ = tree.value().socket;
    writer_.begin_object().key("lines").begin_array();
    std::string text;
    while (std::getline(input, text)) {
      ++number_;
      if (trimmed(text).empty() || trimmed(text).starts_with('#')) continue;
      if (const auto done = apply(text); !done) {
        if (status_of(done.error()) == kNoAnswer) return complain(done.error());
        const std::string place = shown + ", line " + std::to_string(number_);
        status_ = complain(kRefused, place + ": " + done.error().reason);
        add_json(text, "refused", done.error().reason);
      }
    }
    writer_.end_array().end_object();
    if (session_.options.json) print(json_.append("\n"));
    return status_;
  }

 private:
  Result<void> apply(const std::string& text) {
    const auto parsed = parse_line(text);
    if (!parsed) return parsed.error();
    const Line& line = parsed.value();
    const auto interface = read_interface(*session_.source, line.interface);
    if (!interface && interface.error().code != ErrorCode::kNotFound) return interface.error();
    const view::Statistic* const now =
        interface ? find_typed(interface.value(), line.statistic) : nullptr;
    if (!now) {
      auto made = make(line, interface.has_value());
      if (made) add_json(text, "made", "");
      return made;
    }
    std::string changes;
    for (const view::Key& key : line.parsed) {
      const std::string_view was = value_of(*now, key);
      if (was == key.value || is_name_of(was, key)) continue;
      const auto shown = [&](std::string_view value) {
        return view::is_open_end(key.name, value) ? "unbounded" : value;
      };
      changes.append(" ").append(key.name).append("=").append(shown(was));
      changes.append("->").append(shown(key.value));
    }
    if (!changes.empty()) {
      if (auto done = write(line); !done) return done;
    }
    show(changes.empty() ? "=" : "~", line, changes);
    add_json(text, changes.empty() ? "same" : "changed", "");
    return {};
  }

  Result<void> write(const Line& line) {
    if (is_dry_) return {};
    const auto written =
        write_definition(session_.source->mount(), line.interface, line.keys,
                         has_fractions(line.parsed) ? Reading::kTolerant : Reading::kStrict);
    if (!written) return written.error();
    WriteReport::warn(line.interface + "/" + line.statistic, written.value());
    return {};
  }

  // A view is made by its line; other statistics are feeders' to make.
  Result<void> make(const Line& line, bool has_interface) {
    const bool is_view = std::ranges::any_of(
        line.parsed, [](const view::Key& key) { return key.name == "of" && !key.value.empty(); });
    const auto done = is_view && has_interface ? write(line) : create(line);
    if (done) show("+", line, "");
    return done;
  }

  Result<void> create(const Line& line) {
    const std::string name = line.interface + "/" + line.statistic;
    if (!creates_) return invalid("there is no " + name + "; --create makes it");
    if (is_dry_) return {};
    const bool is_early = has_fractions(line.parsed);
    const std::string sent =
        "create " + name + " " + (is_early ? with_a_percentage(line.parsed) : line.keys);
    if (auto done = send_line(socket_, sent); !done) return done;
    const auto made = read_interface(*session_.source, line.interface);
    if (made && find_typed(made.value(), line.statistic)) {
      return is_early ? write(line) : Result<void>();
    }
    const std::string reason = reason_of_sent(session_.source->mount(), sent);
    if (!reason.empty()) return invalid("refused, nothing changed: " + reason);
    return invalid(name + " was not made, and tracing/error_log does not say why");
  }

  void show(const char* mark, const Line& line, const std::string& changes) const {
    if (session_.options.json) return;
    print(std::string(mark) + " " + line.interface + "/" + line.statistic + changes + "\n");
  }

  // what: "made", "changed", "same" or "refused".
  void add_json(const std::string& line, const char* what, const std::string& reason) {
    writer_.begin_object().key("line").number(number_).key("text").string(line);
    writer_.key("what").string(what).key("refused");
    if (reason.empty()) {
      writer_.null();
    } else {
      writer_.string(reason);
    }
    writer_.end_object();
  }

  Session& session_;
  const bool is_dry_;
  const bool creates_;
  std::string json_;
  JsonWriter writer_{json_};
  std::string socket_;
  std::uint64_t number_ = 0;
  int status_ = kDone;
};

}  // namespace

int run_definitions(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kDefinitionsText, session.options);
  add_from(line, session.options);
  line.add_arguments("WHAT", session.options.words, "interfaces or statistics, or patterns");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  if (const auto status = session.go_to_end()) return *status;
  return print_definitions(session);
}

int run_apply(int argc, char** argv) {
  Session session;
  bool is_dry = false;
  bool creates = false;
  CommandLine line = command_line(kApplyText, session.options);
  line.add_flag("--dry-run", is_dry, "change nothing");
  line.add_flag("--create", creates, "make statistics that are not there");
  line.add_arguments("FILE", session.options.words, "lines of tallyctl definitions; - is stdin",
                     {.least = 1, .most = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  return Apply(session, is_dry, creates).run();
}

}  // namespace tallyfs
