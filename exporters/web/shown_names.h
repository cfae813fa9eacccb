// Names in an answer whose labels people read otherwise than they are stored (core/base/labels.h):
// `"shown":{"us{route:%2Fa}":"us{route:/a}"}`, so that no reader needs rules of its own. Confined
// to its owner.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/json.h"
#include "core/base/labels.h"

namespace tallyfs::web {

class ShownNames {
 public:
  void add(std::string_view name) {
    if (name.find('%') == name.npos) return;  // without an escape it is shown as it is
    std::string shown = shown_labels(name);
    if (shown != name) names_.insert_or_assign(std::string(name), std::move(shown));
  }

  // Into an object that the caller began.
  void write(JsonWriter& writer) const {
    writer.key("shown").begin_object();
    for (const auto& [name, shown] : names_) writer.key(name).string(shown);
    writer.end_object();
  }

 private:
  std::map<std::string, std::string> names_;
};

}  // namespace tallyfs::web
