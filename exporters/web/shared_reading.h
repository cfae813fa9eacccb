// Texts that are made of files of the mount: each is made once for all that ask for it within its
// time. Those that ask while it is made wait for it. Failures are not kept: one within the time of
// one client is not the answer to another. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "core/base/mutex.h"
#include "core/base/result.h"

namespace tallyfs::web {

class SharedReading {
 public:
  using Make = std::function<Result<std::string>()>;
  static constexpr std::size_t kTextsMax = 8;  // the oldest goes

  // `make` is called with the lock held. It takes no other.
  Result<std::string> get(const std::string& name, std::chrono::milliseconds fresh,
                          const Make& make) EXCLUDES(reading_);

 private:
  using Clock = std::chrono::steady_clock;
  struct Text {
    Clock::time_point made_at;
    std::string text;
  };

  Mutex reading_{LockRank::kScrapeReading};
  std::map<std::string, Text> texts_ GUARDED_BY(reading_);
};

}  // namespace tallyfs::web
