#include "feeders/statsd/grammar/event_line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/base/text.h"
#include "feeders/statsd/grammar/metric_line.h"

namespace tallyfs::statsd {
namespace {

std::string with_line_breaks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_break = text.substr(at).starts_with("\\n");
    out.push_back(is_break ? '\n' : text[at]);
    at += is_break ? 1 : 0;
  }
  return out;
}

// Calls visit(field) for each piece between the `|` of a text that is empty or begins with one.
template <typename Visit>
void each_field(std::string_view text, Visit visit) {
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view field = text.substr(0, text.find('|'));
    visit(field);
    text.remove_prefix(field.size());
  }
}

// The unit of an event's lengths.
enum class LengthUnit { kBytes, kCharacters, kUtf16 };

// The bytes of the first `count` units of the text; nullopt if it has fewer. A byte that is no
// UTF-8 is a unit.
std::optional<std::size_t> bytes_of(std::string_view text, std::uint64_t count, LengthUnit unit) {
  if (unit == LengthUnit::kBytes) {
    return count <= text.size() ? std::optional(static_cast<std::size_t>(count)) : std::nullopt;
  }
  std::size_t at = 0;
  while (count > 0) {
    if (at == text.size()) return std::nullopt;
    char32_t point = 0;
    const std::size_t length = utf8_length(text.substr(at), point);
    const std::uint64_t units = unit == LengthUnit::kUtf16 && length == 4 ? 2 : 1;
    if (units > count) return std::nullopt;
    count -= units;
    at += std::max<std::size_t>(length, 1);
  }
  return at;
}

struct Lengths {
  std::uint64_t title = 0;
  std::uint64_t text = 0;
  std::size_t end = 0;  // byte behind the "}:"
};

std::optional<Lengths> parse_lengths(std::string_view line) {
  constexpr std::size_t kDigitsMax = 10;
  const std::size_t comma = line.find(',');
  const std::size_t end = line.find("}:");
  if (comma == line.npos || end == line.npos || comma > end) return std::nullopt;
  const auto length = [&](std::size_t from, std::size_t to) -> std::optional<std::uint64_t> {
    const std::string_view digits = line.substr(from, to - from);
    const bool is_decimal = digits.find_first_not_of("0123456789") == digits.npos;
    return is_decimal && digits.size() <= kDigitsMax ? parse_unsigned(digits) : std::nullopt;
  };
  const auto title = length(3, comma);
  const auto text = length(comma + 1, end);
  if (!title || !text || *title == 0) return std::nullopt;
  return Lengths{*title, *text, end + 2};
}

struct EventTexts {
  std::string_view title;
  std::string_view text;
  std::string_view fields;  // empty, or from a `|` on
};

std::optional<EventTexts> split_event(std::string_view body, const Lengths& lengths,
                                      LengthUnit unit) {
  const auto title = bytes_of(body, lengths.title, unit);
  if (!title || *title >= body.size() || body[*title] != '|') return std::nullopt;
  const std::string_view behind = body.substr(*title + 1);
  const auto text = bytes_of(behind, lengths.text, unit);
  if (!text) return std::nullopt;
  std::string_view fields = behind.substr(*text);
  while (!fields.empty() && is_blank(fields.back())) fields.remove_suffix(1);
  if (!fields.empty() && fields.front() != '|') return std::nullopt;
  return EventTexts{body.substr(0, *title), behind.substr(0, *text), fields};
}

}  // namespace

std::optional<Refusal> parse_event(std::string_view line, Event& event) {
  event = {};
  const auto lengths = parse_lengths(line);
  if (!lengths) return Refusal{Reason::kEvent, 2, "it is no {n,m}: with a title of 1 byte or more"};
  const std::string_view body = line.substr(lengths->end);
  std::optional<EventTexts> texts;
  for (const auto unit : {LengthUnit::kBytes, LengthUnit::kCharacters, LengthUnit::kUtf16}) {
    texts = split_event(body, *lengths, unit);
    event.are_lengths_guessed = unit != LengthUnit::kBytes;
    if (texts) break;
  }
  if (!texts) {
    return Refusal{Reason::kEvent, lengths->end, "title and text are not as long as is said"};
  }
  event.title = with_line_breaks(texts->title);
  event.text = with_line_breaks(texts->text);
  const std::array<std::pair<std::string_view, std::string_view*>, 7> fields{{
      {"h:", &event.host},
      {"k:", &event.key},
      {"s:", &event.source},
      {"p:", &event.priority},
      {"t:", &event.alert},
      {"#", &event.tags},
      {"c:", &event.container},
  }};
  each_field(texts->fields, [&](std::string_view field) {
    for (const auto& [key, text] : fields) {
      if (field.starts_with(key)) *text = field.substr(key.size());
    }
  });
  return std::nullopt;
}

std::optional<Refusal> parse_check(std::string_view line, Check& check) {
  check = {};
  constexpr std::size_t kNameAt = 4;
  const std::size_t end = line.find('|', kNameAt);
  check.name = line.substr(kNameAt, end == line.npos ? end : end - kNameAt);
  if (check.name.empty()) return Refusal{Reason::kCheck, kNameAt, "there is no name"};
  if (end == line.npos) return Refusal{Reason::kCheck, line.size(), "there is no status"};
  const std::string_view behind = line.substr(end + 1);
  const std::string_view status = behind.substr(0, behind.find('|'));
  if (status.size() != 1 || status.front() < '0' || status.front() > '3') {
    return Refusal{Reason::kCheck, end + 1, "the status is none of 0, 1, 2, 3"};
  }
  check.status = status.front() - '0';
  each_field(behind.substr(1), [&](std::string_view field) {
    if (field.starts_with("h:")) check.host = field.substr(2);
    if (field.starts_with("#")) check.tags = field.substr(1);
    if (field.starts_with("m:")) check.message = with_line_breaks(field.substr(2));
    if (field.starts_with("c:")) check.container = field.substr(2);
    if (field.starts_with("d:")) check.seconds = parse_seconds(field.substr(2));
  });
  return std::nullopt;
}

}  // namespace tallyfs::statsd
