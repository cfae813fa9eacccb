#include "feeders/kernel/task_names.h"

#include <algorithm>
#include <fstream>

#include "core/model/record.h"

namespace tallyfs {

std::string_view TaskNames::name(std::int32_t pid) {
  const auto found = names_.find(pid);
  if (found != names_.end()) return until_nul({found->second.data(), found->second.size()});
  // Of the idle tasks there is one for each CPU, and none in /proc.
  const std::string name = pid == 0 ? "swapper" : look_(pid);
  tell(pid, name);
  const Name& told = names_.find(pid)->second;
  return until_nul({told.data(), told.size()});
}

void TaskNames::tell(std::int32_t pid, std::string_view name) {
  if (names_.size() >= kTasksMax && !names_.contains(pid)) names_.clear();
  Name& told = names_[pid] = {};
  std::ranges::copy(until_nul(name).substr(0, kNameBytes - 1), told.begin());
}

// A worker's own name, `kworker/u8:2`, has neither of the signs, and what it works on is behind
// one of them. A rescuer, `kworker/R-name`, is called so.
std::string task_name(std::string_view comm) {
  comm = comm.substr(0, comm.find('\n'));
  constexpr std::string_view kWorker = "kworker/";
  const bool works = comm.starts_with(kWorker) && !comm.substr(kWorker.size()).starts_with("R-");
  if (works) comm = comm.substr(0, comm.find_first_of("+-"));
  return std::string(comm);
}

std::string name_in_proc(std::int32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string line;
  std::getline(file, line);
  return task_name(line);
}

}  // namespace tallyfs
