// Reads the file of --rules, and makes the lines that the log has about it. Any thread.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/statistics/branch/rules.h"

namespace tallyfs {

// The whole text. kInvalid: the file cannot be read. kTooBig: it has more than 16 times the bytes
// that all rules may have; comments do not count among those.
Result<std::string> read_rules(const std::string& path);

// kAfterReload: the rules that the file had before are not known.
enum class RulesReading { kAfterReload, kOther };

// The line of the log that says how many rules there are now, how many are new and gone (not after
// a reload), and how many lines were refused.
std::string summary(const std::string& path, const statistics::Rules::Reading& reading,
                    RulesReading which);
// Three lines of the log: PATH:LINE: REASON, the refused line, and a caret under the wrong token.
std::vector<std::string> describe(const std::string& path,
                                  const statistics::Rules::RefusedLine& refused);

}  // namespace tallyfs
