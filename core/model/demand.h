// The demand of one EventSet on the source of an event. A value, without threads.
#pragma once

#include <string>

namespace tallyfs {

struct Demand {
  bool on = false;     // its records are asked for
  bool stack = false;  // with EventRecord::stack
  bool comm = false;   // with EventRecord::comm
  // The filter that everything set on the event has in common, in the filter language; empty: all
  // records. A source may leave out records that do not pass, and need not.
  std::string filter = {};

  bool operator==(const Demand&) const = default;
};

}  // namespace tallyfs
