// Tasks that are woken and run, as records made by hand.
#pragma once

#include <string>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {

class WakeupFixture : public EventFixture {
 protected:
  void wake(std::uint64_t time_us, std::int64_t who, const std::string& name = "cyclictest") {
    feed(waking, time_us, {{"comm", name}, {"pid", who}, {"prio", 19}});
  }
  void run(std::uint64_t time_us, std::int64_t who, const std::string& name = "cyclictest") {
    feed(switched, time_us,
         {{"next_pid", who},
          {"next_comm", name},
          {"next_prio", 19},
          {"prev_comm", "swapper/1"},
          {"prev_prio", 120}});
  }
};

}  // namespace tallyfs::tracing
