#include "core/base/labels.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/encoded_name.h"
#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::string_view kForm = "labels are {KEY:VALUE,...}, as {route:/cart,code:200}";
// The characters that a glob of the shell reads.
constexpr std::string_view kWildcards = "*?[\\";
// The name's part of samples beyond a bound: a label of this text alone.
constexpr std::string_view kAnyLabel = "*";
// A key of the same text.
constexpr std::string_view kAnyKey = "%2A";

// A label as it was typed, without the blanks at the ends of its parts.
struct TypedLabel {
  Token key;
  std::optional<Token> value{};  // without its quotes
  bool is_quoted = false;
  Token after_quote{};           // up to the label's end
  std::size_t end = 0;           // of its `,` or `}`, or the text's; npos: a quote has no end
};

Token trimmed_token(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && is_blank(text[begin])) ++begin;
  while (begin < end && is_blank(text[end - 1])) --end;
  return {text.substr(begin, end - begin), begin};
}

std::size_t find_of(std::string_view text, std::string_view bytes, std::size_t from) {
  return std::min(text.find_first_of(bytes, from), text.size());
}

TypedLabel read_label(std::string_view text, std::size_t begin) {
  const std::size_t colon = find_of(text, ":,}", begin);
  TypedLabel label{.key = trimmed_token(text, begin, colon), .end = colon};
  if (colon == text.size() || text[colon] != ':') return label;
  std::size_t at = colon + 1;
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at == text.size() || text[at] != '"') {
    label.end = find_of(text, ",}", at);
    label.value = trimmed_token(text, at, label.end);
    return label;
  }
  label.is_quoted = true;
  const std::size_t close = text.find('"', at + 1);
  label.value = {text.substr(at + 1, std::min(close, text.size()) - at - 1), at + 1};
  if (close == text.npos) {
    label.end = text.npos;
    return label;
  }
  label.end = find_of(text, ",}", close + 1);
  label.after_quote = trimmed_token(text, close + 1, label.end);
  return label;
}

// A `:` in a key is no end of it.
std::string encoded_key(std::string_view typed) {
  std::string key;
  append_encoded(key, without_escapes(typed));
  for (std::size_t at = 0; (at = key.find(':', at)) != key.npos; ++at) key.replace(at, 1, "%3A");
  return key;
}

std::string encoded_label(const TypedLabel& label) {
  if (!label.value) {
    if (label.key.text == kAnyLabel) return std::string(kAnyLabel);
    std::string key = encoded_key(label.key.text);
    return key == kAnyLabel ? std::string(kAnyKey) : key;
  }
  std::string text = encoded_key(label.key.text) + ":";
  append_encoded(text, without_escapes(label.value->text));
  return text;
}

// A wildcard that is typed as an escape is none: it gets a backslash.
std::string with_quoted_wildcards(std::string_view typed) {
  std::string text;
  for (std::size_t at = 0; at < typed.size(); ++at) {
    const std::string_view escape = typed.substr(at, 3);
    const std::string byte = without_escapes(escape);
    const bool is_escape = byte.size() < escape.size();
    if (is_escape && kWildcards.find(byte) != kWildcards.npos) text.push_back('\\');
    text.push_back(typed[at]);
  }
  return text;
}

struct PatternLabel {
  std::string label;    // as encoded_label()
  std::string pattern;  // for it
};

PatternLabel pattern_label(const TypedLabel& label) {
  std::string encoded = encoded_label(label);
  if (encoded == kAnyKey) return {encoded, encoded};
  const std::string key = with_quoted_wildcards(label.key.text);
  const std::string value = with_quoted_wildcards(label.value.value_or(Token{}).text);
  TypedLabel quoted = label;
  quoted.key.text = key;
  if (quoted.value) quoted.value->text = value;
  return {std::move(encoded), encoded_label(quoted)};
}

std::string_view key_of(std::string_view encoded) { return encoded.substr(0, encoded.find(':')); }

// The fault that no spelling makes right.
std::optional<Error> fault_of(const TypedLabel& label) {
  const auto& [key, value, is_quoted, after_quote, end] = label;
  if (end == std::string_view::npos) return invalid("a quote has no end", value->at - 1);
  if (key.text.empty()) return invalid(std::string(kForm), key.at);
  if (key.text.find('"') != key.text.npos || (!value && key.text.find('=') != key.text.npos)) {
    return invalid(std::string(kForm), key.at);
  }
  if (!after_quote.text.empty()) return invalid("a label ends with its quote", after_quote.at);
  for (const Token& each : {key, is_quoted ? Token{} : value.value_or(Token{})}) {
    const std::size_t brace = each.text.find('{');
    if (brace != each.text.npos) return invalid("a label has { in quotes only", each.at + brace);
  }
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& each : labels) text.append(text.empty() ? "{" : ",").append(each);
  return text;
}

// The end of a name, after its labels.
Result<void> check_end(std::string_view typed, std::size_t end) {
  const std::size_t at = typed.find_first_of("{}/", end);
  if (at == typed.npos) return {};
  if (typed[at] == '/') return invalid("a name has one '/': write %2F for others", at);
  return invalid("a name has one {...}", at);
}

// A stored label has two bytes at least, with its comma. Others are not read: each is compared with
// all before it.
constexpr std::size_t kLabelsMax = kNameBytesMax / 2;

Result<std::string> with_stored_labels(std::string_view typed, std::size_t open) {
  if (open == 0) return invalid("a name stands before its labels", 0);
  if (const std::size_t slash = typed.substr(0, open).find('/'); slash != typed.npos) {
    return invalid("a name has one '/': write %2F for others", slash);
  }
  std::vector<std::string> labels;
  std::size_t at = open;
  do {
    if (labels.size() == kLabelsMax) {
      return invalid("a name has " + std::to_string(kNameBytesMax) + " bytes at most", 0);
    }
    const TypedLabel label = read_label(typed, at + 1);
    if (label.end == typed.size()) return invalid("this { has no }", open);
    if (auto fault = fault_of(label)) return *std::move(fault);
    std::string text = encoded_label(label);
    const bool is_there = std::ranges::any_of(
        labels, [&](const std::string& each) { return key_of(each) == key_of(text); });
    if (is_there) {
      return invalid("the label " + std::string(key_of(text)) + " is given twice", label.key.at);
    }
    labels.push_back(std::move(text));
    at = label.end;
  } while (typed[at] == ',');
  if (auto checked = check_end(typed, at + 1); !checked) return checked.error();
  std::ranges::sort(labels);
  std::string name(typed.substr(0, open));
  name.append(joined(labels)).append(typed.substr(at));
  if (name.size() > kNameBytesMax) {
    return invalid("the name has " + std::to_string(name.size()) + " bytes with its %XX, of " +
                       std::to_string(kNameBytesMax),
                   0);
  }
  return name;
}

// ---- for people

// The characters that stay %XX in a value: those that are not printable, and those that are read
// before escapes are.
bool stays_in_value(char c) { return c < ' ' || c > '~' || c == '"' || c == '%'; }
bool stays_in_key(char c) { return c != '/' && c != '~'; }

// A `%` that is read as no escape is one.
void show_percents(std::string& text) {
  for (std::size_t at = 0; (at = text.find("%25", at)) != text.npos; ++at) {
    const bool would_be_read =
        at + 4 < text.size() && is_hex(text[at + 3]) && is_hex(text[at + 4]);
    if (!would_be_read) text.replace(at, 3, "%");
  }
}

std::string shown_label(std::string_view label) {
  const std::size_t colon = label.find(':');
  std::string text = without_escapes(label.substr(0, colon), stays_in_key);
  if (colon == label.npos) return text;
  std::string value = without_escapes(label.substr(colon + 1), stays_in_value);
  show_percents(value);
  const bool needs_quotes =
      value.find_first_of(",{}") != value.npos || trimmed(value).size() != value.size();
  if (needs_quotes) value = '"' + value + '"';
  return text.append(":").append(value);
}

}  // namespace

std::size_t labels_end(std::string_view text, std::size_t open) {
  std::size_t at = open;
  do {
    at = read_label(text, at + 1).end;
  } while (at < text.size() && text[at] == ',');
  return at < text.size() ? at + 1 : text.npos;
}

Result<std::string> stored_name(std::string_view typed) {
  const std::size_t open = typed.find('{');
  if (open == typed.npos) return std::string(typed);
  return with_stored_labels(typed, open);
}

Result<std::string> stored_path(std::string_view typed) {
  const std::size_t begin = std::min(typed.find('/'), typed.size() - 1) + 1;
  auto name = stored_name(typed.substr(begin));
  if (!name) return error_at(name.error(), begin);
  return std::string(typed.substr(0, begin)).append(name.value());
}

std::string stored_pattern(std::string_view typed) {
  const std::size_t slash = std::min(typed.find('/'), typed.size());
  const std::size_t open = std::min(typed.find('{', slash), typed.size());
  if (open == typed.size()) return std::string(typed);
  std::vector<PatternLabel> labels;
  bool are_keys_plain = true;
  std::size_t at = open;
  do {
    const TypedLabel label = read_label(typed, at + 1);
    are_keys_plain &= label.key.text.find_first_of(kWildcards) == label.key.text.npos;
    labels.push_back(pattern_label(label));
    at = std::min(label.end, typed.size());
  } while (at < typed.size() && typed[at] == ',');
  if (are_keys_plain) std::ranges::sort(labels, {}, &PatternLabel::label);
  std::vector<std::string> patterns;
  for (PatternLabel& each : labels) patterns.push_back(std::move(each.pattern));
  return std::string(typed.substr(0, open)).append(joined(patterns)).append(typed.substr(at));
}

std::string shown_labels(std::string_view stored) {
  const std::size_t open = stored.find('{');
  const std::size_t close = open == stored.npos ? open : stored.find('}', open);
  if (close == stored.npos) return std::string(stored);
  std::vector<std::string> labels;
  for (std::string_view left = stored.substr(open + 1, close - open - 1);;) {
    const std::string_view label = left.substr(0, left.find(','));
    labels.push_back(shown_label(label));
    if (label.size() == left.size()) break;
    left.remove_prefix(label.size() + 1);
  }
  return std::string(stored.substr(0, open)).append(joined(labels)).append(stored.substr(close));
}

}  // namespace tallyfs
