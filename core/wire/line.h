// One line of the text form of FORMAT.md, taken apart. Pure; views last as long as the line.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::string_view decimal{};  // X if it has a point; then x says nothing
};

// Whose line it is. A person's has no word that nothing reads; of a program's, such words are
// ignored, as the next version of the daemon may know them.
enum class Door { kPerson, kProgram };

enum class Verb { kCreate, kDefine, kRemove, kAttach };

struct CommandLine {
  Verb verb = Verb::kAttach;
  Token target;  // INTERFACE or INTERFACE/STATISTIC
  Token rest;    // what follows the target
  Door door = Door::kPerson;
};

// Asks for the page of switches.
struct SwitchesLine {};

// Asks for the page of shapes, for a lane file of so many bytes, or for a lane's page of tails.
struct ShapesLine {};
struct LaneLine {
  std::uint64_t bytes = 0;
};
struct TailsLine {
  std::uint64_t lane = 0;  // as the response to `lane` numbered it
};

// Of the stats/ branch.
enum class StatsVerb { kSubsystem, kObject, kRates, kRefused, kWithdraw };

struct StatsLine {
  StatsVerb verb = StatsVerb::kSubsystem;
  Token target;  // SUBSYSTEM or SUBSYSTEM/OBJECT
  Token rest;    // what follows the target
};

// Of the events of user programs.
enum class EventVerb { kWrite, kDefine, kRemove };

struct EventLine {
  EventVerb verb = EventVerb::kWrite;
  Token target;  // SYSTEM/EVENT
  Token rest;    // what follows the target
};

// Of tracing/latency_hist. The sample's time is not said.
enum class LatencyVerb { kRecord, kReset, kRemove };

struct LatencyLine {
  LatencyVerb verb = LatencyVerb::kRecord;
  Token type;  // the directory's name, as written
  LatencySample sample;
};

struct BlankLine {};

using Line = std::variant<SampleLine, CommandLine, SwitchesLine, StatsLine, EventLine, LatencyLine,
                          BlankLine, ShapesLine, LaneLine, TailsLine>;

// kInvalid, with the offending token.
Result<Line> parse_line(std::string_view line);

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
