#include "fs/daemon/proc_names.h"

#include <fstream>

namespace tallyfs {

std::string ProcNames::name_of(pid_t process) const {
  std::string name;
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::getline(file, name);
  return name;
}

pid_t ProcNames::group_of(pid_t thread) const {
  std::ifstream file("/proc/" + std::to_string(thread) + "/status");
  for (std::string word; file >> word;) {
    pid_t group = 0;
    if (word == "Tgid:" && file >> group) return group;
  }
  return 0;
}

}  // namespace tallyfs
