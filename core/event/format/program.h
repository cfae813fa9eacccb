// What an expression of a trigger is compiled to: a number from a record by a few operations on a
// stack, and texts (and stacks, which are bytes of addresses here) by one. No virtual calls; most
// programs are a single load, which is inlined.
//
// Immutable once compiled, so any thread may run one. The record must have the fixed bytes of the
// format that the program was compiled for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/event/format/format.h"
#include "core/model/record.h"

namespace tallyfs {

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

// Values of other histograms' variables and of this one's own, in the plan's order; those of texts
// are pointers to a VariableText.
using References = const std::uint64_t*;

// How long the value of a variable may be that is a text or a stack: the kernel's 256.
inline constexpr std::uint32_t kTextBytesMax = 256;
inline constexpr std::uint32_t kStackDepthMax = 31;
inline constexpr std::uint32_t kStackBytesMax = kStackDepthMax * 8;

struct VariableText {
  std::uint64_t size;  // 8 bytes, so that the words of an entry stay aligned
  char bytes[kTextBytesMax];
};

class Program {
 public:
  static constexpr std::size_t kStackMax = 40;  // operands under way; the compiler keeps to it

  Program() = default;
  explicit Program(Op only) : first_(only) {}
  // In the order in which they are run; one result is left.
  explicit Program(std::vector<Op> ops);

  std::uint64_t run(const EventRecord& record, References references) const {
    return rest_.empty() ? load(first_, record, references) : run_all(record, references);
  }
  // The value, if it depends on nothing.
  bool is_constant() const { return rest_.empty() && first_.code == OpCode::kConstant; }
  std::uint64_t constant() const { return first_.operand; }
  const Op& first() const { return first_; }
  bool is_single() const { return rest_.empty(); }

  // All ones for a divisor that turns out to be zero.
  static std::uint64_t apply(OpCode code, std::uint64_t left, std::uint64_t right);

  // What an Op that is no operation comes to.
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

// Where a text or a stack comes from.
struct TextSource {
  enum class Kind : std::uint8_t { kFixed, kLocated, kRelative, kTail, kComm, kStack, kReference };
  Kind kind = Kind::kFixed;
  bool is_stack = false;  // addresses, not to be cut at a NUL
  std::uint32_t at = 0;
  std::uint32_t size = 0;

  // What histograms keep: at most kTextBytesMax bytes, kStackBytesMax of a stack; empty where the
  // record lies about where it is.
  std::string_view read(const EventRecord& record, References references) const;
  // What is shown and filtered: a text as long as it is.
  std::string_view whole(const EventRecord& record, References references) const;
  // All bytes that are there, be they zero or many; not of kReference.
  std::string_view bytes(const EventRecord& record) const;

 private:
  std::string_view stored(const EventRecord& record, References references) const;
};

// The field must be a text or a stack.
TextSource text_of(const TraceField& field);
// Any field: what it consists of, or what it says the place of.
TextSource bytes_of(const TraceField& field);

}  // namespace tallyfs
