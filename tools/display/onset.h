// When what is unlike before began, by units: the interval of the newest units, from two blocks
// before the span on, that is the least likely by chance. Of silence it is the last sample. Pure
// functions.
#pragma once

#include <cstddef>

#include "tools/display/behaviour.h"
#include "tools/display/past.h"

namespace tallyfs::view {

struct Onset {
  std::size_t begin = 0;  // units before the end of the newest block
  std::size_t end = 0;    // the same, 0: it lasts
  bool is_silent = false;
};

Onset onset_of(const Past& past, const Behaviour& behaviour, const Baseline& baseline);

}  // namespace tallyfs::view
