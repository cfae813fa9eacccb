// Lines of uprobe_events: `p:GROUP/EVENT PATH:OFFSET ARGUMENTS`, `r:` for returns, `-:EVENT`, and
// `=:EVENT`, which is ours alone.
// Lines of kprobe_events are the same with a function of the kernel as their place, which has no
// `/`: `FUNCTION`, `FUNCTION+OFFSET`, `MODULE:FUNCTION`; `r10:` has a number of instances.
// dynamic_events takes three kinds besides: `e:` of the records of an event (`SYSTEM.EVENT`), `f:`
// and `f10:` of a function of the kernel, of its return with `%return` or `$retval`, and `t:` of a
// tracepoint.
// The name of the event is read here, and a place by name (place_name.h). What else follows goes to
// the kernel word by word.
// Values and pure functions. A line has at most kProbeLineBytesMax bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/tracing/probe/place_name.h"

namespace tallyfs::tracing {

inline constexpr std::size_t kProbeLineBytesMax = 4'095;
// The longest name of a group, and of an event.
inline constexpr std::size_t kProbeNameBytesMax = 63;

// The locations of refusals in error_log: the kernel's own, and ours.
inline constexpr std::string_view kUprobeLocation = "trace_uprobe";
inline constexpr std::string_view kKprobeLocation = "trace_kprobe";
inline constexpr std::string_view kEprobeLocation = "event_probe";
inline constexpr std::string_view kFprobeLocation = "trace_fprobe";
inline constexpr std::string_view kProbeLocation = "probe";

// What a probe is set on: code of a program, any of the kernel, the records of an event, the entry
// or the return of a function of the kernel, a tracepoint.
enum class ProbeTarget : std::uint8_t { kProgram, kKernel, kEvent, kFunction, kTracepoint };

// With which a line of it begins.
char letter_of(ProbeTarget target, ProbeKind kind);

// The most returns of one function of the kernel that a line may ask to be pending at a time.
inline constexpr unsigned kInstancesMax = 4'096;

// A line that defines a probe, or adds a place to it. Its words are views of the line.
struct ProbeLine {
  ProbeTarget target = ProbeTarget::kProgram;
  ProbeKind kind = ProbeKind::kEntry;  // of p: and f: with %return behind the place: kReturn
  unsigned instances = 0;              // of `r10:`; 0: the kernel chooses
  std::string group, event;
  std::vector<Token> words;                       // the place, then the arguments
  std::optional<PlaceName> place = std::nullopt;  // if it is one by name

  // The words with one blank between two of them, as the kernel repeats them.
  std::string text() const;
  // The byte of the line that became this byte of text(). One beyond the text is the line's end.
  std::size_t byte_of(std::size_t byte_of_text) const;
};

// An empty group means any; an empty event means all of the group.
struct ProbeRemoval {
  std::string group, event;
  std::optional<ProbeTarget> target = std::nullopt;  // nothing: any
};

// The places of these probes are found and made again, by the lines that defined them.
struct ProbeRenewal {
  ProbeRemoval meant;
};

using ProbeCommand = std::variant<ProbeLine, ProbeRemoval, ProbeRenewal>;

// only: the line is of a file that takes probes of this target alone, and reasons are those of that
// file. Nothing: the kind and the place say what it is set on. A removal has the target of its
// file. kInvalid, and kTooBig for a line that is too long; with the line, the place of the fault in
// it and its location. Faults of names have the kernel's texts.
Result<ProbeCommand> parse_probe_line(std::string_view line,
                                      std::optional<ProbeTarget> only = std::nullopt);

// `SYSTEM.EVENT` or `SYSTEM/EVENT`, of a line of an event. Nothing: the text is none.
struct NamedEvent {
  std::string_view system, event;
};
std::optional<NamedEvent> parse_named_event(std::string_view text);

// The error with the line as its text, so that error_log repeats this line of several.
Error probe_fault(ErrorCode code, std::string_view location, std::string_view line,
                  std::string reason, std::size_t at = 0);

}  // namespace tallyfs::tracing
