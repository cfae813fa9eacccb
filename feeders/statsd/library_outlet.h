// The outlet to tallyfs: statistics and events of libtally. Samples are handed over 64 at a time,
// or at flush(). Confined to one thread.
#pragma once

#include <array>
#include <cstddef>

#include "feeders/statsd/series/outlet.h"
#include "program/feeder/library_statistics.h"
#include "tally/event.h"
#include "tally/statistic.hpp"

namespace tallyfs::statsd {

class LibraryOutlet final : public Outlet {
 public:
  // Registers the events statsd/event and statsd/check. An event that cannot be registered is one
  // that is not wanted.
  LibraryOutlet();
  ~LibraryOutlet() override;
  LibraryOutlet(const LibraryOutlet&) = delete;
  LibraryOutlet& operator=(const LibraryOutlet&) = delete;

  std::optional<Id> open(const NewSeries& series) override;
  void add(Id series, const Sample& sample) override;
  void remove(Id series) override;
  void write(const Event& event) override;
  void write(const Check& check) override;
  void flush();

 private:
  static constexpr std::size_t kEntriesMax = 64;

  LibraryStatistics statistics_;
  std::array<::statistic_entry, kEntriesMax> entries_{};
  std::size_t held_ = 0;  // of entries_
  ::user_event* event_ = nullptr;
  ::user_event* check_ = nullptr;
};

}  // namespace tallyfs::statsd
