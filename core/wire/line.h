// One line of the text form of FORMAT.md, taken apart. Pure; views last as long as the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/model/latency_sample.h"

namespace tallyfs::wire {

struct SampleLine {
  std::string_view path;  // INTERFACE/STATISTIC as written; names are checked where they are new
  std::int64_t x = 0;
  std::uint64_t y = 1;
  std::string_view decimal{};  // X if it has a point; then x is not set
};

// The author of a line. An unknown word refuses a person's line. In a program's it is ignored,
// since a later version of the daemon may know it.
enum class Door { kPerson, kProgram };

enum class Verb { kCreate, kDefine, kRemove, kAttach };

struct CommandLine {
  Verb verb = Verb::kAttach;
  Token target;  // INTERFACE or INTERFACE/STATISTIC
  Token rest;    // what follows the target
  Door door = Door::kPerson;
};

// A request for a descriptor: one of the daemon's pages, a lane file of `number` bytes, or the page
// of tails of the sender's lane with this number. Only a binary request can be answered with one.
enum class Descriptor { kSwitches, kShapes, kLane, kTails };

struct DescriptorLine {
  Descriptor of = Descriptor::kSwitches;
  std::string_view subject;  // of a refusal: "switches are"
  std::uint64_t number = 0;
};

// Commands of the stats/ branch.
enum class StatsVerb { kSubsystem, kObject, kRates, kRefused, kWithdraw };

struct StatsLine {
  StatsVerb verb = StatsVerb::kSubsystem;
  Token target;  // SUBSYSTEM or SUBSYSTEM/OBJECT
  Token rest;    // what follows the target
};

// Commands for the events of user programs.
enum class EventVerb { kWrite, kDefine, kRemove };

struct EventLine {
  EventVerb verb = EventVerb::kWrite;
  Token target;  // SYSTEM/EVENT
  Token rest;    // what follows the target
};

// Commands of tracing/latency_hist. The line does not have the sample's time.
enum class LatencyVerb { kRecord, kReset, kRemove };

struct LatencyLine {
  LatencyVerb verb = LatencyVerb::kRecord;
  Token type;  // the directory's name, as written
  LatencySample sample;
};

struct BlankLine {};

using Line = std::variant<SampleLine, CommandLine, DescriptorLine, StatsLine, EventLine,
                          LatencyLine, BlankLine>;

// Why a line is refused, without an allocation: most lines of a flood are counted and not reported.
// Reason and token are as an Error's. The text of the reason lasts as long as the program.
struct Fault {
  constexpr Fault() = default;
  constexpr Fault(std::string_view its_reason, std::size_t its_token_at)
      : token_at(its_token_at), text_(its_reason) {}
  // The token at `at` was to be X. What is wrong with it is found when the reason is asked for.
  static constexpr Fault of_x(const Token& x) {
    Fault fault(x.text, x.at);
    fault.is_of_x_ = true;
    return fault;
  }
  std::string_view reason() const;
  Error error() const { return invalid(std::string(reason()), token_at); }

  std::size_t token_at = 0;

 private:
  std::string_view text_;  // the reason, or X
  bool is_of_x_ = false;
};
[[noreturn]] inline void throw_exception_from_error(const Fault& fault,
                                                    const boost::source_location& where) {
  tallyfs::throw_exception_from_error(fault.error(), where);
}

template <typename T>
using Parsed = boost::system::result<T, Fault>;

// The fault has the offending token. Bytes up to `readable`, from the line's end on, may be looked
// at and mean nothing: those of a line in a longer text can be looked at many at a time.
Parsed<Line> parse_line(std::string_view line, const char* readable);
inline Parsed<Line> parse_line(std::string_view line) {
  return parse_line(line, line.data() + line.size());
}

// Reads a common line in one go: `INTERFACE/STATISTIC X [Y]` with single blanks and decimal numbers
// of at most 18 digits, at the start of text and up to a newline or the end; of many such lines see
// plain_samples.h. Returns its bytes with the newline. 0: the line has another form, which
// parse_line() reads, and sample is undefined.
std::size_t take_plain_sample(std::string_view text, SampleLine& sample);

// A target or path at its first slash. statistic is empty, and has_statistic false, if there is
// none ("web"); "web/" has an empty one, which is no name.
struct Path {
  std::string_view interface;
  std::string_view statistic;
  bool has_statistic = false;
};
Path split_path(std::string_view path);

}  // namespace tallyfs::wire
