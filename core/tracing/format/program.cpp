#include "core/tracing/format/program.h"

#include <algorithm>
#include <utility>

namespace tallyfs::tracing {
namespace {

std::string_view located(std::string_view bytes, std::uint32_t where, std::uint32_t base) {
  const std::size_t at = std::size_t{where & 0xffff} + base;
  const std::size_t size = where >> 16;
  if (at > bytes.size() || size > bytes.size() - at) return {};
  return bytes.substr(at, size);
}

bool is_binary(OpCode code) {
  return code == OpCode::kAdd || code == OpCode::kSubtract || code == OpCode::kMultiply ||
         code == OpCode::kDivide;
}

}  // namespace

Program::Program(std::vector<Op> ops) : first_(ops.front()) {
  if (ops.size() > 1) rest_.assign(ops.begin() + 1, ops.end());
}

std::uint64_t Program::apply(OpCode code, std::uint64_t left, std::uint64_t right) {
  switch (code) {
    case OpCode::kAdd:
      return left + right;
    case OpCode::kSubtract:
      return left - right;
    case OpCode::kMultiply:
      return left * right;
    default:
      return right == 0 ? ~std::uint64_t{0} : left / right;
  }
}

std::uint64_t Program::run_all(const EventRecord& record, References references) const {
  std::array<std::uint64_t, kStackMax> stack;
  std::size_t top = 0;
  stack[top] = load(first_, record, references);
  for (const Op& op : rest_) {
    if (is_binary(op.code)) {
      top -= 1;
      stack[top] = apply(op.code, stack[top], stack[top + 1]);
    } else if (op.code == OpCode::kNegate) {
      stack[top] = 0 - stack[top];
    } else {
      stack[++top] = load(op, record, references);
    }
  }
  return stack[top];
}

Op load_of(const TraceField& field) {
  static constexpr std::pair<OpCode, OpCode> kCodes[] = {{OpCode::kU8, OpCode::kS8},
                                                         {OpCode::kU16, OpCode::kS16},
                                                         {OpCode::kU32, OpCode::kS32},
                                                         {OpCode::kU64, OpCode::kU64}};
  const std::size_t log2 = field.size == 1 ? 0 : field.size == 2 ? 1 : field.size == 4 ? 2 : 3;
  return {field.is_signed ? kCodes[log2].second : kCodes[log2].first, field.offset};
}

TextSource text_of(const TraceField& field) {
  using Kind = TextSource::Kind;
  const FieldKind what = field.kind();
  const Kind kind = what == FieldKind::kText       ? Kind::kFixed
                    : what == FieldKind::kRelative ? Kind::kRelative
                    : what == FieldKind::kTail     ? Kind::kTail
                                                   : Kind::kLocated;
  return {kind, what == FieldKind::kStack, field.offset, field.size};
}

TextSource bytes_of(const TraceField& field) {
  using Kind = TextSource::Kind;
  const Kind kind = field.type.starts_with("__data_loc")  ? Kind::kLocated
                    : field.type.starts_with("__rel_loc") ? Kind::kRelative
                                                          : Kind::kFixed;
  return {kind, false, field.offset, field.size};
}

std::string_view TextSource::bytes(const EventRecord& record) const {
  const char* const where = record.bytes.data() + at;
  switch (kind) {
    case Kind::kFixed:
      return record.bytes.substr(at, size);
    case Kind::kLocated:
      return located(record.bytes, read_raw<std::uint32_t>(where), 0);
    case Kind::kRelative:
      return located(record.bytes, read_raw<std::uint32_t>(where), at + 4);
    case Kind::kTail:
      return record.bytes.substr(at);
    case Kind::kComm:
      return record.comm;
    case Kind::kStack:
      return {reinterpret_cast<const char*>(record.stack.data()), record.stack.size_bytes()};
    case Kind::kReference:
      break;
  }
  return {};
}

std::string_view TextSource::stored(const EventRecord& record, References references) const {
  if (kind != Kind::kReference) return bytes(record);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how references carry texts
  const auto* variable = reinterpret_cast<const VariableText*>(references[at]);
  return {variable->bytes, variable->size};
}

std::string_view TextSource::read(const EventRecord& record, References references) const {
  const std::string_view text = stored(record, references);
  if (is_stack) return text.substr(0, std::min<std::size_t>(text.size(), kStackBytesMax) & ~7u);
  return until_nul(text.substr(0, kTextBytesMax));
}

std::string_view TextSource::whole(const EventRecord& record, References references) const {
  return is_stack ? read(record, references) : until_nul(stored(record, references));
}

}  // namespace tallyfs::tracing
