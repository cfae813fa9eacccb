// The expressions of a trigger: fields with modifiers, numbers, variables, + - * / and parentheses
// (TRIGGERS.md). An expression is parsed and compiled in one pass.
//
// Values; the parser lives for one command. Bounds: kOperatorsMax operators, kNestingMax
// parentheses and variables within variables, kOpsMax operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/command/faults.h"
#include "core/tracing/command/modifiers.h"
#include "core/tracing/format/format.h"
#include "core/tracing/format/program.h"

namespace tallyfs::tracing {

// The type of a value, to be compared with the fields of synthetic events.
struct ValueType {
  enum class Kind : std::uint8_t { kNumber, kText, kStack };
  Kind kind = Kind::kNumber;
  std::string name = "u64";
  std::uint32_t size = 8;
  bool is_signed = false;
};

struct Expression {
  enum class Form : std::uint8_t { kField, kConstant, kVariable, kOperation };
  Form form = Form::kField;
  ValueType type;
  std::string name;  // as hist shows it: "bytes_req", "common_timestamp-ts0"
  std::string text;  // as trigger shows it: "call_site.sym", "$ts0", "common_timestamp.usecs-$ts0"
  Modifiers modifiers;
  Program program;    // of a number
  TextSource source;  // of a text or a stack
  bool is_hitcount = false;
  bool uses_time = false;  // common_timestamp, here or in an operand
  bool in_usecs = false;
  bool uses_others = false;  // variables of other histograms

  bool is_number() const { return type.kind == ValueType::Kind::kNumber; }
};

// The variables that an expression may name.
class VariableScope {
 public:
  enum class Use { kOperand, kAlone };  // the read of an operand unsets it
  // A variable of another histogram.
  struct Found {
    ValueType type;
    bool in_usecs = false;
    std::uint32_t reference = 0;  // its place in References
  };
  virtual ~VariableScope() = default;
  // The definition of a variable of this command; nothing: the command has none of that name.
  virtual std::optional<std::string_view> own(std::string_view name) const = 0;
  // `system` and `event` may both be empty. The fault is kVariableNotFound or kVariableNotUnique.
  virtual Checked<Found> other(std::string_view system, std::string_view event,
                               std::string_view name, Use use) = 0;
};

class ExpressionParser {
 public:
  static constexpr int kKernelOperatorsMax = 3;  // in expressions that the kernel supports too
  static constexpr int kOperatorsMax = 16;       // with parentheses
  static constexpr int kNestingMax = 32;
  static constexpr std::size_t kOpsMax = 256;  // variables of the same command spelled out

  enum class Role { kKey, kValue, kVariable };

  ExpressionParser(std::string_view system, const EventFormat& format, VariableScope& scope)
      : system_(system), format_(format), scope_(scope) {}

  Checked<Expression> parse(std::string_view text, Role role);

 private:
  struct Node;  // an Expression with its operations still open
  struct Split;

  Checked<Node> parse_node(std::string_view text, VariableScope::Use use);
  Checked<Node> parse_inner(std::string_view text, VariableScope::Use use);
  Checked<Node> parse_unary(std::string_view text);
  Checked<Node> parse_binary(std::string_view text, std::size_t at);
  Checked<Node> combine(Node left, Node right, std::string_view text, std::size_t at);
  Checked<Node> parse_atom(std::string_view text, VariableScope::Use use);
  Checked<Node> parse_variable(std::string_view text, VariableScope::Use use);
  Checked<Node> parse_own(std::string_view name, std::string_view definition,
                          VariableScope::Use use);
  Checked<Node> parse_field(std::string_view text);
  Checked<Node> special_field(std::string_view name, const Modifiers& modifiers);
  Checked<Node> event_field(std::string_view name);
  Checked<Modifiers> parse_modifiers(std::string_view field, std::string_view text) const;
  bool count_operator();

  std::string_view system_;
  const EventFormat& format_;
  VariableScope& scope_;
  Role role_ = Role::kValue;
  bool with_parentheses_ = false;
  int operators_ = 0;
  int depth_ = 0;
};

}  // namespace tallyfs::tracing
