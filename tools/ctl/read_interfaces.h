// The interfaces that a command has selected and read, all at about the same time, as JSON and as
// values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "tools/ctl/what.h"
#include "tools/display/change.h"
#include "tools/display/statistic.h"
#include "tools/tree/source.h"

namespace tallyfs {

struct ReadInterface {
  Json json;
  view::Interface interface;
  std::vector<std::vector<std::string>> parts{};  // of its statistics, if they are sums
};
using ReadInterfaces = std::map<std::string, ReadInterface>;  // by name

// Reads each selected interface once. One that has been removed is left out. Errors are the
// source's.
Result<ReadInterfaces> read_interfaces(Source& source, const std::vector<Selection>& selections);

// Returns how much a statistic changed; nullopt: unknown.
using FindChangeIn = std::function<std::optional<view::Change>(const view::Interface& interface,
                                                               const std::string& statistic)>;
// Appends the selected interfaces, as elements of the array that the caller began.
void write_interfaces(JsonWriter& writer, const ReadInterfaces& interfaces,
                      const std::vector<Selection>& selections, const FindChangeIn& change);

// Replaces a pattern that one statistic alone matches by that statistic's name.
void name_single_match(std::vector<Selection>& selections);

}  // namespace tallyfs
