// zstd, for blocks of the store. Any thread may call these.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs::past {

// The frame has a sum of its content, so that damage is found.
std::string compress(std::string_view bytes);
// Nothing if it is no whole frame, its sum is wrong, or it does not hold exactly `size` bytes.
std::optional<std::string> decompress(std::string_view frame, std::size_t size);

}  // namespace tallyfs::past
