#include "fs/daemon/possible_cpus.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// The kernel has no more CPUs, and none of our directories may have more.
constexpr std::uint64_t kCpusMax = 8'192;

}  // namespace

std::optional<unsigned> count_cpus(std::string_view possible) {
  const auto last = possible.find_last_of(",-");
  const auto number =
      parse_unsigned(last == std::string_view::npos ? possible : possible.substr(last + 1));
  if (!number || *number >= kCpusMax) return std::nullopt;
  return static_cast<unsigned>(*number) + 1;
}

unsigned count_possible_cpus() {
  std::ifstream file("/sys/devices/system/cpu/possible");
  std::string line;
  std::getline(file, line);
  if (const auto cpus = count_cpus(line)) return *cpus;
  return static_cast<unsigned>(std::clamp(::sysconf(_SC_NPROCESSORS_CONF), 1l, 8'192l));
}

}  // namespace tallyfs
