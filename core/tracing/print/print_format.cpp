#include "core/tracing/print/print_format.h"

#include <algorithm>
#include <cstdio>

#include "core/base/text.h"
#include "core/tracing/format/narrow_number.h"
#include "core/tracing/print/print_pointer.h"

namespace tallyfs::tracing {
namespace {

// The most bytes that one conversion shows, whatever the record contains.
constexpr std::size_t kShownBytesMax = 4096;

std::string hex(std::uint64_t value) {
  std::string text;
  append_hex(text, value);
  return text;
}

// flags: of printf, with a width and precision of a few digits.
template <typename Value>
void append_printed(std::string& out, const std::string& flags, const char* conversion,
                    Value value) {
  char text[256];
  const std::string format = "%" + flags + conversion;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(text, sizeof text, format.c_str(), value);
#pragma GCC diagnostic pop
  if (size > 0) out.append(text, std::min<std::size_t>(static_cast<std::size_t>(size), 255));
}

// The kernel's %#x has 0x before a 0 too, unlike that of C: a 1 is printed in the place of the 0.
void append_unsigned(std::string& out, const std::string& flags, char conversion,
                     std::uint64_t value) {
  const char ll[] = {'l', 'l', conversion, '\0'};
  const bool with_prefix =
      flags.find('#') != flags.npos && (conversion == 'x' || conversion == 'X');
  const bool changed = with_prefix && value == 0;
  const std::size_t start = out.size();
  append_printed(out, flags, ll, static_cast<unsigned long long>(changed ? 1 : value));
  const std::size_t one = out.rfind('1');
  if (changed && one != out.npos && one >= start) out[one] = '0';
}

struct Division {
  std::uint64_t quotient = 0, remainder = 0;
};

// Divisions that would trap get a result, too: 0 for a divisor of 0.
Division divide(std::uint64_t left, std::uint64_t right, bool is_signed) {
  const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
  if (right == 0) return {};
  if (is_signed && b == -1) return {.quotient = 0 - left};
  const std::uint64_t quotient = is_signed ? static_cast<std::uint64_t>(a / b) : left / right;
  return {.quotient = quotient, .remainder = left - quotient * right};
}

}  // namespace

std::uint64_t PrintFormat::apply(Operator op, std::uint64_t left, std::uint64_t right,
                                 bool is_signed) {
  const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
  const bool less = is_signed ? a < b : left < right;
  switch (op) {
    case Operator::kOr:
      return left != 0 || right != 0 ? 1 : 0;
    case Operator::kAnd:
      return left != 0 && right != 0 ? 1 : 0;
    case Operator::kBitOr:
      return left | right;
    case Operator::kBitXor:
      return left ^ right;
    case Operator::kBitAnd:
      return left & right;
    case Operator::kEqual:
      return left == right ? 1 : 0;
    case Operator::kUnequal:
      return left != right ? 1 : 0;
    case Operator::kLess:
      return less ? 1 : 0;
    case Operator::kLessEqual:
      return less || left == right ? 1 : 0;
    case Operator::kGreater:
      return !less && left != right ? 1 : 0;
    case Operator::kGreaterEqual:
      return less ? 0 : 1;
    case Operator::kShiftLeft:
      return right > 63 ? 0 : left << right;
    case Operator::kShiftRight:
      if (right > 63) return 0;
      return is_signed ? static_cast<std::uint64_t>(a >> right) : left >> right;
    case Operator::kAdd:
      return left + right;
    case Operator::kSubtract:
      return left - right;
    case Operator::kMultiply:
      return left * right;
    case Operator::kDivide:
      return divide(left, right, is_signed).quotient;
    case Operator::kRemainder:
      return divide(left, right, is_signed).remainder;
    case Operator::kNone:
    case Operator::kNot:
    case Operator::kComplement:
    case Operator::kNegate:
      break;
  }
  return 0;
}

std::uint64_t PrintFormat::number_of(const Node& node, const EventRecord& record) {
  switch (node.kind) {
    case Kind::kNumber:
      return node.number;
    case Kind::kNumberField:
      return Program::load(node.load, record, nullptr);
    case Kind::kUnary: {
      const std::uint64_t value = number_of(*node.left, record);
      if (node.op == Operator::kNot) return value == 0 ? 1 : 0;
      return node.op == Operator::kComplement ? ~value : 0 - value;
    }
    case Kind::kBinary:
      return apply(node.op, number_of(*node.left, record), number_of(*node.right, record),
                   node.is_signed);
    case Kind::kChoice:
      return number_of(number_of(*node.left, record) != 0 ? *node.right : *node.other, record);
    case Kind::kCast:
      return narrow_number(number_of(*node.left, record), node.bytes, node.is_signed);
    case Kind::kLength:
      return bytes_of(*node.left, record).size();
    case Kind::kCharacter: {
      const std::string_view text = node.left->source.read(record, nullptr);
      return node.number < text.size() ? static_cast<unsigned char>(text[node.number]) : 0;
    }
    case Kind::kText:
    case Kind::kTextField:
    case Kind::kSymbolic:
    case Kind::kFlags:
    case Kind::kUnknown:
    case Kind::kBytesField:
    case Kind::kArray:
    case Kind::kHexBytes:
    case Kind::kBits:
      break;
  }
  return 0;
}

std::string_view PrintFormat::bytes_of(const Node& node, const EventRecord& record) {
  const bool is_field = node.kind == Kind::kBytesField || node.kind == Kind::kTextField;
  return is_field ? node.source.bytes(record).substr(0, kTextBytesMax) : std::string_view();
}

std::string PrintFormat::symbolic(const Node& node, std::uint64_t value) {
  const auto found =
      std::ranges::find(node.names, value, &std::pair<std::uint64_t, std::string>::first);
  return found == node.names.end() ? hex(value) : found->second;
}

// Bits that have no name are shown as one hexadecimal number.
std::string PrintFormat::flags(const Node& node, std::uint64_t value) {
  std::string text;
  const auto add = [&](std::string_view name) {
    text.append(text.empty() ? "" : node.text).append(name);
  };
  for (const auto& [mask, name] : node.names) {
    if (value == 0 || (value & mask) != mask || text.size() > kShownBytesMax) continue;
    add(name);
    value &= ~mask;
  }
  if (value != 0) add(hex(value));
  return text;
}

std::string PrintFormat::text_of(const Node& node, const EventRecord& record) {
  switch (node.kind) {
    case Kind::kText:
      return node.text;
    case Kind::kTextField: {
      std::string text;
      append_escaped(text, node.source.whole(record, nullptr), kShownBytesMax, 0);
      return text;
    }
    case Kind::kChoice:
      return text_of(number_of(*node.left, record) != 0 ? *node.right : *node.other, record);
    case Kind::kSymbolic:
      return symbolic(node, number_of(*node.left, record));
    case Kind::kFlags:
      return flags(node, number_of(*node.left, record));
    case Kind::kArray: {
      const std::uint64_t size = number_of(*node.other, record);
      if (size != 1 && size != 2 && size != 4 && size != 8) return "?";
      const std::uint64_t most = kTextBytesMax / size;
      const std::uint64_t count = std::min(number_of(*node.right, record), most);
      std::string text;
      append_array(text, bytes_of(*node.left, record).substr(0, count * size), size);
      return text;
    }
    case Kind::kHexBytes: {
      std::string text;
      const std::string_view bytes = bytes_of(*node.left, record);
      append_hex_bytes(text, bytes.substr(0, number_of(*node.right, record)), node.text);
      return text;
    }
    case Kind::kBits: {
      std::string text;
      append_bits(text, bytes_of(*node.left, record));
      return text;
    }
    case Kind::kNumber:
    case Kind::kNumberField:
    case Kind::kUnary:
    case Kind::kBinary:
    case Kind::kCast:
    case Kind::kUnknown:
    case Kind::kBytesField:
    case Kind::kLength:
    case Kind::kCharacter:
      break;
  }
  return {};
}

// The flags, with a number in the place of the '*'; a negative number counts as 0.
std::string PrintFormat::flags_of(const Part& part, const EventRecord& record) {
  std::string flags = part.flags;
  if (!part.star) return flags;
  const auto star = static_cast<std::int32_t>(number_of(*part.star, record));
  const std::string digits = std::to_string(std::clamp<std::int32_t>(star, 0, kTextBytesMax));
  return flags.replace(flags.find('*'), 1, digits);
}

void PrintFormat::append_text(std::string& out, const Part& part, const EventRecord& record,
                              const Symbols& symbols) {
  std::string text;
  if (part.value->is_pointer) {
    const std::uint64_t address = number_of(*part.value, record);
    const auto known = symbols.text(address);
    if (!known) return append_hex(out, address);
    append_escaped(text, *known, kShownBytesMax, 0);
  } else {
    text = text_of(*part.value, record);
  }
  text.resize(std::min(text.size(), kShownBytesMax));
  if (part.flags.empty()) {
    out.append(text);
  } else {
    append_printed(out, flags_of(part, record), "s", text.c_str());
  }
}

void PrintFormat::append_bytes(std::string& out, const Part& part, const EventRecord& record) {
  const std::uint64_t limit = part.star ? number_of(*part.star, record) : 0;
  std::string text;
  append_pointed(text, part.pointed, bytes_of(*part.value, record), limit);
  out.append(text, 0, kShownBytesMax);
}

void PrintFormat::append(std::string& out, const Part& part, const EventRecord& record,
                         const Symbols& symbols, const PointerHash* pointers) {
  out.append(part.text);
  if (!part.value) return;
  if (part.value->is_unknown) return out.push_back('?');
  if (part.conversion == 's') return append_text(out, part, record, symbols);
  if (part.conversion == 'B') return append_bytes(out, part, record);
  const std::uint64_t value = number_of(*part.value, record);
  switch (part.conversion) {
    case 'f':
      out.append(place_text(symbols, value, Offset::kHidden));
      return;
    case 'S':
      out.append(place_text(symbols, value, Offset::kShown));
      return;
    case 'p':
    case 'P': {
      const bool is_hashed = pointers && part.conversion == 'p';
      return append_printed(
          out, "016", "llx",
          static_cast<unsigned long long>(is_hashed ? pointers->shown(value) : value));
    }
    case 'c':
      append_escaped(out, std::string(1, static_cast<char>(value)), 4, 0);
      return;
    case 'd':
      return append_printed(out, flags_of(part, record), "lld",
                            static_cast<long long>(narrow_number(value, part.bytes, true)));
    default:
      return append_unsigned(out, flags_of(part, record), part.conversion,
                             narrow_number(value, part.bytes, false));
  }
}

void PrintFormat::append(std::string& out, const EventRecord& record, const Symbols& symbols,
                         const PointerHash* pointers) const {
  for (const Part& part : parts_) append(out, part, record, symbols, pointers);
}

}  // namespace tallyfs::tracing
