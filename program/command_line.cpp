#include "program/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <type_traits>

#include "core/base/nearest.h"

namespace tallyfs {

std::string find_mode_fault(const std::string& text) {
  const bool is_octal =
      !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == std::string::npos;
  return is_octal ? std::string() : "not an octal mode: " + text;
}

namespace {

// Without "TEXT", "REQUIRED", "(1x)", "Excludes:".
class PlainFormatter : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    std::string name = make_option_name(option, true);
    if (option->get_expected_max() >= CLI::detail::expected_max_vector_size) name += "...";
    return option->get_required() ? name : "[" + name + "]";
  }
};

// The number as it may be typed on the command line.
std::string in_units(std::uint64_t bytes) {
  if (bytes % (1 << 30) == 0) return std::to_string(bytes >> 30) + "G";
  if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + "M";
  return std::to_string(bytes);
}

template <typename T>
CLI::Range range_of(std::uint64_t least, std::uint64_t most) {
  return CLI::Range(static_cast<T>(least), static_cast<T>(most));
}

CLI::Validator range_for(const OptionVariable& variable, const InRange& range) {
  if (std::holds_alternative<int*>(variable)) return range_of<int>(range.least, range.most);
  if (std::holds_alternative<unsigned*>(variable)) {
    return range_of<unsigned>(range.least, range.most);
  }
  return range_of<std::uint64_t>(range.least, range.most);
}

std::uint64_t in_micros(std::uint64_t number, TimeUnit unit) {
  return number * static_cast<std::uint64_t>(unit);
}

std::string bounds_text(const Time& time) {
  return duration_text(in_micros(time.least, time.unit)) + " to " +
         duration_text(in_micros(time.most, time.unit));
}

// Replaces the text by the number of units that the variable takes. Returns what is wrong.
std::string take_time(const Time& time, std::string& text) {
  const auto micros = parse_duration(text, time.unit);
  const std::uint64_t unit = in_micros(1, time.unit);
  if (!micros || *micros < time.least * unit || *micros > time.most * unit) {
    return "'" + text + "' is no time of " + bounds_text(time) + ", as " +
           duration_text(time.most * unit);
  }
  if (*micros % unit != 0) {
    return "'" + text + "' is no whole number of " + std::string(suffix_of(time.unit));
  }
  text = std::to_string(*micros / unit);
  return {};
}

void add_check(CLI::Option& added, const Option& option) {
  std::visit(
      [&](const auto& check) {
        using Kind = std::decay_t<decltype(check)>;
        if constexpr (std::is_same_v<Kind, InRange>) {
          added.check(range_for(option.variable, check));
        } else if constexpr (std::is_same_v<Kind, Bytes>) {
          added.transform(CLI::AsSizeValue(false));
          added.check(range_of<std::uint64_t>(check.least, check.most));
        } else if constexpr (std::is_same_v<Kind, Time>) {
          added.transform(CLI::Validator(
              [check](std::string& text) { return take_time(check, text); }, ""));
        } else if constexpr (std::is_same_v<Kind, OneOf>) {
          added.check(CLI::IsMember(check.words));
        } else if constexpr (std::is_same_v<Kind, FindFault>) {
          added.check(check);
        }
      },
      option.check);
}

std::string default_of(CLI::Option& added, const Option& option) {
  if (std::holds_alternative<Bytes>(option.check)) {
    return in_units(*std::get<std::uint64_t*>(option.variable));
  }
  added.capture_default_str();
  if (const auto* const time = std::get_if<Time>(&option.check)) {
    return duration_text(*parse_duration(added.get_default_str(), time->unit));
  }
  return added.get_default_str();
}

std::string bounds_of(const Option& option) {
  const auto* const time = std::get_if<Time>(&option.check);
  if (!time) return option.bounds;
  return bounds_text(*time) + "; a number alone: " + std::string(suffix_of(time->unit));
}

// "TEXT (DEFAULT; BOUNDS)", without what there is not.
std::string describe(const std::string& text, std::string value, const std::string& bounds) {
  if (!value.empty() && !bounds.empty()) value += "; ";
  value += bounds;
  return value.empty() ? text : text + " (" + value + ")";
}

// " (did you mean --all?)", after an option that there is not.
std::string suggestion(const CLI::App& of, const CLI::Error& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return "";
  std::vector<std::string> known;
  for (const CLI::Option* option : of.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& word : of.remaining()) {
    const std::string name = word.substr(0, word.find('='));
    const auto found = nearest(name, known);
    if (name.starts_with("--") && found) return " (did you mean " + *found + "?)\n";
  }
  return "";
}

}  // namespace

class CommandLine::Parser : public CLI::App {
 public:
  using CLI::App::App;

  // Runs what may throw CLI11's errors; prints them.
  template <typename Step>
  std::optional<int> status_of(const Step& step) {
    try {
      step();
      return std::nullopt;
    } catch (const CLI::ParseError& error) {
      return exit(error) == 0 ? 0 : kUsageStatus;
    }
  }
};

CommandLine::CommandLine(const std::string& description, const std::string& name,
                         const std::string& version)
    : parser_(std::make_unique<Parser>(description)) {
  parser_->name(name);
  parser_->set_help_flag("-h,--help", "show this");
  parser_->set_version_flag("-V,--version", name + " " + version, "show the version");
  parser_->formatter(std::make_shared<PlainFormatter>());
  parser_->failure_message([](const CLI::App* of, const CLI::Error& error) {
    std::string said = of->get_name() + ": " + CLI::FailureMessage::simple(of, error);
    const std::string more = suggestion(*of, error);
    if (const auto end = said.find('\n'); !more.empty()) said.replace(end, 1, more);
    return said;
  });
}

CommandLine::CommandLine(CommandLine&&) noexcept = default;
CommandLine::~CommandLine() = default;

void CommandLine::add(const Option& option) {
  CLI::Option* const added = std::visit(
      [&](auto* variable) { return parser_->add_option(option.names, *variable, option.text); },
      option.variable);
  const bool is_shown = option.shown == Option::Default::kShown;
  added->description(describe(option.text, is_shown ? default_of(*added, option) : "",
                              bounds_of(option)));
  added->option_text(option.value);
  added->required(option.need == Option::Need::kRequired);
  add_check(*added, option);
}

void CommandLine::add_flag(const std::string& names, bool& variable, const std::string& text,
                           const std::string& excluded) {
  CLI::Option* const added = parser_->add_flag(names, variable, text);
  std::istringstream others(excluded);
  for (std::string each; others >> each;) added->excludes(parser_->get_option(each));
}

void CommandLine::add_list(const std::string& names, std::vector<std::string>& values,
                           const std::string& value, const std::string& text) {
  parser_->add_option(names, values, text)->option_text(value)->allow_extra_args(false);
}

void CommandLine::add_arguments(const std::string& name, std::vector<std::string>& values,
                                const std::string& text, ArgumentCount count) {
  CLI::Option* const added = parser_->add_option(name, values, text);
  added->required(count.least > 0)->expected(std::max(count.least, 1), count.most);
}

void CommandLine::add_footer(const std::string& text) { parser_->footer(text); }

std::optional<int> CommandLine::parse(int argc, char** argv) {
  return parser_->status_of([&] { parser_->parse(argc, argv); });
}

std::optional<int> CommandLine::replace(const std::string& name, const std::string& value) {
  return parser_->status_of([&] {
    CLI::Option* const found = parser_->get_option(name);
    found->clear();
    found->add_result(value);
    found->run_callback();
  });
}

std::vector<std::string> CommandLine::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* const each : parser_->get_options()) {
    if (each->count() > 0 && !each->get_positional()) names.push_back(each->get_name());
  }
  return names;
}

int CommandLine::refuse(const std::string& name, const std::string& reason) {
  return parser_->exit(CLI::ValidationError(name, reason)) == 0 ? 0 : kUsageStatus;
}

}  // namespace tallyfs
