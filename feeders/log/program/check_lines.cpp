#include "feeders/log/program/check_lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/decimal.h"
#include "core/base/line_splitter.h"
#include "core/base/text.h"
#include "feeders/log/follow/log_paths.h"
#include "feeders/log/follow/open_log.h"
#include "feeders/log/rules/field_reader.h"
#include "feeders/log/rules/line_reader.h"

namespace tallyfs::logs {
namespace {

constexpr std::size_t kShownMax = 200;
constexpr std::size_t kLineMax = 64 << 10;
constexpr std::size_t kGroupsMax = 1'000;
constexpr std::size_t kGroupsShown = 20;

std::string shown(std::string_view text) {
  std::string out;
  append_escaped(out, text, kShownMax, 0);
  return out;
}

class PrintingOutlet final : public Outlet {
 public:
  void begin(const Rule& rule) override {
    std::string text;
    append_rule(text, rule.text.empty() ? "every line that comes here" : "match " + rule.text, 0);
    std::cout << "  line " << rule.line << ": " << text << '\n';
  }
  std::optional<Id> open(const std::string& interface, const std::string& name,
                         const tally::Definition& definition) override {
    const std::string& units = definition.units;
    names_.push_back(interface + "/" + name);
    units_.push_back(units.empty() ? "" : " " + units.substr(0, units.find('/')));
    decimals_.push_back(definition.decimals);
    return names_.size() - 1;
  }
  void remove(Id) override {}
  void add(Id series, std::int64_t x, std::chrono::nanoseconds) override {
    std::string number;
    append_fixed(number, x, decimals_[series]);
    std::cout << "    " << names_[series] << ' ' << number << units_[series] << '\n';
  }
  bool wants(const EventDefinition&) override { return true; }
  void write(const EventDefinition& event, std::span<const EventValue> values) override {
    std::cout << "    event " << event.system << '/' << event.name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::cout << ' ' << event.fields[i].name << '=';
      if (event.fields[i].is_number) {
        std::cout << values[i].number;
      } else {
        std::cout << shown(values[i].text);
      }
    }
    std::cout << '\n';
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::string> units_;
  std::vector<unsigned> decimals_;
};

// Lines that differ in numbers alone are alike.
std::string likeness(std::string_view line) {
  std::string out;
  bool was_number = false;
  for (const char c : line.substr(0, kShownMax)) {
    const bool is_number = c >= '0' && c <= '9';
    if (!is_number) out.push_back(c);
    if (is_number && !was_number) out.push_back('N');
    was_number = is_number;
  }
  return out;
}

class Check {
 public:
  Check(const Rules& rules, const CheckSettings& settings)
      : book_(SeriesBounds(settings.limits), outlet_),
        reader_(rules, book_, outlet_, counts_,
                [this](std::string_view line, const Refusal& refusal) { refuse(line, refusal); }) {
    if (rules.form != LineForm::kText) fields_.emplace(rules.form, rules.fields);
    reader_.set_now(SystemClock().now());
  }

  // False: a read has failed.
  bool read(int fd) {
    LineSplitter lines(kLineMax);
    for (;;) {
      const ssize_t bytes = ::read(fd, chunk_.data(), chunk_.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) {
        if (const auto last = lines.last()) take(last->text);
        return bytes == 0;
      }
      lines.feed({chunk_.data(), static_cast<std::size_t>(bytes)});
      while (const auto line = lines.next()) take(line->text);
    }
  }

  int finish() {
    print_unmatched();
    std::cout << counted(std::to_string(counts_.lines), "line") << ", " << counts_.matched
              << " matched, " << counts_.unmatched << " unmatched, " << refused_ << " refused\n";
    std::cout.flush();
    return refused_ == 0 ? 0 : 1;
  }

 private:
  void take(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::cout << shown(line) << '\n';
    const LineCounts before = counts_;
    bool is_taken = false;
    if (!fields_) {
      is_taken = reader_.take(line, {});
    } else if (const auto read = fields_->read(line)) {
      is_taken = reader_.take(line, *read);
    } else {
      reader_.refuse_form(line);
    }
    if (!is_taken) note_unmatched(line);
    if (counts_.absent > before.absent) {
      std::cout << "    " << counts_.absent - before.absent
                << " actions without a part of it: absent\n";
    }
    if (counts_.rounded > before.rounded) std::cout << "    rounded\n";
    if (counts_.undated > before.undated) std::cout << "    its time is not taken: undated\n";
    if (counts_.overflowed > before.overflowed) {
      std::cout << "    beyond the bounds of --series-max\n";
    }
  }

  void refuse(std::string_view line, const Refusal& refusal) {
    refused_ += 1;
    const char* const at = refusal.value.data();
    const bool is_within = at && at >= line.data() && at <= line.data() + line.size();
    std::string escaped;
    const std::size_t column = append_escaped(
        escaped, line, kShownMax, is_within ? static_cast<std::size_t>(at - line.data()) : 0);
    std::cout << std::string(column, ' ') << "^ refused, " << name_of(refusal.reason) << ": "
              << refusal.text << '\n';
  }

  void note_unmatched(std::string_view line) {
    const std::string alike = likeness(line);
    const auto found = unmatched_.find(alike);
    if (found != unmatched_.end()) {
      found->second.first += 1;
      return;
    }
    if (unmatched_.size() == kGroupsMax) forget_rarest();
    unmatched_.emplace(alike, std::pair(std::uint64_t{1}, std::string(line)));
  }

  // So a frequent kind is shown, however late it comes.
  void forget_rarest() {
    const auto lines_of = [](const auto& each) { return each.second.first; };
    const std::uint64_t rarest = lines_of(*std::ranges::min_element(unmatched_, {}, lines_of));
    std::erase_if(unmatched_, [&](const auto& each) {
      if (lines_of(each) != rarest) return false;
      forgotten_ += rarest;
      return true;
    });
  }

  void print_unmatched() const {
    std::vector<std::pair<std::uint64_t, std::string_view>> sorted;
    for (const auto& [alike, group] : unmatched_) sorted.emplace_back(group.first, group.second);
    std::ranges::stable_sort(sorted, std::greater(),
                             &std::pair<std::uint64_t, std::string_view>::first);
    if (!sorted.empty()) std::cout << "no rule takes:\n";
    for (std::size_t i = 0; i < std::min(sorted.size(), kGroupsShown); ++i) {
      std::cout << "  " << sorted[i].first << " like " << shown(sorted[i].second) << '\n';
    }
    if (sorted.size() > kGroupsShown) {
      std::cout << "  and " << sorted.size() - kGroupsShown << " other kinds\n";
    }
    if (forgotten_ != 0) std::cout << "  and " << forgotten_ << " lines of rare kinds\n";
  }

  static constexpr std::size_t kChunkBytes = 256 << 10;

  PrintingOutlet outlet_;
  LineCounts counts_;
  SeriesBook book_;
  LineReader reader_;
  std::optional<FieldReader> fields_;
  std::uint64_t refused_ = 0;
  std::vector<char> chunk_ = std::vector<char>(kChunkBytes);
  std::map<std::string, std::pair<std::uint64_t, std::string>> unmatched_;  // by likeness
  std::uint64_t forgotten_ = 0;  // lines of kinds that gave way
};

bool refuse_file(std::string_view reason) {
  std::cerr << "tally-feed-log: " << shown(reason) << '\n';
  return false;
}

bool read_standard_input(Check& check) {
  return check.read(STDIN_FILENO) ||
         refuse_file(std::string("standard input: ").append(std::strerror(errno)));
}

bool read_log(Check& check, const std::string& path, Found found) {
  const auto opened = open_log(path, found);
  if (!opened) return refuse_file(opened.error().reason);
  return check.read(opened.value().fd.get()) ||
         refuse_file(path + ": " + std::string(std::strerror(errno)));
}

// The files are those that the feeder finds, in the order of their names.
bool read_path(Check& check, const std::string& path) {
  if (path == "-") return read_standard_input(check);
  if (!is_pattern(path)) return read_log(check, path, Found::kByName);
  std::vector<std::string> found = matches_of(path);
  std::erase_if(found, [](const std::string& each) { return is_compressed(each); });
  if (found.empty()) return refuse_file(path + ": finds no log");
  std::ranges::sort(found);
  bool is_read = true;
  for (const auto& each : found) is_read = read_log(check, each, Found::kByPattern) && is_read;
  return is_read;
}

}  // namespace

int check_lines(const Rules& rules, const CheckSettings& settings) {
  Check check(rules, settings);
  bool is_read = !settings.paths.empty() || read_standard_input(check);
  for (const std::string& path : settings.paths) is_read = read_path(check, path) && is_read;
  const int status = check.finish();
  return is_read ? status : 1;
}

}  // namespace tallyfs::logs
