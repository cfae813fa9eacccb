// tallyctl probe: functions of programs that know nothing of it, through the mount's uprobe_events.
#include "tools/ctl/probe.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tools/ctl/commands.h"
#include "tools/ctl/terminal.h"

namespace tallyfs {
namespace {

constexpr std::array<Command, 8> kCommands = {{
    {"latency", "how long functions of a program take, the slowest first", run_probe_latency},
    {"count", "how often functions of a program are called", run_probe_count},
    {"list", "functions and markers of a program", run_probe_list},
    {"add", "make a probe that stays", run_probe_add},
    {"ls", "the probes of the mount", run_probe_ls},
    {"rm", "remove probes", run_probe_rm},
    {"renew", "find the places of probes again, in a program that was replaced", run_probe_renew},
    {"cost", "what a hit costs on this machine", run_probe_cost},
}};

int print_help() {
  std::string text =
      "Counts and times functions of programs that know nothing of it; as root, on a mount of\n"
      "tallyfs -o tracefs. What a command has made goes when it ends.\n"
      "  tallyctl probe latency bash '*' --for 10s         the slowest functions of a program\n"
      "  tallyctl probe latency mysqld 'Log::write' --every 1s\n"
      "  tallyctl probe cost                               what that costs the program\n"
      "Usage: tallyctl probe COMMAND [OPTIONS] [WORD...]\n\n"
      "Commands (tallyctl probe COMMAND --help):\n";
  for (const Command& each : kCommands) {
    text.append("  ").append(each.name);
    text.append(std::string(9 - std::string_view(each.name).size(), ' '));
    text.append(each.purpose).append("\n");
  }
  print(text);
  return kDone;
}

}  // namespace

int run_probe(int argc, char** argv) {
  const int at = find_word(argc, argv);
  std::vector<char*> words(argv, argv + argc);
  if (at == argc) {
    const bool wants_help = std::ranges::any_of(
        words, [](std::string_view word) { return word == "--help" || word == "-h"; });
    if (wants_help) return print_help();
    return complain(kWrongUsage, "which command of probe? tallyctl probe --help lists them");
  }
  const auto found = std::ranges::find_if(
      kCommands, [&](const Command& each) { return std::string_view(each.name) == argv[at]; });
  if (found == kCommands.end()) {
    return complain(kWrongUsage, "probe has no command " + std::string(argv[at]) +
                                     ": tallyctl probe --help lists them");
  }
  words[0] = argv[at];
  words.erase(words.begin() + at);
  return found->run(static_cast<int>(words.size()), words.data());
}

}  // namespace tallyfs
