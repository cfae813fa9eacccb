// The findings of doctor: one line for each thing that it checked. Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tallyfs {

enum class Level : std::uint8_t { kOk, kWarning, kFailure };

struct Finding {
  Level level = Level::kOk;
  std::string check;  // one word: "queue"
  std::string text;
  std::string advice;  // what to do; empty if all is well
};

using Findings = std::vector<Finding>;

}  // namespace tallyfs
