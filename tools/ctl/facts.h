// Prints a store's facts about times that are unknown or count differently: gaps, restarts, resets,
// and damaged blocks of the store.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/ctl/session.h"
#include "tools/past/store.h"

namespace tallyfs {

// "12:03:10 to 12:04:02: the daemon did not answer"; what is not printable is escaped.
std::string fact_text(const past::Fact& fact, const view::Look& look);

// The first ten, with --all every one.
void put_facts(view::Grid& grid, const std::vector<past::Fact>& facts, const Session& session);
// On stderr, for programs that read the output.
void complain_of_facts(const std::vector<past::Fact>& facts, const view::Look& look);

// Prints those of the session's span that concern all statistics, and those for whose statistic
// concerns() is true.
using Concerns = std::function<bool(const std::string& interface, const std::string& name)>;
void print_facts(Session& session, const Concerns& concerns);

}  // namespace tallyfs
