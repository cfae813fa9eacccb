// How all programs take their command line: errors under the program's name, with the exit status
// 2, and a --help with lines like `--poll-ms MS   how long ... (10; 1 to 1000)`, where CLI11 by
// itself would show types and checks.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace tallyfs {

constexpr int kUsageStatus = 2;

// The name, the error messages, --help and --version, which says "NAME VERSION".
void set_up_usage(CLI::App& app, const std::string& name, const std::string& version);

// In --help the option's value is called `value`. Behind the description stand, in parentheses, its
// default (its default_str() or, without, what its variable holds now) and `bounds`, where there
// are any.
CLI::Option* show_value(CLI::Option* option, const std::string& value,
                        const std::string& bounds = "");

// Nothing, or the status with which to exit at once: after --help and --version (0), or after an
// error that was told on stderr (2).
std::optional<int> parse(CLI::App& app, int argc, char** argv);

}  // namespace tallyfs
