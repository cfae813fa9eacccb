// The formats of what a server leaves to its successor, known before it does. So a program that
// could not read an object refuses while the old one can still go on. Functions without state.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// Of this version: `KIND:FORMAT` of each kind, with spaces between them.
std::string transfer_formats();
// Whether this version reads those of another. kInvalid: which one it does not read. An empty text
// is of a version that leaves none of them.
Result<void> check_handed_formats(const std::string& others);

}  // namespace tallyfs
