// The command line of tally-web.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tallyfs::web {

struct Options {
  std::string listen = "127.0.0.1:8255";
  std::string mount{};
  std::string token_file{};
  std::vector<std::string> hosts{};
  unsigned keep_s = 600;
  std::string store{};
  std::string log_level = "info";
  bool allows_changes = false;
  bool allows_plaintext = false;
  bool opens_reading = false;
  bool opens_metrics = false;
  bool only_metrics = false;
  bool keeps_utf8 = false;
};

// The status to exit with at once; nothing if the program may run.
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace tallyfs::web
