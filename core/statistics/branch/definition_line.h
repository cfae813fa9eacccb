// Turns the words after the target of `create` and `define` into a line of the definition file
// (own_line.h has the rules of names in it). Pure functions; views last as long as the command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/labels.h"
#include "core/base/result.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/definition/own_line.h"
#include "core/wire/line.h"

namespace tallyfs::statistics {

// A line with this word sets the initial definition of a statistic. It does not change one that a
// user, a rule or a line without this word has set (core/wire/FORMAT.md).
inline constexpr std::string_view kDefaultMark = "default=1";

// In name=INTERFACE/STATISTIC the interface is the command's. kInvalid: it is another one.
inline Result<OwnLine> own_line(const wire::CommandLine& command) {
  const std::string_view interface = wire::split_path(command.target.text).interface;
  auto own = OwnLine::in_command(command.rest.text, interface);
  if (!own) return error_at(own.error(), command.rest.at);
  return own;
}

// A statistic may be named by the target and by name=, but not by two names.
inline Result<void> check_name(const wire::CommandLine& command, const OwnLine& line,
                               std::string_view statistic) {
  const auto named = find_word(line.text(), kNameKey);
  if (!named) return {};
  const std::string_view typed = named->text.substr(kNameKey.size());
  const auto name = stored_name(typed);
  if (typed == statistic || (name && name.value() == statistic)) return {};
  return invalid("the line is for " + shown(statistic), command.rest.at + named->at);
}

// The line of the definition file, and the places of its words in the command. `own` was read from
// the command, and outlives the DefinitionLine.
struct DefinitionLine {
  std::string text;
  bool is_default = false;
  const OwnLine& own;
  std::size_t shift = 0;  // bytes of name=STATISTIC, which `text` begins with and `own` does not
  std::size_t name_at = 0;
  std::size_t rest_at = 0;

  // Changes the place of an error from a byte of `text` to a byte of the command.
  Error place(Error error) const {
    if (error.token_at == Error::kNoToken) error.token_at = shift;
    if (error.token_at < shift) {
      error.token_at = name_at;
      return error;
    }
    error.token_at -= shift;
    return error_at(own.place(std::move(error)), rest_at);
  }
};

inline DefinitionLine definition_line(const wire::CommandLine& command, const OwnLine& own) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  DefinitionLine line{.text = std::string(own.text()),
                      .own = own,
                      .name_at = command.target.at + interface.size() + 1,
                      .rest_at = command.rest.at};
  if (const auto mark = find_word(line.text, kDefaultMark); mark && mark->text == kDefaultMark) {
    line.is_default = true;
    line.text.replace(mark->at, kDefaultMark.size(), kDefaultMark.size(), ' ');
  }
  if (!has_statistic || find_word(line.text, kNameKey)) return line;
  const std::string name = std::string(kNameKey).append(statistic);
  line.shift = name.size();
  line.text.insert(0, name);
  return line;
}

}  // namespace tallyfs::statistics
