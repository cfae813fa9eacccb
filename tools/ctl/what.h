// WHAT on the command line: `web`, `web/latency_us`, 'web/*', `tracing/latency_hist/wakeup`, a path
// in the mount. `statistics/` in front is always right where a name is in doubt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/tree/source.h"

namespace tallyfs {

// Of one interface: all of it, or statistics by name, in the interface's order.
struct Selection {
  std::string interface;
  bool is_whole = false;
  std::vector<std::string> statistics{};
  bool is_pattern = false;  // which they matched
};

// A file or directory of tracing/ or stats/, from the mount's root on; empty if WHAT is of
// statistics/.
std::string path_of(std::string_view what, const std::string& mount);
// The same, and `tracing` and `stats` themselves, where no interface is called so.
std::string path_in(Source& source, std::string_view what);
// What is in such a directory, as paths that `show` takes. Errors are those of list_in_time().
Result<std::vector<std::string>> paths_below(const Source& source, const std::string& path);

// Without words all interfaces. Interfaces whose statistics are matched are read. kInvalid: one of
// the words matches nothing; the reason has the nearest name. Errors of reading as they are.
Result<std::vector<Selection>> select(Source& source, const std::vector<std::string>& words);
// As select(), of a word that must name one statistic, or the path of a latency histogram: kInvalid
// if it names more or fewer.
struct SelectedStatistic {
  std::string interface;
  std::string statistic;

  bool operator==(const SelectedStatistic&) const = default;
};
Result<SelectedStatistic> select_one(Source& source, const std::string& word);
// Each that the words name, at the first moment at which all words name one; of a mount now.
Result<std::vector<SelectedStatistic>> select_each(Source& source,
                                                   const std::vector<std::string>& words);
// Its interface, as JSON too. kInvalid: the statistic has been removed from the mount; of moments
// that were kept it may be missing in some. Errors of reading as they are.
Result<view::Interface> read_selected(Source& source, const SelectedStatistic& what, Json& json);

// Selected ones, in order.
std::vector<const view::Statistic*> selected(const view::Interface& interface,
                                             const Selection& selection);

}  // namespace tallyfs
