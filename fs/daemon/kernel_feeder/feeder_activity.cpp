#include "fs/daemon/kernel_feeder/feeder_activity.h"

#include <array>
#include <fstream>
#include <string>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// Words behind the name, which is in parentheses and may contain any character.
constexpr std::size_t kStateAt = 0;
constexpr std::size_t kUserTicksAt = 11;
constexpr std::size_t kSystemTicksAt = 12;

FeederActivity::State state_of(char letter) {
  using State = FeederActivity::State;
  if (letter == 'R' || letter == 'D') return State::kAtWork;
  if (letter == 'T' || letter == 't') return State::kStopped;
  return letter == 'S' || letter == 'I' ? State::kAsleep : State::kUnknown;
}

}  // namespace

FeederActivity parse_activity(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return {};
  stat.remove_prefix(name_end + 1);
  std::array<std::string_view, kSystemTicksAt + 1> words;
  Tokens tokens(stat);
  for (std::string_view& word : words) {
    const auto token = tokens.next();
    if (!token) return {};
    word = token->text;
  }
  const auto user = parse_unsigned(words[kUserTicksAt]);
  const auto system = parse_unsigned(words[kSystemTicksAt]);
  if (!user || !system) return {};
  return {.state = state_of(words[kStateAt].front()), .cpu_ticks = *user + *system};
}

FeederActivity feeder_activity(pid_t feeder) {
  std::ifstream file("/proc/" + std::to_string(feeder) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.empty() ? FeederActivity() : parse_activity(text);
}

}  // namespace tallyfs
