#include "fs/daemon/proc_names.h"

#include <fstream>

namespace tallyfs {

std::string ProcNames::name_of(pid_t process) const {
  std::string name;
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::getline(file, name);
  return name;
}

}  // namespace tallyfs
