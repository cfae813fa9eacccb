#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "tools/ctl/commands.h"
#include "tools/tree/timed_file.h"

int main(int argc, char** argv) {
  const int status = tallyfs::run_tallyctl(argc, argv);
  if (!tallyfs::left_a_thread_behind()) return status;
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(status);
}
