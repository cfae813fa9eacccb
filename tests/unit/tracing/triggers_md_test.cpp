// Does what core/tracing/TRIGGERS.md shows.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/base/text.h"
#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class TriggersMdTest : public EventFixture {
 protected:
  static std::vector<std::string> example() {
    std::ifstream file(TALLY_SOURCE_DIR "/core/tracing/TRIGGERS.md");
    std::vector<std::string> lines;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
      if (inside && line == "```") break;
      if (inside) lines.push_back(line);
      inside |= line == "```example";
    }
    return lines;
  }

  // "events/sched/sched_waking/hist"
  EventNumber event_of(const std::string& path) const {
    std::stringstream parts(path);
    std::string part, system, name;
    std::getline(parts, part, '/');
    std::getline(parts, system, '/');
    std::getline(parts, name, '/');
    return set.events.find(system, name).value();
  }

  Result<void> write(const std::string& path, const std::string& text) {
    if (path == "synthetic_events") return set.synthetic.write(text);
    return set.commands.write(event_of(path), text);
  }

  std::string read(const std::string& path) const {
    const EventNumber event = event_of(path);
    if (path.ends_with("/trigger")) return triggers_text(set.triggers.lines(event));
    if (path.ends_with("/hist")) return hist(event);
    return set.hists.copy(event).render_json(
        NoSymbols(), {.now = {.monotonic = std::chrono::microseconds(4002)}, .serial = 5});
  }

  // "1000 sched:sched_waking comm=cyclictest pid=2255"
  void feed_line(const std::string& line) {
    std::stringstream words(line);
    std::uint64_t time_us = 0;
    std::string event, word;
    words >> time_us >> event;
    std::vector<Given> given;
    while (words >> word) {
      const std::string name = word.substr(0, word.find('='));
      const std::string value = word.substr(name.size() + 1);
      const auto number = parse_signed(value);
      given.push_back({name, number ? Value(*number) : Value(value)});
    }
    const std::size_t colon = event.find(':');
    feed(set.events.find(event.substr(0, colon), event.substr(colon + 1)).value(), time_us, given);
  }
};

TEST_F(TriggersMdTest, ShowsWhatHappens) {
  const auto lines = example();
  ASSERT_GT(lines.size(), 20u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string verb = lines[i].substr(0, lines[i].find(' '));
    const std::string rest = lines[i].substr(verb.size() + 1);
    const std::string path = rest.substr(0, rest.find(' '));
    if (verb == "event") {
      feed_line(rest);
      continue;
    }
    const std::string text = rest.size() > path.size() ? rest.substr(path.size() + 1) : "";
    if (verb == "write") {
      const auto written = write(path, text);
      EXPECT_TRUE(written) << lines[i] << ": " << written.error().reason;
      continue;
    }
    std::string expected;
    for (++i; lines[i] != "end"; ++i) expected += lines[i] + "\n";
    if (verb == "read") {
      EXPECT_EQ(read(path), expected) << path;
      continue;
    }
    ASSERT_EQ(verb, "refuse");
    const auto refused = write(path, text);
    ASSERT_FALSE(refused) << lines[i];
    const std::string shown = described(refused);
    EXPECT_EQ(shown.substr(shown.find(": ") + 2, expected.size()), expected);
  }
}

}  // namespace
}  // namespace tallyfs::tracing
