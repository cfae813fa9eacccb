#include "fs/daemon/group_members.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tallyfs {
namespace {

std::vector<std::uint64_t> numbers_of(std::istringstream& words) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t each = 0; words >> each;) numbers.push_back(each);
  return numbers;
}

}  // namespace

// Another process may have the number by now. Of the same uid, it says as much about the user.
bool is_member(const Sender& sender, gid_t group) {
  if (sender.pid <= 0) return false;
  std::ifstream file("/proc/" + std::to_string(sender.pid) + "/status");
  bool is_of_uid = false;
  bool is_of_group = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key != "Uid:" && key != "Gid:" && key != "Groups:") continue;
    const auto numbers = numbers_of(words);
    const bool has_first = !numbers.empty();
    if (key == "Uid:") is_of_uid = has_first && numbers.front() == sender.uid;
    // The real one: that of a set-gid program, which anyone may execute meanwhile, is another.
    if (key == "Gid:") is_of_group |= has_first && numbers.front() == group;
    if (key == "Groups:") is_of_group |= std::ranges::find(numbers, group) != numbers.end();
  }
  return is_of_uid && is_of_group;
}

}  // namespace tallyfs
