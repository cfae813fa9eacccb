// The worked examples of core/wire/FORMAT.md, and of others.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace tallyfs::wire {

// The fenced blocks "```golden NAME" of FORMAT.md, as bytes.
inline std::map<std::string, std::string> golden_datagrams(
    const char* format = TALLY_SOURCE_DIR "/core/wire/FORMAT.md") {
  std::ifstream file(format);
  constexpr std::string_view kFence = "```";
  constexpr std::string_view kGolden = "```golden ";
  std::map<std::string, std::string> datagrams;
  std::string* inside = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kFence)) {
      inside = line.starts_with(kGolden) ? &datagrams[line.substr(kGolden.size())] : nullptr;
    } else if (inside) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        inside->push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
      }
    }
  }
  return datagrams;
}

}  // namespace tallyfs::wire
