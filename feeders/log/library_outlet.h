// The outlet to tallyfs: statistics and events of libtally. Confined to one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "feeders/log/rules/outlet.h"
#include "program/feeder/library_statistics.h"
#include "tally/event.h"

namespace tallyfs::logs {

class LibraryOutlet final : public Outlet {
 public:
  LibraryOutlet() = default;
  ~LibraryOutlet() override;
  LibraryOutlet(const LibraryOutlet&) = delete;
  LibraryOutlet& operator=(const LibraryOutlet&) = delete;

  // The events of rules, which must outlive their use. Those that were there before stay as they
  // are, and others of before are gone. Whether there are new ones, of which the daemon has not
  // said yet whether they are wanted.
  bool register_events(const std::vector<EventDefinition>& events);

  void begin(const Rule&) override {}
  std::optional<Id> open(const std::string& interface, const std::string& name,
                         const tally::Definition& definition) override;
  void remove(Id series) override { statistics_.remove(series); }
  void add(Id series, std::int64_t x, std::chrono::nanoseconds time) override;
  bool wants(const EventDefinition& event) override;
  void write(const EventDefinition& event, std::span<const EventValue> values) override;

 private:
  LibraryStatistics statistics_;
  std::map<EventDefinition, ::user_event*> registered_;
  std::unordered_map<const EventDefinition*, ::user_event*> events_;
  std::vector<char> fields_;  // of the event that is written
};

}  // namespace tallyfs::logs
