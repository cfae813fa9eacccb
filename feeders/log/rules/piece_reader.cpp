#include "feeders/log/rules/piece_reader.h"

#include <algorithm>
#include <utility>

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/encoded_name.h"

namespace tallyfs::logs {
namespace {

constexpr std::size_t kShownMax = 64;

bool is_journal_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  append_escaped(out, text, kShownMax, 0);
  return out.append("'");
}

// The bytes of the piece at the start of the text, or 0: `{` begins labels, or nothing.
std::size_t piece_bytes(std::string_view text) {
  const std::size_t end = text.find('}');
  if (!text.starts_with('{') || end == text.npos) return 0;
  const std::string_view inside = text.substr(1, end - 1);
  const std::string_view name = inside.substr(0, inside.find('|'));
  const bool is_path = name.starts_with('.');
  const bool is_name = !name.empty() && (is_path || std::ranges::all_of(name, is_word));
  return is_name && name.find_first_of("{,") == name.npos ? end + 1 : 0;
}

// Appends the text as a name has it; `%XX` that a person has typed stay.
void append_label(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '%' || c == ':') {
      out.push_back(c);
    } else {
      append_encoded(out, std::string_view(&c, 1));
    }
  }
}

}  // namespace

std::size_t word_end(std::string_view text, std::size_t at, std::string_view stops) {
  std::size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{') ++depth;
    if (c == '}' && depth != 0) {
      --depth;
      continue;
    }
    if (depth == 0 && (is_blank(c) || stops.find(c) != stops.npos)) break;
  }
  return at;
}

NumberUnit unit_of(const NumberExpression& x) {
  if (!x.piece || x.has_factor || x.piece->filters.empty()) return NumberUnit::kUnknown;
  const Filter last = x.piece->filters.back();
  if (!last.is_numeric()) return NumberUnit::kUnknown;
  return last.kind == Filter::Kind::kDuration ? NumberUnit::kSeconds : NumberUnit::kBytes;
}

Result<Piece> PieceReader::read_piece(std::string_view text) {
  const std::size_t bytes = piece_bytes(text);
  if (bytes == 0 || bytes != text.size()) {
    return invalid("a piece of the line is needed, as {name} or {name|filter}", 0);
  }
  const std::string_view inside = text.substr(1, bytes - 2);
  std::size_t at = std::min(inside.find('|'), inside.size());
  auto piece = find(inside.substr(0, at));
  if (!piece) return error_at(piece.error(), 1);
  while (at < inside.size()) {
    const std::size_t begin = at + 1;
    // The separator of first: may be a |.
    const std::size_t from = inside.substr(begin).starts_with("first:|") ? begin + 7 : begin;
    at = std::min(inside.find('|', from), inside.size());
    auto filter = parse_filter(inside.substr(begin, at - begin));
    if (!filter) return error_at(filter.error(), begin + 1);
    auto& filters = piece.value().filters;
    if (!filters.empty() && filters.back().is_numeric()) {
      return invalid("nothing follows a filter that makes a number", begin + 1);
    }
    filters.push_back(filter.value());
  }
  return piece;
}

Result<Piece> PieceReader::find(std::string_view name) const {
  if (name.starts_with('.')) {
    if (rules_.form == LineForm::kText) {
      return invalid(quoted(name) + " is a field of JSON or logfmt: `lines json` comes first", 0);
    }
    return find_field(name.substr(1));
  }
  const auto names = pattern_ ? pattern_->group_names() : std::vector<std::string>();
  const auto group = std::ranges::find(names, name);
  if (group != names.end()) {
    return Piece{Piece::Source::kGroup, static_cast<std::size_t>(group - names.begin())};
  }
  if (settings_.has_journal_fields && is_journal_name(name)) return find_field(name);
  return unknown(name);
}

Result<Piece> PieceReader::find_field(std::string_view name) const {
  const auto found = std::ranges::find(rules_.fields, name);
  const auto index = static_cast<std::size_t>(found - rules_.fields.begin());
  if (name.empty() || name.size() > kNameBytesMax) return invalid("not a field's name", 0);
  if (found == rules_.fields.end()) {
    if (rules_.fields.size() == kFieldsMax) return invalid("more than 256 fields are used", 0);
    rules_.fields.emplace_back(name);
  }
  return Piece{Piece::Source::kField, index};
}

Error PieceReader::unknown(std::string_view name) const {
  std::string reason = "the pattern has no group " + quoted(name);
  const auto names = pattern_ ? pattern_->group_names() : std::vector<std::string>();
  if (const auto meant = nearest(name, names)) {
    reason.append("; did you mean ").append(*meant);
  } else if (is_journal_name(name)) {
    reason.append("; fields of the journal need --journal");
  } else {
    reason.append(", which would be (?<").append(name).append(">...)");
  }
  return invalid(std::move(reason), 0);
}

Result<Template> PieceReader::read_template(std::string_view text, bool is_label) {
  Template parts;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t bytes = piece_bytes(text.substr(at)); bytes != 0) {
      auto piece = read_piece(text.substr(at, bytes));
      if (!piece) return error_at(piece.error(), at);
      if (!piece.value().filters.empty() && piece.value().filters.back().is_numeric()) {
        return invalid("duration and bytes make numbers, not names", at);
      }
      parts.push_back({"", std::move(piece.value())});
      at += bytes;
      continue;
    }
    const std::size_t end = std::min(text.find('{', at + 1), text.size());
    const std::string_view literal = text.substr(at, end - at);
    if (!is_label && !is_name(literal)) {
      return invalid(quoted(literal) + " cannot be in a name: it has blanks, '=' or braces", at);
    }
    parts.push_back({std::string(literal)});
    if (is_label) {
      parts.back().literal.clear();
      append_label(parts.back().literal, literal);
    }
    at = end;
  }
  return parts;
}

// Sorted, as all labels are: two orders are one statistic.
Result<Template> PieceReader::read_labels(std::string_view text) {
  std::vector<std::pair<std::string, Template>> labels;
  for (std::size_t at = 1; at < text.size();) {
    std::size_t end = word_end(text, at, ",}");
    while (end < text.size() && is_blank(text[end])) end = word_end(text, end + 1, ",}");
    if (end == text.size()) return invalid("the labels have no } at their end", 0);
    const std::string_view label = text.substr(at, end - at);
    const std::size_t colon = std::min(label.find(':'), label.size());
    if (colon == 0 || colon == label.size() || label.substr(0, colon).find('{') != label.npos) {
      return invalid("a label is KEY:VALUE, as {status:{status}}", at);
    }
    auto parts = read_template(label, true);
    if (!parts) return error_at(parts.error(), at);
    labels.emplace_back(label.substr(0, colon + 1), std::move(parts.value()));
    at = end + 1;
    if (text[end] == '}' && at != text.size()) return invalid("labels end the name", at);
  }
  std::ranges::sort(labels, {}, &std::pair<std::string, Template>::first);
  Template all;
  for (auto& [key, parts] : labels) {
    all.push_back({all.empty() ? "{" : ","});
    std::ranges::move(parts, std::back_inserter(all));
  }
  all.push_back({"}"});
  return all;
}

Result<NameTemplate> PieceReader::read_name(std::string_view text) {
  NameTemplate name;
  std::size_t slash = text.npos;
  std::size_t labels = text.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t bytes = piece_bytes(text.substr(at));
    if (bytes != 0) {
      at += bytes - 1;
    } else if (text[at] == '{') {
      labels = at;
      break;
    } else if (text[at] == '/' && slash == text.npos) {
      slash = at;
    } else if (text[at] == '/') {
      return invalid("a second / in a name is written %2F", at);
    }
  }
  if (slash == text.npos || slash == 0 || slash + 1 >= labels) {
    return invalid("a name is INTERFACE/STATISTIC", 0);
  }
  auto interface = read_template(text.substr(0, slash), false);
  if (!interface) return interface.error();
  auto base = read_template(text.substr(slash + 1, labels - slash - 1), false);
  if (!base) return error_at(base.error(), slash + 1);
  name.interface = std::move(interface.value());
  name.base = std::move(base.value());
  name.text = text.substr(0, labels);
  if (labels == text.size()) return name;
  auto read = read_labels(text.substr(labels));
  if (!read) return error_at(read.error(), labels);
  name.labels = std::move(read.value());
  return name;
}

Result<NumberExpression> PieceReader::read_number(std::string_view text) {
  NumberExpression number;
  const std::size_t end = text.starts_with('{') ? piece_bytes(text) : 0;
  if (text.starts_with('{') && text.find('}') == text.npos) {
    return invalid("the piece has no } at its end", 0);
  }
  if (end != 0) {
    auto piece = read_piece(text.substr(0, end));
    if (!piece) return piece.error();
    number.piece = std::move(piece.value());
    if (end == text.size()) return number;
    if (text[end] != '*') return invalid("a piece may be followed by * and a number", end);
    number.has_factor = true;
  }
  const std::string_view factor = text.substr(number.has_factor ? end + 1 : 0);
  const auto parsed = parse_number(factor);
  if (!parsed || parsed->tail != Number::Tail::kNone || parsed->digits == 0) {
    return invalid(number.has_factor ? "* is followed by a number other than 0"
                                     : "a number is needed, or a piece of the line as {seconds}",
                   number.has_factor ? end + 1 : 0);
  }
  number.factor = *parsed;
  return number;
}

}  // namespace tallyfs::logs
