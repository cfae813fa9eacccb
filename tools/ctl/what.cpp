#include "tools/ctl/what.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "core/base/labels.h"
#include "core/base/nearest.h"
#include "tools/display/summary.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr std::string_view kStatistics = "statistics/";

struct Pattern {
  std::string interface;
  std::string statistic;  // empty: all of it
};

// Without the mount point, slashes at its ends, and a file's name behind an interface.
std::string_view inside_mount(std::string_view what, const std::string& mount) {
  if (!mount.empty() && what.starts_with(mount) && what.substr(mount.size()).starts_with('/')) {
    what.remove_prefix(mount.size() + 1);
  }
  while (what.ends_with('/')) what.remove_suffix(1);
  for (const std::string_view file : {"/data", "/data.json", "/definition"}) {
    if (what.ends_with(file) && what.starts_with(kStatistics)) what.remove_suffix(file.size());
  }
  return what;
}

Pattern to_pattern(std::string_view what, const std::string& mount) {
  what = inside_mount(what, mount);
  if (what.starts_with(kStatistics)) what.remove_prefix(kStatistics.size());
  const std::size_t slash = what.find('/');
  if (slash == std::string_view::npos) return {std::string(what), ""};
  return {std::string(what.substr(0, slash)), std::string(what.substr(slash + 1))};
}

// The name itself, or a pattern of the shell.
bool matches(const std::string& pattern, const std::string& name) {
  return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// Labels in the word are as they are stored, or as people read them.
bool names(const std::string& word, const std::string& name) {
  return matches(word, name) || matches(stored_pattern("/" + word).substr(1), name) ||
         matches(word, shown_labels(name));
}

// Advice for a word that is near no name. One without an interface may be meant as a statistic.
std::string way_to_names(const Source& source, const std::string& word) {
  if (source.mount().empty()) {
    return " in what was recorded; a store keeps no type=history and no type=raw";
  }
  const bool is_interface = word.find('/') == std::string::npos;
  return "; tallyctl ls lists what is there" +
         (is_interface ? ", and '*/" + word + "' is that of all interfaces" : std::string());
}

class Selector {
 public:
  explicit Selector(Source& source) : source_(source) {}

  Result<void> open() {
    auto tree = read_tree(source_);
    if (!tree) return tree.error();
    for (const auto& each : tree.value().interfaces) names_.push_back(each.name);
    return {};
  }

  void add_all() {
    for (const std::string& name : names_)
      selections_.push_back({.interface = name, .is_whole = true});
  }

  Result<void> add(const std::string& word) {
    const Pattern pattern = to_pattern(word, source_.mount());
    bool found = false;
    Error missing = nothing_matches(word, did_you_mean(pattern.interface, names_, ""));
    for (const std::string& name : names_) {
      if (!matches(pattern.interface, name)) continue;
      auto added = pattern.statistic.empty()
                       ? add_whole(name)
                       : add_some(name, name == pattern.interface, pattern.statistic);
      if (!added && added.error().code != ErrorCode::kInvalid) return added.error();
      if (added) found = true;
      if (!added) missing = nothing_matches(word, added.error().reason);
    }
    return found ? Result<void>() : missing;
  }

  std::vector<Selection> take() { return std::move(selections_); }

 private:
  Result<void> add_whole(const std::string& name) {
    selections_.push_back({.interface = name, .is_whole = true});
    return {};
  }

  // `is_name`: the word has the interface's name, and not a pattern.
  Result<void> add_some(const std::string& name, bool is_name, const std::string& pattern) {
    const auto interface = read_interface(source_, name);
    if (!interface) return interface.error();
    Selection made{.interface = name, .word = pattern};
    std::vector<std::string> known;
    for (const view::Statistic& each : interface.value().statistics) {
      known.push_back(shown_labels(each.name));
      if (names(pattern, each.name)) made.statistics.push_back(each.name);
    }
    if (!made.statistics.empty()) {
      const auto typed_name = stored_name(pattern);
      const bool is_named = std::ranges::count(made.statistics, pattern) != 0 ||
                            (typed_name && std::ranges::count(made.statistics, typed_name.value()));
      made.is_pattern = !is_name || !is_named;
      selections_.push_back(std::move(made));
      return {};
    }
    return invalid(did_you_mean(pattern, known, name + "/"));
  }

  // meant: as did_you_mean() has it.
  Error nothing_matches(const std::string& word, const std::string& meant) const {
    return invalid("nothing is called '" + word + "'" +
                   (meant.empty() ? way_to_names(source_, word) : meant));
  }

  Source& source_;
  std::vector<std::string> names_;
  std::vector<Selection> selections_;
};

}  // namespace

std::string path_of(std::string_view what, const std::string& mount) {
  const std::string_view path = inside_mount(what, mount);
  const bool is_path = path.starts_with("tracing/") || path.starts_with("stats/");
  return is_path ? std::string(path) : std::string();
}

std::string path_in(Source& source, std::string_view what) {
  std::string path = path_of(what, source.mount());
  const std::string_view name = inside_mount(what, source.mount());
  const bool is_top = !source.mount().empty() && (name == "tracing" || name == "stats");
  if (!is_top) return path;
  const auto tree = read_tree(source);
  const bool is_interface = tree && std::ranges::count(tree.value().interfaces, name,
                                                       &view::InterfaceSummary::name) != 0;
  return is_interface ? std::move(path) : std::string(name);
}

Result<std::vector<std::string>> paths_below(const Source& source, const std::string& path) {
  auto names = list_in_time(source.mount() + "/" + path);
  if (!names) return names;
  // The file without .json has the same content.
  std::erase_if(names.value(), [](const std::string& name) { return name.ends_with(".json"); });
  for (std::string& name : names.value()) name.insert(0, path + "/");
  return names;
}

Result<std::vector<Selection>> select(Source& source, const std::vector<std::string>& words) {
  Selector selector(source);
  if (auto done = selector.open(); !done) return done.error();
  if (words.empty()) selector.add_all();
  for (const std::string& word : words) {
    if (auto done = selector.add(word); !done) return done.error();
  }
  return selector.take();
}

namespace {

// Selects a latency histogram, whose directory has a data.json as an interface has.
Result<SelectedStatistic> select_path(Source& source, const std::string& path) {
  const auto interface = read_interface(source, path);
  if (!interface && interface.error().code == ErrorCode::kNotFound) {
    return invalid(path + " has no data.json, as tracing/latency_hist/wakeup has");
  }
  if (!interface) return interface.error();
  const auto& statistics = interface.value().statistics;
  if (statistics.size() != 1) return invalid(path + " is not one statistic");
  return SelectedStatistic{path, statistics.front().name};
}

Result<std::vector<SelectedStatistic>> select_each_now(Source& source,
                                                       const std::vector<std::string>& words) {
  std::vector<SelectedStatistic> made;
  for (const std::string& word : words) {
    const std::string path = path_in(source, word);
    if (!path.empty()) {
      auto found = select_path(source, path);
      if (!found) return found.error();
      made.push_back(std::move(found).value());
      continue;
    }
    const auto found = select(source, {word});
    if (!found) return found.error();
    for (const Selection& each : found.value()) {
      const auto interface = read_interface(source, each.interface);
      if (!interface) return interface.error();
      for (const view::Statistic* statistic : selected(interface.value(), each)) {
        made.push_back({each.interface, statistic->name});
      }
    }
  }
  return made;
}

}  // namespace

Result<SelectedStatistic> select_one(Source& source, const std::string& word) {
  auto found = select_each_now(source, {word});
  if (!found) return found.error();
  if (found.value().size() == 1) return std::move(found.value().front());
  if (found.value().empty()) return invalid("'" + word + "' has no statistic");
  return invalid("'" + word + "' is more than one statistic; tallyctl ls " +
                 found.value().front().interface + " lists them");
}

Result<std::vector<SelectedStatistic>> select_each(Source& source,
                                                   const std::vector<std::string>& words) {
  for (;;) {
    auto found = select_each_now(source, words);
    if (found || !source.mount().empty()) return found;
    const auto next = source.next(std::chrono::microseconds(0));
    if (!next) return next.error();
    if (next.value() == Source::Next::kEnd) return found;
  }
}

Result<view::Interface> read_selected(Source& source, const SelectedStatistic& what, Json& json) {
  auto found = source.interface(what.interface);
  if (!found) return found.error();
  json = std::move(found).value();
  auto made = to_interface(json);
  if (!made) return made.error();
  if (auto checked = check_selected(source, made.value(), what); !checked) return checked.error();
  return made;
}

Result<void> check_selected(const Source& source, const view::Interface& interface,
                            const SelectedStatistic& what) {
  if (source.mount().empty() || interface.find(what.statistic)) return {};
  return invalid(view::shown_name(what.interface, what.statistic) + " has been removed");
}

const view::Statistic* find_typed(const view::Interface& interface, const std::string& name) {
  if (const view::Statistic* const found = interface.find(name)) return found;
  const auto stored = stored_name(name);
  return stored ? interface.find(stored.value()) : nullptr;
}

std::vector<const view::Statistic*> selected(const view::Interface& interface,
                                             const Selection& selection) {
  std::vector<const view::Statistic*> made;
  for (const view::Statistic& each : interface.statistics) {
    if (selection.is_whole || std::ranges::count(selection.statistics, each.name) > 0) {
      made.push_back(&each);
    }
  }
  return made;
}

std::vector<const view::Statistic*> matching(const view::Interface& interface,
                                             const Selection& selection) {
  std::vector<const view::Statistic*> made;
  for (const view::Statistic& each : interface.statistics) {
    if (selection.is_whole || (!selection.word.empty() && names(selection.word, each.name)) ||
        std::ranges::count(selection.statistics, each.name) > 0) {
      made.push_back(&each);
    }
  }
  return made;
}

}  // namespace tallyfs
