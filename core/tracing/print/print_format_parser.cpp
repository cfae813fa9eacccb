#include "core/tracing/print/print_format_parser.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text.h"
#include "core/tracing/print/print_pointer.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kLine = "\nprint fmt: ";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct TypeName {
  std::string_view name;
  std::uint32_t bytes;
  bool is_signed;
};
// The words of a cast; the last word that gives a size counts.
constexpr TypeName kTypes[] = {
    {"char", 1, true},    {"short", 2, true},     {"int", 4, true},       {"long", 8, true},
    {"u8", 1, false},     {"u16", 2, false},      {"u32", 4, false},      {"u64", 8, false},
    {"__u8", 1, false},   {"__u16", 2, false},    {"__u32", 4, false},    {"__u64", 8, false},
    {"s8", 1, true},      {"s16", 2, true},       {"s32", 4, true},       {"s64", 8, true},
    {"__s32", 4, true},   {"__s64", 8, true},     {"bool", 1, false},     {"size_t", 8, false},
    {"pid_t", 4, true},   {"dev_t", 4, false},    {"gfp_t", 4, false},    {"uintptr_t", 8, false},
    {"void", 8, false},   {"uint64_t", 8, false}, {"uint32_t", 4, false}, {"sector_t", 8, false},
    {"loff_t", 8, true},  {"ino_t", 8, false},    {"uint", 4, false},     {"ulong", 8, false},
    {"int64_t", 8, true}, {"int32_t", 4, true},   {"uint16_t", 2, false}, {"uint8_t", 1, false},
    {"int16_t", 2, true}, {"int8_t", 1, true},    {"ssize_t", 8, true},   {"umode_t", 2, false},
};

// A type that is not known here leaves a number as it is.
constexpr TypeName kOtherType = {"", 8, false};

}  // namespace

std::optional<PrintFormat> PrintFormatParser::parse() {
  const auto words = literals();
  if (!words || words->empty() || !split(*words) || !values()) return std::nullopt;
  skip();
  if (at_ != text_.size()) return std::nullopt;
  return std::move(made_);
}

bool PrintFormatParser::values() {
  for (PrintFormat::Part& part : made_.parts_) {
    if (part.conversion == 0) continue;
    if (part.flags.find('*') != part.flags.npos) {
      if (!take(",") || !(part.star = number_value())) return false;
    }
    if (!take(",") || !(part.value = choice())) return false;
    if (!part.value->is_unknown && !is_shown_by(*part.value, part.conversion)) return false;
  }
  return true;
}

bool PrintFormatParser::is_shown_by(const Node& value, char conversion) {
  if (conversion == 's') return value.sort == Sort::kText || value.is_pointer;
  if (conversion != 'B') return value.sort == Sort::kNumber;
  return value.sort == Sort::kBytes || value.kind == Kind::kTextField;
}

PrintFormatParser::NodePtr PrintFormatParser::number_value() {
  NodePtr value = choice();
  return value && value->sort == Sort::kNumber ? std::move(value) : nullptr;
}

void PrintFormatParser::skip() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

bool PrintFormatParser::take(std::string_view token) {
  skip();
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

std::string_view PrintFormatParser::take_word() {
  skip();
  const std::size_t start = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

PrintFormatParser::NodePtr PrintFormatParser::make(Kind kind) {
  if (++nodes_ > PrintFormat::kNodesMax) return nullptr;
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

PrintFormatParser::NodePtr PrintFormatParser::joined(NodePtr node, NodePtr left, NodePtr right,
                                                     NodePtr other) {
  const auto unknown = [](const NodePtr& each) { return each && each->is_unknown; };
  node->is_unknown |= unknown(left) || unknown(right) || unknown(other);
  node->left = std::move(left);
  node->right = std::move(right);
  node->other = std::move(other);
  return node;
}

// One or several literals, "a" "b", joined.
std::optional<std::string> PrintFormatParser::literals() {
  std::optional<std::string> all;
  while (take("\"")) {
    if (!all) all.emplace();
    for (;; ++at_) {
      if (at_ == text_.size()) return std::nullopt;
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') {
        all->push_back(text_[at_]);
        continue;
      }
      if (++at_ == text_.size()) return std::nullopt;
      all->push_back(text_[at_] == 'n' ? '\n' : text_[at_] == 't' ? '\t' : text_[at_]);
    }
    ++at_;
  }
  return all;
}

// Splits the first literal at its conversions.
bool PrintFormatParser::split(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  PrintFormat::Part part;
  while (!text.empty()) {
    const std::size_t percent = text.find('%');
    part.text.append(text.substr(0, percent));
    if (percent == text.npos) break;
    text.remove_prefix(percent + 1);
    if (text.starts_with('%')) {
      part.text.push_back('%');
      text.remove_prefix(1);
      continue;
    }
    if (!conversion(text, part)) return false;
    made_.parts_.push_back(std::move(part));
    part = {};
  }
  if (!part.text.empty()) made_.parts_.push_back(std::move(part));
  return true;
}

bool PrintFormatParser::conversion(std::string_view& text, PrintFormat::Part& part) {
  const std::size_t flags = std::min(text.find_first_not_of("-+ #0123456789.*"), text.size());
  part.flags = text.substr(0, flags);
  if (part.flags.size() > 8 || std::ranges::count(part.flags, '*') > 1) return false;
  text.remove_prefix(flags);
  part.bytes = 4;
  for (; !text.empty() && std::string_view("hlzLq").find(text[0]) != text.npos;
       text.remove_prefix(1)) {
    part.bytes = text[0] == 'h' ? part.bytes / 2 : 8;
  }
  if (text.empty() || part.bytes == 0) return false;
  part.conversion = text[0] == 'i' ? 'd' : text[0];
  text.remove_prefix(1);
  if (part.conversion != 'p') {
    return std::string_view("duxXocs").find(part.conversion) != text.npos;
  }
  part.bytes = 8;
  const bool of_bits = part.flags == "*";
  part.pointed = pointer_kind(text);
  if (!part.pointed.empty() && of_bits == part.pointed.starts_with('b')) {
    part.conversion = 'B';
    text.remove_prefix(part.pointed.size());
    return true;
  }
  if (of_bits) return false;
  if (text.empty() || std::isalnum(static_cast<unsigned char>(text[0])) == 0) return true;
  const char kind = text[0];
  text.remove_prefix(1);
  if (kind == 'S' || kind == 'F') part.conversion = 'S';
  if (kind == 's' || kind == 'f') part.conversion = 'f';
  if (kind == 'x') part.conversion = 'P';
  return std::string_view("SFsfxK").find(kind) != text.npos;
}

PrintFormatParser::NodePtr PrintFormatParser::choice() {
  if (++depth_ > PrintFormat::kNestingMax) return nullptr;
  NodePtr condition = binary(0);
  if (condition && take("?")) {
    NodePtr node = make(Kind::kChoice);
    NodePtr yes = choice();
    if (!node || !yes || condition->sort != Sort::kNumber || !take(":")) return nullptr;
    NodePtr no = choice();
    if (!no) return nullptr;
    match(yes, no);
    match(no, yes);
    if (no->sort != yes->sort || yes->sort == Sort::kBytes) return nullptr;
    node->sort = yes->sort;
    node->is_signed = yes->is_signed && no->is_signed;
    condition = joined(std::move(node), std::move(condition), std::move(yes), std::move(no));
  }
  --depth_;
  return condition;
}

// Beside a text, `((void *)0)` means no text, and is shown as printf shows it.
void PrintFormatParser::match(NodePtr& one, NodePtr& other) {
  if (one->sort != Sort::kText || other->sort != Sort::kNumber) return;
  if (!is_constant(*other) || PrintFormat::number_of(*other, {}) != 0) return;
  other->kind = Kind::kText;
  other->sort = Sort::kText;
  other->text = "(null)";
}

namespace {

struct OperatorName {
  std::string_view text;
  int rank;
};
// In the order of kOperatorCodes; an operator comes before the operators that it begins with.
constexpr std::array kOperators = {
    OperatorName{"||", 1}, OperatorName{"&&", 2}, OperatorName{"==", 6}, OperatorName{"!=", 6},
    OperatorName{"<<", 8}, OperatorName{">>", 8}, OperatorName{"<=", 7}, OperatorName{">=", 7},
    OperatorName{"<", 7},  OperatorName{">", 7},  OperatorName{"|", 3},  OperatorName{"^", 4},
    OperatorName{"&", 5},  OperatorName{"+", 9},  OperatorName{"-", 9},  OperatorName{"*", 10},
    OperatorName{"/", 10}, OperatorName{"%", 10},
};

}  // namespace

PrintFormatParser::NodePtr PrintFormatParser::binary(int rank) {
  static constexpr std::array kOperatorCodes = {
      Operator::kOr,        Operator::kAnd,        Operator::kEqual,     Operator::kUnequal,
      Operator::kShiftLeft, Operator::kShiftRight, Operator::kLessEqual, Operator::kGreaterEqual,
      Operator::kLess,      Operator::kGreater,    Operator::kBitOr,     Operator::kBitXor,
      Operator::kBitAnd,    Operator::kAdd,        Operator::kSubtract,  Operator::kMultiply,
      Operator::kDivide,    Operator::kRemainder,
  };
  static_assert(kOperators.size() == kOperatorCodes.size());
  NodePtr left = unary();
  while (left) {
    skip();
    const auto* const found = std::ranges::find_if(kOperators, [&](const OperatorName& each) {
      return text_.substr(at_).starts_with(each.text);
    });
    if (found == kOperators.end() || found->rank <= rank) break;
    at_ += found->text.size();
    NodePtr node = make(Kind::kBinary);
    NodePtr right = binary(found->rank);
    if (!node || !right || left->sort != Sort::kNumber || right->sort != Sort::kNumber) {
      return nullptr;
    }
    node->op = kOperatorCodes[static_cast<std::size_t>(found - kOperators.begin())];
    node->is_signed = left->is_signed && right->is_signed;
    left = joined(std::move(node), std::move(left), std::move(right));
  }
  return left;
}

PrintFormatParser::NodePtr PrintFormatParser::unary() {
  if (++depth_ > PrintFormat::kNestingMax) return nullptr;
  NodePtr made;
  skip();
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == '!' || c == '~' || c == '-') {
    ++at_;
    made = make(Kind::kUnary);
    NodePtr operand = unary();
    if (!made || !operand || operand->sort != Sort::kNumber) return nullptr;
    made->op = c == '!' ? Operator::kNot : c == '~' ? Operator::kComplement : Operator::kNegate;
    made->is_signed = c == '-' || operand->is_signed;
    made = joined(std::move(made), std::move(operand));
  } else if (take("(REC)")) {
    made = take("->") ? field(take_word()) : nullptr;
  } else if (c == '(') {
    ++at_;
    made = parenthesis();
  } else {
    made = primary();
  }
  --depth_;
  return made;
}

// Parses a cast or an expression.
PrintFormatParser::NodePtr PrintFormatParser::parenthesis() {
  const std::size_t start = at_;
  if (NodePtr cast = take_type()) {
    NodePtr operand = unary();
    if (!operand) return nullptr;
    if (operand->sort != Sort::kNumber) return operand;
    cast->is_pointer = operand->is_pointer && cast->bytes == 8;
    return joined(std::move(cast), std::move(operand));
  }
  at_ = start;
  NodePtr inner = choice();
  return inner && take(")") ? std::move(inner) : nullptr;
}

// `unsigned long)`, `void *)`, `const char *)`, `struct page *)`. Nullptr: there is no type.
PrintFormatParser::NodePtr PrintFormatParser::take_type() {
  const TypeName* type = nullptr;
  bool is_unsigned = false, any = false, is_struct = false, is_pointer = false;
  for (;;) {
    const std::string_view word = take_word();
    if (word.empty()) break;
    const auto* const known = std::ranges::find(kTypes, word, &TypeName::name);
    if (known != std::end(kTypes)) {
      // `long int`, `short int`: the first word gives the type.
      if (!type || known->name != "int") type = known;
    } else if (word == "unsigned") {
      is_unsigned = true;
    } else if (word == "struct" || word == "enum") {
      is_struct = word == "struct";
      if (take_word().empty()) return nullptr;
    } else if (word.ends_with("_t")) {
      type = &kOtherType;
    } else if (word != "signed" && word != "const") {
      return nullptr;
    }
    any = true;
  }
  while (take("*")) is_pointer = true;
  if (!any || (is_struct && !is_pointer) || !take(")")) return nullptr;
  NodePtr cast = make(Kind::kCast);
  if (!cast) return nullptr;
  cast->bytes = is_pointer ? 8 : type ? type->bytes : 4;
  cast->is_signed = !is_pointer && !is_unsigned && (!type || type->is_signed);
  return cast;
}

std::optional<PrintFormat> PrintFormat::compile(std::string_view format_text,
                                                const EventFormat& format) {
  const std::size_t at = format_text.find(kLine);
  if (at == format_text.npos) return std::nullopt;
  // The line goes on to the end of the text: a literal in it may have newlines.
  const std::string_view line = trimmed(format_text.substr(at + kLine.size()));
  if (line.size() > kTextBytesMax) return std::nullopt;
  return PrintFormatParser(line, format).parse();
}

}  // namespace tallyfs::tracing
