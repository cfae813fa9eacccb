#include "feeders/statsd/program/check_lines.h"

#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "feeders/statsd/series/translator.h"

namespace tallyfs::statsd {
namespace {

constexpr std::size_t kShownMax = 200;

// The precision to which numbers are rounded, as text.
std::string parts_of(const tally::Definition& definition) {
  if (definition.decimals != 0) return std::to_string(definition.decimals) + " decimals";
  const std::string x = definition.units.substr(0, definition.units.find('/'));
  return x.empty() ? "whole numbers" : x;
}

class PrintingOutlet final : public Outlet {
 public:
  std::optional<Id> open(const NewSeries& series) override {
    constexpr std::string_view kKinds[] = {"c", "g", "t", "h", "s"};
    names_.push_back(series.interface + "/" + series.name + " " +
                     std::string(kKinds[static_cast<std::size_t>(series.kind)]));
    parts_.push_back(parts_of(series.definition));
    return static_cast<Id>(names_.size() - 1);
  }
  void add(Id series, const Sample& sample) override {
    std::cout << "  " << names_[series] << ' ' << sample.x << 'x' << sample.y << '\n';
    newest_ = series;
  }
  void remove(Id) override {}
  // The precision of the newest sample's statistic.
  std::string_view newest_parts() const {
    return newest_ < parts_.size() ? parts_[newest_] : std::string_view();
  }
  void write(const Event& event) override { print("event statsd/event", event.title); }
  void write(const Check& check) override { print("event statsd/check", check.message); }

 private:
  static void print(const char* what, std::string_view text) {
    std::string shown;
    append_escaped(shown, text, kShownMax, 0);
    std::cout << "  " << what << ' ' << shown << '\n';
  }
  std::vector<std::string> names_;
  std::vector<std::string> parts_;
  Id newest_ = 0;
};

void print_refusal(std::string_view line, const Refusal& refusal) {
  std::string shown;
  const std::size_t column = append_escaped(shown, line, kShownMax, refusal.at);
  std::cout << "  " << std::string(column, ' ') << "^ refused, " << name_of(refusal.reason) << ": "
            << refusal.text << '\n';
}

// Prints how a line was changed when it was accepted.
void print_differences(const Counts& before, const Counts& now, std::string_view parts) {
  if (now.rounded > before.rounded) std::cout << "  rounded to " << parts << '\n';
  if (now.times_clipped > before.times_clipped) {
    std::cout << "  its time is before the machine's start: counted now\n";
  }
  if (now.overflowed > before.overflowed) std::cout << "  beyond the bounds of --series-max\n";
}

}  // namespace

int check_lines(Settings settings) {
  PrintingOutlet outlet;
  bool has_refused = false;
  Translator translator(std::move(settings), outlet,
                        [&](std::string_view line, const Refusal& refusal, const Arrival&) {
                          has_refused = true;
                          print_refusal(line, refusal);
                        });
  for (std::string line; std::getline(std::cin, line);) {
    std::string shown;
    append_escaped(shown, line, kShownMax, 0);
    std::cout << "  " << shown << '\n';
    const Counts before = translator.counts();
    translator.take_line(line, {.now = SystemClock().now()});
    translator.finish();
    translator.end_set_windows(SystemClock::monotonic());
    print_differences(before, translator.counts(), outlet.newest_parts());
  }
  std::cout.flush();
  return has_refused ? 1 : 0;
}

}  // namespace tallyfs::statsd
