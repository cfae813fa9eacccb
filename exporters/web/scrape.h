// /metrics: the files of metrics/ of the mount, in the format that the scraper asks for, with
// tally-web's own numbers behind. One reading of a file serves all that ask within a second.
// Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/result.h"
#include "exporters/web/http.h"
#include "exporters/web/negotiation.h"
#include "exporters/web/protobuf.h"
#include "exporters/web/server.h"
#include "exporters/web/shared_reading.h"
#include "exporters/web/target.h"
#include "tools/tree/timed_file.h"

namespace tallyfs::web {

class Scrape {
 public:
  // Names keep all characters for those that take them, if wanted.
  enum class Names { kUnderscores, kUtf8 };

  // An answer is made within answer_max, or there is none.
  Scrape(std::string mount, Names names, std::chrono::milliseconds answer_max = kAnswerMax)
      : mount_(std::move(mount)), names_(names), answer_max_(answer_max) {}

  Response answer(const Request& request, const Target& target);
  void count_limit(Limit limit);

 private:
  using Clock = std::chrono::steady_clock;
  // A counter of tally-web itself; its name ends with _total.
  struct OwnFamily {
    std::string name;
    std::string help;
    std::vector<Labelled> values;
  };

  std::chrono::milliseconds limit_of(const Request& request) const;
  // path: below metrics/ of the mount.
  Result<std::string> read(const std::string& path, std::chrono::milliseconds limit);
  // Reads the metrics of these interfaces, or of all if none is named.
  Result<std::string> read(const Chosen& chosen, const std::vector<std::string>& interfaces,
                           std::chrono::milliseconds limit);
  Response made_of(const Request& request, const Target& target, const Chosen& chosen);
  std::string own_text(Format format);
  std::vector<OwnFamily> own_families();
  void count(int status, Format format, Clock::duration duration);

  const std::string mount_;
  const Names names_;
  const std::chrono::milliseconds answer_max_;
  SharedReading readings_;
  Mutex numbers_{LockRank::kScrapeNumbers};
  std::map<std::pair<int, Format>, std::uint64_t> requests_ GUARDED_BY(numbers_);
  std::chrono::microseconds spent_ GUARDED_BY(numbers_){};
  std::map<Limit, std::uint64_t> limits_ GUARDED_BY(numbers_);
};

// One text of several, each of another interface: the series of a family stand together, and what
// texts say of themselves is added up. Of a family that has several types the first stands, and
// the others count as omitted duplicates.
std::string merged(const std::vector<std::string>& texts);

}  // namespace tallyfs::web
