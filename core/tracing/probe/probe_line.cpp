#include "core/tracing/probe/probe_line.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/tracing/probe/letters.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kDefaultGroup = "uprobes";
constexpr std::string_view kSeparators = "/.";

bool is_c_name(std::string_view name) {
  return !is_digit(name.front()) && std::ranges::all_of(name, is_of_name);
}

// A part of the line, and the byte at which it begins.
using Part = Token;

Part part(const Part& whole, std::size_t begin, std::size_t bytes = std::string_view::npos) {
  return {whole.text.substr(begin, bytes), whole.at + begin};
}

struct Names {
  Part group, event;
  bool has_group = false;
};

Names split(const Part& name) {
  const std::size_t separator = name.text.find_first_of(kSeparators);
  if (separator == name.text.npos) return {{}, name, false};
  return {part(name, 0, separator), part(name, separator + 1), true};
}

// One line while it is taken apart.
class Parsing {
 public:
  explicit Parsing(std::string_view line) : line_(line) {}

  Result<ProbeCommand> parse();

 private:
  Error fault(std::string reason, std::size_t at = 0,
              std::string_view location = kProbeLocation) const {
    return probe_fault(ErrorCode::kInvalid, location, line_, std::move(reason), at);
  }
  Error name_fault(const char* what, const char* why, const Part& name) const {
    return fault(std::string(what) + why, name.at, kKernelProbeLocation);
  }
  Result<void> check_name(const char* what, const Part& name) const;
  Result<ProbeCommand> removal(const Part& name) const;
  Result<ProbeCommand> definition(ProbeKind kind, const Part& name, Tokens words) const;
  Result<void> check_place(const Token& place) const;
  Result<PlaceName> named_place(const Token& place, ProbeKind kind) const;

  const std::string_view line_;
};

Result<void> Parsing::check_name(const char* what, const Part& name) const {
  if (name.text.empty()) return name_fault(what, " name is not specified", name);
  if (name.text.size() > kProbeNameBytesMax) return name_fault(what, " name is too long", name);
  if (is_c_name(name.text)) return {};
  return name_fault(what, " name must follow the same rules as C identifiers", name);
}

Result<ProbeCommand> Parsing::removal(const Part& name) const {
  const auto [group, event, has_group] = split(name);
  if (has_group) {
    if (auto good = check_name("Group", group); !good) return good.error();
  }
  if (!has_group || !event.text.empty()) {
    if (auto good = check_name("Event", event); !good) return good.error();
  }
  return ProbeRemoval{std::string(group.text), std::string(event.text)};
}

Result<void> Parsing::check_place(const Token& place) const {
  const std::size_t colon = place.text.rfind(':');
  if (place.text.find('/') == place.text.npos || colon == place.text.npos) {
    return fault("a place is PATH:OFFSET or PATH:FUNCTION", place.at);
  }
  if (place.text.front() != '/') return fault("a path begins with /", place.at);
  return {};
}

Result<PlaceName> Parsing::named_place(const Token& place, ProbeKind kind) const {
  auto name = parse_place_name(place.text, kind);
  if (name) return name;
  const Error& error = name.error();
  return fault(error.reason, place.at + error.token_at);
}

// `PATH:OFFSET%return`, or with a reference counter behind it. The kernel lists the probe with r:.
bool is_of_return(std::string_view place) {
  place = place.substr(0, place.find('(', std::min(place.rfind(':'), place.size())));
  return place.ends_with("%return");
}

// The kernel's name for an event without a name, also for returns.
std::string default_event(std::string_view place) {
  const std::size_t colon = place.rfind(':');
  std::string_view base = place.substr(0, colon);
  base.remove_prefix(base.rfind('/') + 1);
  base = base.substr(0, base.find_first_of(".-_"));
  const std::string offset(place.substr(colon + 1));
  std::string name = "p_" + std::string(base) + "_";
  append_hex(name, std::strtoull(offset.c_str(), nullptr, 0));
  std::ranges::replace_if(
      name, [](char c) { return !is_of_name(c); }, '_');
  return name.substr(0, kProbeNameBytesMax);
}

Result<ProbeCommand> Parsing::definition(ProbeKind kind, const Part& name, Tokens words) const {
  ProbeLine made{.kind = kind, .group = std::string(kDefaultGroup), .event = {}, .words = {}};
  while (const auto word = words.next()) made.words.push_back(*word);
  for (Token& word : made.words) word.at += name.at + name.text.size();
  const bool is_named = name.at > 1;
  const auto [group, event, has_group] = split(name);
  if (has_group) {
    if (auto good = check_name("Group", group); !good) return good.error();
    made.group = group.text;
  }
  const bool has_event = is_named && !(has_group && event.text.empty());
  if (has_event) {
    if (auto good = check_name("Event", event); !good) return good.error();
  }
  if (made.words.empty()) {
    return fault("a place is missing: PATH:OFFSET or PATH:FUNCTION", line_.size());
  }
  const Token& place = made.words.front();
  if (is_of_return(place.text)) made.kind = ProbeKind::kReturn;
  if (is_place_name(place.text)) {
    auto found = named_place(place, made.kind);
    if (!found) return found.error();
    made.place = std::move(found.value());
  } else if (auto good = check_place(place); !good) {
    return good.error();
  }
  if (has_event) {
    made.event = event.text;
  } else {
    made.event = made.place ? default_event(*made.place) : default_event(place.text);
  }
  return made;
}

Result<ProbeCommand> Parsing::parse() {
  if (line_.size() > kProbeLineBytesMax) {
    return probe_fault(ErrorCode::kTooBig, kProbeLocation, line_, "a line has at most 4095 bytes");
  }
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  };
  if (const auto bad = std::ranges::find_if(line_, is_control); bad != line_.end()) {
    return fault("a control character", static_cast<std::size_t>(bad - line_.begin()));
  }
  if (line_.empty() || std::string_view("pr-").find(line_[0]) == line_.npos) {
    return fault("a line begins with p, r or -");
  }
  std::size_t end = 1;
  while (end < line_.size() && !is_blank(line_[end])) ++end;
  const bool is_named = end > 1 && line_[1] == ':';
  // The kernel would take the name for none, and give the event one of its own.
  if (end > 1 && !is_named) return fault("the kind of a uprobe is p or r, and : follows", 1);
  const Part name = is_named ? Part{line_.substr(2, end - 2), 2} : Part{{}, 1};
  if (line_[0] != '-') return definition(ProbeKind{line_[0]}, name, Tokens(line_.substr(end)));
  if (!is_named) return fault("a removal is -:EVENT, -:GROUP/EVENT or -:GROUP/", 1);
  Tokens more(line_.substr(end));
  if (const auto word = more.next()) return fault("an event goes as a whole", end + word->at);
  return removal(name);
}

}  // namespace

std::string ProbeLine::text() const {
  std::string text;
  for (const Token& word : words) text.append(text.empty() ? "" : " ").append(word.text);
  return text;
}

std::size_t ProbeLine::byte_of(std::size_t byte_of_text) const {
  std::size_t end = 0;
  for (const Token& word : words) {
    if (byte_of_text <= word.text.size()) return word.at + byte_of_text;
    byte_of_text -= word.text.size() + 1;
    end = word.at + word.text.size();
  }
  return end;
}

Result<ProbeCommand> parse_probe_line(std::string_view line) { return Parsing(line).parse(); }

Error probe_fault(ErrorCode code, std::string_view location, std::string_view line,
                  std::string reason, std::size_t at) {
  return {.code = code,
          .reason = std::move(reason),
          .token_at = at,
          .location = std::string(location),
          .text = std::string(line)};
}

}  // namespace tallyfs::tracing
