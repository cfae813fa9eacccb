// tallyctl show --at, --last, --vs: what was counted in a span of the past, from a store, and
// beside it what was counted in another.
#pragma once

#include <string>

#include "program/command_line.h"
#include "tools/ctl/session.h"

namespace tallyfs {

struct PastOptions {
  std::string at;
  std::string last;
  std::string versus;
  std::string store;

  bool is_wanted() const { return !at.empty() || !last.empty() || !versus.empty(); }
};

void add_past(CommandLine& line, PastOptions& options);

// The store that is meant: `given` if it is not empty, else $TALLY_STORE, else that of the package.
std::string store_named(const std::string& given);

// The session need not be open. Returns an exit status.
int show_past(Session& session, const PastOptions& options);

}  // namespace tallyfs
