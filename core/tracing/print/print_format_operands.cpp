// Parses fields, numbers, and the functions and macros of the kernel that events have in common.
#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "core/tracing/command/modifiers.h"
#include "core/tracing/print/print_format_parser.h"

namespace tallyfs::tracing {

PrintFormatParser::NodePtr PrintFormatParser::primary() {
  skip();
  if (at_ == text_.size()) return nullptr;
  if (text_[at_] == '"') {
    auto text = literals();
    NodePtr node = make(Kind::kText);
    if (!text || !node) return nullptr;
    node->sort = Sort::kText;
    node->text = std::move(*text);
    return node;
  }
  if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
  if (text_[at_] == '\'') return character();
  const std::string_view word = take_word();
  if (word.empty()) return nullptr;
  if (word == "REC") return take("->") ? field(take_word()) : nullptr;
  if (take("(")) return called(word);
  NodePtr unknown = make(Kind::kUnknown);
  if (unknown) unknown->is_unknown = true;
  return unknown;
}

// Parses a call of `function`, from behind its parenthesis on.
PrintFormatParser::NodePtr PrintFormatParser::called(std::string_view function) {
  NodePtr made;
  // Functions with `rel` are for places that count from the field itself; the field's kind says so
  // too.
  const bool relative = function.starts_with("__get_rel_");
  const std::string name =
      relative ? "__get_" + std::string(function.substr(10)) : std::string(function);
  if (name == "__get_str") return text_field();
  if (name == "__get_dynamic_array" || name == "__get_sockaddr") {
    made = dynamic_field();
  } else if (name == "__get_dynamic_array_len") {
    made = dynamic_length();
  } else if (name == "__get_cpumask" || name == "__get_bitmask") {
    made = bits();
  } else if (name == "__print_symbolic") {
    made = names(Kind::kSymbolic);
  } else if (name == "__print_flags") {
    made = names(Kind::kFlags);
  } else if (name == "__print_array") {
    made = array();
  } else if (name == "__print_hex") {
    made = hex_bytes(" ");
  } else if (name == "__print_hex_str") {
    made = hex_bytes("");
  } else if (name == "sizeof") {
    return size_of();
  } else if (name == "__builtin_expect") {
    made = expected();
  }
  return made && take(")") ? std::move(made) : nullptr;
}

PrintFormatParser::NodePtr PrintFormatParser::number() {
  std::string_view word = take_word();
  while (!word.empty() && std::string_view("uUlL").find(word.back()) != word.npos) {
    word.remove_suffix(1);
  }
  const auto value = parse_c_number(word);
  NodePtr node = make(Kind::kNumber);
  if (!value || !node) return nullptr;
  node->number = *value;
  node->is_signed = true;
  return node;
}

// Parses 'F', without escapes.
PrintFormatParser::NodePtr PrintFormatParser::character() {
  const std::string_view quoted = text_.substr(at_, 3);
  NodePtr node = make(Kind::kNumber);
  if (!node || quoted.size() < 3 || quoted[1] == '\\' || quoted[2] != '\'') return nullptr;
  at_ += quoted.size();
  node->number = static_cast<unsigned char>(quoted[1]);
  node->is_signed = true;
  return node;
}

PrintFormatParser::NodePtr PrintFormatParser::field(std::string_view name) {
  const auto found = format_.field(name);
  if (!found) return nullptr;
  const TraceField& field = found.value();
  if (take("[")) return element(field);
  if (!field.is_text() && field.kind() != FieldKind::kNumber) return bytes_field(name);
  NodePtr node = make(field.is_text() ? Kind::kTextField : Kind::kNumberField);
  if (!node) return nullptr;
  if (field.is_text()) {
    node->sort = Sort::kText;
    node->source = tracing::text_of(field);
    return node;
  }
  node->load = load_of(field);
  node->is_signed = field.is_signed;
  node->is_pointer = field.type.ends_with("char *");
  return node;
}

// `0]`, of an array whose elements are numbers, or characters.
PrintFormatParser::NodePtr PrintFormatParser::element(const TraceField& field) {
  const NodePtr at = number();
  if (!at || !take("]")) return nullptr;
  const bool is_array = field.type.ends_with(']') && field.kind() != FieldKind::kLocated;
  if (!is_array || at->number >= field.elements()) return nullptr;
  const std::uint32_t size = field.element_bytes();
  NodePtr node = make(Kind::kNumberField);
  if (!node) return nullptr;
  const auto offset = field.offset + static_cast<std::uint32_t>(at->number) * size;
  node->load = load_of({.offset = offset, .size = size, .is_signed = field.is_signed});
  node->is_signed = field.is_signed;
  return node;
}

PrintFormatParser::NodePtr PrintFormatParser::bytes_field(std::string_view name) {
  const auto found = format_.field(name);
  NodePtr node = make(Kind::kBytesField);
  if (!found || !node) return nullptr;
  const TraceField& field = found.value();
  node->source = tracing::bytes_of(field);
  if (node->source.kind != TextSource::Kind::kFixed && field.size != 4) return nullptr;
  node->sort = Sort::kBytes;
  return node;
}

// Parses a field that gives the place of its bytes in the record.
PrintFormatParser::NodePtr PrintFormatParser::dynamic_field() {
  NodePtr node = bytes_field(take_word());
  return node && node->source.kind != TextSource::Kind::kFixed ? std::move(node) : nullptr;
}

// `name)`, and perhaps `[0]`.
PrintFormatParser::NodePtr PrintFormatParser::text_field() {
  NodePtr text = field(take_word());
  if (!text || text->kind != Kind::kTextField || !take(")")) return nullptr;
  if (!take("[")) return text;
  const NodePtr at = number();
  NodePtr node = make(Kind::kCharacter);
  if (!at || !node || !take("]")) return nullptr;
  node->number = at->number;
  return joined(std::move(node), std::move(text));
}

PrintFormatParser::NodePtr PrintFormatParser::dynamic_length() {
  NodePtr bytes = dynamic_field();
  NodePtr node = make(Kind::kLength);
  return bytes && node ? joined(std::move(node), std::move(bytes)) : nullptr;
}

PrintFormatParser::NodePtr PrintFormatParser::bytes_value() {
  NodePtr bytes = choice();
  if (!bytes) return nullptr;
  const bool has_bytes = bytes->sort == Sort::kBytes || bytes->kind == Kind::kTextField;
  return has_bytes ? std::move(bytes) : nullptr;
}

PrintFormatParser::NodePtr PrintFormatParser::array() {
  NodePtr node = make(Kind::kArray);
  NodePtr bytes = bytes_value();
  NodePtr count = bytes && take(",") ? number_value() : nullptr;
  NodePtr size = count && take(",") ? number_value() : nullptr;
  if (!node || !size) return nullptr;
  node->sort = Sort::kText;
  return joined(std::move(node), std::move(bytes), std::move(count), std::move(size));
}

PrintFormatParser::NodePtr PrintFormatParser::hex_bytes(std::string_view between) {
  NodePtr node = make(Kind::kHexBytes);
  NodePtr bytes = bytes_value();
  NodePtr count = bytes && take(",") ? number_value() : nullptr;
  if (!node || !count) return nullptr;
  node->sort = Sort::kText;
  node->text = between;
  return joined(std::move(node), std::move(bytes), std::move(count));
}

PrintFormatParser::NodePtr PrintFormatParser::bits() {
  NodePtr node = make(Kind::kBits);
  NodePtr bytes = dynamic_field();
  if (!node || !bytes) return nullptr;
  node->sort = Sort::kText;
  return joined(std::move(node), std::move(bytes));
}

// `unsigned int)`
PrintFormatParser::NodePtr PrintFormatParser::size_of() {
  NodePtr node = take_type();
  if (!node) return nullptr;
  node->kind = Kind::kNumber;
  node->number = node->bytes;
  return node;
}

// `value, 0`: the number is the value that the compiler shall expect.
PrintFormatParser::NodePtr PrintFormatParser::expected() {
  NodePtr value = number_value();
  return value && take(",") && number_value() ? std::move(value) : nullptr;
}

// `VALUE, { 1, "a" }, ...`; flags have their separator behind the value.
PrintFormatParser::NodePtr PrintFormatParser::names(Kind kind) {
  NodePtr node = make(kind);
  NodePtr value = number_value();
  if (!node || !value) return nullptr;
  node->sort = Sort::kText;
  if (kind == Kind::kFlags) {
    const auto between = take(",") ? literals() : std::nullopt;
    if (!between) return nullptr;
    node->text = *between;
  }
  while (take(",")) {
    if (!name(*node)) return nullptr;
  }
  return joined(std::move(node), std::move(value));
}

// A constant of the kernel, of which only the name is known, is shown as a number.
bool PrintFormatParser::name(Node& node) {
  if (!take("{")) return false;
  if (take("}")) return true;
  const NodePtr value = number_value();
  if (!value || !is_constant(*value) || !take(",")) return false;
  auto text = literals();
  // `{ -1, ((void *)0) }` ends some lists.
  if (!text && !choice()) return false;
  if (!take("}") || ++nodes_ > PrintFormat::kNodesMax) return false;
  if (text && !value->is_unknown) {
    node.names.emplace_back(PrintFormat::number_of(*value, {}), std::move(*text));
  }
  return true;
}

bool PrintFormatParser::is_constant(const Node& node) {
  if (node.kind != Kind::kNumber && node.kind != Kind::kUnknown && !node.left) return false;
  if (node.kind == Kind::kLength || node.kind == Kind::kCharacter) return false;
  const auto of = [](const NodePtr& each) { return !each || is_constant(*each); };
  return of(node.left) && of(node.right) && of(node.other);
}

}  // namespace tallyfs::tracing
