// The program of this process as it is on disk now, which may be another version: to be executed
// with the same arguments. All memory that this takes is taken when it is made, so that a keeper
// allocates nothing.
//
// Confined to its thread, in a process with one thread.
#pragma once

#include <string>
#include <vector>

#include "fs/daemon/inheritance.h"

namespace tallyfs {

class NextProgram {
 public:
  // arguments: main()'s, which outlive this. The environment is that of this moment.
  NextProgram(char** arguments, Inheritance inheritance);
  // The variables point into the members.
  NextProgram(const NextProgram&) = delete;
  NextProgram& operator=(const NextProgram&) = delete;

  // In a new process: executes it, to answer whether it could go on (ProgramCheck). Returns with
  // errno when it cannot be executed.
  void check() const { execute(check_); }
  // Executes it in this process. Returns when it cannot be executed.
  void resume() const { execute(resume_environment_); }

 private:
  using Environment = std::vector<char*>;
  void execute(const Environment& environment) const;

  const std::string path_;
  char** const arguments_;
  const std::vector<int> descriptors_;
  std::string check_variable_;
  std::string resume_variable_;
  Environment check_;
  Environment resume_environment_;
};

}  // namespace tallyfs
