// A snapshot of all interfaces, and the comparison of two. Values.
#pragma once

#include <map>
#include <string>

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/tree/source.h"

namespace tallyfs {

using Interfaces = std::map<std::string, view::Interface>;

// Reads all interfaces at the source's present step. An interface that is removed meanwhile is left
// out. Errors are the source's.
Result<Interfaces> read_all(Source& source);
// Reads the last snapshot of a recording.
Result<Interfaces> read_end(Source& recording);

// The keys of the definition that say how samples are counted: "type=range".
std::string definition_of(const view::Statistic& statistic);
bool is_alike(const view::Statistic& a, const view::Statistic& b);

// Appends, as JSON, how much each statistic counted between `a` and `b` (tallyctl(1), diff).
// Returns true if one has counted, or if that is unknown.
bool append_differences(std::string& out, const Interfaces& a, const Interfaces& b);

// Calls step(name of the interface, its statistic in `a`, its statistic in `b`) for those that are
// in one of them or in both; what is not there is nullptr.
template <typename Step>
void for_each_of_both(const Interfaces& a, const Interfaces& b, const Step& step) {
  for (const auto& [name, now] : b) {
    const auto was = a.find(name);
    for (const view::Statistic& each : now.statistics) {
      step(name, was == a.end() ? nullptr : was->second.find(each.name), &each);
    }
  }
  for (const auto& [name, was] : a) {
    const auto now = b.find(name);
    for (const view::Statistic& each : was.statistics) {
      if (now == b.end() || !now->second.find(each.name)) step(name, &each, nullptr);
    }
  }
}

}  // namespace tallyfs
