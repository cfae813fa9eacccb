// The file of --rules, read as a whole, and what the log has of it. Any thread.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/statistics/branch/rules.h"

namespace tallyfs {

// kInvalid: it cannot be read; kTooBig: it has more bytes than all rules may have.
Result<std::string> read_rules(const std::string& path);

// After a reload, the rules of before are not known.
enum class RulesReading { kAfterReload, kOther };

// Lines of the log: how many rules there are now, and what has changed, if that is known.
std::string summary(const std::string& path, const Rules::Reading& reading, RulesReading which);
// The place and the reason, the line, and a caret under the token that is wrong.
std::vector<std::string> describe(const std::string& path, const Rules::RefusedLine& refused);

}  // namespace tallyfs
