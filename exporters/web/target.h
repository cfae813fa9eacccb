// The target of a request, taken apart: path and query, percent-decoded. Values; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::web {

struct Parameter {
  std::string name;
  std::string value;
};

struct Target {
  // "/api/1/heat/a%2Fb" is api, 1, heat, a/b. Of "/" it is empty.
  std::vector<std::string> path;
  std::vector<Parameter> query;

  const std::string* find(std::string_view name) const;
  // `fallback` without one, and for what is no number, which is refused before; at most `most`.
  std::uint64_t number(std::string_view name, std::uint64_t fallback, std::uint64_t most) const;
};

// nullopt: no "/" at its start, a wrong percent sign, or a NUL.
std::optional<Target> parse_target(std::string_view text);

}  // namespace tallyfs::web
