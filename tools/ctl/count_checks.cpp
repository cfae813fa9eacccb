#include "tools/ctl/count_checks.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/daemon_counter.h"
#include "tools/display/change.h"
#include "tools/display/quantity.h"

namespace tallyfs {
namespace {

Int128 total_of(const view::Statistic& statistic) {
  const auto* value = std::get_if<view::Value>(&statistic.values);
  return value ? value->total : 0;
}

Int128 total_of(const view::Interface& of, std::string_view name) {
  const view::Statistic* const found = of.find(name);
  return found ? total_of(*found) : 0;
}

// The last entry whose place begins so, as one line: "socket pid 31102 uid 0: error: REASON".
std::string newest_entry(const std::string& log, std::string_view place) {
  std::istringstream lines(log);
  std::string line;
  std::string newest;
  while (std::getline(lines, line)) {
    if (!line.starts_with('[')) continue;
    std::string entry = line.substr(std::min(line.size(), line.find("] ") + 2));
    if (entry.starts_with(place)) newest = std::move(entry);
  }
  return newest;
}

// The newest entry of `log` that explains a count; empty: there is none.
std::string explanation_of(std::string_view counter, const std::string& log) {
  if (counter == "rejects") return newest_entry(log, "");
  if (counter == "reloads_refused") return newest_entry(log, "reload: error: ");
  return "";
}

bool is_known(std::string_view name) {
  return std::ranges::find(DaemonCounter::kRows, name, &DaemonCounter::Row::name) !=
         std::end(DaemonCounter::kRows);
}

// Whether a reload was refused since the program on disk reads no state of this daemon's.
bool is_of_older_program(const std::string& entry) {
  return entry.find("this version does not read") != std::string::npos;
}

std::string process_name(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  return std::getline(file, name) ? name : std::string("ended");
}

// " by pid 4711 (web) 1,204, ...": at most three, the largest first.
std::string droppers(const view::Interface& now) {
  const view::Statistic* const found = now.find("dropped_by");
  const auto* list = found ? std::get_if<view::List>(&found->values) : nullptr;
  if (!list) return "";
  std::vector<std::size_t> order(std::min(list->x.size(), list->totals.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order,
                           [&](auto a, auto b) { return list->totals[a] > list->totals[b]; });
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t n = 0; n < std::min(order.size(), kShown); ++n) {
    const std::int64_t pid = list->x[order[n]];
    text.append(text.empty() ? ", by pid " : ", ").append(std::to_string(pid));
    text.append(" (").append(process_name(pid)).append(") ");
    text.append(view::grouped_text(list->totals[order[n]]));
  }
  return text;
}

// Why the daemon gave this process no lane, as `log` has it; empty: it was not asked, or gave one.
std::string lane_refusal(std::int64_t pid, const std::string& log) {
  const std::string sender = " pid " + std::to_string(pid) + " uid ";
  std::istringstream lines(log);
  std::string line;
  std::string reason;
  std::string newest;
  while (std::getline(lines, line)) {
    if (line.starts_with('[')) {
      constexpr std::string_view kError = "error: ";
      const std::size_t at = line.find(kError);
      const bool is_its = line.find(sender) != std::string::npos && at != std::string::npos;
      reason = is_its ? line.substr(at + kError.size()) : std::string();
    } else if (line.starts_with("  Command: lane ") && !reason.empty()) {
      newest = reason;
    }
  }
  return newest;
}

std::string newly_counted(const view::Interface& before, const view::Interface& now,
                          std::string_view name) {
  const auto change = view::change_between(before, now, name);
  if (!change.counted) return "";
  const Int128 count = total_of(*change.counted);
  if (count == 0) return ", none in the last " + view::duration_text(change.micros);
  return ", " + view::grouped_text(count) + " of them in the last " +
         view::duration_text(change.micros);
}

// A count of a feeder's that stands for a problem, as DaemonCounter::Row.
struct FeederProblem {
  std::string_view name;
  std::string_view one;
  std::string_view many;
  std::string_view advice;
};
constexpr FeederProblem kFeederProblems[] = {
    {"overflowed", "sample went to NAME{*}, since there was no room for another statistic",
     "samples went to NAME{*}, since there was no room for more statistics",
     "the feeder's log names the last NAME: fewer values of its labels, as by |route, or larger "
     "--series-per-name-max and --series-max"},
    {"unread", "byte of a log was cut off before it was read, and is in no copy",
     "bytes of logs were cut off before they were read, and are in no copy",
     "rotate by rename (create of logrotate), or let copies stay for a while (delaycompress)"},
    {"missed", "log was rotated before the feeder started, and is compressed or gone",
     "logs were rotated before the feeder started, and are compressed or gone",
     "the feeder's log names them: let logrotate compress later (delaycompress)"},
    {"read_errors", "read of a log failed", "reads of logs failed",
     "the feeder's log names the file and the reason"},
};

}  // namespace

Findings check_counts(const view::Interface& before, const view::Interface& now,
                      const std::string& log) {
  Findings found;
  // The feeder of a full ring reports the samples that it dropped a little later as well.
  const Int128 in_rings = total_of(now, "lane_dropped");
  const bool rings_say_all = in_rings != 0 && total_of(now, "dropped") <= in_rings;
  for (const DaemonCounter::Row& problem : DaemonCounter::kRows) {
    const view::Statistic* const counter = now.find(problem.name);
    const Int128 total = counter && problem.is_problem() ? total_of(*counter) : 0;
    if (total == 0 || (counter->name == "dropped" && rings_say_all)) continue;
    std::string text = view::grouped_text(total).append(" ");
    text.append(total == 1 ? problem.one : problem.meaning);
    text.append(newly_counted(before, now, problem.name));
    if (counter->name == "dropped" && in_rings != 0) {
      text.append(", ").append(view::grouped_text(in_rings)).append(" of all at full rings");
    }
    if (counter->name == (rings_say_all ? "lane_dropped" : "dropped")) text.append(droppers(now));
    const std::string entry = explanation_of(counter->name, log);
    if (!entry.empty()) text.append("; the newest: ").append(entry);
    const bool is_older = counter->name == "reloads_refused" && is_of_older_program(entry);
    found.push_back({Level::kWarning, std::string(problem.name), std::move(text),
                     is_older ? "install a program that reads what this one leaves"
                              : std::string(problem.advice)});
  }
  for (const view::Statistic& each : now.statistics) {
    if (total_of(each) == 0 || is_known(each.name)) continue;
    found.push_back(
        {Level::kWarning, each.name,
         view::grouped_text(total_of(each)) + " counted, of what this tallyctl does not know",
         "a tallyctl of the daemon's version knows it"});
  }
  if (found.empty())
    found.push_back({Level::kOk, "counts", "no fault was counted since the start", ""});
  return found;
}

Findings check_feeder_counts(const view::Interface& before, const view::Interface& now) {
  Findings found;
  for (const FeederProblem& problem : kFeederProblems) {
    const Int128 total = total_of(now, problem.name);
    if (total == 0) continue;
    std::string text = now.name + ": " + view::grouped_text(total);
    text.append(" ").append(total == 1 ? problem.one : problem.many);
    text.append(newly_counted(before, now, problem.name));
    found.push_back(
        {Level::kWarning, std::string(problem.name), std::move(text), std::string(problem.advice)});
  }
  return found;
}

Findings check_state(const view::Interface& now) {
  const auto last_of = [&now](std::string_view name) -> const view::Last* {
    const view::Statistic* const found = now.find(name);
    const auto* const last = found ? std::get_if<view::Last>(&found->values) : nullptr;
    return last && last->time_us ? last : nullptr;
  };
  const view::Last* const saved = last_of("state_saved_s");
  const view::Last* const bytes = last_of("state_bytes");
  const view::Last* const failed = last_of("state_failed_s");
  if (!saved && !failed) return {};
  // The clock of the wall may have been set back since.
  const auto age = [&now](const view::Last& last) {
    constexpr std::uint64_t kMicros = 1'000'000;
    const auto now_s = static_cast<std::int64_t>(now.realtime_us / kMicros);
    const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(now_s - last.x, 0));
    return seconds < 10 ? std::to_string(seconds) + " s" : view::duration_text(seconds * kMicros);
  };
  std::string text = saved ? "saved " + age(*saved) + " ago" : std::string("not saved yet");
  if (bytes) text.append(", ").append(view::grouped_text(bytes->x)).append(" bytes");
  if (!failed || (saved && *saved->time_us >= *failed->time_us)) {
    return {{Level::kOk, "state", std::move(text), ""}};
  }
  text.append("; the last try failed ").append(age(*failed)).append(" ago");
  return {{Level::kWarning, "state", std::move(text),
           "the daemon's log says why; what has changed since then is lost when the daemon ends"}};
}

Finding check_lanes(const view::Interface& before, const view::Interface& now,
                    const std::string& log) {
  const view::Statistic* const lanes = now.find("lanes");
  const auto* const last = lanes ? std::get_if<view::Last>(&lanes->values) : nullptr;
  Finding found{Level::kOk, "lanes", std::to_string(last ? last->x : 0), ""};
  found.text.append(" in use");
  const view::Statistic* const rings = now.find("rings");
  const auto* const with_rings = rings ? std::get_if<view::Last>(&rings->values) : nullptr;
  if (with_rings && with_rings->x != 0) {
    found.text.append(", with ").append(std::to_string(with_rings->x)).append(" rings");
  }
  const view::Statistic* const merged = now.find("cells_merged");
  if (merged && total_of(*merged) != 0) {
    found.text.append(", ").append(view::grouped_text(total_of(*merged))).append(" cells read");
  }
  const auto change = view::change_between(before, now, "beside_lanes");
  const auto* const beside =
      change.counted ? std::get_if<view::List>(&change.counted->values) : nullptr;
  if (!beside) return found;
  constexpr std::size_t kShown = 3;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < std::min(beside->x.size(), beside->totals.size()); ++i) {
    if (beside->totals[i] == 0 || shown == kShown) continue;
    found.text.append(shown++ == 0 ? "; over the socket: pid " : ", pid ");
    const std::string refusal = lane_refusal(beside->x[i], log);
    found.text.append(std::to_string(beside->x[i])).append(" (");
    found.text.append(process_name(beside->x[i])).append(") ");
    found.text.append(view::grouped_text(beside->totals[i])).append(" samples, ");
    constexpr const char* kNoRefusal =
        "no refusal in error_log: an older library, no_lane, or more than its lane holds";
    found.text.append(refusal.empty() ? kNoRefusal : refusal);
    if (refusal.empty()) continue;
    found.level = Level::kWarning;
    found.advice = "a larger --uid-memory, or fewer processes that feed: Lanes in docs/limits.md";
  }
  return found;
}

}  // namespace tallyfs
