// How many bytes this thread has asked operator new for: allocated.cpp puts it in for this program.
#pragma once

#include <cstddef>

namespace tallyfs {

std::size_t allocated_bytes();

}  // namespace tallyfs
