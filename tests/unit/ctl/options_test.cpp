// Options of tallyctl before its command: which take a value.
#include "tools/ctl/options.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tools/ctl/commands.h"

namespace tallyfs {
namespace {

std::string help_of(const Command& command) {
  std::string name = command.name;
  std::string option = "--help";
  char* words[] = {name.data(), option.data(), nullptr};
  testing::internal::CaptureStdout();
  EXPECT_EQ(command.run(2, words), 0) << name;
  return testing::internal::GetCapturedStdout();
}

TEST(OptionsTest, EachOptionWithAValueIsKnownBeforeTheCommand) {
  const std::regex option("^  (?:-[a-z],)?(--[a-z-]+)(?: ([A-Z]+))?(?: .*)?$");
  int with_value = 0;
  for (const Command& command : commands()) {
    if (std::string_view(command.name) == "help") continue;
    std::istringstream help(help_of(command));
    for (std::string line; std::getline(help, line);) {
      std::smatch found;
      if (!std::regex_match(line, found, option)) continue;
      with_value += found[2].matched ? 1 : 0;
      EXPECT_EQ(takes_value(found[1].str()), found[2].matched) << command.name << ": " << line;
    }
  }
  EXPECT_GT(with_value, 20);
}

}  // namespace
}  // namespace tallyfs
