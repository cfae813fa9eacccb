// Which time `top` shows, and beside which other one: of a mount, a recording or a store. Values of
// one run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/ctl/session.h"
#include "tools/past/store.h"

namespace tallyfs {

struct TopTime {
  std::string store{};  // empty: a mount or a recording
  past::Span extent{};  // so far the store reaches
  std::function<const std::vector<past::Fact>&()> damaged{};  // of the store
  std::optional<std::map<std::string, double>> others{};  // rates of --vs, by interface
  std::string note{};                                     // "before: 12:00:00 to 13:00:00"
};

// Opens the session's source. As Session::open().
std::optional<int> open_time(Session& session, const PastOptions& past, TopTime& time);

}  // namespace tallyfs
