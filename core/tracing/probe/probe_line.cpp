#include "core/tracing/probe/probe_line.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/tracing/probe/letters.h"

namespace tallyfs::tracing {
namespace {

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

// The first word of a line: `p:GROUP/EVENT`, `r10:EVENT`, or the kind alone.
struct Head {
  char kind = 'p';
  Part number;               // between the kind and the colon
  std::optional<Part> name;  // nothing: there is no colon
  std::size_t end = 0;
};

// One line while it is taken apart.
class Parsing {
 public:
  Parsing(std::string_view line, std::optional<ProbeTarget> only) : line_(line), only_(only) {}

  Result<ProbeCommand> parse();

 private:
  Error fault(std::string reason, std::size_t at = 0,
              std::string_view location = kProbeLocation) const {
    return probe_fault(ErrorCode::kInvalid, location, line_, std::move(reason), at);
  }
  Error name_fault(const char* what, const char* why, const Part& name) const {
    return fault(std::string(what) + why, name.at, kernel_location());
  }
  std::string_view kernel_location() const;
  Error kind_fault() const;
  Error no_place() const;
  Result<void> check_letters() const;
  Result<Head> head() const;
  Result<void> check_name(const char* what, const Part& name) const;
  Result<ProbeRemoval> removal(const Head& head) const;
  Result<ProbeCommand> definition(const Head& head);
  Result<void> name_event(const Head& head, ProbeLine& made) const;
  ProbeTarget target_of(char kind, std::string_view place, bool has_place) const;
  Result<void> check_place(const Token& place) const;
  Result<void> check_kernel_place(const Token& place) const;
  Result<void> check_event(const Token& place) const;
  Result<unsigned> instances(const Head& head, ProbeKind kind) const;
  Result<PlaceName> named_place(const Token& place, ProbeKind kind) const;

  const std::string_view line_;
  const std::optional<ProbeTarget> only_;
  ProbeTarget target_ = only_.value_or(ProbeTarget::kProgram);
};

std::string_view Parsing::kernel_location() const {
  switch (target_) {
    case ProbeTarget::kProgram:
      return kUprobeLocation;
    case ProbeTarget::kKernel:
      return kKprobeLocation;
    case ProbeTarget::kEvent:
      return kEprobeLocation;
    case ProbeTarget::kFunction:
    case ProbeTarget::kTracepoint:
      return kFprobeLocation;
  }
  std::abort();
}

Error Parsing::kind_fault() const {
  if (!only_) {
    return fault(
        "a kind is p, r, e, f or t, in the kernel rNUMBER and fNUMBER as well, and : follows", 1);
  }
  return fault(*only_ == ProbeTarget::kKernel ? "a kind is p, r or rNUMBER, and : follows"
                                              : "a kind is p or r, and : follows",
               1);
}

Error Parsing::no_place() const {
  if (target_ == ProbeTarget::kEvent)
    return fault("an event is missing: SYSTEM.EVENT", line_.size());
  if (target_ == ProbeTarget::kFunction) return fault("a FUNCTION is missing", line_.size());
  if (target_ == ProbeTarget::kTracepoint) return fault("a tracepoint is missing", line_.size());
  return fault(only_ == ProbeTarget::kKernel ? "a place is missing: FUNCTION or FUNCTION+OFFSET"
                                             : "a place is missing: PATH:OFFSET or PATH:FUNCTION",
               line_.size());
}

Result<void> Parsing::check_name(const char* what, const Part& name) const {
  if (name.text.empty()) return name_fault(what, " name is not specified", name);
  if (name.text.size() > kProbeNameBytesMax) return name_fault(what, " name is too long", name);
  if (is_c_name(name.text)) return {};
  return name_fault(what, " name must follow the same rules as C identifiers", name);
}

Result<ProbeRemoval> Parsing::removal(const Head& head) const {
  if (!head.name) {
    return fault(head.kind == '=' ? "a renewal is =:EVENT, =:GROUP/EVENT or =:GROUP/"
                                  : "a removal is -:EVENT, -:GROUP/EVENT or -:GROUP/",
                 1);
  }
  Tokens more(line_.substr(head.end));
  if (const auto word = more.next()) return fault("an event goes as a whole", head.end + word->at);
  const auto [group, event, has_group] = split(*head.name);
  if (has_group) {
    if (auto good = check_name("Group", group); !good) return good.error();
  }
  if (!has_group || !event.text.empty()) {
    if (auto good = check_name("Event", event); !good) return good.error();
  }
  return ProbeRemoval{
      .group = std::string(group.text), .event = std::string(event.text), .target = only_};
}

Result<void> Parsing::check_kernel_place(const Token& place) const {
  if (place.text.find('/') != place.text.npos) {
    return fault("a place in the kernel is FUNCTION or FUNCTION+OFFSET", place.at);
  }
  // The kernel does not repeat an address, and it is another one after each boot. It takes one
  // with a sign, too.
  const char first = place.text.front();
  if (!is_digit(first) && first != '+') return {};
  return fault("a place in the kernel is FUNCTION or FUNCTION+OFFSET, not an address", place.at);
}

Result<void> Parsing::check_event(const Token& place) const {
  if (parse_named_event(place.text)) return {};
  return fault("an event is SYSTEM.EVENT or SYSTEM/EVENT", place.at);
}

Result<void> Parsing::check_place(const Token& place) const {
  if (target_ == ProbeTarget::kKernel) return check_kernel_place(place);
  if (target_ == ProbeTarget::kEvent) return check_event(place);
  // The kernel knows its functions and tracepoints.
  if (target_ != ProbeTarget::kProgram) return {};
  if (place.text.rfind(':') == place.text.npos) {
    return fault("a place is PATH:OFFSET or PATH:FUNCTION", place.at);
  }
  if (place.text.front() != '/') return fault("a path begins with /", place.at);
  return {};
}

Result<unsigned> Parsing::instances(const Head& head, ProbeKind kind) const {
  const Part& number = head.number;
  if (number.text.empty()) return 0u;
  if (target_ == ProbeTarget::kProgram || target_ == ProbeTarget::kEvent) return kind_fault();
  const auto refused = [&](const char* reason) {
    return fault(reason, number.at, kernel_location());
  };
  if (kind != ProbeKind::kReturn) return refused("Maxactive is only for function exit");
  const auto value = parse_unsigned(number.text);
  if (!value || *value == 0) return refused("Invalid maxactive number");
  if (*value <= kInstancesMax) return static_cast<unsigned>(*value);
  return refused("Maxactive is too big");
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
  return place.ends_with(kReturnSuffix);
}

// As the kernel names an event of its own function: `p_FUNCTION_OFFSET`.
std::string default_kernel_event(std::string_view place, ProbeKind kind) {
  if (place.ends_with(kReturnSuffix)) place.remove_suffix(kReturnSuffix.size());
  const std::size_t sign = std::min(place.find_first_of("+-"), place.size());
  const std::string offset(place.substr(sign));
  std::string name(1, static_cast<char>(kind));
  name.append("_").append(place.substr(0, sign)).append("_");
  name += std::to_string(std::strtoll(offset.c_str(), nullptr, 0));
  std::ranges::replace_if(
      name, [](char c) { return !is_of_name(c); }, '_');
  return name.substr(0, kProbeNameBytesMax);
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

// The kernel's name, and its letters where a name may have none of these.
std::string plain_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return !is_of_name(c); }, '_');
  if (is_digit(name.front())) name.insert(0, "_");
  return name.substr(0, kProbeNameBytesMax);
}

// As the kernel names an event of the records of another: by that one.
std::string default_event_of_event(std::string_view place) {
  return plain_name(std::string(parse_named_event(place)->event));
}

// As the kernel names an event of a function: `FUNCTION__entry`.
std::string default_function_event(std::string_view place, ProbeKind kind) {
  std::string name(place.substr(0, place.find('%')));
  if (name.empty()) name = "_";
  return plain_name(name.append(kind == ProbeKind::kReturn ? "__exit" : "__entry"));
}

// The kernel takes an entry with the returned value among its arguments for a return.
bool fetches_returned_value(const std::vector<Token>& words) {
  constexpr std::string_view kReturned = "$retval";
  return std::ranges::any_of(words, [=](const Token& word) {
    const std::size_t at = word.text.find(kReturned);
    if (at == word.text.npos) return false;
    const std::string_view after = word.text.substr(at + kReturned.size());
    return after.empty() || !is_of_name(after.front());
  });
}

std::string_view default_group(ProbeTarget target) {
  switch (target) {
    case ProbeTarget::kProgram:
      return "uprobes";
    case ProbeTarget::kKernel:
      return "kprobes";
    case ProbeTarget::kEvent:
      return "eprobes";
    case ProbeTarget::kFunction:
      return "fprobes";
    case ProbeTarget::kTracepoint:
      return "tracepoints";
  }
  std::abort();
}

Result<void> Parsing::name_event(const Head& head, ProbeLine& made) const {
  made.group = default_group(target_);
  if (!head.name) return {};
  const auto [group, event, has_group] = split(*head.name);
  if (has_group) {
    if (auto good = check_name("Group", group); !good) return good.error();
    made.group = group.text;
  }
  if (has_group && event.text.empty()) return {};
  if (auto good = check_name("Event", event); !good) return good.error();
  made.event = event.text;
  return {};
}

// For a line that gives none.
std::string default_name(const ProbeLine& line) {
  if (line.place) return default_event(*line.place);
  const std::string_view place = line.words.front().text;
  switch (line.target) {
    case ProbeTarget::kProgram:
      return default_event(place);
    case ProbeTarget::kKernel:
      return default_kernel_event(place, line.kind);
    case ProbeTarget::kEvent:
      return default_event_of_event(place);
    case ProbeTarget::kFunction:
      return default_function_event(place, line.kind);
    case ProbeTarget::kTracepoint:
      return plain_name(std::string(place));
  }
  std::abort();
}

ProbeTarget Parsing::target_of(char kind, std::string_view place, bool has_place) const {
  if (only_) return *only_;
  if (kind == 'e') return ProbeTarget::kEvent;
  if (kind == 'f') return ProbeTarget::kFunction;
  if (kind == 't') return ProbeTarget::kTracepoint;
  const bool is_in_kernel = has_place && place.find('/') == place.npos;
  return is_in_kernel ? ProbeTarget::kKernel : ProbeTarget::kProgram;
}

Result<ProbeCommand> Parsing::definition(const Head& head) {
  const ProbeKind kind = head.kind == 'r' ? ProbeKind::kReturn : ProbeKind::kEntry;
  ProbeLine made{.kind = kind, .group = {}, .event = {}, .words = {}};
  Tokens words(line_.substr(head.end));
  while (const auto word = words.next()) {
    made.words.push_back({.text = word->text, .at = word->at + head.end});
  }
  const Token place = made.words.empty() ? Token() : made.words.front();
  target_ = target_of(head.kind, place.text, !made.words.empty());
  made.target = target_;
  if (auto named = name_event(head, made); !named) return named.error();
  if (made.words.empty()) return no_place();
  const bool is_of_code = target_ != ProbeTarget::kEvent && target_ != ProbeTarget::kTracepoint;
  const bool is_function = target_ == ProbeTarget::kFunction;
  if ((is_of_code && is_of_return(place.text)) ||
      (is_function && fetches_returned_value(made.words))) {
    made.kind = ProbeKind::kReturn;
  }
  const auto number = instances(head, made.kind);
  if (!number) return number.error();
  made.instances = number.value();
  if (target_ == ProbeTarget::kProgram && is_place_name(place.text)) {
    auto found = named_place(place, made.kind);
    if (!found) return found.error();
    made.place = std::move(found.value());
  } else if (auto good = check_place(place); !good) {
    return good.error();
  }
  if (made.event.empty()) made.event = default_name(made);
  return made;
}

Result<void> Parsing::check_letters() const {
  if (line_.size() > kProbeLineBytesMax) {
    return probe_fault(ErrorCode::kTooBig, kProbeLocation, line_, "a line has at most 4095 bytes");
  }
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  };
  if (const auto bad = std::ranges::find_if(line_, is_control); bad != line_.end()) {
    return fault("a control character", static_cast<std::size_t>(bad - line_.begin()));
  }
  const std::string_view kinds = only_ ? "pr-=" : "preft-=";
  if (line_.empty() || kinds.find(line_[0]) == kinds.npos) {
    return fault(only_ ? "a line begins with p, r, - or ="
                       : "a line begins with p, r, e, f, t, - or =");
  }
  return {};
}

// The kernel would take a wrong name for none, and give the event one of its own.
Result<Head> Parsing::head() const {
  Head head{.kind = line_[0], .number = {}, .name = {}, .end = 1};
  while (head.end < line_.size() && !is_blank(line_[head.end])) ++head.end;
  std::size_t behind = 1;
  while (behind < head.end && is_digit(line_[behind])) ++behind;
  head.number = {line_.substr(1, behind - 1), 1};
  const bool has_name = behind < head.end && line_[behind] == ':';
  const bool has_other = !has_name && behind < head.end;
  const bool is_definition = head.kind != '-' && head.kind != '=';
  if (has_other || (!is_definition && behind > 1)) return kind_fault();
  if (has_name) head.name = Part{line_.substr(behind + 1, head.end - behind - 1), behind + 1};
  return head;
}

Result<ProbeCommand> Parsing::parse() {
  if (auto good = check_letters(); !good) return good.error();
  const auto first = head();
  if (!first) return first.error();
  if (line_[0] != '-' && line_[0] != '=') return definition(first.value());
  auto meant = removal(first.value());
  if (!meant) return meant.error();
  if (line_[0] == '=') return ProbeRenewal{std::move(meant.value())};
  return std::move(meant.value());
}

}  // namespace

char letter_of(ProbeTarget target, ProbeKind kind) {
  switch (target) {
    case ProbeTarget::kProgram:
    case ProbeTarget::kKernel:
      return static_cast<char>(kind);
    case ProbeTarget::kEvent:
      return 'e';
    case ProbeTarget::kFunction:
      return 'f';
    case ProbeTarget::kTracepoint:
      return 't';
  }
  std::abort();
}

std::optional<NamedEvent> parse_named_event(std::string_view text) {
  const std::size_t between = text.find_first_of(kSeparators);
  if (between == text.npos || between == 0 || between + 1 == text.size()) return std::nullopt;
  return NamedEvent{text.substr(0, between), text.substr(between + 1)};
}

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

Result<ProbeCommand> parse_probe_line(std::string_view line, std::optional<ProbeTarget> only) {
  return Parsing(line, only).parse();
}

Error probe_fault(ErrorCode code, std::string_view location, std::string_view line,
                  std::string reason, std::size_t at) {
  return {.code = code,
          .reason = std::move(reason),
          .token_at = at,
          .location = std::string(location),
          .text = std::string(line)};
}

}  // namespace tallyfs::tracing
