// How RE2 is used in this room: bytes, a bound of memory, no output of its own.
#pragma once

#include <re2/re2.h>

#include "feeders/log/rules/pattern.h"

namespace tallyfs::logs {

// rules: how many there are, which share the memory.
inline re2::RE2::Options expression_options(std::size_t rules) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(ExpressionBounds::memory_of(rules));
  return options;
}

}  // namespace tallyfs::logs
