#include "core/tracing/hist/hist_command.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "core/base/text.h"
#include "core/tracing/command/modifiers.h"

namespace tallyfs::tracing {
namespace {

// Cuts text off behind its first `mark` and returns the part before; nothing: there is no mark.
std::optional<std::string_view> cut_behind(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + 1);
  return before;
}

Checked<std::uint32_t> parse_size(std::string_view text) {
  const auto size = parse_c_number(text);
  if (!size || *size > HistCommand::kEntriesMax) return wrong(fault::kBadSize, text);
  const std::uint64_t rounded = std::bit_ceil(*size);
  if (rounded < 128) return wrong(fault::kBadSize, text);
  return static_cast<std::uint32_t>(rounded);
}

// Parses 250ms, 10s, 5us, 100ns.
Checked<std::uint64_t> parse_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::uint64_t ns;
  };
  constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = parse_unsigned(text.substr(0, text.size() - unit.name.size()));
    if (!number) continue;
    if (*number == 0 || *number > std::numeric_limits<std::uint64_t>::max() / unit.ns) break;
    return *number * unit.ns;
  }
  return wrong(fault::kBadExpiry, text);
}

bool is_limit(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_expiry(std::string_view text) {
  return text.front() >= '0' && text.front() <= '9' && text.ends_with('s');
}

class CommandParser {
 public:
  Checked<HistCommand> parse(std::string_view text) {
    const std::string_view all = text;
    while (!text.empty()) {
      std::string_view part = text.substr(0, text.find(':'));
      text.remove_prefix(std::min(part.size() + 1, text.size()));
      part = trimmed(part);
      const auto taken = part.find('=') != part.npos ? assignment(part) : word(part);
      if (!taken) return taken.error();
    }
    for (const std::string_view part : assignments_) {
      if (const auto taken = variables(part); !taken) return taken.error();
    }
    if (command_.keys.empty()) return wrong(fault::kNoKeys, all);
    return std::move(command_);
  }

 private:
  Checked<void> assignment(std::string_view part) {
    const std::string_view name = part.substr(0, part.find('='));
    const std::string_view value = part.substr(name.size() + 1);
    if (value.empty()) return wrong(fault::kEmptyAssignment, part);
    if (name == "key" || name == "keys") return take(command_.keys, value);
    if (name == "val" || name == "vals" || name == "values") return take(command_.values, value);
    if (name == "sort") return take(command_.sort, value);
    if (name == "name") return take(command_.name, value);
    if (name == "clock") return take(command_.clock, trimmed(value));
    if (name == "size") return take(command_.entries_max, parse_size(value));
    if (name == "limit" && is_limit(value)) return limit(value);
    if (name == "expire" && is_expiry(value)) return take(command_.expiry_ns, parse_time(value));
    if (name.find('(') != name.npos) return action(part);
    if (assignments_.size() == HistCommand::kVariablesMax) {
      return wrong(fault::kTooManyVariables, part);
    }
    assignments_.push_back(part);
    return {};
  }

  static Checked<void> take(std::string_view& to, std::string_view value) {
    to = value;
    return {};
  }
  template <typename T>
  static Checked<void> take(T& to, const Checked<T>& value) {
    if (!value) return value.error();
    to = value.value();
    return {};
  }

  Checked<void> limit(std::string_view value) {
    command_.limit = parse_unsigned(value).value_or(0);
    if (command_.limit == 0) return wrong(fault::kBadLimit, value);
    return {};
  }

  Checked<void> word(std::string_view part) {
    if (part == "pause") {
      command_.pause = true;
    } else if (part == "cont" || part == "continue") {
      command_.resume = true;
    } else if (part == "clear") {
      command_.clear = true;
    } else if (part == "nohitcount" || part == "NOHC") {
      command_.no_hitcount = true;
    } else {
      return action(part);
    }
    return {};
  }

  // Parses x=a,y=b.
  Checked<void> variables(std::string_view part) {
    while (!part.empty()) {
      const std::string_view one = part.substr(0, part.find(','));
      part.remove_prefix(std::min(one.size() + 1, part.size()));
      const std::size_t equals = one.find('=');
      if (equals == one.npos || equals == 0) {
        return wrong(fault::kMalformedAssignment, one.substr(0, equals));
      }
      const std::string_view name = trimmed(one.substr(0, equals));
      if (command_.variables.size() == HistCommand::kVariablesMax) {
        return wrong(fault::kTooManyVariables, name);
      }
      command_.variables.push_back({name, trimmed(one.substr(equals + 1))});
      if (command_.variables.back().expression.empty()) {
        return wrong(fault::kEmptyAssignment, one);
      }
    }
    return {};
  }

  Checked<void> action(std::string_view part) {
    ActionCommand action;
    if (part.starts_with("onmatch(")) {
      action.handler = Handler::kOnMatch;
    } else if (part.starts_with("onmax(")) {
      action.handler = Handler::kOnMax;
    } else if (part.starts_with("onchange(")) {
      action.handler = Handler::kOnChange;
    } else {
      return wrong(fault::kUnknownPart, part);
    }
    if (command_.actions.size() == HistCommand::kActionsMax) {
      return wrong(fault::kTooManyActions, part);
    }
    std::string_view rest = part.substr(part.find('(') + 1);
    if (const auto parsed = handler(action, rest); !parsed) return parsed;
    if (const auto parsed = done(action, part, rest); !parsed) return parsed;
    command_.actions.push_back(std::move(action));
    return {};
  }

  static Checked<void> handler(ActionCommand& action, std::string_view& rest) {
    const std::string_view all = rest;
    const auto inside = cut_behind(rest, ')');
    if (!inside) return wrong(fault::kNoClosingParen, all);
    if (action.handler != Handler::kOnMatch) return take(action.tracked, trimmed(*inside));
    action.matched = trimmed(*inside);
    if (action.matched.find('.') == action.matched.npos) {
      return wrong(fault::kSubsystemMissing, action.matched);
    }
    return {};
  }

  // Parses .trace(synth,a,b), .synth(a,b), .save(a,b), .snapshot().
  static Checked<void> done(ActionCommand& action, std::string_view part, std::string_view rest) {
    if (!cut_behind(rest, '.')) return wrong(fault::kActionNotFound, part);
    const auto name = cut_behind(rest, '(');
    if (!name) return wrong(fault::kActionNotFound, part);
    action.kind = *name == "save"       ? ActionKind::kSave
                  : *name == "snapshot" ? ActionKind::kSnapshot
                                        : ActionKind::kTrace;
    const std::string_view all = rest;
    const auto inside = cut_behind(rest, ')');
    if (!inside) return wrong(fault::kNoClosingParen, all);
    if (action.kind != ActionKind::kTrace && action.handler == Handler::kOnMatch) {
      return wrong(fault::kActionMismatch, *name);
    }
    if (action.kind == ActionKind::kSave && trimmed(*inside).empty()) {
      return wrong(fault::kNoSaveParams, "save(");
    }
    if (action.kind == ActionKind::kSnapshot) return {};
    if (const auto taken = params(action, *inside); !taken) return taken;
    if (action.kind == ActionKind::kTrace) return synthetic(action, *name);
    return {};
  }

  static Checked<void> params(ActionCommand& action, std::string_view text) {
    const std::string_view all = text;
    for (bool more = !trimmed(text).empty(); more;) {
      std::string_view one = text.substr(0, text.find(','));
      more = one.size() < text.size();
      text.remove_prefix(one.size() + (more ? 1 : 0));
      one = trimmed(one);
      if (action.params.size() == HistCommand::kParamsMax + 1) {
        return wrong(fault::kTooManyParams, one);
      }
      if (one.empty() || one == "$") return wrong(fault::kInvalidParam, one.empty() ? all : one);
      action.params.push_back(one);
    }
    return {};
  }

  static Checked<void> synthetic(ActionCommand& action, std::string_view name) {
    action.trace_keyword = name == "trace";
    action.synthetic = name;
    if (action.trace_keyword) {
      if (action.params.empty()) return wrong(fault::kParamNotFound, "trace(");
      action.synthetic = action.params.front();
      action.params.erase(action.params.begin());
    }
    if (action.params.size() > HistCommand::kParamsMax) {
      return wrong(fault::kTooManyParams, action.params.back());
    }
    return {};
  }

  HistCommand command_;
  std::vector<std::string_view> assignments_;
};

}  // namespace

std::string ActionCommand::text() const {
  std::string text;
  switch (handler) {
    case Handler::kOnMatch:
      text.append("onmatch(").append(matched);
      break;
    case Handler::kOnMax:
      text.append("onmax(").append(tracked);
      break;
    case Handler::kOnChange:
      text.append("onchange(").append(tracked);
      break;
  }
  text.append(").");
  if (kind == ActionKind::kSave) text.append("save(");
  if (kind == ActionKind::kSnapshot) text.append("snapshot(");
  if (kind == ActionKind::kTrace && trace_keyword) text.append("trace(");
  if (kind == ActionKind::kTrace) text.append(synthetic);
  if (kind == ActionKind::kTrace && !trace_keyword) text.append("(");
  bool first = kind != ActionKind::kTrace || !trace_keyword;
  for (const std::string_view param : params) {
    if (!first) text.append(",");
    first = false;
    text.append(param);
  }
  return text.append(")");
}

Checked<HistCommand> HistCommand::parse(std::string_view text) {
  return CommandParser().parse(text);
}

}  // namespace tallyfs::tracing
