// The command line of a program: declared option by option, then parsed.
//
// Errors are printed on stderr under the program's name, with the exit status 2. --help has lines
// like `--keep TIME   how long ... (10m; 0s to 1d; a number alone: s)`. The parser is CLI11; only
// command_line.cpp includes it, since each file that does compiles for ten seconds.
// Confined to one thread. The variables must outlive parse(); those without a value on the command
// line keep their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "program/duration.h"

namespace tallyfs {

constexpr int kUsageStatus = 2;

// Where an option's value is stored; the type says which texts are values.
using OptionVariable =
    std::variant<std::string*, std::optional<std::string>*, int*, unsigned*, std::uint64_t*>;

// A number of `least` to `most`.
struct InRange {
  std::uint64_t least;
  std::uint64_t most;
};
// The range of a std::uint64_t that may be typed with a unit: 64k, 1G.
struct Bytes {
  std::uint64_t least;
  std::uint64_t most;
};
// A time of `least` to `most`, which the variable has in `unit`, as a number alone is.
struct Time {
  std::uint64_t least;
  std::uint64_t most;
  TimeUnit unit;
};
struct OneOf {
  std::vector<std::string> words;
};
// Returns the fault of a value; an empty string is no fault.
using FindFault = std::function<std::string(const std::string&)>;
// The fault in the mode of a file, which has at most four octal digits: 0666.
std::string find_mode_fault(const std::string& text);
using OptionCheck = std::variant<std::monostate, InRange, Bytes, Time, OneOf, FindFault>;

struct Option {
  std::string names;  // "--socket", or "-s,--socket"
  OptionVariable variable;
  std::string value;  // its name in --help: "PATH"
  std::string text;   // in --help
  OptionCheck check = {};

  // In --help, the value that the variable has before parse() follows the text, and then `bounds`,
  // or those of a Time.
  enum class Default { kShown, kHidden };
  Default shown = Default::kShown;
  std::string bounds = {};

  enum class Need { kOptional, kRequired };
  Need need = Need::kOptional;
};

struct ArgumentCount {
  int least = 0;
  int most = 1 << 29;
};

class CommandLine {
 public:
  // --help begins with `description`; --version prints "NAME VERSION".
  CommandLine(const std::string& description, const std::string& name, const std::string& version);
  CommandLine(CommandLine&&) noexcept;
  ~CommandLine();

  // --help lists options in the order of these calls. A name that was declared before aborts.
  void add(const Option& option);
  // `excluded`: flags that may not be given beside this one, each by a name, with spaces between.
  void add_flag(const std::string& names, bool& variable, const std::string& text,
                const std::string& excluded = "");
  // An option that may be given several times, each time with one value.
  void add_list(const std::string& names, std::vector<std::string>& values,
                const std::string& value, const std::string& text);
  // Arguments that are no options.
  void add_arguments(const std::string& name, std::vector<std::string>& values,
                     const std::string& text, ArgumentCount count = {});
  void add_footer(const std::string& text);

  // The options that were given, by their long names, or by the short one if that is all.
  std::vector<std::string> given() const;
  // The status with which to exit at once: 0 after --help and --version, 2 after an error that has
  // been printed. Nothing if the program may run.
  std::optional<int> parse(int argc, char** argv);

  // After parse(): replaces the value of an option, which was declared, as if it had been given on
  // the command line. Returns the status to exit with if the value is refused.
  std::optional<int> replace(const std::string& name, const std::string& value);

  // Prints an error of an option's value that the program has found itself; returns the status.
  int refuse(const std::string& name, const std::string& reason);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tallyfs
