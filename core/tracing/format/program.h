// The compiled form of an expression of a trigger. A number is computed from a record by a few
// operations on a stack. A text, or a stack trace as its bytes, is read by one operation. No
// virtual calls; most programs are a single load, which is inlined.
//
// Immutable once compiled, so any thread may run one. The record must have the fixed bytes of the
// format that the program was compiled for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/record.h"
#include "core/tracing/format/format.h"

namespace tallyfs::tracing {

enum class OpCode : std::uint8_t {
  kU8,
  kS8,
  kU16,
  kS16,
  kU32,
  kS32,
  kU64,  // a field at `at`
  kTimeNs,
  kTimeUs,
  kCpu,
  kPid,        // of the record
  kConstant,   // operand
  kReference,  // references[at]
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,  // on the stack
};

struct Op {
  OpCode code = OpCode::kConstant;
  std::uint32_t at = 0;
  std::uint64_t operand = 0;
};

// Values of other histograms' variables and of the histogram's own, in the plan's order. The value
// of a text is a pointer to a VariableText.
using References = const std::uint64_t*;

// The longest value of a variable that is a text or a stack: 256 bytes, as in the kernel.
inline constexpr std::uint32_t kTextBytesMax = 256;
inline constexpr std::uint32_t kStackDepthMax = 31;
inline constexpr std::uint32_t kStackBytesMax = kStackDepthMax * 8;

struct VariableText {
  std::uint64_t size;  // 8 bytes, so that the words of an entry stay aligned
  char bytes[kTextBytesMax];
};

class Program {
 public:
  static constexpr std::size_t kStackMax = 40;  // operands on the stack; the compiler keeps to it

  Program() = default;
  explicit Program(Op only) : first_(only) {}
  // ops: in the order in which they run; exactly one result is left.
  explicit Program(std::vector<Op> ops);

  std::uint64_t run(const EventRecord& record, References references) const {
    return rest_.empty() ? load(first_, record, references) : run_all(record, references);
  }
  // Whether the value depends on no record; constant() is that value.
  bool is_constant() const { return rest_.empty() && first_.code == OpCode::kConstant; }
  std::uint64_t constant() const { return first_.operand; }
  const Op& first() const { return first_; }
  bool is_single() const { return rest_.empty(); }

  // The result is all ones if the divisor is zero.
  static std::uint64_t apply(OpCode code, std::uint64_t left, std::uint64_t right);

  // The value of an Op that loads and computes nothing.
  static std::uint64_t load(const Op& op, const EventRecord& record, References references) {
    const char* const at = record.bytes.data() + op.at;
    switch (op.code) {
      case OpCode::kU8:
        return read_raw<std::uint8_t>(at);
      case OpCode::kS8:
        return extend(read_raw<std::int8_t>(at));
      case OpCode::kU16:
        return read_raw<std::uint16_t>(at);
      case OpCode::kS16:
        return extend(read_raw<std::int16_t>(at));
      case OpCode::kU32:
        return read_raw<std::uint32_t>(at);
      case OpCode::kS32:
        return extend(read_raw<std::int32_t>(at));
      case OpCode::kU64:
        return read_raw<std::uint64_t>(at);
      case OpCode::kTimeNs:
        return record.time_ns;
      case OpCode::kTimeUs:
        return record.time_ns / 1000;
      case OpCode::kCpu:
        return record.cpu;
      case OpCode::kPid:
        return extend(record.pid);
      case OpCode::kReference:
        return references[op.at];
      case OpCode::kConstant:
      case OpCode::kAdd:
      case OpCode::kSubtract:
      case OpCode::kMultiply:
      case OpCode::kDivide:
      case OpCode::kNegate:
        break;
    }
    return op.operand;
  }

 private:
  static std::uint64_t extend(std::int64_t value) { return static_cast<std::uint64_t>(value); }
  std::uint64_t run_all(const EventRecord& record, References references) const;

  Op first_;
  std::vector<Op> rest_;  // empty for a single load
};

// The load of a number field; it must be one.
Op load_of(const TraceField& field);

// Where the bytes of a text or a stack come from.
struct TextSource {
  enum class Kind : std::uint8_t { kFixed, kLocated, kRelative, kTail, kComm, kStack, kReference };
  Kind kind = Kind::kFixed;
  bool is_stack = false;  // addresses, not to be cut at a NUL
  std::uint32_t at = 0;
  std::uint32_t size = 0;

  // The bytes that histograms keep: at most kTextBytesMax of a text, kStackBytesMax of a stack.
  // Empty if the record gives a place outside of itself.
  std::string_view read(const EventRecord& record, References references) const;
  // The text that is shown and filtered, at its full length.
  std::string_view whole(const EventRecord& record, References references) const;
  // All bytes, zeros included, without a limit; not for kReference.
  std::string_view bytes(const EventRecord& record) const;

 private:
  std::string_view stored(const EventRecord& record, References references) const;
};

// The field must be a text or a stack.
TextSource text_of(const TraceField& field);
// Any field: its own bytes, or the bytes whose place it gives.
TextSource bytes_of(const TraceField& field);

}  // namespace tallyfs::tracing
