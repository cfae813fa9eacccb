#include "tools/ctl/read_interfaces.h"

#include <algorithm>
#include <utility>

#include "tools/tree/statistics_json.h"
#include "tools/tree/view_json.h"

namespace tallyfs {

Result<ReadInterfaces> read_interfaces(Source& source, const std::vector<Selection>& selections) {
  ReadInterfaces made;
  for (const Selection& each : selections) {
    auto json = source.interface(each.interface);
    if (!json && json.error().code == ErrorCode::kNotFound) continue;
    if (!json) return json.error();
    auto interface = to_interface(json.value());
    if (!interface) return interface.error();
    made.insert_or_assign(each.interface,
                          ReadInterface{std::move(json).value(), std::move(interface).value()});
  }
  return made;
}

void write_interfaces(JsonWriter& writer, const ReadInterfaces& interfaces,
                      const std::vector<Selection>& selections, const FindChangeIn& change) {
  for (const Selection& selection : selections) {
    const auto found = interfaces.find(selection.interface);
    if (found == interfaces.end()) continue;
    const view::Interface& interface = found->second.interface;
    write_interface(
        writer, found->second.json, interface,
        [&](const std::string& name) {
          return selection.is_whole || std::ranges::count(selection.statistics, name) > 0;
        },
        [&](const std::string& name) { return change(interface, name); });
  }
}

void name_single_match(std::vector<Selection>& selections) {
  std::size_t matched = 0;
  for (const Selection& each : selections) {
    matched += each.is_pattern ? each.statistics.size() : 0;
  }
  if (matched != 1) return;
  for (Selection& each : selections) each.is_pattern = false;
}

}  // namespace tallyfs
