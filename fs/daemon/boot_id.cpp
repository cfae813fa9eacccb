#include "fs/daemon/boot_id.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace tallyfs {

BootId parse_boot_id(std::string_view text) {
  std::string digits(text.substr(0, text.find('\n')));
  std::erase(digits, '-');
  BootId id{};
  if (digits.size() != 2 * id.size()) return {};
  for (std::size_t i = 0; i < id.size(); ++i) {
    const char* const from = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(from, from + 2, id[i], 16);
    if (error != std::errc() || end != from + 2) return {};
  }
  return id;
}

BootId read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return parse_boot_id(text);
}

}  // namespace tallyfs
