// What a command has read of one moment: interfaces that are selected, as JSON and as values.
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
};
using Moment = std::map<std::string, ReadInterface>;

// An interface that has been removed is left out. Errors of reading.
Result<Moment> read_moment(Source& source, const std::vector<Selection>& selections);

// Appends the interfaces that are selected, as elements of the array that the caller began.
using FindChangeIn = std::function<std::optional<view::Change>(const view::Interface& interface,
                                                               const std::string& statistic)>;
void write_moment(JsonWriter& writer, const Moment& moment,
                  const std::vector<Selection>& selections, const FindChangeIn& change);

// A pattern that one statistic alone matches is its name.
void name_single_match(std::vector<Selection>& selections);

}  // namespace tallyfs
