// From the kernel's line of C to a PrintFormat: whatever is not understood makes it none at all.
#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text.h"
#include "core/event/modifiers.h"
#include "core/event/print_format.h"

namespace tally {
namespace {

constexpr std::string_view kLine = "\nprint fmt: ";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct TypeName {
  std::string_view name;
  std::uint32_t bytes;
  bool is_signed;
};
// Words that a cast consists of; the last one that says a size counts.
constexpr TypeName kTypes[] = {
    {"char", 1, true},   {"short", 2, true},     {"int", 4, true},       {"long", 8, true},
    {"u8", 1, false},    {"u16", 2, false},      {"u32", 4, false},      {"u64", 8, false},
    {"__u8", 1, false},  {"__u16", 2, false},    {"__u32", 4, false},    {"__u64", 8, false},
    {"s8", 1, true},     {"s16", 2, true},       {"s32", 4, true},       {"s64", 8, true},
    {"__s32", 4, true},  {"__s64", 8, true},     {"bool", 1, false},     {"size_t", 8, false},
    {"pid_t", 4, true},  {"dev_t", 4, false},    {"gfp_t", 4, false},    {"uintptr_t", 8, false},
    {"void", 8, false},  {"uint64_t", 8, false}, {"uint32_t", 4, false}, {"sector_t", 8, false},
    {"loff_t", 8, true}, {"ino_t", 8, false},
};

}  // namespace

class PrintFormatParser {
 public:
  PrintFormatParser(std::string_view text, const EventFormat& format)
      : text_(text), format_(format) {}

  std::optional<PrintFormat> parse() {
    const auto words = literals();
    if (!words || words->empty() || !split(*words)) return std::nullopt;
    for (PrintFormat::Part& part : made_.parts_) {
      if (part.conversion == 0) continue;
      if (!take(",")) return std::nullopt;
      part.value = choice();
      if (!part.value || part.value->is_text != (part.conversion == 's')) return std::nullopt;
    }
    skip();
    if (at_ != text_.size()) return std::nullopt;
    return std::move(made_);
  }

 private:
  using Kind = PrintFormat::Kind;
  using Operator = PrintFormat::Operator;
  using Node = PrintFormat::Node;
  using NodePtr = std::unique_ptr<Node>;

  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string_view take_word() {
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  NodePtr make(Kind kind) {
    if (++nodes_ > PrintFormat::kNodesMax) return nullptr;
    auto node = std::make_unique<Node>();
    node->kind = kind;
    return node;
  }

  // "a" "b": one or several, joined.
  std::optional<std::string> literals() {
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

  // The first literal at its conversions.
  bool split(std::string_view text) {
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

  static bool conversion(std::string_view& text, PrintFormat::Part& part) {
    const std::size_t flags = std::min(text.find_first_not_of("-+ #0123456789."), text.size());
    part.flags = text.substr(0, flags);
    if (part.flags.size() > 8) return false;
    text.remove_prefix(flags);
    part.bytes = 4;
    for (; !text.empty() && std::string_view("hlzLq").find(text[0]) != text.npos;
         text.remove_prefix(1)) {
      part.bytes = text[0] == 'h' ? part.bytes / 2 : 8;
    }
    if (text.empty() || part.bytes == 0) return false;
    part.conversion = text[0] == 'i' ? 'd' : text[0];
    text.remove_prefix(1);
    if (part.conversion != 'p')
      return std::string_view("duxXocs").find(part.conversion) != text.npos;
    part.bytes = 8;
    if (text.empty() || std::isalnum(static_cast<unsigned char>(text[0])) == 0) return true;
    const char kind = text[0];
    text.remove_prefix(1);
    if (kind == 'S' || kind == 'F') part.conversion = 'S';
    if (kind == 's' || kind == 'f') part.conversion = 'f';
    return std::string_view("SFsfxK").find(kind) != text.npos;
  }

  NodePtr choice() {
    if (++depth_ > PrintFormat::kNestingMax) return nullptr;
    NodePtr condition = binary(0);
    if (condition && take("?")) {
      NodePtr node = make(Kind::kChoice);
      NodePtr yes = choice();
      if (!node || !yes || condition->is_text || !take(":")) return nullptr;
      NodePtr no = choice();
      if (!no || no->is_text != yes->is_text) return nullptr;
      node->is_text = yes->is_text;
      node->is_signed = yes->is_signed && no->is_signed;
      node->left = std::move(condition);
      node->right = std::move(yes);
      node->other = std::move(no);
      condition = std::move(node);
    }
    --depth_;
    return condition;
  }

  struct OperatorName {
    std::string_view text;
    Operator op;
    int rank;
  };
  // Longer ones before those that they begin with.
  static constexpr std::array kOperators = {
      OperatorName{"||", Operator::kOr, 1},        OperatorName{"&&", Operator::kAnd, 2},
      OperatorName{"==", Operator::kEqual, 6},     OperatorName{"!=", Operator::kUnequal, 6},
      OperatorName{"<<", Operator::kShiftLeft, 8}, OperatorName{">>", Operator::kShiftRight, 8},
      OperatorName{"<=", Operator::kLessEqual, 7}, OperatorName{">=", Operator::kGreaterEqual, 7},
      OperatorName{"<", Operator::kLess, 7},       OperatorName{">", Operator::kGreater, 7},
      OperatorName{"|", Operator::kBitOr, 3},      OperatorName{"^", Operator::kBitXor, 4},
      OperatorName{"&", Operator::kBitAnd, 5},     OperatorName{"+", Operator::kAdd, 9},
      OperatorName{"-", Operator::kSubtract, 9},   OperatorName{"*", Operator::kMultiply, 10},
      OperatorName{"/", Operator::kDivide, 10},    OperatorName{"%", Operator::kRemainder, 10},
  };

  NodePtr binary(int rank) {
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
      if (!node || !right || left->is_text || right->is_text) return nullptr;
      node->op = found->op;
      node->is_signed = left->is_signed && right->is_signed;
      node->left = std::move(left);
      node->right = std::move(right);
      left = std::move(node);
    }
    return left;
  }

  NodePtr unary() {
    if (++depth_ > PrintFormat::kNestingMax) return nullptr;
    NodePtr made;
    skip();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '!' || c == '~' || c == '-') {
      ++at_;
      made = make(Kind::kUnary);
      NodePtr operand = unary();
      if (!made || !operand || operand->is_text) return nullptr;
      made->op = c == '!' ? Operator::kNot : c == '~' ? Operator::kComplement : Operator::kNegate;
      made->is_signed = c == '-' || operand->is_signed;
      made->left = std::move(operand);
    } else if (c == '(') {
      ++at_;
      made = parenthesis();
    } else {
      made = primary();
    }
    --depth_;
    return made;
  }

  // A cast, or an expression.
  NodePtr parenthesis() {
    const std::size_t start = at_;
    if (NodePtr cast = take_type()) {
      NodePtr operand = unary();
      if (!operand) return nullptr;
      if (operand->is_text) return operand;
      cast->left = std::move(operand);
      return cast;
    }
    at_ = start;
    NodePtr inner = choice();
    return inner && take(")") ? std::move(inner) : nullptr;
  }

  // `unsigned long)`, `void *)`, `const char *)`. Nullptr: it is none.
  NodePtr take_type() {
    const TypeName* type = nullptr;
    bool is_unsigned = false, any = false, is_pointer = false;
    for (;;) {
      const std::string_view word = take_word();
      if (word.empty()) break;
      any = true;
      const auto* const known = std::ranges::find(kTypes, word, &TypeName::name);
      if (known != std::end(kTypes)) {
        // `long int`, `short int` are what their first word says.
        if (!type || known->name != "int") type = known;
      } else if (word == "unsigned") {
        is_unsigned = true;
      } else if (word != "signed" && word != "const") {
        return nullptr;
      }
    }
    while (take("*")) is_pointer = true;
    if (!any || !take(")")) return nullptr;
    NodePtr cast = make(Kind::kCast);
    if (!cast) return nullptr;
    cast->bytes = is_pointer ? 8 : type ? type->bytes : 4;
    cast->is_signed = !is_pointer && !is_unsigned && (!type || type->is_signed);
    return cast;
  }

  NodePtr primary() {
    skip();
    if (at_ == text_.size()) return nullptr;
    if (text_[at_] == '"') {
      auto text = literals();
      NodePtr node = make(Kind::kText);
      if (!text || !node) return nullptr;
      node->is_text = true;
      node->text = std::move(*text);
      return node;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    const std::string_view word = take_word();
    if (word == "REC") return take("->") ? field(take_word()) : nullptr;
    if (word == "__get_str" || word == "__get_rel_str") {
      if (!take("(")) return nullptr;
      NodePtr node = field(take_word());
      return node && node->is_text && take(")") ? std::move(node) : nullptr;
    }
    if (word == "__print_symbolic") return names(Kind::kSymbolic);
    if (word == "__print_flags") return names(Kind::kFlags);
    return nullptr;
  }

  NodePtr number() {
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

  NodePtr field(std::string_view name) {
    const auto found = format_.field(name);
    skip();
    if (!found || (at_ < text_.size() && text_[at_] == '[')) return nullptr;
    const TraceField& field = found.value();
    NodePtr node = make(field.is_text() ? Kind::kTextField : Kind::kNumberField);
    if (!node) return nullptr;
    if (field.is_text()) {
      node->is_text = true;
      node->source = tally::text_of(field);
    } else if (field.kind() == FieldKind::kNumber) {
      node->load = load_of(field);
      node->is_signed = field.is_signed;
    } else {
      return nullptr;
    }
    return node;
  }

  // `(VALUE, { 1, "a" }, ...)`, of flags with what stands between them behind the value.
  NodePtr names(Kind kind) {
    NodePtr node = make(kind);
    if (!node || !take("(")) return nullptr;
    node->is_text = true;
    node->left = choice();
    if (!node->left || node->left->is_text) return nullptr;
    if (kind == Kind::kFlags) {
      const auto between = take(",") ? literals() : std::nullopt;
      if (!between) return nullptr;
      node->text = *between;
    }
    while (take(",")) {
      if (!take("{")) return nullptr;
      const bool is_known = !take_enumerator();
      const NodePtr value = is_known ? choice() : make(Kind::kNumber);
      if (!value || value->is_text || !is_constant(*value) || !take(",")) return nullptr;
      auto name = literals();
      // `{ -1, ((void *)0) }` ends some lists.
      if (!name && !choice()) return nullptr;
      if (!take("}") || ++nodes_ > PrintFormat::kNodesMax) return nullptr;
      if (name && is_known)
        node->names.emplace_back(PrintFormat::number_of(*value, {}), std::move(*name));
    }
    return take(")") ? std::move(node) : nullptr;
  }

  // A constant of the kernel's that only its name is told of: what it stands for is shown as a
  // number.
  bool take_enumerator() {
    const std::size_t start = at_;
    const std::string_view word = take_word();
    skip();
    const bool ends = at_ < text_.size() && text_[at_] == ',';
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 && ends)
      return true;
    at_ = start;
    return false;
  }

  static bool is_constant(const Node& node) {
    if (node.kind == Kind::kNumberField || node.kind == Kind::kTextField) return false;
    const auto of = [](const NodePtr& each) { return !each || is_constant(*each); };
    return of(node.left) && of(node.right) && of(node.other);
  }

  const std::string_view text_;
  const EventFormat& format_;
  std::size_t at_ = 0;
  std::size_t nodes_ = 0;
  int depth_ = 0;
  PrintFormat made_;
};

std::optional<PrintFormat> PrintFormat::compile(std::string_view format_text,
                                                const EventFormat& format) {
  const std::size_t at = format_text.find(kLine);
  if (at == format_text.npos) return std::nullopt;
  std::string_view line = format_text.substr(at + kLine.size());
  line = line.substr(0, line.find('\n'));
  if (line.size() > kTextBytesMax) return std::nullopt;
  return PrintFormatParser(line, format).parse();
}

}  // namespace tally
