// Functions that the commands for statistics and for interfaces share: places in a command, reasons
// and warnings. Functions without a state of their own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/branch/command.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/line_words.h"
#include "core/statistics/definition/strict_words.h"
#include "core/statistics/definition/unread_words.h"
#include "core/tree/error_log.h"
#include "core/wire/line.h"

namespace tallyfs::statistics {

// Where in the line what follows the target begins.
inline std::size_t rest_at(const wire::CommandLine& command) {
  const auto word = Tokens(command.rest.text).next();
  return command.rest.at + (word ? word->at : 0);
}

// The interface of the daemon's own numbers, in which no other statistic is made.
inline constexpr std::string_view kOwnInterface = "tallyfs";

// The words of a definition line that would make a statistic so: without name=, and without those
// that set nothing.
inline std::string settable_words(std::string_view line) {
  std::string words;
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    const std::string_view key = token->text.substr(0, token->text.find('='));
    const bool is_left_out = key == "name" || key == "of" || key == "data" ||
                             key == "sample_units" || is_read_only_key(key) ||
                             is_strict_mark(token->text);
    if (!is_left_out) words.append(" ").append(token->text);
  }
  return words;
}

// Where a line would define a statistic that is not there: how to make it so. Not where the words
// make none, or are for one that is there: then the name is wrong, most likely.
inline Error with_creation(Error error, std::string_view interface, std::string_view line) {
  const auto named = find_word(line, kNameKey);
  if (error.code != ErrorCode::kNotFound || !named || find_word(line, "of=")) return error;
  if (interface == kOwnInterface) return error;
  std::string words = settable_words(line);
  if (words.empty() || find_word(line, "data=") || find_word(line, "undo=")) return error;
  const auto change = parse_new_statistic(words, Strictness::kStrict);
  if (!change) return error;
  const auto made = apply(change.value(), Definition{});
  if (!made || !check_all_read(words, attributes_of(made.value().settings))) return error;
  if (!change.value().on) words.append(" on=1");
  const std::string name(named->text.substr(kNameKey.size()));
  error.reason.append("; it comes into being with: create ")
      .append(shown(std::string(interface).append("/").append(name).append(words)));
  return error;
}

inline Error own_interface(std::size_t at) {
  return {ErrorCode::kBusy, "this interface holds the daemon's own numbers", at};
}

inline Error not_found(std::string_view what, std::size_t at) {
  return {ErrorCode::kNotFound, "no such " + std::string(what), at};
}

// The answer with a fault as its warning, which the error log, if there is one, gets too. The
// fault's token counts in what follows the target.
inline Done with_warning(ErrorLog* errors, Done done, const wire::CommandLine& command,
                         const Sender& sender, std::optional<Error> fault, Timestamp now) {
  if (!fault) return done;
  done.warning = fault->reason;
  if (!errors) return done;
  std::string text(command.verb == wire::Verb::kCreate ? "create " : "define ");
  text.append(command.target.text);
  const std::size_t blanks = rest_at(command) - command.rest.at;
  if (fault->token_at != Error::kNoToken) fault->token_at += text.size() + 1 - blanks;
  text.append(" ").append(trimmed(command.rest.text));
  errors->warn(
      {ErrorLog::Source::kSocket, sender.uid},
      "socket pid " + std::to_string(shown_pid(sender.pid)) + " uid " + std::to_string(sender.uid),
      text, *fault, now);
  return done;
}

}  // namespace tallyfs::statistics
