#include "core/wire/latency_line.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace tallyfs::wire {
namespace {

// The usual priority, as files show it: that of a latency without a task.
constexpr std::int32_t kShownUsual = Task::kShownMax - Task::kUsual;

enum Key : std::size_t { kNs, kCpu, kPid, kPrio, kComm, kKeys };
constexpr std::array<std::string_view, kKeys> kKeyNames = {"ns", "cpu", "pid", "prio", "comm"};

constexpr std::array kLatencyVerbs = {
    std::pair<std::string_view, LatencyVerb>("reset", LatencyVerb::kReset),
    std::pair<std::string_view, LatencyVerb>("remove", LatencyVerb::kRemove)};

using Values = std::array<std::optional<Token>, kKeys>;

Parsed<void> take_attribute(const Token& token, Values& values) {
  const auto equals = token.text.find('=');
  const std::string_view name = token.text.substr(0, equals);
  for (std::size_t key = 0; key < kKeys && equals != std::string_view::npos; ++key) {
    if (kKeyNames[key] != name) continue;
    if (values[key]) return Fault{"this has been said already", token.at};
    values[key] = Token{token.text.substr(equals + 1), token.at};
    return {};
  }
  return Fault{"a latency has ns=, cpu=, pid=, prio= and comm= after its name", token.at};
}

// The token's number, or `otherwise` where the key was left out.
Parsed<std::int64_t> number(const std::optional<Token>& token, std::int64_t min, std::int64_t max,
                            std::int64_t otherwise, const char* what_it_is) {
  if (!token) return otherwise;
  const auto value = parse_signed(token->text);
  if (!value || *value < min || *value > max) return Fault{what_it_is, token->at};
  return *value;
}

Parsed<LatencySample> sample_of(const Values& values) {
  const auto ns = number(values[kNs], INT64_MIN, INT64_MAX, 0, "ns is not a signed 64-bit number");
  if (!ns) return ns.error();
  const auto cpu = number(values[kCpu], 0, UINT32_MAX, 0, "cpu is not the number of a CPU");
  if (!cpu) return cpu.error();
  const auto pid = number(values[kPid], 0, INT32_MAX, 0, "pid is not a process id");
  if (!pid) return pid.error();
  const auto prio = number(values[kPrio], -Task::kShownMax, Task::kShownMax, kShownUsual,
                           "prio is not a number from -99 to 99");
  if (!prio) return prio.error();
  const std::string_view comm = values[kComm] ? values[kComm]->text : std::string_view();
  return LatencySample{.latency_ns = ns.value(),
                       .cpu = static_cast<std::uint32_t>(cpu.value()),
                       .task = make_task(static_cast<std::int32_t>(pid.value()),
                                         static_cast<std::int32_t>(prio.value()), comm)};
}

}  // namespace

Parsed<LatencyLine> parse_latency(Tokens& tokens, std::size_t line_end) {
  const auto type = tokens.next();
  if (!type) return Fault{"a latency needs the name of its directory", line_end};
  const Tokens behind = tokens;
  const auto first = tokens.next();
  for (const auto& [word, verb] : kLatencyVerbs) {
    if (!first || first->text != word) continue;
    if (const auto more = tokens.next()) return Fault{"nothing follows that", more->at};
    return LatencyLine{.verb = verb, .type = *type, .sample = {}};
  }
  tokens = behind;
  Values values;
  while (const auto token = tokens.next()) {
    if (auto done = take_attribute(*token, values); !done) return done.error();
  }
  if (!values[kNs]) return Fault{"a latency needs ns=", line_end};
  if (!values[kCpu]) return Fault{"a latency needs cpu=", line_end};
  const auto sample = sample_of(values);
  if (!sample) return sample.error();
  return LatencyLine{.type = *type, .sample = sample.value()};
}

}  // namespace tallyfs::wire
