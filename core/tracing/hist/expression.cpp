#include "core/tracing/hist/expression.h"

#include <cctype>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::tracing {

struct ExpressionParser::Node {
  Expression expression;
  std::vector<Op> ops;

  bool is_constant() const { return ops.size() == 1 && ops[0].code == OpCode::kConstant; }
};

namespace {

using Use = VariableScope::Use;
using Form = Expression::Form;

// The position of the operator that is computed last: the last + or - outside of parentheses, or
// else the last * or /. npos: there is no operator, or only a sign at the start.
std::size_t root_operator(std::string_view text) {
  std::size_t sum = text.npos, product = text.npos;
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (open != 0 || i == 0) continue;
    const bool sign = std::string_view("+-*/(").find(text[i - 1]) != text.npos;
    const bool of_modifier =
        c == '-' && text.substr(0, i).ends_with(".sym") && text.substr(i).starts_with("-offset");
    if ((c == '+' || c == '-') && !sign && !of_modifier) sum = i;
    if (c == '*' || c == '/') product = i;
  }
  return sum != text.npos ? sum : product;
}

// Whether the text is like (a+b), and not like (a)+(b).
bool is_enclosed(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return false;
  int open = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return false;
  }
  return true;
}

// Whether there are parentheses other than those of a sign before the whole, which are the only
// ones that the kernel supports.
bool has_parentheses(std::string_view text) {
  const std::size_t first = text.find('(');
  if (first == text.npos) return false;
  return !(first == 1 && text[0] == '-' && text.find('(', 2) == text.npos);
}

Op constant_op(std::uint64_t value) { return {OpCode::kConstant, 0, value}; }

OpCode code_of(char op) {
  return op == '+'   ? OpCode::kAdd
         : op == '-' ? OpCode::kSubtract
         : op == '*' ? OpCode::kMultiply
                     : OpCode::kDivide;
}

// Whether the modifiers fit a field of that type: a text is shown as it is. Only
// `common_timestamp` is converted by `usecs`: elsewhere it would name a wrong unit.
bool suits(const Modifiers& modifiers, const Expression& made, std::string_view field) {
  const ValueType& type = made.type;
  if (modifiers.usecs && field != "common_timestamp") return false;
  const bool as_it_is = modifiers.display == Display::kPlain;
  switch (type.kind) {
    case ValueType::Kind::kNumber:
      return modifiers.display != Display::kStack;
    case ValueType::Kind::kText:
      return as_it_is;
    case ValueType::Kind::kStack:
      return as_it_is || modifiers.display == Display::kStack;
  }
  return false;
}

std::string number_text(std::uint64_t value) {
  std::string text;
  append_number(text, value);
  return text;
}

}  // namespace

bool ExpressionParser::count_operator() {
  operators_ += 1;
  return operators_ <= (with_parentheses_ ? kOperatorsMax : kKernelOperatorsMax);
}

Checked<Expression> ExpressionParser::parse(std::string_view text, Role role) {
  role_ = role;
  operators_ = 0;
  depth_ = 0;
  with_parentheses_ = has_parentheses(text);
  auto node = parse_node(trimmed(text), Use::kAlone);
  if (!node) return node.error();
  Node& made = node.value();
  Expression& whole = made.expression;
  if (whole.is_number()) whole.program = Program(std::move(made.ops));
  // The text that is shown can be set again: constants were folded, and their parentheses with
  // them.
  const bool needs_them = with_parentheses_ && operators_ > kKernelOperatorsMax;
  if (whole.form == Form::kOperation && needs_them && !has_parentheses(whole.text)) {
    whole.text = "(" + whole.text + ")";
  }
  return std::move(whole);
}

Checked<ExpressionParser::Node> ExpressionParser::parse_node(std::string_view text, Use use) {
  if (text.empty()) return Fault{fault::kMalformedExpression};
  if (depth_ == kNestingMax) return Fault{fault::kTooDeep, std::string(text)};
  depth_ += 1;
  auto node = parse_inner(text, use);
  depth_ -= 1;
  return node;
}

Checked<ExpressionParser::Node> ExpressionParser::parse_inner(std::string_view text, Use use) {
  const std::size_t root = root_operator(text);
  if (text[0] == '-' && root == text.npos) return parse_unary(text);
  if (text[0] == '-' && !with_parentheses_) {
    return Fault{fault::kUnaryMinus, std::string(text.substr(text.starts_with("-(") ? 2 : 1))};
  }
  if (root != text.npos) return parse_binary(text, root);
  if (!is_enclosed(text)) return parse_atom(text, use);
  auto inner = parse_node(trimmed(text.substr(1, text.size() - 2)), use);
  if (inner && inner.value().expression.form == Form::kOperation) {
    inner.value().expression.text = "(" + inner.value().expression.text + ")";
    inner.value().expression.name = "(" + inner.value().expression.name + ")";
  }
  return inner;
}

Checked<ExpressionParser::Node> ExpressionParser::parse_unary(std::string_view text) {
  if (!count_operator()) return Fault{fault::kTooManySubexpressions, std::string(text)};
  const std::string_view operand = text.substr(1);
  if (!is_enclosed(operand)) return Fault{fault::kMalformedExpression, std::string(text)};
  auto made = parse_node(operand.substr(1, operand.size() - 2), Use::kOperand);
  if (!made) return made;
  Node& node = made.value();
  Expression& inner = node.expression;
  if (!inner.is_number()) return Fault{fault::kTextOperand, std::string(operand.substr(1))};
  if (node.is_constant()) {
    node.ops[0].operand = 0 - node.ops[0].operand;
    inner.text = inner.name = number_text(node.ops[0].operand);
    return made;
  }
  node.ops.push_back({OpCode::kNegate});
  inner.form = Form::kOperation;
  inner.text = "-(" + inner.text + ")";
  inner.name = "-(" + inner.name + ")";
  inner.modifiers = {};
  return made;
}

Checked<ExpressionParser::Node> ExpressionParser::parse_binary(std::string_view text,
                                                               std::size_t at) {
  if (!count_operator()) return Fault{fault::kTooManySubexpressions, std::string(text)};
  const std::string_view left_text = trimmed(text.substr(0, at));
  const std::string_view right_text = trimmed(text.substr(at + 1));
  if (left_text.empty() || right_text.empty()) {
    return Fault{fault::kMalformedExpression, std::string(text)};
  }
  auto left = parse_node(left_text, Use::kOperand);
  if (!left) return left;
  if (!left.value().expression.is_number()) {
    return Fault{fault::kTextOperand, std::string(left_text)};
  }
  auto right = parse_node(right_text, Use::kOperand);
  if (!right) return right;
  if (!right.value().expression.is_number()) {
    return Fault{fault::kTextOperand, std::string(right_text)};
  }
  return combine(std::move(left.value()), std::move(right.value()), text, at);
}

Checked<ExpressionParser::Node> ExpressionParser::combine(Node left, Node right,
                                                          std::string_view text, std::size_t at) {
  const char op = text[at];
  const bool plain = left.is_constant() || right.is_constant();
  Expression& made = left.expression;
  const Expression& other = right.expression;
  if (!plain && made.in_usecs != other.in_usecs) {
    return Fault{fault::kTimestampMismatch, std::string(text)};
  }
  if (op == '/' && right.is_constant() && right.ops[0].operand == 0) {
    return Fault{fault::kDivisionByZero, std::string(trimmed(text.substr(at + 1)))};
  }
  if (left.is_constant() && right.is_constant()) {
    left.ops[0] =
        constant_op(Program::apply(code_of(op), left.ops[0].operand, right.ops[0].operand));
    made.text = made.name = number_text(left.ops[0].operand);
    return left;
  }
  if (left.ops.size() + right.ops.size() >= kOpsMax) return Fault{fault::kTooDeep, made.text};
  if (left.is_constant()) made.type = other.type;
  left.ops.insert(left.ops.end(), right.ops.begin(), right.ops.end());
  left.ops.push_back({code_of(op)});
  made.form = Form::kOperation;
  made.text.append(1, op).append(other.text);
  made.name.append(1, op).append(other.name);
  made.modifiers = {};
  made.is_hitcount = false;
  made.uses_time |= other.uses_time;
  made.in_usecs |= other.in_usecs;
  made.uses_others |= other.uses_others;
  return left;
}

Checked<ExpressionParser::Node> ExpressionParser::parse_atom(std::string_view text, Use use) {
  if (std::isdigit(static_cast<unsigned char>(text[0]))) {
    const auto number = parse_c_number(text);
    if (!number) return Fault{fault::kExpectNumber, std::string(text)};
    Node node;
    node.expression.form = Form::kConstant;
    node.expression.text = node.expression.name = number_text(*number);
    node.ops = {constant_op(*number)};
    return node;
  }
  return text.find('$') == text.npos ? parse_field(text) : parse_variable(text, use);
}

// `$x`, or `sys.event.$x`.
Checked<ExpressionParser::Node> ExpressionParser::parse_variable(std::string_view text, Use use) {
  const std::size_t dollar = text.find('$');
  const std::string_view name = text.substr(dollar + 1);
  std::string_view system, event;
  if (dollar > 0) {
    const std::size_t dot = text.find('.');
    if (dot == text.npos || dot + 2 > dollar || text[dollar - 1] != '.') {
      return Fault{fault::kMalformedExpression, std::string(text)};
    }
    system = text.substr(0, dot);
    event = text.substr(dot + 1, dollar - dot - 2);
  }
  if (name.empty()) return Fault{fault::kFieldNotFound, std::string(text)};
  const bool here = dollar == 0 || (system == system_ && event == format_.name);
  if (const auto definition = here ? scope_.own(name) : std::nullopt) {
    return parse_own(name, *definition, use);
  }
  const auto found = scope_.other(system, event, name, use);
  if (!found) return found.error();
  Node node;
  Expression& made = node.expression;
  made.form = Form::kVariable;
  made.type = found.value().type;
  made.name = name;
  made.text = text;
  made.in_usecs = found.value().in_usecs;
  made.uses_others = true;
  made.source = {TextSource::Kind::kReference, made.type.kind == ValueType::Kind::kStack,
                 found.value().reference, 0};
  node.ops = {{OpCode::kReference, found.value().reference}};
  return node;
}

// As in the kernel, a variable that is only a field is that field; a computed variable keeps its
// name.
Checked<ExpressionParser::Node> ExpressionParser::parse_own(std::string_view name,
                                                            std::string_view definition, Use use) {
  const int operators = std::exchange(operators_, 0);
  const bool parentheses = std::exchange(with_parentheses_, has_parentheses(definition));
  auto node = parse_node(trimmed(definition), use);
  operators_ = operators;
  with_parentheses_ = parentheses;
  if (!node || node.value().expression.form == Form::kField ||
      node.value().expression.form == Form::kConstant) {
    return node;
  }
  node.value().expression.form = Form::kVariable;
  node.value().expression.name = name;
  node.value().expression.text = "$" + std::string(name);
  return node;
}

Checked<Modifiers> ExpressionParser::parse_modifiers(std::string_view field,
                                                     std::string_view text) const {
  Modifiers modifiers;
  while (!text.empty()) {
    const std::size_t end = text.find('.');
    const std::string_view one = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    const bool known = modifiers.add(one);
    const bool not_pid = modifiers.display == Display::kExecname && field != "common_pid";
    const bool of_value = modifiers.display == Display::kPercent ||
                          modifiers.display == Display::kGraph || is_statistic(modifiers.display);
    if (!known || not_pid || (of_value && role_ != Role::kValue)) {
      return Fault{fault::kBadModifier, std::string(one)};
    }
  }
  return modifiers;
}

Checked<ExpressionParser::Node> ExpressionParser::parse_field(std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  auto modifiers =
      parse_modifiers(name, dot == text.npos ? std::string_view() : text.substr(dot + 1));
  if (!modifiers) return modifiers.error();
  auto node = special_field(name, modifiers.value());
  if (!node) return node;
  Expression& made = node.value().expression;
  made.name = made.name.empty() ? name : made.name;
  made.modifiers = modifiers.value();
  made.text = made.name + made.modifiers.text();
  if (!suits(made.modifiers, made, name)) {
    const std::string_view first = text.substr(dot + 1);
    return Fault{fault::kBadModifier, std::string(first.substr(0, first.find('.')))};
  }
  if (made.type.kind == ValueType::Kind::kStack) made.modifiers.display = Display::kStack;
  return node;
}

Checked<ExpressionParser::Node> ExpressionParser::special_field(std::string_view name,
                                                                const Modifiers& modifiers) {
  Node node;
  Expression& made = node.expression;
  const auto is_old_name = [&](std::string_view old) {
    return name == old && !format_.field(old).has_value();
  };
  if (name == "common_timestamp") {
    made.uses_time = true;
    made.in_usecs = modifiers.usecs;
    node.ops = {{modifiers.usecs ? OpCode::kTimeUs : OpCode::kTimeNs}};
  } else if (name == "common_cpu" || is_old_name("cpu")) {
    made.name = "common_cpu";
    made.type = {.name = "unsigned int", .size = 4};
    node.ops = {{OpCode::kCpu}};
  } else if (name == "common_pid") {
    made.type = {.name = "int", .size = 4, .is_signed = true};
    node.ops = {{OpCode::kPid}};
  } else if (name == "common_comm" || is_old_name("comm")) {
    made.name = "common_comm";
    made.type = {ValueType::Kind::kText, "char[16]", 16};
    made.source = {TextSource::Kind::kComm};
  } else if (name == "common_stacktrace" || is_old_name("stacktrace")) {
    made.name = "common_stacktrace";
    made.type = {ValueType::Kind::kStack, "unsigned long[]", kStackBytesMax};
    made.source = {TextSource::Kind::kStack, true};
  } else if (name == "hitcount") {
    made.is_hitcount = true;
    node.ops = {constant_op(1)};
  } else {
    return event_field(name);
  }
  return node;
}

Checked<ExpressionParser::Node> ExpressionParser::event_field(std::string_view name) {
  const auto found = format_.field(name);
  if (!found) {
    // The kernel's documentation has `timer_pid=common_pid:key=timer_pid`.
    if (const auto definition = scope_.own(name); definition && role_ != Role::kVariable) {
      return parse_own(name, *definition, Use::kAlone);
    }
    return Fault{fault::kFieldNotFound, std::string(name)};
  }
  const TraceField& field = found.value();
  const FieldKind kind = field.kind();
  if (kind == FieldKind::kOther) return Fault{fault::kOtherField, std::string(name)};
  Node node;
  Expression& made = node.expression;
  made.type = {.name = field.type, .size = field.size, .is_signed = field.is_signed};
  if (kind == FieldKind::kNumber) {
    node.ops = {load_of(field)};
    return node;
  }
  made.source = text_of(field);
  made.type.kind = made.source.is_stack ? ValueType::Kind::kStack : ValueType::Kind::kText;
  if (kind != FieldKind::kText) made.type.size = kTextBytesMax;
  if (made.source.is_stack) made.type.size = kStackBytesMax;
  return node;
}

}  // namespace tallyfs::tracing
