#include "core/tracing/command/trigger_command.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

struct KindName {
  std::string_view text;
  TriggerKind kind;
};

constexpr KindName kKindNames[] = {
    {"hist", TriggerKind::kHist},
    {"traceon", TriggerKind::kTraceOn},
    {"traceoff", TriggerKind::kTraceOff},
    {"stacktrace", TriggerKind::kStacktrace},
    {"snapshot", TriggerKind::kSnapshot},
    {"enable_event", TriggerKind::kEnableEvent},
    {"disable_event", TriggerKind::kDisableEvent},
    {"enable_hist", TriggerKind::kEnableHist},
    {"disable_hist", TriggerKind::kDisableHist},
};

// The position of a word `if` with white space on both sides; npos: there is none.
std::size_t find_if(std::string_view text) {
  for (std::size_t at = text.find("if"); at != text.npos; at = text.find("if", at + 1)) {
    const bool before = at == 0 || is_blank(text[at - 1]);
    const bool behind = at + 2 == text.size() || is_blank(text[at + 2]);
    if (before && behind) return at;
  }
  return text.npos;
}

}  // namespace

std::string_view name_of(TriggerKind kind) {
  return std::ranges::find(kKindNames, kind, &KindName::kind)->text;
}

Checked<TriggerCommand> TriggerCommand::parse(std::string_view text) {
  TriggerCommand command;
  text = trimmed(text);
  command.remove = text.starts_with('!');
  if (command.remove) text = trimmed(text.substr(1));
  const std::size_t end = std::min(text.find_first_of(": \t\n"), text.size());
  const std::string_view name = text.substr(0, end);
  const auto* const known = std::ranges::find(kKindNames, name, &KindName::text);
  if (known == std::end(kKindNames)) return Fault{fault::kUnknownTrigger, std::string(name)};
  command.kind = known->kind;
  std::string_view rest = trimmed(text.substr(end));
  const bool has_parameters = rest.starts_with(':');
  if (has_parameters) rest = trimmed(rest.substr(1));
  command.rest = rest;
  const std::size_t condition = find_if(command.rest);
  command.parameters = trimmed(command.rest.substr(0, condition));
  if (!has_parameters && !command.parameters.empty()) {
    return Fault{fault::kIfExpected, std::string(command.parameters)};
  }
  if (condition == text.npos) return command;
  command.filter = trimmed(command.rest.substr(condition + 2));
  if (command.filter.empty()) return Fault{fault::kIfExpected, "if"};
  return command;
}

}  // namespace tallyfs::tracing
