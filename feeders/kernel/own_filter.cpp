#include "feeders/kernel/own_filter.h"

#include <algorithm>
#include <utility>

namespace tallyfs {
namespace {

// Ids that follow one another are one condition: the kernel tests each for every record.
using Runs = std::vector<std::pair<pid_t, pid_t>>;

Runs runs_of(std::vector<pid_t> threads) {
  std::ranges::sort(threads);
  Runs runs;
  for (const pid_t thread : threads) {
    if (!runs.empty() && thread <= runs.back().second + 1) {
      runs.back().second = thread;
    } else {
      runs.emplace_back(thread, thread);
    }
  }
  return runs;
}

std::string is_none(const std::string& field, const Runs& runs) {
  std::string filter;
  for (const auto& [first, last] : runs) {
    if (!filter.empty()) filter += "&&";
    if (first == last) {
      filter += field + "!=" + std::to_string(first);
    } else {
      filter += "(" + field + "<" + std::to_string(first) + "||" + field + ">" +
                std::to_string(last) + ")";
    }
  }
  return filter;
}

}  // namespace

std::string filter_without(const tracing::TaskFields& fields, std::vector<pid_t> threads) {
  const Runs runs = runs_of(std::move(threads));
  if (runs.empty()) return {};
  if (fields.is_switch()) {
    return "(" + is_none("next_pid", runs) + ")||(" + is_none("prev_pid", runs) + ")";
  }
  std::string filter;
  if (fields.current != tracing::TaskFields::kNone) filter = is_none("common_pid", runs);
  if (!filter.empty() && fields.flags != tracing::TaskFields::kNone) {
    filter = "(" + filter + ")||common_flags&" + std::to_string(tracing::kInterruptFlags);
  }
  if (fields.task == tracing::TaskFields::kNone) return filter;
  return both_filters(filter, is_none("pid", runs));
}

std::string both_filters(std::string_view one, std::string_view other) {
  if (one.empty() || other.empty()) return std::string(one.empty() ? other : one);
  std::string both("(");
  return both.append(one).append(")&&(").append(other).append(")");
}

}  // namespace tallyfs
