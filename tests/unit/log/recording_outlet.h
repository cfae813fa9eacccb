// An outlet that keeps what it gets, as text.
#pragma once

#include <string>
#include <vector>

#include "feeders/log/rules/outlet.h"

namespace tallyfs::logs {

class RecordingOutlet final : public Outlet {
 public:
  void begin(const Rule&) override {}
  std::optional<Id> open(const std::string& interface, const std::string& name,
                         const tally::Definition& definition) override {
    names.push_back(interface + "/" + name);
    units.push_back(definition.units);
    return names.size() - 1;
  }
  void remove(Id series) override { said += "removed " + names[series] + "; "; }
  void add(Id series, std::int64_t x, std::chrono::nanoseconds time) override {
    said += names[series] + " " + std::to_string(x);
    if (time.count() != 0) said += " @" + std::to_string(time.count());
    said += "; ";
  }
  bool wants(const EventDefinition&) override { return true; }
  void write(const EventDefinition& event, std::span<const EventValue> values) override {
    said += event.system + "/" + event.name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      said += " " + event.fields[i].name + "=";
      said += event.fields[i].is_number ? std::to_string(values[i].number)
                                        : std::string(values[i].text);
    }
    said += "; ";
  }
  std::string take() { return std::exchange(said, {}); }

  std::vector<std::string> names;
  std::vector<std::string> units;
  std::string said;
};

}  // namespace tallyfs::logs
