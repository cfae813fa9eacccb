// The name of a statistic with labels that a program has as texts. Pure function.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs {

struct GivenLabel {
  std::string_view key;
  std::string_view value;
};

// The name as it is stored (labels.h). kInvalid: the family is no name or has labels itself, a key
// is empty or occurs twice, or the name has more than 255 bytes.
Result<std::string> name_with_labels(std::string_view family, std::span<const GivenLabel> labels);

}  // namespace tallyfs
