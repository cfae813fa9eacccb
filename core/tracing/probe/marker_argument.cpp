#include "core/tracing/probe/marker_argument.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/probe/letters.h"

namespace tallyfs::tracing {
namespace {

// The byte of the `@` behind a size, `8@` or `-4@`, at which an operand begins.
std::size_t size_end(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t digits = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == digits || at == text.size()) return text.npos;
  if (text[at] == 'f') ++at;
  return at < text.size() && text[at] == '@' ? at : text.npos;
}

std::optional<std::string> type_of(std::string_view size) {
  const bool is_signed = size.starts_with('-');
  const std::string_view bytes = size.substr(is_signed ? 1 : 0);
  const std::string letter = is_signed ? "s" : "u";
  if (bytes == "1") return letter + "8";
  if (bytes == "2") return letter + "16";
  if (bytes == "4") return letter + "32";
  if (bytes == "8") return letter + "64";
  return std::nullopt;
}

// ---- Registers, as the kernel names them. Empty: none.

// The names of the oldest registers, for 64, 32, 16 and 8 bits.
struct OldRegister {
  std::string_view kernel;
  std::array<std::string_view, 4> names;
};
constexpr std::array<OldRegister, 8> kOldRegisters = {{{"ax", {"rax", "eax", "ax", "al"}},
                                                       {"bx", {"rbx", "ebx", "bx", "bl"}},
                                                       {"cx", {"rcx", "ecx", "cx", "cl"}},
                                                       {"dx", {"rdx", "edx", "dx", "dl"}},
                                                       {"si", {"rsi", "esi", "si", "sil"}},
                                                       {"di", {"rdi", "edi", "di", "dil"}},
                                                       {"bp", {"rbp", "ebp", "bp", "bpl"}},
                                                       {"sp", {"rsp", "esp", "sp", "spl"}}}};

// `8` to `15` of r8, r8d, r8w, r8b.
std::string numbered_x86(std::string_view name) {
  if (!name.starts_with('r')) return {};
  std::string_view digits = name.substr(1);
  if (!digits.empty() && std::string_view("dwb").find(digits.back()) != digits.npos) {
    digits.remove_suffix(1);
  }
  const bool is_plain = !digits.empty() && std::ranges::all_of(digits, is_digit);
  const auto number = is_plain ? parse_unsigned(digits) : std::nullopt;
  if (!number || *number < 8 || *number > 15) return {};
  return "r" + std::to_string(*number);
}

std::string x86_register(std::string_view name) {
  for (const OldRegister& each : kOldRegisters) {
    if (std::ranges::find(each.names, name) != each.names.end()) return std::string(each.kernel);
  }
  return numbered_x86(name);
}

std::string aarch64_register(std::string_view name) {
  if (name == "sp") return "sp";
  if (name.size() < 2 || (name[0] != 'x' && name[0] != 'w')) return {};
  const std::string_view digits = name.substr(1);
  const auto number = std::ranges::all_of(digits, is_digit) ? parse_unsigned(digits) : std::nullopt;
  return number && *number <= 30 ? "x" + std::to_string(*number) : std::string();
}

// `+8`, `-80`, with a sign in any case.
std::string displacement(std::int64_t value) {
  return (value < 0 ? "" : "+") + std::to_string(value);
}

// An operand of one machine, without its size.
class Operand {
 public:
  Operand(ElfMachine machine, const FindData& find_data)
      : is_arm_(machine == ElfMachine::kAarch64), find_data_(find_data) {}

  // Empty: it is not fetched.
  std::string fetch(std::string_view text) const {
    if (is_arm_) return arm(text);
    if (text.starts_with('%')) return prefixed("%", x86_register(text.substr(1)));
    if (text.starts_with('$')) return constant(text.substr(1));
    return text.ends_with(')') ? x86_memory(text) : std::string();
  }

 private:
  static std::string prefixed(const char* prefix, const std::string& name) {
    return name.empty() ? name : prefix + name;
  }
  static std::string constant(std::string_view text) {
    const auto value = parse_signed(text);
    return value ? "\\" + std::to_string(*value) : std::string();
  }
  std::string x86_memory(std::string_view text) const;
  std::string of_program(std::string_view name) const;
  static std::string arm(std::string_view text);

  const bool is_arm_;
  const FindData& find_data_;
};

std::string Operand::x86_memory(std::string_view text) const {
  const std::size_t open = text.find('(');
  if (open == text.npos) return {};
  const std::string_view before = text.substr(0, open);
  std::string_view base = text.substr(open + 1);
  base.remove_suffix(1);
  if (base == "%rip") return of_program(before);
  if (!base.starts_with('%')) return {};
  const std::string name = x86_register(base.substr(1));
  const auto offset = before.empty() ? std::optional<std::int64_t>(0) : parse_signed(before);
  if (name.empty() || !offset) return {};
  return displacement(*offset) + "(%" + name + ")";
}

// `count+16`, of which the kernel is told the place in the file.
std::string Operand::of_program(std::string_view name) const {
  const std::size_t sign = name.find_last_of("+-");
  std::int64_t plus = 0;
  if (sign != name.npos && sign != 0) {
    const bool is_minus = name[sign] == '-';
    const auto value = parse_signed(name.substr(is_minus ? sign : sign + 1));
    if (!value) return {};
    plus = *value;
    name = name.substr(0, sign);
  }
  const auto offset = name.empty() ? std::nullopt : find_data_(name, plus);
  return offset ? "@+" + std::to_string(*offset) : std::string();
}

std::string Operand::arm(std::string_view text) {
  if (!text.starts_with('[')) {
    const std::string name = aarch64_register(text);
    return name.empty() ? constant(text) : "%" + name;
  }
  if (!text.ends_with(']')) return {};
  text = text.substr(1, text.size() - 2);
  const std::size_t comma = text.find(',');
  const std::string name = aarch64_register(trimmed(text.substr(0, comma)));
  std::optional<std::int64_t> offset = 0;
  if (comma != text.npos) offset = parse_signed(trimmed(text.substr(comma + 1)));
  if (name.empty() || !offset) return {};
  return displacement(*offset) + "(%" + name + ")";
}

// `%ah`: the second byte of a register.
std::string second_byte(std::string_view operand) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kSecond = {
      {{"%ah", "%ax"}, {"%bh", "%bx"}, {"%ch", "%cx"}, {"%dh", "%dx"}}};
  for (const auto& [name, whole] : kSecond) {
    if (operand == name) return whole;
  }
  return {};
}

}  // namespace

std::vector<std::string_view> split_arguments(std::string_view texts) {
  std::vector<std::string_view> arguments;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= texts.size(); ++at) {
    const bool is_end = at == texts.size() || is_blank(texts[at]);
    if (!is_end) continue;
    const std::size_t next = std::min(texts.find_first_not_of(' ', at), texts.size());
    if (next != texts.size() && size_end(texts.substr(next)) == texts.npos) continue;
    const std::string_view argument = trimmed(texts.substr(begin, at - begin));
    if (!argument.empty()) arguments.push_back(argument);
    if (arguments.size() == FoundPlaces::kArgumentsMax) break;
    begin = at;
  }
  return arguments;
}

Fetch fetch_of(std::string_view argument, ElfMachine machine, const FindData& find_data) {
  const std::size_t at = size_end(argument);
  const auto type = at == argument.npos ? std::nullopt : type_of(argument.substr(0, at));
  if (!type) return {};
  const std::string_view operand = argument.substr(at + 1);
  if (machine != ElfMachine::kAarch64) {
    const std::string whole = second_byte(operand);
    if (!whole.empty()) return *type == "u8" ? Fetch{whole, "b8@8/16"} : Fetch();
  }
  std::string text = Operand(machine, find_data).fetch(operand);
  return text.empty() ? Fetch() : Fetch{std::move(text), *type};
}

}  // namespace tallyfs::tracing
