#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>

#include "core/base/text.h"
#include "core/tracing/command/modifiers.h"
#include "core/tracing/filter/filter.h"
#include "core/tracing/format/narrow_number.h"

namespace tallyfs::tracing {

// Parses the text into a tree first. Then lays the tree out from right to left, as terms with
// jumps. Carets of faults stand where the kernel has them: for most faults of an operator or a
// value that is one place behind its start, for an unknown field it is one behind the name's end.
// An operator that joins nothing has no text in the kernel: the caret stands where the other side
// is missing.
class FilterParser {
 public:
  FilterParser(std::string_view text, const EventFormat& format) : text_(text), format_(format) {}

  Checked<Filter> parse() {
    skip_blanks();
    if (at_ == text_.size()) return Fault{fault::kNoFilter};
    auto root = any_of();
    if (!root) return root.error();
    if (at_ < text_.size()) {
      const bool close = text_[at_] == ')';
      return wrong(close ? fault::kTooManyClose : fault::kTooManyTerms, at_);
    }
    filter_.start_ = emit(*root.value(), Filter::kTrue, Filter::kFalse);
    return std::move(filter_);
  }

 private:
  using Compare = Filter::Compare;
  struct Node {
    enum class Kind { kTerm, kAnd, kOr, kNot } kind = Kind::kTerm;
    Filter::Term term = {};
    std::unique_ptr<Node> left = {}, right = {};
  };
  using Parsed = Checked<std::unique_ptr<Node>>;

  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  static bool is_letter_or_digit(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  }
  static Fault wrong(std::string_view reason, std::size_t at) {
    return {.reason = reason, .at = at};
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(std::string_view what) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    skip_blanks();
    return true;
  }

  static std::unique_ptr<Node> joined(Node::Kind kind, std::unique_ptr<Node> left,
                                      std::unique_ptr<Node> right) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  Parsed any_of() {
    auto left = all_of();
    while (left && take("||")) {
      auto right = all_of();
      if (!right) return right;
      left = joined(Node::Kind::kOr, std::move(left.value()), std::move(right.value()));
    }
    return left;
  }

  Parsed all_of() {
    auto left = one();
    while (left && take("&&")) {
      auto right = one();
      if (!right) return right;
      left = joined(Node::Kind::kAnd, std::move(left.value()), std::move(right.value()));
    }
    return left;
  }

  Parsed one() {
    skip_blanks();
    if (depth_ == Filter::kNestingMax) return wrong(fault::kTooManyOpen, at_);
    if (at_ < text_.size() && text_[at_] == '!' && !text_.substr(at_).starts_with("!=")) {
      ++at_;
      depth_ += 1;
      auto inner = one();
      depth_ -= 1;
      if (!inner) return inner;
      return joined(Node::Kind::kNot, std::move(inner.value()), nullptr);
    }
    const std::size_t open = at_;
    if (!take("(")) return term();
    if (at_ == text_.size()) return wrong(fault::kTooManyOpen, open);
    depth_ += 1;
    auto inner = any_of();
    depth_ -= 1;
    if (!inner) return inner;
    if (!take(")"))
      return wrong(at_ == text_.size() ? fault::kTooManyOpen : fault::kTooManyTerms,
                   at_ == text_.size() ? open : at_);
    return inner;
  }

  Parsed term() {
    if (++terms_ > Filter::kTermsMax) return wrong(fault::kTooManyTerms, at_);
    auto node = std::make_unique<Node>();
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter_or_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) return wrong(fault::kMeaninglessFilter, start);
    if (const auto found = find_field(name, node->term); !found) {
      return wrong(found.error().reason, at_ + 1);
    }
    const std::size_t op_at = (skip_blanks(), at_);
    const auto op = take_operator();
    if (!op) return wrong(reason_of(op_at), op_at + 1);
    node->term.compare = *op;
    const auto operand = value_operand(node->term);
    if (!operand) return operand.error();
    return node;
  }

  Checked<void> value_operand(Filter::Term& term) {
    if (is_text_) return text_operand(term);
    if (text_.substr(at_).starts_with("CPUS")) return cpus_operand(term);
    if (term.is_mask) return wrong(fault::kMaskWithoutCpus, at_);
    return number_operand(term);
  }

  // The fault of a missing operator. `.function` and `.ustring` have their own: the kernel accepts
  // them behind a field, and this language does not.
  std::string_view reason_of(std::size_t at) const {
    if (text_.substr(at).starts_with(".function")) return fault::kFunctionFilter;
    if (text_.substr(at).starts_with(".ustring")) return fault::kUserTextFilter;
    return fault::kInvalidOperator;
  }

  Checked<void> find_field(std::string_view name, Filter::Term& term) {
    is_text_ = false;
    bytes_ = 4;
    if (const auto field = format_.field(name); field && name != "common_pid") {
      return take_field(field.value(), term);
    }
    if (name == "common_pid") {
      term.load = {OpCode::kPid};
      term.is_signed = true;
    } else if (name == "cpu" || name == "CPU" || name == "common_cpu") {
      term.load = {OpCode::kCpu};
    } else if (name == "comm" || name == "COMM" || name == "common_comm") {
      is_text_ = true;
      term.source = {TextSource::Kind::kComm};
    } else {
      return wrong(fault::kFilterFieldNotFound, 0);
    }
    return {};
  }

  Checked<void> take_field(const TraceField& field, Filter::Term& term) {
    bytes_ = field.size;
    term.is_signed = field.is_signed;
    switch (field.kind()) {
      case FieldKind::kNumber:
        term.load = load_of(field);
        return {};
      case FieldKind::kText:
      case FieldKind::kLocated:
      case FieldKind::kRelative:
      case FieldKind::kTail:
        is_text_ = true;
        term.source = text_of(field);
        return {};
      case FieldKind::kStack:
      case FieldKind::kOther:
        break;
    }
    term.is_mask = field.type.find("cpumask_t") != field.type.npos && field.size == 4;
    if (!term.is_mask) return wrong(fault::kOtherField, 0);
    term.source = {TextSource::Kind::kLocated, true, field.offset, field.size};
    return {};
  }

  std::optional<Compare> take_operator() {
    struct Name {
      std::string_view text;
      Compare compare;
    };
    static constexpr Name kNames[] = {
        {"==", Compare::kEqual},        {"!=", Compare::kUnequal}, {"<=", Compare::kLessEqual},
        {">=", Compare::kGreaterEqual}, {"<", Compare::kLess},     {">", Compare::kGreater},
        {"&", Compare::kAnd},           {"~", Compare::kGlob},
    };
    if (text_.substr(at_).starts_with("&&")) return std::nullopt;
    for (const Name& name : kNames) {
      if (take(name.text)) return name.compare;
    }
    return std::nullopt;
  }

  Checked<void> text_operand(Filter::Term& term) {
    const std::size_t caret = at_ + 1;
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '-' || is_digit(first)) return wrong(fault::kExpectText, caret);
    if (text_.substr(at_).starts_with("CPUS")) return wrong(fault::kIllegalOperation, caret);
    if (first != '"' && first != '\'') return wrong(fault::kInvalidValue, caret);
    if (term.compare == Compare::kEqual) {
      term.compare = Compare::kTextEqual;
    } else if (term.compare == Compare::kUnequal) {
      term.compare = Compare::kTextUnequal;
    } else if (term.compare != Compare::kGlob) {
      return wrong(fault::kIllegalOperation, caret);
    }
    const std::size_t end = text_.find(first, caret);
    if (end == text_.npos) return wrong(fault::kMissingQuote, at_);
    term.text = text_.substr(caret, end - caret);
    if (term.text.size() >= Filter::kOperandMax) return wrong(fault::kOperandTooLong, end + 1);
    at_ = end + 1;
    return {};
  }

  // `CPUS{0-3,8}`
  Checked<void> cpus_operand(Filter::Term& term) {
    if (term.compare == Compare::kAnd) {
      term.compare = Compare::kCpusMeet;
    } else if (term.compare == Compare::kEqual) {
      term.compare = Compare::kCpusEqual;
    } else if (term.compare == Compare::kUnequal) {
      term.compare = Compare::kCpusUnequal;
    } else {
      return wrong(fault::kIllegalOperation, at_ + 1);
    }
    at_ += std::string_view("CPUS").size();
    if (!take("{")) return wrong(fault::kMissingOpenBrace, at_ + 2);
    const std::size_t start = at_;
    const std::size_t end = text_.find('}', start);
    if (end == text_.npos) return wrong(fault::kMissingCloseBrace, text_.size() + 1);
    term.cpus = CpuSet::parse(text_.substr(start, end - start));
    if (!term.cpus) return wrong(fault::kInvalidCpus, end + 1);
    at_ = end + 1;
    return {};
  }

  std::string_view take_letters_and_digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_letter_or_digit(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Checked<void> number_operand(Filter::Term& term) {
    const std::size_t caret = at_ + 1;
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '"' || first == '\'') return wrong(fault::kExpectDigit, caret);
    const bool negative = first == '-';
    if (!negative && !is_digit(first)) {
      const bool is_glob = term.compare == Compare::kGlob;
      return wrong(is_glob ? fault::kIllegalOperation : fault::kInvalidValue, caret);
    }
    if (term.compare == Compare::kGlob) return wrong(fault::kIllegalOperation, caret);
    if (negative) ++at_;
    const auto number = parse_c_number(take_letters_and_digits());
    if (!number) return wrong(fault::kIllegalInteger, caret);
    term.number = narrow_number(negative ? 0 - *number : *number, bytes_, term.is_signed);
    return {};
  }

  std::uint32_t emit(Node& node, std::uint32_t if_true, std::uint32_t if_false) {
    switch (node.kind) {
      case Node::Kind::kAnd:
        return emit(*node.left, emit(*node.right, if_true, if_false), if_false);
      case Node::Kind::kOr:
        return emit(*node.left, if_true, emit(*node.right, if_true, if_false));
      case Node::Kind::kNot:
        return emit(*node.left, if_false, if_true);
      case Node::Kind::kTerm:
        break;
    }
    node.term.if_true = if_true;
    node.term.if_false = if_false;
    filter_.terms_.push_back(std::move(node.term));
    return static_cast<std::uint32_t>(filter_.terms_.size() - 1);
  }

  std::string_view text_;
  const EventFormat& format_;
  std::size_t at_ = 0;
  std::size_t terms_ = 0;
  int depth_ = 0;
  bool is_text_ = false;  // of the field at hand
  std::uint32_t bytes_ = 4;
  Filter filter_;
};

Checked<Filter> Filter::compile(std::string_view text, const EventFormat& format) {
  return FilterParser(text, format).parse();
}

}  // namespace tallyfs::tracing
