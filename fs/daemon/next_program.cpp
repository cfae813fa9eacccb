#include "fs/daemon/next_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace tallyfs {
namespace {

// Read while the file is that of this process: of one that was replaced the kernel says another.
std::string own_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::string variable(const Inheritance& inheritance) {
  return std::string(Inheritance::kVariable).append("=").append(to_text(inheritance));
}

std::vector<char*> environment_with(std::string& variable) {
  std::vector<char*> all;
  for (char** each = environ; *each; ++each) all.push_back(*each);
  all.push_back(variable.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

NextProgram::NextProgram(char** arguments, Inheritance inheritance)
    : path_(own_path()), arguments_(arguments), descriptors_(descriptors_of(inheritance)) {
  inheritance.purpose = Inheritance::Purpose::kCheck;
  check_variable_ = variable(inheritance);
  inheritance.purpose = Inheritance::Purpose::kGoOn;
  resume_variable_ = variable(inheritance);
  check_ = environment_with(check_variable_);
  resume_environment_ = environment_with(resume_variable_);
}

void NextProgram::execute(const Environment& environment) const {
  for (const int fd : descriptors_) ::fcntl(fd, F_SETFD, 0);
  ::execve(path_.c_str(), arguments_, environment.data());
  for (const int fd : descriptors_) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace tallyfs
