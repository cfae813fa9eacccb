// A test stand for whatever makes lines: keeps those that were applied and what was reported, and
// refuses those that begin with "bad".
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fs/line_assembler.h"

namespace tallyfs {

class LineFixture : public testing::Test {
 protected:
  std::vector<std::string> lines_;
  std::vector<std::string> reports_;
  LineSink sink_{
      .apply = [this](std::string_view line) -> Result<void> {
        lines_.emplace_back(line);
        if (line.starts_with("bad")) {
          return Error{ErrorCode::kInvalid, std::string(line)};
        }
        return {};
      },
      .report = [this](std::string_view, const Error& error) { reports_.push_back(error.reason); }};
};

}  // namespace tallyfs
