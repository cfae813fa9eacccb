// A number with its noun: "1 line", "2 lines". Pure function.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs {

// `number`: its text, which may be grouped. `thing`: one of them, whose plural has an s.
inline std::string counted(std::string number, std::string_view thing) {
  const bool is_one = number == "1";
  return number.append(" ").append(thing).append(is_one ? "" : "s");
}

}  // namespace tallyfs
