// WHAT on the command line: `web`, `web/latency_us`, 'web/*', `tracing/latency_hist/wakeup`, a path
// in the mount. `statistics/` in front is always right where a name is in doubt.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/tree/source.h"

namespace tallyfs {

// The selected statistics of an interface: all, or some by name, in the interface's order.
struct Selection {
  std::string interface;
  bool is_whole = false;
  std::vector<std::string> statistics{};
  bool is_pattern = false;  // which they matched
  std::string word{};       // the name or pattern of statistics, as typed

  bool has(const std::string& of_interface, const std::string& statistic) const {
    return interface == of_interface &&
           (is_whole || std::ranges::count(statistics, statistic) > 0);
  }
};

// A file or directory of tracing/ or stats/, from the mount's root on; empty if WHAT is of
// statistics/.
std::string path_of(std::string_view what, const std::string& mount);
// path_of(), and also `tracing` and `stats` themselves if no interface has that name.
std::string path_in(Source& source, std::string_view what);
// The content of such a directory, as paths for `show`. Errors are those of list_in_time().
Result<std::vector<std::string>> paths_below(const Source& source, const std::string& path);

// Selects what the words match; without words all interfaces. Reads the interfaces whose statistics
// are matched. kInvalid: a word matches nothing; the reason has the nearest name. Other errors are
// the source's.
Result<std::vector<Selection>> select(Source& source, const std::vector<std::string>& words);
// The one statistic, or the latency histogram by its path, that a word names. kInvalid: it names
// more or none.
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
// Fails as read_selected() does, for an interface that was read already.
Result<void> check_selected(const Source& source, const view::Interface& interface,
                            const SelectedStatistic& what);

// Finds a statistic by its stored name, or by a name with labels as they may be typed. nullptr:
// there is none.
const view::Statistic* find_typed(const view::Interface& interface, const std::string& name);

// The selected statistics, in order.
std::vector<const view::Statistic*> selected(const view::Interface& interface,
                                             const Selection& selection);
// matching() adds those that came after select() and that the word matches.
std::vector<const view::Statistic*> matching(const view::Interface& interface,
                                             const Selection& selection);

}  // namespace tallyfs
