// A feeder's own numbers as an interface: a statistic for each count, whose total is the count.
// Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tally/statistic.hpp"

namespace tallyfs {

struct OwnCount {
  std::string name;
  std::string units;  // of Y
  std::uint64_t total = 0;
};

class OwnCounts {
 public:
  // counts: what each publish() gives, in that order. xs: the units of X. Throws std::system_error.
  OwnCounts(const std::string& interface, const std::string& xs,
            const std::vector<OwnCount>& counts);
  // Adds what came since the last call.
  void publish(const std::vector<OwnCount>& counts);
  const tally::Interface& interface() const { return interface_; }

 private:
  struct Published {
    tally::Statistic statistic;
    std::uint64_t total = 0;
  };
  tally::Interface interface_;
  std::vector<Published> published_;
};

}  // namespace tallyfs
