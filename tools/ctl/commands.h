// The commands of tallyctl. One thread runs a command; files of the mount are read in threads of
// tools/tree/timed_file.h.
//
// Results go to stdout, all else to stderr. Exit statuses, a promise to scripts (tallyctl(1)):
// 0; 1 refused, a fault that doctor found, a difference; 2 wrong usage; 3 no mount or no answer.
// `check` has those of Nagios.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tallyfs {

enum Status { kDone = 0, kRefused = 1, kWrongUsage = 2, kNoAnswer = 3 };

int run_tallyctl(int argc, char** argv);

// argv[0] is the command's name; run_show() gets the program's where no command was named. Each
// returns an exit status.
int run_ls(int argc, char** argv);
int run_show(int argc, char** argv);
int run_top(int argc, char** argv);
int run_plot(int argc, char** argv);
int run_heat(int argc, char** argv);
int run_define(int argc, char** argv);
int run_doctor(int argc, char** argv);
int run_definitions(int argc, char** argv);
int run_apply(int argc, char** argv);
int run_record(int argc, char** argv);
int run_diff(int argc, char** argv);
int run_check(int argc, char** argv);
int run_create(int argc, char** argv);
int run_rm(int argc, char** argv);
int run_errors(int argc, char** argv);
int run_since(int argc, char** argv);
int run_help(int argc, char** argv);
int run_reset(int argc, char** argv);
int run_undo(int argc, char** argv);
int run_on(int argc, char** argv);
int run_off(int argc, char** argv);
int run_probe(int argc, char** argv);

struct Command {
  const char* name;
  const char* purpose;
  int (*run)(int argc, char** argv);
};
const std::vector<Command>& commands();
// The first word after argv[0] that is no option and no option's value; argc if there is none.
int find_word(int argc, char** argv);

}  // namespace tallyfs
