// Messages and their parts are padded to eight bytes, FORMAT.md.
#pragma once

#include <cstddef>

namespace tallyfs::wire {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace tallyfs::wire
