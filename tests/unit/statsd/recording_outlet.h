// An outlet that writes down what it is given: `name kind XxY`, with `, ` between.
#pragma once

#include <string>
#include <vector>

#include "feeders/statsd/series/outlet.h"
#include "feeders/statsd/series/translator.h"

namespace tallyfs::statsd {

class RecordingOutlet final : public Outlet {
 public:
  struct Opened {
    std::string interface;
    std::string name;
    tally::Definition definition;
    std::string kind;
  };

  std::optional<Id> open(const NewSeries& series) override {
    opened.push_back({series.interface, series.name, series.definition,
                      std::string(1, "cgths"[static_cast<int>(series.kind)])});
    return static_cast<Id>(opened.size() - 1);
  }
  void add(Id series, const Sample& sample) override {
    samples.push_back(sample);
    note(opened[series].name + " " + opened[series].kind + " " + std::to_string(sample.x) + "x" +
         std::to_string(sample.y));
  }
  void remove(Id series) override { removed.push_back(opened[series].name); }
  void write(const Event& event) override { note("event " + event.title + "/" + event.text); }
  void write(const Check& check) override { note("check " + check.message); }

  void note(const std::string& text) { said += (said.empty() ? "" : ", ") + text; }

  std::vector<Opened> opened;
  std::vector<std::string> removed;  // names of statistics
  std::vector<Sample> samples;
  std::string said;
};

// A translator that says what lines do, or the reason why they are refused.
struct Fixture {
  explicit Fixture(Settings settings = {})
      : translator(std::move(settings), outlet,
                   [this](std::string_view line, const Refusal& refusal, const Arrival& by) {
                     refused_line = line;
                     refused_at = refusal.at;
                     refused_sender = by.sender;
                     outlet.note(std::string(name_of(refusal.reason)));
                   }) {}

  std::string take(std::string_view packet) {
    outlet.said.clear();
    translator.take_packet(packet, arrival);
    translator.finish();
    return outlet.said;
  }

  RecordingOutlet outlet;
  Translator translator;
  Arrival arrival{.now = {std::chrono::hours(1), std::chrono::seconds(1'656'590'000)}};
  std::string refused_line;
  std::size_t refused_at = 0;
  std::size_t refused_sender = 0;
};

}  // namespace tallyfs::statsd
