#include "tools/ctl/commands.h"

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <string_view>

#include "tools/ctl/options.h"

namespace tallyfs {
namespace {

bool asks_for(int argc, char** argv, std::string_view shortly, std::string_view option) {
  return argc == 2 && (argv[1] == shortly || argv[1] == option);
}

int print_help() {
  std::string text =
      "Shows and changes the statistics of a mounted tallyfs.\n"
      "  tallyctl show block-vda/latencies_read     one statistic, with percentiles\n"
      "  tallyctl top                               everything that moves, full screen\n"
      "  tallyctl define web/us type=range          another way of counting\n"
      "Usage: tallyctl [COMMAND] [OPTIONS] [WHAT...]\n\nCommands (tallyctl COMMAND --help):\n";
  for (const Command& each : commands()) {
    text.append("  ").append(each.name);
    text.append(std::string(13 - std::string_view(each.name).size(), ' '));
    text.append(each.purpose).append("\n");
  }
  text.append(
      "\nWHAT: web, web/latency_us, 'web/*', tracing/latency_hist/wakeup, a path in the mount.\n");
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> kCommands = {
      {"show", "tables of statistics, with percentiles (without a command)", run_show},
      {"top", "everything that moves, full screen", run_top},
      {"plot", "bars of a distribution or a list, lines of a history", run_plot},
      {"heat", "a histogram over time, a line each second", run_heat},
      {"define", "change a definition, with the reason if it is refused", run_define},
      {"ls", "list interfaces and statistics", run_ls},
      {"doctor", "look for faults, and say what to do", run_doctor},
      {"definitions", "print definitions, for apply", run_definitions},
      {"apply", "write definitions that differ", run_apply},
      {"record", "write snapshots into a file, for --from", run_record},
      {"diff", "what was counted between two snapshots", run_diff},
      {"probe", "count and time functions of programs that know nothing of it", run_probe},
      {"check", "compare a number with a limit, with the statuses of Nagios", run_check},
      {"since", "what was counted since the last look of this terminal", run_since},
      {"errors", "show the newest refused lines and warnings", run_errors},
      {"create", "make a statistic", run_create},
      {"rm", "remove statistics, views and interfaces", run_rm},
      {"reset", "discard the data of statistics", run_reset},
      {"undo", "bring back what a reset or a definition discarded", run_undo},
      {"on", "switch statistics on", run_on},
      {"off", "switch statistics off", run_off},
      {"help", "show how a command is used", run_help},
  };
  return kCommands;
}

int find_word(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return argc;
    if (takes_value(word))
      ++i;
    else if (!word.starts_with('-'))
      return i;
  }
  return argc;
}

int run_help(int argc, char** argv) {
  if (argc < 2) return print_help();
  const std::string_view name = argv[1];
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found == commands().end() || name == "help") return print_help();
  static char option[] = "--help";
  std::array<char*, 3> words = {argv[1], option, nullptr};
  return found->run(2, words.data());
}

int run_tallyctl(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  if (asks_for(argc, argv, "-h", "--help")) return print_help();
  if (asks_for(argc, argv, "-V", "--version")) return print_version();
  const int at = find_word(argc, argv);
  const auto found =
      at == argc ? commands().end() : std::ranges::find_if(commands(), [&](const Command& each) {
        return std::string_view(each.name) == argv[at];
      });
  std::vector<char*> words(argv, argv + argc);
  if (found == commands().end()) return run_show(static_cast<int>(words.size()), words.data());
  words[0] = argv[at];
  words.erase(words.begin() + at);
  return found->run(static_cast<int>(words.size()), words.data());
}

}  // namespace tallyfs
