#include "tools/ctl/probe_checks.h"

#include <functional>

#include "tools/display/quantity.h"

namespace tallyfs {
namespace {

struct ProbeFault {
  std::function<bool(const KnownProbe&)> is_at;
  Level level;
  const char* text;
  const char* advice;
};

const std::vector<ProbeFault>& probe_faults() {
  // The first that fits a probe is reported. A command may have been told to let its probes stay.
  static const std::vector<ProbeFault> kFaults = {
      {&KnownProbe::is_leaving, Level::kOk,
       "leaving: they were removed, and the kernel has them until nothing is recorded, or for "
       "ten minutes",
       ""},
      {&KnownProbe::is_left_over, Level::kOk, "of commands that have ended",
       "tallyctl probe rm with the part of NAME before its /, if no command was to leave them"},
      {&KnownProbe::is_lost, Level::kWarning,
       "stale, by offset: their programs were replaced, and the new ones are not probed",
       "tallyctl probe rm NAME, then add it again"},
      {&KnownProbe::is_stale, Level::kWarning,
       "stale: their programs were replaced, and the new ones are not probed",
       "tallyctl probe renew NAME"},
      {[](const KnownProbe& probe) { return !probe.is_whole; }, Level::kWarning,
       "without a place, which count nothing there",
       "tallyctl errors says why; if the program is there again: tallyctl probe renew NAME"},
  };
  return kFaults;
}

std::string names_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text = view::grouped_text(names.size()) + " ";
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
    text.append(i == 0 ? "(" : ", ").append(names[i]);
  }
  return text.append(names.size() > kShown ? ", ...)" : ")");
}

}  // namespace

Findings check_probes(const view::Tree& tree, const std::vector<KnownProbe>& probes,
                      const std::vector<std::string>& orphans) {
  Findings found;
  const std::string all = view::grouped_text(probes.size());
  if (tree.tracefs == "lost" && !probes.empty()) {
    found.push_back({Level::kFailure, "probes", all + " count nothing: their feeder has ended",
                     "tallyctl errors says why; mount as root with -o tracefs"});
  }
  std::vector<std::vector<std::string>> names(probe_faults().size());
  for (const KnownProbe& probe : probes) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!std::invoke(probe_faults()[i].is_at, probe)) continue;
      names[i].push_back(probe.event);
      break;
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const ProbeFault& fault = probe_faults()[i];
    found.push_back({fault.level, "probes", names_of(names[i]) + " " + fault.text, fault.advice});
  }
  if (!orphans.empty()) {
    found.push_back({Level::kWarning, "probes",
                     names_of(orphans) + " left in the kernel by tallyfs that was killed",
                     "tally-feed-tracefs --remove-orphans, as root"});
  }
  if (found.empty()) found.push_back({Level::kOk, "probes", all, ""});
  return found;
}

}  // namespace tallyfs
