// A recording as a source: JSON Lines. The first line is `statistics.json` with the key `tallyctl`,
// the others are `data.json` of interfaces that changed, as they were read. A moment ends where an
// interface comes again, or where half the recording's period passed between two lines. What did
// not change has no line; its values are valid until the next moment.
//
// A line that is torn at the end of the file is passed over. Of a recording only the newest state
// is in memory.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tools/tree/source.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;

std::string name_of(const Json& line) { return std::string(line.text_of("interface")); }

void set_number(Json& json, std::string_view key, std::uint64_t value) {
  const auto found = std::ranges::find(json.keys, key);
  if (found == json.keys.end()) return;
  json.items[static_cast<std::size_t>(found - json.keys.begin())].text = std::to_string(value);
}

// A recording may say anything: a sum ends at the end of its type.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// The summary of an interface that was made after the first line.
Json summary_of(const std::string& name) {
  Json made{.kind = Json::Kind::kObject};
  made.keys.emplace_back("interface");
  made.items.push_back({.kind = Json::Kind::kString, .text = name});
  for (const char* key : {"statistics", "on", "samples", "serial"}) {
    made.keys.emplace_back(key);
    made.items.push_back({.kind = Json::Kind::kNumber, .text = "0"});
  }
  return made;
}

class RecordedSource : public Source {
 public:
  // Without a text it is stdin.
  RecordedSource(std::string path, std::unique_ptr<std::istream> text)
      : path_(std::move(path)), text_(std::move(text)) {}

  Result<void> open() {
    if (text_ && !*text_) return Error{ErrorCode::kNotFound, path_ + ": it cannot be opened"};
    auto first = read_line();
    if (!first) return first.error();
    if (!first.value() || !first.value()->find("tallyctl")) {
      return invalid(path_ + " is no recording of tallyctl: its first line has no \"tallyctl\"");
    }
    tree_ = *std::move(first).value();
    if (auto checked = to_tree(tree_); !checked) return fault(checked.error());
    if (auto read = next(microseconds(0)); !read) return read.error();
    return {};
  }

  Result<Json> tree() override {
    Json made = tree_;
    if (moment_us_ > 0) {
      set_number(made, "realtime_us", sum_of(moment_us_, offset_us_));
      set_number(made, "time_us", moment_us_);
    }
    const auto interfaces = std::ranges::find(made.keys, "interfaces");
    const auto at = static_cast<std::size_t>(interfaces - made.keys.begin());
    std::set<std::string> listed;
    for (Json& each : made.items[at].items) {
      listed.insert(name_of(each));
      update(each);
    }
    for (const auto& [name, line] : newest_) {
      if (listed.contains(name)) continue;
      made.items[at].items.push_back(summary_of(name));
      update(made.items[at].items.back());
    }
    return made;
  }

  Result<Json> interface(const std::string& name) override {
    const auto found = newest_.find(name);
    if (found == newest_.end()) {
      return Error{ErrorCode::kNotFound, path_ + " has no interface " + name};
    }
    Json made = found->second;
    // It did not change until this moment.
    if (!seen_.contains(name) && made.number_of("time_us") < moment_us_) {
      set_number(made, "time_us", moment_us_);
      set_number(made, "realtime_us", sum_of(moment_us_, offset_us_));
    }
    return made;
  }

  Result<Next> next(microseconds every) override {
    // A recorder reads some milliseconds early or late: 9.8 s after the last one is "each 10 s".
    const auto late = static_cast<std::uint64_t>(period().count()) / 4;
    const std::uint64_t wanted_us =
        sum_of(moment_us_, static_cast<std::uint64_t>(every.count()));
    for (bool is_first = true;; is_first = false) {
      const auto found = next_moment();
      if (!found) return found.error();
      if (found.value() == Next::kEnd) return is_first ? Next::kEnd : Next::kMoment;
      if (sum_of(moment_us_, late) >= wanted_us) return Next::kMoment;
    }
  }

  microseconds period() const override {
    return microseconds(static_cast<std::int64_t>(tree_.number_of("every_us")));
  }
  const std::string& mount() const override { return no_mount_; }

 private:
  Result<Next> next_moment() {
    std::set<std::string> seen;
    std::swap(seen_, seen);
    for (;;) {
      if (!ahead_) {
        auto line = read_line();
        if (!line) return line.error();
        if (!line.value()) break;
        ahead_ = *std::move(line).value();
      }
      const std::string name = name_of(*ahead_);
      if (!seen_.empty() && comes_later(*ahead_)) break;
      if (!seen_.insert(name).second) break;
      take(name);
    }
    if (!seen_.empty()) return Next::kMoment;
    std::swap(seen_, seen);
    return Next::kEnd;
  }

  // The lines of one moment are read one after the other, without a pause.
  bool comes_later(const Json& line) const {
    const auto pause = static_cast<std::uint64_t>(period().count()) / 2;
    return pause > 0 && line.number_of("time_us") >= sum_of(moment_us_, pause);
  }

  // Forgets the tree of another daemon.
  void forget_tree(std::string_view epoch) {
    const auto set = [&](std::string_view key, const auto& step) {
      const auto found = std::ranges::find(tree_.keys, key);
      if (found != tree_.keys.end()) {
        step(tree_.items[static_cast<std::size_t>(found - tree_.keys.begin())]);
      }
    };
    set("epoch", [&](Json& json) { json.text = epoch; });
    set("interfaces", [](Json& json) { json.items.clear(); });
    newest_.clear();
  }

  void take(const std::string& name) {
    const std::string_view epoch = ahead_->text_of("epoch");
    if (std::exchange(epoch_, epoch) != epoch && !newest_.empty()) forget_tree(epoch);
    moment_us_ = std::max(moment_us_, ahead_->number_of("time_us"));
    const std::uint64_t time_us = ahead_->number_of("time_us");
    offset_us_ = std::max(ahead_->number_of("realtime_us"), time_us) - time_us;
    newest_.insert_or_assign(name, *std::exchange(ahead_, std::nullopt));
  }

  // Sets the header's summary of an interface to the numbers of its newest line.
  void update(Json& summary) const {
    const auto found = newest_.find(name_of(summary));
    if (found == newest_.end()) return;
    const auto interface = to_interface(found->second);
    if (!interface) return;
    std::uint64_t samples = 0;
    std::uint64_t on = 0;
    for (const view::Statistic& each : interface.value().statistics) {
      // The samples of a view are those of its statistic.
      if (each.key("of").empty()) samples = sum_of(samples, each.samples);
      on += each.on ? 1 : 0;
    }
    set_number(summary, "samples", samples);
    set_number(summary, "on", on);
    set_number(summary, "serial", interface.value().serial);
    set_number(summary, "statistics", interface.value().statistics.size());
  }

  // nullopt: the recording has ended.
  Result<std::optional<Json>> read_line() {
    std::istream& input = text_ ? *text_ : std::cin;
    std::string line;
    while (std::getline(input, line)) {
      ++number_;
      if (line.empty()) continue;
      auto json = parse_json(line);
      if (json && number_ > 1) {
        if (auto checked = to_interface(json.value()); !checked) return fault(checked.error());
      }
      if (json) return std::optional(std::move(json).value());
      if (input.eof()) break;  // torn
      return fault(json.error());
    }
    return std::optional<Json>();
  }

  Error fault(const Error& error) const {
    return {ErrorCode::kInvalid, path_ + ", line " + std::to_string(number_) + ": " + error.reason};
  }

  const std::string path_;  // for reasons, too
  const std::string no_mount_;
  const std::unique_ptr<std::istream> text_;
  std::uint64_t number_ = 0;  // of the line read last
  Json tree_;
  std::string epoch_;  // of the line taken last
  std::optional<Json> ahead_;  // the first line of the next moment
  std::map<std::string, Json> newest_;
  std::set<std::string> seen_;  // with a line in this moment
  std::uint64_t moment_us_ = 0;
  std::uint64_t offset_us_ = 0;  // of the wall clock
};

}  // namespace

Result<std::unique_ptr<Source>> open_recording(const std::string& path) {
  if (path == "-") return open_recording("stdin", nullptr);
  return open_recording(path, std::make_unique<std::ifstream>(path, std::ios::binary));
}

Result<std::unique_ptr<Source>> open_recording(const std::string& path,
                                               std::unique_ptr<std::istream> text) {
  auto made = std::make_unique<RecordedSource>(path, std::move(text));
  if (auto done = made->open(); !done) return done.error();
  return std::unique_ptr<Source>(std::move(made));
}

}  // namespace tallyfs
